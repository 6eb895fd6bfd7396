"""Text to standard output, or to a file that is written whole or not at all."""

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import click


def deliver(text: str, output: str | None) -> int:
    """Write the text and a line end; return the exit status. A file keeps what it held until the last moment."""
    data = text.encode("utf-8") + b"\n"
    if output is None:
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
        return 0
    try:
        write_whole(Path(os.path.realpath(output)), [data])
    except OSError as exc:
        click.echo(f"headway heal: {output}: {exc.strerror or exc}. Nothing was written", err=True)
        return 2
    return 0


def write_whole(path: Path, pieces: Iterable[bytes], *, private: bool = False) -> None:
    """Write a file, or leave what is there; what is private can be read by nobody else, if it is new."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with contextlib.ExitStack() as undo:
        undo.callback(Path(name).unlink, missing_ok=True)  # whatever stops it, nothing half is left behind
        with os.fdopen(handle, "wb") as stream:
            stream.writelines(pieces)
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).chmod(0o600 if private and not path.exists() else _mode(path))
        Path(name).replace(path)
        undo.pop_all()


def _mode(path: Path) -> int:
    """Return the permissions of the file that is replaced, or those that a new one gets."""
    with contextlib.suppress(FileNotFoundError):
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
