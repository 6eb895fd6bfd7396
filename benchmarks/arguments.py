"""The streaming argument reader: microseconds for a delta of 20 characters, and how memory grows with the text."""

import json
import time
import tracemalloc

from headway.wire.arguments import ArgumentReader, State

DELTA = 20
MEGABYTES = (1, 3, 10)
MEMORY_MEGABYTES = 2


def plain(size: int) -> str:
    """Return a call whose text needs no escapes."""
    sentence = "It was a bright cold day in April, and the clocks were striking thirteen. "
    return json.dumps({"path": "notes.txt", "content": (sentence * (size // len(sentence) + 1))[:size]})


def escaped(size: int) -> str:
    """Return a call with an escape about every 60 characters, some of them surrogate pairs."""
    line = 'def reader(text):  # one line of some source, sixty wide\n    return "é😀"\n'
    return json.dumps({"path": "notes.py", "content": line * (size // len(json.dumps(line)) + 1)})


def nested(size: int) -> str:
    """Return a call of many small edits."""
    edit = {"old_text": "x = 1", "new_text": "x = compute(1)\n", "count": 12, "all": True}
    return json.dumps({"edits": [edit] * (size // len(json.dumps(edit)) + 1)})


def seconds_to_read(text: str) -> float:
    """Feed the text in deltas and return the time it took."""
    pieces = [text[at : at + DELTA] for at in range(0, len(text), DELTA)]
    reader = ArgumentReader()
    start = time.perf_counter()
    for piece in pieces:
        reader.feed(piece)
    seconds = time.perf_counter() - start
    assert reader.state is State.WHOLE
    return seconds


def memory_ratio(text: str) -> float:
    """Return the peak memory of a reader over the size of its text; the deltas are let go as they are read."""
    tracemalloc.start()
    reader = ArgumentReader()
    for at in range(0, len(text), DELTA):
        reader.feed(text[at : at + DELTA])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / len(text)


def main() -> dict:
    """Print and return the measurements."""
    results: dict = {}
    print(f"argument reader, deltas of {DELTA} characters")
    for make in (plain, escaped, nested):
        for megabytes in MEGABYTES:
            text = make(megabytes * 1_000_000)
            seconds = seconds_to_read(text)
            delta_us = round(seconds * 1e6 / (len(text) / DELTA), 3)
            speed = round(len(text) / 1e6 / seconds, 1)
            results[f"{make.__name__}_{megabytes}mb"] = {"us_per_delta": delta_us, "mb_per_second": speed}
            print(f"  {make.__name__:8} {megabytes:3} MB  {delta_us:7.3f} us/delta  {speed:6.1f} MB/s")
        ratio = round(memory_ratio(make(MEMORY_MEGABYTES * 1_000_000)), 2)
        results[f"{make.__name__}_memory_ratio"] = ratio
        print(f"  {make.__name__:8} peak memory is {ratio} x the text")
    return results


if __name__ == "__main__":
    main()
