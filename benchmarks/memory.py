"""Peak memory of a tool call of 10 MB, from the socket to the whole call, for each client in a fresh process.

`allocated` is the most that Python holds at once (tracemalloc), `resident` is how far the process grows (ru_maxrss),
with what its C library keeps for later; both over the size of the arguments. Headway assembles and judges the call, the
peers only join what they read. Tokens of 20 characters are what models send; peers get 500 at once, as some would need
minutes. The Responses wire sends the whole call three times more at its end. Goal: ≤ 5 × the size allocated.
"""

from hashlib import sha256

from benchmarks.peers.running import HEADWAY, Client, Peer, PeerDied, available, leave_out, server
from benchmarks.peers.server import arguments

GOAL = 5.0
TOKENS, PIECES = "call-20", "call-500"


def main() -> dict[str, float]:
    """Measure, print, and return how many times its size a call takes."""
    results: dict[str, float] = {}
    print(f"{'a call of 10 MB':<18}{'in deltas of':<16}{'client':<14}{'allocated':>10}{'resident':>10}   goal")
    with server() as address:
        cases = [(HEADWAY, wire, kind) for wire in HEADWAY.wires for kind in (TOKENS, PIECES)]
        cases += [(peer, wire, PIECES) for peer in available() for wire in peer.wires]
        for peer, wire, kind in cases:
            name = f"{peer.name} {wire} {kind}"
            try:
                resident = results[f"{name} resident"] = growth(peer, address, wire, kind, traced=False)
                shown, goal = f"{'–':>10}", ""
                if not peer.is_extra:  # to trace the others takes minutes
                    allocated = results[f"{name} allocated"] = growth(peer, address, wire, kind, traced=True)
                    shown = f"{allocated:>9.1f}×"
                    goal = f"   ≤ {GOAL:.0f}× {'met' if allocated <= GOAL else 'MISSED'}" if peer is HEADWAY else ""
            except PeerDied as died:
                leave_out(peer, died)
                continue
            size = f"{kind.partition('-')[2]} characters"
            print(f"{wire:<18}{size:<16}{peer.name:<14}{shown}{resident:>9.1f}×{goal}", flush=True)
    return results


def growth(peer: Peer, address: str, wire: str, kind: str, *, traced: bool) -> float:
    with Client.of(peer) as client:
        client.read(f"{address}/paced/{wire}", wire)  # what is loaded and made once is not the call's
        read = client.read(f"{address}/{kind}/{wire}", wire, traced=traced)
    assert read.sha256 == sha256(arguments().encode()).hexdigest(), f"{peer.name} read something else"
    return (read.allocated_bytes if traced else read.grew_bytes) / len(arguments())


if __name__ == "__main__":
    main()
