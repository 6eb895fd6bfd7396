"""What every wire offers: both directions of requests, streams and whole replies. All of it is pure.

A wire's package exports one `WIRE`. The agent uses render_request + decoder, the simulator parse_request + encoder,
the gateway all of them. `parse_reply` and `render_reply` speak events too, so a reply that did not stream takes the
same way as one that did.
"""

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from msgspec import Struct

from headway.events import Event
from headway.messages import ModelRequest


class Decoder(Protocol):
    """Bytes to events. Never raises; `feed` and `close` together give exactly one end event."""

    def feed(self, data: bytes) -> list[Event]:
        """Return the events that these bytes complete; nothing after the end."""
        ...

    def close(self) -> list[Event]:
        """Say that no more bytes come: return what is left, with the end unless it was seen."""
        ...

    def reopen(self) -> None:
        """Go on after a cut with the same stream, taken up again on the server."""
        ...


class Encoder(Protocol):
    """Events to bytes."""

    def write(self, event: Event) -> bytes:
        """Return the bytes that say this event on the wire; empty when the wire has no word for it."""
        ...


class Wire(Struct, frozen=True):
    """One wire's codec, as data."""

    name: str
    path: str
    """The endpoint's path below the base URL."""
    parse_request: Callable[[dict[str, Any]], ModelRequest]
    """Read a body; raises `InvalidInput` for one that is no request of this wire."""
    render_request: Callable[[ModelRequest], dict[str, Any]]
    """Write a body, from a request that `history.project` made sendable."""
    parse_messages: Callable[[list[Any]], ModelRequest]
    """Read a bare list of messages or items."""
    render_messages: Callable[[ModelRequest], list[dict[str, Any]]]
    """Write the bare list again."""
    decoder: Callable[[], Decoder]
    encoder: Callable[[], Encoder]
    parse_reply: Callable[[dict[str, Any]], list[Event]]
    """Read a reply that did not stream, as the events of one that did, its end included."""
    render_reply: Callable[[Iterable[Event]], dict[str, Any]]
    """Write a reply that does not stream."""
    reattach: Callable[[Decoder], str] = lambda _: ""
    """Return what to add to the endpoint's address to take up a broken stream on the server; empty where none can."""
