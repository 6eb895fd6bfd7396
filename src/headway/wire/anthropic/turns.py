"""The list of messages, read one to one and written in the strict shape: roles alternate, results come first.

A turn that needs nothing is written as it was read: a bare string stays a bare string, unknown fields stay. Messages
with nothing left to send are passed over, never written empty.
"""

from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Any, cast, get_args

from msgspec import Struct

from headway.failure import InvalidInput
from headway.messages import Document, Image, Message, Part, Raw, Role, Text, Thinking
from headway.wire.anthropic.blocks import NAME, content_of, ours, read_block

_ROLES = get_args(Role)


def read_messages(values: Any) -> tuple[Message, ...]:
    """Read the list of messages; raises `InvalidInput` naming the place that cannot be read."""
    if not isinstance(values, list):
        raise InvalidInput("messages", f"expected a list, got {_kind(values)}", 'Give "messages": [{"role": …}].')
    return tuple(_read_message(value, f"messages[{at}]") for at, value in enumerate(values))


def system_messages_first(messages: Sequence[Message]) -> int:
    """Return how many system messages stand before anybody spoke."""
    return sum(1 for _ in takewhile(lambda message: message.role == "system", messages))


def write_messages(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """Write messages as turns; neighbours of one role become one."""
    turns: list[_Turn] = []
    for message in messages:
        turn = _turn(message)
        if turn is None:
            continue
        if turns and turns[-1].role == turn.role != "system":
            turns[-1].absorb(turn)
        else:
            turns.append(turn)
    return [turn.value() for turn in turns]


class _Turn(Struct):
    """One message as it will be written; `extra` holds the fields of it that are not ours."""

    role: str
    content: str | list[dict[str, Any]]
    extra: dict[str, Any]

    def absorb(self, later: "_Turn") -> None:
        blocks = _blocks(self.content)
        blocks += _blocks(later.content)
        self.content = blocks
        self.extra = {**later.extra, **self.extra}

    def value(self) -> dict[str, Any]:
        content = self.content
        if self.role == "user" and isinstance(content, list):
            content = sorted(content, key=lambda block: block.get("type") != "tool_result")
        return {**self.extra, "role": self.role, "content": content}


def _turn(message: Message) -> _Turn | None:
    raw = ours(message.raw)
    # Other wires' system messages inside a conversation have no place of their own here: they are said by the user.
    role = "user" if message.role == "system" and raw is None else message.role
    content = content_of(tuple(part for part in message.parts if _fits(part, role)))
    if content is None:
        return None
    extra = {key: value for key, value in (raw or {}).items() if key not in ("role", "content")}
    return _Turn(role, content, extra)


def _fits(part: Part, role: str) -> bool:
    """Say whether a role may hold such a part; what another wire's assistant drew or attached cannot be shown here."""
    if role == "assistant":
        return not isinstance(part, Image | Document) or ours(part.raw) is not None
    return not isinstance(part, Thinking)


def _blocks(content: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _read_message(value: Any, place: str) -> Message:
    if not isinstance(value, dict):
        raise InvalidInput(place, f"expected an object, got {_kind(value)}", "A message has a role and content.")
    role = value.get("role")
    if role not in _ROLES:
        raise InvalidInput(
            f"{place}.role",
            f"{role!r:.40} is no role of this wire",
            f"Roles are {', '.join(_ROLES)}; tool results are blocks of user messages.",
        )
    parts = _read_content(value.get("content"), f"{place}.content")
    return Message(cast("Role", role), parts, Raw(NAME, value))


def _read_content(content: Any, place: str) -> tuple[Part, ...]:
    if content is None:
        return ()
    if isinstance(content, str):
        return (Text(content),)
    items = [content] if isinstance(content, dict) else content
    if not isinstance(items, list):
        raise InvalidInput(place, f"expected a string or a list of blocks, got {_kind(content)}")
    return tuple(_read_item(item, f"{place}[{at}]") for at, item in enumerate(items))


def _read_item(item: Any, place: str) -> Part:
    if isinstance(item, dict):
        return read_block(item)
    if isinstance(item, str):
        return Text(item)
    raise InvalidInput(place, f"expected a block, got {_kind(item)}", 'A block looks like {"type": "text", …}.')


def _kind(value: Any) -> str:
    return "nothing" if value is None else type(value).__name__
