"""A client's request, and what can be wrong with one before anybody has read its body."""

from collections.abc import Mapping
from urllib.parse import parse_qsl, unquote, urlsplit

from msgspec import Struct


class Request(Struct, frozen=True):
    """One whole request. Names of headers are in small letters."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    query: Mapping[str, str] = {}
    peer: str = ""
    keeps_alive: bool = True
    takes_chunks: bool = True
    """Can its client read a body in chunks? One that speaks HTTP/1.0 cannot."""


def request_of(method: str, target: bytes, headers: Mapping[str, str], body: bytes, **more: object) -> Request:
    """Return a request as a handler takes it; a target that cannot be read is a path that nobody serves."""
    try:
        parts = urlsplit(target.decode("latin-1"))
        path, query = unquote(parts.path), dict(parse_qsl(parts.query, max_num_fields=64))
    except ValueError:
        path, query = target.decode("latin-1"), {}
    return Request(method, path, headers, body, query, **more)  # type: ignore[arg-type]


class Limits(Struct, frozen=True):
    """What a client may take up. All of it is bounded, so that no client can starve the others."""

    head_bytes: int = 64 * 1024
    body_bytes: int = 64 * 1024 * 1024
    request_seconds: float = 60.0
    """For the whole request to arrive, once its first byte has."""
    idle_seconds: float = 75.0
    """Between two requests of one connection."""
    write_seconds: float = 60.0
    """For a client that takes nothing of its answer."""
    buffer_bytes: int = 256 * 1024
    """What may wait in memory for a slow client."""
    connections: int = 4096
