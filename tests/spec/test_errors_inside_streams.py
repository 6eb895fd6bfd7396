"""An error inside a stream that began with HTTP 200 is the same error as with a status, and is met in the same way."""

from typing import Any

import pytest
from msgspec.structs import replace

from headway.agent.happenings import Done, GaveUp
from headway.sim.fault import Fault
from headway.turn import notices
from support.errors import ERRORS, FORMS, as_frame, as_status
from support.lab import asked, in_lab
from support.rows import row
from support.turns import TALK, WORDS, broken, heard, kinds, next_turn_works, strategies

EACH_ERROR = pytest.mark.parametrize(
    ("wire", "name", "form"),
    [(wire, name, form) for wire, forms in FORMS.items() for name in ERRORS[wire] for form in forms],
)


def met(folder, wire: str, fault: Fault) -> dict[str, Any]:
    """Return how an error was judged and what was done about it, with two providers of two keys each."""
    seen: dict[str, Any] = {}

    async def work(lab):
        endpoints = [await lab.provider(broken(TALK, fault), wire, keys=("one", "two")) for _ in range(2)]
        ending = await asked(lab, TALK, *endpoints)
        assert isinstance(ending, GaveUp)
        first = lab.told(notices.Broke)[0].failure
        judged = replace(first, reason="", where=None, status=None, code=None)
        keys = [[one.key for one in sim.log] for sim in lab.sims]
        seen.update(judged=judged, done=strategies(lab), keys=keys, why=ending.why)
        await next_turn_works(lab, *endpoints)

    in_lab(folder, work)
    return seen


@row(29)
@EACH_ERROR
def test_an_error_frame_inside_a_good_stream_is_met_like_the_same_error_with_a_status(tmp_path, wire, name, form):
    by_status = met(tmp_path, wire, as_status(wire, name))
    assert met(tmp_path, wire, as_frame(wire, name, form, at="headers")) == by_status
    assert met(tmp_path, wire, as_frame(wire, name, form, at="opened")) == by_status


@row(29)
@EACH_ERROR
def test_an_error_frame_behind_half_of_the_answer_is_the_same_error_and_the_half_is_kept(tmp_path, wire, name, form):
    by_status = met(tmp_path, wire, as_status(wire, name))["judged"]

    async def work(lab):
        fault = as_frame(wire, name, form, at=900, first=1)
        endpoint = await lab.provider(broken(TALK, fault), wire, keys=("one", "two"))
        healthy = await lab.provider(TALK, wire)
        assert await asked(lab, TALK, endpoint, healthy) == Done(WORDS)
        assert heard(lab) == WORDS
        assert kinds(lab) == [by_status.kind.value]
        await next_turn_works(lab, endpoint, healthy)

    in_lab(tmp_path, work)
