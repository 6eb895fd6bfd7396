"""`read_file`: lines within bounds, a hash to hold on to, and words for what cannot be read."""

import re

import pytest

from headway.agent.tools.files import MOST_FILE_BYTES, content_hash


def body(answer):
    return answer.split("\n", 1)[1]


def test_a_file_comes_back_with_its_facts_and_its_hash(hand, root):
    (root / "a.txt").write_text("one\ntwo\n")
    answer = hand.does("read_file", path="a.txt")
    assert (
        answer == f"[a.txt: lines 1-2 of 2; hash {content_hash(b'one' + bytes([10]) + b'two' + bytes([10]))}]\none\ntwo"
    )


def test_lines_can_be_numbered_and_chosen(hand, root):
    (root / "a.txt").write_text("".join(f"line {number}\n" for number in range(1, 101)))
    answer = hand.does("read_file", path="a.txt", offset=98, limit=2, line_numbers=True)
    assert "lines 98-99 of 100" in answer
    assert "go on with offset=100" in answer
    assert body(answer) == "    98\tline 98\n    99\tline 99"
    assert "go on" not in hand.does("read_file", path="a.txt", offset=100)
    assert "only 100 lines" in hand.does("read_file", path="a.txt", offset=101)


@pytest.mark.parametrize(
    ("data", "facts"),
    [
        (b"", "empty; hash"),
        (b"x", "lines 1-1 of 1; hash .*; no newline at its end"),
        (b"\n", "lines 1-1 of 1; hash [0-9a-f]{12}]"),
        (b"a\r\nb\r\n", "lines 1-2 of 2; hash .*; lines end in CRLF]"),
    ],
)
def test_what_cannot_be_seen_is_said(hand, root, data, facts):
    (root / "a.txt").write_bytes(data)
    assert re.search(facts, hand.does("read_file", path="a.txt"))


def test_reading_in_parts_gives_every_line_once(hand, root):
    hand.limits(read_characters=500)
    lines = [f"{number} {'x' * (number % 90)}" for number in range(1, 201)]
    (root / "a.txt").write_text("\n".join(lines))
    read, offset = [], 1
    while offset:
        answer = hand.does("read_file", path="a.txt", offset=offset)
        assert len(body(answer)) <= 500
        read += body(answer).split("\n")
        more = re.search(r"go on with offset=(\d+)", answer)
        offset = int(more[1]) if more else 0
    assert read == lines


def test_a_line_without_end_is_cut_with_a_note(hand, root):
    (root / "min.js").write_text("x" * 100_000)
    answer = hand.does("read_file", path="min.js")
    assert len(answer) < 2_300
    assert "the line has 100,000 characters" in answer


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"%PDF-1.7\n\0", "a PDF document"),
        (b"abc\0def", "binary data"),
        ("text".encode("utf-16"), "text in UTF-16"),
        ("café".encode("latin-1"), "not UTF-8 text (byte 3"),
    ],
)
def test_what_is_no_text_is_refused_in_words(hand, root, data, told):
    (root / "a").write_bytes(data)
    assert told in hand.fails("read_file", path="a")
    assert told in hand.fails("edit_file", path="a", old="a", new="b")


def test_what_is_too_large_is_refused_with_the_way_to_see_a_part(hand, root):
    with (root / "huge").open("wb") as file:
        file.truncate(MOST_FILE_BYTES + 1)
    assert "too large" in hand.fails("read_file", path="huge")


def test_a_missing_file_is_answered_with_the_ones_that_were_meant(hand, root):
    (root / "src").mkdir()
    (root / "src" / "settings.py").write_text("")
    assert "Did you mean `src/settings.py`?" in hand.fails("read_file", path="src/setting.py")
    assert "Did you mean `src`?" in hand.fails("list_files", path="scr")
    assert hand.fails("read_file", path="quite/other") == "`quite/other` does not exist."
    assert "is a directory" in hand.fails("read_file", path="src")
    assert "is a directory" in hand.fails("read_file", path=".")
    assert "not a directory" in hand.fails("read_file", path="src/settings.py/x")
