"""A chat stream that was forwarded as it came is gone on with under the upstream's own name."""

from typing import Any

import pytest

from headway.events import (
    CallArguments,
    CallClosed,
    CallOpened,
    Cut,
    Event,
    Stop,
    StreamCut,
    StreamEnded,
    StreamOpened,
    TextDelta,
    ThinkingDelta,
    ThinkingSigned,
    Usage,
)
from headway.wire.base import Follower
from headway.wire.openai_chat import WIRE
from headway.wire.sse import Comment, FrameReader
from support.takeovers import following, values_of

NEXT = StreamOpened("another", "another-model")
ENDED = StreamEnded(Stop.END)
HEAD = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1741569952, "model": "gpt-x"}


def chunk(finish: str | None = None, beside: dict[str, Any] | None = None, **delta: Any) -> dict[str, Any]:
    return {**HEAD, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **(beside or {})}


def call(index: int | None, name: str | None = None, arguments: str = "", **more: Any) -> dict[str, Any]:
    named = {"name": name} if name else {}
    return {"tool_calls": [{"index": index, "function": {**named, "arguments": arguments}, **more}]}


ROLE = chunk(role="assistant", content="")


def gone_on(follower: Follower, *events: Event, keeping: int | None = None) -> list[Any]:
    encoder = follower.encoder()
    return values_of(b"".join((encoder.seam(keeping), *map(encoder.write, (NEXT, *events)))))


def test_every_chunk_goes_on_with_the_envelope_of_the_first():
    beside = {"system_fingerprint": "fp_1", "service_tier": "default", "provider": "X", "x_later": None}
    passing = {"usage": None, "obfuscation": "a8x", "x_groq": {"id": "req_1"}}
    follower = following(WIRE, chunk(role="assistant", beside={**beside, **passing}), chunk(content="Hel"))
    words, finish, usage, done = gone_on(follower, TextDelta("lo"), Usage(3, 2), ENDED)
    assert words == {**HEAD, **beside, "choices": [{"index": 0, "delta": {"content": "lo"}, "finish_reason": None}]}
    for said in (words, finish, usage):
        assert {key: said[key] for key in (*HEAD, *beside)} == {**HEAD, **beside}
        assert not said.keys() & {"obfuscation", "x_groq"}
    assert usage["usage"]["completion_tokens"] == 2
    assert done == "[DONE]"


def test_a_nameless_preamble_opens_nothing_and_the_next_attempt_does():
    preamble = {"id": "", "object": "", "created": 0, "model": "", "choices": [], "prompt_filter_results": [{}]}
    role, words, *_ = gone_on(following(WIRE, preamble), TextDelta("Hi"), ENDED)
    assert (role["id"], role["choices"][0]["delta"]["role"]) == ("another", "assistant")
    assert "prompt_filter_results" not in words


def test_comments_alone_open_nothing():
    follower = WIRE.follower()
    follower.passed([Comment(b": OPENROUTER PROCESSING")], [])
    assert gone_on(follower, ENDED)[0]["id"] == "another"
    assert follower.heartbeat().startswith(b":")


@pytest.mark.parametrize(("seen", "following_one"), [((0,), 1), ((0, 1), 2), ((0, 5), 6), ((2,), 3)])
def test_the_next_call_gets_an_index_that_none_has(seen, following_one):
    frames = [chunk(**call(index, "go", "{}", id=f"call_{index}", type="function")) for index in seen]
    opened = gone_on(following(WIRE, ROLE, *frames, chunk(content=".")), CallOpened(0, "call_z", "stop"))
    assert opened[0]["choices"][0]["delta"]["tool_calls"][0]["index"] == following_one


def test_the_kept_call_goes_on_under_its_own_index_and_others_come_after_it():
    follower = following(
        WIRE,
        ROLE,
        chunk(**call(0, "a", '{"n":1}', id="call_a", type="function")),
        chunk(**call(3, "b", '{"text":"lorem', id="call_b", type="function")),
    )
    more, opened, finish, _ = gone_on(
        follower,
        CallArguments(1, ' ipsum"}'),
        CallClosed(1),
        CallOpened(0, "call_c", "c"),
        CallClosed(0),
        StreamEnded(Stop.CALLS),
        keeping=1,
    )
    assert more["choices"][0]["delta"] == {"tool_calls": [{"index": 3, "function": {"arguments": ' ipsum"}'}}]}
    assert opened["choices"][0]["delta"]["tool_calls"][0]["index"] == 4
    assert finish["choices"][0]["finish_reason"] == "tool_calls"


def test_an_earlier_attempts_call_makes_a_plain_end_one_with_calls():
    follower = following(WIRE, ROLE, chunk(**call(0, "a", "{}", id="x", type="function")), chunk(content="so"))
    assert gone_on(follower, ENDED)[0]["choices"][0]["finish_reason"] == "tool_calls"


@pytest.mark.parametrize(
    "half",
    [
        call(0, "wipe", '{"path":"/', id="call_1", type="function"),
        call(0, "wipe"),  # nothing but a name, which no event tells
        call(None, "wipe"),
        {"function_call": {"name": "wipe", "arguments": ""}},
    ],
    ids=["arguments", "name", "no_index", "old_form"],
)
@pytest.mark.parametrize("end", [ENDED, StreamEnded(Stop.LENGTH)])
def test_half_a_call_that_nobody_goes_on_with_ends_in_an_error(half, end):
    (*_, last) = gone_on(following(WIRE, ROLE, chunk(**half)), TextDelta("well"), end)
    assert "'wipe' never arrived whole" in last["error"]["message"]


def test_a_kept_call_that_is_not_closed_ends_in_an_error():
    follower = following(WIRE, ROLE, chunk(**call(0, "wipe", '{"a', id="call_1", type="function")))
    (*_, last) = gone_on(follower, CallArguments(0, '":1'), ENDED, keeping=0)
    assert "'wipe'" in last["error"]["message"]


def test_a_number_that_another_call_takes_over_leaves_the_kept_one_half():
    follower = following(WIRE, ROLE, chunk(**call(0, "wipe", '{"a', id="call_1", type="function")))
    opened, last = gone_on(follower, CallOpened(0, "call_2", "go"), CallClosed(0), ENDED, keeping=0)
    assert opened["choices"][0]["delta"]["tool_calls"][0]["index"] == 1
    assert "'wipe'" in last["error"]["message"]


def test_thinking_goes_on_under_the_name_that_the_server_gives_it():
    follower = following(WIRE, chunk(role="assistant", reasoning="Hm. "))
    thought = gone_on(follower, ThinkingDelta("So."))[0]
    assert thought["choices"][0]["delta"] == {"reasoning": "So."}


def test_a_signature_covers_only_the_thinking_of_its_own_attempt():
    details = [{"type": "reasoning.text", "text": "Hm. ", "index": 2}]
    follower = following(WIRE, chunk(role="assistant", reasoning="Hm. ", reasoning_details=details))
    _, signed = gone_on(follower, ThinkingDelta("So."), ThinkingSigned("c2ln"))
    assert signed["choices"][0]["delta"]["reasoning_details"] == [
        {"index": 3, "type": "reasoning.text", "text": "So.", "signature": "c2ln"}
    ]


USAGE = {**HEAD, "choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 1}}


def test_after_the_finish_only_the_rest_of_the_end_is_written():
    finished = (ROLE, chunk(content="Hi"), chunk("stop"))
    assert gone_on(following(WIRE, *finished), TextDelta("more"), ENDED) == ["[DONE]"]
    assert gone_on(following(WIRE, *finished, USAGE), ENDED) == ["[DONE]"]
    usage, done = gone_on(following(WIRE, *finished), Usage(5, 6), ENDED)
    assert (usage["usage"]["prompt_tokens"], done) == (5, "[DONE]")
    assert gone_on(following(WIRE, *finished, "[DONE]"), TextDelta("more"), ENDED) == []


def test_a_server_that_says_stop_too_early_has_not_finished():
    follower = following(WIRE, ROLE, chunk("stop", content="a"), chunk(content="b"))
    assert gone_on(follower, TextDelta("c"))[0]["choices"][0]["delta"] == {"content": "c"}


def test_an_error_is_still_said_after_the_finish():
    follower = following(WIRE, ROLE, chunk("stop"))
    assert "error" in gone_on(follower, StreamCut(Cut.ERROR, "", "gone"))[0]


def test_usage_that_was_seen_is_told_at_the_end_if_nobody_knows_better():
    follower = following(
        WIRE, ROLE, chunk(content="Hi", beside={"usage": {"prompt_tokens": 7, "completion_tokens": 1}})
    )
    assert gone_on(follower, ENDED)[1]["usage"]["prompt_tokens"] == 7
    assert gone_on(follower, Usage(70, 10), ENDED)[1]["usage"]["prompt_tokens"] == 70


def test_a_heartbeat_is_an_empty_delta_once_the_stream_is_open():
    follower = following(WIRE, ROLE)
    beat = values_of(follower.heartbeat())
    assert beat == [chunk()] == values_of(follower.encoder().heartbeat())
    (frame,) = FrameReader().feed(follower.heartbeat())
    assert frame.event == b""


def test_before_and_after_the_stream_a_heartbeat_is_a_comment_or_nothing():
    assert WIRE.encoder().heartbeat().startswith(b":")
    assert following(WIRE, ROLE, chunk("stop")).heartbeat().startswith(b":")
    assert following(WIRE, ROLE, chunk("stop"), "[DONE]").heartbeat() == b""


def test_an_encoder_signs_only_what_its_attempt_thought():
    encoder = WIRE.encoder()
    before = (StreamOpened("c", "m"), ThinkingDelta("old "))
    after = (NEXT, ThinkingDelta("new"), ThinkingSigned("c2ln"))
    data = b"".join((*map(encoder.write, before), encoder.seam(), *map(encoder.write, after)))
    assert values_of(data)[-1]["choices"][0]["delta"]["reasoning_details"][0]["text"] == "new"


def test_after_the_seam_nobody_speaks_under_an_old_number():
    follower = following(WIRE, ROLE, chunk(**call(0, "wipe", '{"a', id="call_1", type="function")))
    assert gone_on(follower, CallArguments(0, '":1}')) == []
    encoder = WIRE.encoder()
    for event in (StreamOpened("c", "m"), CallOpened(0, "call_1", "wipe"), CallArguments(0, '{"a')):
        encoder.write(event)
    assert (encoder.seam(), encoder.write(CallArguments(0, '":1}'))) == (b"", b"")
