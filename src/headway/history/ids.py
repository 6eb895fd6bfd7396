"""Call ids and tool names that an endpoint accepts. New ones are hashes of the old: the same history, the same ids."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

from headway.dialect import Dialect

PREFIX = "call_"
_HASHED_LENGTH = 24
_NAME_CHARACTER = re.compile(r"[^a-zA-Z0-9_-]")


@lru_cache(maxsize=64)
def id_pattern(alphabet: str, longest: int, exactly: int | None) -> re.Pattern[str]:
    """Return what an id must match as a whole."""
    return re.compile(rf"[{alphabet}]{{{exactly}}}" if exactly else rf"[{alphabet}]{{1,{longest}}}")


@lru_cache(maxsize=64)
def _letters(alphabet: str) -> str:
    """Return the plain characters of a character class."""
    pattern = re.compile(f"[{alphabet}]")
    return "".join(letter for letter in map(chr, range(0x21, 0x7F)) if letter.isalnum() and pattern.match(letter))


def fits(call_id: str, dialect: Dialect) -> bool:
    """Say whether an endpoint accepts this id."""
    return id_pattern(dialect.id_alphabet, dialect.id_max, dialect.id_length).fullmatch(call_id) is not None


def hashed(call_id: str, occurrence: int, dialect: Dialect) -> str:
    """Return an id that fits, made of nothing but the old one and how often it was met before."""
    letters = _letters(dialect.id_alphabet)
    seed = f"{occurrence}:{call_id}".encode("utf-8", "surrogatepass")
    number = int.from_bytes(hashlib.blake2b(seed, digest_size=32).digest(), "big")
    length = dialect.id_length or min(dialect.id_max, _HASHED_LENGTH)
    digits: list[str] = []
    for _ in range(length):
        number, digit = divmod(number, len(letters))
        digits.append(letters[digit])
    text = "".join(digits)
    prefixed = PREFIX + text[len(PREFIX) :]
    roomy = dialect.id_length is None and length == _HASHED_LENGTH
    return prefixed if roomy and fits(prefixed, dialect) else text


class IdBook:
    """Hands out one id for each call: its own if that fits and is new, else a hash of it."""

    def __init__(self, dialect: Dialect, present: Iterable[str]) -> None:
        """Know the ids that are `present`, so that no new one is taken for an old one."""
        self._dialect = dialect
        self._taken = set(present)
        self._met: Counter[str] = Counter()

    def give(self, call_id: str) -> str:
        """Return the id for the next call that came with `call_id`."""
        self._met[call_id] += 1
        occurrence = self._met[call_id]
        if occurrence == 1 and fits(call_id, self._dialect):
            return call_id
        given = hashed(call_id, occurrence, self._dialect)
        while given in self._taken:
            given = hashed(f"{given}:{call_id}", occurrence, self._dialect)
        self._taken.add(given)
        return given


def name_fits(name: str, dialect: Dialect) -> bool:
    """Say whether an endpoint accepts this name of a tool."""
    return 0 < len(name) <= dialect.name_max and _NAME_CHARACTER.search(name) is None


def fitting_name(name: str, dialect: Dialect) -> str:
    """Return the name with everything replaced that no endpoint accepts."""
    return _NAME_CHARACTER.sub("_", name.strip())[: dialect.name_max]
