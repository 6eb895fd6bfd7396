"""A tool call in a few words: what it is about, and how large it is."""

from collections.abc import Mapping
from typing import Any

from headway.cli.terminal import fit, size, visible
from headway.messages import ToolCall
from headway.wire.json_text import BadJson, strict_object

SUBJECTS = ("path", "command", "pattern", "query", "url", "draft")
"""Arguments that say what a call is about, in the order in which they are looked for."""
SUBJECT_WIDTH = 80
SHORT = 40


def call_words(call: ToolCall) -> str:
    """Return a call as `write_file index.html (content 24.0 KB)`."""
    if call.freeform:
        return f"{call.name} {_value(call.arguments)}"
    try:
        given = strict_object(call.arguments)
    except BadJson:
        return f"{call.name} ({size(len(call.arguments))})"
    subject = subject_of(given)
    about = next((name for name in SUBJECTS if isinstance(given.get(name), str)), "")
    others = [words for name, value in given.items() if name != about and (words := _argument(name, value))]
    return " ".join(filter(None, (call.name, subject, f"({', '.join(others)})" if others else "")))


def subject_of(given: Mapping[str, Any]) -> str:
    """Return what a call is about: a file, a command, a pattern; empty if its arguments do not say."""
    found = next((given[name] for name in SUBJECTS if isinstance(given.get(name), str)), "")
    return fit(found, SUBJECT_WIDTH)


def _argument(name: str, value: Any) -> str:
    if value is True:
        return name
    if value is None or value is False or value == "":
        return ""
    return f"{name} {_value(value)}"


def _value(value: Any) -> str:
    if isinstance(value, int | float):
        return f"{value:,}"
    text = str(value)
    return visible(text) if len(text) <= SHORT and "\n" not in text else size(len(text))
