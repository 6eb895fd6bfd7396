"""A tool call that was cut is never run. The model is told which one it was, and what to do; and that has an end."""

import pytest

from headway.agent.approval import Allow, Mode
from headway.agent.happenings import Done, GaveUp, ToolBegan, ToolEnded
from headway.recovery.ledger import Policy
from headway.sim.script import Call, Final, Script, WriteFile
from headway.turn import notices
from headway.wire.json_text import encode_text, strict_object
from support.lab import asked, in_lab
from support.listening import Listener, agent_of
from support.rows import row
from support.turns import WIRES, broken, effects, next_turn_works, requests, strategies
from support.writing import EITHER_WAY, NO_DRAFTS, PAGE, STUBBORN, WRITING, offered, told

CUTS = ["rst", "fin", "fin framing=open", "truncated_chunk", "stall", "pings_only", "garbage_frame", "false_finish"]


@row(18)
@WIRES
@pytest.mark.parametrize("fault", CUTS)
def test_a_cut_call_is_not_run_and_the_model_is_asked_for_smaller_ones_by_its_name(tmp_path, wire, fault):
    script = broken(WRITING, f"{fault} at=call+9000 over=8000")

    async def work(lab):
        endpoint = await lab.provider(script, wire)
        listener = Listener(lab)
        agent = await agent_of(lab, endpoint, hear=listener, policy=NO_DRAFTS)
        assert isinstance(await agent.ask(WRITING.prompt), Done)
        broke = [type(item) for _, item in listener.of(notices.Broke, ToolBegan)]
        assert broke[:2] == [notices.Broke, ToolBegan], "nothing ran before the cut was dealt with"
        words = told(wire, lab.sims[0].log[1])[-1]
        assert "`write_file`" in words
        assert "did not run it" in words
        assert "split into smaller pieces of at most about 6," in words, "what is known to get through, measured"
        pieces = [strict_object(one.call.arguments) for one in lab.told(ToolBegan)]
        assert all(len(piece["content"]) <= 6_750 for piece in pieces)
        assert "".join(piece["content"] for piece in pieces) == lab.file("page.html") == PAGE
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(18)
@WIRES
@pytest.mark.parametrize("fault", CUTS)
def test_a_cut_call_is_not_run_and_its_draft_is_gone_on_with(tmp_path, wire, fault):
    script = broken(WRITING, f"{fault} at=call+9000 first=1")

    async def work(lab):
        endpoint = await lab.provider(script, wire)
        assert isinstance(await asked(lab, WRITING, endpoint), Done)
        words = told(wire, lab.sims[0].log[1])[-1]
        assert "`write_file`" in words
        assert "have not run anything" in words
        assert "continue_draft" in offered(wire, lab.sims[0].log[1])
        assert effects(lab) == ["write_file"]
        assert lab.file("page.html") == PAGE
        assert lab.sims[0].log[1].generated < len(PAGE) - 7_000, "only the rest was written"
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(18)
@WIRES
@EITHER_WAY
@pytest.mark.parametrize("fault", ["rst", "stall", "fin", "output_limit"])
def test_a_model_that_never_listens_costs_a_few_requests_and_ends_in_a_clear_failure(tmp_path, wire, fault, policy):
    script = broken(WRITING, f"{fault} at=call+9000", habits=STUBBORN)

    async def work(lab):
        endpoint = await lab.provider(script, wire)
        ending = await asked(lab, WRITING, endpoint, policy=policy)
        assert isinstance(ending, GaveUp)
        assert ending.failure.reason
        assert requests(lab)[0] <= 1 + Policy().attempts_per_upstream
        assert len(set(strategies(lab))) == len(strategies(lab)), "nothing was tried twice"
        assert effects(lab) == []
        assert list(tmp_path.iterdir()) == []
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


APPENDING = {"path": "notes.txt", "content": "one more line\n", "append": True}
BEHIND_CONTENT = len(encode_text({"path": "notes.txt", "content": "one more line\n"})) - 1
"""Closed here, the arguments would be whole, pass the schema, and replace the file instead of adding to it."""
HALVES = {
    "in the middle of the arguments": (Call("write_file", APPENDING), "call 50%"),
    "after a closed string": (Call("write_file", APPENDING), f"call+{BEHIND_CONTENT}"),
    "after the first closed string": (Call("read_file", {"path": "notes.txt", "limit": 1}), "string"),
    "after the name only": (Call("write_file", APPENDING), "call"),
    "after the name of a tool that needs no arguments": (Call("list_files", {"path": "."}), "call"),
}


@row(19)
@WIRES
@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize(
    ("fault", "half"),
    [
        *(("fin", half) for half in HALVES),
        # A name without arguments and with a finish reason is how some servers write a call without arguments.
        *(("false_finish", half) for half, (_, place) in HALVES.items() if place != "call"),
    ],
)
def test_a_clean_end_inside_a_call_does_not_run_it_in_any_mode(tmp_path, wire, mode, fault, half):
    """Once as a stream that just ends, once with a finish reason as if all were said."""
    call, place = HALVES[half]
    script = Script(prompt="Go on.", steps=(call, Final("It is done.")))

    async def work(lab):
        (tmp_path / "notes.txt").write_text("the first line\n")
        endpoint = await lab.provider(broken(script, f"{fault} at='{place}' first=1"), wire)
        seen = []

        async def allows(one, why):
            seen.append(one)
            return Allow()

        listener = Listener(lab)
        agent = await agent_of(lab, endpoint, hear=listener, mode=mode, asker=allows)
        ending = await agent.ask("Go on.")
        assert isinstance(ending, Done), ending
        order = [type(item) for _, item in listener.of(notices.Broke, ToolBegan, ToolEnded)]
        assert order[0] is notices.Broke, "neither run nor refused: there was no call yet"
        ran = [one.call for one in lab.told(ToolBegan)]
        for one in (*ran, *seen):
            assert (one.name, strict_object(one.arguments)) == (call.tool, call.arguments), "all of it or nothing"
        reads = call.tool != "write_file"
        assert len(ran) == (1 if reads or mode is not Mode.PLAN else 0)
        assert len(seen) == (1 if mode is Mode.ASK and not reads else 0)
        added = "one more line\n" if ran and not reads else ""
        assert lab.file("notes.txt") == "the first line\n" + added
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


TWO = Script(
    prompt="Write both.",
    steps=(WriteFile("a.txt", PAGE[:3_000]), WriteFile("b.txt", PAGE[3_000:9_000], parallel=True), Final("Both.")),
)


@row(20)
@WIRES
@EITHER_WAY
@pytest.mark.parametrize("place", ["call 2", "call 2+5", "call 2 50%"])
@pytest.mark.parametrize("fault", ["rst", "fin", "stall", "output_limit"])
def test_of_two_calls_the_whole_one_is_run_once_and_the_cut_one_is_asked_for_after_it(
    tmp_path, wire, fault, place, policy
):
    """The policy of docs/concepts/recovery.md: whole calls before a cut keep their worth."""
    script = broken(TWO, f"{fault} at='{place}' first=1")

    async def work(lab):
        endpoint = await lab.provider(script, wire)
        listener = Listener(lab)
        agent = await agent_of(lab, endpoint, hear=listener, policy=policy)
        ending = await agent.ask("Write both.")
        assert isinstance(ending, Done), ending
        assert (lab.file("a.txt"), lab.file("b.txt")) == (PAGE[:3_000], PAGE[3_000:9_000])
        paths = [strict_object(one.call.arguments)["path"] for one in lab.told(ToolBegan)]
        assert paths.count("a.txt") == 1, "nothing is run twice"
        assert paths == ["a.txt", *["b.txt"] * (len(paths) - 1)]
        assert sum(len(strict_object(one.call.arguments)["content"]) for one in lab.told(ToolBegan)) == 9_000
        kinds = [type(item) for _, item in listener.of(notices.Broke, ToolBegan, notices.Asking)]
        assert kinds[:4] == [notices.Asking, notices.Broke, ToolBegan, notices.Asking], "run at once, then asked"
        if "%" in place:
            words = told(wire, lab.sims[0].log[1])[-1]
            assert "`write_file`" in words, "and the model is told which call was cut"
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@WIRES
@pytest.mark.parametrize("fault", ["rst", "fin", "stall"])
def test_a_small_call_that_is_cut_twice_at_one_place_is_asked_for_once_more_where_there_is_nobody_else(
    tmp_path, wire, fault
):
    """Two cuts alike look like a filter, and are sometimes only bad luck."""
    small = Script(prompt="Note it.", steps=(WriteFile("note.txt", "A short note.\n"), Final("Noted.")))

    async def work(lab):
        endpoint = await lab.provider(broken(small, f"{fault} at=call+20 first=2"), wire)
        assert await asked(lab, small, endpoint) == Done("Noted.")
        assert effects(lab) == ["write_file"]
        assert lab.file("note.txt") == "A short note.\n"
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)
