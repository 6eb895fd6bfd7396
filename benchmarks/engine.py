"""CPU for each chunk of the whole engine (socket to typed events, watchdog on), against what others need for it.

One server process sends the same bytes to every client: 5,000 chunks as fast as they can be sent (a flood), and 500
chunks, one each 2 ms (paced). Every client is a process of its own, and only its own CPU time is counted. They take
turns, so a busy machine disturbs all of them alike. Goals: ≥ 25 × less than the openai SDK in a flood, ≥ 2 × paced.
"""

from hashlib import sha256
from statistics import median

from benchmarks.peers.running import HEADWAY, OPENAI, PeerDied, clients, leave_out, server
from benchmarks.peers.server import CHUNKS, text_of

ROUNDS = {"flood": 5, "paced": 5}
GOALS = {"flood": 25, "paced": 2}
WIRES = ("chat", "responses", "anthropic")


def main() -> dict[str, float]:
    """Measure, print, and return the ratios."""
    ratios: dict[str, float] = {}
    with server() as address, clients() as known:
        print(f"{'stream':<18}{'client':<14}{'µs/chunk, best':>15}{'median':>9}{'ratio':>9}   goal")
        for kind in CHUNKS:
            for wire in WIRES:
                reading = [client for client in known if wire in client.peer.wires]
                taken = measure(f"{address}/{kind}/{wire}", kind, wire, reading)
                own = min(taken[HEADWAY.name])
                for name, times in taken.items():
                    ratio = min(times) / own
                    if name != HEADWAY.name:
                        ratios[f"{kind} {wire} {name}"] = ratio
                    shown = "" if name == HEADWAY.name else f"{ratio:.1f}×"
                    row = f"{kind + ', ' + wire:<18}{name:<14}{min(times):>15.2f}{median(times):>9.2f}{shown:>9}"
                    print(f"{row}   {verdict(kind, ratio) if name == OPENAI.name else ''}".rstrip(), flush=True)
    return ratios


def measure(url: str, kind: str, wire: str, reading: list) -> dict[str, list[float]]:
    """Return the microseconds that each client needs for a chunk, in every round but the first, which warms up."""
    expected = sha256(text_of(kind).encode()).hexdigest()
    taken: dict[str, list[float]] = {client.peer.name: [] for client in reading}
    for number in range(ROUNDS[kind] + 1):
        for client in reading:
            if client.peer.name not in taken:
                continue
            try:
                read = client.read(url, wire)
            except PeerDied as died:
                leave_out(client.peer, died)
                del taken[client.peer.name]
                continue
            assert read.sha256 == expected, f"{client.peer.name} read something else"
            if number:
                taken[client.peer.name].append(read.cpu_seconds / CHUNKS[kind] * 1e6)
    return taken


def verdict(kind: str, ratio: float) -> str:
    return f"≥ {GOALS[kind]}× {'met' if ratio >= GOALS[kind] else 'MISSED'}"


if __name__ == "__main__":
    main()
