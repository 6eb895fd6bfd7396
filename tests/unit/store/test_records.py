"""What is written comes back exactly, whatever it holds; what cannot be read is kept."""

import json
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from headway.failure import InvalidInput
from headway.messages import Message, Raw, Text
from headway.store.batch import HELD_CHARACTERS, HELD_SECONDS, Batch
from headway.store.ids import is_fit, session_id
from headway.store.records import (
    ArgumentsReceived,
    AttemptBroken,
    Imported,
    Record,
    TextReceived,
    TurnBegan,
    Unreadable,
    UserSaid,
)
from headway.store.rows import Row, entry_of, row_of
from support.histories import broken_histories
from support.journals import EVERY_KIND

FORMAT_1 = Path(__file__).with_name("format_1.jsonl")


def test_every_kind_of_record_has_a_sample():
    kinds = get_args(Record)
    assert [type(record) for record in EVERY_KIND] == sorted({*kinds}, key=[type(r) for r in EVERY_KIND].index)


@pytest.mark.parametrize("record", EVERY_KIND, ids=lambda record: type(record).__name__)
def test_a_record_comes_back_as_it_was(record):
    row = row_of(3, 12.5, record)
    assert json.loads(row.body)["kind"] == row.kind
    assert entry_of(row).record == record
    assert row_of(3, 12.5, entry_of(row).record) == row


def test_the_records_of_format_1_are_read_for_ever():
    written = FORMAT_1.read_text(encoding="utf-8").splitlines()
    assert [row_of(1, 0.0, record).body for record in EVERY_KIND] == written
    assert [entry_of(Row(1, 0.0, "", line)).record for line in written] == list(EVERY_KIND)


@given(broken_histories)
def test_histories_that_others_broke_come_back_as_they_were(messages):
    record = Imported(messages, "elsewhere")
    assert entry_of(row_of(1, 0.0, record)).record == record


@pytest.mark.parametrize("text", ["half \ud83d", "\udcff from argv", "\x00", "\u2028", "😀", "\\ud800"])
def test_characters_that_nobody_accepts_come_back_as_they_were(text):
    record = UserSaid(Message("user", (Text(text, Raw("chat", {"text": text, "big": 10**30})),)))
    row = row_of(1, 0.0, record)
    row.body.encode()
    assert entry_of(row).record == record


def test_a_record_nested_beyond_reason_is_refused_in_words():
    deep = {}
    for _ in range(100_000):
        deep = {"a": deep}
    with pytest.raises(InvalidInput, match="nested too deeply"):
        row_of(1, 0.0, UserSaid(Message("user", (), Raw("chat", deep))))


@pytest.mark.parametrize(
    "body",
    [
        '{"kind":"telepathy_received","turn":1}',
        '{"kind":"turn_ended","turn":1,"how":"bored"}',
        '{"kind":"user_said"}',
        '{"kind":"user_said","mess',
        "[" * 100_000,
        "",
    ],
)
def test_what_this_headway_cannot_read_is_kept_and_passed_over(body):
    assert entry_of(Row(1, 0.0, "telepathy_received", body)).record == Unreadable("telepathy_received", body)


def test_a_field_that_this_headway_does_not_know_does_no_harm():
    body = '{"kind":"turn_began","turn":2,"route":"fast","mood":"good"}'
    assert entry_of(Row(1, 0.0, "turn_began", body)).record == TurnBegan(2, "fast")


@given(st.floats(0, 3e10), st.floats(0, 3e10), st.floats(0, 1), st.floats(0, 1))
def test_names_of_sessions_sort_by_time_and_fit(one, other, luck, more_luck):
    first, second = session_id(one, luck), session_id(other, more_luck)
    assert is_fit(first)
    assert len(first) == 12
    if int(one) != int(other):
        assert (first < second) == (one < other)


def test_names_differ_by_chance_within_a_second():
    assert session_id(1760000000.1, 0.25) != session_id(1760000000.9, 0.75)


@pytest.mark.parametrize("name", ["", "../up", "a/b", "-a", ".a", "a" * 65, "a b", "ä", "a\n"])
def test_a_name_that_would_be_no_safe_file_is_not_fit(name):
    assert not is_fit(name)


deltas = st.one_of(
    st.builds(TextReceived, st.integers(1, 2), st.text(max_size=5)),
    st.builds(
        ArgumentsReceived, st.integers(1, 2), st.integers(0, 1), st.just("c"), st.just("run"), st.text(max_size=5)
    ),
    st.just(TurnBegan(1)),
    st.just(next(record for record in EVERY_KIND if isinstance(record, AttemptBroken))),
)


@given(st.lists(deltas, max_size=30))
def test_a_batch_keeps_every_character_in_order(given_deltas):
    batch = Batch()
    for delta in given_deltas:
        batch.add(delta, 0.0)
    assert list(_letters(batch.take())) == list(_letters(given_deltas))
    assert not batch


def _letters(several):
    """Take deltas apart into single characters, so that it does not matter how they were put together."""
    for delta in several:
        if isinstance(delta, TextReceived | ArgumentsReceived):
            yield from (replace(delta, text=letter) for letter in delta.text)
        else:
            yield delta


def test_a_batch_is_due_by_age_or_by_size():
    batch = Batch()
    assert not batch.is_due(1e9)
    batch.add(TextReceived(1, "a"), 10.0)
    batch.add(TextReceived(1, "b"), 10.0 + HELD_SECONDS / 2)
    assert not batch.is_due(10.0 + HELD_SECONDS / 2)
    assert batch.is_due(10.0 + HELD_SECONDS)
    assert batch.take() == [TextReceived(1, "ab")]
    batch.add(TextReceived(1, "x" * HELD_CHARACTERS), 20.0)
    assert batch.is_due(20.0)
