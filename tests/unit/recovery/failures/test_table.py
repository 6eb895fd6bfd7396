"""What must hold of the table itself, whatever rows it has."""

import re
from pathlib import Path

import pytest

import headway.recovery.failures
from headway.failure import FailureKind, Plan
from headway.recovery.failures.evidence import evidence_of
from headway.recovery.failures.facts import Facts
from headway.recovery.failures.policy import POLICIES
from headway.recovery.failures.table import ALIASES, BY_PLACE, NAMES, PROXIES, ROWS, SHAPES

HERE = Path(headway.recovery.failures.__file__).parent


def test_every_kind_has_a_policy():
    assert set(POLICIES) == set(FailureKind)


def test_the_last_row_takes_everything_and_no_other_row_does():
    nothing = evidence_of(Facts())
    assert [row for row in ROWS if row.matches(nothing)] == [BY_PLACE[-1]]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.kind.value}: {row.meaning}"[:80])
def test_a_row_can_be_read_by_a_person_and_a_machine(row):
    assert row.meaning[0].islower() or row.meaning.startswith("TLS")
    assert row.plan is not row.then
    for pattern in (row.code, row.finish, row.unless, *(group for groups in row.says for group in groups)):
        re.compile(pattern)


def test_a_filter_never_stays_with_its_provider():
    assert {row.plan for row in ROWS if row.kind is FailureKind.CONTENT_FILTERED} == {Plan.FAILOVER_NOW}


def test_a_repair_is_named_where_the_history_is_refused():
    refused = {FailureKind.HISTORY_REFUSED, FailureKind.PARAMETER_REFUSED}
    assert all(row.repair for row in ROWS if row.kind in refused)


def test_rows_name_only_vendors_that_have_a_name():
    assert {row.vendor for row in ROWS if row.vendor} <= set(NAMES)
    assert set(ALIASES.values()) <= {"", *NAMES}
    assert not set(ALIASES) & set(NAMES)
    assert {vendor for _, vendor in SHAPES} | PROXIES <= set(NAMES)


@pytest.mark.parametrize(
    "module", ["facts", "evidence", "unwrap", "rows", "hints", "reasons", "classify", "records", "vendors"]
)
def test_no_vendor_is_named_outside_the_table(module):
    text = (HERE / f"{module}.py").read_text().lower()
    assert not [name for name in NAMES if re.search(rf"\b{name}\b", text) and name != "together"]


@pytest.mark.parametrize("path", sorted(HERE.glob("about_*.py")), ids=lambda path: path.name)
def test_rows_of_meaning_name_no_vendor(path):
    text = path.read_text().lower()
    assert not [name for name in NAMES if re.search(rf"\b{name}\b", text) and name != "together"]
