"""What random worlds broke once, each as a symptom of its own; in the end the next turn works."""

from functools import partial

import pytest
from msgspec.structs import replace

from headway.agent.happenings import Done, ToolBegan, ToolEnded
from headway.providers.catalog import body_for, custom
from headway.sim.filler import text_of
from headway.sim.script import Final, Habits, Pace, Script, WriteFile
from headway.turn import notices
from headway.wire.json_text import strict_object
from support.lab import asked, in_lab
from support.turns import WIRES, broken, heard, kinds, next_turn_works, strategies

FIRST, SECOND, WORDS = text_of(2_000), text_of(3_000)[1_000:], text_of(900).strip()
BOTH = Script(steps=(WriteFile("a.txt", FIRST), WriteFile("b.txt", SECOND, parallel=True), Final("Both are there.")))


def paths(lab):
    return [strict_object(one.call.arguments)["path"] for one in lab.told(ToolBegan)]


@WIRES
@pytest.mark.parametrize("place", ["call 2 50%", "call 2+60"])
def test_a_draft_that_is_completed_before_the_next_call_is_cut_runs_once(tmp_path, wire, place):
    script = broken(BOTH, "rst at='call 1 50%' first=1", f"rst at='{place}' first=1")

    async def work(lab):
        endpoint = await lab.provider(script, wire)
        assert isinstance(await asked(lab, script, endpoint), Done)
        assert (lab.file("a.txt"), lab.file("b.txt")) == (FIRST, SECOND)
        assert paths(lab).count("a.txt") == 1
        assert {one.call.name for one in lab.told(ToolEnded)} == {"write_file"}, "nobody saw the seam"
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


def test_a_call_whose_pieces_contradict_its_end_is_neither_run_nor_gone_on_from(tmp_path):
    script = broken(Script(steps=(WriteFile("a.txt", FIRST), Final("Done."))), "duplicate_delta at=call+800 first=1")

    async def work(lab):
        endpoint = await lab.provider(script, "responses")
        assert isinstance(await asked(lab, script, endpoint), Done)
        assert lab.file("a.txt") == FIRST
        assert set(paths(lab)) == {"a.txt"}
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@WIRES
def test_a_repeat_that_runs_into_the_output_limit_is_not_taken_for_new_words(tmp_path, wire):
    script = broken(
        Script(steps=(Final(WORDS),), habits=Habits(overlap=60), pace=Pace(characters=10)),
        "output_limit at=300 first=1",
        "output_limit at=25 after=1 first=2",
    )

    async def work(lab):
        endpoint = await lab.provider(script, wire)
        ending = await asked(lab, script, endpoint)
        assert ending == Done(WORDS)
        assert heard(lab) == WORDS
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@WIRES
def test_a_model_that_takes_no_draft_up_is_asked_for_smaller_pieces_by_the_next_provider_too(tmp_path, wire):
    script = broken(
        Script(steps=(WriteFile("a.txt", FIRST), Final("Done.")), habits=Habits(uses_drafts=False)),
        "rst at=call+1200 over=1300",
    )

    async def work(lab):
        endpoints = [await lab.provider(script, name) for name in (wire, "chat")]
        assert isinstance(await asked(lab, script, *endpoints), Done)
        assert strategies(lab).count("continue_draft") == 1, "what was offered in vain is not offered again"
        assert lab.file("a.txt") == FIRST
        await next_turn_works(lab, *endpoints)

    in_lab(tmp_path, work)


@WIRES
@pytest.mark.parametrize("overlap", [60, 150])
def test_a_model_that_copies_the_offset_and_repeats_lines_all_the_same_writes_them_once(tmp_path, wire, overlap):
    script = broken(
        Script(steps=(WriteFile("a.txt", FIRST), Final("Done.")), habits=Habits(overlap=overlap, offset="as_told")),
        "rst at=call+1200 first=1",
        "rst at=call+300 after=1 first=1",
    )

    async def work(lab):
        endpoint = await lab.provider(script, wire)
        assert isinstance(await asked(lab, script, endpoint), Done)
        assert lab.file("a.txt") == FIRST
        assert paths(lab) == ["a.txt"]
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@WIRES
@pytest.mark.parametrize("place", ["opened", "30"])
def test_a_repeat_is_removed_when_its_reply_is_taken_up_again_on_the_server(tmp_path, wire, place):
    talk = Script(steps=(Final(WORDS),), habits=Habits(overlap=60), pace=Pace(characters=10))
    cut, stalled = broken(talk, "rst at=400", "bad_key after=1"), broken(talk, f"stall at={place} first=1")

    async def work(lab):
        first, second = await lab.provider(cut, wire), await lab.provider(stalled, "responses")
        provider = replace(custom("p2", "responses", second.url), reattaches=True)
        second = replace(second, reattaches=True, fit=partial(body_for, provider))
        assert await asked(lab, talk, first, second) == Done(WORDS)
        assert heard(lab) == WORDS
        assert strategies(lab)[-1] == "reattach"
        await next_turn_works(lab, first, second)

    in_lab(tmp_path, work)


@WIRES
@pytest.mark.parametrize("ending", ["stall at=headers", "rst at=headers"])
def test_an_error_whose_words_never_come_is_judged_by_its_status(tmp_path, wire, ending):
    script = broken(Script(steps=(Final("All is well."),)), "bad_key key=one", f"{ending} key=one")

    async def work(lab):
        endpoint = await lab.provider(script, wire, keys=("one", "two"))
        assert await asked(lab, script, endpoint) == Done("All is well.")
        assert kinds(lab) == ["bad_key"]
        assert [one.key for one in lab.sims[0].log] == ["one", "two"], "a key that is turned away is not tried again"
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@WIRES
def test_a_request_that_was_worked_on_for_long_is_not_sent_again_in_secret(tmp_path, wire):
    waited = ("fin at=start framing=open after=1 first=1", "slow_headers seconds=8 after=1 first=1")
    script = broken(Script(steps=(WriteFile("a.txt", FIRST), Final("Done."))), *waited)

    async def work(lab):
        endpoint = await lab.provider(script, wire)
        assert isinstance(await asked(lab, script, endpoint), Done)
        log = lab.sims[0].log
        assert log[0].connection == log[1].connection, "the connection was used before"
        assert [one.faults for one in log] == [(), ("fin", "slow_headers"), ()]
        assert len(lab.told(notices.Asking)) == len(log), "each request was told"
        assert len(lab.told(notices.Broke)) == 1
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)
