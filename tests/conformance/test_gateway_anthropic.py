"""The official Anthropic client, unmodified, through the gateway: it gets what a healthy provider would give it."""

import base64
from collections.abc import Callable, Iterator
from functools import partial

import anthropic
import pytest

from headway.sim import serving
from support.anthropic_ways import ASKED, STREAMS, WAYS, Way
from support.gate_thread import ThreadedGate, looping
from support.sdk_cases import (
    CUT_CALLS,
    CUT_TEXTS,
    PAGE,
    QUICK,
    SOON_OVER,
    TALK,
    TASKS,
    TEXT,
    WIRES,
    WRITE,
    Said,
    broken,
    limits_for,
)

UPSTREAMS = pytest.mark.parametrize("upstream", WIRES)
EVERY_WAY = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
EVERY_STREAM = pytest.mark.parametrize("way", STREAMS.values(), ids=STREAMS)
PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(40)).decode()
WHOLE_WAYS = ["whole", "events", "helper"]


@pytest.fixture(scope="module")
def loop():
    with looping() as loop:
        yield loop


@pytest.fixture(scope="module")
def base() -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(api_key="k", base_url="http://127.0.0.1:9", max_retries=0) as client:
        yield client


@pytest.fixture
def gate(loop, tmp_path) -> Iterator[ThreadedGate]:
    gate = ThreadedGate(loop, tmp_path)
    yield gate
    gate.close()


def at(client: anthropic.Anthropic, url: str, **options) -> anthropic.Anthropic:
    return client.with_options(base_url=url, **options)


def ways_for(fault: str) -> dict[str, Way]:
    """Return the ways to try a fault with: all that differ on the wire, and one where it costs real seconds."""
    slow = fault.startswith(("stall", "stream_error"))
    return {name: WAYS[name] for name in (["helper"] if slow else WHOLE_WAYS)}


@pytest.fixture(scope="module")
def direct(base) -> dict[tuple[str, str], Said]:
    """What each way gives without a gateway, from a healthy provider."""
    found = {}
    with serving() as sim:
        client = at(base, sim.url)
        for task, script in TASKS.items():
            sim.use(script)
            found |= {(name, task): way(client) for name, way in WAYS.items()}
    return found


@UPSTREAMS
@EVERY_WAY
def test_a_healthy_upstream_of_any_wire_reads_as_a_direct_call(gate, base, direct, upstream, way):
    client = at(base, gate.open((TALK, upstream)))
    for task, script in TASKS.items():
        gate.sims[0].use(script)
        got, wanted = way(client), direct[way.__name__, task]
        assert got.same() == wanted.same(), task
        assert got.tokens > 0
    assert [trace.outcome for trace in gate.traces] == ["answered", "called", "called", "answered"]


@UPSTREAMS
@pytest.mark.parametrize("fault", CUT_TEXTS)
def test_a_text_that_breaks_reads_as_if_it_had_not(gate, base, direct, upstream, fault):
    client = at(base, gate.open((TALK, upstream), limits=limits_for(fault)))
    for name, way in ways_for(fault).items():
        gate.sims[0].use(broken(TALK, fault))
        assert way(client).same() == direct[name, "talk"].same(), name
    assert all(trace.survived >= 1 for trace in gate.traces)


@UPSTREAMS
@pytest.mark.parametrize("fault", CUT_CALLS)
def test_a_call_that_breaks_reads_as_if_it_had_not(gate, base, direct, upstream, fault):
    client = at(base, gate.open((WRITE, upstream), limits=limits_for(fault)))
    for name, way in ways_for(fault).items():
        gate.sims[0].use(broken(WRITE, fault))
        got = way(client)
        assert got.same() == direct[name, "write"].same(), name
        assert got.calls == [("write_file", {"path": "page.html", "content": PAGE})]
    assert all(trace.survived >= 1 for trace in gate.traces)


@UPSTREAMS
def test_a_live_call_that_breaks_grows_on_inside_the_same_json(gate, base, direct, upstream):
    client = at(base, gate.open((WRITE, upstream), route='calls = "live"'))
    for name, way in STREAMS.items():
        gate.sims[0].use(broken(WRITE, "rst at=call+2500 first=1"))
        assert way(client).same() == direct[name, "write"].same(), name


@UPSTREAMS
@EVERY_STREAM
def test_a_filter_is_answered_by_the_next_provider(gate, base, direct, upstream, way):
    other = WIRES[(WIRES.index(upstream) + 1) % 3]
    url = gate.open((broken(TALK, "content_filter pattern=word80"), upstream), (TALK, other))
    assert way(at(base, url)).same() == direct[way.__name__, "talk"].same()
    assert [len(sim.log) for sim in gate.sims] == [1, 1]


@EVERY_STREAM
@pytest.mark.parametrize("fault", ["stall at=start seconds=0.5", "stall at=500 first=1", "stall at=end first=1"])
@pytest.mark.parametrize("upstream", ["anthropic", "chat"])
def test_signs_of_life_change_nothing(gate, base, direct, upstream, fault, way):
    url = gate.open((broken(TALK, fault), upstream), limits=QUICK, extra="[gateway]\nheartbeat_seconds = 0.05")
    assert way(at(base, url)).same() == direct[way.__name__, "talk"].same()
    assert gate.traces[0].heartbeats >= 2


@UPSTREAMS
def test_a_whole_task_goes_round_with_results_thinking_and_an_image(gate, base, upstream):
    client = at(base, gate.open((TASKS["look"], upstream)))
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
    messages = [{"role": "user", "content": [picture, {"type": "text", "text": "Go."}]}]
    with client.messages.stream(**{**ASKED, "messages": messages}) as stream:
        first = stream.get_final_message()
    uses = [block for block in first.content if block.type == "tool_use"]
    results = [{"type": "tool_result", "tool_use_id": use.id, "content": [picture]} for use in uses]
    messages += [{"role": "assistant", "content": first.content}, {"role": "user", "content": results}]
    last = client.messages.create(**{**ASKED, "messages": messages, "max_tokens": 4000})
    assert [use.input for use in uses] == [{"at": "north"}, {"at": "south — é"}]
    assert len({use.id for use in uses}) == 2
    assert last.content[-1].text == "Done."
    assert all(PIXEL in str(one.body) for one in gate.sims[0].log), "the picture went along"


@UPSTREAMS
def test_thinking_goes_round_with_its_signature(gate, base, upstream):
    client = at(base, gate.open((TASKS["think"], upstream)))
    asked = {**ASKED, "thinking": {"type": "enabled", "budget_tokens": 2000}}
    with client.messages.stream(**asked) as stream:
        first = stream.get_final_message()
    assert first.content[0].type == "thinking"
    assert first.content[0].thinking == "Let me think about it."
    assert bool(first.content[0].signature) == (upstream == "anthropic"), "nobody else's thoughts are signed"
    messages = [
        *ASKED["messages"],
        {"role": "assistant", "content": first.content},
        {"role": "user", "content": "And?"},
    ]
    with client.messages.stream(**{**asked, "messages": messages}) as stream:
        assert stream.get_final_message().stop_reason == "end_turn"
    assert [one.refusal for one in gate.sims[0].log] == ["", ""]


def test_tokens_are_counted_and_models_listed(gate, base):
    client = at(base, gate.open((TALK, "chat")))
    counted = client.messages.count_tokens(model="any", messages=ASKED["messages"], tools=ASKED["tools"])
    assert 10 < counted.input_tokens < 1000
    assert [model.id for model in client.models.list()] == ["default", "p1/model-1"]
    assert gate.sims[0].log == []


# Errors


def refusal(ask) -> anthropic.APIError:
    with pytest.raises(anthropic.APIError) as caught:
        ask()
    return caught.value


def asking(client: anthropic.Anthropic) -> dict[str, Callable[[], Said]]:
    """Every way to ask, to be called; streams are read to their end."""
    return {name: partial(WAYS[name], client) for name in WHOLE_WAYS}


def test_a_key_of_ours_that_is_refused_is_a_502_and_not_asked_again(gate, base):
    client = at(base, gate.open((broken(TALK, "bad_key"), "anthropic")), max_retries=2)
    for name, ask in asking(client).items():
        before = len(gate.traces)
        error = refusal(ask)
        assert not isinstance(error, anthropic.AuthenticationError), "it is not the client's key"
        assert isinstance(error, anthropic.InternalServerError), name
        assert (error.status_code, error.body["error"]["type"]) == (502, "api_error")
        assert len(gate.traces) == before + 1, "the client did not ask again for what cannot help"


def test_a_limit_with_a_wait_is_a_429_that_says_so(gate, base):
    client = at(base, gate.open((broken(TALK, "rate_limit seconds=600"), "anthropic")))
    for name, ask in asking(client).items():
        error = refusal(ask)
        assert isinstance(error, anthropic.RateLimitError), name
        assert int(error.response.headers["retry-after"]) > 300


@pytest.mark.parametrize(("fault", "status"), [("wrong_status status=500", 502), ("overloaded", 529)])
def test_everybody_down_is_the_clients_own_kind_of_error(gate, base, fault, status):
    url = gate.open((broken(TALK, fault), "anthropic"), limits=SOON_OVER)
    error = refusal(asking(at(base, url))["helper"])
    assert isinstance(error, anthropic.APIStatusError)
    assert error.status_code == status
    assert error.body["error"]["source"] == "headway"
    assert error.body["request_id"] == error.response.headers["x-headway-request"]
    assert "Headway asked p1/model-1" in error.message


def test_a_stream_that_cannot_be_finished_raises_in_the_middle(gate, base):
    faults = ("rst at=500 first=1", "wrong_status status=500 after=1")
    url = gate.open((broken(TALK, *faults), "anthropic"), limits=SOON_OVER)
    got: list[str] = []

    def read():
        with at(base, url).messages.stream(**ASKED) as stream:
            got.extend(stream.text_stream)

    error = refusal(read)
    assert "had an error" in str(error)
    assert got
    assert TEXT.startswith("".join(got))
    assert [trace.outcome for trace in gate.traces] == ["failed"]


def test_what_the_client_did_wrong_is_its_own_error(gate, base):
    client = at(base, gate.open((broken(TALK, "context_overflow characters=1"), "chat")), max_retries=2)
    error = refusal(asking(client)["helper"])
    assert isinstance(error, anthropic.BadRequestError)
    assert "prompt is too long" in error.message, "the words by which clients know that they must compact"
    assert len(gate.traces) == 1


def test_a_wrong_key_of_the_client_is_an_authentication_error(gate, base):
    url = gate.open((TALK, "chat"), extra='[gateway]\nkeys = ["env:GATE_KEY"]')
    client = at(base, url, max_retries=2)
    for name, ask in asking(client).items():
        assert isinstance(refusal(ask), anthropic.AuthenticationError), name
    assert WAYS["whole"](client.with_options(api_key="open")).text == TEXT
