"""What a filter objects to stays in the history: whoever objected is not asked again at every step of the task."""

import pytest
from msgspec.structs import replace

from headway.agent.happenings import Done
from headway.sim.catalog import read_fault
from headway.sim.script import Call, Final, Script
from headway.turn import notices
from support.lab import asked, in_lab

WIRES = pytest.mark.parametrize("wire", ["chat", "responses", "anthropic"])
SHOWS = pytest.mark.parametrize("shows", ["finish", "error", "http"])
WORK = Script(
    prompt="Look around the harbour.",
    steps=(*(Call("list_files", {"path": path}) for path in (".", "./", "./.")), Final("Three times the harbour.")),
)


def filtering(shows):
    return replace(WORK, faults=(read_fault(f"content_filter pattern=harbour looks_at=input shows={shows}"),))


@WIRES
@SHOWS
def test_a_filter_of_the_whole_conversation_costs_one_request_and_not_one_for_each_step(tmp_path, wire, shows):
    async def work(lab):
        strict, lenient = await lab.provider(filtering(shows), wire), await lab.provider(WORK, wire)
        assert await asked(lab, WORK, strict, lenient) == Done("Three times the harbour.")
        assert [len(sim.log) for sim in lab.sims] == [1, 4]

    in_lab(tmp_path, work)


@WIRES
def test_the_next_task_begins_with_the_first_provider_again(tmp_path, wire):
    async def work(lab):
        strict, lenient = await lab.provider(filtering("error"), wire), await lab.provider(WORK, wire)
        assert isinstance(await asked(lab, WORK, strict, lenient), Done)
        lab.sims[0].provider.use(Script(steps=(Final("I am back."),)))
        assert await lab.again(strict, lenient).ask("And you?") == Done("I am back.")

    in_lab(tmp_path, work)


@WIRES
def test_whoever_objected_is_still_asked_when_nobody_else_answers(tmp_path, wire):
    """A filter that lets the rest pass is better than a provider that is down."""

    async def work(lab):
        once = replace(WORK, faults=(read_fault("content_filter pattern=harbour looks_at=input first=1"),))
        failing = replace(WORK, faults=(read_fault("wrong_status status=503 after=1"),))
        strict, lenient = await lab.provider(once, wire), await lab.provider(failing, wire)
        assert isinstance(await asked(lab, WORK, strict, lenient), Done)
        assert {one.to for one in lab.told(notices.FailedOver)} == {strict.name, lenient.name}

    in_lab(tmp_path, work)
