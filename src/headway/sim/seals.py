"""Proof of thinking: the simulator signs what it thought, and knows its own seal again.

A provider refuses thinking that it did not issue, or that was edited. The seal is a digest, not a secret: it is there
to catch a client that mixes up whose thinking is whose, not one that forges.
"""

from hashlib import sha256
from typing import Any

_MARK = "simseal"


def seal(thought: str) -> str:
    """Return the seal of a thought."""
    return f"{_MARK}{sha256(thought.encode('utf-8', 'replace')).hexdigest()}"


def is_seal(value: str) -> bool:
    """Say whether a text is one of our seals, of whatever thought."""
    return value.startswith(_MARK) and len(value) == len(seal(""))


def judge_seals(wire: str, body: dict[str, Any]) -> list[str]:
    """Return what is wrong with the thinking in a valid body, in the provider's words."""
    return [*_SEALS.get(wire, _no_seals)(body)]


def _no_seals(_: dict[str, Any]) -> list[str]:
    return []


def _signatures(body: dict[str, Any]) -> list[str]:
    wrong = []
    for index, message in enumerate(body["messages"]):
        content = message["content"]
        for at, block in enumerate(content if isinstance(content, list) else ()):
            if block["type"] == "thinking" and block["signature"] != seal(block["thinking"]):
                wrong.append(f"messages.{index}.content.{at}: Invalid `signature` in `thinking` block")
    return wrong


def _encrypted(body: dict[str, Any]) -> list[str]:
    items = body.get("input")
    sealed = [
        item["encrypted_content"]
        for item in (items if isinstance(items, list) else ())
        if item.get("type") == "reasoning" and isinstance(item.get("encrypted_content"), str)
    ]
    return [
        f"The encrypted content {one[:4]}... could not be verified. Reason: Encrypted content could not be decrypted "
        "or parsed."
        for one in sealed
        if not is_seal(one)
    ]


_SEALS = {"anthropic": _signatures, "responses": _encrypted}
