"""What is asked of the gateway, by path. Bad keys and bad bodies get the wire's own errors, and never a traceback."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from secrets import token_hex
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from headway.failure import InvalidInput
from headway.gateway.connection import Answer, ClientGone
from headway.gateway.counting import counted, estimated
from headway.gateway.doors import Doors
from headway.gateway.errors import Trouble, error_answer
from headway.gateway.exchange import Exchange, Order
from headway.gateway.listing import listed, pages_of
from headway.gateway.message import Request
from headway.gateway.metrics import Metrics
from headway.gateway.trace import Trace, Tracing
from headway.gateway.ways import Ways
from headway.transport.http import HttpClient
from headway.turn.fleet import Fleet
from headway.wire.base import Wire
from headway.wire.json_text import BadJson, decode_repaired, encode
from headway.wire.table import WIRES

MODEL_PATHS: Final = {wire.path: wire for wire in WIRES.values()}
"""Below `/v1`, which a client's base URL may or may not have."""
LONGEST_NAME = 200
"""Characters that are noted of the name of a model."""
_JSON = {"content-type": "application/json"}
Keep = Callable[[Trace], None]


class Setup(Struct, frozen=True):
    """What the settings say, as a whole: a reload replaces it, and open streams keep the one they began with."""

    ways: Ways
    fleet: Fleet
    doors: Doors
    heartbeat_seconds: float = 15.0
    keeps_content: bool = False


class Service:
    """Answers requests."""

    def __init__(self, client: HttpClient, setup: Setup, keep: Keep, metrics: Metrics | None = None) -> None:
        """Ask upstreams through `client`; give each finished trace to `keep`."""
        self._client, self._keep = client, keep
        self.setup = setup
        self.metrics = metrics or Metrics()
        self.draining = False
        self._started = time.time()

    async def handle(self, request: Request, answer: Answer) -> None:
        """Answer one request."""
        path = request.path.rstrip("/") or "/"
        wire = wire_of(path)
        if wire is not None and path.removeprefix("/v1") == wire.path:
            await self._model(wire, request, answer)
            return
        found = self._pages().get(path.removeprefix("/v1") or "/")
        if found is None:
            words = f"There is nothing at {path}. Headway serves {', '.join(f'/v1{known}' for known in MODEL_PATHS)}."
            self._refuse(wire, Trouble(404, words), answer)
        elif request.method not in found[0]:
            self._refuse(wire, Trouble(405, f"{path} takes {' and '.join(found[0])}, not {request.method}."), answer)
        else:
            await found[1](request, answer)

    def refuse(self, status: int, words: str, target: str) -> tuple[Mapping[str, str], bytes]:
        """Return what to say about a request that could not even be read."""
        wire = wire_of(target.partition("?")[0])
        return error_answer(wire.name if wire else "chat", Trouble(status, words), token_hex(8))

    def knows(self, headers: Mapping[str, str]) -> bool:
        """Say whether a request with these headers shows a key that may come in."""
        return not isinstance(self.setup.doors.who(headers), Trouble)

    # Requests to models

    async def _model(self, wire: Wire, request: Request, answer: Answer) -> None:
        setup, began = self.setup, asyncio.get_running_loop().time()
        trace = Trace(id=token_hex(8), at=time.time(), wire=wire.name, path=request.path, bytes_in=len(request.body))
        try:
            trouble = await self._admitted(setup, wire, request, answer, trace)
            if trouble is not None:
                trace.outcome, trace.status = "refused", trouble.status
                self._refuse(wire, trouble, answer, trace.id)
        except (asyncio.CancelledError, ClientGone):
            trace.outcome, trace.status = "client_left", 499
            raise
        finally:
            if trace.outcome == "open":  # a mistake of ours: whoever serves the connection tells it
                trace.outcome, trace.status = "failed", 500
            trace.seconds = asyncio.get_running_loop().time() - began
            trace.bytes_out = answer.sent
            self.metrics.count(trace)
            self._keep(trace)

    async def _admitted(
        self, setup: Setup, wire: Wire, request: Request, answer: Answer, trace: Trace
    ) -> Trouble | None:
        """Answer a request whose key and body are good, or say what is not."""
        now = asyncio.get_running_loop().time()
        if request.method != "POST":
            return Trouble(405, f"{request.path} takes POST, not {request.method}.")
        who = setup.doors.who(request.headers)
        if isinstance(who, Trouble):
            return who
        trace.key = who
        order = self._order(setup, wire, request, trace)
        if isinstance(order, Trouble):
            return order
        busy = setup.doors.enter(who, now)
        if busy is not None:
            return busy
        self.metrics.open += 1
        exchange = Exchange(self._client, order, answer, Tracing(trace, now))
        try:
            await exchange.run()
        finally:
            if setup.keeps_content:
                trace.reply = exchange.said()
            self.metrics.open -= 1
            setup.doors.leave()
        return None

    def _order(self, setup: Setup, wire: Wire, request: Request, trace: Trace) -> Order | Trouble:
        try:
            body, mended = _body(request)
            asked = wire.parse_request(body)
        except InvalidInput as exc:
            return Trouble(400, str(exc), "bad_request", retry=False)
        trace.model, trace.streamed = asked.model[:LONGEST_NAME], asked.stream
        trace.repairs += mended
        try:
            way = setup.ways.way(asked.model, wire.name, request.headers)
            crew = setup.fleet.crew(way.route)
        except InvalidInput as exc:
            return Trouble(502, str(exc), "misconfigured", retry=False)
        trace.route = way.route.name
        if setup.keeps_content:
            trace.prompt = request.body.decode("utf-8", "replace")
        manners = replace(way.manners, tells_usage=_wants_usage(wire, body))
        created = int(trace.at)
        return Order(wire, asked, crew, way.route.policy, manners, trace.id, setup.heartbeat_seconds, created)

    # The rest

    def _pages(self) -> dict[str, tuple[tuple[str, ...], Callable[[Request, Answer], Awaitable[None]]]]:
        return {
            "/": (("GET", "HEAD"), self._hello),
            "/models": (("GET", "HEAD"), self._models),
            "/messages/count_tokens": (("POST",), self._count_tokens),
            "/health/live": (("GET", "HEAD"), self._live),
            "/health/ready": (("GET", "HEAD"), self._ready),
            "/metrics": (("GET", "HEAD"), self._metrics),
        }

    async def _hello(self, _: Request, answer: Answer) -> None:
        answer.whole(200, _JSON, encode({"headway": "gateway", "paths": pages_of(self._pages(), MODEL_PATHS)}))

    async def _models(self, request: Request, answer: Answer) -> None:
        who = self.setup.doors.who(request.headers)
        if isinstance(who, Trouble):
            self._refuse(None, who, answer)
        else:
            answer.whole(200, _JSON, encode(listed(self.setup.ways.offers(), int(self._started))))

    async def _count_tokens(self, request: Request, answer: Answer) -> None:
        wire = WIRES["anthropic"]
        who = self.setup.doors.who(request.headers)
        if isinstance(who, Trouble):
            self._refuse(wire, who, answer)
            return
        try:
            body, _ = _body(request)
            wire.parse_request({"max_tokens": 1, **body})
        except InvalidInput as exc:
            self._refuse(wire, Trouble(400, str(exc), "bad_request", retry=False), answer)
            return
        busy = self.setup.doors.enter(who, asyncio.get_running_loop().time())
        if busy is not None:
            self._refuse(wire, busy, answer)
            return
        try:
            count = await self._counted(wire, request, body)
        finally:
            self.setup.doors.leave()
        headers = _JSON if count is not None else {**_JSON, "x-headway-estimate": "true"}
        answer.whole(200, headers, encode({"input_tokens": estimated(body) if count is None else count}))

    async def _counted(self, wire: Wire, request: Request, body: dict[str, Any]) -> int | None:
        """Return what an upstream counts; None if there is none that does."""
        setup = self.setup
        try:
            way = setup.ways.way(str(body.get("model", "")), wire.name, request.headers)
            crew = setup.fleet.crew(way.route)
        except InvalidInput:  # whoever asks will be told; until then an estimate does
            return None
        return await counted(self._client, crew, body)

    async def _live(self, _: Request, answer: Answer) -> None:
        answer.whole(200, _JSON, b'{"status":"live"}')

    async def _ready(self, _: Request, answer: Answer) -> None:
        ready = not self.draining
        answer.whole(200 if ready else 503, _JSON, encode({"status": "ready" if ready else "draining"}))

    async def _metrics(self, request: Request, answer: Answer) -> None:
        who = self.setup.doors.who(request.headers)
        if isinstance(who, Trouble):
            self._refuse(None, who, answer)
        else:
            text = self.metrics.text(self.setup.fleet)
            answer.whole(200, {"content-type": "text/plain; version=0.0.4; charset=utf-8"}, text.encode())

    def _refuse(self, wire: Wire | None, trouble: Trouble, answer: Answer, request_id: str = "") -> None:
        headers, body = error_answer(wire.name if wire else "chat", trouble, request_id or token_hex(8))
        answer.whole(trouble.status, headers, body)


def wire_of(path: str) -> Wire | None:
    """Return the wire that a path belongs to, so that even its errors are in that wire's words."""
    bare = path.removeprefix("/v1")
    return next((wire for known, wire in MODEL_PATHS.items() if bare == known or bare.startswith(f"{known}/")), None)


def _body(request: Request) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return a body as JSON, and what had to be mended to read it; raises `InvalidInput` for what is none.

    Half a character in an old message would otherwise refuse every later request of its client.
    """
    try:
        value, mended = decode_repaired(request.body)
    except BadJson as exc:
        raise InvalidInput("the body", f"it is not JSON: {exc}", "Send one JSON object, in UTF-8.") from None
    if not isinstance(value, dict):
        raise InvalidInput("the body", "it is not a JSON object", "Send one JSON object.")
    return value, mended


def _wants_usage(wire: Wire, body: dict[str, Any]) -> bool:
    """Say whether a client wants tokens counted: on one wire it has to ask, on the others it always does."""
    if wire.name != "chat":
        return True
    options = body.get("stream_options")
    return isinstance(options, dict) and options.get("include_usage") is True
