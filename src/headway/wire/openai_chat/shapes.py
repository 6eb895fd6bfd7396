"""What a chunk looks like: only the fields that are read, typed, so that the usual chunk is one decode.

A chunk that strays from these types is read a second time by `mended_chunk`, which accepts every deviation whose
meaning is plain and raises `BadJson` for the rest: a piece that was misread must never be joined to an answer.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from headway.wire.json_text import BadJson, encode_text


class FunctionDelta(Struct, gc=False):
    """More of a function's name and arguments."""

    name: str | None = None
    arguments: str | None = None


class CustomDelta(Struct, gc=False):
    """More of a freeform tool's name and input."""

    name: str | None = None
    input: str | None = None


class CallDelta(Struct, gc=False):
    """More of one tool call."""

    index: int | None = None
    id: str | None = None
    function: FunctionDelta | None = None
    custom: CustomDelta | None = None
    extra_content: Any = None

    @property
    def name(self) -> str:
        """Return the piece of the name."""
        return (self.function.name if self.function else self.custom.name if self.custom else None) or ""

    @property
    def arguments(self) -> str:
        """Return the piece of the arguments."""
        return (self.function.arguments if self.function else self.custom.input if self.custom else None) or ""


class Delta(Struct, gc=False):
    """What a choice adds; the `message` of a whole reply has the same shape."""

    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    reasoning_details: list[dict[str, Any]] | None = None
    tool_calls: list[CallDelta] | None = None
    refusal: str | None = None
    function_call: FunctionDelta | None = None


class Choice(Struct, gc=False):
    """One of the answers; Headway reads the first."""

    delta: Delta | None = None
    finish_reason: str | None = None
    index: int | None = 0
    message: Delta | None = None
    error: Any = None
    native_finish_reason: str | None = None


class Chunk(Struct, gc=False):
    """One data frame, or a whole reply. The last five fields are where servers hide failures."""

    choices: list[Choice] | None = None
    usage: dict[str, Any] | None = None
    error: Any = None
    x_groq: dict[str, Any] | None = None
    base_resp: dict[str, Any] | None = None
    input_sensitive: Any = None
    output_sensitive: Any = None


class FirstChunk(Chunk, gc=False):
    """A chunk that is also asked who answers."""

    id: str | None = None
    model: str | None = None


ChunkDecode: TypeAlias = Callable[[bytes], Chunk]
decode_chunk: ChunkDecode = msgspec.json.Decoder(Chunk).decode
decode_first_chunk: ChunkDecode = msgspec.json.Decoder(FirstChunk).decode


def mended_chunk(value: dict[str, Any]) -> FirstChunk:
    """Read a chunk or reply of the wrong types, or raise `BadJson`."""
    choices = value.get("choices")
    return FirstChunk(
        choices=None if choices is None else [_choice(one) for one in _objects(choices, "choices")],
        usage=_object_or_none(value.get("usage")),
        error=value.get("error"),
        x_groq=_object_or_none(value.get("x_groq")),
        base_resp=_object_or_none(value.get("base_resp")),
        input_sensitive=value.get("input_sensitive"),
        output_sensitive=value.get("output_sensitive"),
        id=scalar(value.get("id")),
        model=scalar(value.get("model")),
    )


def scalar(value: Any) -> str:
    """Return a word that may have been written as a number; anything else is blank."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def _choice(value: dict[str, Any]) -> Choice:
    finish = value.get("finish_reason")
    return Choice(
        delta=_delta(value.get("delta")),
        finish_reason=finish if isinstance(finish, str) else encode_text(finish) if finish else None,
        index=_index(value.get("index")),
        message=_delta(value.get("message")),
        error=value.get("error"),
        native_finish_reason=scalar(value.get("native_finish_reason")),
    )


def _delta(value: Any) -> Delta | None:
    if value is None:
        return None
    if not isinstance(value, dict):
        raise BadJson("a delta is not an object")
    text, thinking = _content(value.get("content"))
    calls = value.get("tool_calls")
    details = value.get("reasoning_details")
    return Delta(
        content=text,
        reasoning_content=scalar(value.get("reasoning_content")) or thinking,
        reasoning=scalar(value.get("reasoning")),
        reasoning_details=_objects(details, "reasoning_details") if details else None,
        tool_calls=[_call(one) for one in _objects(calls, "tool_calls")] if calls else None,
        refusal=_text(value.get("refusal")),
        function_call=_function(value.get("function_call")),
    )


def _content(value: Any) -> tuple[str, str]:
    """Read content in list form too: its words, and the thinking that one server puts among them."""
    if value is None or isinstance(value, str):
        return value or "", ""
    parts = _objects(value, "content")
    thinking = [inner for part in parts for inner in _thinking_of(part)]
    words = [part for part in parts if "thinking" not in part]
    return _joined(words), _joined(thinking)


def _thinking_of(part: dict[str, Any]) -> list[dict[str, Any]]:
    inner = part.get("thinking")
    return [{"text": inner}] if isinstance(inner, str) else _objects(inner or [], "thinking")


def _joined(parts: list[dict[str, Any]]) -> str:
    for part in parts:
        if not isinstance(part.get("text"), str):
            raise BadJson(f"content of the type {scalar(part.get('type'))!r} cannot be read")
    return "".join(part["text"] for part in parts)


def _call(value: dict[str, Any]) -> CallDelta:
    custom = value.get("custom")
    return CallDelta(
        index=_index(value.get("index")),
        id=scalar(value.get("id")),
        function=_function(value.get("function")),
        custom=CustomDelta(scalar(custom.get("name")), _text(custom.get("input")))
        if isinstance(custom, dict)
        else None,
        extra_content=value.get("extra_content"),
    )


def _function(value: Any) -> FunctionDelta | None:
    if value is None:
        return None
    if not isinstance(value, dict):
        raise BadJson("a function call is not an object")
    arguments = value.get("arguments")
    if arguments is not None and not isinstance(arguments, str):
        arguments = encode_text(arguments)  # some servers send the object itself
    return FunctionDelta(scalar(value.get("name")), arguments)


def _text(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    raise BadJson("text is not a string")


def _index(value: Any) -> int | None:
    if isinstance(value, str) and value.isdecimal() and len(value) < 10:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _objects(value: Any, what: str) -> list[dict[str, Any]]:
    items = value if isinstance(value, list) else [value]
    for item in items:
        if not isinstance(item, dict):
            raise BadJson(f"{what} holds something that is not an object")
    return items


def _object_or_none(value: Any) -> dict[str, Any] | None:
    return value if isinstance(value, dict) else None
