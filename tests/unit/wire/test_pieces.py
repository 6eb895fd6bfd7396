"""Text that grows by a token at a time."""

from hypothesis import given
from hypothesis import strategies as st

from headway.wire import pieces
from headway.wire.pieces import Pieces


@given(st.lists(st.text(max_size=3)), st.integers(0, 20))
def test_the_text_is_its_pieces_in_order_whenever_it_is_asked_for(texts, asked_after):
    grown = Pieces()
    for number, text in enumerate(texts):
        grown.add(text)
        if number == asked_after:
            assert grown.text() == "".join(texts[: number + 1])
    assert grown.text() == grown.text() == "".join(texts)


def test_so_many_that_they_are_joined_on_the_way_change_nothing():
    grown = Pieces()
    count = 3 * pieces.JOINED_AT_ONCE + 1
    for number in range(count):
        grown.add(f"{number},")
    assert grown.text() == "".join(f"{number}," for number in range(count))


def test_there_is_something_as_soon_as_a_piece_has_come():
    grown = Pieces()
    assert not grown
    grown.add("a")
    assert grown
    grown.text()
    assert grown
