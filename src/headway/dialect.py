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

    one_result_message: bool = False
    """All results of one assistant turn stand in one message (roles alternate)."""
    starts_with_user: bool = False
    prefill: bool = False
    """May the history end with assistant text that the model goes on from?"""
    assistant_after_results: bool = False
    """Must an assistant message stand between tool results and a user's words?"""
    blank_text: bool = False
    """Are empty and whitespace-only texts accepted?"""
    system_inside: bool = True
    """May system messages stand after the first message?"""

    thinking: bool = True
    """Can this endpoint take thinking back at all?"""
    signed_thinking: bool = False
    """Is thinking without a signature or seal refused?"""
    reasoning_on_calls: bool = False
    """Must every assistant message with calls carry reasoning text, be it empty?"""

    images: bool = True
    documents: bool = True
    text_results_only: bool = False
    """Must a tool result be a plain string?"""
    tools_with_history: bool = False
    """Must tools be offered whenever the history holds calls?"""


CHAT = Dialect(wire="chat", issuer="chat", id_max=40)
RESPONSES = Dialect(wire="responses", issuer="responses", id_max=64)
ANTHROPIC = Dialect(
    wire="anthropic",
    issuer="anthropic",
    one_result_message=True,
    starts_with_user=True,
    system_inside=False,
    signed_thinking=True,
)
DIALECTS: dict[str, Dialect] = {d.wire: d for d in (CHAT, RESPONSES, ANTHROPIC)}
