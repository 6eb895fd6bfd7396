"""Where the gateway listens. Off loopback it wants keys: an open door to somebody's accounts is refused."""

from ipaddress import ip_address

from headway.failure import InvalidInput
from headway.settings.schema import Gateway


def address_of(listen: str) -> tuple[str, int] | None:
    """Return host and port; None when it is not both."""
    host, colon, port = listen.rpartition(":")
    if not colon or not port.isascii() or not port.isdecimal() or not 0 <= int(port[:6]) <= 65_535:
        return None
    bare = host.removeprefix("[").removesuffix("]")
    if ":" in bare and not host.startswith("["):
        return None
    return (bare or "0.0.0.0", int(port))  # noqa: S104 - `:8320` means every interface, and so it wants keys


def is_loopback(host: str) -> bool:
    """Say whether only this machine can reach it."""
    try:
        return ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return host.lower().rstrip(".") == "localhost"


def check_gateway(gateway: Gateway, origin: str) -> None:
    """Refuse an address that is none, and an open one without keys."""
    place = f"{origin}: gateway.listen"
    address = address_of(gateway.listen)
    if address is None:
        raise InvalidInput(place, f"{gateway.listen[:80]!r} is no address and port", 'Write "127.0.0.1:8320".')
    if not gateway.keys and not is_loopback(address[0]):
        why = f"anybody who reaches {gateway.listen} could use your keys"
        raise InvalidInput(place, why, 'Add gateway.keys = ["env:HEADWAY_KEY"], or listen on 127.0.0.1.')
