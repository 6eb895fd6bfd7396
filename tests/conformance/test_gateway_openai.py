"""The official OpenAI client, unmodified, through the gateway: it gets what a healthy provider would give it."""

import base64
from collections.abc import Callable, Iterator
from functools import partial

import openai
import pytest
from msgspec.structs import replace

from headway.sim import serving
from support.gate_thread import ThreadedGate, looping
from support.openai_ways import CHAT, COUNTED, RESPONSES, STREAMS, WAYS, Way, said_by_chunks
from support.sdk_cases import (
    ANSWER,
    CUT_CALLS,
    CUT_TEXTS,
    FORM,
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
PICTURE = "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(40)).decode()
EVERY_STREAM = pytest.mark.parametrize("way", STREAMS.values(), ids=STREAMS)


@pytest.fixture(scope="module")
def loop():
    with looping() as loop:
        yield loop


@pytest.fixture(scope="module")
def base() -> Iterator[openai.OpenAI]:
    with openai.OpenAI(api_key="k", base_url="http://127.0.0.1:9", max_retries=0) as client:
        yield client


@pytest.fixture
def gate(loop, tmp_path) -> Iterator[ThreadedGate]:
    gate = ThreadedGate(loop, tmp_path)
    yield gate
    gate.close()


def at(client: openai.OpenAI, url: str, **options) -> openai.OpenAI:
    return client.with_options(base_url=f"{url}/v1", **options)


def ways_for(fault: str) -> dict[str, Way]:
    """Return the ways to try a fault with: all that differ on the wire, and two where it costs real seconds."""
    slow = fault.startswith(("stall", "stream_error"))
    return {name: way for name, way in WAYS.items() if "async" not in name and ("helper" in name or not slow)}


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
    got = way(at(base, url))
    assert got.same() == direct[way.__name__, "talk"].same()
    assert [len(sim.log) for sim in gate.sims] == [1, 1]


@EVERY_STREAM
def test_a_provider_that_is_down_is_not_noticed(gate, base, direct, way):
    url = gate.open((broken(TALK, "wrong_status status=503"), "chat"), (TALK, "anthropic"))
    assert way(at(base, url)).same() == direct[way.__name__, "talk"].same()


@EVERY_STREAM
@pytest.mark.parametrize("fault", ["stall at=start seconds=0.5", "stall at=500 first=1", "stall at=end first=1"])
@pytest.mark.parametrize("upstream", ["same", "other"])
def test_signs_of_life_change_nothing(gate, base, direct, upstream, fault, way):
    wire = "anthropic" if upstream == "other" else "chat" if way.__name__.startswith("chat") else "responses"
    client = at(base, gate.open((broken(TALK, fault), wire), limits=QUICK, extra="[gateway]\nheartbeat_seconds = 0.05"))
    assert way(client).same() == direct[way.__name__, "talk"].same()
    assert gate.traces[0].heartbeats >= 2


@UPSTREAMS
def test_a_whole_task_goes_round_with_results_and_an_image(gate, base, upstream):
    client = at(base, gate.open((TASKS["look"], upstream)))
    see = {"type": "image_url", "image_url": {"url": PICTURE}}
    messages = [{"role": "user", "content": [{"type": "text", "text": "Go."}, see]}]
    with client.chat.completions.stream(**{**CHAT, "messages": messages}) as stream:
        first = stream.get_final_completion().choices[0].message
    results = [{"role": "tool", "tool_call_id": call.id, "content": "seen"} for call in first.tool_calls]
    assert len({call.id for call in first.tool_calls}) == 2
    last = client.chat.completions.create(**{**CHAT, "messages": [*messages, first.to_dict(), *results]})
    assert last.choices[0].message.content == "Done."
    assert all(PICTURE.partition(",")[2] in str(one.body) for one in gate.sims[0].log), "the picture went along"


@UPSTREAMS
def test_a_whole_task_goes_round_with_items_and_reasoning(gate, base, upstream):
    steps = (*TASKS["think"].steps[:1], *TASKS["look"].steps)
    client = at(base, gate.open((replace(TALK, steps=steps), upstream)))
    see = {"type": "input_image", "image_url": PICTURE, "detail": "auto"}
    items = [{"role": "user", "content": [{"type": "input_text", "text": "Go."}, see]}]
    asked = {**RESPONSES, "include": ["reasoning.encrypted_content"], "store": False}
    with client.responses.stream(**{**asked, "input": items}) as stream:
        first = stream.get_final_response()
    calls = [item for item in first.output if item.type == "function_call"]
    assert first.output[0].type == "reasoning"
    results = [{"type": "function_call_output", "call_id": call.call_id, "output": "seen"} for call in calls]
    said = [item.to_dict() for item in first.output]
    last = client.responses.create(**{**asked, "input": [*items, *said, *results]})
    assert last.output_text == "Done."
    assert [one.refusal for one in gate.sims[0].log] == ["", ""]
    assert all(PICTURE.partition(",")[2] in str(one.body) for one in gate.sims[0].log), "the picture went along"


# Structured output


@UPSTREAMS
def test_structured_output_is_parsed(gate, base, upstream):
    pydantic = pytest.importorskip("pydantic")

    class Person(pydantic.BaseModel):
        name: str
        age: int

    client = at(base, gate.open((broken(FORM, "rst at=12 first=1"), upstream)))
    ada = Person(name="Ada", age=36)
    asked = {"model": "any", "messages": CHAT["messages"], "response_format": Person}
    assert client.chat.completions.parse(**asked).choices[0].message.parsed == ada
    with client.chat.completions.stream(**asked) as stream:
        assert stream.get_final_completion().choices[0].message.parsed == ada
    assert client.responses.parse(model="any", input="Go.", text_format=Person).output_parsed == ada
    with client.responses.stream(model="any", input="Go.", text_format=Person) as stream:
        assert stream.get_final_response().output_parsed == ada
    form = {"type": "json_schema", "json_schema": {"name": "person", "schema": Person.model_json_schema()}}
    flat = client.chat.completions.create(**{**asked, "response_format": form})
    assert flat.choices[0].message.content == ANSWER


# Errors


def refusal(ask) -> openai.APIError:
    with pytest.raises(openai.APIError) as caught:
        ask()
    return caught.value


def asking(client: openai.OpenAI) -> dict[str, Callable[[], Said]]:
    """Every way to ask, to be called; streams are read to their end."""
    return {name: partial(way, client) for name, way in WAYS.items() if "async" not in name}


def test_a_key_of_ours_that_is_refused_is_a_502_and_not_asked_again(gate, base):
    url = gate.open((broken(TALK, "bad_key"), "chat"))
    client = at(base, url, max_retries=2)
    for number, (name, ask) in enumerate(asking(client).items()):
        before = len(gate.traces)
        error = refusal(ask)
        assert isinstance(error, openai.InternalServerError), name
        assert (error.status_code, error.code) == (502, "misconfigured" if number else "bad_key")
        assert error.response.headers["x-should-retry"] == "false"
        assert len(gate.traces) == before + 1, "the client did not ask again for what cannot help"


def test_a_limit_with_a_wait_is_a_429_that_says_so(gate, base):
    url = gate.open((broken(TALK, "rate_limit seconds=600"), "chat"))
    for name, ask in asking(at(base, url)).items():
        error = refusal(ask)
        assert isinstance(error, openai.RateLimitError), name
        assert int(error.response.headers["retry-after"]) > 300


def test_a_short_limit_is_waited_out(gate, base, direct):
    url = gate.open((broken(TALK, "rate_limit seconds=1 first=1"), "responses"))
    got = WAYS["chat_helper"](at(base, url))
    assert got.same() == direct["chat_helper", "talk"].same()


def test_everybody_down_is_the_clients_own_kind_of_error(gate, base):
    url = gate.open((broken(TALK, "wrong_status status=500"), "chat"), limits=SOON_OVER)
    for name, ask in asking(at(base, url)).items():
        error = refusal(ask)
        assert isinstance(error, openai.InternalServerError), name
        assert error.body["source"] == "headway"
        assert "Headway asked p1/model-1" in error.message


def test_a_stream_that_cannot_be_finished_raises_in_the_middle(gate, base):
    url = gate.open((TALK, "chat"), limits=SOON_OVER)
    client = at(base, url)
    faults = ("rst at=500 first=1", "wrong_status status=500 after=1")
    for name in STREAMS:
        gate.sims[0].use(broken(TALK, *faults))
        got: list[str] = []

        def read(name=name, got=got):
            if name.startswith("chat"):
                for chunk in client.chat.completions.create(**CHAT, stream=True):
                    got.append(chunk.choices[0].delta.content or "")
            else:
                for event in client.responses.create(**RESPONSES, stream=True):
                    got.append(getattr(event, "delta", ""))
                    if event.type in {"error", "response.failed"}:
                        raise openai.APIError(event.to_json(), None, body=None)

        error = refusal(read)
        assert not isinstance(error, openai.APIStatusError), "the head said 200"
        assert "had an error" in str(error)
        assert TEXT.startswith("".join(got))
        assert got
    assert all(trace.outcome == "failed" for trace in gate.traces)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [("context_overflow characters=1", openai.BadRequestError), ("wrong_status status=404", openai.NotFoundError)],
)
def test_what_the_client_did_wrong_is_its_own_error(gate, base, fault, kind):
    url = gate.open((broken(TALK, fault), "chat"))
    error = refusal(asking(at(base, url, max_retries=2))["chat_whole"])
    assert isinstance(error, kind)
    assert len(gate.traces) == 1


def test_a_wrong_key_of_the_client_is_an_authentication_error(gate, base):
    url = gate.open((TALK, "chat"), extra='[gateway]\nkeys = ["env:GATE_KEY"]')
    client = at(base, url, max_retries=2)
    for name, ask in asking(client).items():
        assert isinstance(refusal(ask), openai.AuthenticationError), name
    opened = client.with_options(api_key="open")
    assert WAYS["chat_whole"](opened).text == TEXT
    assert [model.id for model in opened.models.list()] == ["default", "p1/model-1"]


def test_usage_comes_only_where_it_was_asked_for(gate, base):
    client = at(base, gate.open((TALK, "anthropic")))
    plain = list(client.chat.completions.create(**CHAT, stream=True))
    assert [chunk.usage for chunk in plain if chunk.usage] == []
    assert all(chunk.choices for chunk in plain)
    assert said_by_chunks(list(client.chat.completions.create(**CHAT, **COUNTED, stream=True))).tokens > 0
