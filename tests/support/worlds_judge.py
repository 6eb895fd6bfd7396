"""Holds a world to the promises, after each of its days and at its end. It knows the script, and only looks on.

Where a provider lied in a way that nobody can see through, or the model was made to forget, the words and the files of
that world are not judged any more; everything else is.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import chain

from headway.agent.happenings import Done, SummedUp, ToolBegan
from headway.dialect import DIALECTS
from headway.history.project import project
from headway.messages import ModelRequest, Text, ToolCall, ToolSpec, user
from headway.sim.exchange import Ending
from headway.sim.manners import MANNERS
from headway.sim.model import think_up
from headway.sim.script import Call, Final, Say, WriteFile
from headway.sim.voice import Calling
from headway.wire.json_text import strict_object
from headway.wire.table import WIRES
from support.validators import VALIDATORS
from support.worlds import Upset
from support.worlds_account import Account, forgot, replies, says_everything, struck
from support.worlds_chain import SECRET
from support.worlds_notices import judge_notices
from support.worlds_play import Player

LIES = frozenset({"false_finish", "duplicate_delta", "refusal", "context_overflow"})
TOOLS = tuple(ToolSpec(name, parameters={"type": "object"}) for name in ("write_file", "send_letter", "list_files"))
INTERRUPTED_WITHIN = 0.5
GAVE_UP = "I could not finish"
UNKNOWN = "unknown outcome"
TOO_LIGHT = 24
"""A repeat of fewer characters than this is left where it is: nobody can tell it from words that are meant."""


class Judge:
    """What is known about a world from the outside, day by day."""

    def __init__(self, player: Player) -> None:
        self.player, self.world = player, player.world
        steps = self.world.script.steps
        self.passages = _passages(player)
        self.reached = dict.fromkeys(self.passages, 0)
        self.files = {step.path: step.content for step in steps if isinstance(step, WriteFile)}
        self.calls = [(step.tool, step.arguments) for step in steps if isinstance(step, Call)]
        self.is_fooled = False
        self.process = 1
        self.refused_keys: set[str] = set()
        self.unknown: Counter[str] = Counter()
        """How often the model was told that nobody knows what became of a letter, by whom it was for."""
        self.doubtful: set[str] = set()
        """Files to which a piece was added that nobody knows the outcome of: the model may add it again."""

    def judge_day(self, account: Account) -> None:
        """Judge one day."""
        self.is_fooled = self.is_fooled or bool(LIES & struck(account)) or forgot(account)
        self._learn_unknown(account)
        judge_notices(self.world, account)
        self._every_request_was_valid(account)
        self._no_refused_key_is_used_again(account)
        self._the_day_ended_as_it_should(account)
        self._the_history_is_valid_everywhere()
        self._the_journal_tells_the_same()
        self._what_was_shown_is_stored(account)
        self._no_letter_was_sent_twice()
        if not self.is_fooled:
            self._every_word_came_once(account)
            self._only_whole_calls_ran(account)
            self._files_hold_nothing_twice()

    def is_done(self, account: Account) -> bool:
        """Say whether the last day was a good one, and nothing is left to do."""
        if account.ending is None or not account.day.is_clear:
            return False
        return says_everything(self.world, account) or not any(self._missing())

    def judge_end(self, account: Account) -> None:
        """Judge what came of it all, when the weather had been clear for long enough."""
        if not self.is_fooled and not self._model_gave_up():
            assert self.is_done(account), f"there is still something to do: {account.ending}"
            assert list(self._missing()) == [], "everything was done"

    def _missing(self) -> Iterator[str]:
        """Give what was not written, said or sent."""
        folder, sent = self.player.lab.folder, {letter["to"] for letter in self.player.letters}
        for path, content in self.files.items():
            there = (folder / path).exists()
            if not there or (path not in self.doubtful and self.player.lab.file(path) != content):
                yield path
        yield from (passage for passage, reached in self.reached.items() if reached < len(passage))
        yield from (given["to"] for tool, given in self.calls if tool == "send_letter" and given["to"] not in sent)

    # The rules

    def _every_request_was_valid(self, account: Account) -> None:
        refused = [one.refusal for log in account.exchanges for one in log if one.ending is Ending.REFUSED]
        assert refused == [] or self.is_fooled, f"every request is valid: {refused}"
        assert all(one.ending is not Ending.OPEN for log in account.exchanges for one in log), "no request is left open"
        assert not self.player.lab.client.streams, "no stream is left open"

    def _no_refused_key_is_used_again(self, account: Account) -> None:
        """Whoever has a fleet remembers a key that was turned away, for as long as the process lasts."""
        if account.process != self.process:  # nobody can say which of them sent what
            self.process = account.process
            self.refused_keys.clear()
            return
        for log in account.exchanges if self.world.has_fleet else ():
            for one in log:
                assert one.key not in self.refused_keys, f"a key that was turned away was used again: {one.key}"
                if one.faults == ("bad_key",):
                    self.refused_keys.add(one.key)

    def _the_day_ended_as_it_should(self, account: Account) -> None:
        if account.upset_at is not None:
            if account.day.upset is Upset.INTERRUPT:
                assert account.ended_at - account.upset_at <= INTERRUPTED_WITHIN, "an interrupt is heard at once"
        elif account.day.is_clear:
            assert isinstance(account.ending, Done), f"in clear weather a turn works: {account.ending}"

    def _the_history_is_valid_everywhere(self) -> None:
        history = self.player.session.state.history
        for name, wire in WIRES.items():
            request = ModelRequest("m", (*history, user("go on")), tools=TOOLS, system=(Text("s"),))
            sent = project(request, DIALECTS[name]).request
            assert VALIDATORS[name](wire.render_request(sent)) == [], f"the history is valid for {name}"

    def _the_journal_tells_the_same(self) -> None:
        player = self.player
        assert player.sessions.state(player.session.id) == player.session.state, "the journal tells the same story"
        rows = player.sessions.store.read(player.session.id)
        assert not any(SECRET in row.body for row in rows), "no key is written down"

    def _what_was_shown_is_stored(self, account: Account) -> None:
        """What the user saw is what the model will see, to the letter; a killed process may lose the newest of it."""
        if any(isinstance(item, SummedUp) for _, item in account.heard):
            return
        shown = "".join(replies(account))
        stored = "".join(message.text for message in account.messages if message.role == "assistant")
        if account.upset_at is not None and account.day.upset is Upset.KILL:
            assert shown.startswith(stored), f"shown: {shown!r}, stored: {stored!r}"
        else:
            assert shown == stored, f"shown: {shown!r}, stored: {stored!r}"

    def _no_letter_was_sent_twice(self) -> None:
        for to, times in Counter(letter["to"] for letter in self.player.letters).items():
            assert times <= 1 + self.unknown[to] or self.is_fooled, f"the letter to {to} was sent {times} times"

    def _every_word_came_once(self, account: Account) -> None:
        for reply in replies(account):
            if not reply or reply == self.world.script.afterwards or reply.startswith(GAVE_UP):
                continue
            found = next(filter(None, map(self._passage_of, self._readings(reply))), None)
            assert found is not None, f"no gap, no repeat, nothing else: {reply!r}"
            passage, end = found
            self.reached[passage] = max(self.reached[passage], end)

    def _readings(self, reply: str) -> Iterator[str]:
        """Give what a reply can be: itself, or without its first word, which a model cut so early may say again."""
        yield reply
        if self.world.script.habits.overlap:
            yield from (reply[size:] for size in range(1, TOO_LIGHT) if reply.startswith(reply[:size], size))

    def _passage_of(self, reply: str) -> tuple[str, int] | None:
        """Return the passage that a reply goes on with, or says again, leaving nothing out; and where it ends there."""
        goes_on = (passage for passage in self.passages if passage.startswith(reply, self.reached[passage]))
        says_again = (passage for passage in self.passages if reply in passage[: self.reached[passage] + len(reply)])
        passage = next(chain(goes_on, says_again), None)
        if passage is None:
            return None
        return passage, passage.rfind(reply, 0, self.reached[passage] + len(reply)) + len(reply)

    def _only_whole_calls_ran(self, account: Account) -> None:
        planned: list[tuple[str, object]] | None = None
        for _, item in account.heard:
            if not isinstance(item, ToolBegan):
                continue
            call = item.call
            given = strict_object(call.arguments)
            if call.name != "write_file":
                assert (call.name, given) in self.calls, f"a call that nobody made: {call}"
                continue
            if not self.files[given["path"]].endswith(given["content"]):
                planned = planned if planned is not None else self._planned(account)
                assert (call.name, given) in planned, f"half a call: {call}"

    def _planned(self, account: Account) -> list[tuple[str, object]]:
        """Return the calls that the model made that day, as it meant them."""
        found: list[tuple[str, object]] = []
        for log in account.exchanges:
            for one in log:
                if one.body:
                    request = MANNERS[one.wire].wire.parse_request(one.body)
                    made = think_up(request, self.world.script)
                    found += [(part.tool, part.arguments) for part in made if isinstance(part, Calling)]
        return found

    def _files_hold_nothing_twice(self) -> None:
        for path in self.player.lab.folder.iterdir():
            if path.name not in self.doubtful:
                content = path.read_text(encoding="utf-8")
                assert self.files[path.name].startswith(content), f"{path.name} holds something twice, or a gap"

    # What it keeps in mind

    def _learn_unknown(self, account: Account) -> None:
        results = [result for message in account.messages for result in message.results]
        unknown = {result.call_id for result in results if result.text.startswith(UNKNOWN)}
        for message in self.player.session.state.messages if unknown else ():
            for call in message.calls:
                if call.id in unknown:
                    self._note_unknown(call)

    def _note_unknown(self, call: ToolCall) -> None:
        given = strict_object(call.arguments)
        if call.name == "send_letter":
            self.unknown[given["to"]] += 1
        elif call.name == "write_file" and given.get("append"):
            self.doubtful.add(given["path"])

    def _model_gave_up(self) -> bool:
        return any(GAVE_UP in message.text for message in self.player.session.state.messages)


def _passages(player: Player) -> list[str]:
    """Return what the model says, by replies: words up to a call, or to the end of a turn."""
    passages, words = [], ""
    for step in player.world.script.steps:
        if isinstance(step, Say | Final):
            words += step.text
        if words and isinstance(step, Final | Call | WriteFile):
            passages.append(words)
            words = ""
    return passages
