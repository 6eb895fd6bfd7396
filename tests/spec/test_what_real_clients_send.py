"""What the agents people use really send and expect, as seen in `tests/clients`, without installing any of them."""

import pytest
from msgspec.structs import replace

from headway.events import KeepAlive
from headway.sim.catalog import read_fault
from headway.sim.script import Call, Final, Pace, Say, Script, WriteFile
from headway.wire.json_text import strict_object
from support.gate import at_gate, body_of
from support.grammar import problems

WIRES = ["chat", "responses", "anthropic"]
CLIENTS = pytest.mark.parametrize("client", WIRES)
TEXT = " ".join(f"word{number}" for number in range(300))
TALK = Script(prompt="Go.", steps=(Final(TEXT),), pace=Pace(characters=20))
PAGE = "".join(f'<p id="p{number}">“Line” {number} — é 😀 \\ "quoted"</p>\n' for number in range(200))
PATCH = "*** Begin Patch\n*** Add File: page.html\n" + "".join(f"+{line}\n" for line in PAGE.splitlines())
BETAS = "claude-code-20250219,per-turn-control-2026-07-01,mid-conversation-tool-changes-2026-07-01"
INSIDE = {"role": "system", "content": [{"type": "text", "text": "Be brief."}], "output_config": {"effort": "low"}}


def broken(script, *faults):
    return replace(script, faults=tuple(read_fault(fault) for fault in faults))


def with_system_inside():
    body = body_of("anthropic")
    return {**body, "messages": [*body["messages"], INSIDE]}


def test_system_messages_that_claude_code_puts_among_the_others_reach_an_upstream_that_knows_them(tmp_path):
    async def work(gate):
        sim = await gate.provider(TALK, "anthropic")
        await gate.open()
        reply = await gate.send(
            "/v1/messages", with_system_inside(), headers={"anthropic-beta": BETAS}, wire="anthropic"
        )
        assert reply.received.text == TEXT
        assert sim.log[0].body["messages"][1] == INSIDE, "as it came"
        assert sim.log[0].headers["anthropic-beta"] == BETAS

    at_gate(tmp_path, work)


@pytest.mark.parametrize("headers", [{"anthropic-beta": BETAS}, {}])
def test_system_messages_inside_are_said_by_the_user_where_they_are_refused_or_nobody_asked_for_them(tmp_path, headers):
    refuses = """history_refused message="messages.1.role: Input should be 'user' or 'assistant'" first=1"""

    async def work(gate):
        sim = await gate.provider(broken(TALK, *([refuses] if headers else [])), "anthropic")
        await gate.open()
        reply = await gate.send("/v1/messages", with_system_inside(), headers=headers, wire="anthropic")
        assert reply.received.text == TEXT
        assert len(sim.log) == (2 if headers else 1), "it is tried as it came first, where the client says that it may"
        assert [message["role"] for message in sim.log[-1].body["messages"]] == ["user"]
        assert "Be brief." in str(sim.log[-1].body["messages"])

    at_gate(tmp_path, work)


@pytest.mark.parametrize(
    ("client", "kept"),
    [
        ("anthropic", {"user-agent": "claude-cli/2.1", "x-app": "cli", "x-claude-code-session-id": "s"}),
        ("responses", {"x-openai-internal-codex-responses-lite": "true", "session-id": "s", "chatgpt-account-id": "a"}),
        ("chat", {"openai-organization": "o", "http-referer": "https://agent.example", "x-title": "Agent"}),
    ],
)
def test_headers_that_mean_something_to_the_same_wire_are_passed_on_and_others_are_not(tmp_path, client, kept):
    other = {"cookie": "secret", "x-forwarded-for": "10.0.0.1", "x-stainless-os": "Linux"}

    async def work(gate):
        same = await gate.provider(TALK, client)
        foreign = await gate.provider(TALK, "chat" if client != "chat" else "anthropic")
        await gate.open(chain=["p1/model-1"], extra='[routes.foreign]\nchain = ["p2/model-2"]')
        await gate.ask(client, headers={**kept, **other})
        await gate.ask(client, model="foreign", headers={**kept, **other})
        sent = same.log[0].headers
        assert {name: sent.get(name) for name in kept} == kept
        assert other.keys().isdisjoint(sent)
        named = {name for name in kept if name != "user-agent"}
        assert named.isdisjoint(foreign.log[0].headers), "they mean nothing there"

    at_gate(tmp_path, work)


def test_a_header_of_the_settings_is_not_replaced_by_a_clients(tmp_path):
    """The key is the gateway's, and belongs to the organization that the settings name."""

    async def work(gate):
        sim = await gate.provider(TALK, "chat")
        await gate.open(extra='[providers.p1.headers]\n"OpenAI-Organization" = "ours"')
        await gate.ask("chat", headers={"openai-organization": "theirs", "openai-project": "project"})
        sent = sim.log[0].headers
        assert (sent["openai-organization"], sent["openai-project"]) == ("ours", "project")

    at_gate(tmp_path, work)


@CLIENTS
@pytest.mark.parametrize("upstream", WIRES)
@pytest.mark.parametrize("fault", ["slow_headers seconds=18", "silent_thinking seconds=25 interval=5"])
def test_a_client_that_counts_events_sees_some_before_anything_is_said(tmp_path, client, upstream, fault):
    """Codex starts its clock with the head of the answer, and comments do not reset it."""

    async def work(gate):
        await gate.provider(broken(TALK, fault), upstream)
        await gate.open(extra="[gateway]\nheartbeat_seconds = 5")
        reply = await gate.ask(client)
        assert reply.received.text == TEXT
        assert problems(client, reply.data) == []
        early = reply.data.partition(b"word0")[0]
        beats = [frame for frame in early.split(b"\n\n") if frame and not frame.startswith(b":")]
        assert len(beats) >= 3, "no comments: events"
        assert any(isinstance(event, KeepAlive) for event in reply.events)

    at_gate(tmp_path, work)


@CLIENTS
def test_a_stream_that_was_opened_by_a_heartbeat_survives_the_death_of_its_upstream(tmp_path, client):
    async def work(gate):
        await gate.provider(broken(TALK, "stall at=opened seconds=0 first=1"), client)
        await gate.provider(TALK, "chat" if client != "chat" else "anthropic")
        await gate.open(extra="[gateway]\nheartbeat_seconds = 5")
        reply = await gate.ask(client)
        assert reply.received.text == TEXT
        assert problems(client, reply.data) == []

    at_gate(tmp_path, work)


@CLIENTS
def test_a_held_call_with_nothing_said_before_it_is_whole_behind_its_heartbeats(tmp_path, client):
    async def work(gate):
        script = Script(prompt="Go.", steps=(WriteFile("page.html", PAGE), Final("Done.")))
        await gate.provider(broken(script, "stall at=call+4000 seconds=18 first=1", "rst at=call+8000 first=1"), client)
        await gate.open(extra="[gateway]\nheartbeat_seconds = 5")
        reply = await gate.ask(client, tools=True)
        assert problems(client, reply.data) == []
        (call,) = reply.received.calls
        assert strict_object(call.arguments) == {"path": "page.html", "content": PAGE}

    at_gate(tmp_path, work)


@pytest.mark.parametrize("upstream", WIRES)
@pytest.mark.parametrize("calls", ["hold", "live"])
@pytest.mark.parametrize("fault", ["", "rst at=6000 first=2", "output_limit at=6000 first=2", "stall at=6000 first=1"])
def test_a_patch_in_free_text_is_free_text_from_every_wire_and_gone_on_with_when_it_is_cut(
    tmp_path, upstream, calls, fault
):
    """Codex writes files by a tool that takes no JSON."""

    async def work(gate):
        script = Script(prompt="Go.", steps=(Say("I write it."), Call("apply_patch", text=PATCH), Final("Done.")))
        sim = await gate.provider(broken(script, *filter(None, [fault])), upstream)
        await gate.open(route=f'calls = "{calls}"')
        tools = [{"type": "custom", "name": "apply_patch", "description": "Patch files.", "format": {"type": "text"}}]
        reply = await gate.send("/v1/responses", body_of("responses") | {"tools": tools}, wire="responses")
        assert problems("responses", reply.data) == []
        (call,) = reply.received.calls
        assert (call.name, call.freeform, call.arguments) == ("apply_patch", True, PATCH)
        assert sum(exchange.generated for exchange in sim.log) < len(PATCH) * 1.3, "it was not written again"

    at_gate(tmp_path, work)


def test_only_what_is_gone_on_from_counts_as_saved(tmp_path):
    async def work(gate):
        call = Call("shell", {"command": f"cat > page.html <<'EOF'\n{PAGE}EOF"})
        script = Script(prompt="Go.", steps=(call, Final("Done.")))
        await gate.provider(broken(script, "rst at=6000 first=1"), "chat")
        await gate.open()
        tool = {"name": "shell", "parameters": {"type": "object", "properties": {"command": {"type": "string"}}}}
        body = body_of("chat") | {"tools": [{"type": "function", "function": tool}]}
        reply = await gate.send("/v1/chat/completions", body)
        assert [one.name for one in reply.received.calls] == ["shell"]
        assert (gate.traces[0].survived, gate.traces[0].saved_tokens) == (1, 0), "half a command is asked for again"

    at_gate(tmp_path, work)


def test_tools_that_codex_adds_among_the_messages_stay_there_and_their_calls_survive(tmp_path):
    tools = {"type": "namespace", "name": "functions", "description": "", "tools": [{"type": "custom", "name": "exec"}]}
    added = {"type": "additional_tools", "id": "at_1", "role": "developer", "tools": [tools]}
    code = f"await tools.apply_patch({PATCH!r});"

    async def work(gate):
        script = Script(prompt="Go.", steps=(Call("exec", text=code), Final("Done.")))
        sim = await gate.provider(broken(script, "rst at=6000 first=1"), "responses")
        await gate.open()
        body = body_of("responses")
        reply = await gate.send("/v1/responses", {**body, "input": [added, *body["input"]]}, wire="responses")
        (call,) = reply.received.calls
        assert (call.name, call.arguments) == ("exec", code)
        assert [exchange.body["input"][0] for exchange in sim.log] == [added] * 2

    at_gate(tmp_path, work)
