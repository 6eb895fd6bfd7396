"""All wires, by name. The only place that knows every one of them."""

from headway.failure import InvalidInput
from headway.wire.anthropic import WIRE as ANTHROPIC
from headway.wire.base import Wire
from headway.wire.openai_chat import WIRE as CHAT
from headway.wire.openai_responses import WIRE as RESPONSES

WIRES: dict[str, Wire] = {wire.name: wire for wire in (CHAT, RESPONSES, ANTHROPIC)}


def wire_named(name: str) -> Wire:
    """Return the wire of that name."""
    if name not in WIRES:
        raise InvalidInput(f"wire {name!r}", "there is no such wire", f"Known: {', '.join(WIRES)}")
    return WIRES[name]
