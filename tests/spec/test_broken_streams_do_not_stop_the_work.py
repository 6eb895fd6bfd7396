"""The reports that Headway answers, played by a scripted provider on every wire; in the end the next turn works."""

import pytest
from msgspec.structs import replace

from headway.agent.happenings import Done, GaveUp, LoopNoticed, Stopped, ToolBegan
from headway.failure import FailureKind
from headway.recovery.ledger import Policy, Strategy
from headway.sim.catalog import read_fault
from headway.sim.scenario import load_script
from headway.sim.script import Final, Script, WriteFile
from headway.turn import notices
from support.lab import asked, in_lab
from support.rows import row

WIRES = pytest.mark.parametrize("wire", ["chat", "responses", "anthropic"])
PAGE = "".join(f'<p id="p{number}">“Line” {number} — é 😀 \\ back\\slash "quoted"</p>\n' for number in range(400))
HEALTHY = Script(prompt="Write page.html.", steps=(WriteFile("page.html", PAGE), Final("The page is ready.")))


def broken(*faults: str, **changes: object) -> Script:
    return replace(HEALTHY, faults=tuple(read_fault(fault) for fault in faults), **changes)


async def next_turn_works(lab, *endpoints):
    for sim in lab.sims:
        sim.provider.use(Script(steps=(Final("I am still here."),)))
    ending = await lab.again(*endpoints).ask("Are you there?")
    assert isinstance(ending, Done), ending


def effects(lab):
    return [happening.call.name for happening in lab.told(ToolBegan)]


@row(18, 22)
@WIRES
@pytest.mark.parametrize(
    "name", ["stale_stream_in_a_large_call", "output_limit_in_arguments", "every_call_over_8_kb_is_reset"]
)
def test_a_large_call_that_is_cut_again_and_again_is_finished_through_its_draft(tmp_path, wire, name):
    script = load_script(name)
    written = next(step for step in script.steps if isinstance(step, WriteFile))

    async def work(lab):
        endpoint = await lab.provider(script, wire)
        ending = await asked(lab, script, endpoint)
        assert isinstance(ending, Done), ending
        assert lab.file(written.path) == written.content
        assert effects(lab) == ["write_file"], "the effect happens once"
        assert len(lab.told(notices.DraftHeld)) >= 2
        generated = sum(one.generated for one in lab.sims[0].log)
        assert generated / len(written.content) < 1.15, "nothing is written twice"
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(18)
@WIRES
def test_without_drafts_the_model_makes_smaller_calls_and_the_file_is_whole(tmp_path, wire):
    script = load_script("every_call_over_8_kb_is_reset")
    written = next(step for step in script.steps if isinstance(step, WriteFile))

    async def work(lab):
        endpoint = await lab.provider(script, wire)
        policy = Policy(forbidden=frozenset({Strategy.CONTINUE_DRAFT}))
        ending = await asked(lab, script, endpoint, policy=policy)
        assert isinstance(ending, Done), ending
        assert lab.file(written.path) == written.content
        assert [one.strategy for one in lab.told(notices.TryingAgain)] == [Strategy.SMALLER_PIECES]
        generated = sum(one.generated for one in lab.sims[0].log)
        assert generated / len(written.content) < 1.45
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(14, 16, 17)
@WIRES
def test_cut_text_is_continued_without_gap_or_repeat(tmp_path, wire):
    script = load_script("cut_text")
    final = next(step for step in script.steps if isinstance(step, Final))

    async def work(lab):
        endpoint = await lab.provider(script, wire)
        ending = await asked(lab, script, endpoint)
        assert ending == Done(final.text)
        assert len(lab.told(notices.Broke)) >= 2
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(3, 8)
@WIRES
def test_pings_do_not_hide_a_stall(tmp_path, wire):
    script = load_script("pings_only")

    async def work(lab):
        endpoint = await lab.provider(script, wire)
        ending = await asked(lab, script, endpoint)
        assert isinstance(ending, Done)
        stalls = [one for one in lab.told(notices.Broke) if one.failure.kind is FailureKind.STALLED]
        assert stalls
        assert len([one for one in lab.sims[0].log if one.client_left_at]) == len(stalls), "one close for each kill"
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(5)
@WIRES
def test_slow_but_steady_is_never_killed(tmp_path, wire):
    script = load_script("slow_but_steady")

    async def work(lab):
        endpoint = await lab.provider(script, wire)
        assert isinstance(await asked(lab, script, endpoint), Done)
        assert not lab.told(notices.Broke)

    in_lab(tmp_path, work)


@row(24, 25)
@WIRES
@pytest.mark.parametrize("other", ["chat", "responses", "anthropic"])
@pytest.mark.parametrize("name", ["new_sensitive_1027", "silent_filter"])
def test_a_content_filter_goes_to_the_next_provider_and_the_partial_goes_along(tmp_path, wire, other, name):
    script = load_script(name)
    written = next(step for step in script.steps if isinstance(step, WriteFile))

    async def work(lab):
        filtering = await lab.provider(script, wire)
        healthy = await lab.provider(replace(script, faults=()), other)
        ending = await asked(lab, script, filtering, healthy)
        assert isinstance(ending, Done), ending
        assert lab.file(written.path) == written.content
        assert effects(lab) == ["write_file"]
        assert lab.told(notices.FailedOver)
        if name == "new_sensitive_1027":
            assert len(lab.told(notices.FailedOver)) == len(lab.told(notices.Broke)), "at first sight, every time"
        await next_turn_works(lab, filtering, healthy)

    in_lab(tmp_path, work)


@row(31)
@WIRES
def test_everything_down_is_a_clear_error_after_at_most_three_requests_an_upstream(tmp_path, wire):
    script = broken("wrong_status status=503")

    async def work(lab):
        first, second = await lab.provider(script, wire), await lab.provider(script, wire)
        ending = await asked(lab, script, first, second)
        assert isinstance(ending, GaveUp)
        assert ending.failure.reason
        assert [len(sim.log) for sim in lab.sims] == [3, 3]
        await next_turn_works(lab, first, second)

    in_lab(tmp_path, work)


@row(31, 32)
@WIRES
def test_a_bad_key_is_not_used_twice(tmp_path, wire):
    script = load_script("bad_key")

    async def work(lab):
        endpoint = await lab.provider(script, wire, keys=("one", "two", "three"))
        ending = await asked(lab, script, endpoint)
        assert isinstance(ending, GaveUp)
        assert ending.failure.kind is FailureKind.BAD_KEY
        assert sorted(one.key for one in lab.sims[0].log) == ["one", "three", "two"]

    in_lab(tmp_path, work)


@row(45)
@WIRES
def test_going_round_in_circles_is_noticed_and_told_first(tmp_path, wire):
    script = load_script("going_round_in_circles")

    async def work(lab):
        endpoint = await lab.provider(script, wire)
        ending = await asked(lab, script, endpoint)
        assert isinstance(ending, Done | Stopped)
        assert lab.told(LoopNoticed)

    in_lab(tmp_path, work)


@row(33)
@WIRES
@pytest.mark.parametrize("other", ["chat", "responses", "anthropic"])
def test_thinking_and_tools_in_the_history_cross_to_another_wire(tmp_path, wire, other):
    """The second provider is as strict as the real ones: a history it would refuse fails here."""

    async def work(lab):
        healthy = load_script("all_is_well")
        first = await lab.provider(healthy, wire)
        assert isinstance(await asked(lab, healthy, first), Done)
        lab.sims[0].provider.use(Script(faults=(read_fault("wrong_status status=529"),)))
        second = await lab.provider(Script(steps=(Final("Over to me."),)), other)
        ending = await lab.again(first, second).ask("And now?")
        assert isinstance(ending, Done), ending
        assert lab.sims[1].log[-1].status == 200

    in_lab(tmp_path, work)
