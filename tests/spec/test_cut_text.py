"""An answer that is cut is gone on with where it stopped: no gap, no lost space, no repeat, on every wire alike."""

import pytest
from msgspec.structs import replace

from headway.agent.happenings import Done, GaveUp
from headway.failure import FailureKind
from headway.messages import assistant, user
from headway.recovery.ledger import Policy
from headway.sim.manners import MANNERS
from headway.sim.script import Final, Habits, Script
from support.lab import in_lab
from support.listening import agent_of, nobody
from support.rows import row
from support.turns import WIRES, broken, heard, kinds, next_turn_works

TEXT = (
    "First a sentence.  Two spaces, then “quotes” — and an emoji 😀!\n\n"
    "- a list,\n- with `code` in it\n\n```python\nif x:\n    y = 1\n```\nAnd the end."
)
"""Every kind of seam in a few lines: words, spaces, empty lines, indentation, a fence, characters of four bytes."""
ANSWER = """\
Rain had been falling since breakfast, and nobody at the ferry office expected visitors. Still, at a quarter past ten, \
a woman in yellow boots pushed the door open with her elbow and set down two jars of honey on the counter.

“I was promised a boat,” she said. “Somebody named Aurelio took my deposit by telephone — forty crowns, non-refundable.”

The clerk turned pages: herring quotas, a half-finished crossword, last week's tide table (water-stained), three \
unpaid invoices from the ropemaker. No Aurelio. He scratched his chin, peered over spectacles mended with copper wire, \
then offered what comfort he could:

1. Wait for the mail packet, which leaves whenever its captain feels sober.
2. Walk eleven kilometres around the marsh; mind the geese.
3. Share the honey, sit by the stove, and hear how Grandmother Ilse once rowed to Kråkvik blindfolded, “on a dare”.

She chose number three. By noon the windows had steamed up completely, someone produced a fiddle, and the question of \
Aurelio — swindler, ghost, or merely forgetful? — was put aside like an umbrella after a storm."""
TALK = Script(prompt="Tell me.", steps=(Final(ANSWER),))
CUTS = ["rst", "fin", "fin framing=open", "truncated_chunk", "stall", "pings_only", "garbage_frame", "stream_error"]


def said_before(wire, body):
    """Return what the assistant is shown to have said, in a request of any wire."""
    request = MANNERS[wire].wire.parse_request(body)
    return "".join(message.text for message in request.messages if message.role == "assistant")


def asked_of(wire, exchange):
    return MANNERS[wire].wire.parse_request(exchange.body)


@row(14, 16)
@WIRES
@pytest.mark.parametrize("fault", CUTS)
def test_a_cut_text_goes_on_from_its_exact_end_whatever_cut_it(tmp_path, wire, fault):
    place = len(ANSWER) // 2

    async def work(lab):
        endpoint = await lab.provider(broken(TALK, f"{fault} at={place} first=1"), wire)
        agent = await agent_of(lab, endpoint)
        assert await agent.ask("Tell me.") == Done(ANSWER)
        second = lab.sims[0].log[1]
        kept = said_before(wire, second.body)
        assert ANSWER.startswith(kept)
        assert place - 20 <= len(kept) <= place, "all that came, but for what the cut took with it"
        assert kept[-40:] in asked_of(wire, second).messages[-1].text, "and it is told where to go on"
        assert heard(lab) == ANSWER
        assert lab.session.state.history == (user("Tell me."), assistant(ANSWER))
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(14, 16)
@WIRES
def test_a_text_cut_at_any_character_comes_out_whole(tmp_path, wire):
    """Whatever stands at the seam. The space at the end of what is kept is not shown: nobody would see it there."""

    async def work(lab):
        for place in range(1, len(TEXT)):
            script = broken(Script(prompt="Go.", steps=(Final(TEXT),)), f"fin at={place} first=1")
            endpoint = await lab.provider(script, wire)
            lab.items.clear()
            agent = await agent_of(lab, endpoint)
            ending = await agent.ask("Go.")
            assert ending == Done(TEXT), f"cut behind {TEXT[:place]!r}"
            assert heard(lab) == TEXT
            if TEXT[:place].strip():
                assert said_before(wire, lab.sims[-1].log[1].body) == TEXT[:place].rstrip()
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(15)
@WIRES
@pytest.mark.parametrize("fault", ["rst", "stall", "fin"])
def test_without_anybody_to_show_it_to_the_result_is_the_same(tmp_path, wire, fault):
    script = broken(TALK, f"{fault} at=50% first=2", habits=Habits(overlap=40))

    async def work(lab):
        results = []
        for hear in (None, nobody):
            endpoint = await lab.provider(script, wire)
            agent = await agent_of(lab, replace(endpoint, model="model"), hear=hear)
            ending = await agent.ask("Tell me.")
            bodies = [one.body for one in lab.sims[-1].log]
            results.append((ending, lab.session.state.history, bodies))
        assert results[0] == results[1]
        assert results[0][0] == Done(ANSWER)
        assert heard(lab) == ANSWER, "one of them was heard, and only one"
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(16)
@pytest.mark.parametrize("fault", CUTS)
def test_the_result_is_the_same_on_every_wire(tmp_path, fault):
    script = broken(TALK, f"{fault} at=50% first=2", habits=Habits(overlap=40))

    async def work(lab):
        results = {}
        for wire in ("chat", "responses", "anthropic"):
            endpoint = await lab.provider(script, wire)
            lab.items.clear()
            ending = await (await agent_of(lab, endpoint)).ask("Tell me.")
            shown = [said_before(wire, one.body) for one in lab.sims[-1].log]
            results[wire] = (ending, heard(lab), lab.session.state.history, shown)
        assert results["chat"] == results["responses"] == results["anthropic"]
        assert results["chat"][0] == Done(ANSWER)
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(17)
@WIRES
@pytest.mark.parametrize("overlap", [24, 40, 120, 600])
@pytest.mark.parametrize("cuts", [1, 4])
def test_a_continuation_that_repeats_the_tail_is_joined_without_it(tmp_path, wire, overlap, cuts):
    script = broken(TALK, f"rst at=60% first={cuts}", habits=Habits(overlap=overlap))

    async def work(lab):
        endpoint = await lab.provider(script, wire)
        agent = await agent_of(lab, endpoint)
        assert await agent.ask("Tell me.") == Done(ANSWER)
        assert heard(lab) == ANSWER, "nor did it show for a moment"
        assert len(lab.sims[0].log) == cuts + 1
        assert sum(one.generated for one in lab.sims[0].log) >= len(ANSWER) + overlap, "it was really said again"
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


def caps(wire, log):
    """Return the output that each request allowed, in tokens."""
    return [MANNERS[wire].wire.parse_request(one.body).max_output_tokens for one in log]


@row(21)
@WIRES
@pytest.mark.parametrize(("output_limit", "raised"), [(120, 120), (150, 150), (1_000, 200), (None, 100), (60, 100)])
def test_a_text_at_the_output_limit_is_continued_with_more_room_if_the_provider_has_it(
    tmp_path, wire, output_limit, raised
):
    """The model really stops at the limit that it is given, at four characters a token."""

    async def work(lab):
        endpoint = replace(await lab.provider(TALK, wire), output_limit=output_limit)
        agent = await agent_of(lab, endpoint, max_output_tokens=100)
        assert await agent.ask("Tell me.") == Done(ANSWER)
        assert heard(lab) == ANSWER
        assert set(kinds(lab)) == {"output_limit"}
        first, *more = caps(wire, lab.sims[0].log)
        assert first == 100
        assert set(more) == {raised}, "never above what the provider can write"
        assert [said_before(wire, one.body) for one in lab.sims[0].log[1:]] == [
            ANSWER[: 400 + number * raised * 4].rstrip() for number in range(len(more))
        ], "every word that came is in the next request"
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(21)
@WIRES
def test_a_limit_that_nobody_set_is_raised_as_well(tmp_path, wire):
    """One wire cannot leave the limit out, so it has a default, and others have one that is not told."""

    async def work(lab):
        endpoint = await lab.provider(broken(TALK, "output_limit characters=400 first=1"), wire)
        endpoint = replace(endpoint, output_limit=64_000)
        agent = await agent_of(lab, endpoint)
        assert await agent.ask("Tell me.") == Done(ANSWER)
        first, second = caps(wire, lab.sims[0].log)
        assert first is None or first < 64_000
        assert second == 64_000
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(21)
@WIRES
def test_continuations_of_a_limited_text_are_counted(tmp_path, wire):
    async def work(lab):
        endpoint = await lab.provider(broken(TALK, "output_limit characters=40"), wire)
        policy = Policy(continuations=3, attempts=3)
        agent = await agent_of(lab, endpoint, policy=policy)
        ending = await agent.ask("Tell me.")
        assert isinstance(ending, GaveUp)
        assert ending.failure.kind is FailureKind.OUTPUT_LIMIT
        assert len(lab.sims[0].log) == policy.continuations + policy.attempts
        kept = lab.session.state.history[-1].text
        assert kept == heard(lab) == ANSWER[: len(kept)]
        assert len(kept) == 40 * len(lab.sims[0].log), "and nothing of it is lost"
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)
