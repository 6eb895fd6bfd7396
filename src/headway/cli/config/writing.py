"""Settings and keys to files: whole or not at all, for nobody else's eyes, and never over something unasked."""

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from headway.cli.toml_writing import write_toml
from headway.failure import InvalidInput
from headway.settings.reading import read
from headway.settings.schema import Settings
from headway.settings.toml_files import parse_table

HEAD = """\
# Made by `headway config init`. `headway config show` tells what is in force,
# and `headway doctor` whether it works. Everything that can be set:
# docs/reference/settings.md, or `headway config schema` for editors.

"""
OWN = 0o600


def text_of(tables: Mapping[str, Any]) -> str:
    """Return the file; it is read once, so that nothing is written that could not be."""
    text = HEAD + write_toml(tables)
    read(Settings, parse_table(text.encode(), "what was made"), "what was made")
    return text


def write_settings(path: Path, text: str) -> Path | None:
    """Write the file; return where the one that was there before is now, if there was one."""
    old = path.with_name(f"{path.name}.old")
    before = path.exists()
    with _in_plain_words(path):
        if before:
            _write(old, path.read_bytes())
        _write(path, text.encode())
    return old if before else None


def write_key(path: Path, key: str) -> None:
    """Write a key into a file of its own; its folder is for nobody else either."""
    with _in_plain_words(path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _write(path, f"{key}\n".encode())


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.new")
    with ExitStack() as undo:
        undo.callback(temporary.unlink, missing_ok=True)
        handle = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, OWN)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        temporary.replace(path)


@contextmanager
def _in_plain_words(path: Path) -> Iterator[None]:
    """Turn what the system says into an error for people."""
    try:
        yield
    except OSError as error:
        why = f"it cannot be written: {error.strerror or type(error).__name__}"
        hint = "Name another place with --file, or make its folder writable."
        raise InvalidInput(str(path), why, hint) from None
