"""`headway run` at a real terminal: what is asked, what is shown now, and what is left on the screen."""

import os
import subprocess
import sys
from contextlib import contextmanager

import pytest

from headway.sim.catalog import read_fault
from headway.sim.script import Call, Final, Pace, Say, Script, WriteFile
from headway.sim.thread import serving
from support.rows import row
from support.screen import Seat

PAGE = "".join(f"<p>Paragraph {number}</p>\n" for number in range(400))
WRITING = Script(prompt="Write page.html.", steps=(WriteFile("page.html", PAGE), Final("The page is ready.")))


class Home:
    """A folder to work in, settings for a simulated provider, and seats at terminals."""

    def __init__(self, folder, sim):
        self.folder, self.sim = folder, sim
        self.work = folder / "work"
        self.work.mkdir()

    def command(self, *arguments, settings="silence_seconds = 60"):
        (self.folder / "headway.toml").write_text(
            f'[providers.sim]\nwire = "chat"\nbase_url = "{self.sim.url}/v1"\nkeys = []\n'
            f'[routes.default]\nchain = ["sim/model-1"]\n[limits]\n{settings}\n'
        )
        command = [sys.executable, "-m", "headway", "run", "--config", str(self.folder / "headway.toml")]
        return [*command, "--workspace", str(self.work), *arguments]

    def environment(self, **more):
        return {"PATH": os.environ["PATH"], "HEADWAY_HOME": str(self.folder), **more}

    def seat(self, *arguments, columns=80, lines=24, env=(), settings="silence_seconds = 60", **streams):
        command, environment = self.command(*arguments, settings=settings), self.environment(**dict(env))
        return Seat(command, environment, columns=columns, lines=lines, **streams)

    def told(self):
        """Return everything that the model was told, in its latest request."""
        return str(self.sim.log[-1].body)


@pytest.fixture
def at_home(tmp_path):
    @contextmanager
    def at_home(script, *faults):
        made = Script(**{**{name: getattr(script, name) for name in script.__struct_fields__}, "faults": faults})
        with serving(made) as sim:
            yield Home(tmp_path, sim)

    return at_home


def fault(words):
    return read_fault(words)


# What is asked


def test_a_write_waits_for_a_yes_and_shows_what_it_is(at_home):
    with at_home(WRITING) as home, home.seat("Write it.") as seat:
        seat.sees(r"\? write_file page\.html: a new file, 8\.3 KB, 400 lines")
        seat.sees(r"\[y\]es, \[n\]o, \[a\]lways every write_file")
        assert not (home.work / "page.html").exists(), "nothing happens before the answer"
        seat.type("y\n")
        assert seat.ends() == 0
        assert (home.work / "page.html").read_text() == PAGE
        assert "The page is ready." in seat.screen.lines


def test_a_no_with_a_reason_reaches_the_model_and_nothing_is_written(at_home):
    with at_home(WRITING) as home, home.seat("Write it.") as seat:
        seat.sees(r"what to do instead:$")
        seat.type("use Markdown, please\n")
        for times in range(2, 4):  # the scripted model tries three times, then it stops
            seat.sees(r"(?s)" + "what to do instead:.*" * times + r"(?<=instead:)$")
            seat.type("n\n")
        assert seat.ends() == 0
        assert list(home.work.iterdir()) == []
        assert "The user said: use Markdown, please" in home.told()
        assert "was not run" in seat.screen.text


def test_always_is_asked_once_for_a_tool(at_home):
    steps = (*(WriteFile(f"{name}.txt", f"{name}\n") for name in "abc"), Final("Three files."))
    with at_home(Script(steps=steps)) as home, home.seat("Write them.") as seat:
        seat.sees(r"what to do instead:$")
        seat.type("a\n")
        assert seat.ends() == 0
        assert seat.screen.text.count("what to do instead") == 1
        assert sorted(path.name for path in home.work.iterdir()) == ["a.txt", "b.txt", "c.txt"]


def test_always_is_that_very_command_and_no_other(at_home):
    commands = ("echo one", "echo one", "echo one; echo two")
    steps = (*(Call("shell", {"command": line}) for line in commands[::2]), Final("Done."))
    steps = (Call("shell", {"command": "echo one"}), *steps)
    with at_home(Script(steps=steps)) as home, home.seat("Run them.") as seat:
        seat.sees(r"\$ echo one\n.*\n.*lways this command.*instead:$")
        seat.type("a\n")
        seat.sees(r"\$ echo one; echo two\n.*\n.*instead:$")
        assert seat.screen.text.count("$ echo one\n") == 1, "the same command is not asked about again"
        assert seat.screen.text.count("· shell echo one\n") == 2, "it ran both times"


@pytest.mark.parametrize("colours", [True, False])
def test_an_edit_is_shown_as_a_diff_in_colours_where_there_are_any(at_home, colours):
    change = Call("edit_file", {"path": "a.py", "old": "two = 2\n", "new": "two = 22\n"})
    with at_home(Script(steps=(change, Final("Done.")))) as home:
        (home.work / "a.py").write_text("one = 1\ntwo = 2\nthree = 3\n")
        with home.seat("Edit it.", env={} if colours else {"NO_COLOR": "1"}) as seat:
            seat.sees(r"\? edit_file a\.py: 26 characters → 27 characters, 3 lines")
            seat.sees(r"(?s) one = 1\n  -two = 2\n  \+two = 22\n   three = 3\n.*instead:$")
            seat.type("yes\n")
            assert seat.ends() == 0
        assert ("\x1b[32m+two = 22" in seat.raw) == colours
        assert ("\x1b[31m-two = 2" in seat.raw) == colours
        assert (home.work / "a.py").read_text() == "one = 1\ntwo = 22\nthree = 3\n"


def test_a_command_cannot_rewrite_the_screen_that_asks_about_it(at_home):
    hidden = "rm -r src\x1b[2K\x1b[1Aecho harmless\u202e"
    with at_home(Script(steps=(Call("shell", {"command": hidden}), Final("Done.")))) as home, home.seat("Go.") as seat:
        seat.sees(r"\$ rm -r src\\x1b\[2K\\x1b\[1Aecho harmless\\u202e")
        seat.sees(r"instead:$")
        seat.type("\x03")
        assert seat.ends() == 130


@row(41)
def test_an_interrupt_at_the_question_ends_the_run_and_nothing_ran(at_home):
    with at_home(WRITING) as home, home.seat("Write it.") as seat:
        seat.sees(r"what to do instead:$")
        seat.type("\x03")
        assert seat.ends() == 130
        assert "headway: interrupted; what came is kept" in seat.screen.last
        assert list(home.work.iterdir()) == []
        with home.seat("--continue", "--approve", "auto", "Go on.") as again:
            assert again.ends() == 0
        assert (home.work / "page.html").read_text() == PAGE, "the next turn works"


def test_what_was_typed_before_the_question_does_not_answer_it(at_home):
    slow = Script(steps=WRITING.steps, pace=Pace(first_seconds=1.2))
    with at_home(slow) as home, home.seat("Write it.") as seat:
        seat.sees("waiting for sim/model-1")
        seat.type("y\n")
        seat.sees(r"what to do instead:$")
        seat.type("\n")
        seat.sees(r"(?s)instead:\n.*instead:$")
        assert list(home.work.iterdir()) == [], "neither an old yes nor an empty line is a yes"
        seat.type("\x04")
        seat.sees("was not run")


def test_a_pipe_on_standard_input_does_not_keep_a_person_from_being_asked(at_home):
    with at_home(WRITING) as home:
        given = home.folder / "given.txt"
        given.write_text("Write it.")
        with given.open() as stdin, home.seat(stdin=stdin) as seat:
            seat.sees(r"what to do instead:$")
            seat.type("y\n")
            assert seat.ends() == 0
        assert (home.work / "page.html").read_text() == PAGE


@pytest.mark.parametrize(("tool", "flag"), [("write_file", "--approve edits"), ("shell", "--approve auto")])
def test_without_a_terminal_a_call_is_refused_with_the_flag_that_allows_it(at_home, tool, flag):
    steps = {"write_file": WriteFile("page.html", PAGE), "shell": Call("shell", {"command": "touch made"})}
    with at_home(Script(steps=(steps[tool], Final("Done.")))) as home:
        done = subprocess.run(
            home.command("Do it."), capture_output=True, env=home.environment(), text=True, check=False
        )
        assert list(home.work.iterdir()) == []
        assert "and nobody is here to be asked" in home.told(), "the model knows why"
    assert done.returncode == 4
    assert flag in done.stderr.splitlines()[-1]
    assert "was not run: This is not allowed" in done.stderr
    assert flag in home.told()


# What is shown now


def test_the_row_says_whom_it_waits_for_and_what_forms_and_is_gone_in_the_end(at_home):
    slow = Script(steps=WRITING.steps, pace=Pace(characters=100, seconds=0.02, first_seconds=1.5))
    with at_home(slow) as home, home.seat("--approve", "auto", "Write it.") as seat:
        seat.sees(r"waiting for sim/model-1 1 s")
        seat.sees(r"write_file page\.html [1-9]\.\d KB…")
        assert seat.ends() == 0
    assert seat.screen.lines[:2] == ["· write_file page.html (content 8.3 KB)", "The page is ready."]
    assert "KB…" not in seat.screen.text
    assert "waiting" not in seat.screen.text


def test_a_stall_is_counted_against_its_limit(at_home):
    pings = fault("pings_only at=3000 interval=0.3 first=1")
    with at_home(WRITING, pings) as home, home.seat("--approve", "auto", "Go.", settings="silence_seconds = 5") as seat:
        seat.sees(r"no content for [34] s, limit 5 s: write_file page\.html 3\.\d KB…")
        seat.sees("continuing from the draft")
        assert seat.ends() == 0
        assert (home.work / "page.html").read_text() == PAGE
    assert not [line for line in seat.screen.lines if line.startswith("no content")]


@pytest.mark.parametrize("lines", [24, 4])
def test_the_row_stands_below_a_reply_that_stops_in_mid_line_and_leaves_it_whole(at_home, lines):
    words = "A sentence that is long enough to be cut in the middle, with wide characters 漢字 in it, and an end."
    talk = Script(steps=(Final("First line.\nSecond line.\nThird line.\n" + words),))
    stall = fault("pings_only at=90 interval=0.3 first=1")
    with (
        at_home(talk, stall) as home,
        home.seat("Talk.", lines=lines, columns=130, settings="silence_seconds = 5") as seat,
    ):
        seat.sees(r"A sentence that is long enough [^\n]*\nno content for [34] s, limit 5 s")
        assert seat.ends() == 0
    assert not [line for line in seat.screen.lines if line.startswith("no content")]
    said = "".join(line for line in seat.screen.lines if not line.startswith("·"))
    assert "".join(words.split()) in "".join(said.split())


def test_sixty_columns_are_enough(at_home):
    pings = fault("pings_only at=3000 interval=0.3 first=1")
    long = Script(steps=(WriteFile("a/folder/with/a/rather/long/path/page.html", PAGE), Final("Ready.")))
    with (
        at_home(long, pings) as home,
        home.seat("--approve", "auto", "Go.", columns=60, settings="silence_seconds = 5") as seat,
    ):
        seat.sees(r"no content for [34] s, limit 5 s: write_file[^\n]*…\n?")
        assert all(len(line) <= 60 for line in seat.screen.lines)
        assert seat.ends() == 0


@pytest.mark.parametrize("term", ["dumb", ""])
def test_a_terminal_that_can_do_nothing_gets_plain_lines(at_home, term):
    slow = Script(steps=WRITING.steps, pace=Pace(first_seconds=1.2))
    with (
        at_home(slow, fault("rst at=3000 first=1")) as home,
        home.seat("--approve", "auto", "Go.", env={"TERM": term}) as seat,
    ):
        assert seat.ends() == 0
    assert "\x1b" not in seat.raw
    assert "\r" not in seat.raw.replace("\r\n", "\n")
    assert "continuing from the draft" in seat.screen.text


def test_no_color_means_no_colour_but_the_row_is_there(at_home):
    slow = Script(steps=(Final("Hello."),), pace=Pace(first_seconds=1.5))
    with at_home(slow) as home, home.seat("Go.", env={"NO_COLOR": "1"}) as seat:
        seat.sees("waiting for sim/model-1")
        assert seat.ends() == 0
    assert "m" not in {sequence[-1] for sequence in seat.raw.split("\x1b[")[1:] if sequence}
    assert "\x1b[2m" not in seat.raw


def test_a_reply_that_goes_to_a_file_holds_nothing_but_the_reply(at_home, tmp_path):
    words = " ".join(f"Word {number} of the answer." for number in range(200))
    said = tmp_path / "said.txt"
    with at_home(Script(steps=(Final(words),)), fault("rst at=1500 first=1")) as home, said.open("wb") as stdout:
        with home.seat("Talk.", stdout=stdout) as seat:
            assert seat.ends() == 0
        assert "continuing from the last word" in seat.screen.text
    assert said.read_text() == words + "\n"


def test_a_model_cannot_rewrite_the_screen(at_home):
    with at_home(Script(steps=(Final("before \x1b]52;c;aGk=\x07 \x1b[2J after"),))) as home, home.seat("Talk.") as seat:
        assert seat.ends() == 0
    assert "\x1b]52" not in seat.raw
    assert r"before \x1b]52;c;aGk=\x07 \x1b[2J after" in seat.screen.text


def test_two_lines_of_a_reply_and_a_call_do_not_run_into_each_other(at_home):
    steps = (Say("I write it now."), WriteFile("page.html", PAGE), Final("Ready."))
    with at_home(Script(steps=steps)) as home, home.seat("--approve", "auto", "Go.") as seat:
        assert seat.ends() == 0
    assert seat.screen.lines[:3] == ["I write it now.", "· write_file page.html (content 8.3 KB)", "Ready."]
