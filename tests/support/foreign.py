"""Sessions of other agents, written by hand after what is known of their formats, and each wedged in many ways."""

import json
from pathlib import Path
from typing import Any

from headway.foreign.claude_code import read_claude_code
from headway.foreign.codex import read_codex
from headway.foreign.session import ForeignSession

FOLDER = Path(__file__).parents[1] / "data" / "foreign"
FILES = {
    "claude-code": FOLDER / "claude_code.jsonl",
    "codex": FOLDER / "codex.jsonl",
    "opencode": FOLDER / "opencode.json",
    "openai-chat": FOLDER / "openai_chat.json",
    "openai-responses": FOLDER / "openai_responses.json",
    "anthropic": FOLDER / "anthropic.json",
}
"""A wedged session in each format."""


def lines_of(*values: dict[str, Any]) -> list[bytes]:
    return [json.dumps(value).encode() + b"\n" for value in values]


def claude(*values: dict[str, Any]) -> ForeignSession:
    return read_claude_code(lines_of(*values))


def codex(*values: dict[str, Any]) -> ForeignSession:
    return read_codex(lines_of(*values))


# Claude Code


def said(uuid: str, parent: str | None, words: str, **more: Any) -> dict[str, Any]:
    return _line("user", uuid, parent, {"role": "user", "content": words}, **more)


def replied(uuid: str, parent: str | None, *blocks: dict[str, Any], reply: str = "", **more: Any) -> dict[str, Any]:
    message = {"id": reply or f"msg_{uuid}", "role": "assistant", "model": "claude-x", "content": list(blocks)}
    return _line("assistant", uuid, parent, message, **more)


def gave(uuid: str, parent: str, call: str, words: str) -> dict[str, Any]:
    content = [{"type": "tool_result", "tool_use_id": call, "content": words}]
    return _line("user", uuid, parent, {"role": "user", "content": content})


def boundary(uuid: str, before: str, **metadata: Any) -> dict[str, Any]:
    return {
        **_line("system", uuid, None, None, subtype="compact_boundary", compactMetadata=metadata),
        "logicalParentUuid": before,
    }


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def use(call: str, name: str = "Read", **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call, "name": name, "input": given}


def _line(kind: str, uuid: str, parent: str | None, message: Any, **more: Any) -> dict[str, Any]:
    about = {"sessionId": "s", "cwd": "/home/ann", "timestamp": "2026-03-01T10:00:00.000Z", "isSidechain": False}
    held = {} if message is None else {"message": message}
    return {"type": kind, "uuid": uuid, "parentUuid": parent, **about, **held, **more}


# Codex


def item(kind: str, **fields: Any) -> dict[str, Any]:
    return {"timestamp": "2026-03-01T10:00:00.000Z", "type": "response_item", "payload": {"type": kind, **fields}}


def spoken(role: str, words: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": kind, "text": words}])


def event(kind: str, **fields: Any) -> dict[str, Any]:
    return {"timestamp": "2026-03-01T10:00:00.000Z", "type": "event_msg", "payload": {"type": kind, **fields}}


# opencode


def exported(*messages: dict[str, Any], **about: Any) -> dict[str, Any]:
    return {"info": {"id": "ses_1", "directory": "/home/ann", "title": "", **about}, "messages": list(messages)}


def oc(name: str, role: str, *parts: dict[str, Any], **info: Any) -> dict[str, Any]:
    numbered = [{"id": f"prt_{name}_{at}", "messageID": name, **part} for at, part in enumerate(parts)]
    return {"info": {"id": name, "role": role, "time": {"created": 1}, **info}, "parts": numbered}


def tool(call: str, status: str, **state: Any) -> dict[str, Any]:
    return {"type": "tool", "callID": call, "tool": "bash", "state": {"status": status, "input": {}, **state}}
