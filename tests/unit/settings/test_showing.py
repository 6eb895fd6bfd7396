"""The page, the example, the schema and the list of values in force: all of one table, none with a secret."""

from pathlib import Path

import msgspec
import pytest

from headway.settings import plan_for
from headway.settings.environment import variables
from headway.settings.reference import example, settings_page
from headway.settings.schema import Settings
from headway.settings.showing import json_schema, rows

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "settings.md"


def test_the_page_says_what_the_tables_say():
    assert PAGE.read_text(encoding="utf-8") == settings_page(), "run `make docs`"


def test_the_example_works_as_it_is_written(desk):
    desk.environ = {"ANTHROPIC_API_KEY": "a", "ANTHROPIC_API_KEY_2": "b", "HEADWAY_KEY": "h"}
    desk.write("w", desk.project / "work.key")
    loaded = desk.load(example())
    plan = plan_for(loaded)
    assert [link.name for link in plan.chain] == [
        "anthropic/claude-sonnet-4-6",
        "work/gpt-5.5",
        "house/qwen3-coder-30b",
    ]
    assert plan.notices == ()
    assert plan_for(loaded, "quick").policy.attempts == 4


def test_the_example_leaves_out_no_table_and_says_the_defaults(desk):
    loaded = desk.load(example())
    assert not [name for name in Settings.__struct_fields__ if f"[{name}" not in example()]
    for name in ("gateway", "agent", "limits"):
        table = getattr(loaded.settings, name)
        for field in msgspec.structs.fields(table):
            assert f"\n{field.name} =" in example(), field.name
            if field.default is not None and field.name != "keys":
                assert getattr(table, field.name) == field.default, field.name


def test_every_value_in_force_is_listed_with_where_it_came_from(desk):
    desk.environ = {"ANTHROPIC_API_KEY": "sk-very-secret", "HEADWAY_LIMITS_ATTEMPTS": "4"}
    listed = {row.key: (row.value, str(row.origin)) for row in rows(desk.load("[limits]\nturn_seconds = 60\n"))}
    assert listed["limits.attempts"] == ("4", "HEADWAY_LIMITS_ATTEMPTS")
    assert listed["limits.turn_seconds"] == ("60.0", str(desk.project / "headway.toml"))
    assert listed["limits.silence_seconds"] == ("as needed", "default")
    assert listed["providers.anthropic.keys"] == ('["env:ANTHROPIC_API_KEY"]', "ANTHROPIC_API_KEY")
    assert listed["routes.default.chain"] == ('["anthropic"]', "made of the providers that have keys")
    assert "sk-very-secret" not in str(listed)


def test_passwords_and_headers_are_masked(desk):
    text = '[agent]\nallow = ["shell(curl https://me:hunter2@h/x)"]\n[providers.openai.headers]\nx-token = "hunter2"\n'
    listed = {row.key: row.value for row in rows(desk.load(text))}
    assert listed["agent.allow"] == '["shell(curl https://me:••••@h/x)"]'
    assert listed["providers.openai.headers"] == "x-token: ••••"


def test_what_an_address_asks_for_is_masked_as_it_may_be_a_token(desk):
    text = '[mcp.far]\nurl = "https://host/mcp?token=hunter2&x=1"\n[providers.p]\nwire = "chat"\n'
    listed = {row.key: row.value for row in rows(desk.load(f'{text}base_url = "https://h/v1?api_key=hunter2"\n'))}
    assert listed["mcp.far.url"] == '"https://host/mcp?••••"'
    assert listed["providers.p.base_url"] == '"https://h/v1?••••"'


def test_editors_get_a_schema_of_every_key():
    text = msgspec.json.encode(json_schema()).decode()
    assert '"additionalProperties":false' in text
    for key in ("silence_seconds", "stay_home", "approve", "base_url"):
        assert f'"{key}"' in text
    assert "Bytes, but nothing more said." in text


@pytest.mark.parametrize("name", sorted(variables()))
def test_every_variable_stands_for_a_key_of_a_fixed_table(name):
    section, key, _ = variables()[name]
    assert hasattr(getattr(Settings(), section), key)
