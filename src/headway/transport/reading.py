"""Bytes of one HTTP/1.x answer to its head and the pieces of its body. Pure; it never raises.

The parser is llhttp, by httptools. Around it stands what a client has to decide: interim answers are passed over, a
body that only the end of the connection ends is told apart from one that proved its end, and the head is bounded.
"""

from enum import Enum

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from headway.transport.message import Headers

MAX_HEAD = 64 * 1024
_NO_BODY = frozenset({204, 304})


class Reading(Enum):
    """How far an answer has been read."""

    HEAD = "head"
    BODY = "body"
    WHOLE = "whole"
    """The end was proven: by length, by the last chunk, or because there is no body."""
    OPEN_END = "open_end"
    """The connection ended, and nothing had said where the body would."""
    CUT = "cut"
    BROKEN = "broken"


_HEAD = Reading.HEAD  # a name of the module is there at once, a member of an Enum has to be looked for
_UNFINISHED = (Reading.BODY, Reading.HEAD)  # a tuple compares by identity; a set would have an Enum hash itself


class AnswerReader:
    """Reads one answer. `pieces` holds what came of the body; `take` takes it."""

    def __init__(self, *, head_only: bool = False) -> None:
        """Read one answer; `head_only` when it is one to HEAD."""
        self.state = Reading.HEAD
        self.status = 0
        self.headers = Headers()
        self.pieces: list[bytes] = []
        self.keep_alive = False
        self.why = ""
        """What is wrong with an answer that is BROKEN."""
        self.on_body = self.pieces.append  # called by the parser, so a chunk costs no Python frame
        self._head_only = head_only
        self._delimited = False
        self._head_bytes = 0
        self._items: list[tuple[str, str]] = []
        self._parser: HttpResponseParser | None = HttpResponseParser(self)

    @property
    def begun(self) -> bool:
        """Say whether any byte of an answer came."""
        return self._head_bytes > 0

    @property
    def over(self) -> bool:
        """Say whether nothing more can come of it."""
        return self.state not in _UNFINISHED

    def feed(self, data: bytes) -> None:
        """Read more bytes. Bytes behind the end belong to nobody: the connection cannot be used again."""
        parser = self._parser
        if parser is None:
            self.keep_alive = False
            return
        in_head = self.state is _HEAD
        try:
            parser.feed_data(data)
        except HttpParserUpgrade:
            self._break("it switched to another protocol")
        except HttpParserError as exc:
            self._break(_reason(exc))
        if in_head:
            self._head_bytes += len(data)
            if self.state is Reading.HEAD and self._head_bytes > MAX_HEAD:
                self._break("its headers have no end")

    def take(self) -> bytes:
        """Return what came of the body since the last time; empty when nothing did."""
        pieces = self.pieces
        if len(pieces) == 1:
            return pieces.pop()
        data = b"".join(pieces)
        pieces.clear()
        return data

    def end(self) -> None:
        """Say that no more bytes come."""
        if self.state is Reading.BODY and not self._delimited:
            self._finish(Reading.OPEN_END)
        elif not self.over:
            self._finish(Reading.CUT)

    def on_message_begin(self) -> None:
        """Note (the parser) that an answer begins: a second one is nobody's."""
        if self.over:
            self.keep_alive = False

    def on_header(self, name: bytes, value: bytes) -> None:
        """Note (the parser) a header; trailers are passed over."""
        if self.state is Reading.HEAD:
            self._items.append((name.decode("latin-1").lower(), value.decode("latin-1").strip()))

    def on_headers_complete(self) -> None:
        """Note (the parser) the end of a head."""
        parser = self._parser
        if parser is None or self.state is not Reading.HEAD:
            return
        status = parser.get_status_code()
        if status < 200:  # an interim answer: the real one follows
            self._items.clear()
            return
        self.status, self.headers = status, Headers(tuple(self._items))
        self._delimited = (
            "content-length" in self.headers
            or self.headers.get("transfer-encoding").lower().endswith("chunked")
            or status in _NO_BODY
        )
        self.state = Reading.BODY
        if self._head_only:
            self._finish(Reading.WHOLE)

    def on_message_complete(self) -> None:
        """Note (the parser) the proven end of an answer."""
        if self.state is Reading.BODY and self._parser is not None:
            self.keep_alive = self._parser.should_keep_alive()
            self._finish(Reading.WHOLE)

    def _break(self, why: str) -> None:
        if self.over:
            self.keep_alive = False  # the answer was whole, and rubbish follows it
        else:
            self.why = why
            self._finish(Reading.BROKEN)

    def _finish(self, state: Reading) -> None:
        self.state = state
        self.pieces = self.pieces.copy()  # the parser's list may still get what comes behind the end
        self._parser = None  # it holds this object, and this object it


def _reason(error: HttpParserError) -> str:
    return str(error) or type(error).__name__
