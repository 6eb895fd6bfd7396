"""What a process and its children cost: CPU time and resident memory, from `/proc`."""

import os
from pathlib import Path

from msgspec import Struct

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


class Cost(Struct, frozen=True):
    """What has been used, and what is held now."""

    cpu_seconds: float
    resident_bytes: int


def cost_of(pid: int) -> Cost:
    """Return the cost of a process with all of its threads and living children."""
    seconds, resident = 0.0, 0
    for each in family_of(pid):
        fields = Path(f"/proc/{each}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
        seconds += (int(fields[11]) + int(fields[12])) / _TICKS
        resident += int(fields[21]) * _PAGE
    return Cost(seconds, resident)


def family_of(pid: int) -> list[int]:
    """Return a process and what it has started."""
    family = [pid]
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            family += family_of(int(child))
    return family
