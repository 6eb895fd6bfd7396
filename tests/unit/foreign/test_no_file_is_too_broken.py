"""Whatever became of a file, its reader ends, and what it gives can be sent on every wire."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.dialect import DIALECTS
from headway.foreign.claude_code import read_claude_code
from headway.foreign.codex import read_codex
from headway.foreign.opencode import read_opencode
from headway.history.invariants import violations
from headway.history.project import project
from headway.messages import ModelRequest, user
from support.foreign import FILES

READERS = {"claude-code": read_claude_code, "codex": read_codex}
LINES = {source: FILES[source].read_bytes().splitlines(keepends=True) for source in READERS}
EXPORT = json.loads(FILES["opencode"].read_text(encoding="utf-8"))
JUNK = st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.just([]) | st.just({}) | st.just([None, 1])


def can_be_sent(session) -> bool:
    request = ModelRequest("", (*session.messages, user("continue")))
    sent = {name: project(request, dialect).request for name, dialect in DIALECTS.items()}
    return not any(violations(one, DIALECTS[name]) for name, one in sent.items())


@st.composite
def spoilt(draw, value):
    """Return a value of which something, somewhere, is something else."""
    path, here = [], value
    while isinstance(here, dict | list) and here and (not path or draw(st.integers(0, 3))):
        path.append(draw(st.sampled_from(sorted(here) if isinstance(here, dict) else range(len(here)))))
        here = here[path[-1]]
    whole = json.loads(json.dumps(value))
    place = whole
    for key in path[:-1]:
        place = place[key]
    if path:
        place[path[-1]] = draw(JUNK)
    return whole


@pytest.mark.parametrize("source", READERS)
@given(st.data())
def test_a_file_may_end_at_any_byte(source, data):
    whole = b"".join(LINES[source])
    cut = whole[: data.draw(st.integers(0, len(whole)))]
    session = READERS[source](cut.splitlines(keepends=True))
    assert can_be_sent(session)


@pytest.mark.parametrize("source", READERS)
@given(st.data())
def test_lines_may_be_lost_repeated_and_in_disorder(source, data):
    lines = data.draw(st.lists(st.sampled_from([*LINES[source], b"\x00\xff\n", b"[1]\n", None])))
    assert can_be_sent(READERS[source](lines))


@pytest.mark.parametrize("source", READERS)
@given(st.data())
def test_any_value_of_a_line_may_be_another(source, data):
    at = data.draw(st.integers(0, len(LINES[source]) - 2))
    line = json.dumps(data.draw(spoilt(json.loads(LINES[source][at])))).encode() + b"\n"
    assert can_be_sent(READERS[source]([*LINES[source][:at], line, *LINES[source][at + 1 :]]))


@given(spoilt(EXPORT))
def test_any_value_of_an_export_may_be_another(value):
    if isinstance(value, dict | list):
        assert can_be_sent(read_opencode(value))
