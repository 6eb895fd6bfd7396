"""The server that all clients read from, in a process of its own: `python -m benchmarks.peers.server` prints its port.

It answers a POST to `/KIND/WIRE/…` with a stream of that wire, one event in each chunk of the body.
"""

import asyncio
import json
import sys
from collections.abc import Iterator
from functools import cache

from headway.events import CallArguments, CallClosed, CallOpened, Event, Stop, StreamEnded, StreamOpened, TextDelta
from headway.wire.table import WIRES

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"
PACE_SECONDS = 0.002
CHUNKS = {"flood": 5_000, "paced": 500}
CALL_SIZE = 10_000_000
LINE = "<p>all work and no play makes a dull page</p>\n"


def text_of(kind: str) -> str:
    return "".join(f" word{number}" for number in range(CHUNKS[kind]))


@cache
def arguments() -> str:
    content = (LINE * (CALL_SIZE // len(LINE) + 1))[:CALL_SIZE]
    return json.dumps({"path": "index.html", "content": content})


def events_of(kind: str) -> Iterator[Event]:
    """Give the events: `flood` and `paced` are words, `call-20` is a call of 10 MB in deltas of 20 characters."""
    yield StreamOpened("msg_1", "model-1")
    if kind in CHUNKS:
        for number in range(CHUNKS[kind]):
            yield TextDelta(f" word{number}")
        yield StreamEnded(Stop.END)
        return
    size, text = int(kind.partition("-")[2]), arguments()
    yield CallOpened(0, "call_1", "write_file")
    for at in range(0, len(text), size):
        yield CallArguments(0, text[at : at + size])
    yield CallClosed(0)
    yield StreamEnded(Stop.CALLS)


def chunks_of(kind: str, wire: str) -> Iterator[bytes]:
    encoder = WIRES[wire].encoder()
    for event in events_of(kind):
        data = encoder.write(event)
        if data:  # an empty chunk would be the end of the body
            yield b"%x\r\n%s\r\n" % (len(data), data)


@cache
def prepared(kind: str, wire: str) -> tuple[bytes, ...]:
    return tuple(chunks_of(kind, wire))


async def send(kind: str, wire: str, writer: asyncio.StreamWriter) -> None:
    writer.write(HEAD)
    if kind == "paced":
        for chunk in prepared(kind, wire):
            writer.write(chunk)
            await asyncio.sleep(PACE_SECONDS)
    elif kind == "flood":
        writer.write(b"".join(prepared(kind, wire)))
    else:
        for number, chunk in enumerate(chunks_of(kind, wire)):
            writer.write(chunk)
            if number % 256 == 0:
                await writer.drain()
    writer.write(END)
    await writer.drain()


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            lines = head.decode().lower().split("\r\n")
            length = next((int(line.split(":")[1]) for line in lines if line.startswith("content-length:")), 0)
            await reader.readexactly(length)
            _, kind, wire, *_ = lines[0].split()[1].split("/")
            await send(kind, wire, writer)
    except (asyncio.IncompleteReadError, ConnectionError):
        pass  # the client has what it wanted
    finally:
        writer.close()


async def main() -> None:
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    gone = asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)  # ends with whoever started it
    async with server:
        await gone


if __name__ == "__main__":
    asyncio.run(main())
