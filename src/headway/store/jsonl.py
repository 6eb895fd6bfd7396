"""A session as text, one record a line, and back: `{"headway": 1, "seq": 7, "at": …, "record": {"kind": …, …}}`.

The record is the very text that the journal holds; so is what comes back from it. What is read is untrusted.
"""

import json
from collections.abc import Iterable, Iterator

import msgspec
from msgspec import Struct

from headway.failure import InvalidInput
from headway.store.records import FORMAT
from headway.store.rows import Row

LONGEST_LINE = 1 << 28
_HINT = "An export has one whole record a line."


class _Kind(Struct, frozen=True):
    kind: str


class _Line(Struct, frozen=True):
    headway: int
    seq: int
    at: float
    record: msgspec.Raw


class _ReadLine(Struct, frozen=True):
    headway: int
    seq: int
    at: float
    record: dict[str, object]


_encoder = msgspec.json.Encoder()
_line = msgspec.json.Decoder(_Line)
_kind = msgspec.json.Decoder(_Kind)


def to_lines(rows: Iterable[Row]) -> Iterator[bytes]:
    """Write rows, each as a line with its end."""
    for row in rows:
        yield _encoder.encode(_Line(FORMAT, row.seq, row.at, msgspec.Raw(row.body.encode()))) + b"\n"


def from_lines(lines: Iterable[bytes], name: str = "the export") -> Iterator[Row]:
    """Read lines, or raise `InvalidInput` that tells the line."""
    for number, line in enumerate((line for line in lines if line.strip()), 1):
        what = f"line {number} of {name}"
        if len(line) > LONGEST_LINE:
            raise InvalidInput(what, f"it has more than {LONGEST_LINE >> 20} MB", _HINT)
        try:
            version, row = _read(line)
        except (ValueError, RecursionError) as error:  # msgspec's errors are ValueErrors
            raise InvalidInput(what, str(error), _HINT) from None
        if version > FORMAT:
            raise InvalidInput(
                what, f"its format is {version}, and this Headway knows up to {FORMAT}", "Update Headway."
            )
        if row.seq != number:
            raise InvalidInput(what, f"it is record {row.seq} and should be record {number}", "Records are missing.")
        yield row


def is_whole(line: bytes) -> bool:
    """Say whether a line is a record, and not what is left of one."""
    try:
        _read(line)
    except (ValueError, RecursionError):
        return False
    return True


def _read(line: bytes) -> tuple[int, Row]:
    try:
        exact = _line.decode(line)
        body = bytes(exact.record).decode()
        return exact.headway, Row(exact.seq, exact.at, _kind.decode(body).kind, body)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:  # half a character, perhaps, which is written as `rows` writes it
        read = msgspec.convert(json.loads(line), _ReadLine)
        kind = msgspec.convert(read.record, _Kind).kind
        return read.headway, Row(read.seq, read.at, kind, json.dumps(read.record, separators=(",", ":")))
