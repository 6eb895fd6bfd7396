"""What a client's stream is made of, without sockets: any reply, cut after any frame, and gone on with or given up.

Whatever happened, its grammar is right, every word is there once, and no call is there that is not whole.
"""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.events import Cut, Event, Stop, StreamCut, StreamEnded, StreamOpened, TextDelta, Usage
from headway.gateway.manners import Calls, Manners
from headway.gateway.relay import Relay
from headway.messages import ToolCall
from headway.received import Received
from headway.recovery.ledger import Salvage
from headway.wire.assembly import assemble
from headway.wire.table import WIRES
from support.grammar import problems
from support.relays import (
    cut_short,
    events_in,
    heard,
    last_call,
    rest_behind,
    steps_of,
    told_again,
    untaped,
    whole_replies,
)
from support.takeovers import decoded

BOTH = [pytest.param(Calls.HOLD, id="hold"), pytest.param(Calls.LIVE, id="live")]
each = pytest.mark.parametrize("client", WIRES)
clients = st.sampled_from(list(WIRES))
modes = pytest.mark.parametrize("calls", BOTH)
ERROR = StreamCut(Cut.ERROR, json.dumps({"error": {"message": "nothing helped", "type": "api_error"}}))
upstreams = st.sampled_from(list(WIRES))
batches = st.integers(1, 4)


class Client:
    """A client's stream: what came, and the relay that writes it."""

    def __init__(self, wire: str, calls: Calls) -> None:
        self.wire = wire
        self.relay = Relay(WIRES[wire], Manners(calls), StreamOpened("own_id", "own-model"))
        self.data = b""

    def hears(
        self,
        upstream: str,
        events: list[Event],
        batch: int,
        cut: int | None = None,
        *,
        salvage: Salvage | None = None,
        **how: bool,
    ) -> Received:
        """Let an attempt begin and come as far as `cut`; return what came. With a salvage, it goes on from that."""
        steps = steps_of(WIRES[upstream], events)[:cut]
        goes_on = salvage is not None and bool(salvage.size)
        self.data += self.relay.begins(upstream, upstream, **how)
        self.data += heard(self.relay, untaped(steps) if goes_on or how else steps, batch)
        return assemble(events_in(steps))

    def gets_the_rest(self, upstream: str, salvage: Salvage, whole: ToolCall, batch: int, *, drafts: bool) -> Salvage:
        """Let another attempt finish a call that was cut, from its draft or from the beginning; return what is kept."""
        if salvage.draft is not None:
            shown = assemble(decoded(WIRES[self.wire], self.data)).fragments
            assert all(salvage.draft.arguments.startswith(one.arguments) for one in shown), "only what is kept is shown"
        if drafts:
            says = [StreamOpened("b"), TextDelta("I go on."), StreamEnded(Stop.END)]
            self.hears(upstream, says, batch, comments=True)
        else:
            self.hears(upstream, told_again(whole), batch, salvage=salvage)
        return Salvage(parts=(*salvage.parts, whole))

    def ends(self, stop: Stop, salvage: Salvage) -> None:
        rest = self.relay.ends(StreamEnded(stop), salvage, Usage(1, 2))
        assert rest is not None
        self.data += rest

    def has(self, salvage: Salvage, stop: Stop) -> None:
        """Judge the whole stream."""
        assert problems(self.wire, self.data) == []
        got = assemble(decoded(WIRES[self.wire], self.data))
        assert got.text == salvage.text
        assert [(one.name, one.arguments or "{}") for one in got.calls] == [
            (one.name, one.arguments) for one in salvage.calls
        ]
        assert len({one.id for one in got.calls}) == len(got.calls)
        assert got.end.stop is stop


@modes
@given(client=clients, reply=whole_replies, upstream=upstreams, batch=batches)
def test_a_reply_that_nothing_happens_to_is_told_whole(client, calls, reply, upstream, batch):
    one = Client(client, calls)
    received = one.hears(upstream, reply, batch)
    salvage = Salvage().completed_by(received)
    one.ends(received.end.stop, salvage)
    one.has(salvage, received.end.stop)


@each
@modes
@given(reply=whole_replies, first=upstreams, second=upstreams, batch=batches, data=st.data())
def test_a_reply_that_is_cut_after_any_frame_is_gone_on_with(client, calls, reply, first, second, batch, data):
    one = Client(client, calls)
    steps = len(steps_of(WIRES[first], reply))
    received = one.hears(first, reply, batch, data.draw(st.integers(0, steps - 1)))
    one.relay.breaks()
    one.data += one.relay.heartbeat() if data.draw(st.booleans()) else b""
    salvage = Salvage().after(received)
    if received.fragments:
        salvage = one.gets_the_rest(second, salvage, last_call(reply, received), batch, drafts=data.draw(st.booleans()))
    elif not received.calls:
        again = one.hears(second, rest_behind(reply, len(salvage.text)), batch, salvage=salvage)
        salvage = salvage.completed_by(again)
    stop = Stop.CALLS if salvage.calls else Stop.END
    one.ends(stop, salvage)
    one.has(salvage, stop)


@each
@modes
@given(
    reply=whole_replies.filter(lambda events: assemble(events).calls),
    first=upstreams,
    second=upstreams,
    batch=batches,
    share=st.floats(0, 0.99),
    drafts=st.booleans(),
)
def test_a_call_that_ran_into_a_limit_is_gone_on_with(client, calls, reply, first, second, batch, share, drafts):
    one = Client(client, calls)
    received = one.hears(first, cut_short(reply, share), batch)
    one.relay.breaks()
    salvage = one.gets_the_rest(second, Salvage().after(received), last_call(reply, received), batch, drafts=drafts)
    one.ends(Stop.CALLS, salvage)
    one.has(salvage, Stop.CALLS)


@modes
@given(client=clients, reply=whole_replies, first=upstreams, batch=batches, data=st.data())
def test_a_reply_that_is_given_up_ends_in_an_error_and_never_as_an_answer(client, calls, reply, first, batch, data):
    one = Client(client, calls)
    steps = len(steps_of(WIRES[first], reply))
    received = one.hears(first, reply, batch, data.draw(st.integers(0, steps)))
    one.relay.breaks()
    one.data += one.relay.fails(ERROR)
    assert problems(client, one.data) == []
    got = assemble(decoded(WIRES[client], one.data))
    assert isinstance(got.end, StreamCut) or got.end.stop is Stop.FAILED
    assert received.text.startswith(got.text)
    whole = [(call.name, call.arguments) for call in received.calls]
    assert [(call.name, call.arguments or "{}") for call in got.calls] == whole[: len(got.calls)]
    if calls is Calls.HOLD:
        assert got.calls == ()


@given(client=clients, reply=whole_replies, upstream=upstreams, batch=batches)
def test_what_was_held_back_of_a_reply_that_is_not_gone_on_with_is_told_from_what_was_kept(
    client, reply, upstream, batch
):
    """A turn may end with other words than the stream said, such as a call that was completed from a draft."""
    one = Client(client, Calls.HOLD)
    received = one.hears(upstream, reply, batch)
    one.relay.breaks()
    other = ToolCall("other", "another_tool", '{"a": 1}')
    before = received.parts[: next((at for at, part in enumerate(received.parts) if isinstance(part, ToolCall)), None)]
    salvage = Salvage(parts=(*before, other))
    one.ends(Stop.CALLS, salvage)
    assert problems(client, one.data) == []
    got = assemble(decoded(WIRES[client], one.data))
    if not received.calls:
        assert got.text == salvage.text
    assert [(call.name, call.arguments) for call in got.calls] == [("another_tool", '{"a": 1}')]


@modes
@given(client=clients, reply=whole_replies, upstream=upstreams, batch=batches, data=st.data())
def test_a_sign_of_life_at_any_moment_changes_nothing(client, calls, reply, upstream, batch, data):
    one = Client(client, calls)
    steps = steps_of(WIRES[upstream], reply)
    at = data.draw(st.integers(0, len(steps)))

    one.data += one.relay.begins(upstream, upstream)
    one.data += heard(one.relay, steps[:at], batch)
    one.data += one.relay.heartbeat() + one.relay.heartbeat()
    one.data += heard(one.relay, steps[at:], batch)
    received = assemble(events_in(steps))
    salvage = Salvage().completed_by(received)
    one.data += one.relay.heartbeat()
    one.ends(received.end.stop, salvage)
    one.has(salvage, received.end.stop)
