"""Which delta belongs to which call, when a call opens, and when it may be closed."""

from typing import Any

import pytest

from headway.events import CallArguments, CallClosed, CallOpened, Event, Unread
from headway.messages import Raw
from headway.wire.openai_chat.shapes import CallDelta, CustomDelta, FunctionDelta
from headway.wire.openai_chat.tool_calls import Calls


def delta(
    index: int | None = None,
    call_id: str | None = None,
    name: str | None = None,
    arguments: str | None = None,
    **more: Any,
) -> CallDelta:
    return CallDelta(index, call_id, FunctionDelta(name, arguments), **more)


def read(*groups: list[CallDelta]) -> list[Event]:
    calls = Calls()
    out: list[Event] = []
    for group in groups:
        calls.read(group, out)
    calls.open_held(out)
    return out


def opened(*groups: list[CallDelta]) -> list[tuple[str, str, str]]:
    """Id, name and joined arguments of each call."""
    events = read(*groups)
    return [
        (event.id, event.name, "".join(e.text for e in events if isinstance(e, CallArguments) and e.call == event.call))
        for event in events
        if isinstance(event, CallOpened)
    ]


def test_an_ordinary_call_opens_at_once() -> None:
    assert read([delta(0, "x", "f", "")]) == [CallOpened(0, "x", "f")]


def test_a_delta_without_arguments_says_nothing() -> None:
    assert read([delta(0, "x", "f", "")], [delta(0, None, None, "")]) == [CallOpened(0, "x", "f")]


def test_a_whole_call_is_closed_when_the_next_one_opens() -> None:
    assert read([delta(0, "x", "f", '{"a":1}')], [delta(1, "y", "g", "")]) == [
        CallOpened(0, "x", "f"),
        CallArguments(0, '{"a":1}'),
        CallClosed(0),
        CallOpened(1, "y", "g"),
    ]


@pytest.mark.parametrize("arguments", ["", '{"a":', "[]", "{} {}"])
def test_a_call_whose_arguments_do_not_prove_it_whole_is_not_closed_by_the_next(arguments: str) -> None:
    events = read([delta(0, "x", "f", arguments)], [delta(1, "y", "g", "")])
    assert not [event for event in events if isinstance(event, CallClosed)]


def test_a_freeform_call_is_not_closed_by_the_next() -> None:
    events = read([CallDelta(0, "x", custom=CustomDelta("f", "{}"))], [delta(1, "y", "g")])
    assert events == [CallOpened(0, "x", "f", freeform=True), CallArguments(0, "{}"), CallOpened(1, "y", "g")]


@pytest.mark.parametrize(
    ("groups", "calls"),
    [
        pytest.param(
            [[delta(0, "x", "f", "{}")], [delta(0, "y", "g", "{}")]],
            [("x", "f", "{}"), ("y", "g", "{}")],
            id="a new id under the same index is a new call",
        ),
        pytest.param(
            [[delta(0, None, "f", "{}")], [delta(0, None, "f", "{}")]],
            [("call_0", "f", "{}"), ("call_1", "f", "{}")],
            id="a name after arguments began is a new call",
        ),
        pytest.param(
            [[delta(0, "x", "f", '{"a"')], [delta(0, "x", "f", ":1}")]],
            [("x", "f", '{"a":1}')],
            id="id and name repeated on every delta are one call",
        ),
        pytest.param(
            [[delta(0, "x", "f", "{}")], [delta(0, "x", "g", "{}")]],
            [("x", "f", "{}"), ("x", "g", "{}")],
            id="one id for calls of two names: two calls",
        ),
        pytest.param(
            [[delta(0, "x", "f")], [delta(0, None, "f")], [delta(0, None, None, "{}")]],
            [("x", "f", "{}")],
            id="a name sent twice before the arguments is not appended",
        ),
        pytest.param(
            [[delta(0, None, "get_")], [delta(0, None, "time")], [delta(0, None, None, "{}")]],
            [("call_0", "get_time", "{}")],
            id="a name in pieces, without an id, is joined",
        ),
        pytest.param(
            [[delta(0, "x")], [delta(0, None, "f")], [delta(0, None, None, "{}")]],
            [("x", "f", "{}")],
            id="the name may come after the id",
        ),
        pytest.param(
            [[delta(0, None, "f")], [delta(0, "x")], [delta(0, None, None, "{}")]],
            [("x", "f", "{}")],
            id="the id may come after the name",
        ),
        pytest.param(
            [[delta(0, "x", None, '{"a"')], [delta(0, None, "f", ":1}")]],
            [("x", "f", '{"a":1}')],
            id="the name may come after the first arguments",
        ),
        pytest.param(
            [[delta(0, None, "f", '{"a"')], [delta(0, "x", None, ":1}")]],
            [("call_0", "f", '{"a":1}')],
            id="an id that comes too late changes nothing",
        ),
        pytest.param([[delta(0, "x", None, "{}")]], [("x", "", "{}")], id="a call that never got a name is seen"),
        pytest.param(
            [[delta(None, "x", "f", "{")], [delta(None, "y", "g", "{")], [delta(None, "x", None, "}")]],
            [("x", "f", "{}"), ("y", "g", "{")],
            id="without an index a delta goes by its id",
        ),
        pytest.param(
            [[delta(None, "x", "f", "{")], [delta(None, None, None, "}")]],
            [("x", "f", "{}")],
            id="without index and id a delta goes to the last call",
        ),
        pytest.param(
            [[delta(None, None, "f", ""), delta(None, None, "g", "")]],
            [("call_0", "f", ""), ("call_1", "g", "")],
            id="without index and id, other positions are other calls",
        ),
        pytest.param(
            [[delta(None, None, "f", "{"), delta(None, None, "g", "[")], [delta(None, None, None, "}"), delta()]],
            [("call_0", "f", "{}"), ("call_1", "g", "[")],
            id="without index and id, positions go on",
        ),
        pytest.param(
            [[delta(None, None, "f")], [delta(None, None, "g")]],
            [("call_0", "f", ""), ("call_1", "g", "")],
            id="without index and id, another name is another call",
        ),
        pytest.param(
            [[delta(0, None, "f"), delta(0, None, "f")]],
            [("call_0", "f", ""), ("call_1", "f", "")],
            id="one index twice in one delta is two calls",
        ),
        pytest.param(
            [[delta(3, "x", "f", "{}")], [delta(1, "y", "g", "{}")]],
            [("x", "f", "{}"), ("y", "g", "{}")],
            id="calls are numbered as they open, whatever their indexes",
        ),
        pytest.param([[delta(0)], [delta()]], [], id="a delta that says nothing opens nothing"),
    ],
)
def test_deltas_become_calls(groups: list[list[CallDelta]], calls: list[tuple[str, str, str]]) -> None:
    assert opened(*groups) == calls


def test_arguments_after_a_closed_call_are_reported_and_left_out() -> None:
    events = read(
        [delta(0, "x", "f", "{}")], [delta(1, "y", "g")], [delta(0, None, None, "\n")], [delta(0, None, None, "x")]
    )
    assert [event for event in events if isinstance(event, Unread)] == events[-1:]
    assert opened([delta(0, "x", "f", "{}")], [delta(1, "y", "g")], [delta(0, None, None, "x")])[0] == ("x", "f", "{}")


def test_extra_content_of_a_call_is_kept() -> None:
    extra = {"google": {"thought_signature": "s"}}
    assert read([delta(0, "x", "f", extra_content=extra)]) == [
        CallOpened(0, "x", "f", raw=Raw("chat", {"extra_content": extra}))
    ]


def test_a_call_is_looked_at_once_when_others_follow() -> None:
    """Looking again and again at growing arguments would take quadratic time."""
    calls = Calls()
    out: list[Event] = []
    calls.read([delta(0, "x", "f", '{"a":')], out)
    calls.settle(out)
    calls.read([delta(0, None, None, "1}")], out)
    calls.settle(out)
    assert CallClosed(0) not in out
    calls.close_all(out)
    assert out[-1] == CallClosed(0)
