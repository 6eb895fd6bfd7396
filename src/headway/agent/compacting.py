"""A session made shorter: the model sums up the older part of its own conversation, and the journal notes it.

One more request, without tools, through the same turn engine and with a share of the time that the turn has left. The
journal only grows: the summary stands for what it was made of from here on. If no summary can be had, nothing changes,
and the caller has to make do with leaving things out.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from headway.agent.compaction import RECORD_SHARE, SUMMARY_SHARE, Parting, part, record_of
from headway.agent.happenings import AgentSink, NotSummedUp, SummedUp, SummingUp
from headway.agent.tools.bounds import clip
from headway.failure import Failure
from headway.history.exchanges import size_of
from headway.messages import ModelRequest, user
from headway.recovery import prompts
from headway.recovery.decisions import Finish, GiveUp
from headway.recovery.ledger import Ledger, Policy, open_ledger
from headway.store.records import Compacted
from headway.store.session import Session
from headway.transport.http import HttpClient
from headway.turn.attempt import Item
from headway.turn.crew import Crew
from headway.turn.runner import Turn

CHARACTERS_A_WORD = 8
MOST_OUTPUT_TOKENS = 8_192
MOST_SECONDS = 300.0
TIME_SHARE = 0.5
POLICY = Policy(attempts=2, attempts_per_upstream=2, continuations=2, longest_wait_seconds=10.0)
"""A summary is worth two tries, not the turn."""


class Compactor:
    """Makes the conversation of one session shorter."""

    def __init__(self, client: HttpClient, session: Session, sink: AgentSink) -> None:
        """Work on a session; `sink` is told what happens."""
        self._client, self._session, self._sink = client, session, sink
        self.turn: Turn | None = None
        """The turn that writes a summary, while it does."""

    async def compact(self, crew: Crew, ledger: Ledger, room: int) -> bool:
        """Sum up what is old, so that the whole is about half of `room`; say whether that was done.

        Those are asked whom the ledger still has, the one in use first; no more than half of its time is taken.
        """
        state = self._session.state
        parting = part(state.messages, room, state.summary_at)
        if parting is None:
            await self._sink([NotSummedUp("What is old in it is not long enough to be summed up.")])
            return False
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
            await self._sink([NotSummedUp(why)])
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
