"""`headway doctor` tells what is wrong with a provider apart, says what to do next, and never shows a key."""

import asyncio
import json
from contextlib import aclosing

import pytest
from msgspec.structs import replace

from headway.cli.doctor.about_providers import Manner
from headway.cli.doctor.examining import Wish, examine
from headway.cli.doctor.findings import Area, State
from headway.settings import Surroundings, load
from headway.sim import Script, SimServer, read_fault, serving
from headway.transport import run_virtual
from support.desk import Desk
from support.newcomer import newcomer
from support.nursery import Nursery, Weather
from support.peers import answer, peer, real_time

__all__ = ["newcomer"]
KEY = "sk-secret-0123456789abcdef"
WIRES = pytest.mark.parametrize("wire", ["chat", "responses", "anthropic"])


def broken(fault: str) -> Script:
    return replace(Script(), faults=(read_fault(fault),))


def findings(ended, area="providers"):
    lines = [json.loads(line) for line in ended.out.splitlines()]
    assert lines[-1]["type"] == "verdict"
    assert lines[-1]["problems"] == sum(line.get("state") == "problem" for line in lines)
    return [line for line in lines if line.get("area") == area]


def asked(newcomer, script, *arguments, wire="chat", **given):
    """Ask the doctor about a simulated provider; return its exit status and its one finding."""
    with serving(script) as sim:
        newcomer.has(KEY=KEY)
        newcomer.knows(sim.url + ("" if wire == "anthropic" else "/v1"), wire=wire, keys='["env:KEY"]', **given)
        ended = newcomer.runs("doctor", "one", "--json", *arguments)
    assert KEY not in ended.out + ended.err
    (found,) = findings(ended)
    assert bool(found["advice"]) == (found["state"] == "problem")
    return ended.status, found


@WIRES
def test_a_provider_that_answers_is_well_and_each_step_is_timed(newcomer, wire):
    status, found = asked(newcomer, Script(), wire=wire)
    assert (status, found["state"], found["facts"]["key"]) == (0, "well", "env:KEY")
    steps = found["facts"]["steps"]
    assert list(steps) == ["dns", "connect", "first_byte", "first_content"]
    assert 0 < sum(steps.values()) <= found["facts"]["seconds"] + 0.001
    assert found["facts"]["supports"]["wire"] == wire


def test_few_tokens_are_asked_for(newcomer):
    with serving(Script()) as sim:
        newcomer.knows(f"{sim.url}/v1")
        assert newcomer.runs("doctor", "one").status == 0
        (exchange,) = sim.log
    assert exchange.body["max_tokens"] == 16
    assert exchange.body["stream"] is True


def test_without_a_request_nothing_is_asked_and_no_key_is_shown(newcomer):
    with serving(Script()) as sim:
        newcomer.has(KEY=KEY)
        newcomer.knows(f"{sim.url}/v1", keys='["env:KEY"]')
        assert newcomer.runs("doctor", "one", "--no-request").status == 0
        (exchange,) = sim.log
    assert exchange.method == "HEAD"
    assert KEY not in str(exchange.headers)


@pytest.mark.parametrize(
    ("fault", "limits", "kind", "advice"),
    [
        ("bad_key", "", "bad_key", "env:KEY holds a key, but not one for 127.0.0.1"),
        ("wrong_status like=quota_spent", "", "billing", "balance"),
        ("wrong_status status=404 message='The model `m` does not exist'", "", "model_unavailable", "model's name"),
        ("html_instead", "", "not_a_stream", "`providers.one.base_url` points to the API itself"),
        ("stall at=start", "first_byte_seconds = 0.2", "stalled", "providers.one.limits.first_byte_seconds"),
        ("pings_only at=start", "first_content_seconds = 0.2", "stalled", "providers.one.limits.first_content_seconds"),
        ("overloaded", "", "overloaded", "second provider"),
    ],
    ids=["wrong key", "no credit", "no such model", "a page", "no byte", "no content", "overloaded"],
)
def test_what_is_wrong_is_told_apart_with_what_to_do_next(newcomer, fault, limits, kind, advice):
    status, found = asked(newcomer, broken(fault), more=f"[limits]\n{limits}\n")
    assert (status, found["state"], found["facts"]["kind"]) == (1, "problem", kind)
    assert advice in found["advice"]


def test_a_parameter_that_a_model_does_not_take_is_left_out(newcomer):
    refusal = "wrong_status status=400 first=1 message='Unsupported parameter: max_tokens is not supported'"
    status, found = asked(newcomer, broken(refusal))
    assert (status, found["state"]) == (0, "well")


def test_a_server_that_does_not_run(newcomer):
    with serving(Script()) as sim:
        address = f"{sim.url}/v1"
    newcomer.knows(address)
    ended = newcomer.runs("doctor", "one", "--json")
    (found,) = findings(ended)
    assert (ended.status, found["facts"]["code"]) == (1, "connection_refused")
    assert f"Start the server at {address.removesuffix('/v1')}" in found["advice"]


def test_a_name_that_nobody_knows(newcomer):
    newcomer.knows("https://nobody.invalid/v1")
    ended = newcomer.runs("doctor", "one", "--json")
    (found,) = findings(ended)
    assert (ended.status, found["facts"]["kind"]) == (1, "unreachable")
    assert list(found["facts"]["steps"]) == ["dns"]
    assert "nobody.invalid" in found["advice"]


def test_each_key_of_a_provider_is_judged_by_itself(newcomer):
    with serving(replace(Script(), keys=("sk-right",))) as sim:
        newcomer.has(OLD="sk-wrong", NEW="sk-right")
        newcomer.knows(f"{sim.url}/v1", keys='["env:OLD", "env:NEW", "env:GONE"]')
        ended = newcomer.runs("doctor", "one", "--json")
    states = {found["facts"]["key"]: found["state"] for found in findings(ended)}
    assert states == {"env:OLD": "problem", "env:NEW": "well"}
    keys = {found["facts"]["reference"]: found["words"] for found in findings(ended, "keys")}
    assert keys["env:OLD"].startswith("env:OLD is there")
    assert keys["env:GONE"] == "no key: the variable GONE is not set (env:GONE)"


def test_with_no_key_at_all_the_doctor_still_looks_at_the_rest(newcomer):
    ended = newcomer.runs("doctor", "--json")
    assert ended.status == 1
    (problem,) = [found for found in findings(ended, "settings") if found["state"] == "problem"]
    assert problem["words"] == "there is nobody to ask"
    assert "headway config init" in problem["advice"]
    assert findings(ended, "store")
    assert findings(ended, "sandbox")


def test_a_mistake_in_the_settings_is_a_finding_with_what_was_meant(newcomer):
    newcomer.writes("[limits]\nsilense_seconds = 3\n")
    ended = newcomer.runs("doctor", "--json")
    (problem,) = findings(ended, "settings")
    assert (ended.status, problem["advice"]) == (1, "Did you mean limits.silence_seconds?")
    assert problem["name"].endswith("headway.toml: limits.silense_seconds")


def test_what_is_not_there_is_wrong_usage(newcomer):
    newcomer.knows("http://127.0.0.1:9")
    named = newcomer.runs("doctor", "onne")
    assert (named.status, "Did you mean 'one'?" in named.err) == (2, True)
    preset = newcomer.runs("doctor", "mistral")
    assert (preset.status, "headway config init --provider mistral" in preset.err) == (2, True)
    assert newcomer.runs("doctor", "--config", "gone.toml").status == 2


def test_a_page_for_people_fits_and_ends_in_a_sentence(newcomer):
    with serving(broken("bad_key")) as sim:
        newcomer.has(KEY=KEY)
        newcomer.knows(f"{sim.url}/v1", keys='["env:KEY"]')
        ended = newcomer.runs("doctor")
    assert ended.status == 1
    headings = [line for line in ended.out.splitlines() if line and line[0].isalpha()]
    assert headings == [area.value.capitalize() for area in Area]
    assert max(len(line) for line in ended.out.splitlines() if str(newcomer.home.parent) not in line) <= 80
    assert ended.out.splitlines()[-1].startswith("1 problem: ")
    assert "✗ one/m: The provider does not accept this key" in ended.out
    assert "    → env:KEY holds a key" in ended.out


@real_time
async def test_a_certificate_that_nobody_trusts(tmp_path):
    async with peer(answer, tls=True) as one:
        around = at(tmp_path, one.url)
        async with aclosing(examine(lambda: load(around=around), around, Wish(("one",)))) as found:
            last = [finding async for finding in found][-1]
    assert (last.state, last.facts["kind"]) == (State.PROBLEM, "tls_refused")
    assert "NODE_EXTRA_CA_CERTS" in last.advice
    assert list(last.facts["steps"]) == ["dns", "connect", "tls"]


def at(folder, *addresses):
    """Return surroundings with a provider at each address: one, two, …"""
    names = ("one", "two", "three")[: len(addresses)]
    entries = [
        f'[providers.{name}]\nwire = "chat"\nbase_url = "{address}/v1"\nkeys = []\n'
        for name, address in zip(names, addresses, strict=True)
    ]
    chain = ", ".join(f'"{name}/m"' for name in names)
    (folder / "headway.toml").write_text(f"{''.join(entries)}[routes.default]\nchain = [{chain}]\n")
    return Surroundings({}, folder, folder)


def test_all_are_asked_at_once_and_none_longer_than_is_allowed(tmp_path):
    async def scene():
        silent = broken("stall at=start")
        async with SimServer(silent) as first, SimServer(silent) as second, SimServer() as third:
            around = at(tmp_path, first.url, second.url, third.url)
            began_at = asyncio.get_running_loop().time()
            wish = Wish(("one", "two", "three"), Manner(patience_seconds=20))
            async with aclosing(examine(lambda: load(around=around), around, wish)) as found:
                states = [finding.state async for finding in found if finding.area is Area.PROVIDERS]
            return states, asyncio.get_running_loop().time() - began_at

    states, seconds = run_virtual(scene())
    assert states == [State.PROBLEM, State.PROBLEM, State.WELL]
    assert 20 <= seconds < 40


@real_time
async def test_whoever_leaves_leaves_no_connection_behind(tmp_path):
    struck = asyncio.Event()
    async with SimServer(broken("stall at=start"), watch=lambda _: struck.set()) as sim:
        around = at(tmp_path, sim.url)

        async def look():
            async with aclosing(examine(lambda: load(around=around), around, Wish(("one",)))) as found:
                return [finding async for finding in found]

        task = asyncio.ensure_future(look())
        await asyncio.wait_for(struck.wait(), 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        async with asyncio.timeout(30):
            await sim.quiet()
        assert [exchange.ending.value for exchange in sim.log] == ["client_left"]


def test_a_home_that_cannot_be_written_to_and_a_store_that_is_damaged(tmp_path):
    nursery = Nursery(tmp_path)
    home = tmp_path / "home"
    home.mkdir()
    try:
        with serving(Script()) as sim:
            desk = Desk(home, sim, nursery)
            config = ("doctor", "--config", str(home / "headway.toml"), "--json")
            desk.run("Hello.")
            well = nursery.run(home, *config)
            home.chmod(0o555)
            desk.database.chmod(0o444)
            refused = nursery.run(home, *config, weather=Weather(heeds_rights=True))
            home.chmod(0o755)
            desk.database.chmod(0o644)
            whole = desk.database.read_bytes()
            desk.database.write_bytes(whole[:4096] + b"\xff" * 4096 + whole[8192:])
            damaged = nursery.run(home, *config)
    finally:
        nursery.close()
    assert (well.status, stored(well)["facts"]["sessions"]) == (0, 1)
    assert (refused.status, stored(refused)["facts"]["trouble"]) == (1, "read_only")
    assert "Make the file and its folder writable" in stored(refused)["advice"]
    assert (damaged.status, stored(damaged)["facts"]["trouble"]) == (1, "damaged")
    assert "mkdir -p" in stored(damaged)["advice"], "it says how to go on without losing the file"


def stored(ended):
    return next(found for found in findings(ended, "store") if found["name"] == "sessions")
