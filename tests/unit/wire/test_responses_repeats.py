"""What was streamed and comes again, whole, is not read again; nothing is read differently for that."""

import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.events import CallArguments, CallClosed, CallOpened, Stop, StreamEnded, StreamOpened
from headway.wire.assembly import Assembler
from headway.wire.json_text import BadJson, decode, encode
from headway.wire.openai_responses.repeats import _STAND_IN, LONG, decode_repeat
from headway.wire.table import WIRES

SAID = "".join(f'<p id="p{number}">naïve \\ “quoted” 東京 😀</p>\n\t' for number in range(2_000))
TEXTS = {
    "<said>": SAID,
    "<less>": SAID[:-1],
    "<more>": f"{SAID}x",
    "<later>": SAID[1:],
    "<short>": SAID[: LONG - 1],
    "<stand-in>": _STAND_IN,
    "<stand-ins>": _STAND_IN * 4_000,
}
NAMES = st.sampled_from(sorted(TEXTS))
VALUES = st.recursive(
    st.none() | st.text() | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3) | NAMES, inner, max_size=3),
    max_leaves=5,
)


def filled(value):
    """Put long texts in the place of their names."""
    if isinstance(value, list):
        return [filled(one) for one in value]
    if isinstance(value, dict):
        return {TEXTS.get(key, key): filled(one) for key, one in value.items()}
    return TEXTS.get(value, value)


@given(VALUES, NAMES)
def test_a_frame_means_the_same_however_it_is_read(value, name):
    whole = filled(value)
    assert (decode_repeat(encode(whole), TEXTS[name]) == whole) is True


@given(VALUES)
def test_a_server_that_escapes_in_its_own_way_is_read_as_well(value):
    whole = filled(value)
    assert (decode_repeat(json.dumps(whole).encode(), SAID) == whole) is True


def test_the_text_that_was_said_is_not_made_again():
    value = decode_repeat(encode({"type": "x", "item": {"arguments": SAID, "n": [1, 2]}}), SAID)
    assert value["item"]["arguments"] is SAID
    assert value == {"type": "x", "item": {"arguments": SAID, "n": [1, 2]}}


def test_a_frame_that_is_broken_behind_the_text_is_still_broken():
    whole = encode({"arguments": SAID, "status": "completed"})
    for data in (whole[:-1], whole[:-12], whole.replace(b'"status"', b"status")):
        with pytest.raises(BadJson):
            decode(data)
        with pytest.raises(BadJson):
            decode_repeat(data, SAID)


def test_a_large_call_that_the_wire_says_four_times_is_in_memory_less_often():
    arguments = json.dumps({"content": "all work and no play\n" * 100_000})
    encoder, decoder, assembler = WIRES["responses"].encoder(), WIRES["responses"].decoder(), Assembler()
    pieces = [CallArguments(0, arguments[at : at + 200]) for at in range(0, len(arguments), 200)]
    events = [
        StreamOpened("r", "m"),
        CallOpened(0, "c", "write_file"),
        *pieces,
        CallClosed(0),
        StreamEnded(Stop.CALLS),
    ]
    frames = [encoder.write(event) for event in events]
    tracemalloc.start()
    try:
        for frame in frames:
            for at in range(0, len(frame), 65_536):
                assembler.add_all(decoder.feed(frame[at : at + 65_536]))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert assembler.received().calls[0].arguments == arguments
    assert peak < 5 * len(arguments)
