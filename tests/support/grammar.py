"""The strict grammar of each wire's stream, as a client may rely on it. Knows nothing of `src`: it judges it.

`problems(wire, data)` reads the bytes of one response and says, in words and with the number of the frame, everything
that is wrong with them; an empty list is a valid stream. A stream that ends in the wire's own error is valid too,
whatever was open: that is how a wire says that it did not finish.
"""

from support.grammars.anthropic import MessagesJudge
from support.grammars.chat import ChatJudge
from support.grammars.frames import Judge, read_frames
from support.grammars.responses import ResponsesJudge

JUDGES: dict[str, type[Judge]] = {"chat": ChatJudge, "anthropic": MessagesJudge, "responses": ResponsesJudge}


def problems(wire: str, data: bytes) -> list[str]:
    """Say everything that is wrong with a stream."""
    judge = JUDGES[wire]()
    for frame in read_frames(data, judge):
        judge.take(frame)
    judge.end()
    return judge.problems
