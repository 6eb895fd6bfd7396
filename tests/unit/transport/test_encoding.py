"""Compressed bodies: whatever the pieces they come in, the same bytes, and a proven end."""

import gzip
import zlib

import pytest

from headway.transport.encoding import PIECE, Inflater

WORDS = b"".join(b"word %d, " % number for number in range(500))


def inflated(inflater: Inflater, data: bytes, size: int) -> bytes:
    return b"".join(piece for at in range(0, len(data), size) for piece in inflater.feed(data[at : at + size]))


@pytest.mark.parametrize("size", [1, 2, 3, 17, 10**6])
@pytest.mark.parametrize(
    ("data", "plain"),
    [
        (gzip.compress(WORDS), WORDS),
        (zlib.compress(WORDS), WORDS),
        (gzip.compress(WORDS) + gzip.compress(b"more") + gzip.compress(b""), WORDS + b"more"),
        (gzip.compress(WORDS) + b"\0" * 9, WORDS),
        (gzip.compress(WORDS) + b"rubbish", WORDS),
    ],
    ids=["gzip", "zlib", "several members", "padding", "rubbish behind the end"],
)
def test_the_same_bytes_in_pieces_of_any_size(data, plain, size):
    inflater = Inflater()
    assert inflated(inflater, data, size) == plain
    assert inflater.whole


def test_a_second_member_that_is_cut_is_no_proven_end():
    inflater = Inflater()
    assert inflated(inflater, gzip.compress(WORDS) + gzip.compress(b"more")[:-6], 100) == WORDS + b"more"
    assert not inflater.whole


def test_a_flood_comes_in_bounded_pieces():
    assert max(map(len, Inflater().feed(gzip.compress(b"x" * 20 * PIECE)))) <= PIECE


def test_what_is_not_compressed_is_said_so():
    with pytest.raises(ValueError, match="incorrect header"):
        list(Inflater().feed(b"plain words"))
