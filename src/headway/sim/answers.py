"""What vendors really answer, kept as data in `data/*.toml`: errors inside streams, and error statuses.

A name may exist for some wires only. Everything here is text to be sent, never a rule to decide by.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from string import Template

import msgspec
from msgspec import Struct

from headway.failure import InvalidInput

_ALL = ("chat", "responses", "anthropic")


class InStream(Struct, frozen=True, forbid_unknown_fields=True):
    """An error that comes inside a stream."""

    about: str
    frames: str
    wires: tuple[str, ...] = _ALL

    def written(self, **words: object) -> bytes:
        """Return the frames as bytes, filled in."""
        return Template(self.frames.strip() + "\n\n").safe_substitute(words).encode()


class Status(Struct, frozen=True, forbid_unknown_fields=True):
    """An answer with a status of its own."""

    about: str
    status: int
    body: str
    headers: dict[str, str] = {}
    wires: tuple[str, ...] = _ALL

    def written(self, **words: object) -> str:
        """Return the body, filled in."""
        return Template(self.body).safe_substitute(words)


@cache
def in_stream() -> dict[str, InStream]:
    """Return the errors inside streams, by name."""
    return msgspec.toml.decode(_read("in_stream"), type=dict[str, InStream])


@cache
def statuses() -> dict[str, Status]:
    """Return the answers with a status, by name."""
    return msgspec.toml.decode(_read("statuses"), type=dict[str, Status])


def in_stream_named(name: str) -> InStream:
    """Return the error inside streams of that name."""
    if name not in in_stream():
        raise unknown("in-stream error", name, in_stream())
    return in_stream()[name]


def status_named(name: str) -> Status:
    """Return the answer of that name."""
    if name not in statuses():
        raise unknown("answer", name, statuses())
    return statuses()[name]


def unknown(what: str, name: str, known: Iterable[str]) -> InvalidInput:
    """Return the error for a name that nobody knows, with the nearest one that somebody does."""
    names = sorted(known)
    near = get_close_matches(name, names, 1, 0.5)
    hint = f"Did you mean {near[0]!r}?" if near else f"Known: {', '.join(names)}."
    return InvalidInput(f"{what} {name!r}", "there is no such thing", hint)


def _read(name: str) -> bytes:
    return files("headway.sim").joinpath("data", f"{name}.toml").read_bytes()
