"""A reply that runs on the server goes on there when its stream breaks: it is taken up again, not made again."""

from functools import partial

import pytest
from msgspec.structs import replace

from headway.agent.happenings import Done
from headway.providers.catalog import body_for, custom
from headway.recovery.drafts import open_text
from headway.sim.catalog import make_fault
from headway.sim.script import Final, Pace, Say, Script, WriteFile
from headway.store.fold import fold
from headway.store.rows import entries_of
from headway.turn import notices
from support.lab import asked, in_lab
from support.turns import TALK, WORDS, broken, effects, heard, next_turn_works, refusals, strategies

PAGE = "".join(f'<p id="p{number}">“Line” {number} — é 😀 \\ back\\slash "quoted"</p>\n' for number in range(200))
WRITING = Script(
    prompt="Write page.html.",
    steps=(Say("I write the page. "), WriteFile("page.html", PAGE), Final("The page is ready.")),
)
CUTS = pytest.mark.parametrize(
    "fault",
    ["rst", "fin", "fin framing=open", "truncated_chunk", "cut_utf8 at=600", "stall", "pings_only", "rst at=opened"],
)
REFUSALS = pytest.mark.parametrize(
    ("status", "message"),
    [
        (404, "Response with id 'resp_1' not found."),
        (404, "Not Found"),
        (400, "Response cannot be streamed: it was not created with background=true."),
        (410, "Gone"),
        (500, "Internal error"),
        (429, "Slow down."),
    ],
)


async def in_background(lab, script, **options):
    """Return an endpoint that runs its replies in the background, in the body that the settings would make."""
    endpoint = await lab.provider(script, "responses", **options)
    provider = replace(custom("p", "responses", endpoint.url), reattaches=True)
    return replace(endpoint, reattaches=True, fit=partial(body_for, provider))


def refusing(status, message, **scope):
    """Return a provider's refusal to go on with the first reply; replies themselves are well."""
    scope = {"after": 1, "first": 1} | scope
    return make_fault("wrong_status", {"status": status, "message": message, **scope})


def methods(sim):
    return [one.method for one in sim.log]


async def generated_when_all_is_well(lab, script):
    endpoint = await in_background(lab, script)
    session, items, sims = lab.session, lab.items, lab.sims
    lab.items = []
    await asked(lab, script, endpoint)
    lab.session, lab.items, sim = session, items, sims[-1]
    return sim.generated


@CUTS
def test_a_text_that_is_cut_comes_once_and_is_generated_once(tmp_path, fault):
    async def work(lab):
        endpoint = await in_background(lab, broken(TALK, f"{fault} first=1"))
        assert await asked(lab, TALK, endpoint) == Done(WORDS)
        assert heard(lab) == WORDS
        assert lab.session.state.messages[-1].text == WORDS
        assert methods(lab.sims[0]) == ["POST", "GET"]
        assert lab.sims[0].generated == len(WORDS)
        assert strategies(lab) == ["reattach"]
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@CUTS
def test_a_call_that_is_cut_runs_once_and_is_generated_once(tmp_path, fault):
    async def work(lab):
        endpoint = await in_background(lab, broken(WRITING, f"{fault} first=1"))
        ending = await asked(lab, WRITING, endpoint)
        assert isinstance(ending, Done), ending
        assert lab.file("page.html") == PAGE
        assert effects(lab) == ["write_file"]
        assert methods(lab.sims[0]) == ["POST", "GET", "POST"]
        assert strategies(lab) == ["reattach"]
        assert lab.told(notices.DraftHeld) == [], "nothing is left over: the server goes on writing"
        assert lab.sims[0].generated == await generated_when_all_is_well(lab, WRITING)
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@pytest.mark.parametrize("script", [TALK, WRITING], ids=["text", "call"])
def test_a_stream_that_is_cut_again_and_again_is_taken_up_again_and_again(tmp_path, script):
    async def work(lab):
        faults = (f"rst at={share}% after={number} first=1" for number, share in enumerate((10, 30, 50, 70, 90)))
        endpoint = await in_background(lab, broken(script, *faults))
        ending = await asked(lab, script, endpoint)
        assert isinstance(ending, Done), ending
        assert strategies(lab) == ["reattach"] * 5
        assert lab.sims[0].generated == await generated_when_all_is_well(lab, script)
        assert heard(lab).startswith(WORDS if script is TALK else "I write the page. The page")
        assert script is TALK or lab.file("page.html") == PAGE
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


def test_a_reply_that_is_still_being_written_is_followed_live(tmp_path):
    async def work(lab):
        script = broken(TALK, "rst at=30% first=1", pace=Pace(seconds=1.0))
        endpoint = await in_background(lab, script)
        assert await asked(lab, script, endpoint) == Done(WORDS)
        assert lab.sims[0].log[1].seconds > 50, "the rest was waited for"
        assert lab.sims[0].generated == len(WORDS)

    in_lab(tmp_path, work)


@REFUSALS
@pytest.mark.parametrize("others", [0, 1])
def test_a_text_that_the_server_has_forgotten_is_continued_there(tmp_path, status, message, others):
    async def work(lab):
        endpoint = await in_background(lab, broken(TALK, "rst first=1", refusing(status, message)))
        spare = [await lab.provider(TALK, "chat") for _ in range(others)]
        assert await asked(lab, TALK, endpoint, *spare) == Done(WORDS)
        assert heard(lab) == WORDS
        assert strategies(lab) == ["reattach", "continue_text"]
        assert methods(lab.sims[0]) == ["POST", "GET", "POST"]
        assert not refusals(lab)
        await next_turn_works(lab, endpoint, *spare)

    in_lab(tmp_path, work)


@REFUSALS
@pytest.mark.parametrize("others", [0, 1])
def test_a_call_that_the_server_has_forgotten_is_continued_from_its_draft(tmp_path, status, message, others):
    async def work(lab):
        endpoint = await in_background(lab, broken(WRITING, "rst first=1", refusing(status, message)))
        spare = [await lab.provider(TALK, "chat") for _ in range(others)]
        ending = await asked(lab, WRITING, endpoint, *spare)
        assert isinstance(ending, Done), ending
        assert lab.file("page.html") == PAGE
        assert effects(lab) == ["write_file"]
        assert strategies(lab) == ["reattach", "continue_draft"]
        assert len(lab.told(notices.DraftHeld)) == 1
        assert not refusals(lab)
        await next_turn_works(lab, endpoint, *spare)

    in_lab(tmp_path, work)


def test_a_key_that_may_not_read_the_reply_gives_way_to_the_next_and_nothing_is_said_twice(tmp_path):
    async def work(lab):
        fault = refusing(403, "Project does not have access to this response.")
        endpoint = await in_background(lab, broken(TALK, "rst first=1", fault), keys=("k1", "k2"))
        assert await asked(lab, TALK, endpoint) == Done(WORDS)
        assert heard(lab) == WORDS
        assert [one.key for one in lab.sims[0].log] == ["k1", "k1", "k2"]
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


def test_an_address_with_parameters_keeps_them(tmp_path):
    async def work(lab):
        endpoint = await in_background(lab, broken(TALK, "rst first=1"))
        endpoint = replace(endpoint, url=f"{endpoint.url}?api-version=preview")
        assert await asked(lab, TALK, endpoint) == Done(WORDS)
        assert methods(lab.sims[0]) == ["POST", "GET"]
        assert lab.sims[0].generated == len(WORDS)

    in_lab(tmp_path, work)


@pytest.mark.parametrize("share", [40, 60, 90])
def test_a_process_that_dies_while_a_call_is_taken_up_leaves_all_of_it(tmp_path, share):
    """The journal is looked at as it was when the second stream broke off: that is where a process might have died."""

    async def work(lab):
        faults = ("rst at=30% first=1", f"rst at={share}% after=1 first=1")
        endpoint = await in_background(lab, broken(WRITING, *faults))
        await asked(lab, WRITING, endpoint)
        entries = list(entries_of(lab.sessions.store.read(lab.session.id)))
        broke = [at for at, entry in enumerate(entries) if getattr(entry.record, "goes_on", False)]
        assert len(broke) == 2
        draft = fold(entries[: broke[1] + 1]).salvage.draft
        assert draft is not None
        assert draft.offset > len(PAGE) * (share - 5) / 100
        assert open_text(draft) == PAGE[: draft.offset], "exactly what came"

    in_lab(tmp_path, work)
