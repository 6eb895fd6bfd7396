"""Names of sessions: they sort by time, can be read out over the phone, and are safe as names of files."""

import re

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""Crockford's base 32: no i, l, o, u; in the order of ASCII, so that names sort as their numbers do."""
_TIME_DIGITS = 7
_CHANCE_DIGITS = 4
_FIT = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{0,63}")


def session_id(at: float, chance: float) -> str:
    """Return a name such as `1n8k3xq-7f2m` for a session that begins at `at`; `chance` is from outside, 0…1."""
    drawn = int(min(max(chance, 0.0), 1.0) * len(ALPHABET) ** _CHANCE_DIGITS)
    return f"{_digits(max(0, int(at)), _TIME_DIGITS)}-{_digits(drawn, _CHANCE_DIGITS)}"


def is_fit(name: str) -> bool:
    """Say whether a name that somebody else chose can name a session here."""
    return _FIT.fullmatch(name) is not None


def _digits(number: int, count: int) -> str:
    """Return the last `count` digits."""
    return "".join(ALPHABET[number >> 5 * place & 31] for place in reversed(range(count)))
