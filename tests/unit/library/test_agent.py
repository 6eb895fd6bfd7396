"""Agents in a program: whose tools run when, what is remembered, and how a task ends."""

import asyncio
from contextlib import suppress

import pytest

import headway
from headway import AgentStopped, Headway, HeadwayError, InvalidInput, Kind, Misused, ToolError, notices, tool
from headway.sim import Call, Final, Pace, Say, load_script
from headway.sim.exchange import Ending
from support.embedding import in_program, script


def told(body):
    """Return all that a request tells a model."""
    return str(body["messages"])


def calling(name, **arguments):
    return script(Call(name, arguments), Final("So it is."))


def add(first: int, second: int) -> int:
    """Add two numbers."""
    return first + second


def test_a_plain_function_is_a_tool_and_runs_unasked():
    async def work(program):
        hw = await program.client("chat", calling("add", first=2, second=3))
        agent = hw.agent(tools=[add])
        reply = await agent.ask("Add 2 and 3.")
        assert (str(reply), reply.requests, reply.upstream) == ("So it is.", 2, "p1/model-1")
        assert [message.role for message in agent.history] == ["user", "assistant", "user", "assistant"]
        assert agent.history[2].results[0].text == "5"
        (offered,) = program.sims[0].log[0].body["tools"]
        assert offered["function"]["description"] == "Add two numbers."
        assert reply.usage.output_tokens > 0

    in_program(work)


def test_what_a_tool_refuses_is_told_to_the_model():
    @tool
    async def divide(first: int, second: int) -> float:
        """Divide."""
        if second == 0:
            raise ToolError("Nothing can be divided by 0.")
        return first / second

    async def work(program):
        hw = await program.client("chat", calling("divide", first=1, second=0))
        items = [item async for item in hw.agent(tools=[divide]).turn("Divide.")]
        assert next(item.result.is_error for item in items if isinstance(item, notices.ToolEnded))
        assert "Nothing can be divided by 0." in told(program.sims[0].log[1].body)

    in_program(work)


@pytest.mark.parametrize(("kind", "ran"), [(Kind.READS, True), (Kind.EDITS, False), (Kind.RUNS, False)])
def test_a_plan_only_reads_by_what_each_tool_says_of_itself(kind, ran):
    effects = []

    @tool(kind=kind)
    def act(what: str) -> str:
        """Act."""
        effects.append(what)
        return "Done."

    async def work(program):
        hw = await program.client("chat", calling("act", what="it"))
        await hw.agent(tools=[act], approve="plan").ask("Do it.")
        assert bool(effects) is ran

    in_program(work)


@pytest.mark.parametrize(
    ("call", "approve", "ran"),
    [
        (("write_file", {"path": "a.txt", "content": "x"}), "edits", True),
        (("write_file", {"path": "a.txt", "content": "x"}), "plan", False),
        (("shell", {"command": "touch a.txt"}), "edits", False),
        (("shell", {"command": "touch a.txt"}), "auto", True),
        (("shell", {"command": "touch a.txt"}), lambda call: call.name == "shell", True),
        (("write_file", {"path": "a.txt", "content": "x"}), lambda call: call.name == "shell", False),
    ],
)
def test_built_in_tools_do_what_the_program_approves(tmp_path, call, approve, ran):
    name, arguments = call

    async def work(program):
        hw = await program.client("chat", calling(name, **arguments))
        with suppress(AgentStopped):  # the model asks again and again for what it may not do
            await hw.agent(workspace=tmp_path, approve=approve).ask("Do it.")
        assert (tmp_path / "a.txt").exists() is ran
        if not ran:
            assert "--approve" not in told(program.sims[0].log[1].body), "there is no command line here"

    in_program(work)


def test_whoever_approves_may_take_time_and_is_not_asked_about_the_programs_own_tools(tmp_path):
    asked = []

    async def approve(call):
        asked.append(call.name)
        await asyncio.sleep(60)
        return True

    async def work(program):
        steps = (Call("add", {"first": 2, "second": 3}), Call("shell", {"command": "touch a.txt"}), Final("Done."))
        hw = await program.client("chat", script(*steps))
        await hw.agent(tools=[add], workspace=tmp_path, approve=approve).ask("Do it.")
        assert asked == ["shell"]
        assert (tmp_path / "a.txt").exists()

    in_program(work)


def test_a_programs_own_tool_stands_for_the_built_in_one_of_its_name(tmp_path):
    ran = []

    @tool
    def shell(command: str) -> str:
        """Run a command, carefully."""
        ran.append(command)
        return "Done."

    async def work(program):
        hw = await program.client("chat", calling("shell", command="touch a.txt"))
        await hw.agent(tools=[shell], workspace=tmp_path).ask("Do it.")
        assert ran == ["touch a.txt"]
        assert not (tmp_path / "a.txt").exists()

    in_program(work)


def test_a_session_in_a_store_is_taken_up_again_by_another_client(tmp_path):
    async def work(program):
        made = await program.provider("chat", script(Final("Hello.")))
        store = f"sqlite:{tmp_path / 'agents.db'}"
        async with Headway(made, store=store) as hw:
            agent = hw.agent()
            assert agent.session == ""
            await agent.ask("My name is Ada.")
            session = agent.session
            with pytest.raises(HeadwayError, match="open already"):
                await hw.agent(session=session).ask("Me too.")
        async with Headway(made, store=store) as hw:
            agent = hw.agent(session=session[:-1])
            await agent.ask("What is my name?")
            assert agent.session == session
            assert "My name is Ada." in told(program.sims[0].log[-1].body)
            with pytest.raises(InvalidInput):
                await hw.agent(session="zzz").ask("Who am I?")

    in_program(work)


def test_tasks_given_at_once_are_done_one_after_the_other():
    async def work(program):
        hw = await program.client("chat", script(Final("One."), Final("Two."), pace=Pace(seconds=1)))
        agent = hw.agent()
        turns = [agent.turn("First."), agent.turn("Second.")]
        replies = await asyncio.gather(*turns)
        assert [str(reply) for reply in replies] == [turn.text for turn in turns] == ["One.", "Two."]
        assert [reply.requests for reply in replies] == [1, 1]
        assert [message.text for message in agent.history] == ["First.", "One.", "Second.", "Two."]

    in_program(work)


def test_agents_of_one_client_do_not_know_of_each_other():
    async def work(program):
        hw = await program.client("chat", script(Final("Hello.")))
        one, other = hw.agent(), hw.agent()
        await asyncio.gather(one.ask("I am one."), other.ask("I am the other."))
        assert one.session != other.session
        assert [len(agent.history) for agent in (one, other)] == [2, 2]

    in_program(work)


def test_going_round_in_circles_raises_and_the_next_task_is_heard(tmp_path):
    async def work(program):
        played = load_script("going_round_in_circles")
        hw = await program.client("chat", played)
        agent = hw.agent(workspace=tmp_path, steps=3)
        with pytest.raises(AgentStopped, match="3 steps"):
            await agent.ask(played.prompt)
        program.sims[0].use(script(Final("I am still here.")))
        assert str(await agent.ask("Are you there?")) == "I am still here."

    in_program(work)


def test_a_task_that_was_left_early_is_gone_on_from():
    async def work(program):
        hw = await program.client("chat", script(pace=Pace(seconds=1)))
        agent = hw.agent()
        async for item in agent.turn("Tell me."):
            if isinstance(item, headway.TextDelta):
                break
        await program.all_left()
        assert program.endings == [Ending.CLIENT_LEFT]
        program.sims[0].use(script(Final("I am still here.")))
        assert str(await agent.ask("Are you there?")) == "I am still here."
        assert "Sentence 0" in told(program.sims[0].log[1].body), "what had come is kept"

    in_program(work)


def test_an_agent_that_is_closed_says_so_and_its_session_is_free():
    async def work(program):
        hw = await program.client("chat", script(Final("Hello.")))
        async with hw.agent() as agent:
            await agent.ask("Hi.")
        with pytest.raises(Misused, match="closed"):
            await agent.ask("Hi.")
        assert str(await hw.agent(session=agent.session).ask("Hi again.")) != ""

    in_program(work)


def test_closing_an_agent_ends_what_it_does():
    async def work(program):
        hw = await program.client("chat", script(Say("I begin. "), Final("x" * 1000), pace=Pace(seconds=1)))
        agent = hw.agent()
        task = asyncio.create_task(agent.ask("Tell me."))
        await asyncio.sleep(3)
        await agent.aclose()
        with pytest.raises(Misused, match="closed before it was over"):
            await task
        await program.all_left()
        assert program.endings == [Ending.CLIENT_LEFT]

    in_program(work)


def untyped(thing):
    """Do something."""
    return thing


def unsaid(number: int) -> int:
    return number


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"tools": [add, add]}, "two of that name"),
        ({"tools": [untyped]}, "has no type"),
        ({"tools": [unsaid]}, "no docstring"),
        ({"tools": [7]}, "int is none"),
        ({"tools": [tool(name="add numbers")(add)]}, "no model could call it"),
        ({"tools": [tool(name="continue_draft")(add)]}, "no model could call it"),
        ({"workspace": "/does/not/exist"}, "not a directory"),
        ({"approve": "always"}, "'always' is not known"),
    ],
)
def test_an_agent_that_cannot_be_says_why(given, words):
    hw = Headway(headway.Provider("own", wire="chat", base_url="http://127.0.0.1:9/v1", model="m"))
    with pytest.raises(InvalidInput, match=words):
        hw.agent(**given)


def test_an_empty_task_is_refused():
    hw = Headway(headway.Provider("own", wire="chat", base_url="http://127.0.0.1:9/v1", model="m"))
    with pytest.raises(InvalidInput, match="empty"):
        hw.agent().turn("  ")
