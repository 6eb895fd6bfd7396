"""What the doctor says, part by part: the page at any width, the machine, the store, and what to do next."""

import pytest

from headway.agent.sandbox.confinement import Walls
from headway.agent.sandbox.sandbox import Found, Means
from headway.cli.doctor.about_machine import about_installation, about_network, about_sandbox
from headway.cli.doctor.about_providers import unasked
from headway.cli.doctor.about_settings import about_keys, about_mistakes, about_settings, targets
from headway.cli.doctor.about_store import about_store
from headway.cli.doctor.findings import Area, Finding, State, Verdict
from headway.cli.doctor.showing import lines_of, verdict_words
from headway.cli.next_steps import next_step
from headway.cli.terminal import cells
from headway.failure import Failure, FailureKind, InvalidInput, Plan, Scope
from headway.settings import Surroundings, load
from headway.settings.schema import Agent
from support.peers import CERTIFICATE

FINDING = Finding(
    area=Area.PROVIDERS,
    name="anthropic/claude-sonnet-4-6",
    words="Anthropic does not accept this key (HTTP 401, authentication_error): “invalid x-api-key”.",
    state=State.PROBLEM,
    advice="env:ANTHROPIC_API_KEY holds a key, but not one for api.anthropic.com: copy it again.",
    more=("dns 12 ms · connect 20 ms · tls 41 ms · first byte 610 ms",),
)


def loaded(tmp_path, text="", **environ):
    (tmp_path / "headway.toml").write_text(text)
    return load(tmp_path / "headway.toml", around=Surroundings(environ, tmp_path, tmp_path))


def one(scheme, keys):
    """Return settings with one provider."""
    entry = f'[providers.one]\nwire = "chat"\nbase_url = "{scheme}://one.test/v1"\nkeys = {keys}\n'
    return f'{entry}[routes.default]\nchain = ["one/m"]\n'


@pytest.mark.parametrize("width", [40, 60, 100])
def test_a_finding_fits_any_width_and_loses_no_word(width):
    lines = [line for line, _ in lines_of(FINDING, width)]
    assert max(map(cells, lines)) <= width
    said = " ".join(" ".join(lines).split())
    assert said == f"✗ {FINDING.name}: {FINDING.words} {FINDING.more[0]} → {FINDING.advice}"


def test_what_a_server_says_cannot_act_on_the_screen():
    evil = Finding(area=Area.PROVIDERS, name="x", words="\x1b[2Jgone\x07\u202e")
    assert "\x1b" not in "".join(line for line, _ in lines_of(evil, 60))


def test_the_last_line_counts():
    assert verdict_words(Verdict(0, 0)) == "All is well."
    assert verdict_words(Verdict(0, 1)).startswith("All is well. 1 thing worth knowing")
    assert verdict_words(Verdict(2, 1)).startswith("2 problems: ")


# Settings and keys


def test_routes_are_told_and_those_that_lead_to_nobody_are_problems(tmp_path):
    chains = {"a": '"openai/x"', "b": '"mistral/y", "openai/x"', "c": '"groq/z"'}
    text = "".join(f"[routes.{name}]\nchain = [{chain}]\n" for name, chain in chains.items())
    found = {one.name: one for one in about_settings(loaded(tmp_path, text, OPENAI_API_KEY="k"))}
    assert found["route a"].words == found["route b"].words == "openai/x"
    assert found["route c"].state is State.PROBLEM
    assert "GROQ_API_KEY" in found["route c"].advice


@pytest.mark.parametrize(
    ("keys", "environ", "words"),
    [
        ('["env:K"]', {"K": "sk-0123456789"}, "env:K is there: •••• (13 characters, named in"),
        ('["env:K"]', {"K": '"sk-0123456789"'}, "it has quotes around it"),
        ('["env:K"]', {}, "no key: the variable K is not set"),
        ('["env:K"]', {"K": "two\nlines"}, "several lines"),
        ('["file:gone"]', {}, "no key: the file cannot be read"),
        ("[]", {}, "needs none"),
    ],
)
def test_a_key_is_there_or_it_is_said_why_not(tmp_path, keys, environ, words):
    settings = loaded(tmp_path, one("https", keys), **environ)
    (found,) = about_keys(settings, targets(settings, ()), State.NOTE)
    assert words in found.words
    assert "0123456789" not in str(found)
    assert (found.state is State.WELL) != bool(found.advice)


def test_a_key_that_would_cross_a_network_in_the_clear_is_worth_a_note(tmp_path):
    settings = loaded(tmp_path, one("http", '["env:K"]'), K="k")
    notes = [found for found in about_keys(settings, targets(settings, ()), State.NOTE) if found.state is State.NOTE]
    assert ["in the clear" in found.words for found in notes] == [True]


def test_a_provider_whose_clients_name_the_model_is_not_asked_and_that_is_said(tmp_path):
    text = one("https", "[]").replace("one/m", "one/*")
    (found,) = unasked(targets(loaded(tmp_path, text), ()))
    assert found.advice == "Name one: headway doctor one/MODEL"
    assert unasked(targets(loaded(tmp_path, text), ("one/m",))) == []


def test_all_mistakes_of_a_file_are_told_at_once(tmp_path):
    text = '[limits]\nsilense_seconds = 3\nattempts = 0\n[agent]\napprove = "never"\nsteps = 5\n[provider.x]\n'
    with pytest.raises(InvalidInput) as first:
        loaded(tmp_path, text)
    found = list(about_mistakes(first.value, None, Surroundings({}, tmp_path, tmp_path)))
    assert {one.name.rpartition(": ")[2] for one in found} == {
        "limits.silense_seconds",
        "limits.attempts",
        "agent.approve",
        "provider",
    }
    assert len(found) == 4, "each once"
    assert all(one.advice and one.state is State.PROBLEM for one in found)
    elsewhere = list(about_mistakes(first.value, tmp_path / "other.toml", Surroundings({}, tmp_path, tmp_path)))
    assert "limits.attempts" not in str(elsewhere), "a file that is not read has no mistakes"


# The store


def test_a_store_that_is_not_there_yet_is_well_and_is_not_made(tmp_path):
    found = list(about_store(loaded(tmp_path)))
    assert [one.state for one in found] == [State.WELL, State.WELL]
    assert "will be made" in found[0].words
    assert [path.name for path in tmp_path.iterdir()] == ["headway.toml"]


@pytest.mark.parametrize(
    ("url", "words", "advice"),
    [
        ("sqlite:headway.toml/x.db", "headway.toml/x.db", "[store]"),
        ("sqlite:headway.toml", "is not a session store", "mkdir -p"),
    ],
)
def test_a_store_that_cannot_be_used_says_what_to_do(tmp_path, url, words, advice):
    (found,) = [one for one in about_store(loaded(tmp_path, f'[store]\nurl = "{url}"\n')) if one.name != "disk"]
    assert found.state is State.PROBLEM
    assert words in found.words
    assert advice in found.advice


# The machine


@pytest.mark.parametrize(
    ("environ", "states", "words"),
    [
        ({}, [State.WELL, State.WELL], "connections are made directly"),
        ({"HTTPS_PROXY": "http://me:hunter2@proxy:3128"}, [State.WELL, State.WELL], "HTTPS_PROXY is http://proxy:3128"),
        ({"HTTPS_PROXY": "ftp://proxy"}, [State.PROBLEM, State.WELL], "no kind of proxy"),
        ({"SSL_CERT_FILE": CERTIFICATE}, [State.WELL, State.WELL], "connections are made directly"),
        ({"SSL_CERT_FILE": "/gone.pem"}, [State.WELL, State.PROBLEM], "connections are made directly"),
    ],
)
def test_the_way_out_is_told_without_its_password(environ, states, words):
    found = list(about_network(environ))
    assert [one.state for one in found] == states
    assert words in found[0].words
    assert all(one.advice for one in found if one.state is State.PROBLEM)
    assert "hunter2" not in str(found)


@pytest.mark.parametrize(
    ("wanted", "found", "state", "words"),
    [
        ("auto", Found(Means(Walls.BUBBLEWRAP)), State.WELL, "bubblewrap holds"),
        ("auto", Found(Means(Walls.LANDLOCK, landlock=3)), State.NOTE, "cannot deny"),
        ("auto", Found(None, ("bubblewrap: it is not installed",)), State.NOTE, "it is not installed"),
        ("require", Found(None, ("landlock: no",)), State.PROBLEM, "no walls hold"),
        ("off", Found(None), State.NOTE, "switched off"),
    ],
)
def test_the_walls_that_hold_are_told(wanted, found, state, words):
    said = about_sandbox(Agent(sandbox=wanted), lambda: found)
    assert (said.state, words in said.words) == (state, True)
    assert bool(said.advice) == (state is not State.WELL)


def test_what_is_installed_is_told():
    headway, extras = about_installation()
    assert "Python 3" in headway.words
    assert extras.facts.keys() >= {"fast", "keyring"}


# What helps after a failure


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (FailureKind.BAD_KEY, "headway doctor"),
        (FailureKind.UNREACHABLE, "headway doctor"),
        (FailureKind.HISTORY_REFUSED, "headway heal --check FILE"),
        (FailureKind.REQUEST_REFUSED, "headway explain --status 400 --code 'odd code'"),
        (FailureKind.CANCELLED, ""),
        (FailureKind.OUTPUT_LIMIT, ""),
    ],
)
def test_the_command_that_helps_is_named_where_one_does(kind, words):
    failure = Failure(kind, Scope.REQUEST, Plan.GIVE_UP, "It failed.", status=400, code="odd code")
    assert words in next_step(failure)
    assert bool(next_step(failure)) == bool(words)
