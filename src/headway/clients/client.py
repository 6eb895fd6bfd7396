"""What is known about a client: which programs it is, whom it asks, and how it is told where that is now.

Templates know two words: `$base` is the address of a doorway of the gateway, without `/v1`, and `$key` the key that
opens it. What speaks of `$key` is left out for a client that goes on showing a key of its own.
"""

from typing import Any

from msgspec import Struct

from headway.messages import WireName


class Door(Struct, frozen=True, kw_only=True):
    """One provider that a client asks."""

    provider: str
    """The name of its preset."""
    wires: tuple[WireName, ...]
    """What the client speaks there, the usual one first."""
    environment: dict[str, str] = {}
    arguments: tuple[str, ...] = ()
    """What stands before the client's own arguments."""
    own_key_arguments: tuple[str, ...] | None = None
    """The same for a client that shows a key of its own; None: they do not differ."""
    settings: dict[str, Any] = {}
    """A piece of the JSON that the client's `settings_variable` takes."""
    clears: tuple[str, ...] = ()
    """Variables that must not stand beside the key that is given."""
    login_url: str = ""
    """Where the client asks when somebody logged in, if that is another place …"""
    login_header: str = ""
    """… and the header that tells so."""


class File(Struct, frozen=True):
    """A file that a client needs for as long as it runs; `$file` in arguments is its path."""

    name: str
    text: str


class Client(Struct, frozen=True, kw_only=True):
    """A program that asks models."""

    name: str
    title: str
    binaries: tuple[str, ...] = ()
    """What its program may be called, besides its name."""
    packages: tuple[str, ...] = ()
    """What it is called by `npx`, `uvx` and the like."""
    doors: tuple[Door, ...] = ()
    arguments: tuple[str, ...] = ()
    """What stands before its own arguments, whichever doors there are."""
    settings_variable: str = ""
    """A variable that takes settings as JSON."""
    file: File | None = None
    logs_in: bool = False
    """May it have a key or a login of its own, which it shows when the environment has none?"""
    keeps_key: bool = False
    """Does a key that it has stored count for more than one that it is given?"""
    elsewhere: tuple[str, ...] = ()
    """Variables that make it ask somebody whose wire the gateway does not speak."""
    by_hand: str = ""
    """What to write where, when variables are not enough."""
    refused: str = ""
    """Why it cannot be pointed at the gateway at all."""
    notes: tuple[str, ...] = ()
