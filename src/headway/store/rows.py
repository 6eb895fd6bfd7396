"""Records as they are stored, and back. Writing and reading are exact: what comes back is what was given.

A `Row` is what a store holds, byte for byte; an `Entry` is what it says. Whatever cannot be read is `Unreadable`.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec import Struct

from headway.failure import InvalidInput
from headway.store.records import Record, Unreadable


class Row(Struct, frozen=True):
    """One record as it is stored: its number, the time of day, its kind, and its JSON, which holds the kind too."""

    seq: int
    at: float
    kind: str
    body: str


class Entry(Struct, frozen=True):
    """One record as it is read."""

    seq: int
    at: float
    record: Record | Unreadable


_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[Record] = msgspec.json.Decoder(Record)


def row_of(seq: int, at: float, record: Record) -> Row:
    """Return the record as it is stored, or raise `InvalidInput` for one that is nested beyond reason."""
    kind = str(record.__struct_config__.tag)
    try:
        return Row(seq, at, kind, _encoder.encode(record).decode())
    except UnicodeEncodeError:
        # Half a character, as some terminals and most broken clients send them. Escaped, it comes back as it was.
        return Row(seq, at, kind, json.dumps(msgspec.to_builtins(record), separators=(",", ":")))
    except RecursionError:
        raise InvalidInput(f"the record {kind!r}", "it is nested too deeply to be written down") from None


def entry_of(row: Row) -> Entry:
    """Read a row; it never fails."""
    try:
        return Entry(row.seq, row.at, _read(row.body))
    except (ValueError, RecursionError):  # msgspec's errors are ValueErrors
        return Entry(row.seq, row.at, Unreadable(row.kind, row.body))


def entries_of(rows: Iterable[Row]) -> Iterator[Entry]:
    """Read rows one after the other."""
    return map(entry_of, rows)


def _read(body: str) -> Record:
    try:
        return _decoder.decode(body)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        value: Any = json.loads(body)
        return msgspec.convert(value, Record)  # type: ignore[no-any-return]  # a union is a type here
