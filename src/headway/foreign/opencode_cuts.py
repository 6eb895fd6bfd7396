"""Which messages of an opencode session its next request would hold: not what was taken back or summed up."""

from typing import Any

from headway.foreign.session import Account


def as_it_stands(about: dict[str, Any], messages: list[dict[str, Any]], account: Account) -> list[dict[str, Any]]:
    """Return the messages that count, in the order in which they count."""
    return _since_the_summary(_without_reverted(about, messages, account), account)


def _without_reverted(about: dict[str, Any], messages: list[dict[str, Any]], account: Account) -> list[dict[str, Any]]:
    """Leave out what was undone: a message, or some of its parts, and all that follows."""
    revert = about.get("revert")
    if not isinstance(revert, dict):
        return messages
    at = next((at for at, one in enumerate(messages) if _id(one) == revert.get("messageID")), None)
    if at is None:
        return messages
    kept = messages[:at]
    parts = messages[at].get("parts")
    if isinstance(revert.get("partID"), str) and isinstance(parts, list):
        before = [one for one in parts if isinstance(one, dict) and str(one.get("id", "")) < revert["partID"]]
        kept.append({**messages[at], "parts": before})
    account.leave("message", "messages", "taken back before the end", len(messages) - len(kept))
    return kept


def _since_the_summary(messages: list[dict[str, Any]], account: Account) -> list[dict[str, Any]]:
    """Begin with the latest summary that was finished, followed by what it left standing."""
    summary = next((at for at in reversed(range(len(messages))) if _is_summary(messages[at])), None)
    if summary is None:
        return messages
    asked = next((at for at in reversed(range(summary)) if _asks_for_summary(messages[at])), summary)
    wanted = next((part.get("tail_start_id") for part in _parts(messages[asked]) if part.get("tail_start_id")), None)
    tail = next((at for at in range(asked) if wanted and _id(messages[at]) == wanted), asked)
    account.leave("message", "messages", "part of a summary, which was taken over", tail)
    return [*messages[asked : summary + 1], *messages[tail:asked], *messages[summary + 1 :]]


def _is_summary(message: dict[str, Any]) -> bool:
    info = message.get("info")
    if not isinstance(info, dict) or info.get("role") != "assistant" or info.get("error"):
        return False
    return info.get("summary") is True and any(part.get("type") == "text" for part in _parts(message))


def _asks_for_summary(message: dict[str, Any]) -> bool:
    return any(part.get("type") == "compaction" for part in _parts(message))


def _parts(message: dict[str, Any]) -> list[dict[str, Any]]:
    parts = message.get("parts")
    return [one for one in parts if isinstance(one, dict)] if isinstance(parts, list) else []


def _id(message: dict[str, Any]) -> Any:
    info = message.get("info")
    return info.get("id") if isinstance(info, dict) else None
