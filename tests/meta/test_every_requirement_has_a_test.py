"""Every behaviour of the table of requirements has a test that names it (`@row(18)`), so that none is lost."""

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
SPECS = sorted((TESTS / "spec").glob("test_*.py"))
ROWS = frozenset(range(1, 51))


def rows_of(test: ast.FunctionDef | ast.AsyncFunctionDef) -> set[int]:
    """Return the rows that a test is marked with."""
    marks = (one for one in test.decorator_list if isinstance(one, ast.Call) and ast.unparse(one.func) == "row")
    return {ast.literal_eval(argument) for mark in marks for argument in mark.args}


@cache
def proofs() -> dict[int, list[str]]:
    """Return, for each row, the tests that are marked with it."""
    found = defaultdict(list)
    for path in SPECS:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                for number in rows_of(node):
                    found[number].append(f"{path.name}::{node.name}")
    return found


@pytest.mark.parametrize("number", sorted(ROWS))
def test_every_requirement_has_a_test(number):
    assert proofs()[number], f"no test in tests/spec is marked with @row({number})"


def test_no_mark_names_a_row_that_is_not_there():
    assert set(proofs()) <= ROWS


def test_only_tests_carry_marks():
    """A mark on anything else would count, and never run."""
    assert [name for names in proofs().values() for name in names if "::test_" not in name] == []
