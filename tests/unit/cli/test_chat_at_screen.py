"""Parts of `headway chat` at a screen that need none: questions, keys that end, a terminal that takes no more."""

import asyncio
import os
import pty

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document
from prompt_toolkit.layout.processors import TransformationInput

from headway.agent.approval import Allow, Deny, Kind, Mode, rules_of
from headway.agent.happenings import ToolEnded
from headway.agent.places import Place
from headway.agent.workspace import Workspace
from headway.cli.asking import SAID_NO
from headway.cli.chat.conversation import LiveApprovals
from headway.cli.chat.drawn_apart import DrawnApart
from headway.cli.chat.keyboard import Keyboard
from headway.cli.chat.output import HeldOutput
from headway.cli.chat.questions import Questions, TypingPause
from headway.cli.chat.resizing import reflows
from headway.cli.chat.screen import Screen
from headway.cli.chat.view import View
from headway.cli.terminal import Terminal
from headway.messages import Text, ToolCall, ToolResult

WRITE = ToolCall("c1", "write_file", '{"path": "a.txt", "content": "x"}')
READ = ToolCall("c2", "read_file", '{"path": ".env"}')


class Desk:
    """Questions on a screen that is a file."""

    def __init__(self, folder, stream):
        terminal = Terminal(stream, {})
        self.screen = Screen(terminal, {}, Buffer())
        self.view = View(self.screen, terminal, Workspace(folder), lambda: 0.0)
        self.questions = Questions(self.screen, self.view, Workspace(folder))
        self.mode = Mode.ASK

    def decided(self, call=WRITE, kind=Kind.EDITS, place=None, rules=()):
        """Begin to decide about a call, as the agent does."""
        asked, denied = self.questions.ask, self.view.calls.was_denied
        approvals = LiveApprovals(rules=rules_of(*rules), live=asked, denied=denied, current=lambda: self.mode)
        return asyncio.ensure_future(approvals.decide(kind, call, place))

    async def is_asked(self):
        while not self.questions.is_open:  # noqa: ASYNC110  # as a person does: look until it is there
            await asyncio.sleep(0)

    def switch(self, mode):
        self.mode = mode
        self.questions.look_again()


@pytest.fixture
def at_desk(tmp_path):
    """Run a scenario at a desk."""

    def run(scenario):
        async def ran(stream):
            return await asyncio.wait_for(scenario(Desk(tmp_path, stream)), 30)

        with (tmp_path / "screen").open("w+", encoding="utf-8") as stream:
            answer = asyncio.run(ran(stream))
            stream.seek(0)
            return answer, stream.read()

    return run


def test_a_question_shows_what_would_happen_and_takes_one_line_as_its_answer(at_desk):
    async def scenario(desk):
        desk.screen.buffer.text = "half a thou"
        deciding = desk.decided()
        await desk.is_asked()
        assert desk.screen.buffer.text == "", "what was being typed is put aside"
        desk.questions.answer("use Markdown")
        answer = await deciding
        assert desk.screen.buffer.text == "half a thou"
        assert not desk.questions.is_open
        return answer

    answer, screen = at_desk(scenario)
    assert answer == Deny(f"{SAID_NO} The user said: use Markdown")
    assert "? write_file a.txt: a new file, 1 characters, 1 line" in screen


@pytest.mark.parametrize(("mode", "kind"), [(Mode.EDITS, Allow), (Mode.AUTO, Allow), (Mode.PLAN, Deny)])
def test_a_switch_of_the_mode_answers_what_it_decides(at_desk, mode, kind):
    async def scenario(desk):
        deciding = desk.decided()
        await desk.is_asked()
        desk.switch(Mode.ASK)
        await asyncio.sleep(0)
        assert not deciding.done(), "this mode asks too"
        desk.switch(mode)
        return await deciding

    assert isinstance(at_desk(scenario)[0], kind)


def test_no_mode_answers_a_question_about_a_hidden_place(at_desk):
    async def scenario(desk):
        desk.mode = Mode.AUTO
        place = Place((".env",), concern="`.env` is hidden")
        deciding = desk.decided(READ, Kind.READS, place, rules=(["read_file"],))
        await desk.is_asked()
        desk.switch(Mode.EDITS)
        await asyncio.sleep(0)
        assert not deciding.done()
        desk.questions.answer("n")
        return await deciding

    assert at_desk(scenario)[0] == Deny(SAID_NO)


def test_always_means_this_call_and_nothing_that_a_rule_denies(at_desk):
    run = ToolCall("c3", "shell", '{"command": "make"}')
    push = ToolCall("c4", "shell", '{"command": "git push"}')

    async def scenario(desk):
        deciding = desk.decided(run, Kind.RUNS)
        await desk.is_asked()
        desk.questions.answer("always")
        assert await deciding == Allow()
        assert await desk.decided(run, Kind.RUNS) == Allow(), "it is not asked again"
        assert isinstance(await desk.decided(run, Kind.RUNS, rules=((), ["shell(make)"])), Deny)
        other = desk.decided(push, Kind.RUNS)
        await desk.is_asked()
        desk.questions.answer("no")
        return await other

    assert at_desk(scenario)[0] == Deny(SAID_NO)


PUSH = ToolCall("c5", "shell", '{"command": "git push"}')


@pytest.mark.parametrize(
    ("mode", "rules", "words"),
    [
        (Mode.AUTO, ((), ["shell(git push)"]), "the rule `shell(git push)` denies it"),
        (Mode.PLAN, ((), ["write_file", "shell(git *)"]), "the rule `shell(git)` denies it"),
        (Mode.PLAN, ((), ["shell(rm)"]), "the mode `plan` only reads"),
        (Mode.ASK, (), "you said no"),
    ],
)
def test_a_person_is_told_why_a_call_was_denied_and_not_what_the_model_should_do(at_desk, mode, rules, words):
    async def scenario(desk):
        desk.mode = mode
        deciding = desk.decided(PUSH, Kind.RUNS, rules=rules)
        if mode is Mode.ASK:
            await desk.is_asked()
            desk.questions.answer("no")
        denied = await deciding
        result = ToolResult(PUSH.id, (Text(denied.reason),), is_error=True)
        await desk.view.hear([ToolEnded(PUSH, result, ran=False)])
        return denied

    denied, screen = at_desk(scenario)
    assert f"○ shell git push was not run: {words}\n" in screen.replace("\r", "")
    assert denied.reason not in screen


def test_an_interrupt_leaves_no_question_behind(at_desk):
    async def scenario(desk):
        desk.screen.buffer.text = "half"
        deciding = desk.decided()
        await desk.is_asked()
        deciding.cancel()
        await asyncio.wait({deciding})
        return deciding.cancelled(), desk.questions.is_open, desk.questions.words, desk.screen.buffer.text

    assert at_desk(scenario)[0] == (True, False, "", "half")


def test_a_question_waits_for_a_pause_in_typing():
    times = iter([10.0, 10.001, 10.002, 10.008])
    pause = TypingPause(lambda: next(times))
    pause.pressed()
    asyncio.run(asyncio.wait_for(pause.lasts(0.005), 30))
    assert next(times, None) is None, "it looked until the pause was long enough"


def test_keys_that_cannot_be_read_any_more_have_ended():
    """Reading the other end of a closed terminal is an error, and will be one for ever."""
    ours, theirs = pty.openpty()
    try:
        os.write(theirs, "é".encode())
        keyboard = Keyboard(ours)
        assert (keyboard.read(), keyboard.closed) == ("é", False)
        assert (keyboard.read(), keyboard.closed) == ("", False), "nothing was typed yet"
        os.close(theirs)
        assert (keyboard.read(), keyboard.closed) == ("", True)
    finally:
        os.close(ours)


def test_a_terminal_that_takes_no_more_is_told_once_and_nothing_is_kept_for_it(tmp_path):
    told = []
    ours, theirs = os.pipe()
    os.close(ours)
    with os.fdopen(theirs, "w") as stream:
        out = HeldOutput(stream, lambda: told.append("gone"))
        for _ in range(3):
            out.write("words")
            out.flush()
        assert (told, out._parts) == (["gone"], [])


@given(st.text(alphabet="a é漢👩👧👍\u200d\ufe0f\U0001f3fd🇨🇭"))
def test_what_terminals_join_is_drawn_apart_and_every_place_in_it_is_found(text):
    drawn = DrawnApart().apply_transformation(
        TransformationInput(None, Document(text), 0, lambda at: at, [("", text)], 80, 24)
    )
    line = "".join(part[1] for part in drawn.fragments)
    assert not set(line) & set("\u200d\ufe0f\U0001f3fd🇨🇭")
    places = [drawn.source_to_display(at) for at in range(len(text) + 1)]
    assert places == sorted(places)
    assert (places[0], places[-1]) == (0, len(line))
    assert [drawn.source_to_display(drawn.display_to_source(at)) for at in range(len(line) + 1)] == [
        *range(len(line) + 1)
    ]


def test_only_a_terminal_that_is_known_to_wrap_anew_is_trusted_to():
    assert reflows({"TERM": "xterm-256color", "VTE_VERSION": "7600"})
    assert reflows({"TERM": "tmux-256color"})
    assert not reflows({"TERM": "xterm-256color"}), "over a remote shell nothing else is known"
    assert not reflows({"TERM": "linux"})
