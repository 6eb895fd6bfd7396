"""A content filter or a refusal, in whatever form it shows: to the next provider, never to the same one again."""

import pytest

from headway.agent.happenings import Done, GaveUp
from headway.failure import FailureKind
from headway.recovery.decisions import Why
from headway.sim.faults.content import ContentFilter, Refusal
from headway.sim.faults.errors import StreamError
from headway.sim.faults.statuses import WrongStatus
from headway.sim.script import Final, Script, WriteFile
from headway.turn import notices
from support.lab import asked, in_lab
from support.rows import row
from support.turns import (
    OTHERS,
    TALK,
    WIRES,
    WORDS,
    broken,
    effects,
    heard,
    kinds,
    next_turn_works,
    refusals,
    requests,
    strategies,
)

PLACE = 700
FILTERS = {
    "chat": [
        StreamError(at=PLACE, like="minimax_1027"),
        StreamError(at=PLACE, like="minimax_base_resp"),
        StreamError(at=PLACE, like="azure_content_filter"),
        StreamError(at=PLACE, like="dashscope_inspection"),
        StreamError(at=PLACE, like="zhipu_sensitive"),
        ContentFilter(pattern=r"Sentence 15\b", shows="finish"),
    ],
    "responses": [
        StreamError(at=PLACE, like="responses_filter"),
        ContentFilter(pattern=r"Sentence 15\b", shows="finish"),
        ContentFilter(pattern=r"Sentence 15\b", shows="error"),
    ],
    "anthropic": [
        StreamError(at=PLACE, like="minimax_1027"),
        ContentFilter(pattern=r"Sentence 15\b", shows="finish"),
        ContentFilter(pattern=r"Sentence 15\b", shows="error"),
    ],
}
EACH_FILTER = pytest.mark.parametrize(
    ("wire", "fault"),
    [
        pytest.param(wire, fault, id=f"{wire}-{getattr(fault, 'like', '') or fault.shows}")
        for wire, faults in FILTERS.items()
        for fault in faults
    ],
)


@row(25)
@EACH_FILTER
@OTHERS
def test_a_filter_in_mid_stream_goes_on_elsewhere_at_once_and_nothing_is_said_twice(tmp_path, wire, other, fault):
    async def work(lab):
        filtering = await lab.provider(broken(TALK, fault), wire)
        healthy = await lab.provider(TALK, other)
        assert await asked(lab, TALK, filtering, healthy) == Done(WORDS)
        assert heard(lab) == WORDS, "what was streamed before the filter is gone on from, or said to be withdrawn"
        assert kinds(lab) in (["content_filtered"], ["refused"])
        assert strategies(lab) == ["fail_over"], "not one more request to the provider that filters"
        assert requests(lab) == [1, 1]
        assert (lab.sims[1].generated < len(WORDS)) is (not lab.told(notices.Withdrawn)), "only the rest is written"
        assert bool(lab.told(notices.Withdrawn)) is (kinds(lab) == ["refused"])
        await next_turn_works(lab, filtering, healthy)

    in_lab(tmp_path, work)


@row(25)
@pytest.mark.parametrize(("wire", "like"), [("chat", "minimax_1027"), ("anthropic", "minimax_1027")])
@OTHERS
def test_a_filter_inside_a_call_takes_the_draft_along_and_the_file_is_written_once(tmp_path, wire, other, like):
    page = "".join(f"<p>Line {number}: “quoted” \\ é 😀</p>\n" for number in range(200))
    script = Script(prompt="Write page.html.", steps=(WriteFile("page.html", page), Final("Ready.")))

    async def work(lab):
        filtering = await lab.provider(broken(script, StreamError(at="call+3000", like=like)), wire)
        healthy = await lab.provider(script, other)
        assert await asked(lab, script, filtering, healthy) == Done("Ready.")
        assert lab.file("page.html") == page
        assert effects(lab) == ["write_file"]
        assert kinds(lab) == ["content_filtered"]
        assert sum(bool(one.faults) for one in lab.sims[0].log) == 1, "the filter is met once"
        assert lab.sims[1].generated < len(page), "the rest of the call, not all of it"
        await next_turn_works(lab, filtering, healthy)

    in_lab(tmp_path, work)


@row(25)
@EACH_FILTER
def test_a_filter_without_a_fallback_ends_the_turn_at_once_with_its_reason(tmp_path, wire, fault):
    """Asking the same provider for the same content again would be blocked again, for ever."""

    async def work(lab):
        endpoint = await lab.provider(broken(TALK, fault), wire)
        ending = await asked(lab, TALK, endpoint)
        assert isinstance(ending, GaveUp)
        assert ending.failure.kind in {FailureKind.CONTENT_FILTERED, FailureKind.REFUSED}
        assert requests(lab) == [1]
        partial = WORDS.startswith(heard(lab)) and lab.session.state.history[-1].text
        assert partial == (heard(lab) or "Tell me."), "what came is kept once; what was withdrawn is not"
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(25)
@WIRES
def test_a_filter_that_refuses_before_the_stream_goes_elsewhere_at_once(tmp_path, wire):
    likes = {"chat": "minimax_1027", "responses": "azure_content_filter", "anthropic": "anthropic_filter"}

    async def work(lab):
        filtering = await lab.provider(broken(TALK, WrongStatus(like=likes[wire])), wire)
        healthy = await lab.provider(TALK, wire)
        assert await asked(lab, TALK, filtering, healthy) == Done(WORDS)
        assert kinds(lab) == ["content_filtered"]
        assert requests(lab) == [1, 1]
        await next_turn_works(lab, filtering, healthy)

    in_lab(tmp_path, work)


REFUSALS = pytest.mark.parametrize("fault", [Refusal(), ContentFilter(shows="finish")], ids=["refusal", "filter"])


@row(26)
@WIRES
@REFUSALS
def test_a_refusal_by_finish_reason_is_taken_elsewhere_once(tmp_path, wire, fault):
    async def work(lab):
        refusing = await lab.provider(broken(TALK, fault), wire)
        healthy = await lab.provider(TALK, wire)
        assert await asked(lab, TALK, refusing, healthy) == Done(WORDS)
        assert heard(lab) == WORDS
        assert strategies(lab) == ["fail_over"]
        assert requests(lab) == [1, 1]
        await next_turn_works(lab, refusing, healthy)

    in_lab(tmp_path, work)


@row(26)
@WIRES
@REFUSALS
@pytest.mark.parametrize("providers", [1, 2])
def test_a_refusal_by_everybody_is_a_clear_refusal_after_one_request_each(tmp_path, wire, fault, providers):
    async def work(lab):
        endpoints = [await lab.provider(broken(TALK, fault), wire) for _ in range(providers)]
        ending = await asked(lab, TALK, *endpoints)
        assert isinstance(ending, GaveUp)
        assert ending.failure.kind in {FailureKind.CONTENT_FILTERED, FailureKind.REFUSED}
        assert ending.why is Why.SPENT
        assert requests(lab) == [1] * providers, "no retry"
        assert refusals(lab) == [], "it was no mistake of ours"
        await next_turn_works(lab, *endpoints)

    in_lab(tmp_path, work)


@row(26)
@pytest.mark.parametrize("wire", ["chat", "responses"])
def test_the_words_of_a_refusal_are_told(tmp_path, wire):
    words = "I can't help with that, because it is not mine to say."

    async def work(lab):
        endpoint = await lab.provider(broken(TALK, Refusal(text=words)), wire)
        ending = await asked(lab, TALK, endpoint)
        assert isinstance(ending, GaveUp)
        assert words in ending.failure.reason
        assert "stop" not in ending.failure.reason, "a refusal is never told as an ordinary end"
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(26)
@OTHERS
def test_what_a_refusing_provider_took_back_is_neither_shown_again_nor_kept(tmp_path, other):
    """On the Messages wire a refusal may come after text, and takes that text back."""
    fault = ContentFilter(pattern=r"Sentence 15\b", shows="finish")

    async def work(lab):
        refusing = await lab.provider(broken(TALK, fault), "anthropic")
        down = await lab.provider(broken(TALK, StreamError(at=300, first=9), "wrong_status after=1"), other)
        ending = await asked(lab, TALK, refusing, down, policy=None)
        assert isinstance(ending, GaveUp)
        kept = lab.session.state.history[-1]
        assert WORDS.startswith(kept.text), "only what the second provider said is kept"
        assert kept.text == heard(lab) != ""
        await next_turn_works(lab, refusing, down)

    in_lab(tmp_path, work)
