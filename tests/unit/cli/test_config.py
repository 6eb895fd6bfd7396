"""`headway config`: settings are made without a key in them, shown with where each came from, and never lost."""

import json
import os
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from headway.cli.config.choosing import Chosen, tables_of
from headway.cli.config.questions import Questions
from headway.cli.config.writing import text_of
from headway.providers.presets import PRESETS
from headway.settings.reading import read
from headway.settings.schema import Settings
from headway.sim import Script, serving
from support.newcomer import newcomer
from support.screen import Seat

__all__ = ["newcomer"]


class Person:
    """Answers by a list; "" takes what is offered. Everything that was said is kept."""

    def __init__(self, *answers):
        self.answers, self.heard = list(answers), []

    def says(self, words):
        self.heard.append(words)

    def asked(self, question, default=""):
        self.heard.append(question)
        return self.answers.pop(0) or default

    def asked_secretly(self, question):
        self.heard.append(question)
        return self.answers.pop(0)

    def agrees(self, question, *, default=True):
        self.heard.append(question)
        return {"y": True, "n": False, "": default}[self.answers.pop(0)]


def asked(*answers, **environ):
    saved = {}

    def save(provider, key):
        saved[provider] = key
        return f"file:/keys/{provider}"

    person = Person(*answers)
    chain = Questions(person, environ, save).chain()
    assert not person.answers, "every answer was wanted"
    return chain, saved, "\n".join(person.heard)


def own_file(newcomer) -> Path:
    return newcomer.home / ".config" / "headway" / "headway.toml"


# Questions


def test_with_keys_in_the_environment_enter_is_enough():
    chain, saved, _ = asked("", "", "", "", "", "", "", OPENAI_API_KEY="a", MISTRAL_API_KEY="b")
    assert [(one.provider, one.keys) for one in chain] == [
        ("openai", ("env:OPENAI_API_KEY",)),
        ("mistral", ("env:MISTRAL_API_KEY",)),
    ]
    assert all(one.model for one in chain)
    assert saved == {}


def test_a_pasted_key_goes_to_a_file_of_its_own_and_only_the_reference_is_kept():
    for typed in (("paste", "sk-secret"), ("sk-secret",)):
        chain, saved, heard = asked("anthropic", *typed, "", "none")
        assert chain == [Chosen("anthropic", "claude-sonnet-4-6", ("file:/keys/anthropic",))]
        assert saved == {"anthropic": "sk-secret"}
        assert "sk-secret" not in heard + text_of(tables_of(chain))


@pytest.mark.parametrize("typed", ["sk-1 sk-2", "I do not know", "sk-1\nsk-2", "sk-1\tsk-2", "sk-\x1b[31m", ""])
def test_what_cannot_be_a_key_is_asked_for_again(typed):
    chain, saved, heard = asked("anthropic", "paste", typed, "env:MINE", "", "none")
    assert (saved, chain[0].keys) == ({}, ("env:MINE",))
    assert "That is no key: " in heard
    assert not typed or typed not in heard


def test_mistakes_are_asked_about_again():
    chain, _, heard = asked("antropic", "anthropic", "env:", "env:MINE", "some-model", "none")
    assert chain == [Chosen("anthropic", "some-model", ("env:MINE",))]
    assert "Did you mean 'anthropic'?" in heard


def test_a_provider_without_an_address_of_its_own_is_asked_for_it():
    chain, _, _ = asked("azure", "nonsense", "https://me.openai.azure.com", "", "gpt-5.5", "none")
    assert chain[0].base_url == "https://me.openai.azure.com"
    assert read(Settings, tomllib.loads(text_of(tables_of(chain))), "made").providers["azure"].base_url


def test_a_server_of_ones_own_wants_no_key():
    chain, _, _ = asked("ollama", "qwen3-coder", "none")
    assert chain == [Chosen("ollama", "qwen3-coder")]


def test_the_simulator_is_offered_and_wants_nothing():
    chain, _, heard = asked("sim")
    assert tables_of(chain)["providers"]["sim"]["base_url"] == "http://127.0.0.1:8321/v1"
    assert "Without a key: sim" in heard


# Flags


def test_flags_write_a_file_for_ones_own_eyes_and_say_what_is_next(newcomer):
    with serving(Script()) as sim:
        newcomer.has(OPENAI_API_KEY="sk-secret-0123456789")
        done = newcomer.runs("config", "init", "--provider", "openai", "--base-url", f"{sim.url}/v1", "--yes")
    assert done.status == 0, done.out + done.err
    assert stat.S_IMODE(own_file(newcomer).stat().st_mode) == 0o600
    assert "sk-secret" not in own_file(newcomer).read_text() + done.out + done.err
    assert "✓ openai/gpt-5.5: answers" in done.out
    assert done.out.splitlines()[-1] == 'Next: headway chat, or headway run "What is in this folder?"'


def test_what_was_made_is_tested_and_a_wrong_key_is_told(newcomer):
    with serving(Script(keys=("sk-right",))) as sim:
        newcomer.has(OPENAI_API_KEY="sk-wrong")
        done = newcomer.runs("config", "init", "--provider", "openai", "--base-url", f"{sim.url}/v1", "--yes")
    assert done.status == 1
    assert "env:OPENAI_API_KEY holds a key, but not one for 127.0.0.1" in " ".join(done.out.split())
    assert done.out.splitlines()[-1] == "Do what stands behind “→”, then: headway doctor"


def test_without_a_provider_those_whose_keys_are_there_are_taken(newcomer):
    newcomer.has(ANTHROPIC_API_KEY="a", OPENAI_API_KEY="b")
    assert newcomer.runs("config", "init", "--yes", "--no-test").status == 0
    made = tomllib.loads(own_file(newcomer).read_text())
    assert made["routes"]["default"]["chain"] == ["anthropic/claude-sonnet-4-6", "openai/gpt-5.5"]


def test_nothing_is_written_over_unasked_and_what_was_there_is_kept(newcomer):
    assert newcomer.runs("config", "init", "--provider", "sim", "--yes").status == 0
    before = own_file(newcomer).read_text()
    refused = newcomer.runs("config", "init", "--provider", "ollama/x", "--yes")
    assert (refused.status, own_file(newcomer).read_text()) == (2, before)
    assert "--force" in refused.err
    forced = newcomer.runs("config", "init", "--provider", "ollama/x", "--yes", "--force", "--no-test")
    assert forced.status == 0
    assert own_file(newcomer).with_name("headway.toml.old").read_text() == before


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--yes",), "--provider sim"),
        (("--provider", "opnai", "--yes"), "Did you mean 'openai'?"),
        (("--provider", "openai", "--key", "sk-secret", "--yes"), "env:OPENAI_API_KEY"),
        (("--provider", "openai", "--key", "env:MY KEY", "--yes"), "a space or a line end inside"),
        (("--provider", "openai", "--key", "file:a\nb", "--yes"), "a space or a line end inside"),
        (("--provider", "ollama", "--yes"), "--provider ollama/MODEL"),
        (("--provider", "azure/gpt", "--yes"), "--base-url"),
        (("--provider", "openai", "--base-url", "http://u:p@h", "--yes"), "env:NAME"),
        ((), "--provider NAME --yes"),
        (("--file", "x", "--here", "--yes"), "not both"),
    ],
)
def test_what_flags_leave_open_is_asked_for_in_one_line(newcomer, flags, words):
    done = newcomer.runs("config", "init", *flags)
    assert done.status == 2
    assert words in done.err
    assert "sk-secret" not in done.err
    assert not own_file(newcomer).exists()


def test_a_place_that_cannot_be_written_is_said(newcomer):
    newcomer.writes("", "taken")
    done = newcomer.runs("config", "init", "--provider", "sim", "--yes", "--file", "taken/headway.toml")
    assert (done.status, "--file" in done.err) == (2, True)


def test_it_is_said_when_what_was_written_is_not_what_counts(newcomer):
    newcomer.knows("http://127.0.0.1:9")
    done = newcomer.runs("config", "init", "--provider", "sim", "--yes")
    assert f"{newcomer.folder / 'headway.toml'} counts before it" in done.out
    elsewhere = newcomer.runs("config", "init", "--provider", "sim", "--yes", "--file", "other.toml")
    assert "--config" in elsewhere.out


def test_a_project_gets_its_own_file(newcomer):
    assert newcomer.runs("config", "init", "--provider", "sim", "--yes", "--here").status == 0
    assert (newcomer.folder / "headway.toml").exists()
    assert not own_file(newcomer).exists()


def test_a_person_at_a_terminal_is_asked(tmp_path):
    """The one test at a real terminal: questions are seen, and what is typed is what is written."""
    ours, theirs = os.openpty()
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TERM": "xterm", "OPENAI_API_KEY": "sk-secret"}
    command = [sys.executable, "-m", "headway", "config", "init", "--no-test"]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, cwd=tmp_path) as child:
        os.close(theirs)
        os.write(ours, b"\n\n\n\ny\n")
        said = b""
        while True:
            try:
                more = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not more:
                break
            said += more
        assert child.wait(30) == 0, said.decode()
    os.close(ours)
    assert b"Which provider? [openai]" in said
    assert b"Who goes on if openai fails?" in said
    made = tomllib.loads((tmp_path / ".config" / "headway" / "headway.toml").read_text())
    assert made["providers"] == {"openai": {"keys": ["env:OPENAI_API_KEY"]}}


@pytest.fixture
def seat(tmp_path):
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "HEADWAY_HOME": str(tmp_path / "headway")}
    with Seat([sys.executable, "-m", "headway", "config", "init", "--no-test"], environment, 48, 60) as seat:
        yield seat


def test_in_a_narrow_window_no_word_is_broken(seat, tmp_path):
    seat.sees(r"Which provider\?")
    words = seat.screen.text.replace(",", " ").replace(".", " ").split()
    assert {*PRESETS} <= {*words}, seat.screen.text
    seat.type("antropic\n")
    seat.sees("Did you mean 'anthropic'")
    for question, answer in (("Which provider", "anthropic"), ("the key", "env:K"), ("model", ""), ("fails", "")):
        seat.sees(rf"(?s){question}[^?]*\?[^?]*:$")
        seat.type(f"{answer}\n")
    seat.sees(r"Write this to")
    talk, _, file = seat.raw.partition("# Made by")
    assert max(map(len, talk.splitlines())) <= 48, "every line is broken before the window breaks it"
    assert "[providers.anthropic]\r\n" in file, "what is written is shown as it is"
    seat.type("\n")
    assert seat.ends() == 0
    assert tomllib.loads((tmp_path / "headway" / "headway.toml").read_text())["providers"]


def test_a_key_that_was_pasted_with_something_else_is_refused_and_never_shown(seat, tmp_path):
    seat.sees(r"Which provider\?")
    seat.type("anthropic\n")
    seat.sees(r"Where is the key\?.*:$")
    seat.type("paste\n")
    for pasted in ("sk-first\nsk-second\n", "Bearer sk-first\n"):
        seat.sees(r"\(not shown\):$")
        seat.type(pasted)
        seat.sees(r"(?s)a space or a line end\s+inside it.*Where is the key\? [^\n]*:$")
        seat.type("paste\n")
    seat.sees(r"\(not shown\):$")
    seat.type("  sk-right \n")
    seat.sees(r"Which model")
    seat.type("\nnone\n\n")
    assert seat.ends() == 0
    assert (tmp_path / "headway" / "keys" / "anthropic").read_text() == "sk-right\n"
    assert not any(word in seat.raw for word in ("sk-first", "sk-second", "sk-right"))


# Trust


def test_a_folders_own_file_is_trusted_and_that_is_taken_back(newcomer):
    nothing = newcomer.runs("config", "untrust")
    assert (nothing.status, "there is no such file" in nothing.err) == (2, True)
    path = newcomer.writes('[agent]\napprove = "auto"\n')
    assert newcomer.runs("config", "trust").status == 0
    assert '"auto"' in newcomer.runs("config", "show", "agent.approve").out
    taken = newcomer.runs("config", "untrust")
    assert taken.out == f"{path} is not trusted: it does not decide agent.approve any more.\n"
    assert '"ask"' in newcomer.runs("config", "show", "agent.approve").out
    assert f"{path} is not trusted, and was not: " in newcomer.runs("config", "untrust").out


# Show and schema


def test_each_value_is_shown_with_where_it_came_from(newcomer):
    newcomer.has(HEADWAY_LIMITS_ATTEMPTS="4", KEY="sk-secret")
    newcomer.knows("http://127.0.0.1:9", keys='["env:KEY"]')
    shown = newcomer.runs("config", "show")
    lines = {line.split(" = ")[0]: " ".join(line.split()) for line in shown.out.splitlines()}
    assert lines["limits.attempts"] == "limits.attempts = 4 # HEADWAY_LIMITS_ATTEMPTS"
    file = newcomer.folder / "headway.toml"
    assert lines["providers.one.keys"] == f'providers.one.keys = ["env:KEY"] # {file}:4'
    assert lines["agent.approve"] == 'agent.approve = "ask" # default'
    assert "sk-secret" not in shown.out


def test_one_key_one_table_or_only_what_was_changed(newcomer):
    newcomer.knows("http://127.0.0.1:9", more="[limits]\nattempts = 3\n")
    assert len(newcomer.runs("config", "show", "limits.attempts").out.splitlines()) == 1
    assert len(newcomer.runs("config", "show", "limits").out.splitlines()) > 10
    assert "default" not in {line["from"] for line in values(newcomer.runs("config", "show", "--changed", "--json"))}
    (one,) = values(newcomer.runs("config", "show", "limits.attempts", "--json"))
    assert one == {"key": "limits.attempts", "value": 3, "from": "file", "place": f"{newcomer.folder}/headway.toml:8"}


def values(ended):
    return [json.loads(line) for line in ended.out.splitlines()]


@pytest.mark.parametrize(
    ("key", "meant"),
    [("limits.silense_seconds", "limits.silence_seconds"), ("limit", "limits"), ("approve", "agent.approve")],
)
def test_a_key_that_is_none_gets_the_one_that_was_meant(newcomer, key, meant):
    done = newcomer.runs("config", "show", key)
    assert (done.status, f"Did you mean {meant}?" in done.err) == (2, True)


def test_the_schema_is_json(newcomer):
    schema = json.loads(newcomer.runs("config", "schema").out)
    assert schema["title"] == "headway.toml"
    assert "silence_seconds" in schema["$defs"]["Limits"]["properties"]
