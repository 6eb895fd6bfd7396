"""Messages cut loose from where they came from: no ids that only another server knows, no marks of another client.

What is kept is what was said, called and given. A message that was empty from the start stays, so that healing tells.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from headway.foreign.session import Account
from headway.messages import (
    Document,
    Image,
    Message,
    Opaque,
    Part,
    ResultPart,
    Text,
    Thinking,
    ToolResult,
)

UNKNOWN_OUTCOME = (
    "unknown outcome: the agent that made this call stopped before it wrote a result down; "
    "the call may or may not have taken effect"
)
_PROVEN_BY_ITSELF = "chat"
"""The wire on which thinking needs no proof to be taken back."""


def detached(messages: Iterable[Message], account: Account) -> tuple[Message, ...]:
    """Return the conversation alone; what only its own provider or client could use is left out, and told."""
    kept: list[Message] = []
    for message in messages:
        if message.role == "system":
            account.leave("system prompt", "system prompts", "written for the other agent; Headway has its own")
            continue
        parts = tuple(part for one in message.parts if (part := _part(one, account)) is not None)
        if parts or not message.parts:
            kept.append(Message(message.role, parts))
    return _answered(kept, account)


def _part(part: Part, account: Account) -> Part | None:
    match part:
        case Opaque():
            _forget(account)
            return None
        case Thinking(signature=None, sealed=None) if part.issuer != _PROVEN_BY_ITSELF:
            account.leave("thought", "thoughts", "no provider takes one back without a signature or a seal")
            return None
        case ToolResult():
            return replace(part, parts=tuple(_result_parts(part.parts, account)), raw=None)
        case Image() | Document():
            return _file(part)
        case _:
            return replace(part, raw=None)


def _result_parts(parts: Iterable[ResultPart], account: Account) -> Iterable[ResultPart]:
    for part in parts:
        match part:
            case Opaque():
                _forget(account)
            case Text():
                yield replace(part, raw=None)
            case _:
                yield _file(part)


def _file(part: Image | Document) -> Image | Document:
    """Return a file on its own; one that is known by an id alone must still say whose id that is."""
    return part if part.file_id else replace(part, raw=None)


def _forget(account: Account) -> None:
    account.leave("part", "parts", "readable only for the provider or client that made it")


def _answered(messages: list[Message], account: Account) -> tuple[Message, ...]:
    """Give every whole call without any result one that claims nothing: whether it was run, nobody here knows."""
    known = {result.call_id for message in messages for result in message.results}
    answered: list[Message] = []
    for message in messages:
        answered.append(message)
        for call in message.calls:
            if call.id and call.id not in known:
                known.add(call.id)
                result = ToolResult(call.id, (Text(UNKNOWN_OUTCOME),), is_error=True, freeform=call.freeform)
                answered.append(Message("user", (result,)))
                account.mend(f"the call {call.id} to {call.name} had no result: its outcome is told to be unknown")
    return tuple(answered)
