"""Several keys of one provider: the next one at once, every one before giving up, and none before its rest is over."""

import asyncio

import pytest

from headway.agent.happenings import Done, GaveUp
from headway.failure import FailureKind
from headway.providers.changes import KeyRested, KeyRuledOut, KeyTurned
from headway.sim.script import Final, Script
from headway.turn import notices
from support.errors import FORMS, as_frame
from support.lab import asked, in_lab
from support.listening import agent_by_settings, settings
from support.rows import row
from support.turns import TALK, WIRES, WORDS, broken, heard, kinds, next_turn_works, strategies, waits

ONE, TWO, THREE = KEYS = ("key-number-one", "key-number-two", "key-number-three")
BASES = {"chat": "/v1", "responses": "/v1", "anthropic": ""}
SETTINGS = """
[providers.main]
wire = "{wire}"
base_url = "{url}"
keys = ["env:K1", "env:K2", "env:K3"]
[routes.default]
chain = ["main/model-1"]
"""


def keys_used(lab, since: int = 0) -> list[str]:
    return [one.key for one in lab.sims[0].log[since:]]


async def agent_with_keys(lab, wire, script):
    """Return an agent as the commands make it, with three keys of one provider from the environment."""
    await lab.provider(script, wire)
    text = SETTINGS.format(wire=wire, url=lab.sims[0].url + BASES[wire])
    return await agent_by_settings(lab, settings(lab.folder, text, K1=ONE, K2=TWO, K3=THREE))


async def answers(lab, agent, words="Still here.", *faults):
    """Let the provider have one answer, ask for it, and return the keys that were used for it."""
    lab.sims[0].use(broken(Script(steps=(Final(words),)), *faults))
    lab.items.clear()
    since = len(lab.sims[0].log)
    assert await agent.ask("Say something.") == Done(words)
    return keys_used(lab, since)


def limited(key: str, seconds: float = 60) -> str:
    return f"rate_limit seconds={seconds:g} key={key}"


@row(32)
@WIRES
def test_a_rate_limit_turns_to_the_next_key_without_waiting(tmp_path, wire):
    async def work(lab):
        endpoint = await lab.provider(broken(TALK, limited(ONE)), wire, keys=KEYS)
        assert await asked(lab, TALK, endpoint) == Done(WORDS)
        assert keys_used(lab) == [ONE, TWO]
        assert waits(lab.sims[0].log) == [pytest.approx(0, abs=0.01)]
        assert strategies(lab) == ["rotate_key"]
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(32)
@WIRES
def test_a_rate_limit_in_the_middle_of_an_answer_goes_on_with_the_next_key(tmp_path, wire):
    async def work(lab):
        fault = as_frame(wire, "rate_limit", FORMS[wire][0], at=700, key=ONE)
        endpoint = await lab.provider(broken(TALK, fault), wire, keys=KEYS)
        assert await asked(lab, TALK, endpoint) == Done(WORDS)
        assert keys_used(lab) == [ONE, TWO]
        assert heard(lab) == WORDS, "from the last word, not from the beginning"
        assert lab.sims[0].log[1].generated < len(WORDS)
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(32)
@WIRES
@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("bad_key", FailureKind.BAD_KEY),
        ("wrong_status status=402 message='Pay first.'", FailureKind.BILLING),
        ("wrong_status status=403 message='Not you.'", FailureKind.FORBIDDEN),
    ],
)
def test_every_key_is_tried_once_before_giving_up(tmp_path, wire, fault, kind):
    async def work(lab):
        endpoint = await lab.provider(broken(TALK, fault), wire, keys=KEYS)
        ending = await asked(lab, TALK, endpoint)
        assert isinstance(ending, GaveUp)
        assert ending.failure.kind is kind
        assert keys_used(lab) == list(KEYS)
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(32)
@WIRES
def test_every_key_is_tried_before_the_wait_and_no_wait_before_every_key_was_tried(tmp_path, wire):
    async def work(lab):
        endpoint = await lab.provider(broken(TALK, "rate_limit seconds=30"), wire, keys=KEYS)
        ending = await asked(lab, TALK, endpoint)
        assert isinstance(ending, GaveUp)
        assert ending.failure.kind is FailureKind.RATE_LIMITED
        assert keys_used(lab) == [ONE, TWO, THREE, THREE, THREE]
        assert [round(wait) for wait in waits(lab.sims[0].log)] == [0, 0, 30, 30]
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(32)
@WIRES
def test_more_keys_than_attempts_all_get_their_try(tmp_path, wire):
    many = tuple(f"key-{number:02}" for number in range(20))

    async def work(lab):
        faults = [f"bad_key key={key}" for key in many[:-1]]
        endpoint = await lab.provider(broken(TALK, *faults), wire, keys=many)
        assert await asked(lab, TALK, endpoint) == Done(WORDS)
        assert keys_used(lab) == list(many)
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(32)
@WIRES
def test_a_key_that_ran_into_its_limit_rests_as_long_as_the_provider_said(tmp_path, wire):
    async def work(lab):
        agent = await agent_with_keys(lab, wire, TALK)
        assert await answers(lab, agent, "First.", limited(ONE)) == [ONE, TWO]
        [rested] = lab.told(KeyRested)
        assert (rested.provider, rested.seconds) == ("main", 60)
        assert [type(one) for one in lab.items if isinstance(one, KeyTurned)] == [KeyTurned]
        for secret in KEYS:
            assert secret not in repr(lab.items), "keys are named, and never told"

        assert await answers(lab, agent, "Second.") == [TWO], "the first one rests"
        assert await answers(lab, agent, "Third.", limited(TWO)) == [TWO, THREE], "still"
        await asyncio.sleep(61)
        assert await answers(lab, agent, "Fourth.", limited(THREE)) == [THREE, ONE], "rested, it is used again"

    in_lab(tmp_path, work)


@row(32)
@WIRES
def test_a_key_that_rests_is_not_asked_although_the_others_are_turned_away(tmp_path, wire):
    async def work(lab):
        agent = await agent_with_keys(lab, wire, TALK)
        assert await answers(lab, agent, "First.", limited(ONE, 100)) == [ONE, TWO]
        once = [f"{limited(key, 20)} first=1" for key in (TWO, THREE)]
        assert await answers(lab, agent, "Second.", *once) == [TWO, THREE, THREE], "waiting is shorter than its rest"

    in_lab(tmp_path, work)


@row(32)
@WIRES
def test_a_key_that_is_no_good_is_never_used_again(tmp_path, wire):
    async def work(lab):
        agent = await agent_with_keys(lab, wire, TALK)
        assert await answers(lab, agent, "First.", f"bad_key key={ONE}") == [ONE, TWO]
        assert [one.provider for one in lab.told(KeyRuledOut)] == ["main"]
        await asyncio.sleep(30 * 86_400)
        for number in range(3):
            faults = [f"rate_limit seconds=1 key={TWO} first=1"] if number == 0 else []
            assert ONE not in await answers(lab, agent, f"Again {number}.", *faults)

    in_lab(tmp_path, work)


@row(32)
@WIRES
def test_when_all_keys_rest_the_one_that_is_ready_first_is_used(tmp_path, wire):
    async def work(lab):
        agent = await agent_with_keys(lab, wire, TALK)
        everyone = [limited(ONE, 100), limited(TWO, 50), limited(THREE, 110)]
        lab.sims[0].use(broken(TALK, *everyone))
        assert isinstance(await agent.ask("Tell me."), GaveUp)
        assert set(kinds(lab)) == {"rate_limited"}
        assert keys_used(lab)[:3] == list(KEYS)
        assert await answers(lab, agent, "Back.") == [TWO]
        assert not lab.told(notices.Broke)

    in_lab(tmp_path, work)
