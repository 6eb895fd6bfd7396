"""The executor: one result for every call, in order, and nothing before its intent."""

import asyncio
import json
import logging
import sys
import threading
import time

import pytest

from headway.agent.approval import Allow, Approvals, Deny, Kind, Mode, Rules, rule
from headway.agent.running import run_calls
from headway.agent.tools.builtin import BUILTIN
from headway.agent.tools.define import tool
from headway.agent.tools.refusals import ToolError
from headway.agent.tools.tool import Tool, ToolContext, ToolLimits, refusing_drafts
from headway.agent.workspace import Workspace
from headway.messages import CallFragment, Image, Text, ToolCall, ToolSpec


@pytest.fixture
def context(root):
    return ToolContext(Workspace(root), Approvals(Mode.AUTO))


class Journal:
    """Keeps what the hooks were told, and what ran between."""

    def __init__(self):
        self.lines = []
        self.begun = asyncio.Event()

    async def on_intent(self, call):
        await asyncio.sleep(0)
        self.lines.append(f"intent {call.id}")
        if call.name == "shell":
            self.begun.set()

    async def on_result(self, call, result):
        self.lines.append(f"result {call.id}")
        await asyncio.sleep(0)
        assert result.call_id == call.id

    def noting(self, name, kind, seconds=0.0):
        async def run(arguments, context):
            self.lines.append(f"begin {context.call_id}")
            await asyncio.sleep(seconds)
            self.lines.append(f"end {context.call_id}")
            return name

        return Tool(ToolSpec(name, "", {"type": "object"}), kind, run)


def call(identity, name, **arguments):
    return ToolCall(identity, name, json.dumps(arguments))


def run(calls, tools, context, journal=None):
    journal = journal or Journal()
    return asyncio.run(run_calls(calls, tools, context, journal.on_intent, journal.on_result))


def run_one(made, context, **arguments):
    (result,) = run([call("1", made.name, **arguments)], [made], context)
    return result


def test_reads_run_side_by_side_and_everything_else_in_its_turn(context):
    journal = Journal()
    tools = [
        journal.noting("read", Kind.READS, 0.02),
        journal.noting("edit", Kind.EDITS),
        journal.noting("run", Kind.RUNS),
    ]
    names = ["read", "read", "edit", "run", "read", "read", "edit"]
    results = run([call(str(at), name) for at, name in enumerate(names)], tools, context, journal)
    assert [result.text for result in results] == names
    assert [result.call_id for result in results] == list("0123456")
    lines = journal.lines
    assert lines[:4] == ["intent 0", "intent 1", "begin 0", "begin 1"]
    for first, then in (("end 1", "begin 2"), ("result 2", "intent 3"), ("result 3", "begin 4"), ("end 5", "begin 6")):
        assert lines.index(first) < lines.index(then)
    for at in "0123456":
        order = [lines.index(f"{what} {at}") for what in ("intent", "begin", "end", "result")]
        assert order == sorted(order)
    assert len(lines) == len(set(lines)) == 4 * len(names)


def test_no_more_reads_run_at_once_than_there_is_room_for(root):
    running, most = 0, 0

    async def read(arguments, context):
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.001)
        running -= 1
        return "x"

    context = ToolContext(Workspace(root), limits=ToolLimits(parallel_reads=3))
    made = Tool(ToolSpec("read", "", {}), Kind.READS, read)
    assert len(run([call(str(at), "read") for at in range(20)], [made], context)) == 20
    assert most == 3


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (ToolCall("1", "write_flie", "{}"), "There is no tool `write_flie`. There is `write_file`"),
        (ToolCall("1", "teleport", "{}"), "`edit_file`, `list_files`, `read_file`"),
        (ToolCall("1", "write_file", '{"path": "x", "content": "half'), "cannot be read"),
        (ToolCall("1", "write_file", '{"path": "x", "path": "y", "content": ""}'), "appears twice"),
        (ToolCall("1", "write_file", "[]"), "expected an object"),
        (ToolCall("1", "write_file", '{"path": "x"}'), "`content` is missing"),
        (ToolCall("1", "write_file", '{"path": "x", "content": 5}'), "`content` must be a string, not 5"),
        (ToolCall("1", "write_file", '{"path": "x", "content": "", "mode": "a"}'), "`mode` is not a field"),
        (ToolCall("1", "shell", '{"command": "true", "timeout_seconds": -1}'), "must be more than 0"),
        (ToolCall("1", "shell", "touch x", freeform=True), "takes a JSON object"),
    ],
)
def test_what_cannot_run_is_answered_in_words_and_has_no_intent(context, root, wrong, told):
    journal = Journal()
    (result,) = run([wrong], BUILTIN, context, journal)
    assert result.is_error
    assert told in result.text
    assert result.freeform == wrong.freeform
    assert journal.lines == ["result 1"]
    assert list(root.iterdir()) == []


def test_a_fragment_is_not_a_call_and_stops_everything_before_it_begins(context, root):
    journal = Journal()
    calls = [
        call("1", "write_file", path="x", content="x"),
        CallFragment("2", "write_file", '{"path": "y", "content": ""}'),
    ]
    with pytest.raises(TypeError, match="CallFragment"):
        run(calls, BUILTIN, context, journal)
    assert journal.lines == []
    assert list(root.iterdir()) == []


def test_the_intent_is_recorded_before_the_effect_and_a_failing_journal_prevents_it(context, root):
    async def on_intent(_):
        assert not (root / "x").exists()
        raise OSError("the journal is full")

    with pytest.raises(OSError, match="journal is full"):
        asyncio.run(run_calls([call("1", "write_file", path="x", content="")], BUILTIN, context, on_intent))
    assert list(root.iterdir()) == []


def test_a_failing_journal_is_heard_after_the_calls_beside_it_have_ended(context):
    journal = Journal()

    async def on_result(one, result):
        await journal.on_result(one, result)
        if one.id == "0":
            raise OSError("the journal is full")

    slow, fast = journal.noting("slow", Kind.READS, 0.05), journal.noting("fast", Kind.READS)
    with pytest.raises(OSError, match="journal is full"):
        asyncio.run(run_calls([call("0", "fast"), call("1", "slow")], [slow, fast], context, on_result=on_result))
    assert journal.lines[-1] == "result 1"


def test_what_a_tool_raises_becomes_its_result(context, caplog):
    def failing(error):
        async def run(arguments, context):
            raise error

        return Tool(ToolSpec("failing", "", {}), Kind.RUNS, run)

    with caplog.at_level(logging.ERROR):
        assert run_one(failing(ToolError("Not today.")), context).text == "Not today."
        assert "took too long" in run_one(failing(TimeoutError()), context).text
        assert "refused" in run_one(failing(ConnectionRefusedError(111, "refused")), context).text
        assert not caplog.records
        bug = run_one(failing(KeyError("city")), context)
    assert bug.is_error
    assert "a bug of its own (KeyError: 'city')" in bug.text
    assert caplog.records[0].exc_info is not None
    assert "cancelled itself" in run_one(failing(asyncio.CancelledError()), context).text
    huge = run_one(failing(ValueError("x" * 10_000)), context)
    assert len(huge.text) < 1_000


def test_the_calls_after_a_failed_one_still_run(context, root):
    calls = [
        call("1", "read_file", path="no"),
        call("2", "write_file", path="x", content="x"),
        call("3", "read_file", path="x"),
    ]
    first, second, third = run(calls, BUILTIN, context)
    assert first.is_error
    assert not second.is_error
    assert third.text.endswith("x")


def test_a_cancelled_command_has_what_it_printed_as_its_result_and_nothing_runs_behind_it(context, root):
    journal = Journal()
    calls = [
        call("1", "write_file", path="x", content="x"),
        call("2", "shell", command="sleep 30"),
        call("3", "shell", command="touch y"),
    ]

    async def scenario():
        task = asyncio.create_task(run_calls(calls, BUILTIN, context, journal.on_intent, journal.on_result))
        await journal.begun.wait()
        await asyncio.sleep(0.05)
        began = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return time.monotonic() - began

    assert asyncio.run(scenario()) < 0.5
    assert journal.lines == ["intent 1", "result 1", "intent 2", "result 2"]
    assert not (root / "y").exists()


def test_a_tool_that_will_not_be_cancelled_is_left_behind(context):
    async def stubborn(arguments, context):
        until = time.monotonic() + 1
        while time.monotonic() < until:
            try:
                await asyncio.sleep(0.1)
            except asyncio.CancelledError:
                continue
        return "too late"

    def deaf(arguments):
        time.sleep(1)

    async def threaded(arguments, context):
        from headway.agent.tools.threads import in_thread

        await in_thread(deaf, arguments)
        return "too late"

    async def scenario(run):
        made = Tool(ToolSpec("stubborn", "", {}), Kind.READS, run)
        task = asyncio.create_task(run_calls([call("1", "stubborn")], [made], context))
        await asyncio.sleep(0.05)
        began = time.monotonic()
        task.cancel()
        await asyncio.wait({task})
        assert task.cancelled()
        took = time.monotonic() - began
        for left in asyncio.all_tasks() - {asyncio.current_task()}:
            left.cancel()
        return took

    loop = asyncio.new_event_loop()  # not `run`, which would wait for the stubborn one
    try:
        assert loop.run_until_complete(scenario(stubborn)) < 0.6
        assert loop.run_until_complete(scenario(threaded)) < 0.6
        loop.run_until_complete(asyncio.gather(*asyncio.all_tasks(loop)))
    finally:
        loop.close()


def test_a_tool_that_never_comes_back_is_stopped(root):
    async def endless(arguments, context):
        await asyncio.Event().wait()

    context = ToolContext(Workspace(root), limits=ToolLimits(call_seconds=0.05))
    result = run_one(Tool(ToolSpec("endless", "", {}), Kind.READS, endless), context)
    assert result.is_error
    assert "took too long: it was stopped after 0.05 s" in result.text


def test_no_result_is_longer_than_the_limit_whatever_its_tool_does(root):
    context = ToolContext(Workspace(root), limits=ToolLimits(result_characters=1_000))

    async def flood(arguments, context):
        return (Text("x" * 900), Image(data="…"), Text("y" * 5_000), Text("z" * 5_000))

    async def dirty(arguments, context):
        return "a\ud800b\0c"

    result = run_one(Tool(ToolSpec("flood", "", {}), Kind.READS, flood), context)
    assert len(result.text) < 1_200
    assert "left out" in result.text
    assert isinstance(result.parts[1], Image)
    assert run_one(Tool(ToolSpec("dirty", "", {}), Kind.READS, dirty), context).text == "a\ufffdb\ufffdc"


def test_a_freeform_tool_gets_its_text(context):
    async def patch(arguments, context):
        return arguments["input"].upper()

    made = Tool(ToolSpec("patch", "", freeform=True), Kind.EDITS, patch)
    (result,) = run([ToolCall("1", "patch", "*** begin", freeform=True)], [made], context)
    assert (result.text, result.freeform) == ("*** BEGIN", True)
    assert "takes plain text" in run_one(made, context).text


def test_what_is_denied_does_not_run_and_has_no_intent(root):
    async def asker(asked, question):
        return Allow() if "yes" in asked.arguments else Deny("The user said no.")

    rules = Rules(deny=(rule("shell(touch)"),))
    context = ToolContext(Workspace(root), Approvals(Mode.ASK, rules, asker))
    journal = Journal()
    calls = [
        call("1", "write_file", path="yes", content=""),
        call("2", "write_file", path="no", content=""),
        call("3", "shell", command="touch yes-too"),
        call("4", "list_files"),
    ]
    allowed, refused, denied, read = run(calls, BUILTIN, context, journal)
    assert not allowed.is_error
    assert refused.text == "The user said no."
    assert "`shell(touch)` denies this" in denied.text
    assert read.text == "yes"
    assert [line for line in journal.lines if "intent" in line] == ["intent 1", "intent 4"]


def test_by_default_nobody_is_there_to_allow_anything_but_reading(root):
    context = ToolContext(Workspace(root))
    written, ran, listed = run(
        [call("1", "write_file", path="x", content=""), call("2", "shell", command="ls -l"), call("3", "list_files")],
        BUILTIN,
        context,
    )
    assert "`--approve edits` or `--approve auto`" in written.text
    assert "`shell(ls -l)`" in ran.text
    assert listed.text == "[empty]"


def test_sync_tools_run_beside_the_loop(context):
    @tool(kind=Kind.READS)
    def where() -> str:
        """Say which thread this is."""
        return threading.current_thread().name

    @tool
    def leaving() -> None:
        """Try to leave."""
        sys.exit(3)

    @tool
    def stopping() -> None:
        """Raise what a loop must never see."""
        raise StopIteration

    assert run_one(where, context).text == "headway-tool"
    assert "SystemExit: 3" in run_one(leaving, context).text
    assert "StopIteration" in run_one(stopping, context).text


def test_which_tools_refuse_drafts():
    assert refusing_drafts(BUILTIN) == {"read_file", "list_files", "search", "shell"}
