"""A foreign session from a file: which format it is, and what it says in our words."""

from pathlib import Path

from msgspec import Struct

from headway.cli.sessions.agents import in_folder
from headway.cli.sessions.files import Source, first_objects
from headway.cli.sessions.opencode_folders import is_session_file, put_together
from headway.failure import InvalidInput
from headway.foreign import claude_code, codex, opencode
from headway.foreign.claude_code import read_claude_code
from headway.foreign.codex import read_codex
from headway.foreign.formats import HEADWAY, IN_LINES, Format, format_of, format_of_lines
from headway.foreign.histories import read_history
from headway.foreign.lines import objects_of
from headway.foreign.opencode import read_opencode
from headway.foreign.session import Account, ForeignSession, LeftOut
from headway.store.jsonl import LONGEST_LINE, from_lines, is_whole
from headway.store.rows import Row
from headway.wire.json_text import BadJson

BY_WISH = "it was said to be one"


class Read(Struct, frozen=True):
    """What a file held: somebody else's session, or the rows of one of ours."""

    format: Format
    name: str
    session: ForeignSession | None = None
    rows: tuple[Row, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    """What is missing of these rows."""


def read_session(place: str, wanted: str | None, folder: Path) -> Read:
    """Read a file, or the latest session in a folder; raises `InvalidInput` for what is none."""
    path = Path(place)
    if place != "-" and path.is_dir():
        path = in_folder(path, folder)
    if place != "-" and is_session_file(path) and wanted in (None, opencode.NAME):
        account = Account()
        by_place = Format(opencode.NAME, "it lies where opencode keeps its sessions")
        return Read(by_place, str(path), _with_words(read_opencode(put_together(path, account), account), str(path)))
    source = Source("-" if place == "-" else str(path))
    by_lines = format_of_lines(first_objects(source.lines()))
    found = Format(wanted, BY_WISH) if wanted else by_lines
    if found is None or found.name not in IN_LINES:
        found, session = _whole(source, wanted)
        return Read(found, source.name, _with_words(session, source.name))
    if found.name == HEADWAY:
        return _own(source, found)
    read = {claude_code.NAME: read_claude_code, codex.NAME: read_codex}[found.name]
    return Read(found, source.name, _with_words(read(source.lines()), source.name))


def _whole(source: Source, wanted: str | None) -> tuple[Format, ForeignSession]:
    """Read a file that is one value, or one message a line."""
    account = Account()
    try:
        value, notes = source.value()
    except BadJson as error:
        value, notes = list(objects_of(source.lines(), account)), ()
        if not value:
            raise InvalidInput(source.name, f"it is not JSON: {error}", "Nothing was changed.") from None
    for note in notes:
        account.mend(note)
    if not isinstance(value, dict | list):
        raise InvalidInput(
            source.name, f"it is a JSON {type(value).__name__}", "Give it a list of messages, or a body."
        )
    found = Format(wanted, BY_WISH) if wanted else format_of(value)
    if found.name == opencode.NAME:
        return found, read_opencode(value, account)
    try:
        return found, read_history(value, found.name, account)
    except InvalidInput as error:
        raise InvalidInput(f"{source.name}, read as {found.name}: {error.what}", error.why, error.hint) from None


def _own(source: Source, found: Format) -> Read:
    """Read an export of ours. One that was cut off is a session all the same: any beginning of a journal is one."""
    account, lines = Account(), _held_lines(source)
    if not is_whole(lines[-1]) and lines[1:]:
        del lines[-1]
        account.leave("line", "lines", "the file ends in the middle of it")
    return Read(found, source.name, rows=tuple(from_lines(lines, source.name)), left_out=account.left_out)


def _held_lines(source: Source) -> list[bytes]:
    lines: list[bytes] = []
    for line in source.lines(LONGEST_LINE):
        if line is None:
            raise InvalidInput(source.name, f"a line has more than {LONGEST_LINE >> 20} MB", "Nothing was changed.")
        if line.strip():
            lines.append(line)
    return lines


def _with_words(session: ForeignSession, name: str) -> ForeignSession:
    """Refuse a session in which nothing was said: perhaps it was read as something that it is not."""
    if not any(message.parts for message in session.messages):
        hint = "If it is of another format, --from says which."
        raise InvalidInput(name, f"there is no conversation in it, read as {session.source}", hint)
    return session
