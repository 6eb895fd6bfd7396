"""Tables of a reply stand in columns, whatever pieces they come in, and lose no word."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.cli.chat.markdown import Reply
from headway.cli.chat.paint import Paint
from headway.cli.chat.tables import MOST_ROWS
from headway.cli.terminal import cells

TABLE = (
    "Look:\n\n"
    "| what | where | how much |\n"
    "| :--- | :---: | ---: |\n"
    "| the **greeting** of `a|b` | line 1 | 12 |\n"
    "| 日本語 | here \\| there | 1,234 |\n"
    "| short |\n"
    "After."
)
WORDS = st.text(st.sampled_from("ab é日*"), max_size=30)


def reply(width=60):
    return Reply(Paint(colours=False), lambda: width)


def shown(text, width=60, size=1000):
    one = reply(width)
    lines = [line for at in range(0, len(text), size) for line in one.feed(text[at : at + size])]
    return lines + one.end()


def test_columns_stand_below_each_other_as_they_are_aligned():
    assert shown(TABLE) == [
        "Look:",
        "",
        "what                │    where     │ how much",
        "────────────────────┼──────────────┼─────────",
        "the greeting of a|b │    line 1    │       12",
        "日本語              │ here | there │    1,234",
        "short               │              │",
        "After.",
    ]


@pytest.mark.parametrize("size", [1, 3, 17])
def test_it_looks_the_same_in_whatever_pieces_it_comes(size):
    assert shown(TABLE, size=size) == shown(TABLE)


def test_what_does_not_fit_goes_on_in_its_own_column():
    assert shown("| a | b |\n|-|-|\n| one two three four five | x |\n", width=20) == [
        "a                │ b",
        "─────────────────┼──",
        "one two three    │ x",
        "four five        │",
    ]


def test_where_there_is_no_room_for_columns_the_rows_stand_as_they_are():
    rows = ["| " + " | ".join("wide word" for _ in range(9)) + " |", "|" + "-|" * 9]
    assert shown("\n".join(rows), width=40) == rows
    assert shown("| no table |\nend") == ["| no table |", "end"]


def test_a_table_that_grows_is_seen_before_it_ends_and_nothing_is_said_into_it():
    one = reply()
    assert one.feed("| a | b |\n|---|---|\n| c | d |\n| e") == []
    assert one.tail() == ["a │ b", "──┼──", "c │ d", "| e"]
    assert not one.is_between


def test_a_table_without_end_is_not_waited_for():
    assert len(shown("| a | b |\n|-|-|\n" + "| c | d |\n" * MOST_ROWS)) == MOST_ROWS + 2
    assert reply().feed("| a | b |\n|-|-|\n" + "| c | d |\n" * MOST_ROWS)


@given(st.lists(st.lists(WORDS, min_size=1, max_size=5), min_size=1, max_size=6), st.integers(20, 100))
def test_no_row_is_wider_than_the_screen_and_no_letter_is_lost(rows, width):
    head = "|" + "h|" * max(map(len, rows))
    lines = shown("\n".join([head, "|" + "-|" * max(map(len, rows)), *(f"|{'|'.join(row)}|" for row in rows)]), width)
    letters = [sum(line.count(letter) for line in lines) for letter in "abé日"]
    assert letters == [sum(cell.count(letter) for row in rows for cell in row) for letter in "abé日"]
    if "─" in lines[1]:
        assert all(cells(line) <= width for line in lines)
