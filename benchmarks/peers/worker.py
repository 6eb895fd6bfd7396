"""The loop of a client's process: a line of JSON in (`url`, `wire`, `traced`), a line of JSON out.

Only what reading costs is counted: the CPU time of this process, the growth of its resident memory up to its highest
point and, if traced, the most that Python had allocated at once. What was read goes back as a digest, so that nobody
can win by reading something else.
"""

import asyncio
import contextlib
import json
import os
import resource
import sys
import time
import tracemalloc
from collections.abc import Awaitable, Callable
from hashlib import sha256
from pathlib import Path

PROMPT = "hi"


def work(read: Callable[[str, str], Awaitable[str]]) -> None:
    """Answer until nobody asks any more. `read` gets the base of the address and the name of the wire."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    with contextlib.redirect_stdout(sys.stderr):  # some peers print
        for line in sys.stdin:
            asked = json.loads(line)
            print(
                json.dumps(_measured(read, asked["url"], asked["wire"], traced=asked["traced"])),
                file=answers,
                flush=True,
            )


def _measured(read: Callable[[str, str], Awaitable[str]], url: str, wire: str, *, traced: bool) -> dict:
    if traced:
        tracemalloc.start()
    before = resident_bytes()
    began = time.process_time()
    text = asyncio.run(_read(read, url, wire))
    used = time.process_time() - began
    allocated = tracemalloc.get_traced_memory()[1] if traced else 0
    tracemalloc.stop()
    return {
        "cpu_seconds": used,
        "grew_bytes": peak_bytes() - before,
        "allocated_bytes": allocated,
        "sha256": sha256(text.encode()).hexdigest(),
    }


async def _read(read: Callable[[str, str], Awaitable[str]], url: str, wire: str) -> str:
    return await read(url, wire)


def peak_bytes() -> int:
    """Return the highest that resident memory has been."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def resident_bytes() -> int:
    """Return how much is resident now; where nobody says, the highest so far."""
    with contextlib.suppress(OSError):
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return peak_bytes()
