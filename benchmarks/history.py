"""How long it takes to judge and to project a history of 10,000 messages: valid, and with one old broken call."""

import json
from time import perf_counter

from headway.dialect import DIALECTS
from headway.history.invariants import violations
from headway.history.project import project
from headway.messages import CallFragment, Message, ModelRequest, Text, ToolCall, ToolResult

MESSAGES = 10_000
ROUNDS = 5
_TURN = 5


def conversation(count: int) -> tuple[Message, ...]:
    """Return an agent's history: a question, two calls at once, their results, an answer."""
    messages: list[Message] = []
    for turn in range(count // _TURN):
        a, b = f"call_{turn}_a", f"call_{turn}_b"
        path = json.dumps({"path": f"src/module_{turn}.py", "limit": 200})
        messages += [
            Message("user", (Text(f"Step {turn}: look at the module and say what is wrong with it. " * 4),)),
            Message("assistant", (Text("I look."), ToolCall(a, "read_file", path), ToolCall(b, "search", path))),
            Message("user", (ToolResult(a, (Text("def f(x):\n    return x + 1\n" * 20),)),)),
            Message("user", (ToolResult(b, (Text("no matches"),)),)),
            Message("assistant", (Text("Nothing is wrong with it: naïve but right. " * 5),)),
        ]
    return (*messages[:-1], Message("user", (Text("Go on."),)))


def broken(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Return the history with a call near its beginning that was cut."""
    cut = Message("assistant", (CallFragment("call_x", "write_file", '{"path":"a'),))
    return (*messages[:_TURN], cut, *messages[_TURN:])


def best_ms(job) -> float:
    """Return the best of some rounds, in milliseconds."""
    times = []
    for _ in range(ROUNDS):
        start = perf_counter()
        job()
        times.append((perf_counter() - start) * 1000)
    return min(times)


def main() -> dict[str, float]:
    """Measure, print, and return the figures."""
    valid = ModelRequest("model-1", conversation(MESSAGES))
    wedged = ModelRequest("model-1", broken(valid.messages))
    figures: dict[str, float] = {}
    for wire, dialect in DIALECTS.items():
        assert not violations(valid, dialect)
        figures[f"{wire} check ms"] = best_ms(lambda d=dialect: violations(valid, d))
        figures[f"{wire} project valid ms"] = best_ms(lambda d=dialect: project(valid, d))
        figures[f"{wire} project broken ms"] = best_ms(lambda d=dialect: project(wedged, d))
    for name, value in figures.items():
        print(f"{name:30} {value:8.2f}   {value * 1000 / MESSAGES:6.2f} µs/message")
    return figures


if __name__ == "__main__":
    main()
