"""The gateway's server with a handler that says what it was asked: for tests of connections, and of nothing else."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from headway.gateway.connection import Answer
from headway.gateway.message import Limits, Request
from headway.gateway.server import Server
from support.raw_http import RawClient, raw_client


class Clerk:
    """Answers by path: `/echo` says the body, `/wait` waits for `release`, `/flood` never ends, `/bad` is a mistake."""

    def __init__(self, limits: Limits) -> None:
        self.server = Server(self, limits)
        self.url = ""
        self.asked: list[Request] = []
        self.ends: list[str] = []
        """How each request ended, in the order of their ends."""
        self.release = asyncio.Event()
        self.mistakes: list[dict[str, Any]] = []
        self.stack = AsyncExitStack()

    async def client(self, **options: Any) -> RawClient:
        """Connect; the connection is closed when the block of `clerk` ends."""
        return await self.stack.enter_async_context(raw_client(self.url, **options))

    def refuse(self, status: int, words: str, target: str) -> tuple[Mapping[str, str], bytes]:
        return {"x-target": target}, words.encode()

    def knows(self, headers: Mapping[str, str]) -> bool:
        return headers.get("x-key") != "wrong"

    async def handle(self, request: Request, answer: Answer) -> None:
        self.asked.append(request)
        try:
            await self._answer(request, answer)
        except BaseException as exc:
            self.ends.append(type(exc).__name__)
            raise
        self.ends.append("answered")

    async def _answer(self, request: Request, answer: Answer) -> None:
        match request.path:
            case "/wait":
                answer.begin(200, {})
                await answer.write(b"waiting ")
                await self.release.wait()
                await answer.finish(b"released")
            case "/flood":
                answer.begin(200, {})
                while True:
                    await answer.write(b"x" * 1000)
                    await asyncio.sleep(0)
            case "/large":
                answer.whole(200, {}, b"x" * 20_000_000)
            case "/half":
                answer.begin(200, {})
                await answer.write(b"half of it")
            case "/bad":
                raise ZeroDivisionError("a mistake")
            case _:
                answer.whole(200, {"x-method": request.method}, request.body)


@asynccontextmanager
async def clerk(limits: Limits | None = None) -> AsyncIterator[Clerk]:
    """Serve until the block ends; then nothing may be left of any connection."""
    made = Clerk(limits or Limits())
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: made.mistakes.append(context))
    host, port = await made.server.start("127.0.0.1", 0)
    made.url = f"http://{host}:{port}"
    try:
        async with made.stack:
            yield made
    finally:
        await made.server.drain(0)
        await asyncio.sleep(0.1)
    assert not made.server.connections, "a connection was left open"
    assert asyncio.all_tasks() == {asyncio.current_task()}, "a task was left running"
