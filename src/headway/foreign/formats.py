"""Which format a session is written in, and why one thinks so. Shapes decide, never words."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from headway.foreign import claude_code, codex, histories, opencode
from headway.wire.detection import detect

HEADWAY = "headway"
"""An export of our own."""
FORMATS = (claude_code.NAME, codex.NAME, opencode.NAME, *histories.SOURCES)
IN_LINES = frozenset({claude_code.NAME, codex.NAME, HEADWAY})
"""Formats of which each line says something by itself."""
_BY_WIRE = {wire: source for source, wire in histories.SOURCES.items()}


class Format(Struct, frozen=True):
    """A format's name, and the shape that gave it away."""

    name: str
    because: str


def format_of_lines(lines: Sequence[dict[str, Any]]) -> Format | None:
    """Say which format the first lines of a file are of; None if its lines by themselves say nothing."""
    for line in lines:
        kind, payload = line.get("type"), line.get("payload")
        if "headway" in line and isinstance(line.get("record"), dict):
            return Format(HEADWAY, "its lines are records of a session")
        if isinstance(kind, str) and kind in codex.ENVELOPES and isinstance(payload, dict):
            return Format(codex.NAME, f"it has lines of type {kind!r} with a payload")
        if "parentUuid" in line and "uuid" in line:
            return Format(claude_code.NAME, "its lines name the line they follow on by `parentUuid`")
    if any("sessionId" in line and isinstance(line.get("type"), str) for line in lines):
        return Format(claude_code.NAME, "its lines have a `type` and a `sessionId`")
    first = lines[0] if lines else {}
    if {"id", "timestamp", "instructions"} <= first.keys() and "role" not in first:
        return Format(codex.NAME, "it begins with the instructions of a rollout")
    return None


def format_of(value: dict[str, Any] | list[Any]) -> Format:
    """Say which format a whole value is of."""
    listed = value if isinstance(value, list) else value.get("messages")
    first = next((one for one in listed if isinstance(one, dict)), {}) if isinstance(listed, list) else {}
    if isinstance(first.get("info"), dict) and "parts" in first:
        return Format(opencode.NAME, "its messages are of `info` and `parts`")
    if isinstance(value, dict) and isinstance(value.get("info"), dict) and isinstance(listed, list):
        return Format(opencode.NAME, "it has `info` and `messages`")
    found = detect(value)
    return Format(_BY_WIRE[found.wire], found.because)
