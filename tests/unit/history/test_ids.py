"""Ids and names that fit: hashes of the old ones, so that the same history gives the same ids."""

import string

import pytest
from msgspec.structs import replace

from headway.dialect import CHAT, DIALECTS
from headway.history.ids import IdBook, fits, fitting_name, hashed, name_fits
from support.histories import EVERY_DIALECT, NINE


@pytest.mark.parametrize("dialect", EVERY_DIALECT.values(), ids=EVERY_DIALECT.keys())
@pytest.mark.parametrize("old", ["", " ", "bad id!", "x" * 500, "ünï", "\ud800", "call_1"])
def test_a_hashed_id_fits_every_dialect(dialect, old):
    assert fits(hashed(old, 1, dialect), dialect)


def test_an_id_that_fits_and_is_new_stays():
    assert IdBook(CHAT, ["a"]).give("a") == "a"


def test_an_id_met_again_is_another_and_always_the_same_one():
    given = [[book.give("a") for _ in range(3)] for book in (IdBook(CHAT, ["a"]), IdBook(CHAT, ["a"]))]
    assert given[0] == given[1]
    assert len(set(given[0])) == 3


def test_a_new_id_is_never_one_that_is_there_already():
    taken = hashed("bad id!", 1, CHAT)
    assert IdBook(CHAT, ["bad id!", taken]).give("bad id!") not in ("bad id!", taken)


def test_ten_thousand_ids_of_nine_characters_do_not_meet():
    book = IdBook(NINE, [])
    assert len({book.give(f"toolu_{number}") for number in range(10_000)}) == 10_000


def test_a_narrow_alphabet_is_kept_to():
    digits = replace(CHAT, id_alphabet="0-9", id_max=12)
    assert set(hashed("call_1", 1, digits)) <= set(string.digits)


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS.keys())
@pytest.mark.parametrize("name", ["functions.read", "read file", "ünï", "x" * 500])
def test_a_fitting_name_fits(dialect, name):
    assert name_fits(fitting_name(name, dialect), dialect)
