"""From records to the state of a session. Total and pure: any prefix of a journal is a session that can go on.

What was received stands in the state exactly once: deltas give way to the reply they were of, and are settled as they
are when their turn ends without one. What is broken stays broken here; `history.project` heals what is sent.
"""

from collections.abc import Iterable
from typing import TypeAlias, assert_never

from msgspec.structs import astuple, replace

from headway.events import Usage
from headway.failure import FailureKind
from headway.history.exchanges import is_words
from headway.messages import CallFragment, Message, ToolCall, assistant
from headway.received import Received
from headway.recovery.ledger import Ask, Salvage
from headway.store import records as r
from headway.store.rows import Entry
from headway.store.state import DIED, ENDED, FORKED, SessionState, Totals, unknown_outcome


def fold(entries: Iterable[Entry]) -> SessionState:
    """Return what the records come to."""
    folding = Folding()
    for entry in entries:
        folding.add(entry)
    return folding.state


class Folding:
    """A fold that can go on: add records as they come, and look at the state in between."""

    def __init__(self) -> None:
        """Start with nothing."""
        self._known = SessionState()
        self._last = 0
        self._messages: list[tuple[int, Message]] = []
        self._words: list[str] = []
        self._fragments: dict[int, _Fragment] = {}
        self._running: list[ToolCall] = []
        self._waiting: list[ToolCall] = []
        self._nudges: list[Message] = []

    @property
    def state(self) -> SessionState:
        """Return what the records so far come to."""
        return replace(
            self._known,
            last=self._last,
            messages=tuple(message for _, message in self._messages),
            places=tuple(seq for seq, _ in self._messages),
            partial="".join(self._words),
            unknown=tuple(self._running),
            waiting=tuple(self._waiting),
            nudges=tuple(self._nudges),
            salvage=self._drafted(),
        )

    def add(self, entry: Entry) -> None:
        """Take one more record into account."""
        self._last = entry.seq
        match entry.record:
            case r.Unreadable():
                self._know(unreadable=self._known.unreadable + 1)
            case r.SessionOpened() as opened:
                self._know(id=opened.id, workspace=opened.workspace, title=opened.title, created_at=opened.created_at)
            case r.Forked() as forked:
                self._settle(FORKED)
                self._waiting.clear()
                self._know(id=forked.id, origin=forked.origin, created_at=entry.at)
            case r.Renamed(title=title):
                self._know(title=title)
            case r.Repaired(repairs=repairs):
                self._know(repairs=self._known.repairs.union(repairs))
            case r.Compacted() as compacted:
                self._compact(compacted)
            case r.Imported(messages=messages):
                self._messages += ((entry.seq, message) for message in messages)
                self._know(turn=self._known.turn + sum(map(is_words, messages)))
            case r.UserSaid(message=message):
                self._messages.append((entry.seq, message))
                self._waiting.clear()
                if self._known.open_turn is not None:  # the user's own words come before their turn
                    self._nudges.append(message)
            case _:
                self._add_of_turn(entry.seq, entry.record)

    def _compact(self, record: r.Compacted) -> None:
        """Put a summary in the place of what it stands for."""
        later = ((seq, message) for seq, message in self._messages if seq > record.upto)
        stays = (*record.before, record.summary, *record.behind)
        self._messages = [*((record.upto, message) for message in stays), *later]
        totals = self._known.totals
        self._know(summary_at=len(record.before), totals=replace(totals, usage=_sum(totals.usage, record.usage)))

    def _add_of_turn(self, seq: int, record: "_OfTurn") -> None:
        match record:
            case r.TurnBegan(turn=turn):
                self._settle(DIED)
                self._waiting.clear()
                self._know(open_turn=record, turn=max(turn, self._known.turn))
            case r.TurnEnded(how=how):
                self._settle(DIED if how is r.How.DIED else ENDED)
                if how is r.How.CANCELLED:
                    self._waiting.clear()
                self._know(ended=record)
            case r.LedgerClosed() as closed:
                self._fragments.clear()
                self._know(salvage=Salvage((), closed.draft, closed.survived, closed.cut))
                self._know(ask=closed.ask, broke=closed.broke)
            case r.ToolIntended() | r.ToolFinished() | r.ToolUnknown():
                self._add_of_call(seq, record)
            case _:
                self._add_received(seq, record)

    def _add_received(self, seq: int, record: "_OfReply") -> None:
        match record:
            case r.TextReceived(text=text):
                self._words.append(text)
            case r.TextWithdrawn():
                self._words.clear()
                self._fragments.clear()
                self._know(salvage=replace(self._known.salvage, draft=None))
            case r.ArgumentsReceived():
                fragment = self._fragments.get(record.call)
                if fragment is None or fragment.id != record.id:
                    fragment = self._fragments[record.call] = _Fragment(record)
                fragment.pieces.append(record.text)
            case r.AttemptBroken():
                self._know(totals=_with_broken(self._known.totals, record))
                if not record.goes_on:
                    withdrawn = record.failure.kind is FailureKind.REFUSED
                    self._know(salvage=replace(self._drafted(), draft=None) if withdrawn else self._drafted())
                    self._fragments.clear()
            case r.DraftKept(draft=draft):
                self._fragments.clear()
                self._know(salvage=replace(self._known.salvage, draft=draft), ask=Ask.PLAIN)
            case r.ReplyReceived(message=message, model=model, usage=usage, asked=asked):
                self._words.clear()
                self._fragments.clear()
                self._messages.append((seq, message))
                self._waiting = list(message.calls)
                totals = self._known.totals
                self._know(
                    salvage=replace(self._known.salvage, draft=None),
                    ask=Ask.PLAIN,
                    totals=replace(totals, replies=totals.replies + 1, usage=_sum(totals.usage, usage)),
                    gauge=self._known.gauge.after(model, asked, usage.input_tokens if usage is not None else 0),
                )
            case _:
                assert_never(record)

    def _add_of_call(self, seq: int, record: "_OfCall") -> None:
        match record:
            case r.ToolIntended(call=call):
                _take(self._waiting, call.id)
                self._running.append(call)
            case r.ToolFinished(result=result):
                if not _take(self._running, result.call_id):
                    _take(self._waiting, result.call_id)
                self._messages.append((seq, Message("user", (result,))))
            case r.ToolUnknown(call_id=call_id):
                if _take(self._running, call_id):
                    self._messages.append((seq, unknown_outcome(call_id, DIED)))
            case _:
                assert_never(record)

    def _settle(self, why: str) -> None:
        """End what is open of a turn, with all that was received of it."""
        seq = self._last
        self._messages += ((seq, unknown_outcome(call.id, why)) for call in self._running)
        if words := "".join(self._words):
            self._messages.append((seq, assistant(words)))
        self._know(salvage=self._drafted(), open_turn=None)
        self._running.clear()
        self._words.clear()
        self._fragments.clear()

    def _drafted(self) -> Salvage:
        """Return the salvage with the calls that were being received, as if their stream had been cut here."""
        fragments = tuple(fragment.cut() for fragment in self._fragments.values())
        if not fragments:
            return self._known.salvage
        return replace(self._known.salvage.after(Received(fragments)), parts=())

    def _know(self, **facts: object) -> None:
        self._known = replace(self._known, **facts)


_OfReply: TypeAlias = (
    r.TextReceived | r.TextWithdrawn | r.ArgumentsReceived | r.AttemptBroken | r.DraftKept | r.ReplyReceived
)
_OfCall: TypeAlias = r.ToolIntended | r.ToolFinished | r.ToolUnknown
_OfTurn: TypeAlias = _OfReply | _OfCall | r.TurnBegan | r.TurnEnded | r.LedgerClosed


class _Fragment:
    """A call on its way."""

    def __init__(self, first: r.ArgumentsReceived) -> None:
        self.id, self.name, self.freeform = first.id, first.name, first.freeform
        self.pieces: list[str] = []

    def cut(self) -> CallFragment:
        return CallFragment(self.id, self.name, "".join(self.pieces), self.freeform)


def _take(calls: list[ToolCall], call_id: str) -> bool:
    """Take out the latest call of an id; say whether there was one."""
    for index in reversed(range(len(calls))):
        if calls[index].id == call_id:
            del calls[index]
            return True
    return False


def _with_broken(totals: Totals, broken: r.AttemptBroken) -> Totals:
    return replace(
        totals,
        broken=totals.broken + 1,
        broken_usage=_sum(totals.broken_usage, broken.usage),
        salvaged=totals.salvaged + broken.kept,
        wasted=totals.wasted + max(0, broken.received - broken.kept),
    )


def _sum(one: Usage, other: Usage | None) -> Usage:
    return one if other is None else Usage(*map(sum, zip(astuple(one), astuple(other), strict=True)))
