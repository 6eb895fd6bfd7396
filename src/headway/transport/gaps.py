"""How long healthy streams have been quiet, by model: what limits adapt to. Pure values; bounded.

Only gaps that ended are remembered, never the one a stream was given up in: an upstream that is down teaches nothing
about patience. A memory only lengthens limits, and forgets after `STREAMS` streams.
"""

from msgspec import Struct
from msgspec.structs import astuple

STREAMS = 32
"""So many streams of one model are remembered …"""
MODELS = 256
"""… of so many models."""


class Gaps(Struct, frozen=True):
    """The longest waits of one stream, or of several."""

    first_byte_seconds: float = 0.0
    """Between bytes, before anything was said."""
    byte_seconds: float = 0.0
    """Between bytes, after that."""
    first_content_seconds: float = 0.0
    content_seconds: float = 0.0


_NONE = Gaps()


class GapMemory(Struct, frozen=True):
    """The gaps of the latest streams by a key such as `provider/model`."""

    streams: dict[str, tuple[Gaps, ...]] = {}
    known: dict[str, Gaps] = {}
    """The longest of each key: it is asked for before every request, when somebody waits."""

    def with_stream(self, key: str, gaps: Gaps) -> "GapMemory":
        """Return a memory that also knows this stream."""
        streams = {name: seen for name, seen in self.streams.items() if name != key}
        while len(streams) >= MODELS:
            del streams[next(iter(streams))]
        seen = streams[key] = (*self.streams.get(key, ()), gaps)[-STREAMS:]
        longest = Gaps(*map(max, zip(*map(astuple, seen), strict=True)))
        return GapMemory(streams, {**{name: self.known[name] for name in streams if name != key}, key: longest})

    def longest(self, key: str) -> Gaps:
        """Return the longest gaps remembered for a key; zeros when there are none."""
        return self.known.get(key, _NONE)
