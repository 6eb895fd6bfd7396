"""What is over is freed at once: nothing of a request forms a ring that only the garbage collector can open.

A collection stops every stream, and until there is one, whole histories would lie about.
"""

import asyncio
import gc
import json
from collections import Counter

import pytest
from msgspec.structs import replace

from headway.gateway.connection import Answer
from headway.gateway.exchange import Exchange
from headway.gateway.reading import RequestReader
from headway.gateway.relay import Relay
from headway.messages import ModelRequest
from headway.sim.catalog import read_fault
from headway.sim.script import Final, Pace, Say, Script, WriteFile
from headway.transport.reading import AnswerReader
from headway.transport.response import Response
from headway.turn.runner import Turn
from support.gate import at_gate, body_of
from support.raw_http import raw_client, request_bytes

WIRES = ["chat", "responses", "anthropic"]
TEXT = " ".join(f"word{number}" for number in range(100))
TALK = Script(prompt="Go.", steps=(Final(TEXT),), pace=Pace(characters=20))
WRITE = Script(prompt="Go.", steps=(Say("I write it."), WriteFile("a.txt", TEXT), Final("Done.")))
OF_A_REQUEST = (Exchange, Turn, ModelRequest, Relay, Answer, Response, AnswerReader, RequestReader)
FAULTS = ["rst at=900 first=1", "fin at=start first=1", "overloaded first=1", "stall at=900 first=1"]


def rings() -> Counter[str]:
    """Return what of requests only a collection frees, and free it."""
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        gc.collect()
        kinds = Counter(map(type, gc.garbage))
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.collect()
    return Counter({kind.__name__: kinds[kind] for kind in OF_A_REQUEST if kinds[kind]})


def collected_after(tmp_path, ask):
    found = Counter()

    async def work(gate):
        await ask(gate)  # what is made once is made now
        rings()
        gc.disable()
        try:
            await ask(gate)
            found.update(rings())
        finally:
            gc.enable()

    at_gate(tmp_path, work)
    return found


@pytest.mark.parametrize("upstream", WIRES)
@pytest.mark.parametrize("client", WIRES)
@pytest.mark.parametrize("script", [TALK, WRITE], ids=["words", "a call"])
def test_an_answered_request_leaves_no_ring(tmp_path, client, upstream, script):
    async def ask(gate):
        if not gate.sims:
            await gate.provider(script, upstream)
            await gate.open()
        assert (await gate.ask(client)).status == 200

    assert collected_after(tmp_path, ask) == Counter()


@pytest.mark.parametrize("fault", FAULTS)
def test_a_request_that_was_mended_leaves_no_ring(tmp_path, fault):
    async def ask(gate):
        if not gate.sims:
            await gate.provider(replace(TALK, faults=(read_fault(fault),)), "chat")
            await gate.provider(TALK, "anthropic")
            await gate.open()
        assert (await gate.ask("chat")).received.text == TEXT

    assert collected_after(tmp_path, ask) == Counter()


def test_a_client_that_left_leaves_no_ring(tmp_path):
    async def ask(gate):
        if not gate.sims:
            await gate.provider(replace(TALK, faults=(read_fault("stall at=100"),)), "chat")
            await gate.open()
        async with raw_client(gate.url) as client:
            await client.send(request_bytes(json.dumps(body_of("chat")).encode()))
            await asyncio.sleep(1)
        await asyncio.sleep(1)
        assert gate.traces[-1].outcome == "client_left"

    assert collected_after(tmp_path, ask) == Counter()
