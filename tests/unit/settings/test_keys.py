"""Keys are opened late, from where they are kept, and never shown."""

import sys
from types import SimpleNamespace

import pytest

from headway.failure import InvalidInput
from headway.settings import Keychain


def opened(reference, **environ):
    return Keychain(environ).open(reference).reveal()


def refused(reference, **environ):
    with pytest.raises(InvalidInput) as caught:
        opened(reference, **environ)
    return str(caught.value)


def test_a_variable_is_opened_by_its_name():
    assert opened("env:KEY", KEY=" sk-1\n") == "sk-1"
    assert repr(Keychain({"KEY": "sk-1"}).open("env:KEY")) == "Secret(env:KEY)"


def test_a_variable_that_is_not_set_is_told_from_an_empty_one():
    assert refused("env:KEY") == "env:KEY: the variable KEY is not set. Try: export KEY=…"
    assert refused("env:KEY", KEY="  ") == "env:KEY: the variable is empty. Put a key into it."


def test_a_file_is_read_each_time_it_is_opened(tmp_path):
    path = tmp_path / "main.key"
    path.write_text("sk-1\n")
    assert opened(f"file:{path}") == "sk-1"
    path.write_text("sk-2\n")
    assert opened(f"file:{path}") == "sk-2"


def test_a_file_that_holds_no_key_is_refused_without_showing_it(tmp_path):
    path = tmp_path / "main.key"
    assert "the file cannot be read: No such file" in refused(f"file:{path}")
    path.write_text("\n")
    assert "the file is empty" in refused(f"file:{path}")
    path.write_text("sk-1\nsk-2\n")
    assert "several lines" in refused(f"file:{path}")
    assert "sk-1" not in refused(f"file:{path}")
    path.write_bytes(b"x" * 70_000)
    assert "too large" in refused(f"file:{path}")


def test_a_path_starts_from_the_folder_of_the_file_that_names_it(desk):
    desk.write("sk-1", desk.home / ".config" / "headway" / "main.key")
    desk.write_own('[providers.openai]\nkeys = ["file:main.key"]\n')
    loaded = desk.load()
    (key,) = loaded.settings.providers["openai"].keys
    assert key == f"file:{desk.home}/.config/headway/main.key"
    assert loaded.keychain.open(key).reveal() == "sk-1"


def test_a_keyring_is_asked_for_our_entries(monkeypatch):
    class Locked(Exception):
        pass

    kept = {("headway", "main"): "sk-1"}

    def get_password(service, name):
        if name == "locked":
            raise Locked
        return kept.get((service, name))

    fake = SimpleNamespace(get_password=get_password, errors=SimpleNamespace(KeyringError=Locked), __spec__=object())
    monkeypatch.setitem(sys.modules, "keyring", fake)
    assert opened("keyring:main") == "sk-1"
    assert refused("keyring:other").endswith("the keyring has no such entry. Try: keyring set headway other")
    assert "the keyring cannot be opened" in refused("keyring:locked")


def test_a_keyring_that_is_not_installed_is_said_to_be_missing(monkeypatch):
    monkeypatch.setattr("headway.settings.references.find_spec", lambda _: None)
    assert refused("keyring:main").endswith('Try: pip install "headway[keyring]"')


def test_what_is_wrong_can_be_asked_without_opening():
    keychain = Keychain({"KEY": "sk-1"})
    assert keychain.problem("env:KEY") is None
    assert keychain.problem("env:OTHER") == "env:OTHER: the variable OTHER is not set. Try: export OTHER=…"
    assert keychain.problem("keyring:main") is None, "asking a keyring may ask a person"
