"""A process that matches lines, so that a pattern that would run for ever can be killed. Standard library only.

Its input is a line of JSON that asks, then batches: a line of JSON with the size of each file, and the files. It
answers each with a line of JSON: an error of the pattern or null, then what it found in the batch.
"""

import json
import re
import signal
import sys
from collections.abc import Iterator
from typing import Any

LONGEST_LINE = 2_000
SHOWN = 300


def main() -> None:
    """Answer until the input ends; the alarm ends it when nobody is left to do so."""
    asked = json.loads(sys.stdin.buffer.readline())
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, asked["seconds"])
    flags = re.IGNORECASE if asked["ignore_case"] else 0
    try:
        pattern = re.compile(re.escape(asked["pattern"]) if asked["literal"] else asked["pattern"], flags)
    except (re.error, RecursionError, OverflowError) as error:
        _answer(str(error))
        return
    _answer(None)
    left = asked["most"]
    for sizes in iter(sys.stdin.buffer.readline, b""):
        files = [sys.stdin.buffer.read(size) for size in json.loads(sizes)]
        found = list(_found(pattern, files, left))
        left -= len(found)
        _answer(found)


def _found(pattern: re.Pattern[str], files: list[bytes], most: int) -> Iterator[tuple[int, int, str]]:
    """Find the lines that match: the index of the file, the number of the line, and what to show of it."""
    for index, data in enumerate(files):
        for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), 1):
            match = pattern.search(line[:LONGEST_LINE].removesuffix("\r"))
            if match is not None:
                yield index, number, _shown(line, match.start())
                most -= 1
                if most <= 0:
                    return


def _shown(line: str, start: int) -> str:
    line = line.rstrip()
    if len(line) <= SHOWN:
        return line
    first = max(0, start - SHOWN // 3)
    return ("…" if first else "") + line[first : first + SHOWN] + ("…" if first + SHOWN < len(line) else "")


def _answer(value: Any) -> None:
    sys.stdout.buffer.write(json.dumps(value).encode() + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
