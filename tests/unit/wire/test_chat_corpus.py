"""Every recorded-style stream of the corpus: what it says, however its bytes are split, and wherever they end."""

from pathlib import Path
from typing import NamedTuple

import pytest

from headway.events import Cut, Event, Stop, StreamCut, StreamEnded
from headway.received import Received
from headway.wire.assembly import assemble
from headway.wire.openai_chat import WIRE

CORPUS = Path(__file__).parents[2] / "corpus" / "chat"


class Says(NamedTuple):
    end: Stop | Cut
    text: str = ""
    thinking: str = ""
    calls: tuple[tuple[str, str, str], ...] = ()
    fragment: str = ""
    refusal: str = ""


EXPECTED = {
    "all_calls_at_index_zero": Says(
        Stop.CALLS, calls=(("call_o1", "add", '{"a":1,"b":2}'), ("call_o2", "add", '{"a":3,"b":4}'))
    ),
    "arguments_as_object": Says(Stop.CALLS, calls=(("call_j", "go", '{"to":[1,null]}'),)),
    "azure_error_after_preamble": Says(Cut.ERROR),
    "azure_filtered": Says(Stop.FILTERED, "Well, "),
    "bytes_end_inside_call": Says(Cut.EOF, "Let me write.", fragment='{"content":"lorem '),
    "calls_without_index_and_id": Says(
        Stop.CALLS, calls=(("call_0", "time", "{}"), ("call_1", "date", '{"zone":"utc"}'))
    ),
    "crlf_lines": Says(Stop.END, "Zeile\r\n\u2028zwei"),
    "custom_tool": Says(Stop.CALLS, calls=(("call_p", "patch", "*** Begin\n*** End"),)),
    "done_inside_call": Says(Cut.EOF, fragment='{"path":"a","content":"lorem'),
    "done_with_whole_call_without_finish": Says(Stop.CALLS, calls=(("call_w", "go", '{"n":1}'),)),
    "done_without_finish": Says(Stop.END, "All of it."),
    "error_as_text": Says(Cut.ERROR),
    "error_then_done": Says(Cut.ERROR, "Ha"),
    "field_named_error": Says(Cut.ERROR),
    "index_gap_and_interleaving": Says(
        Stop.CALLS, calls=(("call_g0", "one", '{"x":1}'), ("call_g5", "two", '{"y":2}'))
    ),
    "legacy_function_call": Says(Stop.CALLS, calls=(("call_0", "get", '{"k":"v"}'),)),
    "length_inside_call": Says(Stop.LENGTH, fragment='{"content":"lorem ipsum'),
    "name_and_id_on_every_delta": Says(Stop.CALLS, calls=(("call_r", "echo", '{"say":"x"}'),)),
    "not_json_mid_stream": Says(Cut.UNREADABLE, "Up to here"),
    "openrouter_error_mid_stream": Says(Cut.ERROR, "So far"),
    "output_sensitive": Says(Cut.ERROR, "Once upon"),
    "parallel_calls": Says(
        Stop.CALLS, calls=(("call_a1", "read", '{"path":"a.txt"}'), ("call_b2", "list", '{"dir":"/tmp"}'))
    ),
    "reasoning_then_call_with_comments": Says(
        Stop.CALLS, thinking="I should look.", calls=(("call_00_x", "look", '{"at": [1, 2]}'),)
    ),
    "reasoning_under_two_names": Says(Stop.END, "3", "One two."),
    "refusal": Says(Stop.END, refusal="I can't help."),
    "sealed_reasoning_details": Says(Stop.CALLS, thinking="Thinking of it", calls=(("call_s", "go", '{"to":1}'),)),
    "signed_reasoning_details": Says(Stop.END, "4", "First, add."),
    "text_after_a_whole_call": Says(Cut.EOF, "and now this", calls=(("call_t", "go", '{"n":1}'),)),
    "text_with_usage": Says(Stop.END, "Hello, wörld 🌍"),
    "thinking_in_a_content_list": Says(Stop.END, "Si!", "Hm. Yes."),
    "thought_signature_on_call": Says(Stop.CALLS, calls=(("function-call-1", "find", '{"q":"é"}'),)),
    "two_choices": Says(Stop.END, "Aa"),
    "unknown_finish_word": Says(Stop.UNKNOWN, "Hm", fragment='{"n":1}'),
    "usage_without_finish": Says(Stop.END, "ok"),
    "x_groq_usage": Says(Stop.END, "fast"),
}

each_stream = pytest.mark.parametrize("name", EXPECTED)


def stored(name: str) -> bytes:
    return (CORPUS / f"{name}.sse").read_bytes()


def decoded(data: bytes) -> list[Event]:
    decoder = WIRE.decoder()
    return [*decoder.feed(data), *decoder.close()]


def decoded_byte_by_byte(data: bytes) -> list[Event]:
    decoder = WIRE.decoder()
    return [*(event for i in range(len(data)) for event in decoder.feed(data[i : i + 1])), *decoder.close()]


def calls_of(received: Received) -> tuple[tuple[str, str, str], ...]:
    return tuple((call.id, call.name, call.arguments) for call in received.calls)


def test_every_stored_stream_has_an_expectation() -> None:
    assert {path.stem for path in CORPUS.glob("*.sse")} == set(EXPECTED)


@each_stream
def test_a_stream_says_what_it_should(name: str) -> None:
    received = assemble(decoded(stored(name)), "chat")
    end = received.end
    assert isinstance(end, StreamEnded | StreamCut)
    assert (
        Says(
            end.stop if isinstance(end, StreamEnded) else end.cause,
            received.text,
            "".join(thinking.text for thinking in received.thinking),
            calls_of(received),
            "".join(fragment.arguments for fragment in received.fragments),
            received.refusal,
        )
        == EXPECTED[name]
    )


@each_stream
def test_splitting_the_bytes_changes_nothing(name: str) -> None:
    assert decoded_byte_by_byte(stored(name)) == decoded(stored(name))


@each_stream
def test_a_cut_at_any_byte_gives_one_end_and_no_call_that_the_whole_stream_did_not_have(name: str) -> None:
    data = stored(name)
    whole = set(calls_of(assemble(decoded(data))))
    for cut in range(len(data)):
        events = decoded(data[:cut])
        ends = [event for event in events if isinstance(event, StreamEnded | StreamCut)]
        assert ends == events[-1:]
        assert set(calls_of(assemble(events))) <= whole
