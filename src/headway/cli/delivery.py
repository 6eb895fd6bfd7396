"""Text to standard output, or to a file that is written whole or not at all."""

import contextlib
import os
import sys
import tempfile
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
        _replace(Path(os.path.realpath(output)), data)
    except OSError as exc:
        click.echo(f"headway heal: {output}: {exc.strerror or exc}. Nothing was written", err=True)
        return 2
    return 0


def _replace(path: Path, data: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).chmod(_mode(path))
        Path(name).replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def _mode(path: Path) -> int:
    """Return the permissions of the file that is replaced, or those that a new one gets."""
    with contextlib.suppress(FileNotFoundError):
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
