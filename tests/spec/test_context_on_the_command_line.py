"""Instructions, mentions and pictures, from the command line or the chat to the request that goes out."""

import io
import subprocess
import sys
from base64 import b64encode

import pytest

from headway.cli.main import main
from headway.sim.script import Final, Script
from headway.sim.thread import serving
from support.chats import at_home

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(64))
SEEN = Script(prompt="x", steps=(Final("Seen."),))


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home with a workspace in it; nothing is piped in."""
    monkeypatch.setenv("HEADWAY_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    for name in ("config", "work"):
        (tmp_path / name).mkdir()
    return tmp_path


def settings(home, sim, *agent, images="true", context=200_000):
    facts = f"models.m = {{ images = {images}, context = {context}, output_limit = 500 }}"
    (home / "headway.toml").write_text(
        f'[providers.sim]\nwire = "chat"\nbase_url = "{sim.url}/v1"\nkeys = []\n{facts}\n'
        '[routes.default]\nchain = ["sim/m"]\n[agent]\n' + "\n".join(agent)
    )


def run(home, *arguments):
    return main(["run", "--config", str(home / "headway.toml"), "--workspace", str(home / "work"), *arguments])


def test_what_the_user_and_the_folder_say_and_mention_goes_out(home):
    (home / "config" / "AGENTS.md").write_text("Be brief.")
    (home / "work" / "AGENTS.md").write_text("Use tabs.")
    (home / "work" / "a.py").write_text("print(1)\n")
    (home / "shot.png").write_bytes(PNG)
    with serving(SEEN) as sim:
        settings(home, sim)
        assert run(home, "Explain @a.py", "--image", str(home / "shot.png")) == 0
        body = str(sim.log[0].body)
    assert "Be brief." in body
    assert "Use tabs." in body
    assert "print(1)" in body
    assert b64encode(PNG).decode() in body


def test_settings_turn_instructions_and_skills_off(home):
    (home / "work" / "AGENTS.md").write_text("Use tabs.")
    skill = home / ".agents" / "skills" / "x"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: x\ndescription: For x.\n---\n")
    with serving(SEEN) as sim:
        settings(home, sim)
        assert run(home, "Hello") == 0
        settings(home, sim, "instructions = false", "skills = false")
        assert run(home, "Hello") == 0
        on, off = (str(one.body) for one in sim.log)
    assert "Use tabs." in on
    assert "For x." in on
    assert "Use tabs." not in off
    assert "For x." not in off


@pytest.mark.parametrize(("agent", "summaries"), [((), 1), (("compact_at = 0",), 0)])
def test_the_window_of_the_settings_says_when_a_session_is_summed_up(home, monkeypatch, agent, summaries):
    talk = Script(prompt="x", steps=(Final("Seen."), Final("Seen again.")))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"words of a log\n" * 3_000)))
    with serving(talk) as sim:
        settings(home, sim)
        assert run(home, "What is this?") == 0
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
        settings(home, sim, *agent, context=8_000)
        assert run(home, "--continue", "And this?") == 0
        asked = [str(one.body) for one in sim.log]
    assert len([body for body in asked if "must be summed up" in body]) == summaries
    assert (len(asked[-1]) < len(asked[0])) is bool(summaries)


def test_what_is_piped_in_mentions_nothing(home, monkeypatch):
    (home / "work" / "a.py").write_text("print(1)\n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"+ @a.py\n")))
    with serving(SEEN) as sim:
        settings(home, sim)
        assert run(home, "Review this change") == 0
        body = str(sim.log[0].body)
    assert "+ @a.py" in body
    assert "print(1)" not in body


@pytest.mark.parametrize(
    ("content", "images", "said"),
    [(PNG, "false", "sim/m takes no pictures"), (b"words", "true", "no PNG"), (None, "true", "No such file")],
)
def test_a_picture_that_cannot_go_with_the_task_ends_it_before_it_begins(home, capsys, content, images, said):
    if content is not None:
        (home / "shot.png").write_bytes(content)
    with serving(SEEN) as sim:
        settings(home, sim, images=images)
        assert run(home, "Look", "--image", str(home / "shot.png")) == 2
        assert sim.log == []
    assert said in capsys.readouterr().err


def test_a_chat_attaches_what_is_mentioned_and_says_how_full_it_is(tmp_path):
    with at_home(tmp_path, SEEN) as home:
        (tmp_path / "AGENTS.md").write_text("Be brief.")
        (home.work / "a.py").write_text("print(1)\n")
        given = "Explain @a.py and @../elsewhere.toml, @../headway.toml too\n/status\n/quit\n"
        done = subprocess.run(
            home.command(),
            input=given,
            env=home.environment(),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert "print(1)" in home.told()
        assert "Be brief." in home.told()
    shown = done.stdout + done.stderr
    assert "@../headway.toml was not attached: it is outside the workspace" in shown
    assert "· attached a.py (1 line); @../elsewhere.toml was not found\n" in shown
    assert "about" in shown
    assert "tokens (" in shown
