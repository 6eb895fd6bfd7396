"""Shells complete commands, options, sessions, routes and scenarios; no command is loaded for it that is not named."""

import asyncio
import subprocess
import sys

import pytest
from click.shell_completion import ShellComplete

from headway.cli.main import COMMANDS, cli
from headway.store import Sessions, open_store
from support.newcomer import newcomer

__all__ = ["newcomer"]


def offered(*words):
    """Return what a shell would offer for the last of the words."""
    *before, incomplete = words
    found = ShellComplete(cli, {}, "headway", "_HEADWAY_COMPLETE").get_completions(list(before), incomplete)
    return {item.value: item.help for item in found}


def test_every_command_is_offered_with_its_line_of_help():
    assert offered("") == {name: about for name, (_, about) in sorted(COMMANDS.items())}
    assert list(offered("do")) == ["doctor"]


def test_options_of_a_command_and_of_one_below_it_are_offered():
    assert "--no-request" in offered("doctor", "--")
    assert {"init", "show", "schema", "trust", "untrust"} == set(offered("config", ""))
    assert "--fallback" in offered("config", "init", "--")


def test_choices_and_names_are_offered(newcomer):
    newcomer.knows("http://127.0.0.1:9")
    assert set(offered("run", "--approve", "")) == {"ask", "edits", "plan", "auto"}
    assert set(offered("run", "--route", "")) == {"default", "one/m"}
    assert set(offered("chat", "--route", "d")) == {"default"}
    assert set(offered("doctor", "o")) == {"one"}
    assert "stale_stream_in_a_large_call" in offered("sim", "st")
    assert "openai" in offered("config", "init", "--provider", "op")
    assert set(offered("config", "show", "agent.app")) == {"agent.approve"}


@pytest.mark.parametrize(
    "words", [("run", "--resume"), ("chat", "--resume"), ("sessions", "show"), ("sessions", "fork")]
)
def test_sessions_are_offered_by_name_with_their_title(newcomer, words):
    async def made():
        sessions = Sessions(open_store(f"sqlite:{newcomer.home}/.local/share/headway/headway.db"))
        session = await sessions.create(str(newcomer.folder), "Patience\x1b[2J")
        await session.close()
        sessions.close()
        return session.id

    name = asyncio.run(made())
    assert offered(*words, name[:4]) == {name: "Patience [2J"}


def test_where_nothing_can_be_known_nothing_is_offered_and_nothing_is_said(newcomer, capsys):
    newcomer.writes("[limits]\nnonsense = 1\n")
    assert offered("run", "--route", "") == {}
    assert offered("run", "--resume", "") == {}
    assert capsys.readouterr() == ("", "")
    assert list(newcomer.home.iterdir()) == [], "looking makes nothing"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_a_script(newcomer, shell):
    done = newcomer.runs("completion", shell)
    assert done.status == 0
    assert f"_HEADWAY_COMPLETE={shell}_complete" in done.out


def test_bash_itself_completes_a_command_and_a_scenario(newcomer, tmp_path):
    """The one test with a real shell: the script is evaluated, and asked as a key press asks it."""
    (tmp_path / "headway").write_text(
        f"#!/bin/sh\nexec {sys.executable} -c \"\nimport sys; sys.argv[0] = 'headway'\n"
        'from headway.__main__ import run; run()" "$@"\n'
    )
    (tmp_path / "headway").chmod(0o755)
    script = newcomer.runs("completion", "bash").out
    asked = (
        f"PATH={tmp_path}:$PATH\n{script}\n"
        "COMP_WORDS=(headway sim stale); COMP_CWORD=2; _headway_completion headway; echo ${COMPREPLY[@]}\n"
    )
    done = subprocess.run(["bash", "--norc", "-c", asked], capture_output=True, text=True, timeout=30, check=False)
    assert done.stdout.split() == ["stale_stream_in_a_large_call"], done.stderr


def test_a_press_of_a_key_loads_no_command():
    code = (
        "import sys, os; os.environ.update(_HEADWAY_COMPLETE='bash_complete', COMP_WORDS='headway c', COMP_CWORD='1');"
        "sys.argv[0] = 'headway'; import atexit;"
        "atexit.register(lambda: print([m for m in sys.modules if m.startswith(('headway.wire', 'asyncio'))]));"
        "from headway.cli.main import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=False)
    assert done.stdout.splitlines() == ["plain,chat", "plain,completion", "plain,config", "[]"], done.stderr
