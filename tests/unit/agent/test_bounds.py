"""Bounded output: the first and the last of it, and an honest number between them."""

import re

from hypothesis import given
from hypothesis import strategies as st

from headway.agent.tools.bounds import Spool, clip, shorten, shorten_lines


@given(st.lists(st.text(max_size=30), max_size=30), st.integers(1, 100))
def test_a_spool_keeps_both_ends_however_the_text_comes(pieces, most):
    spool, whole = Spool(most), "".join(pieces)
    for piece in pieces:
        spool.write(piece)
    kept = spool.text()
    assert kept == clip(whole, most)
    if len(whole) <= most:
        assert kept == whole
    else:
        note = re.search(r"\n\[… ([\d,]+) characters left out …\]\n", kept)
        head, tail = kept[: note.start()], kept[note.end() :]
        assert whole.startswith(head)
        assert whole.endswith(tail)
        assert len(head) + len(tail) == most
        assert int(note[1].replace(",", "")) == len(whole) - most


def test_a_bound_of_nothing_still_says_how_much_was_left_out():
    assert clip("x" * 1_001, 0) == "\n[… 1,000 characters left out …]\nx"


def test_long_lines_are_cut_and_short_ones_are_not():
    assert shorten("x" * 10, 10) == "x" * 10
    assert shorten_lines(f"a\n{'x' * 50}\nb", 10) == f"a\n{'x' * 10}… [cut: the line has 50 characters]\nb"
