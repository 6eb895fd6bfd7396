"""A strategy for the journals of whole sessions, with deaths in them."""

from hypothesis import strategies as st

from headway.messages import CallFragment, Message, Text, ToolCall, ToolResult, user
from headway.recovery.drafts import draft_of
from headway.store import records as r
from support.journals import CUT, OPENED, USAGE


class _Writer:
    """Writes a session as an agent does. Everything it writes down has a mark of its own, so that it can be counted."""

    def __init__(self, draw) -> None:
        self.draw = draw
        self.records: list[r.Record] = [OPENED]
        self.marks = 0

    def mark(self, kind: str) -> str:
        self.marks += 1
        return f"<{kind}{self.marks}>"

    def chance(self) -> bool:
        return self.draw(st.booleans())

    def turn(self, number: int) -> None:
        self.records += [r.UserSaid(user(self.mark("user"))), r.TurnBegan(number)]
        for _ in range(self.draw(st.integers(0, 3))):
            if not self.reply(number):
                break
        ends = [None, r.TurnEnded(number, r.How.ANSWERED), r.TurnEnded(number, r.How.CANCELLED)]
        end = self.draw(st.sampled_from([*ends, r.TurnEnded(number, r.How.DIED)]))
        self.records += [end] if end else []

    def reply(self, turn: int) -> bool:
        """Stream a reply, and run its calls; say whether it came to its end."""
        words = [self.mark("text") for _ in range(self.draw(st.integers(0, 3)))]
        self.records += [r.TextReceived(turn, piece) for piece in words]
        if self.chance():
            self.broken_call(turn)
        if self.chance():
            return False
        ids = self.draw(st.lists(st.sampled_from(["call_0", "call_1", "call_2"]), unique=True, max_size=3))
        calls = tuple(ToolCall(call_id, "run", f'{{"mark":"{self.mark("call")}"}}') for call_id in ids)
        if not (words or calls):
            return False
        said = (Text("".join(words)),) if words else ()
        self.records.append(r.ReplyReceived(turn, Message("assistant", (*said, *calls)), usage=USAGE))
        return [self.run(turn, call) for call in calls].count(False) == 0

    def run(self, turn: int, call: ToolCall) -> bool:
        intended, finished = self.draw(st.sampled_from([(True, True), (True, True), (True, False), (False, False)]))
        if intended:
            self.records.append(r.ToolIntended(turn, call))
        if finished:
            self.records.append(r.ToolFinished(turn, ToolResult(call.id, (Text(self.mark("result")),))))
        return finished

    def broken_call(self, turn: int) -> None:
        arguments = '{"path":"a","text":"' + self.mark("draft") * 60
        half = len(arguments) // 2
        name = self.draw(st.sampled_from(["write_file", "shell"]))
        self.records += [
            r.ArgumentsReceived(turn, 0, "call_9", name, arguments[:half]),
            r.ArgumentsReceived(turn, 0, "call_9", name, arguments[half:]),
        ]
        if self.chance():
            self.records.append(r.AttemptBroken(turn, "main", CUT, len(arguments), len(arguments)))
            self.records.append(r.DraftKept(turn, draft_of(CallFragment("call_9", name, arguments))))


@st.composite
def sessions(draw) -> tuple[r.Record, ...]:
    """Return the records of a session that was never written to by two, and that died where it liked."""
    writer = _Writer(draw)
    for number in range(1, draw(st.integers(1, 4)) + 1):
        writer.turn(number)
    return tuple(writer.records)
