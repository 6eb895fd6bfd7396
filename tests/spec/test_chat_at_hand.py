"""`headway chat`: what is asked, what commands do, and terminals of every kind, in a real one."""

import os
import re
import shutil
import stat
import subprocess

import pytest

from headway.agent.sandbox.finding import find
from headway.sim.script import Call, Final, Loop, Pace, Say, Script, WriteFile
from support.chats import at_home
from support.lengths import only_at_length

needs_tmux = pytest.mark.skipif(
    shutil.which("tmux") is None, reason="NOT TRIED: there is no tmux, the terminal of these tests"
)

PAGE = "".join(f"<p>Paragraph {number}</p>\n" for number in range(400))
WRITING = Script(steps=(WriteFile("page.html", PAGE), Final("The page is ready.")))
END_OF_TURN = r"\d+ s · [\d,.k]+ tokens in"
SENTENCES = [f"Sentence {number} has some words of its own." for number in range(120)]


# What is asked


@needs_tmux
def test_a_question_does_not_take_what_is_being_typed_and_gives_it_back(tmp_path):
    with at_home(tmp_path, Script(steps=WRITING.steps, pace=Pace(characters=200, seconds=0.02))) as home:
        with home.pane() as pane:
            pane.enter("Write it.")
            pane.sees(r"page\.html \d")
            pane.type("and then y")
            pane.sees(r"\? write_file page\.html: a new file, 8\.3 KB, 400 lines")
            pane.sees(r"\[y\]es, \[n\]o, \[a\]lways \(every write_file\), or what instead")
            pane.press("Enter")
            assert list(home.work.iterdir()) == [], "neither old keys nor an empty line are a yes"
            pane.enter("y")
            pane.sees(r"The page is ready\.")
            pane.sees("› and then y")
        assert (home.work / "page.html").read_text() == PAGE


@needs_tmux
def test_a_no_with_a_reason_reaches_the_model(tmp_path):
    with at_home(tmp_path, WRITING) as home, home.pane("Write it.") as pane:
        pane.sees(r"\[y\]es")
        pane.enter("use Markdown, please")
        pane.sees(r"○ write_file page\.html.* was not run: you said no\n")
        pane.sees(r"\[y\]es")
        assert "The user said: use Markdown, please" in home.told()
        assert list(home.work.iterdir()) == []


@needs_tmux
@only_at_length
def test_a_switch_of_the_mode_answers_the_question_that_stands(tmp_path):
    with at_home(tmp_path, WRITING) as home, home.pane("Write it.") as pane:
        pane.sees(r"\[y\]es")
        pane.press("BTab")
        pane.sees(r"edits \(⇧⇥\)")
        pane.sees(r"The page is ready\.")
        assert (home.work / "page.html").read_text() == PAGE


@needs_tmux
def test_edits_are_diffs_that_can_be_taken_back_and_long_output_is_shown_in_full_on_demand(tmp_path):
    steps = (
        Call("shell", {"command": "seq -f 'number %g' 40"}),
        Call("edit_file", {"path": "a.py", "old": "two = 2\n", "new": "two = 22\n"}),
        Final("Done."),
    )
    with at_home(tmp_path, Script(steps=steps)) as home:
        (home.work / "a.py").write_text("one = 1\ntwo = 2\nthree = 3\n")
        with home.pane("--approve", "auto", "Go.", lines=50) as pane:
            pane.sees(END_OF_TURN)
            assert re.search(r"  … 33 lines before \(/show\)\n  number 34\n", pane.text)
            assert "  -two = 2\n  +two = 22\n   three = 3\n" in pane.text
            assert re.search(r"\x1b\[32m(\x1b\[49m)?\+two = 22", pane.coloured)
            pane.enter("/show 2")
            pane.sees(r"number 1\n", anywhere=True)
            pane.sees(r"number 40\n", anywhere=True)
            pane.enter("/diff")
            pane.sees(r"-two = 2\n\+two = 22\n")
            pane.enter("/undo")
            pane.sees(r"change 1 is taken back")
            assert (home.work / "a.py").read_text() == "one = 1\ntwo = 2\nthree = 3\n"
            pane.enter("/undo")
            pane.sees(r"nothing to take back")


@needs_tmux
def test_what_is_denied_and_what_is_secret_is_held_in_the_mode_that_asks_for_nothing(tmp_path):
    key, outside, token = "sk-that-nobody-may-see", tmp_path / "outside.txt", tmp_path / "work" / "token"
    steps = (
        Call("shell", {"command": f"printenv; echo x > {outside}"}),
        Call("read_file", {"path": "token"}),
        Call("shell", {"command": "cd . && git 'push' --force"}),
    )
    rules = f'allow = ["read_file", "shell"]\ndeny = ["shell(git push)"]\nhidden = ["{token}"]'
    with at_home(tmp_path, Script(steps=steps)) as home:
        token.write_text("what the token is")
        with home.pane("--approve", "auto", agent=rules, env={"OPENAI_API_KEY": key}, lines=60) as pane:
            pane.enter("Go.")
            pane.sees(r"\? read_file")
            pane.sees(r"\[y\]es")
            assert "what the token is" not in home.told(), "whatever is allowed, a hidden place is asked about"
            pane.enter("y")
            pane.sees(r"○ shell cd \. && git 'push' --force was not run: the rule `shell\(git push\)`\s+denies\s+it")
            if find().means is None:
                pane.sees("commands run without a sandbox")
            else:
                assert not outside.exists()
            assert "what the token is" in home.told()
        assert not any(key in str(request.body) for request in home.sim.log)


# Commands


@needs_tmux
def test_commands_say_what_is_and_change_what_they_say(tmp_path):
    steps = (Final("First answer."), Final("Second answer."), Final("Third answer."))
    with at_home(tmp_path, Script(steps=steps)) as home, home.pane("Hello.", lines=60, columns=100) as pane:
        pane.sees(END_OF_TURN)
        pane.enter("/help")
        pane.sees(r"/compact +have the older part summed up")
        pane.enter("/route both")
        pane.sees(r"▸ both +sim/model-1 → backup/model-b")
        pane.enter("/model backup/model-b")
        pane.sees(r"asked first +backup/model-b")
        pane.enter("Again.")
        pane.sees("Second answer.")
        assert home.sim.log[-1].body["model"] == "model-b"
        pane.enter("/cost")
        pane.sees(r"session +2 requests")
        pane.enter("/model nobody/x")
        pane.sees(r"'nobody/x': is no route, and no provider/model")
        pane.enter("/sesions")
        pane.sees(r"/sesions: is no command\. Try /sessions")
        pane.enter("/mode plan")
        pane.sees(r"▸ plan +only reads")
        pane.enter("/status")
        pane.sees(r"sandbox +(bubblewrap|namespaces|landlock|none can be had here):")
        pane.enter("/doctor sim")
        pane.sees(r"✓ sim/model-1: ")
        pane.sees(r"All is well\.")
        pane.enter("/quit")
        assert pane.ends() == 0


@needs_tmux
def test_what_headway_told_the_model_is_not_recited_as_the_users_words(tmp_path):
    looks = Loop((Call("list_files", {"path": "."}),), "going round in circles")
    with at_home(tmp_path, Script(steps=(looks, Final("I have looked.")))) as home:
        with home.pane("Look around.", lines=60) as pane:
            pane.sees(r"I have looked\.")
            pane.enter("/quit")
            assert pane.ends() == 0
        with home.pane("--continue", lines=60) as again:
            again.sees(r"› Look around\.")
            again.sees(r"I have looked\.")
            assert "circles" not in again.text


@needs_tmux
def test_a_session_is_cleared_forked_resumed_and_continued(tmp_path):
    with at_home(tmp_path, Script(steps=(Final("One."), Final("Two."), Final("Three.")))) as home:
        with home.pane("First words.", lines=60) as pane:
            pane.sees(END_OF_TURN)
            pane.enter("/fork")
            origin = pane.sees(r"the original stays as it is: +/resume\s+(\S+)")[1]
            pane.enter("/clear")
            pane.sees("a new conversation")
            pane.enter(f"/resume {origin}")
            pane.sees(rf"session {origin}, 1 turn")
            pane.enter("/rename Of patience")
            pane.sees("is called “Of patience” now")
            pane.enter("/quit")
            assert pane.ends() == 0
            assert f"headway chat --resume {origin}" in pane.text
        with home.pane("--continue", lines=60) as again:
            again.sees(r"› First words\.")
            again.sees(r"One\.")
            again.enter("Next.")
            again.sees(r"Two\.")
        assert "First words." in home.told()


@needs_tmux
@only_at_length
def test_a_draft_outlives_an_interrupt_and_is_shown(tmp_path):
    script = Script(steps=WRITING.steps, pace=Pace(characters=50, seconds=0.05))
    with at_home(tmp_path, script) as home, home.pane("--approve", "auto", "Write it.") as pane:
        pane.sees(r"page\.html [12]\.\d KB")
        pane.press("Escape")
        pane.sees("interrupted; what came is kept")
        pane.enter("/drafts")
        pane.sees(r"write_file page\.html: \d\.\d KB came, nothing of it was run")


# Terminals


@needs_tmux
def test_sixty_columns_and_a_wider_window_in_mid_stream_lose_and_repeat_nothing(tmp_path):
    words = "\n\n".join(" ".join(SENTENCES[first : first + 4]) for first in range(0, 120, 4))
    script = Script(steps=(Final(words),), pace=Pace(characters=20, seconds=0.01))
    with at_home(tmp_path, script) as home, home.pane(columns=60, lines=20) as pane:
        pane.enter("Tell me.")
        for columns, lines, sign in ((80, 30, "Sentence 20 "), (100, 30, "Sentence 40 ")):
            pane.sees(sign, anywhere=True)
            pane.resize(columns, lines)
        pane.sees(END_OF_TURN)
        said = " ".join(pane.text.split())
        assert [sentence for sentence in SENTENCES if said.count(sentence) != 1] == []
        assert pane.text.count("⇧⇥") == 1
        assert pane.text.count("─ ─") == 0
        assert all(len(line) <= 100 for line in pane.screen.split("\n"))


@needs_tmux
@only_at_length
def test_a_narrower_window_in_mid_stream_loses_nothing(tmp_path):
    """A terminal may wrap anew before it says so; then a line or two stand twice."""
    words = "\n\n".join(" ".join(SENTENCES[first : first + 4]) for first in range(0, 120, 4))
    script = Script(steps=(Final(words),), pace=Pace(characters=20, seconds=0.01))
    with at_home(tmp_path, script) as home, home.pane(columns=100, lines=30) as pane:
        pane.enter("Tell me.")
        for columns, lines, sign in ((99, 30, "Sentence 20 "), (60, 24, "Sentence 50 "), (40, 10, "Sentence 80 ")):
            pane.sees(sign, anywhere=True)
            pane.resize(columns, lines)
        pane.sees(END_OF_TURN)
        said = " ".join(pane.text.split())
        assert [sentence for sentence in SENTENCES if sentence not in said] == []
        assert [sentence for sentence in SENTENCES[90:] if said.count(sentence) != 1] == []


@needs_tmux
def test_ten_thousand_pasted_lines_are_a_few_words_until_they_are_sent(tmp_path):
    lines = "\n".join(f"pasted line {number}" for number in range(10_000))
    with at_home(tmp_path, Script(steps=(Final("I have read it."),))) as home, home.pane() as pane:
        pane.type("Read this: ")
        pane.paste(lines)
        pane.sees(r"› Read this: \[pasted 10,000 lines\]")
        pane.press("Enter")
        pane.sees(r"I have read it\.")
        assert home.sim.log[-1].body["messages"][-1]["content"] == f"Read this: {lines}"
        assert "pasted line" not in pane.text


@needs_tmux
def test_a_family_and_a_flag_are_edited_where_the_cursor_is_and_sent_as_they_were_typed(tmp_path):
    with at_home(tmp_path, Script(steps=(Final("I see."),))) as home, home.pane() as pane:
        pane.type("ab👩\u200d👩\u200d👧 and 🇨🇭cd")
        pane.sees("(?m)^› ab👩👩👧 and CHcd$")
        pane.press("Left", "Left", "BSpace")
        pane.type("🇭Z")
        pane.sees("(?m)^› ab👩👩👧 and CHZcd$")
        pane.press("Enter")
        pane.sees(r"I see\.")
        assert home.sim.log[-1].body["messages"][-1]["content"] == "ab👩\u200d👩\u200d👧 and 🇨🇭Zcd"


@needs_tmux
@only_at_length
def test_lines_are_continued_recalled_and_completed(tmp_path):
    with at_home(tmp_path, Script(steps=(Final("One."), Final("Two.")))) as home:
        (home.work / "notes.txt").write_text("x")
        with home.pane() as pane:
            pane.type("first\\")
            pane.press("Enter")
            pane.type("second")
            pane.press("M-Enter")
            pane.type("see @no")
            pane.sees("@notes.txt")
            pane.press("Tab")
            pane.sees(r"see @notes\.txt")
            pane.press("Enter")
            pane.sees(r"One\.")
            assert home.sim.log[-1].body["messages"][-1]["content"].startswith("first\nsecond\nsee @notes.txt")
            pane.type("/he")
            pane.sees(r"/help +what there is")
            pane.press("C-u", "C-d")
            assert pane.ends() == 0
        history = home.folder / "chat_history.jsonl"
        assert stat.S_IMODE(history.stat().st_mode) == 0o600
        with home.pane() as again:
            again.press("Up")
            again.sees(r"› first\n  second\n  see @notes\.txt")


@needs_tmux
@only_at_length
def test_no_color_means_no_colour(tmp_path):
    words = "# Title\n\n**bold** words"
    with at_home(tmp_path, Script(steps=(Final(words),))) as home, home.pane("Go.", env={"NO_COLOR": "1"}) as pane:
        pane.sees(END_OF_TURN)
        assert "bold words" in pane.text
        assert not re.search(r"\x1b\[[\d;]*3\dm|\x1b\[[\d;]*9\dm|\x1b\[2m", pane.coloured)


@needs_tmux
@only_at_length
def test_a_model_cannot_rewrite_the_screen(tmp_path):
    words = "before \x1b]52;c;aGk=\x07 \x1b[2J after"
    with at_home(tmp_path, Script(steps=(Final(words),))) as home, home.pane("Talk.") as pane:
        pane.sees(END_OF_TURN)
        assert r"before \x1b]52;c;aGk=\x07 \x1b[2J after" in pane.text
        assert "› Talk." in pane.text


def chat(home, *arguments, given="", **more):
    command = home.command(*arguments)
    environment = home.environment(**more)
    return subprocess.run(command, input=given, capture_output=True, text=True, env=environment, check=False)


def test_without_a_terminal_each_line_is_a_turn_and_the_answers_are_all_that_is_printed(tmp_path):
    with at_home(tmp_path, Script(steps=(Final("# One\n**bold**"), Final("Two.")))) as home:
        done = chat(home, given="First.\n\nSecond.\n")
        assert done.returncode == 0
        assert done.stdout == "# One\n**bold**\nTwo.\n"
        assert "\x1b" not in done.stdout + done.stderr
        assert "headway chat --resume" in done.stderr
        assert home.asked() == 2


def test_without_a_terminal_a_call_that_needs_a_yes_is_refused_with_the_flag_that_allows_it(tmp_path):
    with at_home(tmp_path, WRITING) as home:
        done = chat(home, given="Write it.\n")
        assert done.returncode == 4
        assert "--approve edits" in done.stderr
        assert list(home.work.iterdir()) == []


DENIED = {
    "nobody is here to be asked": WriteFile("one.txt", "one\n"),
    "the rule `shell(git push)` denies it": Call("shell", {"command": "git push"}),
}


@pytest.mark.parametrize("why", DENIED)
def test_without_a_terminal_a_denial_is_told_in_words_for_people(tmp_path, why):
    with at_home(tmp_path, Script(steps=(DENIED[why], Final("Neither.")))) as home:
        command = home.command(agent='deny = ["shell(git push)"]')
        done = subprocess.run(
            command, input="Do it.\n", env=home.environment(), capture_output=True, text=True, check=False
        )
        assert f" was not run: {why}\n" in done.stderr
        assert "Do not try" not in done.stderr
        assert "Do not try" in home.told(), "the model is told what to do about it"


def test_without_a_terminal_a_line_that_gets_no_answer_is_told_by_the_status(tmp_path):
    with at_home(tmp_path, Script(), "bad_key") as home:
        done = chat(home, given="Hello.\n")
        assert done.returncode == 1
        assert "Given up" in done.stderr


def test_a_dumb_terminal_gets_lines_and_no_sequences(tmp_path):
    from support.screen import Seat

    with at_home(tmp_path, Script(steps=(Final("Hello."), Final("Again.")))) as home:
        with Seat(home.command(), home.environment(TERM="dumb")) as seat:
            seat.sees(r">$")
            seat.type("One\n")
            seat.sees(r"Hello\.\n>$")
            seat.type("/quit\n")
            assert seat.ends() == 0
        assert "\x1b" not in seat.raw


def test_a_question_is_answered_by_the_next_line_where_nothing_can_be_drawn(tmp_path):
    from support.screen import Seat

    steps = (WriteFile("one.txt", "one\n"), WriteFile("two.txt", "two\n"), Final("Both."))
    with at_home(tmp_path, Script(steps=steps)) as home:
        with Seat(home.command(), home.environment(TERM="dumb")) as seat:
            seat.sees(r">$")
            seat.type("Write them.\n")
            seat.sees(r"instead:$")
            seat.type("y\n")
            seat.sees(r"(?s)instead:.*instead:$")
            seat.type("yes\n")
            seat.sees(r"Both\.\n>$")
            seat.type("/quit\n")
            assert seat.ends() == 0
        assert sorted(path.name for path in home.work.iterdir()) == ["one.txt", "two.txt"]


def test_what_is_said_after_a_call_begins_a_line(tmp_path):
    steps = (Say("I look."), Call("list_files", {"path": "."}), Final("Nothing there."))
    with at_home(tmp_path, Script(steps=steps)) as home:
        assert chat(home, given="Look.\n").stdout == "I look.\nNothing there.\n"


def test_a_name_that_names_no_session_is_refused(tmp_path):
    with at_home(tmp_path, Script(steps=(Final("Hello."),))) as home:
        done = chat(home, "--resume", "", given="Hello.\n")
        assert done.returncode == 2
        assert "--resume: it names no session" in done.stderr
        assert home.asked() == 0


def test_help_stays_light(tmp_path):
    code = "import sys; from headway.cli.main import main; main(['--help']); sys.exit('prompt_toolkit' in sys.modules)"
    done = subprocess.run([os.sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 0
