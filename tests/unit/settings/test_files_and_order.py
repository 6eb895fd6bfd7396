"""Which files are read, what counts before what, and what is said about a file that cannot be read."""

from pathlib import Path

import pytest

from headway.settings import From, Settings, Surroundings, load
from headway.settings.toml_files import MOST_BYTES


def test_no_file_is_no_mistake(desk):
    loaded = desk.load()
    assert loaded.settings == Settings()
    assert loaded.files == ()


def test_the_projects_file_counts_before_the_users_key_by_key(desk):
    own = desk.write_own("[limits]\nattempts = 2\nturn_seconds = 60\n")
    loaded = desk.load("[limits]\nattempts = 4\n")
    assert (loaded.settings.limits.attempts, loaded.settings.limits.turn_seconds) == (4, 60)
    assert loaded.origin("limits", "attempts").name == str(desk.project / "headway.toml")
    assert loaded.origin("limits", "turn_seconds").name == str(own)
    assert loaded.origin("limits", "silence_seconds").kind is From.DEFAULT
    assert loaded.files == (desk.project / "headway.toml", own)


def test_the_environment_counts_before_files_and_a_flag_before_both(desk):
    desk.environ = {"HEADWAY_LIMITS_ATTEMPTS": "5", "HEADWAY_AGENT_APPROVE": "edits"}
    text = '[limits]\nattempts = 4\n[agent]\napprove = "ask"\n'
    loaded = desk.load(text, flags={"agent.approve": "auto", "agent.steps": None})
    assert (loaded.settings.limits.attempts, loaded.settings.agent.approve) == (5, "auto")
    assert str(loaded.origin("limits", "attempts")) == "HEADWAY_LIMITS_ATTEMPTS"
    assert str(loaded.origin("agent", "approve")) == "--approve"


def test_config_is_read_instead_of_the_usual_files(desk):
    desk.write_own("[limits]\nattempts = 2\n")
    desk.write("[limits]\nattempts = 3\n")
    other = desk.write("[limits]\nturn_seconds = 9\n", desk.project / "lab" / "other.toml")
    for loaded in (desk.load(config=other), desk.load(config=Path("lab/other.toml"))):
        assert (loaded.settings.limits.attempts, loaded.settings.limits.turn_seconds) == (None, 9)
    desk.environ["HEADWAY_CONFIG"] = str(other)
    assert desk.load().files == (other,)
    assert desk.load(config=Path("headway.toml")).settings.limits.attempts == 3


def test_an_entry_comes_whole_from_one_file(desk):
    """Else a project's file could lead the keys of the user's file to an address of its own."""
    desk.write_own('[providers.main]\nwire = "chat"\nbase_url = "https://mine.example"\nkeys = ["env:MINE"]\n')
    loaded = desk.load('[providers.main]\nwire = "chat"\nbase_url = "https://theirs.example"\n')
    assert loaded.settings.providers["main"].keys is None
    assert ("providers", "main", "keys") not in loaded.origins


@pytest.mark.parametrize(
    ("platform", "environ", "folder"),
    [
        ("linux", {}, "home/.config/headway"),
        ("linux", {"XDG_CONFIG_HOME": "/xdg"}, "/xdg/headway"),
        ("linux", {"XDG_CONFIG_HOME": "relative"}, "home/.config/headway"),
        ("darwin", {"XDG_CONFIG_HOME": "/xdg"}, "home/Library/Application Support/headway"),
        ("win32", {"APPDATA": "/roaming"}, "/roaming/headway"),
        ("linux", {"HEADWAY_HOME": "/own", "XDG_CONFIG_HOME": "/xdg"}, "/own"),
    ],
)
def test_the_users_folder_is_where_the_system_keeps_such_things(platform, environ, folder):
    around = Surroundings(environ, Path("project"), Path("home"), platform)
    assert around.config_folder == Path(folder)


def test_sessions_are_kept_in_the_users_data_unless_said_otherwise(desk):
    assert desk.load().store_url == f"sqlite:{desk.home}/.local/share/headway/headway.db"
    assert desk.load('[store]\nurl = "sqlite:mine.db"\n').store_url == f"sqlite:{desk.project}/mine.db"
    desk.environ["HEADWAY_STORE_URL"] = "sqlite:/elsewhere/s.db"
    assert desk.load().store_url == "sqlite:/elsewhere/s.db"


@pytest.mark.parametrize("url", ["postgresql://me:hunter2@db/x", "mysql://x", "env:DB", "sqlite:", "sessions.db"])
def test_sessions_are_kept_in_an_sqlite_file_and_nowhere_else(desk, url):
    said = str(desk.refuses(f'[store]\nurl = "{url}"\n'))
    assert "store.url: it names no store that Headway knows. Sessions are kept in an SQLite file" in said
    assert "hunter2" not in said


def test_a_file_that_is_not_there_is_named(desk):
    missing = desk.project / "missing.toml"
    assert str(desk.refuses(config=missing)) == f"{missing}: there is no such file. Check the path after --config."
    desk.environ["HEADWAY_CONFIG"] = "missing.toml"
    assert str(desk.refuses()) == f"{missing}: there is no such file. Check the variable HEADWAY_CONFIG."


def test_a_folder_is_no_file(desk):
    assert "it cannot be read" in str(desk.refuses(config=desk.project))


@pytest.mark.parametrize(
    ("text", "place", "why"),
    [
        ("[limits]\nattempts = = 4\n", ":2:12", "invalid value"),
        ("[limits]\nattempts = 4\nattempts = 5\n", ":3:13", "cannot overwrite a value"),
        ("[limits\n", ":1:8", "expected ']'"),
        ('[agent]\napprove = "ask', "", "at the end of the file"),
    ],
)
def test_bad_toml_is_shown_by_line_and_column(desk, text, place, why):
    said = str(desk.refuses(text))
    assert said.startswith(f"{desk.project / 'headway.toml'}{place}: it is no valid TOML: ")
    assert why in said


def test_files_that_are_no_text_or_far_too_large_are_refused(desk):
    path = desk.project / "headway.toml"
    path.write_bytes(b"[agent]\napprove = \xff\n")
    assert "byte 18 is not UTF-8" in str(desk.refuses())
    path.write_bytes(b"#" * (MOST_BYTES + 1))
    assert "which are no settings" in str(desk.refuses())
    path.write_bytes(b"a = " + b"[" * 100_000)
    assert "nested too deeply" in str(desk.refuses())


def test_a_mark_at_the_beginning_of_a_file_does_no_harm(desk):
    (desk.project / "headway.toml").write_bytes(b"\xef\xbb\xbf[limits]\nattempts = 4\n")
    assert desk.load().settings.limits.attempts == 4


def test_the_process_itself_is_the_default(desk, monkeypatch):
    monkeypatch.chdir(desk.project)
    monkeypatch.setenv("HEADWAY_HOME", str(desk.home))
    desk.write("[limits]\nattempts = 4\n")
    assert load().settings.limits.attempts == 4


def test_what_surrounds_a_process_is_not_shown(desk):
    desk.environ["SOME_KEY"] = "sk-very-secret"
    assert "sk-very-secret" not in repr(desk.load())
