"""Answers, whole and byte by byte and cut at every byte: a body is whole only when HTTP proved it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.transport.reading import MAX_HEAD, AnswerReader, Reading
from support.peers import CHUNKED, LAST_CHUNK, chunk, sized

BODY = b"data: 1\n\ndata: 2\n\n"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
HINTS = b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n"
TRAILERS = b"0\r\nserver-timing: 3\r\n\r\n"
WHOLE = {
    "content-length": sized(BODY),
    "chunked": CHUNKED + chunk(BODY[:5]) + chunk(BODY[5:]) + LAST_CHUNK,
    "chunk extensions": CHUNKED + b'5;a=1;b="c"\r\n' + BODY[:5] + b"\r\n" + chunk(BODY[5:]) + b"0;last\r\n\r\n",
    "trailers": CHUNKED + chunk(BODY) + TRAILERS,
    "chunk sizes with capitals and zeros": CHUNKED + b"0000012\r\n" + BODY + b"\r\n" + LAST_CHUNK,
    "interim answers": CONTINUE + HINTS + sized(BODY),
    "http/1.0 with a length": b"HTTP/1.0 200 OK\r\ncontent-length: 18\r\n\r\n" + BODY,
    "folded case": b"HTTP/1.1 200 OK\r\nCONTENT-Length:18\r\n\r\n" + BODY,
    "no reason": b"HTTP/1.1 200\r\ncontent-length: 18\r\n\r\n" + BODY,
}
OPEN_END = {
    "http/1.0 without a length": b"HTTP/1.0 200 OK\r\ncontent-type: text/event-stream\r\n\r\n" + BODY,
    "http/1.1 until close": b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n" + BODY,
}
BROKEN = {
    "not http": b"SSH-2.0-OpenSSH_9.2p1\r\n",
    "html": b"<html><body>captive portal</body></html>",
    "http/0.9": b"hello there\r\n\r\n",
    "http/2": b"\x00\x00\x12\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x64",
    "a status that is no number": b"HTTP/1.1 abc OK\r\n\r\n",
    "a bad chunk size": CHUNKED + b"zz\r\nhello\r\n",
    "a chunk without its end": CHUNKED + b"2\r\nhello\r\n",
    "two lengths": b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello",
    "a negative length": b"HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\nhello",
    "length and chunks": b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    "another protocol": b"HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n",
    "a control character in a header": b"HTTP/1.1 200 OK\r\na: b\x00c\r\n\r\n",
}


def read(*pieces: bytes, head_only: bool = False) -> tuple[AnswerReader, bytes]:
    reader = AnswerReader(head_only=head_only)
    body = b""
    for piece in pieces:
        reader.feed(piece)
        body += reader.take()
    return reader, body


@pytest.mark.parametrize("data", WHOLE.values(), ids=WHOLE)
def test_an_answer_that_proves_its_end_is_whole(data):
    reader, body = read(data)
    assert (reader.state, reader.status, body) == (Reading.WHOLE, 200, BODY)
    again, pieced = read(*(data[at : at + 1] for at in range(len(data))))
    assert (again.state, again.headers, pieced) == (Reading.WHOLE, reader.headers, BODY)


@pytest.mark.parametrize("data", WHOLE.values(), ids=WHOLE)
def test_an_answer_cut_at_any_byte_is_cut_and_gives_what_came(data):
    for at in range(len(data)):
        reader, body = read(data[:at])
        reader.end()
        assert reader.state is Reading.CUT, at
        assert BODY.startswith(body)


@pytest.mark.parametrize("data", OPEN_END.values(), ids=OPEN_END)
def test_a_body_that_only_the_connection_ends_is_never_called_whole(data):
    for at in range(data.index(b"\r\n\r\n") + 4, len(data) + 1):
        reader, body = read(data[:at])
        assert reader.state is Reading.BODY
        reader.end()
        assert reader.state is Reading.OPEN_END
        assert BODY.startswith(body)
        assert not reader.keep_alive


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN)
def test_what_is_not_http_is_broken_and_never_raises(data):
    reader, _ = read(data)
    reader.end()
    assert reader.state is Reading.BROKEN
    assert reader.why


@given(st.sampled_from(sorted(WHOLE)), st.data())
def test_how_the_bytes_are_split_changes_nothing(name, drawn):
    data = WHOLE[name]
    cuts = sorted(drawn.draw(st.lists(st.integers(0, len(data)), max_size=8)))
    reader, body = read(*(data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)))
    assert (reader.state, body) == (Reading.WHOLE, BODY)


@given(st.binary(max_size=300))
def test_no_bytes_make_it_raise_or_claim_a_whole_answer_it_did_not_see(data):
    reader, _ = read(data)
    reader.end()
    assert reader.over
    assert reader.state is not Reading.WHOLE or data.startswith(b"HTTP/1.")


@given(st.binary(max_size=200))
def test_nothing_behind_a_good_head_makes_it_raise(data):
    reader, _ = read(CHUNKED + data)
    reader.end()
    assert reader.over


def test_an_answer_may_be_reused_only_when_both_sides_agree():
    assert read(sized(BODY))[0].keep_alive
    assert not read(sized(BODY, "200 OK", "connection: close"))[0].keep_alive
    assert not read(WHOLE["http/1.0 with a length"])[0].keep_alive
    assert read(b"HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 0\r\n\r\n")[0].keep_alive


@pytest.mark.parametrize("surplus", [b"x", sized(b"another body"), b"\x00\x01", b"\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"])
@pytest.mark.parametrize("together", [True, False])
def test_bytes_behind_the_end_are_nobodys_and_end_the_reuse(surplus, together):
    data = sized(BODY)
    reader, body = read(data + surplus) if together else read(data, surplus)
    assert (reader.state, body) == (Reading.WHOLE, BODY)
    assert not reader.keep_alive


@pytest.mark.parametrize("status", ["204 No Content", "304 Not Modified"])
def test_an_answer_that_has_no_body_is_whole_at_once(status):
    assert read(f"HTTP/1.1 {status}\r\n\r\n".encode())[0].state is Reading.WHOLE


def test_the_answer_to_head_has_no_body_whatever_it_says():
    reader, body = read(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n", head_only=True)
    assert (reader.state, body) == (Reading.WHOLE, b"")


@pytest.mark.parametrize(
    "endless", [b"x-a: " + b"a" * 9000, b"x-a: b\r\n" * 1000, b"a" * 9000], ids=["a value", "headers", "a name"]
)
def test_a_head_without_an_end_is_bounded(endless):
    reader = AnswerReader()
    reader.feed(b"HTTP/1.1 200 OK\r\n")
    fed = 0
    while not reader.over:
        reader.feed(endless)
        fed += len(endless)
        assert fed < MAX_HEAD + 20_000
    assert reader.state is Reading.BROKEN


def test_interim_answers_without_an_end_are_bounded():
    reader = AnswerReader()
    for _ in range(MAX_HEAD // len(CONTINUE) + 2):
        reader.feed(CONTINUE)
    assert reader.state is Reading.BROKEN


def test_headers_are_found_by_any_spelling_and_kept_in_order():
    lines = [
        b"HTTP/1.1 429 No",
        b"Retry-After: 3",
        b"set-cookie: a",
        b"Set-Cookie: b",
        b"x-odd: caf\xe9",
        b"content-length: 0",
    ]
    headers = read(b"\r\n".join([*lines, b"", b""]))[0].headers
    assert headers.get("retry-after") == headers.get("RETRY-AFTER") == "3"
    assert headers.get_all("Set-Cookie") == ("a", "b")
    assert headers.get("absent", "none") == "none"
    assert "X-Odd" in headers
    assert headers.as_dict() == {"retry-after": "3", "set-cookie": "a, b", "x-odd": "café", "content-length": "0"}
    assert [name for name, _ in headers] == ["retry-after", "set-cookie", "set-cookie", "x-odd", "content-length"]
