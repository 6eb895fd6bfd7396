"""What one endpoint accepts in a request: the history rules as data, so that no rule knows a provider's name.

A wire has a default dialect; a provider's entry replaces fields of it (`msgspec.structs.replace`).
"""

from msgspec import Struct


class Dialect(Struct, frozen=True):
    """The rules a history must obey to be accepted by one endpoint. Defaults are the strictest common ground."""

    wire: str
    issuer: str
    """Whose thinking may be sent back; thinking of any other issuer is dropped."""

    id_alphabet: str = r"a-zA-Z0-9_-"
    """The inside of a regular-expression character class that call ids are made of."""
    id_max: int = 64
    id_length: int | None = None
    """An exact length, for endpoints that insist on one."""
    name_max: int = 64
    """How long a tool's name may be; it is made of letters, digits, `_` and `-`."""

    one_result_message: bool = False
    """All results of one assistant turn stand in one message (roles alternate)."""
    whole_turns: bool = False
    """Must the calls of one turn stand in one message, the last before their results?"""
    starts_with_user: bool = False
    prefill: bool = False
    """May the history end with assistant text that the model goes on from?"""
    ends_with_assistant: bool = False
    """Is a history that ends with the assistant accepted, though the model may not go on from it?"""
    needs_user: bool = False
    """Must a user have said something, anywhere?"""
    assistant_after_results: bool = False
    """Must an assistant message stand between tool results and a user's words?"""
    blank_text: bool = False
    """Are empty and whitespace-only texts accepted?"""
    blank_beside_calls: bool = False
    """Is a blank text beside calls accepted, as the wire's way to say nothing?"""
    blank_results: bool = True
    """May a result be one blank string?"""
    refused_characters: str = "\x00"
    """The characters that no text may hold; lone surrogates never may."""
    system_messages: bool = True
    """May system messages stand among the messages? If not, the request has a place of its own for them."""
    system_inside: bool = True
    """May system messages stand after the first other message?"""

    thinking: bool = True
    """Can this endpoint take thinking back at all?"""
    signed_thinking: bool = False
    """Is thinking without a signature or seal refused?"""
    reasoning_on_calls: bool = False
    """Must every assistant message with calls carry reasoning text, be it empty?"""

    images: bool = True
    documents: bool = True
    media_in_results: bool = True
    """May a tool result hold images and documents?"""
    text_results_only: bool = False
    """Must a tool result be a plain string?"""
    freeform_results: bool = False
    """Must the result of a freeform call say that it is one?"""
    tools_with_history: bool = False
    """Must tools be offered whenever the history holds calls?"""


CHAT = Dialect(
    wire="chat",
    issuer="chat",
    id_max=40,
    whole_turns=True,
    blank_beside_calls=True,
    ends_with_assistant=True,
    media_in_results=False,
)
RESPONSES = Dialect(wire="responses", issuer="responses", id_max=64, ends_with_assistant=True, freeform_results=True)
ANTHROPIC = Dialect(
    wire="anthropic",
    issuer="anthropic",
    name_max=128,
    one_result_message=True,
    starts_with_user=True,
    blank_results=False,
    system_messages=False,
    system_inside=False,
    signed_thinking=True,
)
DIALECTS: dict[str, Dialect] = {d.wire: d for d in (CHAT, RESPONSES, ANTHROPIC)}
