"""What can go wrong on the way to a provider and back, as facts: in which phase, by what cause, at which host.

HeadwayError
└── TransportFailed     the bytes did not get there, or not back; the only thing a stream raises besides cancellation
    └── Stalled         a limit of patience ran out; carries the `Stall`

Operating-system and TLS errors become causes here and nowhere else. `facts_of` speaks to the classifier.
"""

import errno
import socket
import ssl
from enum import Enum
from typing import Any

from headway.failure import HeadwayError, Where
from headway.transport.limits import Patience, Stall


class Phase(Enum):
    """How far an exchange had come."""

    PREPARE = "prepare"
    DNS = "dns"
    CONNECT = "connect"
    PROXY = "proxy"
    TLS = "tls"
    SEND = "send"
    FIRST_BYTE = "first_byte"
    BODY = "body"


class Cause(Enum):
    """Why it went no further. The value is the name by which the failure table knows it."""

    INVALID = "invalid_url"
    NAME_UNKNOWN = "name_resolution_error"
    REFUSED = "connection_refused"
    UNREACHABLE = "host_unreachable"
    TIMED_OUT = "connection_timeout"
    RESET = "connection_reset"
    CLOSED_EARLY = "server_disconnected"
    CERTIFICATE = "certificate_verify_failed"
    HANDSHAKE = "handshake_failure"
    PROXY_REFUSED = "proxy_error"
    PROTOCOL = "remote_protocol_error"
    EXHAUSTED = "too_many_open_files"
    ABORTED = "request_cancelled"
    OTHER = "connection_error"


_SENTENCES = {
    Cause.INVALID: "the request to {host} cannot be sent",
    Cause.NAME_UNKNOWN: "the name {host} could not be resolved",
    Cause.REFUSED: "{host} refused the connection: nothing listens there",
    Cause.UNREACHABLE: "{host} cannot be reached from here",
    Cause.TIMED_OUT: "{host} did not answer in time",
    Cause.RESET: "{host} broke the connection off",
    Cause.CLOSED_EARLY: "{host} closed the connection before its answer was complete",
    Cause.CERTIFICATE: "the certificate of {host} cannot be verified",
    Cause.HANDSHAKE: "no TLS connection to {host} could be agreed on",
    Cause.PROXY_REFUSED: "the proxy did not let the connection to {host} through",
    Cause.PROTOCOL: "{host} sent something that is not an HTTP/1.1 answer",
    Cause.EXHAUSTED: "this process may not open another connection",
    Cause.ABORTED: "the connection to {host} was closed by this side",
    Cause.OTHER: "the connection to {host} failed",
}


class TransportFailed(HeadwayError):
    """An exchange went no further than `phase`, by `cause`. `detail` is what the system or the peer said."""

    def __init__(self, phase: Phase, cause: Cause, host: str, detail: str = "") -> None:
        """Keep the facts; the text is made from them."""
        self.phase, self.cause, self.host, self.detail = phase, cause, host, detail
        super().__init__(phase, cause, host, detail)

    def __str__(self) -> str:
        text = _SENTENCES[self.cause].format(host=self.host)
        return f"{text} ({self.phase.value}: {self.detail})" if self.detail else f"{text} ({self.phase.value})"


_QUIETS = {
    Patience.CONNECT: "no connection to {host} after {quiet:g} s",
    Patience.FIRST_BYTE: "nothing came from {host} for {quiet:g} s",
    Patience.DEAD: "nothing came from {host} for {quiet:g} s",
    Patience.FIRST_CONTENT: "{host} is connected but said nothing for {quiet:g} s",
    Patience.SILENCE: "{host} is connected but said nothing more for {quiet:g} s",
    Patience.DRIP: "{host} only dripped for {quiet:g} s",
    Patience.TURN: "the turn's time ran out while waiting for {host}",
}


class Stalled(TransportFailed):
    """A limit ran out, and the connection was closed because of it."""

    def __init__(self, stall: Stall, phase: Phase, host: str) -> None:
        """Keep which limit it was."""
        super().__init__(phase, Cause.TIMED_OUT, host)
        self.stall = stall
        self.args = (stall, phase, host)

    def __str__(self) -> str:
        stall = self.stall
        text = _QUIETS[stall.patience].format(host=self.host, quiet=round(stall.quiet_seconds, 1))
        return f"{text} ({stall.patience.value} is {stall.limit_seconds:g})"


_BY_ERRNO = {
    errno.ECONNREFUSED: Cause.REFUSED,
    errno.ECONNRESET: Cause.RESET,
    errno.EPIPE: Cause.RESET,
    errno.ECONNABORTED: Cause.RESET,
    errno.ETIMEDOUT: Cause.TIMED_OUT,
    errno.EHOSTUNREACH: Cause.UNREACHABLE,
    errno.ENETUNREACH: Cause.UNREACHABLE,
    errno.ENETDOWN: Cause.UNREACHABLE,
    errno.EHOSTDOWN: Cause.UNREACHABLE,
    errno.EADDRNOTAVAIL: Cause.UNREACHABLE,
    errno.EAFNOSUPPORT: Cause.UNREACHABLE,
    errno.EACCES: Cause.UNREACHABLE,
    errno.EPERM: Cause.UNREACHABLE,
    errno.EMFILE: Cause.EXHAUSTED,
    errno.ENFILE: Cause.EXHAUSTED,
}
_BY_TYPE: tuple[tuple[type[OSError], Cause], ...] = (
    (ssl.SSLCertVerificationError, Cause.CERTIFICATE),
    (ssl.SSLEOFError, Cause.CLOSED_EARLY),
    (ssl.SSLZeroReturnError, Cause.CLOSED_EARLY),
    (ssl.SSLError, Cause.HANDSHAKE),
    (socket.gaierror, Cause.NAME_UNKNOWN),
    (ConnectionRefusedError, Cause.REFUSED),
    (ConnectionError, Cause.RESET),
    (TimeoutError, Cause.TIMED_OUT),
)


def failure_of(error: OSError, phase: Phase, host: str) -> TransportFailed:
    """Say in our terms what the operating system or the TLS library said."""
    cause = next((cause for kind, cause in _BY_TYPE if isinstance(error, kind)), None)
    if cause is None:
        cause = _BY_ERRNO.get(error.errno or 0, Cause.OTHER)
    if cause is Cause.HANDSHAKE and phase is not Phase.TLS:
        cause = Cause.RESET  # an agreed connection whose records no longer decrypt is a broken one
    return TransportFailed(phase, cause, host, str(error) or type(error).__name__)


_WHERE = {
    Phase.PREPARE: Where.CONNECT,
    Phase.DNS: Where.DNS,
    Phase.CONNECT: Where.CONNECT,
    Phase.PROXY: Where.CONNECT,
    Phase.TLS: Where.TLS,
    Phase.SEND: Where.CONNECT,
    Phase.FIRST_BYTE: Where.CONNECT,
    Phase.BODY: Where.STREAM_EOF,
}
_SENT = frozenset({Phase.SEND, Phase.FIRST_BYTE, Phase.BODY})


def facts_of(failed: TransportFailed) -> dict[str, Any]:
    """Return what the classifier wants to know, under its own names."""
    waited = failed.cause is Cause.TIMED_OUT and failed.phase in _SENT
    stalled = isinstance(failed, Stalled) and failed.phase is Phase.BODY
    return {
        "where": Where.TIMEOUT if waited else _WHERE[failed.phase],
        "code": "stream_stalled" if stalled else "read_timeout" if waited else failed.cause.value,
        "exception": type(failed).__name__,
        "message": str(failed),
    }
