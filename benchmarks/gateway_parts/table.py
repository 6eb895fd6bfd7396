"""What is printed: a row for each figure, a column for each gateway, and a verdict for each goal."""

import os
from collections.abc import Callable, Mapping
from statistics import median
from typing import Any

from benchmarks.gateway_parts.gateways import HEADWAY, LITELLM

WIDTH = 30


def show(measured: Mapping[str, Any]) -> None:
    """Print all figures: the median of the rounds, and from where to where they went."""
    streams = sorted({number for one in measured.values() for number in one.per_core})
    rows: list[tuple[str, Callable[[Any], str]]] = [
        ("start-up, ms", lambda one: spread([each * 1e3 for each in one.start_seconds], 0)),
        ("added first-token time, ms", lambda one: spread(one.first_ms, 2)),
        *(
            (f"chunks/s a core, {number}", lambda one, number=number: spread(one.per_core[number], 0))
            for number in streams
        ),
        *(row for pace in next(iter(measured.values())).paced for row in rows_of_pace(pace)),
        ("load average meanwhile", lambda one: spread(one.busy, 1)),
        ("memory at rest, MB", lambda one: f"{one.idle_mb:.0f}"),
        ("memory, 1,000 streams, MB", lambda one: f"{one.held_mb:.0f}"),
        ("the same after the floods, MB", lambda one: f"{one.held_again_mb:.0f}"),
    ]
    print(f"{'':<{WIDTH}}" + "".join(f"{name:>{WIDTH}}" for name in measured))
    for title, cell in rows:
        print(f"{title:<{WIDTH}}" + "".join(f"{cell(one):>{WIDTH}}" for one in measured.values()))


def rows_of_pace(pace: int) -> list[tuple[str, Callable[[Any], str]]]:
    title = f"256 × {pace}/s:"
    return [
        (f"{title} added p50, ms", lambda one: spread(one.paced[pace].p50_ms, 2)),
        (f"{title} added p99, ms", lambda one: spread(one.paced[pace].p99_ms, 2)),
        (f"{title} CPU a chunk, µs", lambda one: spread(one.paced[pace].cpu_us, 1)),
        (f"{title} delivered, %", lambda one: spread([each * 100 for each in one.paced[pace].delivered], 0)),
    ]


def spread(values: list[float], digits: int) -> str:
    """Write the median, and the lowest and the highest behind it."""
    low, middle, high = (f"{value:,.{digits}f}" for value in (min(values), median(values), max(values)))
    return f"{middle} ({low} … {high})" if len(values) > 1 else middle


def judge(measured: Mapping[str, Any]) -> dict[str, float]:
    """Print the goals and whether they are met; return the figures."""
    own, peer = measured[HEADWAY], measured.get(LITELLM)
    figures = {
        "RSS at 1,000 open streams, MB": (max(own.held_mb, own.held_again_mb), 100),
        "start-up, s": (median(own.start_seconds), 1),
    } | {
        f"added p99 at 256 streams of {pace} chunks/s, ms (load average {os.getloadavg()[0]:.1f})": (
            median(steady.p99_ms),
            3,
        )
        for pace, steady in own.paced.items()
    }
    for title, (value, most) in figures.items():
        print(f"{title}: {value:.2f}, goal ≤ {most}: {'met' if value <= most else 'MISSED'}")
    found = {title.partition(" (")[0]: value for title, (value, _) in figures.items()}
    if peer is None:
        print(f"no {LITELLM}, so no verdict on its two goals")
        return found
    times = found["chunks/s a core at 32 streams, over litellm's"] = median(own.per_core[32]) / median(
        peer.per_core[32]
    )
    print(
        f"chunks/s a core at 32 streams: {times:.0f} × {LITELLM}'s, goal ≥ 100 ×: {'met' if times >= 100 else 'MISSED'}"
    )
    part = found["added first-token time, under litellm's"] = median(peer.first_ms) / median(own.first_ms)
    print(f"added first-token time: 1/{part:.0f} of {LITELLM}'s, goal ≤ 1/20: {'met' if part >= 20 else 'MISSED'}")
    return found
