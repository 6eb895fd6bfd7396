"""A small raw client for tests of the simulator: it keeps every byte, and how the connection ended."""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

from headway.events import Event
from headway.received import Received
from headway.wire.assembly import assemble
from headway.wire.table import WIRES

PATHS = {"chat": "/v1/chat/completions", "responses": "/v1/responses", "anthropic": "/v1/messages"}
WIRE_NAMES = tuple(PATHS)
PATIENCE = 30.0  # virtual seconds without a byte after which this client leaves

TOOLS = ("write_file", "list_files", "read_file", "shell", "continue_draft")


@dataclass
class Answer:
    """What came back, as bytes and as how they ended."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    ended: str = ""
    """`complete`, `fin` (closed early), `rst`, or `silence` (we left)."""
    arrived: list[float] = field(default_factory=list)
    extra: bytes = b""

    def json(self) -> Any:
        return json.loads(self.body)

    def events(self, wire: str) -> list[Event]:
        decoder = WIRES[wire].decoder()
        return [*decoder.feed(self.body), *decoder.close()]

    def received(self, wire: str) -> Received:
        return assemble(self.events(wire), wire)


class Client:
    """One connection."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.reader: asyncio.StreamReader
        self.writer: asyncio.StreamWriter

    async def __aenter__(self) -> "Client":
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.writer.transport.abort()

    async def ask(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Answer:
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        lines = [f"{method} {path} HTTP/1.1", "host: sim", f"content-length: {len(data)}"]
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        self.writer.write("\r\n".join((*lines, "", "")).encode() + data)
        return await self._answer()

    async def _answer(self) -> Answer:
        answer = Answer()
        try:
            async with asyncio.timeout(None) as self._patience:
                await self._read(answer)
                answer.ended = "complete"
        except TimeoutError:
            answer.ended = "silence"
        except asyncio.IncompleteReadError as cut:
            answer.body += cut.partial
            answer.ended = "fin"
        except ConnectionResetError:
            answer.ended = "rst"
        return answer

    def _hope(self) -> None:
        self._patience.reschedule(asyncio.get_running_loop().time() + PATIENCE)

    async def _read(self, answer: Answer) -> None:
        self._hope()
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        status, *fields = head.strip().split("\r\n")
        answer.status = int(status.split()[1])
        answer.headers = {name.lower(): value for name, value in (one.split(": ", 1) for one in fields)}
        if "content-length" in answer.headers:
            answer.body = await self.reader.readexactly(int(answer.headers["content-length"]))
            return
        while True:
            self._hope()
            size = int((await self.reader.readuntil(b"\r\n")).strip(), 16)
            answer.arrived.append(asyncio.get_running_loop().time())
            if size == 0:
                await self.reader.readexactly(2)
                return
            answer.body += await self.reader.readexactly(size)
            await self.reader.readexactly(2)


async def post(sim: Any, wire: str, body: dict[str, Any], headers: dict[str, str] | None = None) -> Answer:
    """Ask once, on a connection of its own."""
    version = {"anthropic-version": "2023-06-01"} if wire == "anthropic" else {}
    async with Client(sim.port) as client:
        return await client.ask("POST", PATHS[wire], body, version | (headers or {}))


def asking(wire: str, *messages: dict[str, Any], stream: bool = True, **more: Any) -> dict[str, Any]:
    """Return a request with all tools on offer; without messages, one that asks for the task."""
    given = list(messages) or [{"role": "user", "content": "Please do your task."}]
    schema = {"type": "object", "properties": {}}
    body: dict[str, Any] = {"model": "sim-1", "stream": stream, **more}
    match wire:
        case "chat":
            tools = [{"type": "function", "function": {"name": name, "parameters": schema}} for name in TOOLS]
            usage = {"stream_options": {"include_usage": True}} if stream else {}
            return {**usage, "messages": given, "tools": tools, **body}
        case "responses":
            tools = [{"type": "function", "name": name, "parameters": schema} for name in TOOLS]
            return {"input": given, "tools": tools, **body}
        case _:
            tools = [{"name": name, "input_schema": schema} for name in TOOLS]
            return {"messages": given, "tools": tools, "max_tokens": 100_000, **body}
