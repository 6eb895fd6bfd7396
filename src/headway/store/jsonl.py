"""A session as text, one record a line, and back: `{"headway": 1, "seq": 7, "at": …, "record": {"kind": …, …}}`.

The record is the very text that the journal holds; so is what comes back from it. What is read is untrusted.
"""

from collections.abc import Iterable, Iterator

import msgspec
from msgspec import Struct

from headway.failure import InvalidInput
from headway.store.records import FORMAT
from headway.store.rows import Row

LONGEST_LINE = 1 << 28


class _Line(Struct, frozen=True):
    headway: int
    seq: int
    at: float
    record: msgspec.Raw


class _Kind(Struct, frozen=True):
    kind: str


_line = msgspec.json.Decoder(_Line)
_kind = msgspec.json.Decoder(_Kind)
_encoder = msgspec.json.Encoder()


def to_lines(rows: Iterable[Row]) -> Iterator[bytes]:
    """Write rows, each as a line with its end."""
    for row in rows:
        yield _encoder.encode(_Line(FORMAT, row.seq, row.at, msgspec.Raw(row.body.encode()))) + b"\n"


def from_lines(lines: Iterable[bytes], name: str = "the export") -> Iterator[Row]:
    """Read lines, or raise `InvalidInput` that tells the line."""
    for number, line in enumerate((line for line in lines if line.strip()), 1):
        yield _row(line, number, name)


def _row(line: bytes, number: int, name: str) -> Row:
    what = f"line {number} of {name}"
    if len(line) > LONGEST_LINE:
        raise InvalidInput(what, f"it has more than {LONGEST_LINE >> 20} MB")
    try:
        read = _line.decode(line)
        body = bytes(read.record).decode()
        kind = _kind.decode(body).kind
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidInput(what, str(error), "An export has one record a line; is this one?") from None
    if read.headway > FORMAT:
        raise InvalidInput(
            what, f"its format is {read.headway}, and this Headway knows up to {FORMAT}", "Update Headway."
        )
    if read.seq != number:
        raise InvalidInput(what, f"it is record {read.seq} and should be record {number}", "Records are missing.")
    return Row(read.seq, read.at, kind, body)
