"""Counters, in a form that can be scraped: read here by the letter of the text format."""

import re

from headway.gateway.metrics import BUCKETS, Metrics
from headway.gateway.trace import Trace, Tried
from headway.providers.pool import Pool
from headway.turn.fleet import Fleet

HELP = re.compile(r"# HELP (headway_[a-z_]+) (\S.*)")
TYPE = re.compile(r"# TYPE (headway_[a-z_]+) (counter|gauge|histogram)")
LABEL = r'[a-z_]+="(?:[^"\\\n]|\\["\\n])*"'
SAMPLE = re.compile(rf"(headway_[a-z_]+)(?:\{{({LABEL}(?:,{LABEL})*)\}})? (-?[0-9.e+]+)")
ENDS = ("_bucket", "_sum", "_count")


def fleet() -> Fleet:
    return Fleet(Pool(), lambda: 0.0)


def read(text: str) -> tuple[dict[str, str], dict[tuple[str, str], float]]:
    """Return the types of families and all samples; fails for what a scraper would refuse."""
    assert text.endswith("\n")
    types, samples, now = {}, {}, ""
    for line in text.splitlines():
        if found := HELP.fullmatch(line):
            now = found[1]
            assert now not in types, "a family is written once, and all in one place"
        elif found := TYPE.fullmatch(line):
            assert found[1] == now
            types[now] = found[2]
        else:
            found = SAMPLE.fullmatch(line)
            assert found, line
            name, labels, value = found.groups()
            family = next((name.removesuffix(end) for end in ENDS if name == now + end), name)
            assert family == now, line
            assert (name, labels) not in samples, "no sample twice"
            samples[name, labels or ""] = float(value)
    return types, samples


def trace(**fields) -> Trace:
    return Trace(
        **{"id": "a", "at": 0.0, "wire": "chat", "path": "/v1/chat/completions", "outcome": "answered", **fields}
    )


def test_nothing_has_happened_yet_and_it_can_be_read():
    types, samples = read(Metrics().text(fleet()))
    assert types["headway_request_seconds"] == "histogram"
    assert samples["headway_open_requests", ""] == 0


def test_what_happened_is_counted():
    metrics = Metrics()
    tried = [Tried(upstream="p/a", began=0.0, failure="stalled", input_tokens=10, output_tokens=5)]
    tried += [Tried(upstream="p/b", began=1.0, input_tokens=20, output_tokens=7)]
    metrics.count(trace(attempts=tried, seconds=2.0, first_content=0.3, seams=1, saved_tokens=4, repairs=["mended"]))
    metrics.count(trace(wire="anthropic", outcome="refused", seconds=0.01))
    _, samples = read(metrics.text(fleet()))
    assert samples["headway_requests_total", 'wire="chat",outcome="answered"'] == 1
    assert samples["headway_requests_total", 'wire="anthropic",outcome="refused"'] == 1
    assert samples["headway_upstream_failures_total", 'upstream="p/a",kind="stalled"'] == 1
    assert samples["headway_tokens_total", 'kind="input"'] == 30
    assert samples["headway_tokens_total", 'kind="saved"'] == 4
    assert samples["headway_events_total", 'kind="survived"'] == 1
    assert samples["headway_request_seconds_count", ""] == 2
    assert samples["headway_first_content_seconds_count", ""] == 1


def test_a_histogram_adds_up():
    metrics = Metrics()
    times = [0.01, 0.05, 0.06, 3.0, 700.0]
    for seconds in times:
        metrics.count(trace(seconds=seconds))
    _, samples = read(metrics.text(fleet()))
    counts = [samples["headway_request_seconds_bucket", f'le="{bound:g}"'] for bound in BUCKETS]
    assert counts == sorted(counts)
    assert counts[:2] == [2, 3], "a bound belongs to its bucket"
    assert samples["headway_request_seconds_bucket", 'le="+Inf"'] == samples["headway_request_seconds_count", ""] == 5
    assert samples["headway_request_seconds_sum", ""] == sum(times)


def test_names_that_strangers_chose_do_not_break_the_page():
    metrics = Metrics()
    for name in ('p/"quoted"', "p/back\\slash", "p/two\nlines", "p/{le=}", "p/ünï"):
        metrics.count(trace(attempts=[Tried(upstream=name, began=0.0, failure="stalled")]))
    _, samples = read(metrics.text(fleet()))
    assert sum(name == "headway_upstream_failures_total" for name, _ in samples) == 5
