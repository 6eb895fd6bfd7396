"""Counters for Prometheus, written by hand: a dozen numbers do not need a library."""

from collections import Counter

from headway.gateway.trace import Trace
from headway.turn.fleet import Fleet

BUCKETS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0)


class Histogram:
    """Times, in buckets."""

    def __init__(self) -> None:
        """Start empty."""
        self._counts = [0] * (len(BUCKETS) + 1)
        self._sum = 0.0

    def add(self, seconds: float) -> None:
        """Take one time."""
        at = next((at for at, bound in enumerate(BUCKETS) if seconds <= bound), len(BUCKETS))
        self._counts[at] += 1
        self._sum += seconds

    def lines(self, name: str) -> list[str]:
        """Return the lines of the exposition."""
        lines, total = [], 0
        for bound, count in zip((*BUCKETS, float("inf")), self._counts, strict=True):
            total += count
            le = "+Inf" if bound == float("inf") else f"{bound:g}"
            lines.append(f'{name}_bucket{{le="{le}"}} {total}')
        return [*lines, f"{name}_sum {self._sum:.6f}", f"{name}_count {total}"]


class Metrics:
    """What the gateway has done since it started."""

    def __init__(self) -> None:
        """Start at zero."""
        self.open = 0
        self._requests: Counter[tuple[str, str]] = Counter()
        self._failures: Counter[tuple[str, str]] = Counter()
        self._tokens: Counter[str] = Counter()
        self._totals: Counter[str] = Counter()
        self._seconds, self._first = Histogram(), Histogram()

    def count(self, trace: Trace) -> None:
        """Take one finished request."""
        self._requests[trace.wire, trace.outcome] += 1
        for tried in trace.attempts:
            if tried.failure:
                self._failures[tried.upstream, tried.failure] += 1
            self._tokens["input"] += tried.input_tokens
            self._tokens["output"] += tried.output_tokens
        self._tokens["saved"] += trace.saved_tokens
        self._totals["survived"] += trace.survived
        self._totals["seams"] += trace.seams
        self._totals["heartbeats"] += trace.heartbeats
        self._totals["repairs"] += len(trace.repairs)
        self._seconds.add(trace.seconds)
        if trace.first_content is not None:
            self._first.add(trace.first_content)

    def text(self, fleet: Fleet) -> str:
        """Return everything in the text form of Prometheus."""
        families = [
            _family("open_requests", "gauge", "Requests being answered.", [f"headway_open_requests {self.open}"]),
            _family("requests_total", "counter", "Requests, by wire and how they ended.", self._by_requests()),
            _family("upstream_failures_total", "counter", "Attempts that failed, and how.", self._by_failures()),
            _family("tokens_total", "counter", "Tokens, by kind.", _labelled("tokens_total", "kind", self._tokens)),
            _family("events_total", "counter", "What was done.", _labelled("events_total", "kind", self._totals)),
            _family("upstream_unwell", "gauge", "Upstreams that are left alone.", _unwell(fleet)),
            _family("request_seconds", "histogram", "Whole requests.", self._seconds.lines("headway_request_seconds")),
            _family(
                "first_content_seconds",
                "histogram",
                "Until content.",
                self._first.lines("headway_first_content_seconds"),
            ),
        ]
        return "\n".join(line for family in families for line in family) + "\n"

    def _by_requests(self) -> list[str]:
        return [
            f'headway_requests_total{{wire="{wire}",outcome="{outcome}"}} {count}'
            for (wire, outcome), count in sorted(self._requests.items())
        ]

    def _by_failures(self) -> list[str]:
        return [
            f'headway_upstream_failures_total{{upstream="{_escaped(upstream)}",kind="{kind}"}} {count}'
            for (upstream, kind), count in sorted(self._failures.items())
        ]


def _family(name: str, kind: str, words: str, lines: list[str]) -> list[str]:
    return [f"# HELP headway_{name} {words}", f"# TYPE headway_{name} {kind}", *lines]


def _labelled(name: str, label: str, counts: Counter[str]) -> list[str]:
    return [f'headway_{name}{{{label}="{key}"}} {count}' for key, count in sorted(counts.items())]


def _unwell(fleet: Fleet) -> list[str]:
    now = fleet.time()
    return [
        f'headway_upstream_unwell{{upstream="{_escaped(name)}"}} {int(fleet.pool.health.wait_seconds(name, now) > 0)}'
        for name in sorted(fleet.pool.health.breakers)
    ]


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
