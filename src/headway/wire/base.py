"""What every wire offers: both directions of requests, streams and whole replies. All of it is pure.

A wire's package exports one `WIRE`. The agent uses render_request + decoder, the simulator parse_request + encoder,
the gateway all of them. `parse_reply` and `render_reply` speak events too, so a reply that did not stream takes the
same way as one that did. A `Follower` lets an encoder take over a stream that was forwarded byte for byte.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from msgspec import Struct

from headway.events import Event
from headway.messages import ModelRequest
from headway.wire.sse import Comment, Frame


class Decoder(Protocol):
    """Bytes to events. Never raises; `feed` and `close` together give exactly one end event."""

    taped: bool
    """Does `feed` give each frame too, behind what it says? For those who forward frames as they came."""

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

    def seam(self, keeping: int | None = None) -> bytes:
        """Say that another attempt goes on with this stream; return the bytes that this takes.

        Closed is what cannot be joined across attempts: thinking that is not signed, blocks that only this wire has.
        Text stays open, and the next words go on in the same place. The stream keeps its name: the `StreamOpened` of
        the next attempt writes nothing, and its thinking is a block of its own.

        Calls are numbered anew: a number now means a call of the next attempt. Only `keeping` still means the call
        that was open under that number, and goes on with `CallArguments` until its `CallClosed`; whoever keeps a call
        finishes it before the next attempt opens one of the same number, which would take the number over.
        Every other open call that the client has seen is left as it is: it gets no more arguments, it is never closed
        as if it were whole, and from here on the stream cannot end well: any end is written as the wire's error.
        Where blocks do not interleave (Anthropic), nothing more is said after such a call.
        """
        ...

    def heartbeat(self) -> bytes:
        """Return what keeps a client's idle timer from running out while nothing is said; it changes nothing else.

        Some clients count bytes, others only events that their parser gives them, so a comment is the last resort:
        before the stream was opened, and after its finish. Each wire says why its form is what it is.
        """
        ...


class Follower(Protocol):
    """Watches the frames of a stream that are forwarded as they came, so that an encoder can go on from any of them."""

    def passed(self, frames: Sequence[Frame | Comment], events: Sequence[Event]) -> None:
        """Note frames that were forwarded, and the events that they said (all of them, in order).

        This is on the way of every token, so a `CallClosed` is believed: whoever forwards the end of a call has seen
        that its arguments parse. The sequences may be kept for later: nobody edits them.
        """
        ...

    def encoder(self) -> Encoder:
        """Return an encoder that goes on where the last forwarded frame left off. It may be asked again later.

        Once the wire's finish was forwarded it writes only what is left of the end; once the end was, nothing.
        """
        ...

    def heartbeat(self) -> bytes:
        """Return a heartbeat after which frames may still be forwarded as they come."""
        ...


class Order(Protocol):
    """Judges the frames of a stream, all of them and in order, as a strict client does."""

    finished: bool
    """Has a frame said that the reply is over? On some wires it may say the last words, too."""

    def takes(self, frame: Frame | Comment, said: list[Event]) -> bool:
        """Say whether a frame, and what it said, may be forwarded as it came; after one that may not, nothing may."""
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
    follower: Callable[[], Follower]
    order: Callable[[], Order]
    parse_reply: Callable[[dict[str, Any]], list[Event]]
    """Read a reply that did not stream, as the events of one that did, its end included."""
    render_reply: Callable[[Iterable[Event]], dict[str, Any]]
    """Write a reply that does not stream."""
    reattach: Callable[[Decoder], str] = lambda _: ""
    """Return what to add to the endpoint's address to take up a broken stream on the server; empty where none can."""
