"""A secret is not shown by any of the ways things get shown."""

import copy
import logging
import pickle

import msgspec
import pytest

from headway.providers.secret import Secret

KEY = "sk-very-secret"
SECRET = Secret(KEY, "env:MAIN_KEY")


def test_a_secret_is_shown_by_its_name_only():
    shown = [repr(SECRET), str(SECRET), f"{SECRET}", f"{SECRET:>40}", f"{[SECRET]}", "%s" % SECRET]  # noqa: UP031
    assert not [text for text in shown if KEY in text]
    assert all("env:MAIN_KEY" in text for text in shown)
    assert KEY not in repr(Secret(KEY))


def test_a_secret_is_not_logged(caplog):
    logging.getLogger("headway").warning("key %s %r", SECRET, {"key": SECRET})
    assert KEY not in caplog.text


def test_a_secret_is_not_written_down():
    for write in (pickle.dumps, copy.deepcopy, msgspec.json.encode, msgspec.to_builtins):
        with pytest.raises(TypeError):
            write(SECRET)


def test_a_secret_is_not_in_what_a_traceback_shows_of_it():
    assert not hasattr(SECRET, "__dict__")


def test_secrets_compare_by_value_whatever_the_other_side_sends():
    assert Secret("a", "one") == Secret("a", "two")
    assert Secret("a") != Secret("b")
    assert Secret("a") != "a"
    assert SECRET.matches(KEY)
    assert not SECRET.matches("\udcff")
    assert SECRET.reveal() == KEY
