"""What a person reads while a run goes on: calls in a few words, the present moment, and a row that leaves no trace."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.agent.happenings import SummedUp, SummingUp, ToolBegan, ToolEnded
from headway.cli.calls import call_words
from headway.cli.now import Now
from headway.cli.row import StatusRow
from headway.cli.status import _DOING
from headway.cli.terminal import Terminal, cells, fit, visible
from headway.events import CallArguments, CallOpened, TextDelta, ThinkingDelta
from headway.messages import Text, ToolCall, ToolResult
from headway.recovery.drafts import CONTINUE_DRAFT, Draft
from headway.recovery.ledger import Strategy
from headway.transport.watchdog import Quiet, Stage
from headway.turn import notices
from support.screen import Screen


def call(name, /, **arguments):
    return ToolCall("c1", name, json.dumps(arguments))


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (call("write_file", path="index.html", content="x" * 24_000), "write_file index.html (content 24.0 KB)"),
        (
            call("write_file", path="a.txt", content="a\nb", append=True),
            "write_file a.txt (content 3 characters, append)",
        ),
        (call("shell", command="npm test"), "shell npm test"),
        (call("shell", command="npm test", timeout_seconds=600.0), "shell npm test (timeout_seconds 600.0)"),
        (call("search", pattern="TODO", path="src"), "search src (pattern TODO)"),
        (call("read_file", path="a.py", limit=None), "read_file a.py"),
        (call("list_files"), "list_files"),
        (
            call(CONTINUE_DRAFT.name, draft="ddac09cde", offset=2447, rest="y" * 1_200, more={}),
            "continue_draft ddac09cde (offset 2,447, rest 1.2 KB, more {})",
        ),
        (call("shell", command="a\n" * 100), "shell " + "a " * 38 + "a a…"),
        (ToolCall("c1", "patch", "free text", freeform=True), "patch free text"),
        (ToolCall("c1", "odd", "{not json"), "odd (9 characters)"),
        (call("shell", command="x\x1b[2Jy"), r"shell x\x1b[2Jy"),
    ],
)
def test_a_call_is_told_by_what_it_is_about(made, words):
    assert call_words(made) == words


def test_every_strategy_has_words():
    assert set(_DOING) == set(Strategy) - {Strategy.FAIL_OVER}


def test_a_line_is_cut_at_a_word():
    assert fit("the stream was cut in the middle", 40) == "the stream was cut in the middle"
    assert fit("the stream was cut in the middle", 20) == "the stream was cut…"
    assert fit("nothing to cut at" + "x" * 30, 20) == "nothing to cut…"
    assert fit("x" * 30, 10) == "x" * 9 + "…"
    assert fit("漢字漢字漢字", 7) == "漢字漢…"
    assert fit("two\nlines", 20) == "two lines"


@given(st.text(max_size=200), st.integers(2, 60))
def test_no_line_is_ever_wider_than_the_screen(text, width):
    assert cells(fit(text, width)) <= width


@given(st.text(max_size=100))
def test_nothing_that_acts_on_a_terminal_gets_through(text):
    seen = visible(text)
    assert not [one for one in seen if (ord(one) < 32 and one not in "\n\t") or 127 <= ord(one) < 160]
    assert "\u202e" not in seen


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


def quiet(stage=Stage.SPEAKING, seconds=0.0, limit=90.0):
    return Quiet(stage, seconds, limit, seconds, limit)


def heard(*items, clock=None):
    now = Now(clock or Clock())
    for item in items:
        now.hear(item)
    return now


ASKING = notices.Asking("main/model", 1)
FORMING = (CallOpened(0, "c1", "write_file"), CallArguments(0, '{"path": "index.html", "content": "' + "x" * 14_165))


@pytest.mark.parametrize(
    ("items", "told", "line"),
    [
        ((ASKING,), quiet(Stage.CONNECTING, 2), "connecting to main/model 2 s"),
        ((ASKING,), quiet(Stage.WAITING, 3), "waiting for main/model 3 s"),
        ((ASKING, *FORMING), quiet(), "write_file index.html 14.2 KB…"),
        ((ASKING, *FORMING), quiet(seconds=12), "no content for 12 s, limit 90 s: write_file index.html 14.2 KB…"),
        ((ASKING, TextDelta("Hello")), quiet(), ""),
        ((ASKING, TextDelta("Hello")), quiet(seconds=12), "no content for 12 s, limit 90 s"),
        ((ASKING, ThinkingDelta("hm" * 800)), quiet(), "main/model thinks, 1.6 KB so far"),
        ((ASKING, CallOpened(0, "c1", "shell")), quiet(), "shell 0 characters…"),
        ((ASKING, *FORMING, notices.Asking("backup/model", 2)), quiet(Stage.WAITING), "waiting for backup/model 0 s"),
        ((ASKING, notices.Answered("main/model")), quiet(Stage.OVER), ""),
        ((ASKING,), None, ""),
        ((ToolBegan(call("shell", command="make")),), None, "shell make 0 s"),
        ((SummingUp(40, 240_000),), None, "summing up 240.0 KB of the conversation 0 s"),
        ((SummingUp(40, 240_000), SummedUp(9, 5, "")), None, ""),
    ],
)
def test_the_present_moment_is_one_line(items, told, line):
    assert heard(*items).line(told) == line


def test_the_rest_of_a_draft_is_shown_as_the_call_that_it_is_of():
    begun = '{"path": "index.html", "content": "' + "x" * 8_965
    held = notices.DraftHeld(Draft("d1", "write_file", "c1", begun, ("path",), ("content",), 8_965))
    now = heard(ASKING, held, ASKING, notices.DraftGrows(0, "c2", "y" * 1_000))
    assert now.line(quiet()) == "write_file index.html 10.0 KB…"


def test_waits_are_counted_down_and_tools_up():
    clock = Clock()
    now = heard(ASKING, notices.TryingAgain("main/model", Strategy.RETRY_SOON, 8.0), clock=clock)
    clock.now += 3
    assert now.line(None) == "asking main/model again in 5 s"
    for number in range(3):
        now.hear(ToolBegan(ToolCall(f"c{number}", "read_file", f'{{"path":"f{number}"}}')))
    clock.now += 4
    assert now.line(None) == "read_file f0 and 2 more 4 s"
    now.hear(ToolEnded(ToolCall("c0", "read_file", "{}"), ToolResult("c0", (Text(""),))))
    assert now.line(None) == "read_file f1 and 1 more 4 s"


class Seen(io.StringIO):
    """A terminal without a process."""

    def isatty(self):
        return True

    def fileno(self):
        raise OSError


@given(
    st.lists(st.sampled_from(["row", "other row", "a much longer row than the others " * 3, ""]), max_size=12),
    st.data(),
)
def test_whatever_the_row_shows_in_between_only_the_reply_is_left(rows, data):
    stream = Seen()
    terminal = Terminal(stream, {"TERM": "xterm"})
    row, said = StatusRow(terminal), ""
    for text in rows:
        if text:
            row.show(text, below=bool(said) and not said.endswith("\n"))
        if data.draw(st.booleans()):
            row.hide()
            words = data.draw(st.sampled_from(["some words ", "漢字", "an end.\n", "x" * 30]))
            terminal.write(words.replace("\n", "\r\n"))
            said += words
    row.hide()
    screen = Screen(80, 5)
    screen.feed(stream.getvalue())
    clean = Screen(80, 5)
    clean.feed(said.replace("\n", "\r\n"))
    assert screen.text.rstrip("\n") == clean.text.rstrip("\n")
    assert (screen.row, screen.column) == (clean.row, clean.column)


@pytest.mark.parametrize("environment", [{"TERM": "dumb"}, {}])
def test_a_terminal_that_cannot_rewrite_has_no_row(environment):
    stream = Seen()
    StatusRow(Terminal(stream, environment)).show("row")
    assert stream.getvalue() == ""
