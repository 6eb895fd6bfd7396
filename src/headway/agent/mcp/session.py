"""One conversation with a server: the handshake, requests with a limit on each, and what it says in between.

Whoever asks gets a result or `ServerFailed`. A request that is given up, because its time is over or its caller is
cancelled, is taken back at the server. Of what a server may ask, `ping` and its roots are answered; all else (models,
questions to the user) is refused in the words of the protocol.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import Struct

from headway.agent.mcp import rpc
from headway.agent.mcp.link import Ask, Link
from headway.agent.mcp.streamable import HttpLink
from headway.agent.mcp.troubles import Phase, ServerFailed, Trouble
from headway.wire.json_text import BadJson

LATEST = "2025-11-25"
VERSIONS = (LATEST, "2025-06-18", "2025-03-26", "2024-11-05")
STATELESS = "2026-07-28"
"""The version that knows no handshake: each request says what the handshake would have said."""
TAKE_BACK_SECONDS = 0.3
PING_SECONDS = 5.0
MOST_PAGES = 50
MOST_LISTED = 500
_CAPABILITIES: dict[str, Any] = {"roots": {}}
_CLIENT = {"name": "headway", "version": "1"}
OnProgress = Callable[[str], None]


class Welcome(Struct, frozen=True):
    """What a server said of itself."""

    version: str
    name: str = ""
    server_version: str = ""
    has_tools: bool = True
    tells_changes: bool = False


class Session:
    """Requests over one link."""

    def __init__(self, server: str, link: Link, root: Path) -> None:
        """Converse over a link; `root` is what the server is told to work in."""
        self.changed = False
        """Has it said that its tools are others now?"""
        self.welcome = Welcome("")
        self.noise = ""
        """The first thing that it said which was no message."""
        self._server, self._link, self._root = server, link, root
        self._waiting: dict[int, asyncio.Future[object]] = {}
        self._progress: dict[int, OnProgress] = {}
        self._number = 0
        self._strays = 0
        self._envelope: dict[str, Any] = {}
        link.hear = self._hear

    @property
    def lost(self) -> ServerFailed | None:
        """Return why it is of no more use, once it is."""
        return self._link.lost

    async def open(self, seconds: float) -> Welcome:
        """Agree on how to speak."""
        asked = {"protocolVersion": LATEST, "capabilities": _CAPABILITIES, "clientInfo": _CLIENT}
        try:
            said = await self._ask("initialize", asked, seconds, Phase.HANDSHAKE)
        except ServerFailed as failed:
            if failed.trouble is not Trouble.REFUSED:
                raise
            self.welcome = await self._open_stateless(seconds, failed)
            return self.welcome
        version = said.get("protocolVersion")
        if version not in VERSIONS:
            words = f"it speaks version {str(version)[:40]!r} of the protocol, which Headway does not"
            raise ServerFailed(Trouble.NONSENSE, self._server, Phase.HANDSHAKE, words)
        self.welcome = _welcome(str(version), said)
        self._link.version = str(version)
        await self._tell("notifications/initialized", Phase.HANDSHAKE, seconds)
        return self.welcome

    async def tools(self, seconds: float) -> list[dict[str, Any]]:
        """Return the entries of its list of tools, page after page; raw, and at most so many."""
        self.changed = False
        found: list[dict[str, Any]] = []
        cursor: object = None
        seen: set[str] = set()
        for _ in range(MOST_PAGES if self.welcome.has_tools else 0):
            page = await self._ask("tools/list", {"cursor": cursor} if cursor else {}, seconds, Phase.LIST)
            entries = page.get("tools")
            if not isinstance(entries, list):
                raise ServerFailed(Trouble.NONSENSE, self._server, Phase.LIST, "its list of tools is no list")
            found += [one for one in entries if isinstance(one, dict)]
            cursor = page.get("nextCursor")
            if not isinstance(cursor, str) or cursor in seen or len(found) >= MOST_LISTED:
                break
            seen.add(cursor)
        return found[:MOST_LISTED]

    async def call(
        self, tool: str, arguments: dict[str, Any], seconds: float, on_progress: OnProgress | None = None
    ) -> dict[str, Any]:
        """Call a tool, once, and return what it gave."""
        params = {"name": tool, "arguments": arguments}
        return await self._ask("tools/call", params, seconds, Phase.CALL, on_progress)

    async def is_awake(self) -> bool:
        """Say whether it still answers at all."""
        try:
            await self._ask("ping", {}, PING_SECONDS, Phase.CALL)
        except ServerFailed as failed:
            return failed.trouble is Trouble.REFUSED
        return True

    async def _open_stateless(self, seconds: float, failed: ServerFailed) -> Welcome:
        """Speak without a handshake, if that is what a server wants that has refused one."""
        said_each_time = {"protocolVersion": STATELESS, "clientCapabilities": {}, "clientInfo": _CLIENT}
        self._envelope = {f"io.modelcontextprotocol/{key}": value for key, value in said_each_time.items()}
        self._link.version = STATELESS
        if isinstance(self._link, HttpLink):
            self._link.stateless = True
        try:
            said = await self._ask("server/discover", {}, seconds, Phase.HANDSHAKE)
        except ServerFailed:
            raise failed from None
        versions = said.get("supportedVersions")
        if not isinstance(versions, list) or STATELESS not in versions:
            raise failed
        return _welcome(STATELESS, said)

    async def _ask(
        self, method: str, params: dict[str, Any], seconds: float, phase: Phase, on_progress: OnProgress | None = None
    ) -> dict[str, Any]:
        self._number += 1
        number, answered = self._number, asyncio.get_running_loop().create_future()
        meta = dict(self._envelope)
        if on_progress is not None:
            self._progress[number] = on_progress
            meta["progressToken"] = number
        self._waiting[number] = answered
        try:
            body = rpc.request(number, method, {**params, **({"_meta": meta} if meta else {})})
            async with asyncio.timeout(seconds):
                await self._link.exchange(Ask(method, body, str(params.get("name", ""))), answered)
            return self._result(answered.result(), phase)
        except BadJson as error:
            raise ServerFailed(Trouble.REFUSED, self._server, phase, f"this cannot be sent as JSON: {error}") from None
        except TimeoutError:
            await self._take_back(number, method, "its time is over")
            raise ServerFailed(Trouble.HUNG, self._server, phase, self._hung(seconds)) from None
        except asyncio.CancelledError:
            await self._take_back(number, method, "the user has stopped it")
            raise
        except ServerFailed as failed:
            raise ServerFailed(failed.trouble, self._server, phase, failed.detail) from None
        finally:
            self._waiting.pop(number, None)
            self._progress.pop(number, None)

    def _result(self, said: object, phase: Phase) -> dict[str, Any]:
        if isinstance(said, rpc.Reply):
            return said.result
        assert isinstance(said, rpc.Refused), "nothing else is an answer"
        raise ServerFailed(Trouble.REFUSED, self._server, phase, f"it refused: {said.message} (code {said.code})")

    def _hung(self, seconds: float) -> str:
        words = f"nothing came within {round(seconds, 1):g} s"
        if self._strays:
            words += f", but {self._strays} answers to what nobody asked"
        if self.noise:
            words += f"; it said what is no message: {self.noise[:100]!r}"
        said = self._link.evidence()
        return f"{words}; its last words: {said}" if said else words

    async def _take_back(self, number: int, method: str, why: str) -> None:
        """Tell the server that nobody waits any more; it may be past hearing, so not for long."""
        leaving_is_enough = isinstance(self._link, HttpLink) and self._link.stateless
        if method == "initialize" or self._link.lost is not None or leaving_is_enough:
            return  # a handshake cannot be taken back
        body = rpc.notification("notifications/cancelled", {"requestId": number, "reason": why})
        with suppress(ServerFailed, TimeoutError):
            async with asyncio.timeout(TAKE_BACK_SECONDS):
                await self._link.tell(body)

    async def _tell(self, method: str, phase: Phase, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._link.tell(rpc.notification(method))
        except TimeoutError:
            raise ServerFailed(Trouble.HUNG, self._server, phase, self._hung(seconds)) from None
        except ServerFailed as failed:
            raise ServerFailed(failed.trouble, self._server, phase, failed.detail) from None

    def _hear(self, data: bytes) -> Iterator[bytes]:
        """Take what came; give what is to be sent back."""
        for message in rpc.read(data):
            match message:
                case rpc.Reply(id=number) | rpc.Refused(id=number):
                    waiting = self._waiting.get(number) if isinstance(number, int) else None
                    if waiting is None:
                        self._strays += 1
                    elif not waiting.done():
                        waiting.set_result(message)
                case rpc.Asked(id=number, method=method):
                    yield self._answer(number, method)
                case rpc.Told(method="notifications/tools/list_changed"):
                    self.changed = True
                case rpc.Told(method="notifications/progress", params=params):
                    self._make_known(params)
                case rpc.Noise(text=text):
                    self.noise = self.noise or " ".join(text.split())
                case _:
                    pass

    def _answer(self, number: rpc.Id, method: str) -> bytes:
        if method == "ping":
            return rpc.answer(number, {})
        if method == "roots/list":
            return rpc.answer(number, {"roots": [{"uri": self._root.as_uri(), "name": self._root.name}]})
        return rpc.refusal(number, rpc.METHOD_NOT_FOUND, f"Headway has no {method[:80]}")

    def _make_known(self, params: dict[str, Any]) -> None:
        token, words = params.get("progressToken"), params.get("message")
        told = self._progress.get(token) if isinstance(token, int) else None
        if told is not None and isinstance(words, str) and words.strip():
            told(f"{' '.join(words.split())[:300]}\n")


def _welcome(version: str, said: dict[str, Any]) -> Welcome:
    info, able = said.get("serverInfo"), said.get("capabilities")
    info = info if isinstance(info, dict) else {}
    able = able if isinstance(able, dict) else {}
    tools = able.get("tools")
    return Welcome(
        version,
        str(info.get("name", ""))[:80],
        str(info.get("version", ""))[:40],
        isinstance(tools, dict),
        isinstance(tools, dict) and tools.get("listChanged") is True,
    )
