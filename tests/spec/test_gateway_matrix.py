"""Every fault of the simulator, between every client wire and every upstream wire, with somebody healthy behind it.

Whatever the first provider does, the client gets a complete and valid stream or an honest error; never a hang, never
half a call as a whole one, and never a word twice.
"""

import pytest
from msgspec.structs import replace

from headway.events import Stop, StreamEnded
from headway.sim.catalog import FAULTS, read_fault
from headway.sim.script import Final, Pace, Say, Script, WriteFile
from headway.wire.json_text import strict_object
from support.gate import at_gate
from support.grammar import problems
from support.rows import row

WIRES = ["chat", "responses", "anthropic"]
TEXT = " ".join(f"word{number}" for number in range(120))
PAGE = "".join(f'<p id="p{number}">“Line” {number} é 😀 \\ "quoted"</p>\n' for number in range(60))
TALK = Script(prompt="Go.", steps=(Final(TEXT),), pace=Pace(characters=20))
WRITE = Script(prompt="Go.", steps=(Say("I write it."), WriteFile("page.html", PAGE), Final("Done.")))
ABOUT_ALL = {"context_overflow": "context_overflow characters=5", "output_limit": "output_limit at=50%"}
"""Defaults that would not strike here."""
BELIEVED = {"false_finish", "duplicate_delta", "refusal", "thinking_only"}
"""Lies that nobody can tell from the truth, and a model's own no."""
LIMITED = {"output_limit"}
"""A text ends at a limit, which may be the client's own; a call does not."""


def shape_of(fault: str) -> str:
    return ABOUT_ALL.get(fault, fault)


@row(47)
@pytest.mark.parametrize("client", WIRES)
@pytest.mark.parametrize("upstream", WIRES)
@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_every_fault_is_survived_or_told(tmp_path, client, upstream, fault):
    faults = (read_fault(shape_of(fault)),)
    backup = WIRES[(WIRES.index(upstream) + 1) % 3]

    async def work(gate):
        first = await gate.provider(replace(TALK, faults=faults), upstream)
        second = await gate.provider(TALK, backup)
        await gate.open()
        reply = await gate.ask(client)
        assert reply.status == 200, reply.data
        assert problems(client, reply.data) == []
        assert isinstance(reply.received.end, StreamEnded), reply.received.end
        if fault not in BELIEVED | LIMITED:
            assert reply.received.text == TEXT
        first.use(replace(WRITE, faults=faults))
        second.use(WRITE)
        reply = await gate.ask(client, tools=True)
        assert problems(client, reply.data) == []
        for call in reply.received.calls:
            given = strict_object(call.arguments)
            assert fault in BELIEVED or given == {"path": "page.html", "content": PAGE}, "whole, or not at all"
        if fault not in BELIEVED:
            assert len(reply.received.calls) == 1
            assert reply.received.end.stop is Stop.CALLS

    at_gate(tmp_path, work)
