"""A client that leaves, at whatever moment: its upstream is closed, nothing is asked again, and nothing is left."""

import asyncio
import json

import pytest
from msgspec.structs import replace

from headway.sim.catalog import read_fault
from headway.sim.exchange import Ending
from headway.sim.script import Final, Pace, Say, Script, WriteFile
from headway.wire.table import WIRES
from support.gate import at_gate, body_of
from support.raw_http import raw_client, request_bytes
from support.rows import row

TEXT = " ".join(f"word{number}" for number in range(300))
TALK = Script(prompt="Go.", steps=(Final(TEXT),), pace=Pace(characters=20, seconds=0.1))
WRITE = Script(
    prompt="Go.", steps=(Say("I write it."), WriteFile("a.txt", TEXT)), pace=Pace(characters=20, seconds=0.1)
)
MOMENTS = {
    "before the upstream answers": (TALK, "no_headers", 5),
    "while a text streams": (TALK, "", 5),
    "while a call is held": (WRITE, "", 5),
    "while a stream is silent": (TALK, "stall at=500", 8),
    "while only pings come": (TALK, "pings_only at=500", 8),
    "after a break, while another attempt streams": (TALK, "rst at=200 first=1", 6),
}
WAIT = (TALK, "rate_limit seconds=60", 5)
"""While nobody is asked, because the provider wants a wait."""


@row(48)
@pytest.mark.parametrize("how", ["close", "reset", "half"])
@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
@pytest.mark.parametrize("moment", [*MOMENTS, "while a wait is kept"])
def test_who_leaves_takes_the_upstream_along_at_once(tmp_path, moment, stream, how):
    script, fault, seconds = MOMENTS.get(moment, WAIT)
    faults = (read_fault(fault),) if fault else ()

    async def work(gate):
        sim = await gate.provider(replace(script, faults=faults), "chat")
        await gate.open()
        body = json.dumps(body_of("chat", tools=True, stream=stream)).encode()
        now = asyncio.get_running_loop().time
        async with raw_client(gate.url) as client:
            await client.send(request_bytes(body))
            await asyncio.sleep(seconds)
            assert gate.service.metrics.open == 1
            left_at = now()
            match how:
                case "reset":
                    client.tear()
                case "half":
                    client.say_no_more()
                case _:
                    await client.close()
            await asyncio.sleep(0.2)
            assert gate.service.metrics.open == 0
        await sim.quiet()
        asked = len(sim.log)
        assert sim.log[-1].ending is (Ending.CLIENT_LEFT if moment in MOMENTS else Ending.ANSWERED)
        assert sim.log[-1].ended_at - left_at <= 0.2
        await asyncio.sleep(300)
        assert len(sim.log) == asked, "nobody is asked for somebody who is gone"
        assert [trace.outcome for trace in gate.traces] == ["client_left"]

    at_gate(tmp_path, work)


@row(48)
@pytest.mark.parametrize("wire", WIRES)
def test_many_that_leave_at_once_leave_nothing(tmp_path, wire):
    async def work(gate):
        sim = await gate.provider(TALK, wire)
        await gate.open()
        asking = [asyncio.ensure_future(gate.ask(wire)) for _ in range(30)]
        await asyncio.sleep(3)
        for one in asking:
            one.cancel()
        await asyncio.gather(*asking, return_exceptions=True)
        await asyncio.sleep(0.2)
        assert gate.service.metrics.open == 0
        assert gate.service.setup.doors.open == 0
        assert {one.ending for one in sim.log} == {Ending.CLIENT_LEFT}
        assert (await gate.ask(wire)).received.text == TEXT

    at_gate(tmp_path, work)
