"""Facts to evidence: one spelling for codes, one lower-case sentence at a time, one status to judge by."""

import re

from msgspec import Struct
from msgspec.structs import replace

from headway.failure import Where
from headway.recovery.failures.facts import Facts
from headway.recovery.failures.unwrap import Clues, clip, unwrap

MAX_SENTENCES = 60
MAX_SENTENCE = 700
_TELLING_HEADERS = ("cf-mitigated", "x-should-retry")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NOT_WORD = re.compile(r"[^a-z0-9_]+")
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|[\u3002\uff01\uff1f\uff1b]|\n+")
_SPACES = re.compile(r"\s+")
_BRACKETED = re.compile(r"[(\uff08\[](\d{3,6})[)\uff09\]]\s*$")
_QUOTES = str.maketrans("\u2019\u2018“”", "''\"\"")
_TEXT_STATUS = re.compile(
    r"(?:\b(?:error|status|http)(?: ?code| ?status)?(?:/[\d.]+)?[ :=(]{1,3}([45]\d\d)\b)"
    r"|(?:^\W{0,2}|\| )([45]\d\d)"
    r"(?::| (?:bad|too many|internal|service|gateway|not|unauthori|forbidden|payment|request))",
    re.IGNORECASE,
)


class Evidence(Struct, frozen=True):
    """What rows look at. Codes are snake_case, sentences lower case; both come outermost first."""

    facts: Facts
    """What was given; where nobody said where it happened, the place follows from the rest."""
    clues: Clues
    status: int | None
    codes: tuple[str, ...]
    finishes: tuple[str, ...]
    sentences: tuple[str, ...]
    text: str
    """The sentences, one a line."""
    words: str
    """What the provider said, as it said it."""
    bracketed: tuple[str, ...] = ()
    """Numbers in brackets behind the words: some put their own code there."""
    vendor: str = ""
    """Whose codes these are; behind a proxy, not the one who answered."""


def evidence_of(facts: Facts) -> Evidence:
    """Read all that can be read out of the facts."""
    clues = unwrap(facts.body)
    said = unwrap(facts.message) if facts.message else Clues()
    words = tuple(dict.fromkeys([*said.words, *clues.words]))
    headers = {name.lower(): value for name, value in facts.headers.items()}
    bracketed = [found[1] for text in words if (found := _BRACKETED.search(text))]
    given = [facts.code, facts.type, facts.exception, headers.get("x-amzn-errortype", "").partition(":")[0]]
    telling = [f"{name}_{headers[name]}" for name in _TELLING_HEADERS if name in headers]
    codes = [code for code in (*given, *telling, *said.codes, *clues.codes, *bracketed) if code]
    spoken = [code for code in codes if code.count(" ") > 2]
    finishes = [facts.finish_reason, *clues.finishes, *said.finishes]
    if facts.stop is not None:
        finishes.append(facts.stop.value)
    sentences = _sentences([*words, *spoken])
    status = _status(facts, (*clues.statuses, *said.statuses), words)
    return Evidence(
        facts=replace(facts, where=_place(facts, status, is_said=bool(words or codes))),
        clues=clues,
        status=status,
        codes=tuple(dict.fromkeys(snake(code) for code in codes)),
        finishes=tuple(dict.fromkeys(snake(finish) for finish in finishes if finish)),
        sentences=sentences,
        text="\n".join(sentences),
        words=" ".join(words),
        bracketed=tuple(bracketed),
    )


def snake(name: str) -> str:
    """Return one spelling for `RateLimitError`, `rate-limit.error` and `RATE_LIMIT_ERROR`."""
    return _NOT_WORD.sub("_", _CAMEL.sub("_", clip(name, 100)).lower()).strip("_")


def is_streaming(where: Where | None) -> bool:
    """Say whether a failure showed itself after the answer had begun."""
    return where in {
        Where.STREAM_ERROR_EVENT,
        Where.STREAM_ERROR_CHUNK,
        Where.STREAM_EOF,
        Where.FINISH_REASON,
        Where.TIMEOUT,
    }


def _status(facts: Facts, inside: tuple[int, ...], words: tuple[str, ...]) -> int | None:
    """Choose the status to judge by: the HTTP one, unless it says nothing or hides a client error under a 5xx."""
    own = facts.status
    numbers = [int(code) for code in (facts.code, facts.type) if re.fullmatch(r"[45]\d\d", code)]
    inner = [*inside, *numbers]
    if own is None or own < 400:
        if not inner:
            inner = [int(found[1] or found[2]) for text in words if (found := _TEXT_STATUS.search(text[:400]))]
        return inner[0] if inner else own
    return next((status for status in inner if status < 500), own) if own >= 500 else own


def _place(facts: Facts, status: int | None, *, is_said: bool) -> Where | None:
    """Infer where it happened when nobody said so: output that was there means a stream, a bad status means none."""
    if facts.where is not None:
        return facts.where
    if facts.status is not None and facts.status >= 400:
        return Where.HTTP_ERROR
    if facts.finish_reason or facts.stop is not None:
        return Where.FINISH_REASON
    if facts.context or facts.after_output:
        return Where.STREAM_ERROR_EVENT if is_said and not facts.exception else Where.STREAM_EOF
    return Where.HTTP_ERROR if status is not None and status >= 400 else None


def _sentences(texts: list[str]) -> tuple[str, ...]:
    found: list[str] = []
    for text in texts:
        plain = text.translate(_QUOTES).lower()
        parts = (_SPACES.sub(" ", part).strip() for part in _SENTENCE_END.split(plain))
        found.extend(clip(part, MAX_SENTENCE) for part in parts if part)
    return tuple(dict.fromkeys(found))[:MAX_SENTENCES]
