"""The same tool, dropped again and again without a word of explanation: somebody else is asked before it is a loop."""

import pytest

from headway.agent.happenings import Done
from headway.recovery.ledger import Policy
from headway.sim.faults.content import ContentFilter
from support.lab import asked, in_lab
from support.rows import row
from support.turns import WIRES, broken, effects, next_turn_works, requests, strategies
from support.writing import EITHER_WAY, PAGE, STUBBORN, WRITING

MOST_DROPS = 1 + Policy().attempts_per_upstream
"""One that brought something new, and as many that did not as one provider is asked in vain."""
DROPS = {
    "ends in the middle of the arguments": ("fin at=call+3000 tool=write_file",),
    "is reset there": ("rst at=call+3000 tool=write_file",),
    "stalls there": ("stall at=call+3000 tool=write_file",),
    "ends behind the name": ("fin at=call tool=write_file",),
    "ends a little earlier each time": tuple(
        f"fin at=call+{place} tool=write_file after={number} first=1"
        for number, place in enumerate(range(4000, 3000, -100))
    ),
}


@row(24)
@pytest.mark.parametrize(
    ("wire", "other"), [("chat", "anthropic"), ("responses", "chat"), ("anthropic", "responses"), ("chat", "chat")]
)
@EITHER_WAY
@pytest.mark.parametrize("drop", DROPS)
def test_a_tool_that_is_dropped_again_and_again_goes_to_the_fallback(tmp_path, wire, other, policy, drop):
    async def work(lab):
        dropping = await lab.provider(broken(WRITING, *DROPS[drop], habits=STUBBORN), wire)
        healthy = await lab.provider(WRITING, other)
        ending = await asked(lab, WRITING, dropping, healthy, policy=policy)
        assert isinstance(ending, Done), ending
        assert 2 <= len([one for one in lab.sims[0].log if one.faults]) <= MOST_DROPS
        assert "fail_over" in strategies(lab)
        assert effects(lab)[:1] == ["write_file"]
        assert lab.file("page.html") == PAGE
        await next_turn_works(lab, dropping, healthy)

    in_lab(tmp_path, work)


@row(24)
@WIRES
@pytest.mark.parametrize("shows", ["cut", "stall"])
def test_a_filter_that_only_drops_the_call_is_seen_by_the_place(tmp_path, wire, shows):
    """The model goes on from its draft each time, and the stream ends each time before the same word."""
    script = broken(WRITING, ContentFilter(pattern=r"(?=Line 200\b)", shows=shows))

    async def work(lab):
        filtering = await lab.provider(script, wire)
        healthy = await lab.provider(WRITING, wire)
        ending = await asked(lab, WRITING, filtering, healthy)
        assert isinstance(ending, Done), ending
        assert lab.file("page.html") == PAGE
        assert effects(lab) == ["write_file"]
        assert requests(lab)[0] <= 4
        assert strategies(lab).count("fail_over") >= 1
        await next_turn_works(lab, filtering, healthy)

    in_lab(tmp_path, work)
