"""Rollouts of Codex: one JSON object a line, of which the response items are what its model saw.

A compaction puts another history in the place of the one so far, and a rollback takes the last turns away. A summary
that is sealed is of use to its own server alone; then what it stood for is taken over instead.
"""

from collections.abc import Iterable
from typing import Any

from headway.foreign.detached import detached
from headway.foreign.lines import objects_of
from headway.foreign.moments import seconds_of
from headway.foreign.session import Account, ForeignSession
from headway.wire.json_text import BadJson, encode_text
from headway.wire.table import wire_named

NAME = "codex"
WIRE = "responses"
ENVELOPES = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"})
ITEMS = frozenset(
    {"message", "reasoning", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output"}
    | {"local_shell_call", "web_search_call", "compaction", "compaction_summary", "ghost_snapshot"}
)
_FIELDS = {
    "message": ("role", "content"),
    "reasoning": ("summary", "content", "encrypted_content"),
    "function_call": ("call_id", "name", "arguments"),
    "function_call_output": ("call_id", "output"),
    "custom_tool_call": ("call_id", "name", "input"),
    "custom_tool_call_output": ("call_id", "output"),
}
"""What is taken over of an item. Ids and statuses are its server's."""
_SEALED = frozenset({"compaction", "compaction_summary"})
_ROLES = frozenset({"user", "assistant", "system", "developer"})
_AROUND = ("<environment_context>", "<user_instructions>", "# AGENTS.md instructions for ")
"""How messages begin that the client wrote in the user's name, about its own surroundings."""


def read_codex(lines: Iterable[bytes | None]) -> ForeignSession:
    """Read a rollout; it never fails, and what it cannot use it tells."""
    account = Account()
    replay = _Replay(account)
    for line in objects_of(lines, account):
        replay.take(line)
    messages = detached(wire_named(WIRE).parse_messages(replay.items).messages, account)
    about = replay.about
    return ForeignSession(
        NAME,
        WIRE,
        messages,
        _text(about.get("id")),
        replay.title,
        _text(about.get("cwd")),
        seconds_of(about.get("timestamp")),
        account.left_out,
        account.mended,
    )


class _Replay:
    """The history as it grows, line by line."""

    def __init__(self, account: Account) -> None:
        self.items: list[dict[str, Any]] = []
        self.about: dict[str, Any] = {}
        self.title = ""
        self._account = account

    def take(self, line: dict[str, Any]) -> None:
        """Take one more line into account."""
        kind, payload = _text(line.get("type")), line.get("payload")
        match kind:
            case "session_meta" if isinstance(payload, dict):
                self.about = self.about or payload
            case "response_item" if isinstance(payload, dict):
                self._add(payload)
            case "compacted" if isinstance(payload, dict):
                self._compact(payload)
            case "event_msg" if isinstance(payload, dict) and payload.get("type") == "thread_rolled_back":
                self._roll_back(payload.get("num_turns"))
            case "event_msg" if isinstance(payload, dict) and payload.get("type") == "thread_name_updated":
                self.title = _text(payload.get("thread_name"))
            case _ if kind in ITEMS and payload is None:
                self._add(line)  # as the first versions wrote them
            case "" if "instructions" in line and not self.about:
                self.about = line
            case _:
                self._account.leave("line", "lines", "the other agent's own bookkeeping")

    def _add(self, item: dict[str, Any]) -> None:
        kind = _text(item.get("type"))
        if kind == "local_shell_call":
            item, kind = _as_call(item), "function_call"
        if kind not in _FIELDS or (kind == "message" and _text(item.get("role")) not in _ROLES):
            self._account.leave("item", "items", "of use only for the server that made it")
        elif kind == "message" and _words(item).startswith(_AROUND):
            self._account.leave("message", "messages", "about the other agent's surroundings")
        else:
            kept = {field: item[field] for field in _FIELDS[kind] if item.get(field) is not None}
            if isinstance(kept.get("output"), dict):  # as older versions wrote it, with its success beside
                kept["output"] = kept["output"].get("content", kept["output"])
            self.items.append({"type": kind, **kept})

    def _compact(self, compacted: dict[str, Any]) -> None:
        history = compacted.get("replacement_history")
        items = [one for one in history if isinstance(one, dict)] if isinstance(history, list) else None
        if items is not None and any(_text(one.get("type")) in _SEALED for one in items):
            self._account.mend("a summary is sealed for its own server: what it stands for was taken over instead")
            return
        before, self.items = self.items, []
        summary = _text(compacted.get("message"))
        if items is not None:
            for one in items:
                self._add(one)
        else:
            self.items = [one for one in before if _is_words(one)]
            if summary:
                self.items.append({"type": "message", "role": "user", "content": summary})
        stayed = {_words(one) for one in self.items if _is_words(one)}
        gone = sum(not (_is_words(one) and _words(one) in stayed) for one in before)
        self._account.leave("item", "items", "part of a summary, which was taken over", gone)

    def _roll_back(self, turns: Any) -> None:
        places = [at for at, one in enumerate(self.items) if _is_words(one)]
        if not isinstance(turns, int) or isinstance(turns, bool) or turns < 1 or not places:
            return
        start = places[-min(turns, len(places))]
        self._account.leave("item", "items", "taken back before the end", len(self.items) - start)
        del self.items[start:]


def _as_call(item: dict[str, Any]) -> dict[str, Any]:
    """Return a command that a server-side tool was asked for as a call like any other."""
    try:
        arguments = encode_text(item.get("action") or {})
    except BadJson:
        arguments = ""
    return {"call_id": item.get("call_id") or item.get("id"), "name": "local_shell", "arguments": arguments}


def _is_words(item: dict[str, Any]) -> bool:
    return item.get("type") == "message" and item.get("role") == "user"


def _words(item: dict[str, Any]) -> str:
    content = item.get("content")
    if isinstance(content, str):
        return content.lstrip()
    parts = [one for one in content if isinstance(one, dict)] if isinstance(content, list) else []
    return next((_text(one.get("text")).lstrip() for one in parts if _text(one.get("text"))), "")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
