"""Gateways side by side, in one run: Headway with everything on, LiteLLM's proxy, and nginx, which only copies bytes.

One upstream process streams chat chunks, one load process reads them, directly and through each gateway in turn.
Counted are a gateway's own CPU time and memory, with its children; added latency is that through it less that without
it. Times on the wall want a quiet machine, so the load average stands beside them; CPU time and memory do not mind.
"""

import json
import os
import resource
import signal
import subprocess
import sys
from contextlib import ExitStack
from statistics import median

from msgspec import Struct, field

from benchmarks.gateway_parts.gateways import HEADWAY, LITELLM, NGINX, CannotRun, Running, leave_out, running
from benchmarks.gateway_parts.table import judge, show
from benchmarks.peers.running import OWN_PYTHON, started

STARTS = {HEADWAY: 5, NGINX: 5, LITELLM: 1}
"""How often each is started. In the order in which they take turns."""
ROUNDS = {HEADWAY: 5, NGINX: 5, LITELLM: 2}
FIRST_TOKENS = 100
FLOODS = {1: 2_000, 32: 500, 256: 200}
"""Words in each stream, by how many streams there are."""
LEAST_CPU_SECONDS = 0.5
"""A flood is repeated until it has cost so much, because the kernel counts in hundredths."""
MOST_FLOODS = 40
PACED_STREAMS, PACED_SECONDS = 256, 6
PACES = (20, 50)
"""Chunks a second of one stream: providers that put some tokens into a chunk, and those that send each by itself."""
HELD = 1_000


class Paced(Struct):
    """What became of steady streams, one figure a round."""

    p50_ms: list[float] = field(default_factory=list)
    p99_ms: list[float] = field(default_factory=list)
    cpu_us: list[float] = field(default_factory=list)
    """For a chunk."""
    delivered: list[float] = field(default_factory=list)


class Measured(Struct):
    """What was found out about one gateway; lists have one figure a round."""

    start_seconds: list[float] = field(default_factory=list)
    idle_mb: float = 0.0
    held_mb: float = 0.0
    held_again_mb: float = 0.0
    """With a thousand open streams again, after all floods."""
    first_ms: list[float] = field(default_factory=list)
    paced: dict[int, Paced] = field(default_factory=lambda: {pace: Paced() for pace in PACES})
    per_core: dict[int, list[float]] = field(default_factory=dict)
    """Chunks for each second of CPU, by how many streams there were."""
    busy: list[float] = field(default_factory=list)
    """The load average of the machine."""


class Load:
    """The process that plays the clients."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def __call__(self, do: str, **asked: object) -> dict:
        print(json.dumps({"do": do, **asked}), file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        assert line, "the load died; what it said stands above"
        return json.loads(line)


def main() -> dict[str, float]:
    """Measure, print, and return the figures that goals are set for."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that nothing that was started is left behind
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # a thousand streams are two thousand sockets
    with ExitStack() as stack:
        upstream = int(stack.enter_context(started(OWN_PYTHON, "benchmarks.gateway_parts.upstream")).stdout.readline())
        load = Load(stack.enter_context(started(OWN_PYTHON, "benchmarks.gateway_parts.load")))
        measured: dict[str, Measured] = {}
        gateways: list[Running] = []
        for name in ROUNDS:
            try:
                starts = [start_seconds(name, upstream) for _ in range(STARTS[name] - 1)]
                gateway = stack.enter_context(running(name, upstream))
            except CannotRun as why:
                leave_out(name, why)
                continue
            gateways.append(gateway)
            idle = gateway.megabytes()
            measured[name] = Measured([*starts, gateway.start_seconds], idle, held_mb(gateway, load))
        for number in range(max(ROUNDS.values())):
            for gateway in gateways:
                if number < ROUNDS[gateway.name]:
                    play(gateway, measured[gateway.name], upstream, load)
        for gateway in gateways:
            measured[gateway.name].held_again_mb = held_mb(gateway, load)
    show(measured)
    return judge(measured)


def start_seconds(name: str, upstream: int) -> float:
    with running(name, upstream) as gateway:
        return gateway.start_seconds


def held_mb(gateway: Running, load: Load) -> float:
    """Return what it holds in memory with a thousand streams open."""
    opened = load("hold", port=gateway.port, streams=HELD, limit_seconds=120)["open"]
    assert opened == HELD, f"{gateway.name} held only {opened} streams open"
    held = gateway.megabytes()
    load("release")
    return held


def play(gateway: Running, into: Measured, upstream: int, load: Load) -> None:
    """One round: first tokens, floods, steady streams."""
    direct = load("first", port=upstream, times=FIRST_TOKENS)["seconds"]
    through = load("first", port=gateway.port, times=FIRST_TOKENS)["seconds"]
    into.first_ms.append((median(through) - median(direct)) * 1e3)
    for streams, words in FLOODS.items():
        into.per_core.setdefault(streams, []).append(flooded(gateway, load, streams, words))
    for pace, steady in into.paced.items():
        pace_streams(gateway, steady, upstream, load, pace)
    into.busy.append(os.getloadavg()[0])


def pace_streams(gateway: Running, into: Paced, upstream: int, load: Load, pace: int) -> None:
    """Read streams of so many chunks a second, without the gateway and through it."""
    words = pace * PACED_SECONDS
    asked = {"streams": PACED_STREAMS, "words": words, "every_ms": 1000 // pace}
    alone = load("paced", port=upstream, **asked)
    before = gateway.cost().cpu_seconds
    seen = load("paced", port=gateway.port, **asked)
    used = gateway.cost().cpu_seconds - before
    into.p50_ms.append(seen["p50"] - alone["p50"])
    into.p99_ms.append(seen["p99"] - alone["p99"])
    into.cpu_us.append(used / max(1, seen["words"]) * 1e6)
    into.delivered.append(seen["words"] / (PACED_STREAMS * words))


def flooded(gateway: Running, load: Load, streams: int, words: int) -> float:
    """Return how many chunks a second of CPU carries."""
    before, chunks, used = gateway.cost().cpu_seconds, 0, 0.0
    for _ in range(MOST_FLOODS):
        got = load("flood", port=gateway.port, streams=streams, words=words)["words"]
        assert got == streams * words, f"{gateway.name} lost {streams * words - got} chunks"
        chunks += got
        used = gateway.cost().cpu_seconds - before
        if used >= LEAST_CPU_SECONDS:
            break
    return chunks / used


if __name__ == "__main__":
    main()
