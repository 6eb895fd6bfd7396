"""Patterns of names: what they fit, and that no pattern takes long."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.agent.tools.globs import Glob
from headway.agent.tools.ignoring import Ignoring


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("*.py", "a.py", True),
        ("*.py", "deep/down/a.py", True),
        ("*.py", "a.pyc", False),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/deep/a.py", False),
        ("src/**/*.py", "src/a.py", True),
        ("src/**/*.py", "src/very/deep/a.py", True),
        ("src/**", "src/very/deep/a.py", True),
        ("**/test/**/x", "a/test/b/c/x", True),
        ("**/test/**/x", "a/b/c/x", False),
        ("/top", "top", True),
        ("/top", "not/top", False),
        ("*.{ts,tsx}", "a.tsx", True),
        ("{a,b}/{c,d}", "b/c", True),
        ("{a,b}/{c,d}", "c/b", False),
        ("[a-c]?", "b1", True),
        ("[!a-c]?", "b1", False),
        ("a.b", "axb", False),
        ("{a}", "{a}", True),
    ],
)
def test_patterns_fit_what_people_mean(pattern, path, fits):
    assert Glob(pattern).fits(path.split("/")) is fits


@pytest.mark.parametrize(
    ("pattern", "path"),
    [("*a" * 60 + "b", "a" * 200), ("**/a/" * 40 + "b", "a/" * 200 + "c"), ("{a,b}" * 40, "a" * 40)],
)
def test_no_pattern_takes_long(pattern, path):
    began = time.monotonic()
    Glob(pattern).fits(path.split("/"))
    assert time.monotonic() - began < 1


@given(
    st.text(st.sampled_from("ab*?[]!{},/."), max_size=20),
    st.lists(st.text(st.sampled_from("ab."), min_size=1), min_size=1),
)
def test_every_text_is_a_pattern(pattern, path):
    Glob(pattern).fits(path)


@given(st.lists(st.sampled_from(["a", "b"]), min_size=1, max_size=8), st.data())
def test_two_stars_stand_for_any_directories(path, data):
    """A path fits its own pattern when any run of its directories is written as two stars."""
    start = data.draw(st.integers(0, len(path) - 1))
    end = data.draw(st.integers(start, len(path) - 1))
    pattern = [*path[:start], "**", *path[end:]]
    assert Glob("/" + "/".join(pattern)).fits(path)


@pytest.mark.parametrize(
    ("rules", "path", "is_directory", "ignored"),
    [
        ("*.o", "deep/x.o", False, True),
        ("*.o\n!x.o", "x.o", False, False),
        ("!x.o\n*.o", "x.o", False, True),
        ("build/", "build", True, True),
        ("build/", "build", False, False),
        ("/build", "src/build", True, False),
        ("src/build", "src/build", True, True),
        ("docs/**/*.pdf", "docs/a/b/c.pdf", False, True),
        ("# comment\n\n  \n", "comment", False, False),
        ("\\#odd", "#odd", False, True),
        ("\\!odd", "!odd", False, True),
        ("", ".git", True, True),
        ("", "sub/.git", True, True),
        ("", ".github", True, False),
    ],
)
def test_ignore_files_say_what_they_say_to_git(rules, path, is_directory, ignored):
    assert Ignoring().with_file((), rules).ignores(path.split("/"), is_directory=is_directory) is ignored


def test_deeper_ignore_files_speak_last_and_only_of_their_own():
    rules = Ignoring().with_file((), "*.log").with_file(("src",), "!*.log\n/only-here")
    assert rules.ignores(("a.log",), is_directory=False)
    assert not rules.ignores(("src", "a.log"), is_directory=False)
    assert rules.ignores(("src", "only-here"), is_directory=False)
    assert not rules.ignores(("src", "deep", "only-here"), is_directory=False)
