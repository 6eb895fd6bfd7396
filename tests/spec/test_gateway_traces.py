"""What is written down about a request, and what is not."""

import msgspec
import pytest
from msgspec.structs import replace

from headway.sim.catalog import FAULTS, read_fault
from headway.sim.script import Final, Pace, Say, Script, Think, WriteFile
from support.gate import UPSTREAM_KEY, at_gate

SECRETS = ("prompt-secret", "thought-secret", "said-secret", "file-secret", "final-secret")
TALK = Script(prompt="Go.", steps=(Final("A final-secret. " * 40),), pace=Pace(characters=7))
WRITE = Script(
    prompt="Go.",
    steps=(
        Think("A thought-secret. "),
        Say("A said-secret. "),
        WriteFile("a.txt", "A file-secret. " * 60),
        Final("Done."),
    ),
    pace=Pace(characters=7),
)


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_no_content_and_no_key_is_written_down_whatever_happens(tmp_path, fault):
    faults = (read_fault(fault),)

    async def work(gate):
        first = await gate.provider(replace(TALK, faults=faults), "chat")
        await gate.provider(TALK, "anthropic")
        await gate.open(extra='[gateway]\nkeys = ["env:GATE_KEY"]')
        for script in (TALK, WRITE):
            for sim in gate.sims:
                sim.use(script)
            first.use(replace(script, faults=faults))
            await gate.ask("chat", tools=True, prompt="Go, prompt-secret.", headers={"x-api-key": "open"})
        written = msgspec.json.encode(gate.traces).decode()
        assert [secret for secret in SECRETS if secret in written] == []
        assert UPSTREAM_KEY not in written
        assert '"open"' not in written

    at_gate(tmp_path, work)


def test_what_was_asked_is_kept_where_that_is_wanted(tmp_path):
    async def work(gate):
        await gate.provider(TALK, "chat")
        await gate.open(extra="[gateway]\ntrace_content = true")
        await gate.ask("chat", prompt="Go, prompt-secret.")
        assert "prompt-secret" in gate.traces[0].prompt
        assert gate.traces[0].reply == TALK.steps[0].text
        assert UPSTREAM_KEY not in msgspec.json.encode(gate.traces).decode()

    at_gate(tmp_path, work)


@pytest.mark.parametrize(
    "shown", [{"authorization": "Bearer wrong-key-of-a-client"}, {"x-api-key": "wrong-key-of-a-client"}]
)
def test_a_wrong_key_is_not_written_down_either(tmp_path, shown):
    async def work(gate):
        await gate.provider(TALK, "chat")
        await gate.open(extra='[gateway]\nkeys = ["env:GATE_KEY"]')
        reply = await gate.ask("chat", headers=shown)
        assert reply.status == 401
        assert "wrong-key" not in reply.data.decode() + msgspec.json.encode(gate.traces).decode()

    at_gate(tmp_path, work)


def test_a_client_gets_the_id_by_which_its_request_is_found(tmp_path):
    async def work(gate):
        await gate.provider(replace(TALK, faults=(read_fault("rst at=100 first=1"),)), "chat")
        await gate.open()
        reply = await gate.ask("responses")
        (trace,) = gate.traces
        assert reply.headers["x-headway-request"] == trace.id
        assert (trace.wire, trace.route, trace.model, trace.streamed) == ("responses", "default", "any", True)
        assert [(one.upstream, bool(one.failure)) for one in trace.attempts] == [
            ("p1/model-1", True),
            ("p1/model-1", False),
        ]
        assert trace.bytes_out == len(reply.data)
        assert (trace.outcome, trace.status, trace.survived, trace.seams) == ("answered", 200, 1, 1)
        assert trace.saved_tokens > 0
        assert 0 <= trace.first_content <= trace.seconds

    at_gate(tmp_path, work)


def test_a_very_long_name_of_a_model_is_not_kept_whole(tmp_path):
    async def work(gate):
        await gate.provider(TALK, "chat")
        await gate.open()
        assert (await gate.ask("chat", model="m" * 100_000)).status == 200
        assert len(gate.traces[0].model) <= 200

    at_gate(tmp_path, work)
