"""A gateway in front of simulated providers, with real settings and real sockets, in one process and virtual time."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headway.cli.serve import limits_of, setup_of
from headway.gateway.server import Server
from headway.gateway.service import Service
from headway.received import Received
from headway.settings import load
from headway.settings.places import Surroundings
from headway.sim.script import Script
from headway.sim.server import SimServer
from headway.transport.clock import run_virtual
from headway.transport.http import HttpClient
from headway.transport.limits import Limits
from headway.transport.message import HttpRequest
from headway.wire.assembly import assemble
from headway.wire.table import WIRES

if TYPE_CHECKING:
    from headway.gateway.trace import Trace

LIMITS = """
[limits]
silence_seconds = 20
first_content_seconds = 30
dead_seconds = 15
first_byte_seconds = 20
drip_chars_per_second = 0.5
drip_window_seconds = 60
"""
UPSTREAM_KEY = "sk-the-upstreams-own-key-0123456789"
PATIENT = Limits(
    first_byte_seconds=4000, dead_seconds=4000, first_content_seconds=4000, silence_seconds=4000, turn_seconds=100_000
)
TOOL = {
    "name": "write_file",
    "description": "Write a file.",
    "parameters": {
        "type": "object",
        "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
        "required": ["path", "content"],
    },
}


class Reply:
    """What a client got."""

    def __init__(self, wire: str, status: int, headers: dict[str, str], data: bytes, times: list[float]) -> None:
        self.wire, self.status, self.headers, self.data, self.times = wire, status, headers, data, times

    @property
    def events(self) -> list[Any]:
        decoder = WIRES[self.wire].decoder()
        return [*decoder.feed(self.data), *decoder.close()]

    @property
    def received(self) -> Received:
        return assemble(self.events)

    def json(self) -> Any:
        return json.loads(self.data)


class Gate:
    """The gateway under test; see `at_gate`."""

    def __init__(self, stack: AsyncExitStack, folder: Path, limits: str = LIMITS) -> None:
        self._stack, self._folder, self._limits = stack, folder, limits
        self.sims: list[SimServer] = []
        self.traces: list[Trace] = []
        self.client = HttpClient()
        self.upstream = HttpClient()
        self._wires: list[str] = []
        self.url = ""

    async def provider(self, script: Script, wire: str, *, seed: int = 0) -> SimServer:
        sim = await self._stack.enter_async_context(SimServer(script, seed=seed))
        self.sims.append(sim)
        self._wires.append(wire)
        return sim

    async def open(
        self, extra: str = "", route: str = "", chain: Sequence[str] = (), *, client_key: bool = False
    ) -> None:
        """Start the gateway on the providers so far; `route` is more of its default route."""
        tables = ""
        for number, (sim, wire) in enumerate(zip(self.sims, self._wires, strict=True), 1):
            tables += f'[providers.p{number}]\nwire = "{wire}"\nbase_url = "{sim.url}"\nkeys = ["env:KEY"]\n'
            tables += "client_key = true\n" if client_key else ""
        names = list(chain) or [f"p{number}/model-{number}" for number in range(1, len(self.sims) + 1)]
        text = f"{tables}[routes.default]\nchain = {json.dumps(names)}\n{route}\n{self._limits}\n{extra}"
        file = self._folder / "gate.toml"
        file.write_text(text, encoding="utf-8")
        around = Surroundings({"KEY": UPSTREAM_KEY, "GATE_KEY": "open"}, self._folder, self._folder)
        self.loaded = load(file, around=around)
        self.service = Service(self.upstream, setup_of(self.loaded), self.traces.append)
        self.server = Server(self.service, limits_of(self.loaded))
        host, port = await self.server.start("127.0.0.1", 0)
        self.url = f"http://{host}:{port}"

    async def close(self) -> None:
        """Drop everything, whatever has happened."""
        self.client.close()
        self.upstream.close()
        if self.url:
            await self.server.drain(0)

    async def send(
        self, path: str, body: Any, *, headers: dict[str, str] | None = None, method: str = "POST", wire: str = "chat"
    ) -> Reply:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        request = HttpRequest(method, self.url + path, tuple((headers or {}).items()), data)
        now, times, got = asyncio.get_running_loop().time, [], b""
        async with self.client.stream(request, PATIENT) as response:
            async for piece in response:
                got += piece
                times.append(now())
            return Reply(wire, response.status, response.headers.as_dict(), got, times)

    async def ask(self, wire: str, *, headers: dict[str, str] | None = None, **asked: Any) -> Reply:
        """Ask something, in a wire's own words."""
        return await self.send(f"/v1{WIRES[wire].path}", body_of(wire, **asked), headers=headers, wire=wire)


def body_of(wire: str, *, stream: bool = True, tools: bool = False, prompt: str = "Go.", **more: Any) -> dict[str, Any]:
    body: dict[str, Any] = {"model": "any", "stream": stream, **more}
    match wire:
        case "chat":
            body |= {"messages": [{"role": "user", "content": prompt}]}
            body |= {"tools": [{"type": "function", "function": TOOL}]} if tools else {}
            body |= {"stream_options": {"include_usage": True}} if stream and "stream_options" not in more else {}
        case "responses":
            body |= {"input": [{"role": "user", "content": prompt}]}
            body |= {"tools": [{"type": "function", **TOOL}]} if tools else {}
        case _:
            own = {"name": TOOL["name"], "description": TOOL["description"], "input_schema": TOOL["parameters"]}
            body |= {"messages": [{"role": "user", "content": prompt}], "max_tokens": 30_000}
            body |= {"tools": [own]} if tools else {}
    return body | more


def at_gate(folder: Path, work: Callable[[Gate], Awaitable[None]]) -> None:
    """Run a scenario in virtual time, and see that nothing of it is left behind."""

    async def run() -> None:
        async with AsyncExitStack() as stack:
            gate = Gate(stack, folder)
            stack.push_async_callback(gate.close)
            await work(gate)
            gate.client.close()
            assert await gate.server.drain(5) == 0, "a request was left unanswered"
            assert not gate.upstream.streams, "an upstream was left open"
            gate.upstream.close()
            for _ in range(100):
                if not any(sim.open_connections for sim in gate.sims) and not gate.server.connections:
                    break
                await asyncio.sleep(0.01)
            assert [sim.open_connections for sim in gate.sims] == [0] * len(gate.sims), "a socket was left open"
            assert not gate.server.connections, "a client's connection was left open"
            assert asyncio.all_tasks() == {asyncio.current_task()}, "a task was left running"

    run_virtual(run())
