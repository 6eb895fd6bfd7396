"""One reply as it is told, block by block: which blocks are open, what was said, which calls are whole, how it ends.

Indexes may be missing, wrong or used again; unknown deltas are passed over. What would lose or misplace a call's
arguments is never passed over: it is `BadJson`. A call without input is vouched for only once the stop reason shows
that it was not cut there, or once the reply goes on after it; a block that is never stopped is never whole.
"""

from typing import Any, TypeAlias

from msgspec import Struct

from headway.events import (
    CallArguments,
    CallClosed,
    CallOpened,
    Cut,
    Event,
    KeepAlive,
    OpaqueBlock,
    Stop,
    StreamCut,
    StreamEnded,
    StreamOpened,
    TextDelta,
    ThinkingDelta,
    ThinkingSealed,
    ThinkingSigned,
    Unread,
)
from headway.messages import Raw
from headway.wire.anthropic.blocks import NAME, text_of
from headway.wire.anthropic.stops import Counts, read_end, vouches
from headway.wire.json_text import BadJson, encode_text, excerpt, strict_object

NO_INDEX = -1
_KEEP_ALIVE = KeepAlive()
_PLAIN_CALL = frozenset({"type", "id", "name", "input"})


class _Plain(Struct):
    """An open block whose deltas say everything."""


class _Reasoning(Struct):
    """An open thinking block, and what came of its signature."""

    signature: list[str]


class _Call(Struct):
    """An open tool call; `given` is the input that came with its start, `blank` says that no more of it came."""

    number: int
    given: Any
    blank: bool = True


class _Foreign(Struct):
    """An open block that only this wire knows; the texts of its deltas are joined field by field."""

    block: dict[str, Any]
    pieces: dict[str, list[str]]


_Block: TypeAlias = _Plain | _Reasoning | _Call | _Foreign


class ReplyReader:
    """Takes the steps of one reply in order and appends what they say."""

    def __init__(self) -> None:
        """Start before the first step."""
        self.spoke = False
        self.collects = 0
        """How many foreign blocks are open: their deltas are not words of the answer."""
        self._open: dict[int, _Block] = {}
        self._seen: set[int] = set()
        self._calls = 0
        self._closed = 0
        self._held: list[int] = []
        self._counts = Counts()
        self._opened = False
        self._stop = ""
        self._last_delta: dict[str, Any] = {}

    def opened(self, message: dict[str, Any], out: list[Event]) -> None:
        """Take the beginning of the reply."""
        if self._opened:
            out.append(_KEEP_ALIVE)
            return
        self._opened = True
        out.append(StreamOpened(text_of(message.get("id")), text_of(message.get("model"))))
        self._count(message.get("usage"), out)

    def started(self, index: int, block: dict[str, Any], out: list[Event]) -> None:
        """Take the beginning of a block; whatever was closed before it is whole."""
        self._release(out)
        at = index if index >= 0 else NO_INDEX - 1 - len(self._seen)
        if isinstance(self._open.pop(at, None), _Foreign):
            self.collects -= 1
        self._seen.add(at)
        self._open[at] = self._start(block, out)

    def add_input(self, index: int, piece: str, out: list[Event]) -> None:
        """Take more of a tool's input."""
        block = self._open.get(index) or self._find(index)
        if type(block) is _Call and piece:
            if block.blank:
                block.blank = piece.isspace()
            out.append(CallArguments(block.number, piece))
        elif not piece:
            out.append(_KEEP_ALIVE)
        elif type(block) is _Foreign:
            block.pieces.setdefault("input", []).append(piece)
            out.append(_KEEP_ALIVE)
        else:
            raise BadJson("a tool's input came while no tool block was open")

    def added(self, index: int, delta: dict[str, Any], out: list[Event]) -> None:
        """Take a delta of any kind."""
        kind = delta.get("type")
        block = self._find(index)
        if kind == "input_json_delta":
            self.add_input(index, _text(delta, "partial_json"), out)
        elif type(block) is _Foreign:
            _collect(block, delta)
            out.append(_KEEP_ALIVE)
        elif kind == "text_delta":
            self._say(TextDelta, _text(delta, "text"), out)
        elif kind == "thinking_delta":
            self._say(ThinkingDelta, _text(delta, "thinking"), out)
        elif kind == "signature_delta" and type(block) is _Reasoning:
            block.signature.append(_text(delta, "signature"))
        elif kind == "citations_delta":
            out.append(_citation(delta))
        else:
            out.append(_KEEP_ALIVE)

    def stopped(self, index: int, out: list[Event]) -> None:
        """Take the end of a block."""
        at = self._place(index)
        block = self._open.pop(at) if at is not None else None
        if isinstance(block, _Reasoning):
            signature = "".join(block.signature)
            if signature:
                self.spoke = True
                out.append(ThinkingSigned(signature))
        elif isinstance(block, _Call):
            self._close(block, out)
        elif isinstance(block, _Foreign):
            self.collects -= 1
            self._give_foreign(block, out)

    def concluded(self, delta: dict[str, Any], usage: Any, out: list[Event]) -> None:
        """Take what the reply says about its end: why it stops, how many tokens it took, or both."""
        word = text_of(delta.get("stop_reason"))
        if word:
            self._stop, self._last_delta = word, delta
            self._release_if_vouched(out)
        self._count(usage, out)

    def ended(self, out: list[Event], *, marked: bool) -> None:
        """Give the verdict: a stop reason makes an end, and so does the wire's mark when nothing is left open."""
        if self._stop:
            out.append(read_end(self._stop, self._last_delta, calls=self._closed))
        elif marked and self.spoke and not self._open:
            self._release(out)
            out.append(StreamEnded(Stop.CALLS if self._closed else Stop.END, "message_stop"))
        else:
            out.append(StreamCut(Cut.EOF))

    def _start(self, block: dict[str, Any], out: list[Event]) -> _Block:
        match block.get("type"):
            case "tool_use":
                beyond = block.keys() - _PLAIN_CALL
                raw = Raw(NAME, block) if beyond else None
                call = _Call(self._calls, block.get("input"))
                self._calls += 1
                self.spoke = True
                out.append(CallOpened(call.number, text_of(block.get("id")), text_of(block.get("name")), raw=raw))
                return call
            case "text":
                if text := _text(block, "text"):
                    self._say(TextDelta, text, out)
                citations = block.get("citations")
                out.extend(map(_citation, citations if isinstance(citations, list) else ()))
            case "thinking":
                if thought := _text(block, "thinking"):
                    self._say(ThinkingDelta, thought, out)
                return _Reasoning([_text(block, "signature")])
            case "redacted_thinking":
                self.spoke = True
                out.append(ThinkingSealed(_text(block, "data"), Raw(NAME, block)))
            case str():
                self.collects += 1
                return _Foreign(dict(block), {})
            case _:
                pass  # a block of no kind: its deltas say what they are
        return _Plain()

    def _close(self, call: _Call, out: list[Event]) -> None:
        if call.blank and call.given:
            out.append(CallArguments(call.number, encode_text(call.given)))
        elif call.blank:
            self._held.append(call.number)
            self._release_if_vouched(out)
            return
        self._closed += 1
        out.append(CallClosed(call.number))

    def _release_if_vouched(self, out: list[Event]) -> None:
        if vouches(self._stop):
            self._release(out)

    def _release(self, out: list[Event]) -> None:
        """Vouch for the calls that were closed without input: nothing was cut there."""
        if self._held:
            out.extend(CallClosed(number) for number in self._held)
            self._closed += len(self._held)
            self._held.clear()

    def _give_foreign(self, foreign: _Foreign, out: list[Event]) -> None:
        block = foreign.block
        given = "".join(foreign.pieces.pop("input", ()))
        try:
            if given and not given.isspace():
                block["input"] = strict_object(given)
        except BadJson as exc:
            out.append(Unread(f"the input of a {block['type']} block does not parse: {exc}", excerpt(given)))
            return
        for name, pieces in foreign.pieces.items():
            block[name] = text_of(block.get(name)) + "".join(pieces)
        self.spoke = True
        out.append(OpaqueBlock(Raw(NAME, block)))

    def _say(self, kind: type[TextDelta | ThinkingDelta], text: str, out: list[Event]) -> None:
        if text:
            self.spoke = True
            out.append(kind(text))
        else:
            out.append(_KEEP_ALIVE)

    def _count(self, usage: Any, out: list[Event]) -> None:
        total = self._counts.add(usage)
        if total is not None:
            out.append(total)

    def _find(self, index: int) -> _Block | None:
        at = self._place(index)
        return None if at is None else self._open[at]

    def _place(self, index: int) -> int | None:
        """Blocks do not interleave, so an index that was never used can only mean the block opened last.

        An index whose block has stopped means that block, and nothing that is open.
        """
        if index in self._open:
            return index
        return None if index in self._seen else next(reversed(self._open), None)


def _collect(block: _Foreign, delta: dict[str, Any]) -> None:
    for name, value in delta.items():
        if name == "type":
            continue
        if isinstance(value, str):
            block.pieces.setdefault(name, []).append(value)
        elif value is not None:
            block.block[name] = value


def _citation(value: Any) -> Unread:
    """Report a citation: it belongs to words already said, and events have no place for it."""
    return Unread("a citation", excerpt(encode_text(value)))


def _text(value: dict[str, Any], name: str) -> str:
    """Return a text that may be missing; anything else in its place cannot be passed over safely."""
    text = value.get(name)
    if text is None:
        return ""
    if not isinstance(text, str):
        raise BadJson(f"{name} is not a text")
    return text
