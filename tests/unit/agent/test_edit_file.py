"""`edit_file`: exact, once, on the file that was read; and help when the text is not there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.agent.tools.editing import edited
from headway.agent.tools.files import content_hash
from headway.agent.tools.refusals import ToolError

PYTHON = "def one():\n    return 1\n\n\ndef two():\n\treturn 2\n"


@pytest.fixture
def page(root):
    path = root / "page.py"
    path.write_text(PYTHON)
    return path


def test_the_only_place_is_replaced_and_the_new_hash_goes_on(hand, page):
    answer = hand.does(
        "edit_file", path="page.py", old="return 1", new="return 11", expected_hash=content_hash(page.read_bytes())
    )
    assert answer == f"Edited `page.py` at line 2; hash {content_hash(page.read_bytes())}."
    assert page.read_text() == PYTHON.replace("return 1", "return 11")
    hand.does(
        "edit_file", path="page.py", old="return 11", new="", expected_hash=content_hash(page.read_bytes()).upper()
    )


def test_a_file_that_changed_since_it_was_read_is_refused(hand, page):
    before = content_hash(page.read_bytes())
    page.write_text(PYTHON + "# more\n")
    told = hand.fails("edit_file", path="page.py", old="return 1", new="x", expected_hash=before)
    assert "not as you read it" in told
    assert content_hash(page.read_bytes()) in told
    assert "not as you read it" in hand.fails("edit_file", path="page.py", old="return 1", new="x", expected_hash="a")
    assert page.read_text() == PYTHON + "# more\n"


def test_a_text_that_stands_there_twice_must_be_meant_twice(hand, page):
    told = hand.fails("edit_file", path="page.py", old="return", new="yield")
    assert "2 times (lines 2, 6)" in told
    assert page.read_text() == PYTHON
    assert "2 places (lines 2, 6)" in hand.does("edit_file", path="page.py", old="return", new="yield", all=True)
    assert page.read_text() == PYTHON.replace("return", "yield")


@pytest.mark.parametrize(
    ("old", "told"),
    [
        ("def one():\n        return 1", "other white space. Copy lines 1-2:\ndef one():\n    return 1"),
        ("def two():\n    return 2", "other white space. Copy lines 5-6:\ndef two():\n\treturn 2"),
        ("     1\tdef one():\n     2\t    return 1", "leave them out"),
        ("def one():\\n    return 1", "escaped twice"),
        ("  def one():  ", "without the white space at its beginning or end"),
        ("Return 1", "other case"),
        ("    retrun 1", "The nearest is line 2:\n    return 1"),
        ("nothing of the kind", "Nothing in the file is like it"),
        ("\n\n\n\n\n", "Nothing in the file is like it"),
    ],
)
def test_a_text_that_is_not_there_is_answered_with_what_was_meant(hand, page, old, told):
    answer = hand.fails("edit_file", path="page.py", old=old, new="x")
    assert "does not stand in `page.py`" in answer
    assert told in answer
    assert page.read_text() == PYTHON


def test_typographic_quotes_are_recognised(hand, page):
    page.write_text("say('it’s')\n")
    assert "other quotes" in hand.fails("edit_file", path="page.py", old="say('it's')", new="x")


def test_an_edit_that_changes_nothing_or_looks_for_nothing_is_refused(hand, page):
    assert "nothing would change" in hand.fails("edit_file", path="page.py", old="one", new="one")
    assert "at least 1 characters" in hand.fails("edit_file", path="page.py", old="", new="one")


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        ("a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", "x\r\ny\r\nz\r\nc\r\n"),
        ("a\r\nb\r\nc", "b\r\nc", "b\r\nd", "a\r\nb\r\nd"),
        ("a\r\nb\r\nc", "b", "b\nb", "a\r\nb\r\nb\r\nc"),
        ("a\nb\nc\r\nd\r\ne\r\n", "a\nb", "x\ny", "x\ny\nc\r\nd\r\ne\r\n"),
        ("a\nb\nc\r\nd\r\n", "c\nd\n", "c\n", "a\nb\nc\r\n"),
        ("a\nb", "b", "c", "a\nc"),
        ("a\nb\n", "b\n", "b", "a\nb"),
        ("a\nb\n", "b", "b\r\nc", "a\nb\r\nc\n"),
        ("\ufeffa\nb", "b", "c", "\ufeffa\nc"),
    ],
)
def test_line_ends_and_the_end_of_the_file_are_kept(hand, root, before, old, new, after):
    (root / "x").write_bytes(before.encode())
    hand.does("edit_file", path="x", old=old, new=new)
    assert (root / "x").read_bytes() == after.encode()


def test_help_comes_soon_in_a_large_file(hand, root):
    (root / "large").write_text(
        "".join(f"value_{number} = compute({number}, 'abcdefgh')\n" for number in range(50_000))
    )
    assert "The nearest is line" in hand.fails(
        "edit_file", path="large", old="value_77 = computed(77, 'abcdefgh')", new=""
    )


TEXTS = st.text(st.sampled_from("ab\n\r"), max_size=30)


@given(TEXTS, st.text(st.sampled_from("ab\n\r"), min_size=1, max_size=4), TEXTS)
def test_all_but_the_edit_stays_as_it_was(text, old, new):
    """Where there is no CRLF an edit is Python's own replace; where there is, it is so when all CR are left out."""
    try:
        after = edited(text, old, new, every=True).text
    except ToolError:
        return
    if "\r\n" not in text:
        assert after == text.replace(old, new)
    else:
        plain = [one.replace("\r\n", "\n") for one in (text, old, new)]
        assert after.replace("\r\n", "\n") == plain[0].replace(plain[1], plain[2]).replace("\r\n", "\n")


@given(st.text(max_size=200), st.integers(0, 200), st.integers(1, 20))
def test_a_text_of_the_file_itself_is_always_found(text, start, length):
    old = text[start : start + length]
    if old:
        assert edited(text, old, old + "!", every=True).lines
