"""A session made shorter: the model sums up the older part of its own conversation, and the journal notes it.

One more request, without tools, through the same turn engine and with a share of the time that the turn has left. The
journal only grows: the summary stands for what it was made of from here on. If no summary can be had, nothing changes:
before an overflow the request goes out as it is, after one the caller has to make do with leaving things out.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from headway.agent.compaction import RECORD_SHARE, SUMMARY_SHARE, Parting, part, record_of
from headway.agent.context.room import room_before_overflow
from headway.agent.happenings import AgentSink, NotSummedUp, SummedUp, SummingUp
from headway.agent.tools.bounds import clip
from headway.failure import Failure
from headway.history.exchanges import size_of
from headway.history.measure import request_size
from headway.messages import ModelRequest, user
from headway.recovery import prompts
from headway.recovery.decisions import Finish, GiveUp
from headway.recovery.ledger import Ledger, Policy, open_ledger
from headway.store.records import Compacted
from headway.store.session import Session
from headway.transport.http import HttpClient
from headway.turn.attempt import Item
from headway.turn.crew import Crew
from headway.turn.endpoint import Endpoint
from headway.turn.runner import Turn

CHARACTERS_A_WORD = 8
MOST_OUTPUT_TOKENS = 8_192
MOST_SECONDS = 300.0
TIME_SHARE = 0.5
POLICY = Policy(attempts=2, attempts_per_upstream=2, continuations=2, longest_wait_seconds=10.0)
"""A summary is worth two tries, not the turn."""
GROWTH_SHARE = 0.125
"""How much longer a conversation must be before a summary is tried again that was of no use, as a share of the room."""
LEAST_SHARE = 0.25
"""What the conversation itself is given of the room, however much is taken by instructions and tools."""


class Compactor:
    """Makes the conversation of one session shorter."""

    def __init__(self, client: HttpClient, session: Session, sink: AgentSink) -> None:
        """Work on a session; `sink` is told what happens."""
        self._client, self._session, self._sink = client, session, sink
        self.turn: Turn | None = None
        """The turn that writes a summary, while it does."""
        self._not_before = 0
        """How long a request must be to be tried again; a summary that was of no use is not asked for anew."""
        self._windows: dict[str, int] = {}
        """What upstreams said that they have room for, when they had none: a server may be set up for less."""

    def learn(self, upstream: str, failure: Failure) -> None:
        """Remember the window that an upstream names where it refuses a request as too long."""
        if failure.limit_tokens:
            self._windows[upstream] = failure.limit_tokens

    def _as_learnt(self, endpoint: Endpoint) -> Endpoint:
        named = self._windows.get(endpoint.name)
        return endpoint if named is None else replace(endpoint, context=min(named, endpoint.context or named))

    async def before_overflow(self, crew: Crew, ledger: Ledger, request: ModelRequest, share: float) -> bool:
        """Sum up what is old if a request comes near the window of whoever is asked; say whether that was tried."""
        state = self._session.state
        first = self._as_learnt(crew.endpoints[0])
        room = room_before_overflow(first, state.gauge, share, request.max_output_tokens)
        size = request_size(request) + (len(state.salvage.draft.arguments) if state.salvage.draft is not None else 0)
        if room is None or size <= room:
            self._not_before = 0
            return False
        if size < self._not_before:
            return False
        said = size_of(state.messages)
        for_messages = max(int(room * LEAST_SHARE), room - (size - said))
        parting = part(state.messages, for_messages, state.summary_at)
        if parting is not None:
            await self._sum_up(parting, crew, ledger, for_messages, is_urgent=False)
        after = size - said + size_of(self._session.state.messages)
        self._not_before = after + int(room * GROWTH_SHARE) if after > room else 0
        return parting is not None

    async def compact(self, crew: Crew, ledger: Ledger, room: int) -> bool:
        """Sum up what is old, so that the whole is about half of `room`; say whether that was done.

        Those are asked whom the ledger still has, the one in use first; no more than half of its time is taken.
        """
        state = self._session.state
        parting = part(state.messages, room, state.summary_at)
        if parting is None:
            await self._sink([NotSummedUp("What is old in it is not long enough to be summed up.")])
            return False
        return await self._sum_up(parting, crew, ledger, room, is_urgent=True)

    async def _sum_up(self, parting: Parting, crew: Crew, ledger: Ledger, room: int, *, is_urgent: bool) -> bool:
        """Have a summary written and note it. Where it is not urgent, all goes on as it is if none can be had."""
        state = self._session.state
        await self._sink([SummingUp(len(parting.old), size_of(parting.old))])
        turn, request = self._ask(parting, crew, ledger, room)
        self.turn = turn
        try:
            decision = await turn.run(request)
        finally:
            self.turn = None
        words = turn.ledger.salvage.text.strip()
        if not isinstance(decision, Finish) or not words:
            why = decision.failure.reason if isinstance(decision, GiveUp) else "The model wrote none."
            await self._sink([NotSummedUp(why, left_out=is_urgent)])
            return False
        summary = user(prompts.summed_up(clip(words, int(room * SUMMARY_SHARE))))
        upto = state.places[parting.at - 1]
        later = zip(state.places[parting.at :], state.messages[parting.at :], strict=True)
        behind = tuple(message for place, message in later if place <= upto)
        await self._session.keep(Compacted(summary, upto, parting.words, behind, turn.attempts[-1].usage))
        await self._sink([SummedUp(size_of(state.messages), size_of(self._session.state.messages), words)])
        return True

    def _ask(self, parting: Parting, crew: Crew, ledger: Ledger, room: int) -> tuple[Turn, ModelRequest]:
        shown = int(room * RECORD_SHARE)

        def request() -> ModelRequest:
            most_words = max(50, int(room * SUMMARY_SHARE) // CHARACTERS_A_WORD)
            words = prompts.sum_up(record_of(parting.old, shown), most_words)
            return ModelRequest("", (user(words),), max_output_tokens=MOST_OUTPUT_TOKENS)

        async def show_less(*_: ModelRequest | Ledger | Failure) -> ModelRequest:
            nonlocal shown
            shown //= 2
            return request()

        seconds = min(MOST_SECONDS, max(0.0, ledger.seconds_left) * TIME_SHARE)
        opened = open_ledger(POLICY, ledger.upstreams)
        limited = replace(opened, seconds_left=seconds)
        turn = Turn(self._client, crew.endpoints, _unheard, ledger=limited, lessons=crew.lessons, shorten=show_less)
        return turn, request()


async def _unheard(items: Sequence[Item]) -> None:
    """Let it pass: the summary is no part of the reply."""
