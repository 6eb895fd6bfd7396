"""Seams: repeats are removed on evidence, real text never is, and a stream gives what a join gives."""

import inspect
import json.decoder

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from headway.recovery.seams import LOOK_BACK, Join, Seam, SeamFilter, end_of_repeat, join, overlap

PROSE = (
    "The harbour was quiet when Mira came down the hill. Two boats lay at the quay; a third, smaller one was tied to "
    "the steps.\n\nShe counted the lamps, as she did every evening, and found one missing. “Odd,” she said — there had "
    "been seven yesterday, and nobody had touched them since. The water was black, oily and flat.\n\n"
    "- First, the rope.\n- Second, the lantern.\n- Third, whatever Jonas had left under the tarpaulin.\n\n"
    "It took her a while to find the knot. Her fingers were cold; the rope was colder. Somewhere behind her a door "
    "opened, a strip of yellow light fell across the stones, and a voice that she did not know asked: who is there?\n"
)
CODE = inspect.getsource(json.decoder.JSONDecoder)
MARKDOWN = (
    "## Results\n\n| case | time | ratio |\n| --- | ---: | ---: |\n| small | 1.2 ms | 1.00 |\n"
    "| medium | 14.8 ms | 0.93 |\n| large | 151 ms | 0.87 |\n\n```python\ndef main() -> None:\n    print('done')\n"
    "```\n\nSee `docs/`  for more.\n"
)
OTHER = (
    "港は静かだった。美羅が丘を下りてきたとき、二艘の舟が岸につないであった。😀 Ça va? Да, всё хорошо — e\u0301té.\n"
)
NATURAL = {"prose": PROSE, "code": CODE, "markdown": MARKDOWN, "other scripts": OTHER}
PATTERNS = ["x = 1\n" * 50, "ab" * 100, "| a | 0 |\n" * 30, " " * 200, "\n" * 100, "-" * 120, "0, 0, 0, 1\n" * 40]


def streamed(kept: str, rest: str, sizes: list[int], *, ended: bool = True) -> str:
    seam, out, at = SeamFilter(kept), kept, 0
    for size in sizes:
        out += seam.feed(rest[at : at + size])
        at += size
    return out + seam.feed(rest[at:]) + seam.flush(ended=ended)


def solid(text: str) -> str:
    return "".join(text.split())


def unmistakable(kept: str, again: int) -> bool:
    """Judge, apart from the code under test, whether a repeat of this length can only be a repeat."""
    tail, window = solid(kept[len(kept) - again :]), solid(kept[-LOOK_BACK:])
    return len(tail) >= 16 and len(set(tail)) >= 5 and window.count(tail[:12]) == 1 == window.count(tail[-12:])


@pytest.mark.parametrize("text", NATURAL.values(), ids=NATURAL)
def test_a_continuation_without_a_repeat_is_joined_as_it_came_at_every_cut(text):
    for cut in range(1, len(text)):
        assert join(text[:cut], text[cut:]) == text, cut


@pytest.mark.parametrize("text", NATURAL.values(), ids=NATURAL)
def test_a_repeat_of_any_length_is_removed_or_left_whole_at_every_cut(text):
    removed = left = 0
    for cut in range(1, len(text), 1 + len(text) // 150):
        for again in (*range(1, 40, 3), 57, 80, 113, 200):
            if again > cut:
                break
            kept, rest = text[:cut], text[cut - again :]
            joined = join(kept, rest)
            if unmistakable(kept, again):
                removed, left = removed + (joined == text), left + (joined != text)
            assert joined in {text, kept + rest, kept.removesuffix(" ") + rest}, (cut, again)
    assert removed > 150
    assert left <= removed // 100  # inside the borders of a table, where a run of dashes may be meant


@pytest.mark.parametrize(
    ("kept", "rest", "joined"),
    [
        pytest.param("I saw the quick", "quick brown fox", "I saw the quick brown fox", id="the last word"),
        pytest.param("I saw the quick", " quick brown fox", "I saw the quick brown fox", id="the last word, a space"),
        pytest.param("I saw the quick", "the quick brown", "I saw the quick brown", id="two words"),
        pytest.param("I saw the quick ", "the quick brown", "I saw the quick brown", id="the space is there already"),
        pytest.param("I saw the quick", " brown fox", "I saw the quick brown fox", id="a space of its own"),
        pytest.param("I saw the qui", "ck brown fox", "I saw the quick brown fox", id="inside a word"),
        pytest.param("I saw the quick ", " brown fox", "I saw the quick brown fox", id="one of two spaces"),
        pytest.param("I saw the quick", "brown fox", "I saw the quickbrown fox", id="a space is never invented"),
        pytest.param("one\nfoo\n", "foo\nbar", "one\nfoo\nbar", id="a whole short line"),
        pytest.param("one\nfoo bar baz\n", "\nfoo bar baz\nbar", "one\nfoo bar baz\nbar", id="a newline before it"),
        pytest.param("a paragraph.\n", "\nanother", "a paragraph.\n\nanother", id="an empty line means something"),
        pytest.param("if x:\n  ", "  return", "if x:\n    return", id="indentation means something"),
        pytest.param(
            "so:\n  the first and the second,\n  and after them the third", "the first and the second, and after them "
            "the third and more", "so:\n  the first and the second,\n  and after them the third and more",
            id="a line's worth with other space inside",
        ),
        pytest.param("so we walked on", "…so we walked on and on", "so we walked on and on", id="an ellipsis"),
        pytest.param("so we walked on", "... so we walked on and on", "so we walked on and on", id="three dots"),
        pytest.param("so we walked on", '"so we walked on and on', "so we walked on and on", id="a quote mark"),
        pytest.param("Well", "... I think so", "Well... I think so", id="an ellipsis that is meant"),
        pytest.param("He said ", '"I think so"', 'He said "I think so"', id="a quote that is meant"),
        pytest.param(
            "```py\nalpha = beta(1)\n", "```py\nalpha = beta(1)\ngamma = 2\n", "```py\nalpha = beta(1)\ngamma = 2\n",
            id="a fence and a repeat",
        ),
        pytest.param("```py\na = 1\n", "```py\nb = 2\n", "```py\na = 1\nb = 2\n", id="a second fence"),
        pytest.param("```py\na = 1", "\n```py\nb = 2\n", "```py\na = 1\nb = 2\n", id="a second fence, new line"),
        pytest.param("```md\n# A\n", "```py\nb = 2", "```md\n# A\n```py\nb = 2", id="a fence inside a document"),
        pytest.param("````py\n```a\n", "```py\nb", "````py\n```a\n```py\nb", id="a fence inside a longer one"),
        pytest.param("```py\na = 1\n", "```\ndone", "```py\na = 1\n```\ndone", id="a fence that closes"),
        pytest.param("text:\n", "```py\na = 1", "text:\n```py\na = 1", id="a fence that opens"),
        pytest.param("```py\na\n```\n", "```py\nb", "```py\na\n```\n```py\nb", id="a fence after a closed one"),
        pytest.param("二艘の舟が岸につないで", "舟が岸につないである", "二艘の舟が岸につないである", id="no spaces"),
        pytest.param("All of it", "All of it", "All of it" * 2, id="seven letters are too light"),
        pytest.param("That is all there is.", "That is all there is.", "That is all there is.", id="nothing new"),
        pytest.param("", "anything", "anything", id="nothing kept"),
        pytest.param("anything", "", "anything", id="nothing new at all"),
    ],
)  # fmt: skip
def test_what_is_a_repeat_and_what_is_not(kept, rest, joined):
    assert join(kept, rest) == joined
    assert streamed(kept, rest, [1] * len(rest)) == joined


@pytest.mark.parametrize(
    ("kept", "rest"),
    [
        pytest.param("a", "a", id="one letter"),
        pytest.param("end.\n\n", "\n\nNext", id="empty lines"),
        pytest.param("it said false, true, false", " false true", id="a word that is elsewhere"),
        pytest.param("I know that", " that is so", id="a short word twice"),
        pytest.param("the quick", "quickly run", id="a word that goes on"),
        pytest.param("one of -Infinity,", " Infinity, NaN", id="one word with a comma"),
        pytest.param("    if x:\n        go(on)\n    ", "else:\n        go(on)\n", id="lines of code that look alike"),
        pytest.param("return self.modules[name]\n    ", "    self.modules[name] = m", id="the same words, other space"),
        pytest.param("First  Last ", " Count  Purpose", id="one of two spaces in a table"),
        pytest.param("------------", "------------", id="a rule"),
        pytest.param("0, 0, 0, 1\n0, 0", ", 0, 1\n0, 0, 0, 1\n", id="the second of many rows"),
        pytest.param("alpha: 10, beta: 20\nalpha: 10", ", beta: 20\nalpha: 10, beta: 21\n", id="rows that look alike"),
        pytest.param("go left, go right, " * 2, "go left, go right, " * 2 + "stop", id="a pattern in itself"),
        pytest.param("foo\nbar\nfoo\n", "foo\nbaz\n", id="a short line that stands elsewhere"),
        pytest.param("    end\n  end\n", "end\n", id="closing lines"),
        pytest.param("aaaaaaaa aaaaaaaa", "aaaaaaaa b", id="one letter many times"),
        pytest.param(
            "foo(bar, baz);\nx();\nfoo(bar, baz);\n", "foo(bar, baz);\ny", id="a short line that is elsewhere"
        ),
    ],
)
def test_text_that_may_be_meant_twice_stays(kept, rest):
    assert overlap(kept, rest) == Seam()


@pytest.mark.parametrize("text", PATTERNS)
def test_nothing_is_taken_from_a_text_that_repeats_itself(text):
    for cut in range(len(text) // 3, len(text), 7):
        for rest in (text[cut:], text[cut:] + "and then something else", text[cut - 20 :]):
            assert join(text[:cut], rest) == text[:cut] + rest


@pytest.mark.parametrize(
    ("kept", "rest", "joined"),
    [
        pytest.param("foo\n", "\nbar", "foo\nbar", id="a newline"),
        pytest.param("foo\n", "\n\nbar", "foo\n\nbar", id="and one more"),
        pytest.param("foo ", " bar", "foo bar", id="a space"),
        pytest.param("foo\n    ", "\n        bar", "foo\n        bar", id="indentation that goes on"),
        pytest.param("foo ", "bar", "foo bar", id="nothing said again"),
        pytest.param("foo", " bar", "foo bar", id="nothing trimmed"),
        pytest.param("x = 1\n" * 50, "\nx = 1\nx = 1\n", "x = 1\n" * 52, id="in a text that repeats itself"),
    ],
)
def test_space_that_the_model_was_not_shown_is_not_doubled(kept, rest, joined):
    assert join(kept, rest, trimmed=True) == joined


def test_a_repeat_that_was_cut_before_its_end_is_not_new_text():
    kept = PROSE[:300]
    begun = kept[-60:-20]
    assert overlap(kept, begun, ended=False) == Seam(len(begun), Join.UNFINISHED_REPEAT)
    assert streamed(kept, begun, [5] * 9, ended=False) == kept
    assert join(kept, begun) == kept + begun  # an answer that ended well is believed
    assert join(kept, "the", ended=False) == kept  # too light to tell, so it is asked for again
    assert join(kept, "then", ended=False) == kept + "then"  # no repeat can begin so


texts = (
    st.text(st.sampled_from("ab \n"), max_size=60)
    | st.text(st.sampled_from('abcdefgh .`"…~\n'), max_size=60)
    | st.text(max_size=40)
)


@given(texts, texts, st.integers(0, 60), st.lists(st.integers(0, 9), max_size=12), st.booleans())
@example("the quick", "quick brown", 0, [5, 1], True)
@example("```py\nx", "```py\nx", 0, [2, 1, 3, 1], True)
def test_a_stream_in_any_pieces_gives_what_a_join_gives(kept, new, again, sizes, ended):
    rest = kept[max(0, len(kept) - again) :] + new if again else new
    assert streamed(kept, rest, sizes, ended=ended) == join(kept, rest, ended=ended)


@given(texts, texts, st.integers(0, 60))
def test_only_text_that_is_there_already_is_ever_removed(kept, new, again):
    rest = kept[max(0, len(kept) - again) :] + new
    seam = overlap(kept, rest)
    gone = rest[: seam.skip]
    match seam.join:
        case Join.PLAIN:
            assert not gone
        case Join.REPEAT:
            assert solid(kept).endswith(solid(gone).lstrip("`~\"'…")) or solid(kept).endswith(
                solid(gone).partition("\n")[2]
            )
        case Join.DOUBLE_SPACE:
            assert gone == kept[-1] == " "
        case Join.SECOND_FENCE:
            assert gone.strip().startswith(("```", "~~~"))
        case Join.UNFINISHED_REPEAT:
            raise AssertionError


@given(
    st.lists(st.integers(0, 10**9), min_size=20, max_size=60, unique=True), st.integers(20, 120), st.integers(0, 200)
)
def test_text_of_ever_new_words_survives_every_cut_and_every_repeat(numbers, place, again):
    text = " ".join(f"word{number}" for number in numbers)
    cut = min(place, len(text))
    kept, rest = text[:cut], text[max(0, cut - again) :]
    left_in = {kept + rest, kept.removesuffix(" ") + rest}  # too light to tell
    assert join(kept, rest) in ({text} if again == 0 or again >= 20 else {text, *left_in})


def test_text_that_cannot_be_a_repeat_is_given_at_once():
    seam = SeamFilter(PROSE)
    assert seam.feed("Zeb") == "Zeb"
    assert seam.feed("ra") == "ra"
    assert seam.seam == Seam()


def test_a_filter_holds_no_more_than_it_looks_ahead():
    seam = SeamFilter("a" * 5_000)
    given_out = "".join(seam.feed("a" * 100) for _ in range(200)) + seam.flush()
    assert given_out == "a" * 20_000


@pytest.mark.parametrize("kept", ["a" * 1_000_000, "ab" * 500_000, PROSE * 1500, " " * 1_000_000])
def test_a_million_characters_are_joined_by_looking_at_the_end_of_them(kept):
    """Were this not bounded, a hundred of them would not be done within the test's time limit."""
    for _ in range(100):
        join(kept, kept)
    streamed(kept, kept, [20] * 300)


@pytest.mark.parametrize(
    ("claimed", "rest", "end"),
    [
        pytest.param("x = 1\n", "x = 1\nx = 1\n", 6, id="exactly"),
        pytest.param("  a b\n", "a  b\n\nc", 5, id="other space"),
        pytest.param("a b", "a c", None, id="something else"),
        pytest.param("a b", "a", None, id="not all of it"),
        pytest.param("\n", "next", 0, id="only space, not repeated"),
        pytest.param(" \n", " next", 1, id="only space, some of it"),
        pytest.param("", "next", 0, id="nothing claimed"),
    ],
)
def test_a_claimed_repeat_ends_where_it_was_said_again(claimed, rest, end):
    assert end_of_repeat(claimed, rest) == end
