"""One reply of a model: what a program asks, as a request, and the engine that brings the answer."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from headway.agent.tools.tool import Tool, refusing_drafts
from headway.failure import InvalidInput, TurnFailed
from headway.library.reply import Reply, total
from headway.library.running import Running
from headway.library.turn import Turn
from headway.messages import Message, ModelRequest, Text, user
from headway.recovery.decisions import GiveUp
from headway.recovery.ledger import Ledger, Policy, open_ledger
from headway.turn import runner
from headway.wire.table import wire_named

Prompt: TypeAlias = str | Message | ModelRequest | Sequence[Message | Mapping[str, Any]]
"""What a model is asked: words, a message, a conversation (a dict is a message of Chat Completions), or a request."""


class Wishes(Struct, frozen=True, kw_only=True):
    """What a program may say besides the prompt; None leaves it to the model."""

    system: str | None = None
    max_output_tokens: int | None = None
    temperature: float | None = None


def request_of(prompt: Prompt, wishes: Wishes, tools: Sequence[Tool] = ()) -> ModelRequest:
    """Return the request that a prompt means."""
    request = prompt if isinstance(prompt, ModelRequest) else ModelRequest("", tuple(_messages(prompt)))
    if not any(message.parts for message in request.messages):
        raise InvalidInput("the prompt", "it is empty", "Say something.")
    return replace(
        request,
        system=request.system if wishes.system is None else (Text(wishes.system),),
        tools=tuple(tool.spec for tool in tools) or request.tools,
        max_output_tokens=request.max_output_tokens if wishes.max_output_tokens is None else wishes.max_output_tokens,
        temperature=request.temperature if wishes.temperature is None else wishes.temperature,
    )


def policy_for(given: Policy, wishes: Wishes, tools: Sequence[Tool], *, shown_stays: bool) -> Policy:
    """Return what is allowed; a limit on output that a program sets is meant, and ends the answer."""
    return replace(
        given,
        never_drafted=given.never_drafted | refusing_drafts(tools),
        limit_ends_text=given.limit_ends_text or wishes.max_output_tokens is not None,
        shown_stays=given.shown_stays or shown_stays,
    )


def _messages(prompt: Any) -> Iterable[Message]:
    if isinstance(prompt, str):
        prompt = [user(prompt)] if prompt.strip() else []
    for one in prompt if isinstance(prompt, Iterable) and not isinstance(prompt, Mapping) else [prompt]:
        if isinstance(one, Message):
            yield one
        elif isinstance(one, Mapping):
            yield from wire_named("chat").parse_messages([dict(one)]).messages
        else:
            hint = "Give words, a message, or a list of messages."
            raise InvalidInput("the prompt", f"it holds a {type(one).__name__}", hint)


class Asking:
    """The engine of one reply."""

    def __init__(
        self, running: Callable[[], Running], request: ModelRequest, policy: Policy, left: Ledger | None
    ) -> None:
        """Ask for a reply; `left` is what an earlier turn left open."""
        self.ledger = left
        self._running, self._request, self._policy = running, request, policy

    async def run(self, turn: Turn) -> Reply:
        """Bring it about."""
        running = self._running()
        crew = running.crew()
        await turn.hear(crew.changes)
        upstreams = tuple(endpoint.upstream() for endpoint in crew.endpoints)
        ledger = open_ledger(self._policy, upstreams, self.ledger)
        work = runner.Turn(running.http, crew.endpoints, turn.hear, ledger=ledger, lessons=crew.lessons)
        try:
            decision = await work.run(self._request)
        finally:
            self.ledger = work.ledger
        salvage = work.ledger.salvage
        if isinstance(decision, GiveUp):
            raise TurnFailed(decision.failure, work.ledger.tried, salvage.text, decision.why.value)
        usage = total(received.usage for received in work.attempts)
        return Reply(Message("assistant", salvage.parts), work.endpoint.name, len(turn.heard.upstreams), usage)
