"""The parts of `headway chat` that need no terminal: lines of Markdown, wrapping, pastes, history, the tally."""

import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.cli.chat.commands import read
from headway.cli.chat.completing import suggestions
from headway.cli.chat.layout import shortened
from headway.cli.chat.markdown import Reply
from headway.cli.chat.paint import Paint, Span, wrapped
from headway.cli.chat.pasting import Pastes
from headway.cli.chat.recalling import LONGEST, MOST, Recalled
from headway.cli.chat.story import Story
from headway.cli.chat.tally import Spent, Tally
from headway.cli.chat.waiting import Waiting
from headway.cli.terminal import cells
from headway.events import Usage
from headway.failure import Failure, FailureKind, InvalidInput, Plan, Scope
from headway.providers.models import ModelFacts, Price
from headway.turn import notices

PLAIN = Paint(colours=False)
ANSWER = (
    "# A title\n\nSome **bold** words, `code` and [a link](https://x.y).\n\n- an item\n  - another\n\n> said\n\n"
    "```py\nif x:\n    y\n```\n| a |\nend"
)


def shown(text, size, width=40):
    reply = Reply(PLAIN, lambda: width)
    lines = [line for at in range(0, len(text), size) for line in reply.feed(text[at : at + size])]
    return lines + reply.end()


@pytest.mark.parametrize("size", [1, 2, 3, 7, 50])
def test_a_reply_looks_the_same_in_whatever_pieces_it_comes(size):
    assert shown(ANSWER, size) == shown(ANSWER, len(ANSWER))


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=200), st.integers(8, 60))
def test_wrapping_loses_no_character_but_spaces_and_never_overflows(text, width):
    lines = ["".join(span.text for span in line) for line in wrapped([Span(text)], width)]
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert all(cells(line) <= width for line in lines if line.strip())


@given(st.lists(st.sampled_from(["*", "**", "`", "_", "[", "](", ")", "~~", "word", " ", "x"]), max_size=60))
def test_marks_that_do_not_close_are_text(parts):
    text = "".join(parts)
    said = "".join(shown(text, 1000, width=10_000))
    assert set(text) - set("*`_~[]()- +>|#") - {" "} <= set(said)


def test_blank_lines_are_never_doubled_and_code_keeps_its_own():
    assert shown("a\n\n\n\nb\n```\nx\n\n\ny\n```\n", 4) == ["a", "", "b", "  x", "  ", "  ", "  y"]


def test_a_fence_in_a_longer_fence_is_code():
    assert shown("````md\n```\nx\n```\n````\nafter", 5) == ["  md", "  ```", "  x", "  ```", "after"]


def test_control_characters_are_written_out():
    assert shown("a\x1b[2Jb", 3) == ["a\\x1b[2Jb"]


def test_pastes_are_folded_and_unfolded_and_two_are_told_apart():
    pastes, one, two = Pastes(), "a\n" * 100, "b\n" * 100
    folded = f"see {pastes.fold(one)} and {pastes.fold(two)}"
    assert folded == "see [pasted 100 lines] and [pasted 100 lines #2]"
    assert pastes.unfold(folded) == f"see {one} and {two}"
    assert pastes.fold("short\r\ntext") == "short\ntext"
    assert pastes.unfold("[pasted 3 lines] [pasted") == "[pasted 3 lines] [pasted"
    assert pastes.label_before("x [pasted 100 lines]") == "[pasted 100 lines]"


def test_history_is_private_bounded_and_survives_a_cut_line(tmp_path):
    path = tmp_path / "deep" / "history"
    recalled = Recalled(path)
    for number in range(MOST + 5):
        recalled.add(f"line {number}\nmore")
    recalled.add("x" * (LONGEST + 1))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with path.open("ab") as file:
        file.write(b'"cut in the mid')
    again = Recalled(path)
    assert again.entries[-1] == f"line {MOST + 4}\nmore"
    assert len(again.entries) <= MOST


def test_a_history_that_cannot_be_written_is_no_reason_not_to_talk(tmp_path):
    (tmp_path / "file").write_text("")
    Recalled(tmp_path / "file" / "history").add("words")


def test_paths_and_commands_are_suggested(tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("")
    (tmp_path / ".hidden").write_text("")

    def texts(before):
        return [one.text for one in suggestions(before, tmp_path, lambda: [("/help", ""), ("/quit", "")])]

    assert texts("/h") == ["/help"]
    assert texts("see @") == ["@notes/"]
    assert texts("see @notes/") == ["@notes/a.txt"]
    assert texts("see @nowhere/") == texts("plain words") == texts("/help me") == []
    assert suggestions("@", Path("/no/such/folder"), list) == []


def test_the_beginning_of_a_command_is_enough_if_no_other_begins_so():
    assert read("/comp")[0].name == "/compact"
    assert read("/rena\tA new title")[1] == "A new title"
    with pytest.raises(InvalidInput, match="/model or /mode"):
        read("/mod")


NOTHING = ("/help", "/clear", "/compact", "/cost", "/sessions", "/fork", "/drafts", "/status", "/quit")
NONSENSE = {
    **{f"{name} nonsense": f"{name}: it takes nothing behind it" for name in NOTHING},
    "/queue everything": r"it is written as /queue \[clear\]; with “everything” nothing was done",
    "/show last": r"it is written as /show \[N\]",
    "/show ²": r"it is written as /show \[N\]",
    f"/undo {'9' * 5_000}": r"it is written as /undo \[N\]",
    "/diff -1": r"it is written as /diff \[N\]",
    "/model a/b c": r"it is written as /model \[provider/model\]",
    "/resume one two": "it is written as /resume ID",
}


@pytest.mark.parametrize("words", NONSENSE)
def test_a_command_says_what_it_takes_if_it_is_given_something_else(words):
    with pytest.raises(InvalidInput, match=NONSENSE[words]) as told:
        read(words)
    assert "A message that begins with a slash is written with two" in str(told.value)
    assert len(str(told.value)) < 250


@pytest.mark.parametrize(
    "words", ["/queue", "/queue clear", "/show 2", "/undo", "/diff 12", "/rename A title of words"]
)
def test_a_command_takes_what_it_takes(words):
    assert f"{read(words)[0].name} {read(words)[1]}".strip() == words


def test_what_waits_goes_out_in_order_and_after_a_stop_only_when_it_is_told_to():
    waiting = Waiting()
    for words in ("one", "two", "/clear", "four"):
        waiting.add(words)
    assert waiting.take_next() == "one"
    waiting.hold()
    assert (waiting.take_next(), waiting.lines()) == ("", ["held: two", "held: /clear", "held: four"])
    waiting.add("five")
    assert waiting.take_held() == "two"
    assert waiting.lines() == ["held: /clear", "held: four", "next: five"]
    assert [waiting.take_last() for _ in range(4)] == ["five", "four", "/clear", ""]
    assert not waiting.holds


def test_a_long_status_is_shortened_in_its_middle():
    command = f"shell python -m pytest {'tests/unit ' * 8}(timeout 600) 14 s"
    for width in range(30, 120):
        line = shortened(command, width)
        assert cells(line) <= width
        assert line.startswith("shell")
        assert line.endswith(" 14 s")
    assert shortened(command, 50) == "shell python -m pytest tests/unit tests/unit… 14 s"
    told = "stream cut at 14.2 KB of index.html; draft kept; continuing with backup/other (2 of 6)"
    assert shortened(told, 60) == "stream cut at 14.2 KB of index.html; draft kept… (2 of 6)"
    assert shortened("short words", 40) == "short words"
    assert shortened("x" * 100, 40) == "x" * 39 + "…"


@given(st.text(), st.integers(1, 100))
def test_a_shortened_line_is_never_too_long(text, width):
    assert cells(shortened(text, width)) <= width


def failure():
    return Failure(FailureKind.STREAM_CUT, Scope.NETWORK, Plan.RESUME, "It broke.")


def test_what_was_spent_is_counted_for_the_turn_and_the_session():
    tally = Tally(lambda _: ModelFacts(prices=(Price(0, 2.0, 10.0),)))
    tally.begin_turn()
    tally.hear(notices.Asking("a/b", 1))
    tally.hear(notices.Broke("a/b", failure(), 900, brought=1000, gained=900))
    tally.hear(notices.Asking("a/b", 2))
    tally.hear(Usage(100_000, 50_000))
    tally.hear(notices.Answered("a/b"))
    assert (tally.turn.requests, tally.turn.broken, tally.turn.salvaged, tally.turn.wasted) == (2, 1, 900, 100)
    assert tally.turn.dollars == pytest.approx(0.7)
    assert tally.turn.words() == "100.0k tokens in, 50.0k out · $0.7000 · 1 broken · salvaged ~225, wasted ~25 tokens"
    tally.begin_turn()
    assert tally.turn == Spent()
    assert tally.session.requests == 2


def test_an_interrupted_request_is_counted_as_far_as_it_told():
    tally = Tally(lambda _: None)
    tally.begin_turn()
    tally.hear(notices.Asking("a/b", 1))
    tally.hear(Usage(10, 3))
    tally.end_turn()
    assert (tally.session.usage.input_tokens, tally.session.unpriced) == (10, 1)


def test_a_break_and_what_is_done_about_it_are_one_sentence():
    story = Story(6)
    assert story.hear(notices.Asking("a/b", 1)) == ""
    assert story.hear(notices.Broke("a/b", failure(), 3200)) == ""
    assert story.hear(notices.FailedOver("a/b", "c/d", failure())) == (
        "stream cut after 3.2 KB, all kept; continuing with c/d (2 of 6)"
    )
