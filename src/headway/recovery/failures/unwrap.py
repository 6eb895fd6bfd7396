"""Any error body to what it says: codes, statuses, words, finish reasons and waits. Total and bounded.

Bodies come as JSON of a dozen shapes, JSON inside strings inside JSON, proxy text around JSON, Python reprs, SSE
fragments, HTML pages, cut JSON, or nothing. The walk is breadth first, outermost words first, and never reads what
only echoes the request or the model (prompts, generations): those are not evidence about the failure.
"""

import ast
import json
import re
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias, TypeVar

from msgspec import Struct

from headway.wire.json_text import BadJson, decode

PARSE_LIMIT = 1024 * 1024
"""A longer body is not parsed; its two ends are searched for the fields that matter."""
HEAD, TAIL = 48 * 1024, 16 * 1024
MAX_STEPS = 600
MAX_DEPTH = 12
MAX_ITEMS = 24
WORDS_LIMIT = 4000


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WAITS = _names("retrydelay retryafter retryafterseconds retryafterms retryaftermilliseconds resetsinseconds resetsat")
_FINISHES = _names("finishreason stopreason nativefinishreason")
_STATUSES = _names(
    "status code statuscode httpcode httpstatus httpstatuscode rawstatuscode originalstatuscode upstreamstatus"
)
_CODES = _names(
    "code type errorcode errcode status errortype reason providercode exception name limitsource quotaid category"
    " subcode internalcode error errorname statuscode blockreason"
)
_WORDS = _CODES | _names(
    "message msg errormessage errormsg errmsg detail statusmsg errordescription description title raw finishmessage"
    " blockreasonmessage originalmessage explanation statusmessage upstreamerror cause hint param"
)
_MAKERS = _names("provider providername")
_ECHOES = _names(
    "failedgeneration flaggedinput patterns input prompt content messages request requestbody arguments output text"
    " delta toolcalls usage usagemetadata safetyratings links help requestid id model modelversion object"
    " created timestamp traceid citationmetadata logprobs tools schema errorargs stack traceback"
)
_ERROR_KEYS = _names("error message msg code detail type errormsg status")
_FLAGS = re.compile(r"sensitive$|^filtered$|^flagged$|^blocked$|^needclearhistory$")
_NUMERAL = re.compile(r"-?\d{1,7}")
_ENUM = re.compile(r"[\w.:/-]{1,120}")
_FIELD = re.compile(r'"([A-Za-z_]{3,20})"\s*:\s*(?:"((?:[^"\\]|\\.){0,600})(?:"|$)|(-?\d{1,9})\b)')
_CLASS_NAME = re.compile(r"(?:[A-Za-z_]+\.)*([A-Z]\w*(?:Error|Exception|Timeout|Exceeded))\s*(?::|-)\s*")
_LABEL = re.compile(r"([A-Za-z]{2,30}(?:_[A-Za-z]{2,30}){1,5})(?::\s|\s*$)")
_SDK_STATUS = re.compile(r"Error code: ([45]\d\d) - ")
_PROXY_NOISE = re.compile(r"Received Model Group|No fallback model group|Available Model Group")
_SSE_LINE = re.compile(r"^(data|error|event): ?(.*)$", re.MULTILINE)
_PAGE = re.compile(r"<(?:!doctype|html|head|body|title|center|h1|\?xml|error)\b", re.IGNORECASE)
_TAG = re.compile(r"<(script|style)\b[^>]{0,500}>[\s\S]{0,2000}?</\1>|<[^<>]{0,2000}>", re.IGNORECASE)


T = TypeVar("T")


class Clues(Struct, frozen=True):
    """What a body says, in the order it says it, outermost first."""

    codes: tuple[str, ...] = ()
    statuses: tuple[int, ...] = ()
    words: tuple[str, ...] = ()
    finishes: tuple[str, ...] = ()
    waits: tuple[tuple[str, str], ...] = ()
    """Waiting times as they were written, with the name of the field they stood in."""
    makers: tuple[str, ...] = ()
    """Who a proxy says it passed the request on to."""
    shapes: tuple[str, ...] = ()
    """The objects of the body: their field names in order of the alphabet, with the value where it is a number."""


def unwrap(body: str) -> Clues:
    """Read everything a body says about a failure."""
    reader = _Reader()
    if len(body) > PARSE_LIMIT:
        body = body[:HEAD] + body[-TAIL:]
    reader.read(body)
    if body and not (reader.words or reader.codes or reader.finishes):
        reader.words.append(clip(body.strip()))
    return Clues(
        _few(reader.codes),
        _few(reader.statuses),
        _few(reader.words),
        _few(reader.finishes),
        _few(reader.waits),
        _few(reader.makers),
        _few(reader.shapes),
    )


def _few(found: Iterable[T]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(found))[: MAX_ITEMS * 2]


def clip(text: str, limit: int = WORDS_LIMIT) -> str:
    """Keep the two ends of a long text: the beginning says what, the end often why."""
    return text if len(text) <= limit else f"{text[: limit * 3 // 4]} … {text[-(limit // 4) :]}"


class _Reader:
    """One walk over one body."""

    def __init__(self) -> None:
        self.codes: list[str] = []
        self.statuses: list[int] = []
        self.words: list[str] = []
        self.finishes: list[str] = []
        self.waits: list[tuple[str, str]] = []
        self.makers: list[str] = []
        self.shapes: list[str] = []
        self._queue: deque[tuple[Any, int]] = deque()
        self._depth = 0

    def read(self, body: str) -> None:
        self._queue.append((body, 0))
        for _ in range(MAX_STEPS):
            if not self._queue:
                return
            value, self._depth = self._queue.popleft()
            if isinstance(value, str):
                self._text(value)
            elif isinstance(value, dict):
                self._object(value)
            elif isinstance(value, list):
                self._later(*value[:MAX_ITEMS])

    def _later(self, *values: Any) -> None:
        if self._depth < MAX_DEPTH:
            self._queue.extend((value, self._depth + 1) for value in values)

    def _text(self, text: str) -> None:
        text = text.strip()
        if text[:2] in {"b'", 'b"'}:
            text = _unquoted(text)
        if text[:1] in {"{", "["}:
            self._json(text)
        elif text[:1] == '"' and (inner := _string(text)) is not None:
            self._later(inner)
        elif text.startswith(("data:", "error:", "event:", "id:")) and (frames := _SSE_LINE.findall(text)):
            self.codes.extend(value for field, value in frames[:MAX_ITEMS] if field == "event")
            self._later(*(value for field, value in frames[:MAX_ITEMS] if field != "event"))
        elif text[:1] == "<" and _PAGE.search(text, 0, 1000):
            self.codes.append("html_page")
            self.words.append(clip(_TAG.sub(" ", text[:TAIL]).strip()))
        else:
            self._prose(text)

    def _prose(self, text: str) -> None:
        """Read words that may be wrapped in a proxy's or an SDK's own, with JSON or a Python repr inside."""
        noise = _PROXY_NOISE.search(text)
        text = text[: noise.start()].rstrip(". \n") if noise else text
        for _ in range(MAX_DEPTH):
            if sdk := _SDK_STATUS.match(text):
                self.statuses.append(int(sdk[1]))
                text = text[sdk.end() :]
            elif wrapper := _CLASS_NAME.match(text, 0, 400):
                self.codes.append(wrapper[1])
                text = text[wrapper.end() :]
            else:
                break
        start = text.find("{")
        inner = _embedded(text[start:]) if start >= 0 else None
        if inner is not None:
            self._later(inner)
            text = text[:start].strip(" -:[b'\"")
        if label := _LABEL.match(text):
            self.codes.append(label[1])
        if text:
            self.words.append(clip(text))

    def _json(self, text: str) -> None:
        """Read JSON, or what looks like it and is not: a Python repr, two objects, or one that was cut."""
        try:
            self._later(decode(text))
        except BadJson:
            inner = _embedded(text)
            if inner is not None:
                self._later(inner)
            elif not self._scavenge(text):
                self.words.append(clip(text))

    def _scavenge(self, text: str) -> bool:
        """Pick single fields out of text that cannot be parsed; say whether there were any."""
        ends = text if len(text) <= HEAD + TAIL else text[:HEAD] + text[-TAIL:]
        fields = _FIELD.findall(ends)[: MAX_ITEMS * 2]
        for name, string, number in fields:
            key = _plain(name)
            if key not in _ECHOES:
                self._leaf(key, int(number) if number else string.replace('\\"', '"'), {})
        return bool(fields)

    def _object(self, value: dict[Any, Any]) -> None:
        self.shapes.append(_shape(value))
        for name, item in list(value.items())[: MAX_ITEMS * 4]:
            key = _plain(str(name))
            if key == "failedgeneration":
                self.codes.append("failed_generation")  # that it is there says enough; what it says is the model's
            elif key in _MAKERS:
                self.makers.extend([item[:80]] if isinstance(item, str) else [])
            elif key in _ECHOES:
                continue
            elif isinstance(item, dict | list):
                self._later(item)
            else:
                self._leaf(key, item, value)

    def _leaf(self, key: str, item: Any, around: dict[Any, Any]) -> None:
        """File one scalar by the name it stands under; nothing, zero and false say nothing."""
        if item is True:
            self.codes.extend([key] if _FLAGS.search(key) else [])
        elif item and isinstance(item, str | int | float):
            any(key in names and file(self, key, str(item), around) for names, file in _FILES)

    def wait(self, key: str, text: str, _: dict[Any, Any]) -> bool:
        self.waits.append((key, text))
        return True

    def finish(self, _: str, text: str, __: dict[Any, Any]) -> bool:
        self.finishes.append(text)
        return True

    def status(self, _: str, text: str, __: dict[Any, Any]) -> bool:
        if not re.fullmatch(r"[45]\d\d", text):
            return False
        self.statuses.append(int(text))
        return True

    def code(self, key: str, text: str, _: dict[Any, Any]) -> bool:
        if not _ENUM.fullmatch(text):
            return False
        self.codes.append(f"block_reason_{text}" if key == "blockreason" else text)
        return True

    def say(self, key: str, text: str, around: dict[Any, Any]) -> bool:
        place = around.get("loc")
        if key == "param":
            text = f"(param: {text})"
        elif isinstance(place, list):
            text = f"{'.'.join(str(step) for step in place[:8])}: {text}"
        self._text(text)
        return True


_File: TypeAlias = Callable[[_Reader, str, str, dict[Any, Any]], bool]
_FILES: tuple[tuple[frozenset[str], _File], ...] = (
    (_WAITS, _Reader.wait),
    (_FINISHES, _Reader.finish),
    (_STATUSES, _Reader.status),
    (_CODES, _Reader.code),
    (_WORDS, _Reader.say),
)
"""Where a scalar is filed: under the first heading that knows its key and takes its value."""


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def _shape(value: dict[Any, Any]) -> str:
    """Return the field names of an object, sorted, each with its value where that is a number."""
    fields = sorted((str(name)[:40], str(item)[:8]) for name, item in list(value.items())[:MAX_ITEMS])
    return " ".join(f"{name}={item}" if _NUMERAL.fullmatch(item) else name for name, item in fields)


def _string(text: str) -> str | None:
    """Return the text inside a JSON string, which may be JSON again; be it cut. Text that only begins so is None."""
    try:
        value = decode(text)
    except BadJson:
        return text[1:].replace('\\"', '"') if text[1:2] in {"{", "["} else None
    return value if isinstance(value, str) else None


def _literal(text: str) -> Any:
    """Read a Python literal of bounded size, or return None."""
    try:
        return ast.literal_eval(text[:HEAD])
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _unquoted(text: str) -> str:
    """Return the text inside a Python bytes literal, as far as it is one."""
    value = _literal(text)
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else text[2:].rstrip("'\"")


def _embedded(text: str) -> dict[str, Any] | None:
    """Return the error object that begins here, be it JSON or a Python repr. An object about something else is None."""
    try:
        value, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        value = _literal(text[: text.rfind("}", 0, HEAD) + 1]) if "'" in text[:200] else None
    return value if isinstance(value, dict) and _ERROR_KEYS & {_plain(str(key)) for key in value} else None
