"""Keys by reference: `env:NAME`, `file:PATH`, `keyring:NAME`. Opened late, each time anew, and never shown.

A file or a keyring may be changed while a process runs; what counts is what is there when a request is sent.
"""

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from headway.failure import InvalidInput
from headway.providers.secret import Secret

KINDS = ("env", "file", "keyring")
SERVICE = "headway"
MOST_BYTES = 65_536


def check_reference(text: str, place: str, example: str = "MY_KEY") -> None:
    """Refuse what is no reference: most likely a key itself, so it is not shown."""
    kind, colon, name = text.partition(":")
    is_one = bool(colon) and kind in KINDS
    if is_one and name.isprintable() and name.strip() and not (kind == "env" and " " in name.strip()):
        return
    why = "a key must not be written out here"
    if is_one:
        why = f"`{kind}:` names nothing" if not name.strip() else "no name has a space or a line end inside"
    hint = f'Put it into a variable and write "env:{example}", or into a file of its own and write "file:PATH".'
    raise InvalidInput(place, why, hint)


def anchored(text: str, folder: Path) -> str:
    """Return a reference whose path starts from the folder of the file it was written in."""
    kind, _, name = text.partition(":")
    return f"file:{folder / Path(name).expanduser()}" if kind == "file" and name else text


class Keychain:
    """Opens references."""

    def __init__(self, environ: Mapping[str, str], given: Mapping[str, Secret] | None = None) -> None:
        """Use the variables that the process was started with; `given` are keys that a program holds itself."""
        self._environ, self._given = environ, given or {}

    def open(self, reference: str) -> Secret:
        """Return what a reference stands for; raises `InvalidInput` when it stands for nothing."""
        if reference in self._given:
            return self._given[reference]
        kind, _, name = reference.partition(":")
        value = self._by_kind(kind, name, reference).strip()
        if not value:
            raise InvalidInput(reference, f"{_LONG[kind]} is empty", "Put a key into it.")
        if not value.isprintable():
            raise InvalidInput(reference, "it holds more than a key: several lines or control characters")
        return Secret(value, reference)

    def problem(self, reference: str) -> str | None:
        """Say why a reference cannot be opened; None when it can, or when only trying would show it."""
        if reference.startswith("keyring:"):
            return None
        try:
            self.open(reference)
        except InvalidInput as exc:
            return str(exc)
        return None

    def _by_kind(self, kind: str, name: str, reference: str) -> str:
        match kind:
            case "env":
                if name not in self._environ:
                    raise InvalidInput(reference, f"the variable {name} is not set", f"Try: export {name}=…")
                return self._environ[name]
            case "file":
                return _read_key_file(Path(name).expanduser(), reference)
            case _:
                return _from_keyring(name, reference)


_LONG = {"env": "the variable", "file": "the file", "keyring": "the entry in the keyring"}


def _read_key_file(path: Path, reference: str) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as exc:
        why = exc.strerror or type(exc).__name__
        raise InvalidInput(
            reference, f"the file cannot be read: {why}", "Check the path and its permissions."
        ) from None
    if len(data) > MOST_BYTES:
        raise InvalidInput(reference, "the file is too large for a key")
    return data.decode("utf-8", "replace")


def _from_keyring(name: str, reference: str) -> str:
    if find_spec("keyring") is None:
        raise InvalidInput(reference, "the keyring package is not there", 'Try: pip install "headway[keyring]"')
    keyring = import_module("keyring")
    try:
        value = keyring.get_password(SERVICE, name)
    except keyring.errors.KeyringError as exc:
        raise InvalidInput(reference, f"the keyring cannot be opened: {type(exc).__name__}") from None
    if value is None:
        raise InvalidInput(reference, "the keyring has no such entry", f"Try: keyring set {SERVICE} {name}")
    return str(value)
