"""What an examination finds: one thing that was looked at, how it is, and one line of advice if it is not well."""

from enum import Enum
from typing import Any

from msgspec import Struct


class Area(Enum):
    """What is looked at, in the order in which it is told."""

    SETTINGS = "settings"
    KEYS = "keys"
    PROVIDERS = "providers"
    STORE = "store"
    NETWORK = "network"
    SANDBOX = "sandbox"
    INSTALLATION = "installation"


class State(Enum):
    """How it is."""

    WELL = "well"
    NOTE = "note"
    """Worth knowing; nothing fails because of it."""
    PROBLEM = "problem"


class Finding(Struct, frozen=True, kw_only=True, tag="finding"):
    """One thing that was looked at. It holds no key and no password."""

    area: Area
    name: str
    words: str
    """How it is, in one sentence."""
    state: State = State.WELL
    advice: str = ""
    """What to do next; a problem always has it."""
    more: tuple[str, ...] = ()
    """Further lines for people."""
    facts: dict[str, Any] = {}
    """The same for programs."""


class Verdict(Struct, frozen=True, tag="verdict"):
    """The last word: how many things are not as they should be."""

    problems: int
    notes: int
