"""A file is replaced, and what was there is kept before, if anybody keeps it. Blocks."""

from headway.agent.checkpoints import Checkpoints
from headway.agent.redaction import new_mark
from headway.agent.tools.files import MOST_FILE_BYTES, Mark, read, replace
from headway.agent.tools.refusals import ToolError
from headway.agent.workspace import Spot


def what_was_there(spot: Spot, old: Mark | None) -> tuple[bytes | None, Mark | None]:
    """Return the content of a file before it is replaced; empty for one too large to be kept."""
    if old is None:
        return None, None
    return read(spot) if old.size <= MOST_FILE_BYTES else (b"", old)


def replace_kept(
    keeper: Checkpoints | None, call: str, spot: Spot, data: bytes, old: Mark | None, before: bytes | None
) -> str:
    """Put a content in a file's place; return what the model should know about it, which is mostly nothing.

    Work does not stop because it could not be taken back: a disk that is full elsewhere is only told.
    """
    _refuse_marks(spot, data, before)
    note = ""
    if keeper is not None:
        try:
            if old is not None and old.size > MOST_FILE_BYTES:
                raise OSError(f"it had {old.size:,} bytes")  # noqa: TRY301
            keeper.keep(spot, before, data, call=call)
        except OSError as error:
            note = f" This cannot be undone: what was there could not be kept ({error.strerror or error})."
    replace(spot, data, old)
    return note


def _refuse_marks(spot: Spot, data: bytes, before: bytes | None) -> None:
    mark = new_mark(data.decode("utf-8", "replace"), (before or b"").decode("utf-8", "replace"))
    if mark:
        raise ToolError(
            f"`{spot.shown}` was left alone: `{mark}` stands for a secret that you were not shown, and would take its "
            "place. Change the other parts of the file with `edit_file`."
        )
