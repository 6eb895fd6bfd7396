"""Whose codes a failure speaks: the vendor that was named, or, behind a proxy or nameless, the one its body shows."""

import re

from headway.recovery.failures.evidence import Evidence
from headway.recovery.failures.table import ALIASES, NAMES, PROXIES, SHAPES

_WRAPPED = re.compile(r"(\w{2,40})(?:Exception|Error)")


def vendor_called(name: str) -> str:
    """Return the one name of a vendor that people call by many; an unknown name stays itself."""
    plain = name.strip().lower()
    joined = re.sub(r"[ -]+", "_", plain)
    return ALIASES.get(plain, ALIASES.get(joined, joined if joined in NAMES else plain))


def vendor_of(evidence: Evidence) -> str:
    """Return the vendor whose codes these are, as far as anything says so."""
    given = vendor_called(evidence.facts.vendor)
    if given in NAMES and given not in PROXIES:
        return given
    return _by_shape(evidence) or _by_name(evidence) or given


def _by_shape(evidence: Evidence) -> str:
    shapes = (*evidence.clues.shapes, *(f"({number})" for number in evidence.bracketed))
    return next((vendor for pattern, vendor in SHAPES if any(re.search(pattern, shape) for shape in shapes)), "")


def _by_name(evidence: Evidence) -> str:
    """Take the innermost of the vendors that a proxy names, by a field or by the name of an exception."""
    wrapped = (found[1] for code in evidence.clues.codes if (found := _WRAPPED.fullmatch(code)))
    named = [vendor for name in (*wrapped, *evidence.clues.makers) if (vendor := vendor_called(name)) in NAMES]
    return named[-1] if named else ""
