"""Servers that are processes: real ones, which do their work, hang, crash, flood and lie."""

import asyncio
import gc

import pytest

from headway.agent.approval import Mode
from headway.agent.mcp import server as servers_module
from headway.agent.mcp import stdio as pipes
from headway.agent.mcp.spec import Trust
from headway.messages import Image
from headway.providers.secret import Secret
from support.mcp import hand, is_alive, log_of, pids, stdio, until
from support.peers import open_files, real_time

SHORT = 0.4
"""A limit that is meant to run out: what is asked for never comes."""
LONG = 1.5
"""Another one, that leaves time for what comes before on a busy machine."""


@real_time
async def test_a_healthy_server_gives_tools_and_results_and_leaves_nothing(tmp_path):
    files = open_files()
    async with hand(tmp_path, stdio("s", tmp_path, "child")) as user:
        assert (await user.names())[:2] == ["s__echo", "s__fail"]
        assert (await user.call("s__echo", text="hello")).text == "hello"
        assert user.printed == ["half way\n"], "progress is shown as it comes"
        (picture,) = (await user.call("s__picture")).parts
        assert isinstance(picture, Image)
        assert picture.media_type == "image/png"
        assert (await user.call("s__table")).text == '{"rows":[1,2]}'
        failed = await user.call("s__fail")
        assert failed.is_error
        assert failed.text == "the disk is on fire"
        wrong = await user.call("s__echo")
        assert wrong.is_error
        assert "`text` is missing" in wrong.text
        process, child = sorted(pids(tmp_path, "s"))
        assert is_alive(process)
        assert is_alive(child)
    await until(lambda: not is_alive(process) and not is_alive(child))
    gc.collect()
    assert open_files() == files
    assert user.said == []
    methods = [one.get("method") for one in log_of(tmp_path, "s")]
    assert methods.count("tools/call") == 4, "wrong arguments are not sent"


@real_time
async def test_servers_that_do_not_start_are_told_in_a_line_each_and_left_out(tmp_path):
    bad = {
        "gone": stdio("gone", tmp_path, "crash:initialize"),
        "mute": stdio("mute", tmp_path, "hang:initialize", "deaf", start_seconds=SHORT),
        "slow": stdio("slow", tmp_path, "hang:tools/list", "garbage", start_seconds=LONG),
        "liar": stdio("liar", tmp_path, "ids:initialize", start_seconds=LONG),
        "old": stdio("old", tmp_path, "version:1999-01-01"),
        "shy": stdio("shy", tmp_path, "refuse:initialize"),
    }
    async with hand(tmp_path, *bad.values(), stdio("well", tmp_path)) as user:
        assert all(name.startswith("well__") for name in await user.names())
        said = {words.split()[3].rstrip(":"): words for words in user.said}
        assert "it ended with status 1; its last words: out of cheese (handshake)" in said["gone"]
        assert "nothing came within 0." in said["mute"]
        assert "s (handshake)" in said["mute"]
        assert "Server is starting up!" in said["slow"]
        assert "(list of tools)" in said["slow"]
        assert "2 answers to what nobody asked" in said["liar"]
        assert "1999-01-01" in said["old"]
        assert "not today (code -32000)" in said["shy"]
        assert len(user.said) == len(bad)
        assert all("it is left out." in words for words in user.said)
        assert not any(is_alive(pid) for name in bad for pid in pids(tmp_path, name)), "ended with their failure"


@real_time
async def test_a_program_or_folder_that_is_not_there_is_named(tmp_path):
    missing = stdio("a", tmp_path / "nowhere")
    async with hand(tmp_path, missing, stdio("b", tmp_path).__class__("b", ("no-such-program",), {}, tmp_path)) as user:
        assert await user.names() == []
        assert any("there is no folder" in words for words in user.said)
        assert any("there is no program no-such-program" in words for words in user.said)


@real_time
async def test_a_call_that_hangs_is_taken_back_and_the_server_goes_on(tmp_path):
    async with hand(tmp_path, stdio("s", tmp_path, call_seconds=LONG)) as user:
        hung = await user.call("s__sleep")
        assert hung.is_error
        assert "`s__sleep` was given up: nothing came within 1.5 s" in hung.text
        assert "not known" in hung.text
        assert (await user.call("s__echo", text="still here")).text == "still here"
        log = log_of(tmp_path, "s")
        asked = next(one for one in log if one.get("method") == "tools/call")
        taken_back = next(one for one in log if one.get("method") == "notifications/cancelled")
        assert taken_back["params"]["requestId"] == asked["id"]
        assert len(pids(tmp_path, "s")) == 1, "it answered a ping, so it was not replaced"


@real_time
async def test_a_server_that_is_past_hearing_is_replaced(tmp_path, monkeypatch):
    monkeypatch.setattr("headway.agent.mcp.session.PING_SECONDS", SHORT)
    monkeypatch.setattr(pipes, "LEAVE_SECONDS", 0.1)
    spec = stdio("s", tmp_path, "hang:tools/call", "deaf", "stubborn", call_seconds=SHORT)
    async with hand(tmp_path, spec) as user:
        assert (await user.call("s__echo", text="x")).is_error
        assert (await user.call("s__echo", text="x")).is_error
        first, second = pids(tmp_path, "s")
        assert not is_alive(first), "it was ended although it takes no hint"
        assert is_alive(second)
    await until(lambda: not is_alive(second))


@real_time
async def test_a_crash_in_mid_call_is_an_error_and_the_next_call_meets_a_new_server(tmp_path):
    async with hand(tmp_path, stdio("s", tmp_path)) as user:
        broken = await user.call("s__once")
        assert broken.is_error
        assert "`s__once` broke off: it ended with status 1; its last words: it slipped" in broken.text
        assert (await user.call("s__once")).text == "done"
        first, second = pids(tmp_path, "s")
        assert not is_alive(first)
        assert is_alive(second)
        calls = [one for one in log_of(tmp_path, "s") if one.get("method") == "tools/call"]
        assert len(calls) == 2, "nobody but the model makes a call again"


@real_time
async def test_a_server_that_keeps_failing_rests_longer_each_time_and_is_left_alone_in_the_end(tmp_path, monkeypatch):
    monkeypatch.setattr(servers_module, "PAUSE_SECONDS", 0.0)
    async with hand(tmp_path, stdio("s", tmp_path, "crash:tools/call")) as user:
        tools = await user.servers.tools()
        (server,) = user.servers.all
        for _ in range(servers_module.MOST_FAILURES):
            with pytest.raises(servers_module.ServerFailed, match="out of cheese"):
                await server.call("echo", {"text": "x"}, None)
        assert len(pids(tmp_path, "s")) == servers_module.MOST_FAILURES
        with pytest.raises(servers_module.ServerFailed, match="left alone from now on"):
            await server.call("echo", {"text": "x"}, None)
        assert len(pids(tmp_path, "s")) == servers_module.MOST_FAILURES, "not started once more"
        assert tools
    monkeypatch.setattr(servers_module, "PAUSE_SECONDS", 60.0)
    async with hand(tmp_path, stdio("t", tmp_path, "crash:tools/call")) as user:
        (server,) = user.servers.all
        for _ in range(2):
            with pytest.raises(servers_module.ServerFailed, match="out of cheese"):
                await server.call("echo", {"text": "x"}, None)
        with pytest.raises(servers_module.ServerFailed, match="tried again in 60 s"):
            await server.call("echo", {"text": "x"}, None)


@real_time
async def test_a_server_that_ended_between_turns_keeps_its_tools_and_is_started_by_a_call(tmp_path):
    async with hand(tmp_path, stdio("s", tmp_path)) as user:
        before = await user.names()
        await user.call("s__once")
        assert await user.names() == before
        assert len(pids(tmp_path, "s")) == 1
        assert (await user.call("s__echo", text="back")).text == "back"
        assert len(pids(tmp_path, "s")) == 2


@real_time
async def test_a_server_that_did_not_start_keeps_nobody_waiting_a_second_time(tmp_path):
    async with hand(tmp_path, stdio("s", tmp_path, "crash:initialize")) as user:
        assert await user.names() == await user.names() == []
        assert len(pids(tmp_path, "s")) == 1
        assert len(user.said) == 1


@real_time
async def test_a_flood_ends_in_an_error_and_not_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(pipes, "LARGEST_MESSAGE", 2_000_000)
    async with hand(tmp_path, stdio("s", tmp_path, "flood:tools/call")) as user:
        flooded = await user.call("s__echo", text="x")
        assert flooded.is_error
        assert "it sent a line of over" in flooded.text
        (pid,) = pids(tmp_path, "s")
    await until(lambda: not is_alive(pid))


@real_time
async def test_a_cancelled_call_is_taken_back_and_a_cancelled_start_leaves_nothing(tmp_path):
    async with hand(tmp_path, stdio("s", tmp_path)) as user:
        await user.names()
        call = asyncio.ensure_future(user.call("s__sleep"))
        await until(lambda: any(one.get("method") == "tools/call" for one in log_of(tmp_path, "s")))
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await until(lambda: any(one.get("method") == "notifications/cancelled" for one in log_of(tmp_path, "s")))
    async with hand(tmp_path, stdio("t", tmp_path, "hang:initialize", "child")) as user:
        start = asyncio.ensure_future(user.names())
        await until(lambda: len(pids(tmp_path, "t")) == 2)
        start.cancel()
        with pytest.raises(asyncio.CancelledError):
            await start
        await until(lambda: not any(map(is_alive, pids(tmp_path, "t"))))


@real_time
async def test_lists_come_in_pages_and_change_when_the_server_says_so(tmp_path):
    async with hand(tmp_path, stdio("s", tmp_path, "pages", tools=("gr*", "echo"))) as user:
        assert await user.names() == ["s__echo", "s__grow"]
        await user.call("s__grow")
        assert await user.names() == ["s__echo", "s__grow", "s__grown"]
        lists = [one["params"].get("cursor") for one in log_of(tmp_path, "s") if one.get("method") == "tools/list"]
        assert lists == [None, "3", "6", "9"] * 2


@real_time
async def test_a_server_may_ask_for_a_sign_of_life_and_for_the_folder_and_for_nothing_else(tmp_path):
    async with hand(tmp_path, stdio("s", tmp_path)) as user:
        said = (await user.call("s__ask")).text
        assert '"s0": {"jsonrpc": "2.0", "id": "s0", "result": {}}' in said
        assert tmp_path.as_uri() in said
        assert '"code": -32601' in said


@real_time
async def test_its_secrets_do_not_come_back_and_it_sees_no_others(tmp_path):
    secret = "a-very-secret-value-1234"
    given = {"environment": {"PATH": "/usr/bin", "TOKEN": secret}, "secrets": {"env:T": Secret(secret, "env:T")}}
    async with hand(tmp_path, stdio("s", tmp_path, **given)) as user:
        assert (await user.call("s__secret")).text == "it is [hidden: the value of env:T]"
        assert set((await user.call("s__variables")).text.split()) <= {"PATH", "TOKEN", "LC_CTYPE", "PWD"}


@real_time
async def test_what_a_server_says_of_itself_counts_only_if_settings_trust_it(tmp_path):
    specs = [stdio(trust.value, tmp_path, trust=trust, tools=("echo", "fail")) for trust in Trust]
    async with hand(tmp_path, *specs, mode=Mode.PLAN) as user:
        ran = {name: not (await user.call(name, text="x")).is_error for name in await user.names() if "echo" in name}
        assert ran == {"runs__echo": False, "hinted__echo": True, "reads__echo": True}
        assert "plan mode" in (await user.call("hinted__fail")).text
        assert (await user.call("reads__fail")).text == "the disk is on fire"
