"""A large call that does not get through is never asked for in the same way again, not even when the user says so."""

import pytest

from headway.agent.happenings import Done, GaveUp, ToolBegan
from headway.recovery.ledger import Policy
from headway.turn import notices
from support.lab import asked, in_lab
from support.listening import Listener, agent_of
from support.rows import row
from support.turns import WIRES, broken, effects, next_turn_works, requests
from support.writing import EITHER_WAY, PAGE, STUBBORN, WRITING, told

GUIDANCE = {"drafts": "continue_draft", "no_drafts": "split into smaller pieces"}


@row(22)
@WIRES
@EITHER_WAY
def test_a_call_at_the_output_limit_is_not_run_and_the_next_request_is_another_one(tmp_path, wire, policy):
    """The model really stops at the limit of the request, inside of the arguments."""

    async def work(lab):
        endpoint = await lab.provider(WRITING, wire)
        listener = Listener(lab)
        agent = await agent_of(lab, endpoint, hear=listener, policy=policy, max_output_tokens=2_500)
        assert isinstance(await agent.ask(WRITING.prompt), Done)
        kinds = [type(item) for _, item in listener.of(notices.Broke, ToolBegan)]
        assert kinds[0] is notices.Broke
        first, second = lab.sims[0].log[:2]
        assert first.body != second.body
        words = told(wire, second)[-1]
        assert "`write_file` ran into the output limit" in words
        assert GUIDANCE["drafts" if policy == Policy() else "no_drafts"] in words
        assert lab.file("page.html") == PAGE
        bodies = [str(one.body) for one in lab.sims[0].log]
        assert len(set(bodies)) == len(bodies), "no request was ever sent twice"
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(23)
@WIRES
@EITHER_WAY
@pytest.mark.parametrize("fault", ["stall", "rst", "fin", "output_limit"])
def test_continue_after_giving_up_carries_the_guidance_and_does_not_loop(tmp_path, wire, fault, policy):
    """The endless loop of the first report: the user says "continue", and the model sends the same huge call again."""
    script = broken(WRITING, f"{fault} at=call+9000", habits=STUBBORN)

    async def work(lab):
        endpoint = await lab.provider(script, wire)
        assert isinstance(await asked(lab, WRITING, endpoint, policy=policy), GaveUp)
        for _ in range(4):
            before = requests(lab)[0]
            assert isinstance(await lab.again(endpoint, policy=policy).ask("continue"), GaveUp), "a clear end each time"
            assert 1 <= requests(lab)[0] - before <= Policy().attempts_per_upstream + 1
            *_, said, guidance = told(wire, lab.sims[0].log[before])
            assert said == "continue"
            assert "Your call to `write_file`" in guidance, "the very first request says it"
            assert "split into smaller pieces" in guidance
        assert effects(lab) == []

        lab.sims[0].use(WRITING)
        assert isinstance(await lab.again(endpoint, policy=policy).ask("continue"), Done)
        assert lab.file("page.html") == PAGE
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(23)
@WIRES
@pytest.mark.parametrize("fault", ["stall", "rst", "fin", "output_limit"])
@pytest.mark.parametrize("process", ["the same", "another"])
def test_continue_after_the_provider_went_down_goes_on_with_the_draft(tmp_path, wire, fault, process):
    """What was kept is in the session, not in the memory of a program: only the rest is written."""
    script = broken(WRITING, f"{fault} at=call+9000 first=1", "wrong_status status=503 after=1")

    async def work(lab):
        endpoint = await lab.provider(script, wire)
        assert isinstance(await asked(lab, WRITING, endpoint), GaveUp)
        if process == "another":
            await lab.session.close()
            lab.session = await lab.sessions.resume(lab.session.id)
        lab.sims[0].use(WRITING)
        before = requests(lab)[0]
        assert isinstance(await lab.again(endpoint).ask("continue"), Done)
        said, guidance = told(wire, lab.sims[0].log[before])[-2:]
        assert said == "continue"
        assert "call `continue_draft`" in guidance
        assert lab.sims[0].log[before].generated < len(PAGE) - 7_000
        assert lab.file("page.html") == PAGE
        assert effects(lab) == ["write_file"]
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)
