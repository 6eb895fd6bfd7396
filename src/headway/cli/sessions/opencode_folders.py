"""A session of opencode from its folders: one file for the session, one for each message, one for each part.

`storage/session/PROJECT/ses_….json`, `storage/message/ses_…/msg_….json`, `storage/part/msg_…/prt_….json`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from headway.cli.sessions.files import MOST_AT_ONCE
from headway.failure import InvalidInput
from headway.foreign.session import Account
from headway.wire.json_text import BadJson, decode_repaired


def is_session_file(path: Path) -> bool:
    """Say whether a file is where opencode keeps what it knows about a session."""
    return path.suffix == ".json" and path.name.startswith("ses_") and path.parent.parent.name == "session"


def storage_in(folder: Path) -> Path | None:
    """Return opencode's storage, if a folder is it or holds it."""
    return next((one for one in (folder, folder / "storage") if (one / "session").is_dir()), None)


def latest_session(storage: Path, folder: Path) -> Path | None:
    """Return the session written last: of this folder if there is one, else of any. Sub-agents do not count."""
    found: list[tuple[bool, float, Path]] = []
    for path in storage.glob("session/*/ses_*.json"):
        about = _read(path)
        if about is not None and not about.get("parentID"):
            found.append((about.get("directory") == str(folder), path.stat().st_mtime, path))
    return max(found)[2] if found else None


def put_together(path: Path, account: Account) -> dict[str, Any]:
    """Return a session as `opencode export` would write it."""
    storage, held = path.parents[2], path.stat().st_size
    about = _read(path)
    messages: list[dict[str, Any]] = []
    for file in _files(storage / "message" / path.stem):
        info = _read(file)
        if info is None:
            account.leave("file", "files", "no JSON stands there")
            continue
        parts: list[dict[str, Any]] = []
        for one in _files(storage / "part" / file.stem):
            held += one.stat().st_size
            if held > MOST_AT_ONCE:
                raise InvalidInput(
                    str(path), f"the session has more than {MOST_AT_ONCE >> 20} MB", "Nothing was changed."
                )
            part = _read(one)
            if part is None:
                account.leave("file", "files", "no JSON stands there")
            else:
                parts.append(part)
        messages.append({"info": info, "parts": parts})
    messages.sort(key=_when)
    return {"info": about or {}, "messages": messages}


def _when(message: dict[str, Any]) -> tuple[float, str]:
    time, name = message["info"].get("time"), message["info"].get("id")
    created = time.get("created") if isinstance(time, dict) else None
    return created if isinstance(created, int | float) else 0.0, name if isinstance(name, str) else ""


def _files(folder: Path) -> Iterator[Path]:
    return iter(sorted(folder.glob("*.json")))


def _read(path: Path) -> dict[str, Any] | None:
    try:
        value, _ = decode_repaired(path.read_bytes())
    except (OSError, BadJson):
        return None
    return value if isinstance(value, dict) else None
