"""One socket and its owner. Whatever happens, `abort` closes it: at once, from any task, any number of times.

An asyncio protocol that holds its transport from the first moment, so that no phase (connecting, a proxy's answer, the
TLS handshake, an upload nobody reads) has a socket that only the loop knows. Incoming bytes go to one receiver; the one
task that owns the connection waits by `changed`. An abort is a reset: it frees what is still unsent, and unlike an
ordinary close it cannot be taken for a half-close, so a provider stops generating.
"""

import asyncio
import socket
import ssl
import struct
import sys
from asyncio import AbstractEventLoop
from contextlib import suppress
from typing import TYPE_CHECKING, cast

from headway.transport.errors import Cause, Phase, TransportFailed, failure_of

if TYPE_CHECKING:
    from collections.abc import Callable

_RESET_ON_CLOSE = struct.pack("hh" if sys.platform == "win32" else "ii", 1, 0)
_LARGEST_OPTION = 2**31 - 1
KEEPALIVE_IDLE_SECONDS = 15
KEEPALIVE_INTERVAL_SECONDS = 15
KEEPALIVE_PROBES = 4


class Connection(asyncio.Protocol):
    """One connection to one host. `lost` says why it is of no more use, once it is."""

    def __init__(self, loop: AbstractEventLoop, sock: socket.socket, host: str) -> None:
        """Take over a connected socket."""
        self.loop, self.host = loop, host
        self.reached: dict[Phase, float] = {}
        """When each phase of the present exchange began, on the loop's clock; whoever uses the connection gives it."""
        self._phase = Phase.CONNECT
        self.lost: TransportFailed | None = None
        self.when_lost: Callable[[], None] | None = None
        self.writable = True
        self._sock = sock
        self._transport: asyncio.Transport | None = None
        self._receiver: Callable[[bytes], object] | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._reading = True

    @property
    def phase(self) -> Phase:
        """Return how far the exchange is."""
        return self._phase

    @phase.setter
    def phase(self, phase: Phase) -> None:
        self._phase = phase
        self.reached[phase] = self.loop.time()

    async def open(self) -> None:
        """Let the loop watch the socket."""
        await self.loop.create_connection(lambda: self, sock=self._sock)

    async def start_tls(self, context: ssl.SSLContext, hostname: str, patience_seconds: float) -> None:
        """Agree on TLS over what is there; our own limit comes first, the loop's is only behind it."""
        self.phase = Phase.TLS
        transport = await self.loop.start_tls(
            self._opened(),
            self,
            context,
            server_hostname=hostname,
            ssl_handshake_timeout=patience_seconds + 1,
        )
        if transport is None:  # the loop returns none when the peer leaves in the middle
            raise ConnectionResetError("the peer left during the handshake")
        self._transport = transport
        self._reading = True

    def listen(self, receiver: "Callable[[bytes], object]") -> None:
        """Give all bytes that come to a receiver; its owner is woken for them unless it answers True."""
        self._receiver = receiver
        self.resume_reading()

    def rest(self) -> None:
        """Expect nothing: bytes that come all the same are a reason to close."""
        self._receiver = None
        self.resume_reading()

    def changed(self) -> "asyncio.Future[None]":
        """Return what to await until bytes came, room to write came, or the connection was lost."""
        self._waiter = self.loop.create_future()
        return self._waiter

    def write(self, data: bytes | memoryview) -> None:
        """Send; `writable` says when to stop and wait."""
        self._opened().write(data)

    def pause_reading(self) -> None:
        """Leave further bytes to the kernel, and so in the end to the peer."""
        if self._reading and self._transport is not None:
            self._reading = False
            self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Go on after `pause_reading`."""
        if not self._reading and self._transport is not None:
            self._reading = True
            self._transport.resume_reading()

    def abort(self, why: TransportFailed | None = None) -> None:
        """Close now, by a reset; the owner, if it waits, gets `why`."""
        with suppress(OSError):  # already closed
            self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
        self.close(why)

    def close(self, why: TransportFailed | None = None) -> None:
        """Close an idle connection: at once, too, but in the ordinary way."""
        self._lose(why or TransportFailed(self.phase, Cause.ABORTED, self.host))
        self._receiver = None
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport (the loop)."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's are of a family of their own
        if self.lost is not None:  # closed before the loop came to it
            self._transport.abort()
        self.pause_reading()  # who speaks first is for a TLS handshake or a receiver to hear

    def data_received(self, data: bytes) -> None:
        """Pass bytes on (the loop)."""
        receiver = self._receiver
        if receiver is None:
            self.close(TransportFailed(self.phase, Cause.PROTOCOL, self.host, "bytes that nobody asked for"))
        elif receiver(data) is not True:
            self._wake()

    def eof_received(self) -> None:
        """Take the peer's end as the end (the loop): a half-open connection brings nothing more."""
        self.close(TransportFailed(self.phase, Cause.CLOSED_EARLY, self.host))

    def connection_lost(self, exc: Exception | None) -> None:
        """Note why the connection ended (the loop)."""
        self._transport = None  # a transport whose socket is closed may not be asked to close it again
        if isinstance(exc, OSError):
            self._lose(failure_of(exc, self.phase, self.host))
        else:
            self._lose(TransportFailed(self.phase, Cause.CLOSED_EARLY, self.host, str(exc or "")))

    def pause_writing(self) -> None:
        """Note that the peer does not keep up (the loop)."""
        self.writable = False

    def resume_writing(self) -> None:
        """Note that there is room again (the loop)."""
        self.writable = True
        self._wake()

    def _opened(self) -> asyncio.Transport:
        if self.lost is not None:
            raise self.lost
        assert self._transport is not None, "an open connection has a transport"
        return self._transport

    def _lose(self, why: TransportFailed) -> None:
        if self.lost is not None:
            return
        self.lost = why
        self._wake()
        tell, self.when_lost = self.when_lost, None
        if tell is not None:
            tell()

    def _wake(self) -> None:
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not waiter.done():
            waiter.set_result(None)


def tuned(sock: socket.socket, unanswered_seconds: float) -> socket.socket:
    """Set what makes a dead peer show: keep-alive probes, and a limit for bytes that nobody acknowledges."""
    options = [
        (socket.SOL_SOCKET, "SO_KEEPALIVE", 1),
        (socket.IPPROTO_TCP, "TCP_NODELAY", 1),
        (socket.IPPROTO_TCP, "TCP_KEEPIDLE", KEEPALIVE_IDLE_SECONDS),
        (socket.IPPROTO_TCP, "TCP_KEEPALIVE", KEEPALIVE_IDLE_SECONDS),  # its name on macOS
        (socket.IPPROTO_TCP, "TCP_KEEPINTVL", KEEPALIVE_INTERVAL_SECONDS),
        (socket.IPPROTO_TCP, "TCP_KEEPCNT", KEEPALIVE_PROBES),
        (socket.IPPROTO_TCP, "TCP_USER_TIMEOUT", min(int(unanswered_seconds * 1000), _LARGEST_OPTION)),
    ]
    for level, name, value in options:
        option = getattr(socket, name, None)
        if option is not None:
            with suppress(OSError):  # a platform may know the name and not the thing
                sock.setsockopt(level, option, value)
    return sock
