"""What was attached, in a few words for the user: its name, how much of it, and what was taken out of it. Pure."""

import re

from headway.agent.redaction import Redactor
from headway.messages import Image, ToolResult

_MARK = "[hidden: "
_LINES = re.compile(r": lines 1-([\d,]+) of ([\d,]+);")
_SECRET_NAMES = re.compile(
    r"\.env(?!\.(?:example|sample|template|dist)$)(?:\..+|rc)?|.+\.(?:pem|key|p12|pfx|jks|keystore|kdbx)"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)|\.(?:netrc|pgpass|npmrc|pypirc|htpasswd|git-credentials)"
    r"|(?:credentials|secrets?)(?:\.(?:json|ya?ml|toml|ini|cfg|txt|xml|properties))?",
    re.IGNORECASE,
)
"""Names of files that people keep secrets in."""


class MaskCount(Redactor):
    """Takes secrets out as another does, and counts them."""

    def __init__(self, inner: Redactor) -> None:
        """Count none yet."""
        super().__init__()
        self._inner = inner
        self.masked = 0

    def clean(self, text: str) -> str:
        """Return a text without secrets; marks that it had before are no secrets."""
        clean = self._inner.clean(text)
        self.masked += clean.count(_MARK) - text.count(_MARK)
        return clean


def account_of(path: str, result: ToolResult, *, masked: int, is_folder: bool) -> str:
    """Return what was attached of a path, as `a.py (12 lines)`."""
    about = [_entries(result.text) if is_folder else _amount(path, result)]
    name = path.rstrip("/").rpartition("/")[2]
    if masked:
        about.append(f"{_counted(masked, 'secret')} masked")
    if not is_folder and _SECRET_NAMES.fullmatch(name):
        about.append("the rest is sent as it is" if masked else "no secret was recognised, all of it is sent")
    return f"{path} ({', '.join(about)})"


def _amount(path: str, result: ToolResult) -> str:
    image = next((part for part in result.parts if isinstance(part, Image)), None)
    if image is not None:
        data = image.data or ""
        return f"a picture of {len(data) * 3 // 4 - data[-2:].count('='):,} bytes"
    head = result.text.partition("\n")[0].removeprefix(f"[{path}")
    found = _LINES.search(head)
    if found is None:
        return "empty"
    shown, total = found[1], found[2]
    if shown != total:
        return f"the first {shown} of {total} lines"
    return f"{total} line{'' if total == '1' else 's'}"


def _entries(listing: str) -> str:
    """Return how much is in a folder; the last line may be a note in brackets."""
    lines = listing.split("\n")
    note = lines.pop() if lines[-1].startswith("[") and lines[-1].endswith("]") else ""
    if note:
        return f"more than {len(lines):,} entries" if lines else "empty"
    return _counted(len(lines), "entry", "entries")


def _counted(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"
