"""What became of one request: attempts, times, bytes, seams, what it cost and what it saved. No content, no keys."""

from msgspec import Struct

from headway.events import CONTENT, Usage
from headway.providers.changes import Change, sentence
from headway.recovery.ledger import Strategy
from headway.turn import notices
from headway.turn.runner import CHARACTERS_A_TOKEN


class Tried(Struct, kw_only=True, omit_defaults=True):
    """One request to one upstream. Times are seconds since the client's request began."""

    upstream: str
    began: float
    first_content: float | None = None
    ended: float | None = None
    failure: str = ""
    """The kind of failure; none: it answered."""
    reason: str = ""
    then: str = ""
    """What was done about it."""
    input_tokens: int = 0
    output_tokens: int = 0


class Trace(Struct, kw_only=True, omit_defaults=True):
    """One request of a client."""

    id: str
    at: float
    """When it came: seconds since 1970."""
    wire: str
    path: str
    model: str = ""
    """What the client asked for."""
    route: str = ""
    key: str = ""
    """The name of the client's key."""
    streamed: bool = False
    attempts: list[Tried] = []
    outcome: str = "open"
    status: int = 0
    seconds: float = 0.0
    first_content: float | None = None
    bytes_in: int = 0
    bytes_out: int = 0
    seams: int = 0
    heartbeats: int = 0
    repairs: list[str] = []
    events: list[str] = []
    """What happened to upstreams and keys meanwhile."""
    saved_tokens: int = 0
    """About how much that had been written when a stream broke was kept and gone on from."""
    cost_dollars: float | None = None
    prompt: str = ""
    reply: str = ""
    """What was asked and answered; only where the settings want content kept."""

    @property
    def survived(self) -> int:
        """Return how many failures the client did not see."""
        if self.outcome not in {"answered", "called"}:
            return 0
        return sum(bool(tried.failure) for tried in self.attempts)


class Tracing:
    """Writes a trace as a turn goes on."""

    def __init__(self, trace: Trace, started: float) -> None:
        """Write into `trace`; `started` is when the request came, on the clock that `now` is of."""
        self.trace, self._started = trace, started
        self._open: Tried | None = None
        self.awaits_content = True
        """Is the first content of the attempt still to come?"""

    def hear(self, items: object, now: float) -> None:
        """Take what a turn says and does."""
        since = now - self._started
        for item in items:  # type: ignore[attr-defined]
            match item:
                case notices.Asking(upstream=upstream):
                    self._open = Tried(upstream=upstream, began=since)
                    self.awaits_content = True
                    self.trace.attempts.append(self._open)
                case notices.Broke(failure=failure, received=received):
                    self._close(since)
                    if self._open is not None:
                        self._open.failure, self._open.reason = failure.kind.value, failure.reason
                    self._kept = received
                case notices.TryingAgain(strategy=strategy):
                    self._did(strategy.value)
                    if strategy is Strategy.REATTACH:
                        self.went_on()
                case notices.FailedOver(to=to):
                    self._did(f"failed over to {to}")
                case notices.GaveUp(why=why):
                    self._did(f"gave up: {why.value}")
                case notices.Answered():
                    self._close(since)
                case notices.Healed(repairs=repairs):
                    words = [repair.words for repair in repairs]
                    self.trace.repairs += [one for one in words if one not in self.trace.repairs]
                case _ if isinstance(item, Change):
                    self.trace.events.append(sentence(item))

    _kept = 0

    def went_on(self) -> None:
        """Note that the attempt which begins goes on from what was kept, and does not have it written again."""
        self.trace.saved_tokens += self._kept // CHARACTERS_A_TOKEN

    def saw_content(self, items: object, now: float) -> None:
        """Note the first content of an attempt; nobody needs to ask once `awaits_content` is false."""
        tried = self._open
        if tried is None or tried.first_content is not None:
            return
        if any(isinstance(item, CONTENT) for item in items):  # type: ignore[attr-defined]
            self.awaits_content = False
            tried.first_content = now - self._started
            if self.trace.first_content is None:
                self.trace.first_content = tried.first_content

    def counted(self, usages: list[Usage | None]) -> None:
        """Take what each attempt used, in order."""
        for tried, usage in zip(self.trace.attempts, usages, strict=False):
            if usage is not None:
                tried.input_tokens, tried.output_tokens = usage.input_tokens, usage.output_tokens

    def _close(self, since: float) -> None:
        if self._open is not None:
            self._open.ended = since

    def _did(self, what: str) -> None:
        if self._open is not None:
            self._open.then = what
