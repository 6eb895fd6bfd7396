"""The official clients, over real sockets, read streams that were taken over in the middle, heartbeats and all.

Each stream is forwarded as far as one of its frames, and another attempt tells the rest through an encoder. Both the
plain iterators and the accumulating helpers must get the text once, every call whole, and one end.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import anthropic
import openai
import pytest

from headway.events import CallOpened, StreamEnded, TextDelta
from headway.wire.assembly import assemble
from headway.wire.base import Wire
from headway.wire.table import WIRES
from support.grammar import problems
from support.replies import REPLIES
from support.takeovers import as_next_attempt, encoded, open_calls, steps_of, wire_bytes

HI = [{"role": "user", "content": "hi"}]


class Got(NamedTuple):
    """What a client has in the end."""

    text: str
    calls: list[tuple[str, str, Any]]
    end: str


Read = Callable[[str], Got]


def parsed(text: str) -> Any:
    return json.loads(text or "{}")


def chat_chunks(url: str) -> Got:
    with openai.OpenAI(api_key="k", base_url=url, max_retries=0) as client:
        text, end, calls = "", "", {}
        for chunk in client.chat.completions.create(model="m", messages=HI, stream=True):
            for choice in chunk.choices:
                text += choice.delta.content or ""
                end = choice.finish_reason or end
                for call in choice.delta.tool_calls or ():
                    known = calls.setdefault(call.index, [call.id, call.function.name, ""])
                    known[2] += call.function.arguments or ""
        return Got(text, [(i, name, parsed(text)) for i, name, text in calls.values()], end)


def chat_helper(url: str) -> Got:
    with (
        openai.OpenAI(api_key="k", base_url=url, max_retries=0) as client,
        client.chat.completions.stream(model="m", messages=HI) as stream,
    ):
        choice = stream.until_done().current_completion_snapshot.choices[0]  # the final one refuses a length end
    calls = [(c.id, c.function.name, parsed(c.function.arguments)) for c in choice.message.tool_calls or ()]
    return Got(choice.message.content or "", calls, choice.finish_reason)


def responses_events(url: str) -> Got:
    with openai.OpenAI(api_key="k", base_url=url, max_retries=0) as client:
        events = list(client.responses.create(model="m", input="hi", stream=True))
    text = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    done = [event.item for event in events if event.type == "response.output_item.done"]
    calls = [(c.call_id, c.name, parsed(c.arguments)) for c in done if c.type == "function_call"]
    return Got(text, calls, events[-1].response.status)


def responses_helper(url: str) -> Got:
    with (
        openai.OpenAI(api_key="k", base_url=url, max_retries=0) as client,
        client.responses.stream(model="m", input="hi") as stream,
    ):
        *_, last = stream
    response = last.response
    whole = [c for c in response.output if c.type == "function_call" and c.status == "completed"]
    calls = [(c.call_id, c.name, parsed(c.arguments)) for c in whole]
    return Got(response.output_text, calls, response.status)


def messages_events(url: str) -> Got:
    with anthropic.Anthropic(api_key="k", base_url=url, max_retries=0) as client:
        text, end, calls = "", "", {}
        for event in client.messages.create(model="m", max_tokens=9, messages=HI, stream=True):
            match event.type:
                case "content_block_start" if event.content_block.type == "tool_use":
                    calls[event.index] = [event.content_block.id, event.content_block.name, ""]
                case "content_block_delta" if event.delta.type == "text_delta":
                    text += event.delta.text
                case "content_block_delta" if event.delta.type == "input_json_delta":
                    calls[event.index][2] += event.delta.partial_json
                case "message_delta":
                    end = event.delta.stop_reason
        return Got(text, [(i, name, parsed(text)) for i, name, text in calls.values()], end)


def messages_helper(url: str) -> Got:
    with (
        anthropic.Anthropic(api_key="k", base_url=url, max_retries=0) as client,
        client.messages.stream(model="m", max_tokens=9, messages=HI) as stream,
    ):
        message = stream.get_final_message()
    text = "".join(block.text for block in message.content if block.type == "text")
    calls = [(block.id, block.name, block.input) for block in message.content if block.type == "tool_use"]
    return Got(text, calls, message.stop_reason)


READERS: dict[str, tuple[Read, Read]] = {
    "chat": (chat_chunks, chat_helper),
    "responses": (responses_events, responses_helper),
    "anthropic": (messages_events, messages_helper),
}


def taken_over(wire: Wire, reply: str, cut: int) -> bytes:
    """Return a stream whose frames were forwarded up to `cut`; a heartbeat stands in every place."""
    steps, end = steps_of(wire, encoded(wire, REPLIES[reply]()))
    before = [event for step in steps[:cut] for event in step.events]
    rest = [event for step in steps[cut:] for event in step.events] + end
    kept = (open_calls(before) or [None])[-1]
    follower = wire.follower()
    parts = [follower.heartbeat()]
    for step in steps[:cut]:
        follower.passed([step.frame], step.events)
        parts += [wire_bytes(step.frame), follower.heartbeat()]
    encoder = follower.encoder()
    parts += [encoder.seam(kept), encoder.heartbeat()]
    for event in as_next_attempt(rest, kept):
        parts += [encoder.write(event), encoder.heartbeat()]
    return b"".join(parts)


def cases() -> Iterator[tuple[str, str, int]]:
    """Give every cut of the short replies, and some in the long one: its edges, and inside its big call."""
    for name, wire in WIRES.items():
        for reply, events in REPLIES.items():
            frames = len(steps_of(wire, encoded(wire, events()))[0])
            every = range(frames + 1)
            yield from ((name, reply, cut) for cut in every if frames < 20 or cut < 8 or cut > frames - 10 or cut == 30)


@pytest.mark.parametrize(("name", "reply", "cut"), list(cases()))
def test_the_client_never_sees_the_seam(server, name: str, reply: str, cut: int) -> None:
    wire, said = WIRES[name], assemble(REPLIES[reply]())
    data = taken_over(wire, reply, cut)
    server.streams(data)
    expected = Got(said.text, [(call.id, call.name, parsed(call.arguments)) for call in said.calls], "")
    got = [read(server.url)._replace(end="") for read in READERS[name]]
    assert got == [expected, expected]
    assert problems(name, data) == []


@pytest.mark.parametrize("name", WIRES)
@pytest.mark.parametrize("reply", REPLIES)
def test_it_ends_as_the_stream_would_have_ended(server, name: str, reply: str) -> None:
    wire = WIRES[name]
    server.streams(encoded(wire, REPLIES[reply]()))
    ends = [read(server.url).end for read in READERS[name]]
    server.streams(taken_over(wire, reply, 3))
    assert [read(server.url).end for read in READERS[name]] == ends


@pytest.mark.parametrize("name", WIRES)
def test_a_call_that_nobody_goes_on_with_ends_in_the_clients_own_error(server, name: str) -> None:
    wire = WIRES[name]
    steps, _ = steps_of(wire, encoded(wire, REPLIES["calls"]()))
    cut = next(at for at, step in enumerate(steps, 1) if any(isinstance(e, CallOpened) for e in step.events)) + 3
    follower = wire.follower()
    for step in steps[:cut]:
        follower.passed([step.frame], step.events)
    encoder = follower.encoder()
    answer = [event for event in REPLIES["answer"]() if isinstance(event, TextDelta | StreamEnded)]
    server.streams(b"".join((*(wire_bytes(s.frame) for s in steps[:cut]), encoder.seam(), *map(encoder.write, answer))))
    if name == "responses":  # an error of this wire is an event like others; the helper hands it on
        assert responses_events(server.url).end == responses_helper(server.url).end == "failed"
        assert responses_events(server.url).calls == []
    else:
        for read in READERS[name]:
            with pytest.raises((openai.APIError, anthropic.APIError), match="never arrived whole"):
                read(server.url)
