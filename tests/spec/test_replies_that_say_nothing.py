"""Empty replies, replies of thinking alone, limits spent on thinking: other words, then somebody else, then an end."""

import pytest

from headway.agent.happenings import Done, GaveUp
from headway.failure import FailureKind
from headway.recovery import prompts
from headway.sim.script import Final, Script, WriteFile
from support.lab import asked, in_lab
from support.rows import row
from support.turns import TALK, WIRES, WORDS, broken, effects, next_turn_works, requests, strategies

PAGE = "".join(f"<p>Line {number}: “quoted” \\ é 😀</p>\n" for number in range(120))
WRITES = Script(prompt="Write page.html.", steps=(WriteFile("page.html", PAGE), Final("The page is ready.")))
SPENT = ["empty_reply", "thinking_only", "thinking_only spent=true"]
EACH_SPENT = pytest.mark.parametrize("fault", SPENT)


@row(44)
@WIRES
@EACH_SPENT
def test_a_reply_that_says_nothing_is_asked_for_in_other_words_and_then_answered(tmp_path, wire, fault):
    async def work(lab):
        endpoint = await lab.provider(broken(TALK, f"{fault} first=1"), wire)
        assert await asked(lab, TALK, endpoint) == Done(WORDS)
        assert strategies(lab) == ["nudge"]
        words = prompts.NUDGE_AT_LIMIT if "spent" in fault else prompts.NUDGE
        assert words in str(lab.sims[0].log[1].body), "the second request is not the first one again"
        assert words not in str(lab.session.state.history), "the nudge leaves no trace"
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(44)
@WIRES
@EACH_SPENT
def test_a_model_that_never_says_anything_is_a_typed_end_after_three_requests(tmp_path, wire, fault):
    async def work(lab):
        endpoint = await lab.provider(broken(TALK, fault), wire)
        ending = await asked(lab, TALK, endpoint)
        assert isinstance(ending, GaveUp)
        limit = "spent" in fault
        assert ending.failure.kind is (FailureKind.OUTPUT_LIMIT if limit else FailureKind.EMPTY_REPLY)
        assert ending.failure.reason
        assert requests(lab) == [3]
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(44)
@WIRES
@EACH_SPENT
def test_a_model_that_never_says_anything_gives_way_to_the_next_one(tmp_path, wire, fault):
    async def work(lab):
        mute, healthy = await lab.provider(broken(TALK, fault), wire), await lab.provider(TALK, wire)
        assert await asked(lab, TALK, mute, healthy) == Done(WORDS)
        assert requests(lab) == [3, 1]
        assert strategies(lab)[-1] == "fail_over"
        await next_turn_works(lab, mute, healthy)

    in_lab(tmp_path, work)


@row(44)
@WIRES
@EACH_SPENT
def test_an_empty_reply_after_a_tool_ran_does_not_run_the_tool_again(tmp_path, wire, fault):
    async def work(lab):
        endpoint = await lab.provider(broken(WRITES, f"{fault} after=1 first=1"), wire)
        assert await asked(lab, WRITES, endpoint) == Done("The page is ready.")
        assert effects(lab) == ["write_file"]
        assert strategies(lab) == ["nudge"]
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)
