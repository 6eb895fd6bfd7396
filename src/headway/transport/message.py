"""Requests to bytes and the parts of an answer's head. Pure; nothing that would break the framing gets through."""

import re
from collections.abc import Iterator
from functools import lru_cache
from urllib.parse import quote, urlsplit

from msgspec import Struct

from headway.transport.errors import Cause, Phase, TransportFailed

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_PATH_SAFE = "/%:@!$&'()*+,;=~-._?"
_PORTS = {"http": 80, "https": 443}


class HttpRequest(Struct, frozen=True):
    """What to send. Host, length and encoding headers are written here; all others are the caller's."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""


class Headers(Struct, frozen=True):
    """The headers of an answer, in the order they came. Names are lower case."""

    items: tuple[tuple[str, str], ...] = ()

    def get(self, name: str, default: str = "") -> str:
        """Return the first value under a name."""
        wanted = name.lower()
        return next((value for known, value in self.items if known == wanted), default)

    def get_all(self, name: str) -> tuple[str, ...]:
        """Return every value under a name."""
        wanted = name.lower()
        return tuple(value for known, value in self.items if known == wanted)

    def as_dict(self) -> dict[str, str]:
        """Return one value for each name; repeated ones are joined as HTTP joins them."""
        joined: dict[str, str] = {}
        for name, value in self.items:
            joined[name] = f"{joined[name]}, {value}" if name in joined else value
        return joined

    def __contains__(self, name: str) -> bool:
        return any(known == name.lower() for known, _ in self.items)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self.items)


class Target(Struct, frozen=True):
    """Where a request goes. `host` is ready for a resolver, `authority` for a Host header."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """Return host and port as HTTP writes them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def tunnel_authority(self) -> str:
        """Return host and port as a CONNECT request names them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


@lru_cache(256)  # asked for every request, about a few endpoints
def target_of(url: str) -> Target:
    """Read a URL; raises `TransportFailed` for one that cannot be requested."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
        if not host.isascii():
            host = host.encode("idna").decode("ascii")
    except ValueError as exc:
        raise _invalid(url, f"invalid URL: {exc}") from None
    if parts.scheme not in _PORTS:
        raise _invalid(host, f"unsupported protocol {parts.scheme!r}: a URL starts with http:// or https://")
    if not host or _CONTROL.search(host) or " " in host:
        raise _invalid(url, "invalid URL: it names no host")
    if parts.username is not None:
        raise _invalid(host, "invalid URL: credentials belong in a header, not in the address")
    path = quote(parts.path or "/", safe=_PATH_SAFE)
    query = f"?{quote(parts.query, safe=_PATH_SAFE)}" if parts.query else ""
    return Target(parts.scheme, host, port or _PORTS[parts.scheme], path + query)


def head_of(request: HttpRequest, target: Target, *, through_proxy: bool, proxy_authorization: str = "") -> bytes:
    """Write the request line and headers; raises `TransportFailed` for what HTTP cannot carry."""
    place = f"{target.scheme}://{target.authority}{target.path}" if through_proxy else target.path
    given = {name.lower() for name, _ in request.headers}
    lines = [] if "host" in given else [("Host", target.authority)]
    lines += request.headers
    if "accept-encoding" not in given:
        lines.append(("Accept-Encoding", "identity"))
    if "user-agent" not in given:
        lines.append(("User-Agent", "headway"))
    if proxy_authorization and "proxy-authorization" not in given:
        lines.append(("Proxy-Authorization", proxy_authorization))
    if given & {"transfer-encoding", "content-length"}:
        raise _invalid(target.host, "illegal header: the length of the body is written by the transport")
    if request.body or request.method in {"POST", "PUT", "PATCH"}:
        lines.append(("Content-Length", str(len(request.body))))
    if not _TOKEN.fullmatch(request.method):
        raise _invalid(target.host, "illegal method")
    for name, value in lines:
        if not _TOKEN.fullmatch(name) or _CONTROL.search(value):  # the value may be a key: it is not shown
            raise _invalid(target.host, f"illegal header value under {name[:80]!r}")
    text = "".join([f"{request.method} {place} HTTP/1.1\r\n", *(f"{n}: {v}\r\n" for n, v in lines), "\r\n"])
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        raise _invalid(target.host, "illegal header value: only Latin-1 characters can be sent") from None


def _invalid(host: str, detail: str) -> TransportFailed:
    return TransportFailed(Phase.PREPARE, Cause.INVALID, host[:200], detail)
