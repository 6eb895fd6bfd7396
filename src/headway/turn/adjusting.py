"""What a refused request is changed to before it is sent again: healed, shortened, or asked for less. Pure.

Healing by the history's own rules has happened before any request goes out. What is left here are the blunt tools for
an endpoint that refuses all the same: leave out what it need not have, more at each step.
"""

from msgspec import Struct
from msgspec.structs import replace

from headway.dialect import Dialect
from headway.messages import Message, ModelRequest, Text, ToolResult, user
from headway.recovery.decisions import Again
from headway.recovery.ledger import Strategy

LONG_RESULT = 2_000
"""Characters that an old tool result may keep when the history must become shorter."""
KEPT_SHARE = 0.5
SHORTENED = "\n[… shortened: the conversation had grown too long]"
FORGOTTEN = "(The beginning of this conversation was left out, because it had grown too long.)"


class Adjustments(Struct, frozen=True):
    """What has been changed so far, for the upstream in use."""

    healed: int = 0
    shortened: int = 0
    output_tokens: int | None = None

    def after(self, decision: Again, request: ModelRequest) -> "Adjustments":
        """Return the adjustments that a decision asks for."""
        match decision.strategy:
            case Strategy.HEAL | Strategy.HEAL_HARDER:
                return replace(self, healed=self.healed + 1)
            case Strategy.COMPACT:
                return replace(self, shortened=self.shortened + 1)
            case Strategy.LOWER_OUTPUT:
                asked = self.output_tokens or request.max_output_tokens or 8192
                return replace(self, output_tokens=min(decision.limit_tokens or asked // 2, max(1, asked // 2 * 2)))
            case _:
                return self

    def apply(self, request: ModelRequest) -> ModelRequest:
        """Return the request with everything that was asked for."""
        for _ in range(self.shortened):
            request = shortened(request)
        if self.healed:
            request = replace(request, temperature=None, top_p=None, raw=None)
        if self.output_tokens is not None:
            request = replace(request, max_output_tokens=self.output_tokens)
        return request

    def dialect(self, dialect: Dialect) -> Dialect:
        """Return what the endpoint seems to accept: less at each step."""
        if self.healed == 0:
            return dialect
        plainer = replace(dialect, thinking=False, prefill=False)
        if self.healed == 1:
            return plainer
        return replace(plainer, images=False, documents=False, text_results_only=True)


def shortened(request: ModelRequest) -> ModelRequest:
    """Return the request with about half of its history: old results cut first, then the oldest exchanges left out.

    The first message of the user and everything since the newest one stay. A cut falls only before a user's words, so
    no call is parted from its result.
    """
    messages = request.messages
    newest = _last_words(messages)
    old, new = tuple(_with_short_results(message) for message in messages[:newest]), messages[newest:]
    kept = _size((*old, *new))
    start = 0
    for at in range(1, len(old) + 1):
        if kept <= _size(messages) * KEPT_SHARE:
            break
        if at == len(old) or _is_words(old[at]):
            kept -= _size(old[start:at])
            start = at
    if start == 0:
        return replace(request, messages=(*old, *new))
    task = tuple(message for message in old[:start] if _is_words(message))[:1]
    return replace(request, messages=(*task, user(FORGOTTEN), *old[start:], *new))


def _last_words(messages: tuple[Message, ...]) -> int:
    return max((at for at, message in enumerate(messages) if _is_words(message)), default=0)


def _is_words(message: Message) -> bool:
    return message.role == "user" and not message.results


def _size(messages: tuple[Message, ...]) -> int:
    return sum(
        len(message.text)
        + sum(len(call.arguments) for call in message.calls)
        + sum(len(r.text) for r in message.results)
        for message in messages
    )


def _with_short_results(message: Message) -> Message:
    if not any(len(result.text) > LONG_RESULT for result in message.results):
        return message
    parts = tuple(_short(part) if isinstance(part, ToolResult) else part for part in message.parts)
    return replace(message, parts=parts, raw=None)


def _short(result: ToolResult) -> ToolResult:
    if len(result.text) <= LONG_RESULT:
        return result
    return replace(result, parts=(Text(result.text[:LONG_RESULT] + SHORTENED),), raw=None)
