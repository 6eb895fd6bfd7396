"""What a conversation is made of, in no provider's words. Everything is frozen.

Only a call whose arguments were received whole and parsed strictly is a `ToolCall`; anything less is a
`CallFragment`, another type, which no executor accepts. What a wire says beyond this vocabulary travels as
`Raw`: the JSON object a value was read from, filed under its wire. A renderer for the same wire starts from
it, so that unknown fields survive; a renderer for another wire ignores it.
"""

from typing import Any, Literal, TypeAlias

from msgspec import Struct

WireName: TypeAlias = Literal["chat", "responses", "anthropic"]
Role: TypeAlias = Literal["user", "assistant", "system"]


class Raw(Struct, frozen=True):
    """The JSON object that a value was read from, and the wire it was read on. Never edited."""

    wire: str
    value: dict[str, Any]


class Text(Struct, frozen=True, tag="text"):
    """Words. `raw` is absent when the wire had a bare string."""

    text: str
    raw: Raw | None = None


class Refusal(Struct, frozen=True, tag="refusal"):
    """The model's own words for saying no, where the wire marks them as such."""

    text: str
    raw: Raw | None = None


class Thinking(Struct, frozen=True, tag="thinking"):
    """Reasoning. Sent back unchanged to its issuer or dropped whole; never edited.

    `signature` proves readable text, `sealed` is reasoning that only the issuer can read.
    """

    text: str
    issuer: str
    signature: str | None = None
    sealed: str | None = None
    raw: Raw | None = None


class ToolCall(Struct, frozen=True, tag="tool_call"):
    """A whole call: `arguments` is the text of one JSON object, or free text when `freeform`."""

    id: str
    name: str
    arguments: str
    freeform: bool = False
    raw: Raw | None = None


class CallFragment(Struct, frozen=True, tag="call_fragment"):
    """What arrived of a call that was cut or does not parse. It is never run and never sent."""

    id: str
    name: str
    arguments: str
    freeform: bool = False
    raw: Raw | None = None


class Image(Struct, frozen=True, tag="image"):
    """A picture, by base64 `data` with a media type, by `url`, or by the provider's `file_id`."""

    media_type: str | None = None
    data: str | None = None
    url: str | None = None
    file_id: str | None = None
    raw: Raw | None = None


class Document(Struct, frozen=True, tag="document"):
    """A file: base64 `data`, plain `text`, `url` or the provider's `file_id`."""

    media_type: str | None = None
    data: str | None = None
    text: str | None = None
    url: str | None = None
    file_id: str | None = None
    name: str | None = None
    raw: Raw | None = None


class Opaque(Struct, frozen=True, tag="opaque"):
    """What one wire has and the others do not; it goes back to that wire as it came."""

    raw: Raw


ResultPart: TypeAlias = Text | Image | Document | Opaque


class ToolResult(Struct, frozen=True, tag="tool_result"):
    """What a call gave. It is a part of a user message and names the call it answers."""

    call_id: str
    parts: tuple[ResultPart, ...] = ()
    is_error: bool = False
    freeform: bool = False
    raw: Raw | None = None

    @property
    def text(self) -> str:
        """Return the words of the result, without pictures and files."""
        return "\n".join(part.text for part in self.parts if isinstance(part, Text))


Part: TypeAlias = Text | Refusal | Thinking | ToolCall | CallFragment | ToolResult | Image | Document | Opaque


class Message(Struct, frozen=True):
    """One message or item of a wire, one to one; neighbours are merged only where a wire wants it.

    Tool results are parts of user messages. `raw` holds the object it was read from (unknown fields, ids).
    """

    role: Role
    parts: tuple[Part, ...]
    raw: Raw | None = None

    @property
    def text(self) -> str:
        """Return the words of the message."""
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """Return the whole calls of the message."""
        return tuple(part for part in self.parts if isinstance(part, ToolCall))

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """Return the tool results of the message."""
        return tuple(part for part in self.parts if isinstance(part, ToolResult))


def user(text: str) -> Message:
    """Return a user message of plain words."""
    return Message("user", (Text(text),))


def assistant(text: str) -> Message:
    """Return an assistant message of plain words."""
    return Message("assistant", (Text(text),))


class ToolSpec(Struct, frozen=True):
    """A tool that is offered: `parameters` is a JSON Schema; a freeform tool takes plain text."""

    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None
    freeform: bool = False
    raw: Raw | None = None


class ToolChoice(Struct, frozen=True):
    """Which tools may or must be called; `name` goes with `tool`."""

    mode: Literal["auto", "none", "required", "tool"]
    name: str | None = None


class Reasoning(Struct, frozen=True):
    """How much a model should think: a word for the effort, or a budget in tokens."""

    effort: str | None = None
    budget_tokens: int | None = None


class ModelRequest(Struct, frozen=True):
    """One request to a model, in no wire's words.

    `raw` is the body it was parsed from. A renderer for the same wire starts from its unknown fields.
    `system` is what a wire keeps outside of the messages; system messages inside them stay where they are.
    """

    model: str
    messages: tuple[Message, ...]
    system: tuple[Text, ...] = ()
    tools: tuple[ToolSpec | Opaque, ...] = ()
    tool_choice: ToolChoice | None = None
    parallel_calls: bool | None = None
    max_output_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    stop: tuple[str, ...] = ()
    reasoning: Reasoning | None = None
    stream: bool = False
    raw: Raw | None = None
