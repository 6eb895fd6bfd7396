"""Each value of a file is shown with the line it stands on, however the file writes it."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.settings.key_lines import key_lines
from headway.settings.reference import example
from headway.settings.showing import rows

TEXT = """\
# a comment
[providers.work]
keys = [
  "env:A", # one
  "env:B",
]
headers = { x-team = "search", "x.odd" = "1" }

[providers."a.b".limits]
silence_seconds = 3   # three

[routes]
default.chain = ["work/m"]
[agent]
allow = ['''shell(a
b)''']
steps = 7
"""


def test_every_way_to_write_a_key_has_its_line(tmp_path):
    path = tmp_path / "headway.toml"
    path.write_text(TEXT)
    lines = key_lines(path)
    assert {key: line for key, line in lines.items() if key[-1] != "x.odd"} == {
        ("providers", "work", "keys"): 3,
        ("providers", "work", "headers"): 7,
        ("providers", "work", "headers", "x-team"): 7,
        ("providers", "a.b", "limits", "silence_seconds"): 10,
        ("routes", "default"): 13,
        ("routes", "default", "chain"): 13,
        ("agent", "allow"): 15,
        ("agent", "steps"): 17,
    }


def test_values_in_force_name_the_file_and_the_line(desk):
    desk.environ = {"HEADWAY_LIMITS_ATTEMPTS": "4"}
    loaded = desk.load("[limits]\n\nturn_seconds = 60\n")
    places = {row.key: row.place for row in rows(loaded)}
    assert places["limits.turn_seconds"] == f"{desk.project / 'headway.toml'}:3"
    assert places["limits.attempts"] == "HEADWAY_LIMITS_ATTEMPTS"
    assert places["limits.silence_seconds"] == "default"


def test_every_value_of_the_example_is_found_where_it_stands(desk):
    path = desk.write(example())
    text = path.read_text(encoding="utf-8").splitlines()
    found = [row for row in rows(desk.load()) if row.origin.name == str(path)]
    assert len(found) > 40
    for row in found:
        assert row.line is not None, row.key
        assert row.key.rpartition(".")[2] in text[row.line - 1], row.key


def test_a_file_that_is_gone_has_no_lines(tmp_path):
    assert key_lines(tmp_path / "gone.toml") == {}


@given(st.text())
def test_whatever_a_file_holds_nothing_is_raised(tmp_path_factory, text):
    path = Path(tmp_path_factory.getbasetemp()) / "any.toml"
    path.write_text(text, encoding="utf-8", errors="replace", newline="")
    key_lines(path)


@pytest.mark.parametrize("name", ["x-token", "authorization-like"])
def test_what_is_said_for_programs_is_masked_too(desk, name):
    loaded = desk.load(
        f'[agent]\nallow = ["shell(curl https://me:hunter2@db/x)"]\n[providers.openai.headers]\n{name} = "hunter2"\n'
    )
    assert "hunter2" not in str([row.said for row in rows(loaded)])


def test_servers_of_tools_are_shown_with_their_lines_and_without_their_secrets(desk):
    loaded = desk.load('[mcp.files]\ncommand = ["serve"]\nenv = { MODE = "hunter2" }\n')
    found = {row.key: row for row in rows(loaded)}
    assert found["mcp.files.command"].line == 2
    assert (found["mcp.files.env"].value, found["mcp.files.env"].line) == ("MODE: ••••", 3)
