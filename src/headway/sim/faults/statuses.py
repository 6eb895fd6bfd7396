"""Answers that are no reply at all: error statuses in each wire's own words, pages, and bodies of the wrong kind."""

from typing import ClassVar

from headway.sim.answers import status_named
from headway.sim.fault import Fault
from headway.sim.manners import Trouble, refused_key
from headway.sim.play import Head, Pause, Play, answer, head_of
from headway.sim.scene import Scene

PAGE = (
    "<!DOCTYPE html>\n<html><head><title>{title}</title></head><body><h1>{title}</h1>Visitor {number}</body></html>\n"
)


class _Answer(Fault, frozen=True, kw_only=True):
    """There is no reply, but an answer of another kind."""

    answers: ClassVar[bool] = True


class WrongStatus(_Answer, frozen=True, kw_only=True):
    """Answer with `status` and `message`, or as `like` says (see the answers); `retry_after` adds the header."""

    status: int = 500
    message: str = "The server had an error while processing your request."
    like: str = ""
    retry_after: float | None = None

    def __post_init__(self) -> None:
        """Refuse an answer that nobody knows."""
        super().__post_init__()
        if self.like:
            status_named(self.like)

    def strike(self, scene: Scene) -> Play | None:
        """Answer so instead of replying."""
        wait = () if self.retry_after is None else (("retry-after", f"{self.retry_after:g}"),)
        if not self.like:
            return _turn_away(Trouble(self.status, self.message, headers=wait), scene)
        said = status_named(self.like)
        if scene.wire not in said.wires:
            return None
        kept = tuple(pair for pair in said.headers.items() if not wait or pair[0] != "retry-after")
        return answer(said.status, said.written(model=scene.request.model), (*kept, *wait))


class RateLimit(_Answer, frozen=True, kw_only=True):
    """Answer 429 with `Retry-After`; the words name the wait too. With `first = 1`, all is well after it."""

    seconds: float = 2.0

    def strike(self, scene: Scene) -> Play | None:
        """Turn the request away for a while."""
        message = f"Rate limit reached for {scene.request.model}. Please try again in {self.seconds:g}s."
        header = (("retry-after", f"{self.seconds:g}"),)
        return _turn_away(Trouble(429, message, "rate_limit_exceeded", headers=header), scene)


class Overloaded(_Answer, frozen=True, kw_only=True):
    """Say that all capacity is in use: 529 or 503, as the wire has it."""

    def strike(self, scene: Scene) -> Play | None:
        """Turn the request away."""
        status, message = (529, "Overloaded") if scene.wire == "anthropic" else (503, "The engine is overloaded.")
        return _turn_away(Trouble(status, message, "server_is_overloaded"), scene)


class BadKey(_Answer, frozen=True, kw_only=True):
    """Refuse the key with a 401, or with another `status` such as 403."""

    status: int = 401

    def strike(self, scene: Scene) -> Play | None:
        """Turn the key away."""
        return _turn_away(refused_key(scene.key, scene.wire, self.status), scene)


class ContextOverflow(_Answer, frozen=True, kw_only=True):
    """Refuse requests with more than `characters` of input as too long for the window."""

    characters: int = 200_000

    def strike(self, scene: Scene) -> Play | None:
        """Measure the input."""
        size, limit = len(scene.input) // 4, self.characters // 4
        if len(scene.input) <= self.characters:
            return None
        if scene.wire == "anthropic":
            return _turn_away(Trouble(400, f"prompt is too long: {size} tokens > {limit} maximum"), scene)
        message = (
            f"This model's maximum context length is {limit} tokens. However, your messages resulted in {size} tokens. "
            "Please reduce the length of the messages."
        )
        return _turn_away(Trouble(400, message, "context_length_exceeded", "messages"), scene)


class HistoryRefused(_Answer, frozen=True, kw_only=True):
    """Refuse a history that is in order, with the words for a call without a result, or with `message`."""

    message: str = ""

    def strike(self, scene: Scene) -> Play | None:
        """Turn the history away."""
        return _turn_away(Trouble(400, self.message or _UNANSWERED[scene.wire], param=_PARAMS[scene.wire]), scene)


class GatewayTimeout(_Answer, frozen=True, kw_only=True):
    """Let the edge give up after `seconds`: a 524 in one line of plain text."""

    seconds: float = 0

    def strike(self, scene: Scene) -> Play | None:
        """Wait, then answer for the edge."""
        said = status_named("cloudflare_524")
        return [Pause(self.seconds), *answer(said.status, said.written(model=scene.request.model))]


class HtmlInstead(_Answer, frozen=True, kw_only=True):
    """Answer 200 with a page of that `title`, as a captive portal does."""

    title: str = "Welcome to this network"

    def strike(self, scene: Scene) -> Play | None:
        """Send the page."""
        return answer(200, PAGE.format(title=self.title, number=scene.number))


class JsonInstead(Fault, frozen=True, kw_only=True):
    """Answer a streaming request with the whole reply as one JSON body."""

    needs_stream: ClassVar[bool] = True

    def strike(self, scene: Scene) -> Play | None:
        """Give it the head of a reply that does not stream."""
        return [head_of(streams=False) if isinstance(beat, Head) else beat for beat in scene.play]


def _turn_away(trouble: Trouble, scene: Scene) -> Play:
    return answer(trouble.status, scene.manners.refuse(trouble), trouble.headers)


_UNANSWERED = {
    "chat": "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
    "'tool_call_id'. The following tool_call_ids did not have response messages: call_1",
    "responses": "No tool output found for function call call_1.",
    "anthropic": "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. Each "
    "`tool_use` block must have a corresponding `tool_result` block in the next message.",
}
_PARAMS = {"chat": "messages", "responses": "input", "anthropic": None}
