"""A small raw client for tests of the simulator: it keeps every byte, and how the connection ended."""

import asyncio
import json
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Self

from headway.events import Event
from headway.received import Received
from headway.wire.assembly import assemble
from headway.wire.table import WIRES

PATHS = {"chat": "/v1/chat/completions", "responses": "/v1/responses", "anthropic": "/v1/messages"}
WIRE_NAMES = tuple(PATHS)
PATIENCE = 30.0  # virtual seconds after which this client leaves

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
    chunks: int = 0
    extra: bytes = b""

    def json(self) -> Any:
        return json.loads(self.body)

    def events(self, wire: str) -> list[Event]:
        decoder = WIRES[wire].decoder()
        return [*decoder.feed(self.body), *decoder.close()]

    def received(self, wire: str) -> Received:
        return assemble(self.events(wire), wire)


class _Bytes(asyncio.Protocol):
    """Keeps what arrives, with the time at which it did, and how the connection ended."""

    def __init__(self) -> None:
        self.data = b""
        self.arrived: list[float] = []
        self.ended = ""
        self.news = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        self.data += data
        self.arrived.append(asyncio.get_running_loop().time())
        self.news.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.ended = "rst" if isinstance(exc, ConnectionResetError) else "fin"
        self.news.set()


class Client:
    """One connection. Answers are read as far as they come; nothing that arrived is lost, however it ends."""

    def __init__(self, port: int, patience: float = PATIENCE) -> None:
        self.port = port
        self.patience = patience

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self.transport, self.bytes = await loop.create_connection(_Bytes, "127.0.0.1", self.port)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.transport.abort()

    async def ask(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Answer:
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        lines = [f"{method} {path} HTTP/1.1", "host: sim", f"content-length: {len(data)}"]
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        self.transport.write("\r\n".join((*lines, "", "")).encode() + data)
        return await self.answer()

    async def answer(self) -> Answer:
        """Wait for an answer, or for the end of the connection or of our patience."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self.patience):
                while not (answer := read(self.bytes.data)).ended and not self.bytes.ended:
                    self.bytes.news.clear()
                    await self.bytes.news.wait()
        answer = read(self.bytes.data)
        answer.ended = answer.ended or self.bytes.ended or "silence"
        answer.arrived = self.bytes.arrived
        self.bytes.data = answer.extra
        return answer


def read(data: bytes) -> Answer:
    """Read as much of an answer as there is; `ended` is empty if it is not complete."""
    answer = Answer()
    head, found, rest = data.partition(b"\r\n\r\n")
    if not found:
        return answer
    status, *fields = head.decode("latin-1").split("\r\n")
    answer.status = int(status.split()[1])
    answer.headers = {name.lower(): value for name, value in (one.split(": ", 1) for one in fields)}
    if "content-length" in answer.headers:
        length = int(answer.headers["content-length"])
        answer.body, answer.extra = rest[:length], rest[length:]
        answer.ended = "complete" if len(answer.body) == length else ""
        return answer
    pieces = []
    while rest:
        line, found, rest = rest.partition(b"\r\n")
        size = int(line, 16) if found else 0
        if found and size == 0:
            answer.ended, answer.extra = "complete", rest.removeprefix(b"\r\n")
            break
        pieces.append(rest[:size])
        answer.chunks += 1
        rest = rest[size + 2 :]
    answer.body = b"".join(pieces)
    return answer


async def post(
    sim: Any, wire: str, body: dict[str, Any], headers: dict[str, str] | None = None, patience: float = PATIENCE
) -> Answer:
    """Ask once, on a connection of its own."""
    version = {"anthropic-version": "2023-06-01"} if wire == "anthropic" else {}
    async with Client(sim.port, patience) as client:
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
