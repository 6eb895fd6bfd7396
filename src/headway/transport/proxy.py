"""Which proxy a request takes, by the usual variables. Pure: the variables are an argument.

Lower case wins over upper case, a scheme's own variable over ALL_PROXY, NO_PROXY over both. This machine is never
reached through a proxy. NO_PROXY names hosts (with all below them), `host:port`, addresses, networks, or `*`.
"""

from base64 import b64encode
from collections.abc import Mapping
from ipaddress import ip_address, ip_network
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from headway.failure import InvalidInput

_PORTS = {"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080}


class Proxy(Struct, frozen=True):
    """A proxy: http and https ones are asked by HTTP, socks5 ones by SOCKS."""

    scheme: str
    host: str
    port: int
    user: str = ""
    password: str = ""

    @property
    def is_socks(self) -> bool:
        """Say whether it speaks SOCKS."""
        return self.scheme.startswith("socks")

    @property
    def authorization(self) -> str:
        """Return the value of a Proxy-Authorization header; empty without a user."""
        if not self.user:
            return ""
        return "Basic " + b64encode(f"{self.user}:{self.password}".encode()).decode("ascii")


def proxy_for(scheme: str, host: str, port: int, environment: Mapping[str, str]) -> Proxy | None:
    """Choose the proxy for a destination; None means to go there directly."""
    if _is_this_machine(host) or _is_excepted(host, port, _variable(environment, "no_proxy")):
        return None
    url = _variable(environment, f"{scheme}_proxy") or _variable(environment, "all_proxy")
    return read_proxy(url) if url else None


def read_proxy(url: str) -> Proxy:
    """Read a proxy's address; a bare `host:port` means http. Raises `InvalidInput` for one that cannot be used."""
    hint = "Write it as http://host:port, https://host:port or socks5://host:port."
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        host, port = parts.hostname, parts.port
    except ValueError as exc:
        raise InvalidInput("the proxy's address", str(exc), hint) from None
    if parts.scheme not in _PORTS:
        raise InvalidInput("the proxy's address", f"{parts.scheme!r} is no kind of proxy that Headway knows", hint)
    if not host:
        raise InvalidInput("the proxy's address", "it names no host", hint)
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    return Proxy(parts.scheme, host, port or _PORTS[parts.scheme], user, password)


def _variable(environment: Mapping[str, str], name: str) -> str:
    if name == "http_proxy" and "REQUEST_METHOD" in environment:
        return environment.get(name, "").strip()  # in a CGI process HTTP_PROXY is a client's header
    return (environment.get(name) or environment.get(name.upper()) or "").strip()


def _is_this_machine(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _is_excepted(host: str, port: int, exceptions: str) -> bool:
    entries = exceptions.replace(",", " ").lower().split()
    return any(_matches(entry, host.lower().rstrip("."), port) for entry in entries)


def _matches(entry: str, host: str, port: int) -> bool:
    if entry == "*":
        return True
    try:
        return ip_address(host) in ip_network(entry.strip("[]"), strict=False)
    except ValueError:
        pass  # one of them is a name
    name, colon, wanted = entry.rpartition(":")
    if colon and wanted.isdecimal():
        if int(wanted) != port:
            return False
        entry = name.strip("[]")
    entry = entry.removeprefix("*").removeprefix(".")
    return bool(entry) and (host == entry or host.endswith(f".{entry}"))
