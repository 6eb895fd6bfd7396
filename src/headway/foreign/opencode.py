"""Sessions of opencode: what `opencode export` writes, and what its folders hold when they are put together likewise.

A reply is one message of several steps there; each step is a reply here, and the results of its calls follow it.
"""

import re
from collections.abc import Iterator
from typing import Any

from headway.foreign.detached import detached
from headway.foreign.moments import seconds_of
from headway.foreign.opencode_cuts import as_it_stands
from headway.foreign.session import Account, ForeignSession
from headway.history.wording import NOT_EXECUTED
from headway.messages import (
    CallFragment,
    Document,
    Image,
    Message,
    Part,
    ResultPart,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from headway.wire.json_text import BadJson, encode_text, is_whole_object

NAME = "opencode"
WIRE = "anthropic"
ASKED_FOR_A_SUMMARY = "What did we do so far?"
CLEARED = "(The result was cleared to make room.)"
_DATA_URL = re.compile(r"data:([^;,]*)[^,]*;base64,")
_UNNAMED = ("New session - ", "Child session - ")
"""How titles begin that nobody gave."""
_IN_WORDS = ("text/plain", "application/x-directory")
"""Files that opencode puts into words beside them."""


def read_opencode(value: dict[str, Any] | list[Any], account: Account | None = None) -> ForeignSession:
    """Read an export, or its list of messages; it never fails, and what it cannot use it tells."""
    account = account or Account()
    about = value.get("info") if isinstance(value, dict) else None
    about = about if isinstance(about, dict) else {}
    listed = value.get("messages") if isinstance(value, dict) else value
    found = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    messages: list[Message] = []
    for one in as_it_stands(about, found, account):
        info, parts = _dict(one.get("info")), _dicts(one.get("parts"))
        if info.get("role") == "assistant":
            messages += _reply(info, parts, account)
        elif said := tuple(_said(parts)):
            messages.append(Message("user", said))
    times, title = _dict(about.get("time")), _text(about.get("title"))
    return ForeignSession(
        NAME,
        WIRE,
        detached(messages, account),
        _text(about.get("id")),
        "" if title.startswith(_UNNAMED) else title,
        _text(about.get("directory")),
        seconds_of(times.get("created")),
        account.left_out,
        account.mended,
    )


def _said(parts: list[dict[str, Any]]) -> Iterator[Part]:
    for part in parts:
        match part.get("type"):
            case "text" if not part.get("ignored") and _text(part.get("text")):
                yield Text(_text(part.get("text")))
            case "file" if _text(part.get("mime")) not in _IN_WORDS:
                yield from _file(part)
            case "compaction":
                yield Text(ASKED_FOR_A_SUMMARY)
            case "subtask" if _text(part.get("prompt")):
                yield Text(_text(part.get("prompt")))


def _reply(info: dict[str, Any], parts: list[dict[str, Any]], account: Account) -> Iterator[Message]:
    """Give the steps of a reply."""
    step: list[Part] = []
    results: list[ToolResult] = []
    said = 0
    for part in parts:
        kind = part.get("type")
        if step and (kind == "step-start" or (results and kind in ("text", "reasoning"))):
            yield from _step(step, results)
            step, results = [], []
        match kind:
            case "text" if _text(part.get("text")).strip():
                step.append(Text(_text(part.get("text"))))
            case "reasoning":
                step.append(_thought(part))
            case "tool":
                call, result = _call(part)
                step.append(call)
                results += [result] if result is not None else []
            case _:
                continue
        said += 1
    if step:
        yield from _step(step, results)
    elif not said and info.get("error"):
        account.leave("reply", "replies", "failed before anything came")
    elif not said:
        yield Message("assistant", ())


def _step(parts: list[Part], results: list[ToolResult]) -> Iterator[Message]:
    yield Message("assistant", tuple(parts))
    if results:
        yield Message("user", tuple(results))


def _call(part: dict[str, Any]) -> tuple[ToolCall | CallFragment, ToolResult | None]:
    """Read a call and what came of it. One that was running has no result: nobody knows what it did."""
    state = _dict(part.get("state"))
    call_id, name = _text(part.get("callID")), _text(part.get("tool"))
    arguments, raw = _arguments(state.get("input")), _text(state.get("raw"))
    match state.get("status"):
        case "completed":
            return ToolCall(call_id, name, arguments), ToolResult(call_id, tuple(_given(state)))
        case "error":
            return ToolCall(call_id, name, arguments), _failed(call_id, _text(state.get("error")) or "failed")
        case "pending" if not is_whole_object(raw or arguments) or (raw == "" and arguments == "{}"):
            return CallFragment(call_id, name, raw), None
        case "pending":
            return ToolCall(call_id, name, raw or arguments), _failed(call_id, NOT_EXECUTED)
        case _:
            return ToolCall(call_id, name, arguments), None


def _arguments(given: Any) -> str:
    try:
        return encode_text(given if isinstance(given, dict) else {})
    except BadJson:
        return "{}"


def _failed(call_id: str, words: str) -> ToolResult:
    return ToolResult(call_id, (Text(words),), is_error=True)


def _given(state: dict[str, Any]) -> Iterator[ResultPart]:
    if _dict(state.get("time")).get("compacted"):
        yield Text(CLEARED)
        return
    yield Text(_text(state.get("output")))
    for file in _dicts(state.get("attachments")):
        yield from _file(file)


def _thought(part: dict[str, Any]) -> Thinking:
    """Read a thought with its proof, which stands under the name of whoever issued it."""
    text = _text(part.get("text"))
    for proof in _dict(part.get("metadata")).values():
        if isinstance(proof, dict) and _text(proof.get("signature")):
            return Thinking(text, "anthropic", _text(proof["signature"]))
        if isinstance(proof, dict) and _text(proof.get("redactedData")):
            return Thinking("", "anthropic", sealed=_text(proof["redactedData"]))
        if isinstance(proof, dict) and _text(proof.get("reasoningEncryptedContent")):
            return Thinking(text, "responses", sealed=_text(proof["reasoningEncryptedContent"]))
    return Thinking(text, "")


def _file(part: dict[str, Any]) -> Iterator[Image | Document]:
    mime, url = _text(part.get("mime")), _text(part.get("url"))
    inline = _DATA_URL.match(url)
    data = url[inline.end() :] if inline else None
    if not url or url.startswith("file:"):
        return  # it lies on a disk, and may be another by now
    if mime.startswith("image/"):
        yield Image(mime, data, None if data else url)
    else:
        yield Document(mime or None, data, url=None if data else url, name=_text(part.get("filename")) or None)


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
