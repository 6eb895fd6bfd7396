"""What happened to upstreams and keys, as facts for status lines. They name keys, and never hold one."""

from typing import TypeAlias, assert_never

from msgspec import Struct


class WentUnwell(Struct, frozen=True, tag="went_unwell"):
    """An upstream failed so often that it is left alone for a while."""

    upstream: str
    seconds: float
    because: str


class ProbeStarted(Struct, frozen=True, tag="probe_started"):
    """An unwell upstream gets one request, to see whether it is well again."""

    upstream: str


class Restored(Struct, frozen=True, tag="restored"):
    """An unwell upstream answered."""

    upstream: str
    by_probe: bool
    """Was it asked on purpose, and not for want of anybody else?"""


class Bypassed(Struct, frozen=True, tag="bypassed"):
    """Another upstream is asked first, because the first of the chain is not fit."""

    upstream: str
    instead: str
    seconds: float | None
    """When it may be tried again; None: not before somebody changes its keys."""


class KeyRested(Struct, frozen=True, tag="key_rested"):
    """A key is not used for a while."""

    provider: str
    key: str
    seconds: float
    because: str


class KeyRuledOut(Struct, frozen=True, tag="key_ruled_out"):
    """A key is of no use until somebody changes it."""

    provider: str
    key: str
    because: str


class KeyTurned(Struct, frozen=True, tag="key_turned"):
    """Another key is in use from now on."""

    provider: str
    key: str


Change: TypeAlias = WentUnwell | ProbeStarted | Restored | Bypassed | KeyRested | KeyRuledOut | KeyTurned


def sentence(change: Change) -> str:
    """Say it to a person."""
    match change:
        case WentUnwell(upstream=upstream, seconds=seconds, because=because):
            return f"{upstream} is unwell and left alone for {_time(seconds)}: {because}"
        case ProbeStarted(upstream=upstream):
            return f"trying {upstream} again"
        case Restored(upstream=upstream, by_probe=by_probe):
            return f"{upstream} restored{' by probe' if by_probe else ''}"
        case Bypassed(upstream=upstream, instead=instead, seconds=seconds):
            again = "it needs another key" if seconds is None else f"it is tried again in {_time(seconds)}"
            return f"asking {instead}, because {upstream} is not fit; {again}"
        case KeyRested(provider=provider, key=key, seconds=seconds, because=because):
            return f"{provider}: key {key} rests for {_time(seconds)}: {because}"
        case KeyRuledOut(provider=provider, key=key, because=because):
            return f"{provider}: key {key} is not used any more: {because}"
        case KeyTurned(provider=provider, key=key):
            return f"{provider}: using key {key}"
        case _:
            assert_never(change)


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
