"""Judges the status notices of a day: they tell one consistent story, and the story stays within its budget."""

from typing import Any

from headway.agent.happenings import LoopNoticed, SummingUp, ToolBegan, ToolEnded
from headway.events import Event
from headway.failure import FailureKind
from headway.recovery.ledger import Strategy
from headway.sim.exchange import Ending
from headway.turn import notices
from support.worlds import World
from support.worlds_account import Account

MARGIN_SECONDS = 1.0
EXACT = 1e-6


def judge_notices(world: World, account: Account) -> None:
    """Judge what the user was told."""
    story = _Story(world)
    for at, item in account.heard:
        story.tell(at, item)
    if account.upset_at is None:
        assert story.phase == "idle", f"the story ends in the middle: {story.phase}"
        assert not story.running, "every call that began has ended"
    asked = sum(isinstance(item, notices.Asking) for _, item in account.heard)
    log = [one for exchanges in account.exchanges for one in exchanges]
    # What is cut without a word, on a connection that was used before, is sent again: it looks like a dead one.
    resent = sum(one.ending is Ending.CUT and one.status == 0 for one in log)
    if not any(isinstance(item, SummingUp) for _, item in account.heard):  # which asks for a summary besides
        assert len(log) <= asked + resent, f"{asked} requests were told, {len(log)} came"


class _Story:
    """One reply after another, each by one grammar: asked, broke, decided, asked again, …, answered or given up."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.phase = "idle"
        self.running: list[str] = []
        self._upstream = ""
        self._asked = 0
        self._began_at = self._not_before = 0.0
        self._kept = 0
        self._told_to_wait = 0.0
        self._in_vain = self._in_vain_here = 0
        self._anew = False
        """Was the model asked for other calls than the one that broke?"""
        self._took_up = False
        """Is the generation that broke taken up again on the server? What it had counts as gained again."""

    def tell(self, at: float, item: Any) -> None:
        match item:
            case notices.Asking():
                self._asking(at, item)
            case notices.Broke():
                self._broke(at, item)
            case notices.Withdrawn() | notices.DraftHeld():
                self._expect("broke")
            case notices.TryingAgain() | notices.FailedOver() | notices.Answered() | notices.GaveUp():
                self._decided(at, item)
            case notices.Healed():
                self._expect("idle", "again")
            case ToolBegan() | ToolEnded() | LoopNoticed():
                self._expect("idle")
                self._of_calls(item)
            case _ if isinstance(item, Event):
                self._expect("asking")
            case _:
                pass  # what is told about keys and health may come at any time

    def _decided(self, at: float, item: Any) -> None:
        self._expect("broke", *(("asking",) if isinstance(item, notices.Answered) else ()))
        assert isinstance(item, notices.GaveUp) or item.upstream == self._upstream, "told of whom was asked"
        match item:
            case notices.TryingAgain(strategy=strategy, wait_seconds=wait):
                told = min(self._told_to_wait, self._world.policy.longest_wait_seconds)
                assert wait >= told or strategy is Strategy.ROTATE_KEY, "waits as long as it is told"
                self.phase, self._not_before = "again", at + wait
                self._took_up = strategy is Strategy.REATTACH
                self._anew = strategy is Strategy.SMALLER_PIECES
            case notices.FailedOver(to=to):
                self.phase, self._not_before = "again", at
                self._upstream, self._in_vain_here = to, 0
            case _:
                self._in_time(at)
                self.phase = "idle"

    def _of_calls(self, item: ToolBegan | ToolEnded | LoopNoticed) -> None:
        if isinstance(item, ToolBegan):
            self.running.append(item.call.id)
        elif isinstance(item, ToolEnded) and item.call.id in self.running:
            self.running.remove(item.call.id)

    def _expect(self, *phases: str) -> None:
        assert self.phase in phases, f"told out of order, in {self.phase!r}"

    def _asking(self, at: float, asking: notices.Asking) -> None:
        self._expect("idle", "again")
        if self.phase == "idle":
            self._upstream, self._asked, self._kept, self._began_at = asking.upstream, 0, 0, at
            self._in_vain = self._in_vain_here = 0
            self._not_before, self._took_up, self._anew = at, False, False
        self._asked += 1
        assert asking.upstream == self._upstream, "who is asked is who was named"
        assert asking.number == self._asked, "attempts are counted"
        assert at >= self._not_before - EXACT, "the wait that was told is kept"
        self.phase = "asking"

    def _broke(self, at: float, broke: notices.Broke) -> None:
        self._expect("asking")
        assert broke.upstream == self._upstream
        self._in_time(at)
        if broke.received <= self._kept and not self._took_up:
            self._in_vain += 1
            self._in_vain_here += 1
        anew = broke.failure.kind is FailureKind.REFUSED or self._anew
        assert broke.received >= self._kept or anew or self._took_up, "what is kept only grows"
        self._kept = broke.received
        self._told_to_wait = broke.failure.wait_seconds or 0.0
        policy, keys = self._world.policy, sum(upstream.keys for upstream in self._world.chain)
        assert self._in_vain_here <= policy.attempts_per_upstream + keys - 1, "an upstream is not asked for ever"
        assert self._in_vain <= policy.attempts + keys, "attempts are bounded"
        assert self._asked <= policy.attempts + policy.continuations + keys, "requests are bounded"
        self.phase = "broke"

    def _in_time(self, at: float) -> None:
        took = at - self._began_at
        assert took <= self._world.policy.turn_seconds + MARGIN_SECONDS, f"a reply took {took:.0f} s"
