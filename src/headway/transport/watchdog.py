"""Two clocks for one stream: *dead* (no bytes) and *stuck* (bytes, but no content), and a limit for each stage.

Bytes feed the first clock only; content feeds both. Slow but steady is healthy. The clocks stand still while the reader
is away with what it was given: its own slowness is not the peer's. One timer a stream: progress only notes the time,
and the timer, when it comes, sets itself anew from there. `on_stall` is called at most once, from the loop.
"""

from asyncio import AbstractEventLoop, TimerHandle
from collections.abc import Callable
from enum import Enum

from msgspec import Struct

from headway.transport.clock import LATE_SECONDS, PULSE_SECONDS
from headway.transport.gaps import Gaps
from headway.transport.limits import Limits, Patience, Stall

BRIEF_SECONDS = 0.1
"""A reader that is back sooner than this was not away."""
_EXACT = 1e-6


class Stage(Enum):
    """How far a stream has come."""

    CONNECTING = "connecting"
    WAITING = "waiting"
    SPEAKING = "speaking"
    OVER = "over"


_SPEAKING = Stage.SPEAKING  # a name of the module is there at once, a member of an Enum has to be looked for


class Quiet(Struct, frozen=True):
    """What a status line says about a stream at this moment."""

    stage: Stage
    content_seconds: float
    """Since the last content, or since the request was sent."""
    content_limit_seconds: float
    byte_seconds: float
    byte_limit_seconds: float


class Watchdog:
    """Watches one stream from the first attempt to connect until `stop`."""

    def __init__(
        self,
        limits: Limits,
        loop: AbstractEventLoop,
        on_stall: Callable[[Stall], None],
        turn_ends_at: float | None = None,
    ) -> None:
        """Begin to watch; the turn ends at `turn_ends_at` on the loop's clock, or `turn_seconds` from now."""
        self.limits = limits
        self._loop, self._time, self._on_stall = loop, loop.time, on_stall
        now = loop.time()
        self._turn_ends_at = now + limits.turn_seconds if turn_ends_at is None else turn_ends_at
        self._turn_began_at = self._turn_ends_at - limits.turn_seconds
        self._timer: TimerHandle | None = None
        self._forgiven = False
        self._away_at: float | None = None
        self._chars = 0
        self._first_byte_gap = self._byte_gap = 0.0
        self._first_content_gap = self._content_gap = 0.0
        self.stage = Stage.CONNECTING
        self._bytes_at = self._content_at = self._drip_at = now
        self._drip_chars = 0
        self._arm()

    def connecting(self) -> None:
        """Say that a connection is being made."""
        self._enter(Stage.CONNECTING, self._time())

    def connected(self) -> None:
        """Say that the request goes out now."""
        self._enter(Stage.WAITING, self._time())

    def saw_bytes(self) -> None:
        """Note that bytes moved, whatever they say."""
        now = self._time()
        if now - self._bytes_at > self._byte_gap:  # noqa: PLR1730  # once a read; `max` costs three times as much
            self._byte_gap = now - self._bytes_at
        self._bytes_at = now
        self._forgiven = False

    def saw_content(self, chars: int) -> None:
        """Note that bytes came that say something. Every token of every stream comes by here."""
        now = self._time() if self._away_at is None else self._away_at
        if now - self._bytes_at > self._byte_gap:  # noqa: PLR1730  # as above
            self._byte_gap = now - self._bytes_at
        gap = now - self._content_at
        self._chars += chars
        self._content_at = self._bytes_at = now
        self._forgiven = False
        if self.stage is _SPEAKING:
            if gap > self._content_gap:  # noqa: PLR1730  # as above
                self._content_gap = gap
        elif self.stage is not Stage.OVER:
            self._first_content_gap = gap
            self._first_byte_gap, self._byte_gap = self._byte_gap, 0.0
            self._enter(Stage.SPEAKING, now)

    def hand_over(self) -> None:
        """Note that bytes came and that the reader has them now; the clocks stand still until `wait`."""
        if self._away_at is not None:
            self.wait()  # it came back to bytes that were already there
        self.saw_bytes()
        self._away_at = self._bytes_at

    def wait(self) -> None:
        """Say that the reader is back and waits for more."""
        left, self._away_at = self._away_at, None
        if left is None:
            return
        now = self._time()
        away = now - left
        if away > BRIEF_SECONDS:
            self._bytes_at = now
            self._content_at = now if self._content_at >= left else self._content_at + away
            self._drip_at = now if self._drip_at >= left else self._drip_at + away

    @property
    def is_away(self) -> bool:
        """Say whether the reader has bytes and does not wait for more."""
        return self._away_at is not None

    def stop(self) -> None:
        """Stop watching; nothing is called after this."""
        self.stage = Stage.OVER
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    @property
    def gaps(self) -> Gaps:
        """Return the longest gaps that ended, for the memory of this model."""
        return Gaps(self._first_byte_gap, self._byte_gap, self._first_content_gap, self._content_gap)

    def quiet(self) -> Quiet:
        """Return how long it has been quiet, and how long it may be."""
        now = self._time() if self._away_at is None else self._away_at
        _, content_limit = self._content_patience()
        _, byte_limit = self._byte_patience()
        return Quiet(
            self.stage,
            max(0.0, now - self._content_at),
            content_limit,
            max(0.0, now - self._bytes_at),
            byte_limit,
        )

    def _enter(self, stage: Stage, now: float) -> None:
        """Begin a stage: its limits may be shorter than what the timer is set to."""
        if self.stage is Stage.OVER:
            return
        self.stage = stage
        self._bytes_at = self._content_at = self._drip_at = now
        self._drip_chars = self._chars
        self._arm()

    def _byte_patience(self) -> tuple[Patience, float]:
        limits = self.limits
        if self.stage is Stage.CONNECTING:
            return Patience.CONNECT, limits.connect_seconds
        if self.stage is Stage.WAITING:
            return Patience.FIRST_BYTE, limits.first_byte_seconds
        return Patience.DEAD, limits.dead_seconds

    def _content_patience(self) -> tuple[Patience, float]:
        limits = self.limits
        if self.stage is Stage.CONNECTING:
            return Patience.CONNECT, limits.connect_seconds
        if self.stage is Stage.WAITING:
            return Patience.FIRST_CONTENT, limits.first_content_seconds
        return Patience.SILENCE, limits.silence_seconds

    def _deadlines(self) -> list[tuple[float, Patience, float, float]]:
        """Return when each clock runs out, what it is, its limit, and since when it runs."""
        dead, dead_limit = self._byte_patience()
        stuck, stuck_limit = self._content_patience()
        window = self.limits.drip_window_seconds
        found = [
            (self._bytes_at + dead_limit, dead, dead_limit, self._bytes_at),
            (self._content_at + stuck_limit, stuck, stuck_limit, self._content_at),
        ]
        if self.stage is Stage.SPEAKING:
            rate = self.limits.drip_chars_per_second
            found.append((self._drip_at + window, Patience.DRIP, rate, self._drip_at))
        return found

    def _arm(self) -> None:
        """Set the one timer to the first moment at which something could be over, or to a look at ourselves.

        One that comes sooner is left as it is: it will look, and set itself anew.
        """
        first = min(at for at, *_ in self._deadlines())
        if self._away_at is not None:  # the clocks stand still, so look again after a whole limit
            first += self._time() - self._away_at
        pulse = self._time() + PULSE_SECONDS  # a pause that ends before a limit would pass for silence
        at = min(first, self._turn_ends_at, pulse)
        if self._timer is not None:
            if self._timer.when() <= at:
                return
            self._timer.cancel()
        self._timer = self._loop.call_at(at, self._look)

    def _look(self) -> None:
        """Decide, at the timer: over, or not yet."""
        timer, self._timer = self._timer, None
        if timer is None or self.stage is Stage.OVER:
            return
        now = self._time()
        self._forgive(now, now - timer.when())
        self._begin_drip_window(now)
        stall = self._overdue(now)
        if stall is None:
            self._arm()
        else:
            self.stop()
            self._on_stall(stall)

    def _forgive(self, now: float, late_seconds: float) -> None:
        """Start the clocks again, once, when this process was stopped or its machine slept: nobody listened."""
        if late_seconds <= LATE_SECONDS or self._forgiven:
            return
        self._forgiven = True
        self._turn_ends_at += late_seconds
        self._bytes_at = self._content_at = self._drip_at = now

    def _begin_drip_window(self, now: float) -> None:
        window = self.limits.drip_window_seconds
        enough = self._chars - self._drip_chars >= self.limits.drip_chars_per_second * window
        if enough and now >= self._drip_at + window - _EXACT:
            self._drip_at, self._drip_chars = now, self._chars

    def _overdue(self, now: float) -> Stall | None:
        if now >= self._turn_ends_at - _EXACT:
            return Stall(Patience.TURN, self.limits.turn_seconds, now - self._turn_began_at)
        if self._away_at is not None:
            return None
        for at, patience, limit_seconds, since in self._deadlines():
            if now >= at - _EXACT:
                return Stall(patience, limit_seconds, now - since)
        return None
