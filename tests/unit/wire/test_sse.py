"""Frames out of bytes: every split, every line end, every bound."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.wire.sse import Comment, Frame, FrameReader, FrameTooLarge, write_comment, write_frame

MIXED = (
    b": keep-alive\n\n"
    b'data: {"a":1}\n\n'
    b'event: message_start\r\ndata: {"b":2}\r\n\r\n'
    b"event:ping\rdata:x\r\r"
    b"id: 7\nretry: 10\ndata: one\ndata: two\n\n"
    b"data: caf\xc3\xa9 \xf0\x9f\x98\x80\n\n"
    b'error: {"code":500}\n\n'
    b"\n\n\ndata\n\n"
    b"data: [DONE]\n\n"
)
EXPECTED = [
    ("comment", b""),
    (b"", b'{"a":1}'),
    (b"message_start", b'{"b":2}'),
    (b"ping", b"x"),
    (b"", b"one\ntwo"),
    (b"", "café 😀".encode()),
    (b"error", b'{"code":500}'),
    (b"", b""),
    (b"", b"[DONE]"),
]


def meaning(frames: list[Frame | Comment]) -> list[tuple[object, bytes]]:
    return [("comment", b"") if isinstance(f, Comment) else (f.event, f.data) for f in frames]


def read_in_pieces(data: bytes, cuts: list[int]) -> list[Frame | Comment]:
    reader = FrameReader()
    edges = [0, *sorted(cuts), len(data)]
    return [frame for a, b in pairwise(edges) for frame in reader.feed(data[a:b])]


def test_all_three_line_ends_comments_and_joined_data_lines_are_read():
    assert meaning(FrameReader().feed(MIXED)) == EXPECTED


def test_bytes_one_by_one_give_the_same_frames():
    assert meaning(read_in_pieces(MIXED, list(range(1, len(MIXED))))) == EXPECTED


@given(st.lists(st.integers(0, len(MIXED)), max_size=8))
def test_any_split_gives_the_same_frames(cuts):
    assert meaning(read_in_pieces(MIXED, cuts)) == EXPECTED


def test_a_frame_that_ends_in_two_carriage_returns_does_not_wait_for_the_next_bytes():
    assert meaning(FrameReader().feed(b"data: now\r\r")) == [(b"", b"now")]


def test_a_line_feed_after_a_split_carriage_return_is_part_of_the_same_line_end():
    reader = FrameReader()
    assert reader.feed(b"data: a\r") == []
    assert reader.feed(b"\n") == []
    assert meaning(reader.feed(b"data: b\r\n\r")) == [(b"", b"a\nb")]
    assert reader.feed(b"\n") == []


def test_a_byte_order_mark_is_dropped_even_when_it_comes_in_pieces():
    reader = FrameReader()
    frames = [frame for byte in b"\xef\xbb\xbfdata: x\n\n" for frame in reader.feed(bytes([byte]))]
    assert meaning(frames) == [(b"", b"x")]


def test_bytes_without_their_empty_line_are_not_an_event():
    reader = FrameReader()
    assert reader.feed(b'data: {"whole":"json"}\n') == []
    assert reader.rest == b'data: {"whole":"json"}\n'


def test_other_unicode_line_separators_are_data():
    text = "a\u2028b\u0085c\x0bd".encode()
    assert meaning(FrameReader().feed(b"data: " + text + b"\n\n")) == [(b"", text)]


@pytest.mark.parametrize("piece", [7, 64, 4096])
def test_an_event_without_bounds_is_refused_and_not_held(piece):
    reader = FrameReader(limit=1000)
    with pytest.raises(FrameTooLarge) as caught:
        for _ in range(10_000):
            reader.feed(b"x" * piece)
    assert caught.value.limit == 1000
    assert reader.rest == b""


def test_an_oversized_event_that_comes_whole_in_one_read_is_refused_too():
    with pytest.raises(FrameTooLarge):
        FrameReader(limit=100).feed(b"data: " + b"x" * 200 + b"\n\n")


@given(st.text(st.characters(exclude_characters="\r\n", exclude_categories=("Cs",))), st.sampled_from(["", "error"]))
def test_what_is_written_is_read_again(text, event):
    frames = FrameReader().feed(write_comment() + write_frame(text.encode(), event))
    assert meaning(frames) == [("comment", b""), (event.encode(), text.encode())]


def test_a_frame_forwards_the_bytes_it_came_in():
    data = b"event: ping\ndata: {}\n\n"
    (frame,) = FrameReader().feed(data)
    assert isinstance(frame, Frame)
    assert frame.wire_bytes == data
