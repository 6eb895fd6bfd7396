"""Recorded-style streams: what each one says, whole, byte by byte, and cut at every byte."""

from pathlib import Path

import pytest
from msgspec import Struct

from headway.events import Cut, Event, Stop, StreamCut, StreamEnded
from headway.messages import ToolCall
from headway.received import Received
from headway.wire.assembly import assemble
from headway.wire.openai_responses import WIRE

FOLDER = Path(__file__).parents[2] / "corpus" / "responses"


class Says(Struct, frozen=True):
    """What a stream comes to."""

    end: Stop | Cut
    text: str = ""
    refusal: str = ""
    thinking: tuple[str, ...] = ()
    calls: tuple[tuple[str, str, str], ...] = ()
    fragments: tuple[tuple[str, str], ...] = ()


CORPUS = {
    "text": Says(Stop.END, "Héllo — 世界 🙂!"),
    "reasoning_then_call": Says(
        Stop.CALLS,
        thinking=("**Looking**\n\n**Reading**",),
        calls=(("call_1", "read_file", '{"path":"a.py"}'),),
    ),
    "parallel_calls": Says(Stop.CALLS, "Both.", calls=(("call_a", "list", "{}"), ("call_b", "read", '{"n":1}'))),
    "custom_tool_call": Says(Stop.CALLS, calls=(("call_c", "apply_patch", "*** Begin\n+ x\n"),)),
    "refusal": Says(Stop.END, refusal="I cannot help."),
    "length_in_a_call": Says(
        Stop.LENGTH,
        calls=(("call_w", "note", '{"x":1}'),),
        fragments=(("write_file", '{"path":"a.py","text":"import o'),),
    ),
    "length_before_arguments": Says(Stop.LENGTH, fragments=(("wipe_disk", ""),)),
    "filtered": Says(Stop.FILTERED, "The recipe is"),
    "failed": Says(Cut.ERROR, "Half a thought"),
    "error_flat": Says(Cut.ERROR),
    "error_nested": Says(Cut.ERROR, "On it"),
    "web_search": Says(Stop.END, "Found."),
    "only_done_events": Says(Stop.CALLS, "All at once.", calls=(("call_8", "look", '{"q":"x"}'),)),
    "only_the_end": Says(Stop.CALLS, "Here.", thinking=("Hm.",), calls=(("call_9", "look", '{"q":"y"}'),)),
    "names_that_change": Says(Stop.END, "It shipped.", thinking=("Let me see",)),
    "done_word_without_an_end": Says(Cut.EOF, "All said.", calls=(("call_10", "look", '{"q":1}'),)),
    "hollow_end": Says(Stop.CALLS, "Streamed.", calls=(("call_11", "look", '{"q":2}'),)),
    "open_weight_reasoning": Says(Stop.END, "Yes.", thinking=("We need",)),
    "contradicted_arguments": Says(Cut.CONTRADICTORY, fragments=(("pay", ""),)),
}


def stream(name: str) -> bytes:
    return (FOLDER / f"{name}.sse").read_bytes()


def decode(*pieces: bytes) -> list[Event]:
    decoder = WIRE.decoder()
    return [event for piece in pieces for event in decoder.feed(piece)] + decoder.close()


def ends(events: list[Event]) -> list[Event]:
    return [event for event in events if isinstance(event, StreamEnded | StreamCut)]


def summary(received: Received) -> Says:
    end = received.end
    assert end is not None
    return Says(
        end.stop if isinstance(end, StreamEnded) else end.cause,
        received.text,
        received.refusal,
        tuple(thinking.text for thinking in received.thinking),
        tuple((call.id, call.name, call.arguments) for call in received.calls),
        tuple((fragment.name, fragment.arguments) for fragment in received.fragments),
    )


def test_every_stream_of_the_corpus_is_expected_here():
    assert {path.stem for path in FOLDER.glob("*.sse")} == set(CORPUS)


@pytest.mark.parametrize("name", CORPUS)
def test_a_stream_says_this_and_says_it_once(name):
    assert summary(assemble(decode(stream(name)))) == CORPUS[name]


@pytest.mark.parametrize("name", CORPUS)
def test_byte_by_byte_says_the_same(name):
    data = stream(name)
    assert decode(*(data[i : i + 1] for i in range(len(data)))) == decode(data)


def identity(call: ToolCall) -> tuple[str, str, str]:
    return call.id, call.name, call.arguments


@pytest.mark.parametrize("name", CORPUS)
def test_cut_at_any_byte_it_ends_once_and_invents_no_call(name):
    data = stream(name)
    whole_calls = {call[:3] for call in CORPUS[name].calls}
    for cut in range(len(data)):
        events = decode(data[:cut])
        assert ends(events) == events[-1:]
        received = assemble(events)
        assert {identity(call) for call in received.calls} <= whole_calls
        assert CORPUS[name].text.startswith(received.text)


def test_only_the_terminal_event_ends_a_stream():
    for name, says in CORPUS.items():
        data = stream(name).replace(b"\r\n", b"\n")
        before_the_last_event = data[: data.rstrip(b"\n").rfind(b"\n\n") + 2]
        if isinstance(says.end, Stop) and name != "names_that_change":
            assert isinstance(assemble(decode(before_the_last_event)).end, StreamCut), name


def test_the_seal_is_taken_from_the_finished_item():
    (thinking,) = assemble(decode(stream("reasoning_then_call"))).thinking
    assert thinking.sealed == "gAAAAwhole"
    assert thinking.raw is not None
    assert thinking.raw.value["id"] == "rs_1"


def test_fields_that_must_be_echoed_stay_with_a_call():
    (call,) = assemble(decode(stream("reasoning_then_call"))).calls
    assert call.raw is not None
    assert call.raw.value == {"namespace": "files"}
