"""A provider without its sockets: requests in, plays out. It counts whom its faults struck and keeps what it stores.

Chance comes from the seed and the number of the request, so the same requests in the same order meet the same fate.
"""

from random import Random
from typing import Any

from headway.events import Event, Usage
from headway.failure import InvalidInput
from headway.messages import ModelRequest, WireName
from headway.sim.background import Stored
from headway.sim.connection import Request
from headway.sim.exchange import Ending, Exchange
from headway.sim.fault import Fault, name_of
from headway.sim.manners import EVERY_WIRE, MANNERS, Manners, Trouble
from headway.sim.model import think_up
from headway.sim.play import DELTAS, Finish, Pause, Play, answer, characters, head_of, words
from headway.sim.reading import CHARACTERS_A_TOKEN, words_of
from headway.sim.routes import Kind, Route, route_of
from headway.sim.rules import Refused, check_body, check_key, key_of, read_body
from headway.sim.scene import Scene
from headway.sim.script import Script
from headway.sim.voice import speak


class Provider:
    """What answers, apart from the sockets."""

    def __init__(self, script: Script, seed: int = 0, wires: frozenset[WireName] = EVERY_WIRE) -> None:
        """Follow a script; answer on some wires only, if told so."""
        self.seed = seed
        self._wires = wires
        self._stored: dict[str, Stored] = {}
        self.use(script)

    def use(self, script: Script) -> None:
        """Follow another script from the next request on, with faults that have struck nobody yet."""
        self.script = script
        self._turns: list[tuple[int, int]] = [(0, 0)] * len(script.faults)

    def respond(self, request: Request, exchange: Exchange, now: float) -> tuple[Play, Manners]:
        """Return what to do about a request, and note in the exchange what it is."""
        route = route_of(request.method, request.path, self._wires)
        manners = MANNERS[route.wire]
        exchange.wire, exchange.key = route.wire, key_of(request)
        try:
            check_key(request, route.wire, self.script)
            return self._route(request, route, exchange, now), manners
        except Refused as refused:
            trouble = refused.trouble
            exchange.ending, exchange.refusal = Ending.REFUSED, trouble.message
            return answer(trouble.status, manners.refuse(trouble), trouble.headers), manners

    def _route(self, request: Request, route: Route, exchange: Exchange, now: float) -> Play:
        match route.kind:
            case Kind.REPLY:
                return self._reply(request, exchange, now)
            case Kind.STORED:
                return self._again(request, route, exchange, now)
            case Kind.CANCEL:
                stored = self._find(route.id)
                stored.cancelled_at = now
                return answer(200, stored.reply(now))
            case Kind.COUNT:
                asked = self._read(request, exchange, {"max_tokens": 1})
                return answer(200, {"input_tokens": -(-len(words_of(asked)) // CHARACTERS_A_TOKEN)})
            case Kind.MODELS:
                return answer(200, self._models())
            case Kind.HEALTH:
                return answer(200, {"status": "ok", "script": self.script.name})
            case Kind.NOTHING:
                raise Refused(Trouble(404, f"Invalid URL ({request.method} {request.path})", "unknown_url"))

    def _read(self, request: Request, exchange: Exchange, defaults: dict[str, Any] | None = None) -> ModelRequest:
        """Read the body, as strictly as the wire's provider."""
        body = (defaults or {}) | read_body(request)
        exchange.body = body
        exchange.model = str(body.get("model", ""))
        check_body(request, body, exchange.wire, self.script)
        try:
            return MANNERS[exchange.wire].wire.parse_request(body)
        except InvalidInput as invalid:
            raise Refused(Trouble(400, str(invalid))) from None

    def _reply(self, request: Request, exchange: Exchange, now: float) -> Play:
        asked = self._read(request, exchange)
        manners = MANNERS[exchange.wire]
        speech = list(think_up(asked, self.script))
        events = speak(speech, asked, manners, f"{self.seed}-{exchange.number}", self.script.pace.characters)
        if exchange.wire == "responses" and exchange.body.get("background") is True:
            return self._in_background(asked, events, exchange, now)
        if not _wants_usage(exchange):
            events = [event for event in events if not isinstance(event, Usage)]
        play: Play = [head_of(streams=asked.stream), *self._paced(events), Finish()]
        return self._struck(play, asked, exchange)

    def _paced(self, events: list[Event]) -> Play:
        """Put the script's pauses between the events."""
        pace = self.script.pace
        beats: Play = [Pause(pace.first_seconds)] if pace.first_seconds else []
        for event in events:
            if pace.seconds and isinstance(event, DELTAS):
                beats.append(Pause(pace.seconds))
            beats.append(event)
        return beats

    def _struck(self, play: Play, asked: ModelRequest, exchange: Exchange) -> Play:
        """Let the faults strike that have their turn: an answer instead of the reply first, then what happens to it."""
        is_answered = False
        for i, fault in sorted(enumerate(self.script.faults), key=lambda pair: not pair[1].answers):
            dice = Random(f"{self.seed}/{exchange.number}/{i}")  # noqa: S311 (the same dice for the same seed)
            scene = Scene(exchange.number, play, MANNERS[exchange.wire], asked, dice, exchange.key)
            after = self._strike(i, fault, scene, is_too_late=fault.answers and is_answered)
            if after is not None:
                play = after
                is_answered = is_answered or fault.answers
                exchange.faults = (*exchange.faults, name_of(type(fault)))
        return play

    def _strike(self, i: int, fault: Fault, scene: Scene, *, is_too_late: bool) -> Play | None:
        after = fault.strike(scene) if fault.concerns(scene) else None
        if after is None:
            return None
        seen, struck = self._turns[i]
        has_turn = fault.has_turn(seen, struck, scene) and not is_too_late
        self._turns[i] = (seen + 1, struck + has_turn)
        return after if has_turn else None

    def _in_background(self, asked: ModelRequest, events: list[Event], exchange: Exchange, now: float) -> Play:
        """Make a response that goes on without its client."""
        timed: list[tuple[float, Event]] = []
        due = now
        for beat in self._paced(events):
            if isinstance(beat, Pause):
                due += beat.seconds
            elif isinstance(beat, Event):
                timed.append((due, beat))
        stored = Stored(_id_of(events), timed)
        self._stored[stored.id] = stored
        exchange.generated = characters(events)
        exchange.generated_bytes = len(words(events).encode("utf-8", "replace"))
        play = stored.play(now) if asked.stream else answer(200, stored.reply(now))
        return self._struck(play, asked, exchange)

    def _again(self, request: Request, route: Route, exchange: Exchange, now: float) -> Play:
        """Stream a stored response from some place on, or say how it is."""
        stored = self._find(route.id)
        if request.query.get("stream") != "true":
            return answer(200, stored.reply(now))
        number = request.query.get("starting_after", "-1")
        play = stored.play(now, int(number) if number.lstrip("-").isdecimal() else -1)
        asked = ModelRequest(model="", messages=(), stream=True)
        return self._struck(play, asked, exchange)

    def _find(self, name: str) -> Stored:
        if name not in self._stored:
            raise Refused(Trouble(404, f"Response with id '{name}' not found."))
        return self._stored[name]

    def _models(self) -> dict[str, Any]:
        names = self.script.models or ("sim-1",)
        about = {"object": "model", "type": "model", "created": 0, "owned_by": "headway", "display_name": "Simulated"}
        return {"object": "list", "data": [{"id": name, **about} for name in names], "has_more": False}


def _wants_usage(exchange: Exchange) -> bool:
    """Say whether the client gets to know what the reply cost; one wire tells in a stream only if asked."""
    if exchange.wire != "chat" or exchange.body.get("stream") is not True:
        return True
    options = exchange.body.get("stream_options")
    return isinstance(options, dict) and options.get("include_usage") is True


def _id_of(events: list[Event]) -> str:
    return str(getattr(events[0], "id", ""))
