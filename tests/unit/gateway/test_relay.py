"""Frames that say more than one thing at once, and when they may be forwarded. Random ones are in `tests/property`."""

import json

import pytest

from headway.events import Cut, Stop, StreamCut, StreamEnded, StreamOpened, TextDelta, Usage
from headway.gateway.manners import Calls, Manners
from headway.gateway.relay import Relay
from headway.messages import Text
from headway.recovery.ledger import Salvage
from headway.wire.assembly import assemble
from headway.wire.table import WIRES
from support.grammar import problems
from support.takeovers import decoded

CHAT = WIRES["chat"]
DONE = b"data: [DONE]\n\n"


def chunk(finish=None, **delta) -> bytes:
    choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
    head = {"id": "c1", "object": "chat.completion.chunk", "created": 7, "model": "m", "choices": choices}
    return b"data: " + json.dumps(head, separators=(",", ":")).encode() + b"\n\n"


def call(arguments: str, **more) -> dict:
    return {"tool_calls": [{"index": 0, "function": {"arguments": arguments, **more.pop("function", {})}, **more}]}


def relay(calls: Calls = Calls.HOLD) -> Relay:
    made = Relay(CHAT, Manners(calls), StreamOpened("own", "m"))
    assert made.begins("chat", "p1/m") == b""
    return made


def taped(*frames: bytes) -> list:
    decoder = CHAT.decoder()
    decoder.taped = True
    return decoder.feed(b"".join(frames))


OPENING = chunk(role="assistant", content="")


def test_last_words_that_come_with_the_finish_do_not_finish_a_stream_that_goes_on():
    one = relay()
    data = one.hear(taped(OPENING, chunk(content="Hello "), chunk("content_filter", content="wor")))
    assert assemble(decoded(CHAT, data)).text == "Hello wor", "the words are not held back"
    assert b"content_filter" not in data
    one.breaks()
    data += one.begins("anthropic", "p2/m")
    data += one.hear([StreamOpened("other"), TextDelta("ld.")])
    data += one.ends(StreamEnded(Stop.END), Salvage(parts=(Text("Hello world."),)), Usage(1, 2))
    assert problems("chat", data) == []
    assert assemble(decoded(CHAT, data)).text == "Hello world."


def test_last_words_that_come_with_the_finish_end_well_where_nothing_is_wrong():
    one = relay()
    data = one.hear(taped(OPENING, chunk(content="Hello "), chunk("stop", content="world."), DONE))
    data += one.ends(StreamEnded(Stop.END), Salvage(parts=(Text("Hello world."),)), None)
    assert problems("chat", data) == []
    assert assemble(decoded(CHAT, data)).text == "Hello world."


@pytest.mark.parametrize("calls", list(Calls))
def test_a_call_that_comes_with_its_finish_waits_until_the_turn_has_ended(calls):
    one = relay(calls)
    opened = chunk("tool_calls", **call('{"a":1}', id="call_1", type="function", function={"name": "f"}))
    data = one.hear(taped(OPENING, opened))
    assert b"tool_calls" not in data
    data += one.hear(taped(OPENING, opened, DONE)[-1:])
    data += one.fails(StreamCut(Cut.ERROR, '{"error":{"message":"no"}}'))
    assert problems("chat", data) == []
    assert assemble(decoded(CHAT, data)).calls == ()


@pytest.mark.parametrize(
    "frames", [(OPENING, chunk("stop"), DONE), (chunk("stop", role="assistant", content=""), DONE)]
)
def test_a_sign_of_life_while_an_empty_reply_is_asked_for_again_does_not_end_the_stream(frames):
    one = relay()
    data = one.hear(taped(*frames))
    one.breaks()
    data += one.heartbeat() + one.begins("chat", "p1/m") + one.heartbeat()
    data += one.hear([StreamOpened("c2", "m"), TextDelta("Hello.")])
    data += one.ends(StreamEnded(Stop.END), Salvage(parts=(Text("Hello."),)), None)
    assert problems("chat", data) == []
    assert assemble(decoded(CHAT, data)).text == "Hello."
