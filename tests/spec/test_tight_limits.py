"""Every call over a small size is cut, in whatever way: pieces get through soon, and nothing is written twice."""

import pytest
from msgspec.structs import replace

from headway.agent.happenings import Done, ToolBegan
from headway.recovery.ledger import Policy, Strategy
from headway.sim.catalog import read_fault
from headway.sim.filler import text_of
from headway.sim.script import Final, Script, WriteFile
from support.lab import asked, in_lab

PAGE = text_of(24_000, "page.html")
HEALTHY = Script(prompt="Write page.html.", steps=(WriteFile("page.html", PAGE), Final("The page is ready.")))
CUTS = ("stall", "rst", "fin", "output_limit")
WITHOUT_DRAFTS = Policy(forbidden=frozenset({Strategy.CONTINUE_DRAFT}))
WIRES = pytest.mark.parametrize("wire", ["chat", "responses", "anthropic"])


def cutting(cut, size):
    return replace(HEALTHY, faults=(read_fault(f"{cut} at=call+{size}"),))


async def next_turn_works(lab, endpoint):
    lab.sims[0].provider.use(Script(steps=(Final("I am still here."),)))
    assert isinstance(await lab.again(endpoint).ask("Are you there?"), Done)


@WIRES
@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("policy", [Policy(), WITHOUT_DRAFTS], ids=["drafts", "no drafts"])
def test_under_a_limit_of_2500_characters_few_requests_fail_before_pieces_get_through(tmp_path, wire, cut, policy):
    script = cutting(cut, 2_500)

    async def work(lab):
        endpoint = await lab.provider(script, wire)
        ending = await asked(lab, script, endpoint, policy=policy)
        assert isinstance(ending, Done), ending
        assert lab.file("page.html") == PAGE
        failed = [bool(one.faults) for one in lab.sims[0].log]
        assert failed.index(False) <= 3, "before the first piece gets through"
        assert sum(failed) <= 3, "and none after it"
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@WIRES
@pytest.mark.parametrize("cut", CUTS)
def test_a_call_in_pieces_runs_once_and_is_written_once(tmp_path, wire, cut):
    script = cutting(cut, 2_500)

    async def work(lab):
        endpoint = await lab.provider(script, wire)
        assert isinstance(await asked(lab, script, endpoint), Done)
        assert [one.call.name for one in lab.told(ToolBegan)] == ["write_file"]
        assert sum(one.generated for one in lab.sims[0].log) / len(PAGE) < 1.15

    in_lab(tmp_path, work)


def test_a_stall_is_waited_for_only_until_the_limit_is_known(tmp_path):
    """Run into again and again, it would cost a whole silence each time."""
    script = cutting("stall", 2_500)

    async def work(lab):
        endpoint = await lab.provider(script, "chat")
        assert isinstance(await asked(lab, script, endpoint), Done)
        assert sum(one.seconds > 1 for one in lab.sims[0].log) == 2

    in_lab(tmp_path, work)
