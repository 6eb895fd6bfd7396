"""The upstream that all gateways ask, in a process of its own: `python -m benchmarks.gateway_parts.upstream`.

It prints its port. What it streams, the last message says, because that is what every gateway passes on: `flood N`
sends N words at once, `paced N every MS` a word each MS milliseconds, `hold` one word and then nothing, with the stream
left open. The words of paced streams are the time on the machine's monotonic clock, which the load reads too. Paced
streams do not speak at the same moment, however fast they were asked for: each begins at a moment of its own.
"""

import asyncio
import json
import re
import sys
import time
from functools import cache
from itertools import count

import uvloop

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
ASKED = re.compile(rb"bench: (flood|paced|hold) (\d+)(?: every (\d+))?")
LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
WORD = " word"
_MODEL = {"id": "chatcmpl-bench", "object": "chat.completion.chunk", "created": 1700000000, "model": "model-1"}


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def event(delta: dict, finish: str | None = None) -> bytes:
    value = _MODEL | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    return chunk(b"data: %b\n\n" % json.dumps(value, separators=(",", ":")).encode())


FIRST = HEAD + event({"role": "assistant", "content": ""})
LAST = event({}, "stop") + chunk(b"data: [DONE]\n\n") + b"0\r\n\r\n"
_PACED = count()
_GOLDEN = 0.6180339887
"""Its multiples, without their whole parts, are spread evenly, however many there are."""
_NO_TIME = "0" * 19
TIMED = event({"content": f"t{_NO_TIME}"})
_TIME_AT = TIMED.index(_NO_TIME.encode())


@cache
def flood(words: int) -> bytes:
    """Return all of a flood. Its words differ: one gateway takes a repeated word for a model that went mad."""
    return FIRST + b"".join(event({"content": f"{WORD}{number:05d}"}) for number in range(words)) + LAST


def timed() -> bytes:
    return TIMED[:_TIME_AT] + b"%019d" % time.monotonic_ns() + TIMED[_TIME_AT + 19 :]


class Upstream(asyncio.Protocol):
    """One connection of a gateway."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._request = b""
        self._left = 0
        self._every = self._at = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def connection_lost(self, _exc: Exception | None) -> None:
        self._left = 0

    def data_received(self, data: bytes) -> None:
        self._request += data
        head, end, body = self._request.partition(b"\r\n\r\n")
        length = LENGTH.search(head)
        if not end or length is None or len(body) < int(length[1]):
            return
        self._request = b""
        kind, number, every_ms = ASKED.search(body).groups()
        if kind == b"flood":
            self._transport.write(flood(int(number)))
        elif kind == b"paced":
            self._transport.write(FIRST)
            self._left, self._every = int(number), int(every_ms) / 1000
            self._at = self._loop.time() + next(_PACED) * _GOLDEN % 1 * self._every
            self._loop.call_at(self._at, self._pace)
        else:
            self._transport.write(FIRST + event({"content": WORD}))

    def _pace(self) -> None:
        if self._transport.is_closing():
            return
        if not self._left:
            self._transport.write(LAST)
            return
        self._transport.write(timed())
        self._left -= 1
        self._at += self._every
        self._loop.call_at(self._at, self._pace)


async def main() -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Upstream, "127.0.0.1", 0, backlog=2048)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)  # ends with whoever started it


if __name__ == "__main__":
    uvloop.run(main())
