"""JSON-RPC 2.0 as MCP uses it: messages to bytes, and bytes to messages. Pure; reading never raises.

What is not a message is `Noise`: many servers print to where only messages belong, and that alone is no reason to lose
them.
"""

from collections.abc import Iterator
from typing import Any, TypeAlias

from msgspec import Struct

from headway.wire.json_text import BadJson, decode, encode, excerpt

METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
UNSUPPORTED_VERSION = -32022
MOST_AT_ONCE = 1_000
"""Messages in one array, which an old version of the protocol allows."""
Id: TypeAlias = int | str


class Reply(Struct, frozen=True):
    """An answer to a request."""

    id: Id
    result: dict[str, Any]


class Refused(Struct, frozen=True):
    """The answer that a request gets no result, and why."""

    id: Id | None
    code: int
    message: str
    data: Any = None


class Asked(Struct, frozen=True):
    """A request of the other side."""

    id: Id
    method: str


class Told(Struct, frozen=True):
    """A notification of the other side."""

    method: str
    params: dict[str, Any] = {}


class Noise(Struct, frozen=True):
    """What is no message."""

    text: str


Incoming: TypeAlias = Reply | Refused | Asked | Told | Noise


def request(number: int, method: str, params: dict[str, Any]) -> bytes:
    """Write a request."""
    return encode({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


def notification(method: str, params: dict[str, Any] | None = None) -> bytes:
    """Write a notification."""
    return encode({"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})})


def answer(id_: Id, result: dict[str, Any]) -> bytes:
    """Write the answer to a request of the other side."""
    return encode({"jsonrpc": "2.0", "id": id_, "result": result})


def refusal(id_: Id, code: int, message: str) -> bytes:
    """Write that a request of the other side gets no result."""
    return encode({"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": message}})


def read(data: bytes) -> Iterator[Incoming]:
    """Return the messages in one line, body or event."""
    try:
        value = decode(data)
    except BadJson:
        yield Noise(excerpt(data))
        return
    for one in value[:MOST_AT_ONCE] if isinstance(value, list) else (value,):
        yield _message(one, data)


def _message(value: Any, data: bytes) -> Incoming:
    if not isinstance(value, dict):
        return Noise(excerpt(data))
    id_, method, params = value.get("id"), value.get("method"), value.get("params")
    has_id = isinstance(id_, int | str) and not isinstance(id_, bool)
    if isinstance(method, str):
        if has_id:
            return Asked(id_, method)  # type: ignore[arg-type]  # just looked at
        return Told(method, params if isinstance(params, dict) else {})
    if has_id and isinstance(value.get("result"), dict):
        return Reply(id_, value["result"])  # type: ignore[arg-type]
    if isinstance(error := value.get("error"), dict):
        code, said = error.get("code"), error.get("message")
        return Refused(
            id_ if has_id else None,
            code if isinstance(code, int) else 0,
            excerpt(said) if isinstance(said, str) and said.strip() else "it gave no reason",
            error.get("data"),
        )
    return Noise(excerpt(data))
