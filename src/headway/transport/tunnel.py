"""How a proxy is asked for a way through: HTTP CONNECT and SOCKS5, over a connection that is already open."""

import re
from ipaddress import ip_address

from headway.transport.connection import Connection
from headway.transport.errors import Cause, Phase, TransportFailed
from headway.transport.message import Target
from headway.transport.proxy import Proxy

MAX_ANSWER = 16 * 1024
_STATUS_LINE = re.compile(rb"HTTP/1\.[01] (\d{3})(?: ([^\r\n]{0,200}))?\r?\n")
_NO_LOGIN, _LOGIN = 0, 2
_SOCKS_REFUSALS = {
    1: "it failed",
    2: "its rules do not allow it",
    3: "the network cannot be reached",
    4: "the host cannot be reached",
    5: "the connection was refused",
    6: "the connection timed out",
    7: "it knows no CONNECT",
    8: "it knows no such kind of address",
}


class _Exact:
    """Reads as many bytes as asked for from a connection, and never more than are due."""

    def __init__(self, connection: Connection) -> None:
        self._connection, self._held = connection, bytearray()
        connection.listen(self._held.extend)

    async def until(self, mark: bytes) -> bytes:
        """Return the bytes up to and with a mark."""
        while (at := self._held.find(mark)) < 0:
            if len(self._held) > MAX_ANSWER:
                raise _failed(self._connection, Cause.PROTOCOL, "the proxy's answer has no end")
            await self._more()
        return self._take(at + len(mark))

    async def count(self, size: int) -> bytes:
        """Return exactly so many bytes."""
        while len(self._held) < size:
            await self._more()
        return self._take(size)

    def done(self) -> None:
        """Give the connection back; a proxy that says more than its answer is not understood."""
        if self._held:
            raise _failed(self._connection, Cause.PROTOCOL, "the proxy said more than was asked")
        self._connection.pause_reading()

    def _take(self, size: int) -> bytes:
        data = bytes(self._held[:size])
        del self._held[:size]
        return data

    async def _more(self) -> None:
        if self._connection.lost is not None:
            raise self._connection.lost
        await self._connection.changed()


async def open_tunnel(connection: Connection, proxy: Proxy, target: Target) -> None:
    """Ask the proxy for a way to the target; afterwards the connection's bytes are the target's."""
    connection.phase = Phase.PROXY
    exact = _Exact(connection)
    if proxy.is_socks:
        await _socks(connection, exact, proxy, target)
    else:
        await _connect(connection, exact, proxy, target)
    exact.done()


async def _connect(connection: Connection, exact: _Exact, proxy: Proxy, target: Target) -> None:
    place = target.tunnel_authority
    login = f"Proxy-Authorization: {proxy.authorization}\r\n" if proxy.authorization else ""
    connection.write(f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n{login}\r\n".encode("ascii"))
    answer = await exact.until(b"\r\n\r\n")
    line = _STATUS_LINE.match(answer)
    if line is None:
        raise _failed(connection, Cause.PROTOCOL, "the proxy's answer is not HTTP")
    status, words = int(line[1]), (line[2] or b"").decode("latin-1")
    if status == 407:
        raise _failed(connection, Cause.PROXY_REFUSED, f"407 proxy authentication required: {words}")
    if not 200 <= status < 300:
        raise _failed(connection, Cause.PROXY_REFUSED, f"tunnel connection failed: {status} {words}")


async def _socks(connection: Connection, exact: _Exact, proxy: Proxy, target: Target) -> None:
    connection.write(bytes([5, 2, _NO_LOGIN, _LOGIN] if proxy.user else [5, 1, _NO_LOGIN]))
    version, method = await exact.count(2)
    if version != 5 or method not in {_NO_LOGIN, _LOGIN}:
        raise _failed(connection, Cause.PROXY_REFUSED, "it wants a login that was not given, or speaks no SOCKS5")
    if method == _LOGIN:
        user, password = proxy.user.encode()[:255], proxy.password.encode()[:255]
        connection.write(bytes([1, len(user)]) + user + bytes([len(password)]) + password)
        _, refused = await exact.count(2)
        if refused:
            raise _failed(connection, Cause.PROXY_REFUSED, "proxy authentication required: it refused the login")
    connection.write(b"\x05\x01\x00" + _socks_address(target) + target.port.to_bytes(2, "big"))
    _, refusal, _, kind = await exact.count(4)
    if refusal:
        raise _failed(connection, Cause.PROXY_REFUSED, _SOCKS_REFUSALS.get(refusal, f"code {refusal}"))
    size = {1: 4, 4: 16}.get(kind) or (await exact.count(1))[0]
    await exact.count(size + 2)


def _socks_address(target: Target) -> bytes:
    """Write an address as it is and a name as a name: the proxy resolves it, which works where we cannot."""
    try:
        address = ip_address(target.host)
    except ValueError:
        name = target.host.encode("ascii")[:255]
        return bytes([3, len(name)]) + name
    return bytes([1 if address.version == 4 else 4]) + address.packed


def _failed(connection: Connection, cause: Cause, detail: str) -> TransportFailed:
    return TransportFailed(Phase.PROXY, cause, connection.host, detail)
