"""`headway chat` in a real terminal: what streams, what is typed meanwhile, what stops it, and what is left."""

import re
import shutil

import pytest

from headway.sim.script import Call, Final, Pace, Say, Script, WriteFile
from support.chats import at_home
from support.lengths import only_at_length

pytestmark = pytest.mark.skipif(
    shutil.which("tmux") is None, reason="NOT TRIED: there is no tmux, the terminal of these tests"
)

PAGE = "".join(f"<p>Paragraph {number}</p>\n" for number in range(400))
SENTENCES = [f"Sentence {number} has some words of its own." for number in range(240)]
LONG = "\n\n".join(" ".join(SENTENCES[first : first + 6]) for first in range(0, 240, 6))
SLOW = Pace(characters=40, seconds=0.01)
DRIP = Pace(characters=10, seconds=0.1)


def words_between(text, start, end):
    """Return the words of the screen between two marks."""
    return text.split(start, 1)[1].split(end, 1)[0].split()


def test_a_long_answer_is_in_the_scrollback_once_word_for_word(tmp_path):
    script = Script(steps=(Final(LONG),), pace=Pace(characters=60, seconds=0.004))
    with at_home(tmp_path, script) as home, home.pane(raw=tmp_path / "raw") as pane:
        pane.enter("Tell me.")
        pane.sees(r"\d+ s · \d+ tokens in")
        assert words_between(pane.text, "› Tell me.", pane.sees(r"\d+ s · \d+ tokens in")[0]) == LONG.split()
        assert pane.text.count("› Tell me.") == 1
        assert (tmp_path / "raw").stat().st_size < 8 * len(LONG), "a slow link is not flooded with drawings"
        assert pane.text.count("⇧⇥") == 1, "the live part is drawn over, and never left behind"


def test_a_reply_that_breaks_off_goes_on_in_the_same_line_and_the_break_is_told_apart(tmp_path):
    script = Script(steps=(Final(LONG),), pace=SLOW)
    with at_home(tmp_path, script, "rst at=4000 first=1") as home, home.pane() as pane:
        pane.enter("Tell me.")
        pane.sees(r"stream cut after \d\.\d KB, all kept; continuing with sim/model-1 \(2 of 6\)")
        pane.type("typed meanwhile")
        pane.sees(r"\d+ s · [\d,]+ tokens in.*1 broken")
        pane.sees(r"› typed meanwhile")
        said = words_between(pane.text, "› Tell me.", pane.sees(r"\d+ s · [\d,]+ tokens")[0])
    told = [number for number, word in enumerate(said) if word in ("!", "↻")]
    assert len(told) == 2
    assert " ".join(SENTENCES[-6:]) in " ".join(said)
    for sentence in SENTENCES:
        assert " ".join(said).count(sentence) == 1, sentence


@only_at_length
def test_markdown_is_shown_and_not_its_marks(tmp_path):
    words = "# Title\n\nSome **bold** and `code`.\n\n- an item\n\n```python\nx = 1  # one\n```\n"
    with at_home(tmp_path, Script(steps=(Final(words),))) as home, home.pane() as pane:
        pane.enter("Go.")
        pane.sees(r"\d+ s · \d+ tokens")
        lines = [line for line in pane.text.split("\n") if line]
        shown = lines[lines.index("› Go.") + 1 :]
        assert shown[:5] == ["Title", "Some bold and code.", "• an item", "  python", "  x = 1  # one"]
        assert re.search(r"36m(\x1b\[49m)?Title", pane.coloured)


def test_messages_that_are_sent_while_an_answer_streams_wait_and_are_answered_in_turn(tmp_path):
    steps = (Final(LONG[:3000]), Final("The second answer."), Final("The third answer."))
    with at_home(tmp_path, Script(steps=steps, pace=Pace(characters=20, seconds=0.02))) as home, home.pane() as pane:
        pane.enter("First.")
        pane.sees("Sentence 3")
        pane.enter("Second.")
        pane.enter("Third, with an error")
        pane.sees("▸ next: Second.\n  ▸ next: Third, with an error")
        pane.press("Up")
        pane.sees("› Third, with an error")
        for _ in range(len(", with an error")):
            pane.press("BSpace")
        pane.enter(".")
        pane.sees("▸ next: Third.")
        assert home.asked() == 1, "nothing is sent before the turn is over"
        pane.sees("The third answer.")
        pane.sees(r"› Third\.\n")
        assert [str(request.body).count("'role': 'user'") for request in home.sim.log] == [1, 2, 3]


def test_what_waits_when_a_turn_is_stopped_is_held_and_sent_one_by_one(tmp_path):
    steps = (Final(LONG), Final("The next answer."), Final("The last answer."))
    with at_home(tmp_path, Script(steps=steps, pace=DRIP)) as home, home.pane() as pane:
        pane.enter("First.")
        pane.sees("Sentence 0")
        for words in ("Second.", "/rename A title", "//etc is a folder", "Third, with an error"):
            pane.enter(words)
        pane.sees(r"▸ next: Second\.")
        pane.type("half a thou")
        pane.press("Escape")
        pane.sees("interrupted; what came is kept")
        pane.sees(
            r"  ▸ held: Second\.\n  ▸ held: /rename A title\n  ▸ held: //etc is a folder\n    1 more; Enter sends"
        )
        pane.sees("› half a thou\n")
        assert home.asked() == 1, "nothing is sent unasked"
        pane.press("C-u", "Up")
        pane.sees("› Third, with an error")
        pane.press("C-u")
        pane.misses("1 more")
        home.sim.provider.use(Script(steps=steps[1:]))
        pane.press("Enter")
        pane.sees(r"The next answer\.")
        pane.sees(
            r"(?s)▸ held: /rename A title\n  ▸ held: //etc is a folder\n    Enter sends the first, ↑ edits the last, "
        )
        assert home.sim.log[-1].body["messages"][-1]["content"] == "Second."
        pane.press("Enter")
        pane.sees("is called “A title” now")
        pane.press("Enter")
        pane.sees(r"The last answer\.")
        assert home.sim.log[-1].body["messages"][-1]["content"] == "/etc is a folder"
        pane.misses("▸ held")


def test_the_end_of_the_status_stands_however_long_the_command_is(tmp_path):
    command = f"sleep 60; echo {'words ' * 40}"
    script = Script(steps=(Call("shell", {"command": command, "timeout_seconds": 100}), Final("Done.")))
    with at_home(tmp_path, script) as home, home.pane("--approve", "auto", "Go.", columns=70) as pane:
        pane.sees(r"(?m)^◦ shell sleep 60; echo.*… .*\d s · \d s · Esc stops$")
        pane.press("Escape")
        pane.sees("interrupted")


def test_what_was_said_is_kept_if_it_is_stopped_while_a_mention_is_asked_about(tmp_path):
    with at_home(tmp_path, Script(steps=(Final("I see."),))) as home:
        (home.work / "token").write_text("what the token is")
        with home.pane(agent=f'hidden = ["{home.work}/token"]') as pane:
            pane.enter("Explain what is in @token, please.")
            pane.sees(r"\[y\]es")
            pane.press("Escape")
            pane.sees("interrupted; what came is kept")
            assert home.asked() == 0
            pane.enter("continue")
            pane.sees(r"I see\.")
            assert "Explain what is in @token, please." in home.told()
            pane.enter("/quit")
            assert pane.ends() == 0
        assert "what the token is" not in home.told()


def test_what_is_attached_and_what_is_not_found_is_told_in_one_line(tmp_path):
    with at_home(tmp_path, Script(steps=(Final("I see."),))) as home:
        (home.work / ".env").write_text(f"KEY=ghp_{'a1' * 20}\n")
        (home.work / "notes.txt").write_text("words\n")
        with home.pane("Compare @.env and @ntoes.txt with @types/node", columns=150) as pane:
            pane.sees(
                r"· attached \.env \(1 line, 1 secret masked, the rest is sent as it is\); "
                r"@ntoes\.txt was not found \(did you mean @notes\.txt\?\)\n"
            )
            pane.sees(r"I see\.")


WAITING = ("waiting", Script(steps=(Final("Hello again."),)), "pings_only at=0 interval=0.3 first=1", "waiting for sim")
STREAMING = ("streaming", Script(steps=(Final("Some words come. " * 20),), pace=DRIP), "", r"Some words come\.")
CALLING = ("in a call", Script(steps=(WriteFile("page.html", PAGE), Final("Ready.")), pace=DRIP), "", r"page\.html \d")
ASKING = ("asking", Script(steps=(WriteFile("page.html", PAGE), Final("Ready."))), "", r"\[y\]es")
RUNNING = (
    "running",
    Script(steps=(Call("shell", {"command": "echo begun; sleep 60; touch ended"}), Final("Done."))),
    "",
    r"(?m)^  begun$",
)


BY_ESCAPE = [pytest.param("Escape", *case, id=case[0]) for case in (WAITING, STREAMING, CALLING, ASKING, RUNNING)]
BY_CONTROL = [
    pytest.param("C-c", *case, id=f"{case[0]}, by Ctrl-C", marks=only_at_length) for case in (STREAMING, RUNNING)
]


@pytest.mark.parametrize(("key", "phase", "script", "fault", "sign"), [*BY_ESCAPE, *BY_CONTROL])
def test_an_interrupt_stops_the_turn_in_every_phase_and_the_next_turn_works(tmp_path, key, phase, script, fault, sign):
    mode = "auto" if phase == "running" else "ask"
    with at_home(tmp_path, script, *filter(None, [fault])) as home, home.pane("--approve", mode) as pane:
        pane.enter("Go.")
        pane.sees(sign)
        pane.type("half a thou")
        pane.press(key)
        pane.sees("interrupted; what came is kept")
        assert list(home.work.iterdir()) == [], "nothing half-received was written, and what ran is stopped"
        if phase == "running":
            pane.sees(r"begun\n\s*\[interrupted: everything that it had started was ended\]")
        if phase != "asking":
            pane.sees("› half a thou")
        pane.press("C-u")
        pane.enter("And now?")
        pane.sees(r"› And now\?")
        pane.sees(r"(?s)› And now\?\n\n.*(Esc stops|tokens in)")
        assert "And now?" in home.told(), "the next turn works"
        pane.press("Escape")
        pane.misses("Esc stops")
        pane.press("C-d")
        assert pane.ends() == 0
        assert "headway chat --resume" in pane.text


def test_two_interrupts_leave_and_the_session_can_be_taken_up(tmp_path):
    words = "Words that came before the end. "
    with at_home(tmp_path, Script(steps=(Final(words * 40),), pace=DRIP)) as home:
        with home.pane() as pane:
            pane.enter("Tell me.")
            pane.sees("before the end")
            pane.press("C-c")
            pane.press("C-c")
            assert pane.ends() == 0
            session = re.search(r"headway chat --resume (\S+)", pane.text)[1]
        with home.pane("--resume", session) as again:
            again.sees(r"› Tell me\.")
            again.sees("Words that came")
            again.enter("continue")
            again.sees(r"(?s)› continue.*Esc stops.*")
            again.sees(r"(?s)› continue\n\n.*(that|came|end)")
        assert "Words that came" in home.told(), "the model knows what it had said"


@only_at_length
def test_leaving_without_a_word_leaves_no_session_behind(tmp_path):
    with at_home(tmp_path, Script()) as home:
        with home.pane() as pane:
            pane.press("C-d")
            assert pane.ends() == 0
            assert "--resume" not in pane.text
        with home.pane() as pane:
            pane.enter("/sessions")
            pane.sees("nothing said yet")
            assert pane.text.count("nothing said yet") == 1


def test_a_cut_call_is_told_in_one_sentence_and_the_file_is_whole(tmp_path):
    script = Script(steps=(Say("I write it."), WriteFile("index.html", PAGE), Final("Ready.")), pace=SLOW)
    with at_home(tmp_path, script, "rst at=4000 first=2") as home:
        with home.pane("--approve", "auto", "Write it.") as pane:
            pane.sees(r"write_file index\.html \d\.\d KB…")
            pane.sees(r"↻ stream cut at \d\.\d KB of index\.html; draft kept; continuing with", anywhere=True)
            pane.sees(r"Ready\.\n")
            salvaged = pane.sees(r"2 broken ·\s+salvaged\s+~([\d,]+), wasted\s+~\d+ tokens")[1]
            assert pane.text.count("I write it.") == 1
            pane.press("C-d")
            assert pane.ends() == 0
        assert (home.work / "index.html").read_text() == PAGE
        assert 1500 < int(salvaged.replace(",", "")) < len(PAGE) // 4, "what was saved is counted once"
        with home.pane("--continue") as again:
            again.enter("/cost")
            again.sees(rf"session +\d+ requests (.|\n)*2 broken ·\s+salvaged\s+~{salvaged},")


def test_a_stall_is_counted_against_its_limit_in_the_status_line(tmp_path):
    script = Script(steps=(WriteFile("page.html", PAGE), Final("Ready.")))
    with at_home(tmp_path, script, "pings_only at=3000 interval=0.3 first=1") as home:
        with home.pane("--approve", "auto", "Go.", settings="silence_seconds = 5") as pane:
            pane.sees(r"no content for [34] s, limit 5 s: write_file page\.html 3\.\d KB")
            pane.sees("Ready.")
        assert (home.work / "page.html").read_text() == PAGE


@only_at_length
def test_when_the_first_provider_dies_the_status_says_who_goes_on(tmp_path):
    script = Script(steps=(WriteFile("index.html", PAGE), Final("Ready.")), pace=SLOW)
    with at_home(tmp_path, script, "content_filter pattern='Paragraph 150' first=1 model=model-1") as home:
        with home.pane("--approve", "auto", "--route", "both", "Write it.") as pane:
            pane.sees(r"draft kept;\s+continuing\s+with\s+backup/model-b \(2 of 6\)", anywhere=True)
            pane.sees("Ready.")
        assert (home.work / "index.html").read_text() == PAGE
