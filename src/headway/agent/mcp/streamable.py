"""A server at an address: each request is a POST of its own, answered by JSON or by a stream of events.

A stream that is cut before the answer came, and that has named its events, is taken up again where it broke off: the
call is not made twice. No stream stands open between requests. Time is limited by whoever asks; leaving `exchange`,
for whatever reason, closes its connection.
"""

import asyncio
from asyncio import Future
from base64 import b64encode
from contextlib import suppress

from headway.agent.mcp.link import LARGEST_MESSAGE, Ask, Hear
from headway.agent.mcp.spec import ServerSpec
from headway.agent.mcp.troubles import Phase, ServerFailed, Trouble
from headway.transport.errors import Cause, TransportFailed
from headway.transport.http import HttpClient
from headway.transport.limits import Limits
from headway.transport.message import HttpRequest
from headway.transport.response import Response
from headway.wire.json_text import excerpt
from headway.wire.sse import Frame, FrameReader, FrameTooLarge

DAY = 86_400.0
LIMITS = Limits(10.0, DAY, DAY, DAY, DAY, 0.0, DAY, DAY)
"""Only the way there has a limit here: how long an answer may take is known to whoever asks."""
MOST_TAKEN_UP = 20
"""Times that one stream is gone on with."""
MOST_BYTES = 64 * 1024 * 1024
"""Of one answer, all events together."""
TAKE_UP_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 30.0
LEAVE_SECONDS = 1.0
_ACCEPT = ("accept", "application/json, text/event-stream")


class HttpLink:
    """One conversation at one address."""

    def __init__(self, spec: ServerSpec, client: HttpClient) -> None:
        """Speak over a client that somebody else owns."""
        self.hear: Hear = lambda _: ()
        self.lost: ServerFailed | None = None
        self.version = ""
        self.stateless = False
        """Does each request say everything, so that there is nothing to remember?"""
        self._spec, self._client = spec, client
        self._session = ""

    async def open(self) -> None:
        """Do nothing: the first request opens the way."""

    async def exchange(self, ask: Ask, answered: "Future[object]") -> None:
        """Post a request and read until it is answered."""
        request = self._request("POST", ask)
        for _ in range(MOST_TAKEN_UP):
            place = _Place()
            try:
                async with self._client.stream(request, LIMITS) as response:
                    await self._read(response, ask, answered, place)
            except TransportFailed as failed:
                if not place.event:
                    raise self._unreachable(failed) from None
            if answered.done():
                return
            if not place.event:
                raise self._failure(Trouble.ENDED, "its answer ended before it was whole")
            await asyncio.sleep(place.pause_seconds)
            request = self._request("GET", None, ("last-event-id", place.event))
        raise self._failure(Trouble.ENDED, f"its answer broke off {MOST_TAKEN_UP} times")

    async def tell(self, body: bytes) -> None:
        """Post what needs no answer."""
        request = self._request("POST", Ask("", body))
        try:
            async with self._client.stream(request, LIMITS) as response:
                await response.read(65_536)
        except TransportFailed as failed:
            raise self._unreachable(failed) from None

    async def close(self) -> None:
        """Say good-bye, if there was a session."""
        session, self._session = self._session, ""
        gone, self.lost = self.lost, self.lost or self._failure(Trouble.ENDED, "it was left by Headway")
        if session and gone is None:
            request = self._request("DELETE", None, ("mcp-session-id", session))
            with suppress(TransportFailed, TimeoutError):
                async with asyncio.timeout(LEAVE_SECONDS), self._client.stream(request, LIMITS) as response:
                    await response.read(1024)

    def evidence(self) -> str:
        """Return nothing: such a server has no words of its own."""
        return ""

    def _request(self, method: str, ask: Ask | None, *more: tuple[str, str]) -> HttpRequest:
        headers = [*self._spec.headers, _ACCEPT, *more]
        if ask is not None:
            headers.append(("content-type", "application/json"))
        if self._session:
            headers.append(("mcp-session-id", self._session))
        if self.version:
            headers.append(("mcp-protocol-version", self.version))
        if self.stateless and ask is not None:
            headers.append(("mcp-method", ask.method))
            headers += [("mcp-name", _in_a_header(ask.name))] if ask.name else []
        return HttpRequest(method, self._spec.url, tuple(headers), ask.body if ask is not None else b"")

    async def _read(self, response: Response, ask: Ask, answered: "Future[object]", place: "_Place") -> None:
        kind = response.headers.get("content-type").partition(";")[0].strip().lower()
        if kind == "text/event-stream" and response.status == 200:
            if ask.method == "initialize":
                self._session = response.headers.get("mcp-session-id")
            await self._read_events(response, answered, place)
            return
        body = await response.read(LARGEST_MESSAGE + 1)
        if len(body) > LARGEST_MESSAGE:
            raise self._failure(Trouble.FLOODS, f"its answer is larger than {LARGEST_MESSAGE // 2**20} MB")
        if response.status == 404 and self._session:
            raise self._forgotten()
        if kind == "application/json":  # a refusal may come with any status
            await self._heard(body)
        if answered.done():
            if ask.method == "initialize":
                self._session = response.headers.get("mcp-session-id")
            return
        raise self._said_no(response, body)

    async def _read_events(self, response: Response, answered: "Future[object]", place: "_Place") -> None:
        reader, room = FrameReader(LARGEST_MESSAGE), MOST_BYTES
        async for data in response.bytes():
            room -= len(data)
            try:
                frames = reader.feed(data)
            except FrameTooLarge as error:
                raise self._failure(Trouble.FLOODS, str(error)) from None
            for frame in frames:
                place.see(frame.odd if isinstance(frame, Frame) else frame.raw)
                if isinstance(frame, Frame) and frame.data:
                    await self._heard(frame.data)
                if answered.done():
                    await response.settle()
                    return
            if room < 0:
                raise self._failure(Trouble.FLOODS, f"its answer is larger than {MOST_BYTES // 2**20} MB")

    async def _heard(self, data: bytes) -> None:
        for answer in self.hear(data):
            await self.tell(answer)

    def _forgotten(self) -> ServerFailed:
        """Return what it means that a session is not known any more: nothing was done, and a new one helps."""
        self._session = ""
        self.lost = self._failure(Trouble.FORGOT_US, "it does not know the session any more")
        return self.lost

    def _said_no(self, response: Response, body: bytes) -> ServerFailed:
        status, words = response.status, " ".join(excerpt(body, 200).split())
        said = f"it answered {status}{f': {words}' if words else ''}"
        if status in {401, 403}:
            asks = response.headers.get("www-authenticate")[:100]
            return self._failure(Trouble.NOT_LET_IN, f"it answered {status}{f' and asks for {asks}' if asks else ''}")
        if 300 <= status < 400:
            return self._failure(Trouble.WRONG_ADDRESS, f"it sends on to {response.headers.get('location')[:300]}")
        if status in {404, 405, 406, 410}:
            return self._failure(Trouble.WRONG_ADDRESS, said)
        if 200 <= status < 300:
            return self._failure(Trouble.NONSENSE, f"{said}, which is no answer to a request")
        return self._failure(Trouble.UNREACHABLE, said)

    def _unreachable(self, failed: TransportFailed) -> ServerFailed:
        wrong = failed.cause is Cause.INVALID
        return self._failure(Trouble.WRONG_ADDRESS if wrong else Trouble.UNREACHABLE, str(failed))

    def _failure(self, trouble: Trouble, detail: str) -> ServerFailed:
        return ServerFailed(trouble, self._spec.name, Phase.CALL, detail)


def _in_a_header(text: str) -> str:
    """Return a text as the protocol writes it into a header: plain if it can be, wrapped otherwise."""
    if text.isascii() and text.isprintable() and text == text.strip() and not text.startswith("=?"):
        return text
    return f"=?base64?{b64encode(text.encode()).decode()}?="


class _Place:
    """How far a stream has come, in its own words."""

    def __init__(self) -> None:
        self.event = ""
        self.pause_seconds = TAKE_UP_SECONDS

    def see(self, block: bytes) -> None:
        """Look for what an event says about itself; most say nothing."""
        for line in block.split(b"\n") if block else ():
            name, _, value = line.partition(b":")
            text = value.strip().decode("utf-8", "replace")
            if name == b"id" and text.isprintable() and text.isascii() and len(text) <= 1024:
                self.event = text
            elif name == b"retry" and text.isdigit() and len(text) < 10:
                self.pause_seconds = min(int(text) / 1000, LONGEST_PAUSE_SECONDS)
