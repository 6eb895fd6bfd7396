"""Lines of JSON that somebody else wrote: each is read by itself; one that cannot be read is told and passed over."""

from collections.abc import Iterable, Iterator
from typing import Any

from headway.foreign.session import Account
from headway.wire.json_text import BadJson, decode_repaired


def objects_of(lines: Iterable[bytes | None], account: Account) -> Iterator[dict[str, Any]]:
    """Give the objects; None stands for a line that was too long to be held."""
    unread = 0  # decided one line later: only the last line of a file can be one that was being written
    for line in lines:
        if unread:
            account.leave("line", "lines", "no JSON stands there", unread)
            unread = 0
        if line is None:
            account.leave("line", "lines", "longer than any message can be")
        elif line.strip():
            value, notes = _read(line)
            for note in notes:
                account.mend(note)
            if value is None:
                unread = 1
            else:
                yield value
    account.leave("line", "lines", "the file ends in the middle of it", unread)


def _read(line: bytes) -> tuple[dict[str, Any] | None, tuple[str, ...]]:
    try:
        value, notes = decode_repaired(line)
    except BadJson:
        return None, ()
    return (value, notes) if isinstance(value, dict) else (None, ())
