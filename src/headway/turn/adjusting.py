"""What a refused request is changed to before it is sent again: healed, shortened, or asked for less. Pure.

Healing by the history's own rules has happened before any request goes out. What is left here are the blunt tools for
an endpoint that refuses all the same: leave out what it need not have, more at each step.
"""

from msgspec import Struct
from msgspec.structs import replace

from headway.dialect import Dialect
from headway.history.exchanges import cuts, is_words, size_of, tail_within
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
            case Strategy.COMPACT | Strategy.SHORTEN:
                return replace(self, shortened=self.shortened + 1)
            case Strategy.LOWER_OUTPUT:
                asked = self.output_tokens or request.max_output_tokens or 8192
                return replace(self, output_tokens=min(decision.limit_tokens or asked // 2, max(1, asked // 2 * 2)))
            case _:
                return self

    def shorter(self, request: ModelRequest) -> ModelRequest:
        """Return the caller's request with as short a history as was asked for."""
        for _ in range(self.shortened):
            request = shortened(request)
        return request

    def apply(self, request: ModelRequest) -> ModelRequest:
        """Return what is sent with everything else that was asked for."""
        if self.healed:
            request = replace(request, temperature=None, top_p=None, raw=None)
        if self.output_tokens is not None:
            request = replace(request, max_output_tokens=self.output_tokens)
        return request

    def dialect(self, dialect: Dialect) -> Dialect:
        """Return what the endpoint seems to accept: less at each step."""
        if self.healed == 0:
            return dialect
        plainer = replace(dialect, thinking=False, prefill=False, system_inside=False)
        if self.healed == 1:
            return plainer
        return replace(plainer, images=False, documents=False, text_results_only=True)


def shortened(request: ModelRequest) -> ModelRequest:
    """Return the request with about half of its history: old results cut first, then the oldest exchanges left out.

    The first words of the user, the newest ones and the last exchange stay; results of that one are cut as well if all
    the rest is not enough. A cut falls only between exchanges, so no call is parted from its result.
    """
    messages = request.messages
    last = max(cuts(messages), default=0)
    most = size_of(messages) * KEPT_SHARE
    short = (*map(_with_short_results, messages[:last]), *messages[last:])
    start = tail_within(short, most)
    kept = short[start:]
    if size_of(kept) > most:
        kept = tuple(map(_with_short_results, kept))
    if start == 0:
        return replace(request, messages=kept)
    said = tuple(message for message in short[:start] if is_words(message))
    newest = said[1:][-1:] if not any(map(is_words, kept)) else ()
    return replace(request, messages=(*said[:1], *newest, user(FORGOTTEN), *kept))


def _with_short_results(message: Message) -> Message:
    if not any(len(result.text) > LONG_RESULT for result in message.results):
        return message
    parts = tuple(_short(part) if isinstance(part, ToolResult) else part for part in message.parts)
    return replace(message, parts=parts, raw=None)


def _short(result: ToolResult) -> ToolResult:
    if len(result.text) <= LONG_RESULT:
        return result
    return replace(result, parts=(Text(result.text[:LONG_RESULT] + SHORTENED),), raw=None)
