"""A headway.toml that came with a folder may forbid and name; what it permits counts once somebody trusts it."""

from pathlib import Path

import pytest

from headway.failure import InvalidInput
from headway.settings.trusting import trust_file, untrust_file

PERMITS = """
[agent]
approve = "auto"
allow = ["shell"]
sandbox = "off"
network = true
writable = ["/"]
deny = ["shell(git push)"]
[store]
url = "sqlite:elsewhere.db"
"""
KEYS = ("agent.approve", "agent.allow", "agent.sandbox", "agent.network", "agent.writable", "store.url")


def test_what_a_strange_file_permits_does_not_count_and_that_is_said(desk):
    desk.write(PERMITS)
    loaded = desk.load_strange()
    agent = loaded.settings.agent
    assert (agent.approve, agent.allow, agent.sandbox, agent.network, agent.writable) == ("ask", (), "auto", False, ())
    assert loaded.settings.store.url == ""
    assert agent.deny == ("shell(git push)",), "what it forbids, it forbids"
    assert loaded.held_back == KEYS
    [notice] = loaded.notices
    assert "headway config trust" in notice


def test_once_it_is_trusted_it_counts_until_it_changes(desk):
    path = desk.write(PERMITS)
    trust_file(path, desk.around)
    assert desk.load_strange().settings.agent.approve == "auto"
    assert desk.load_strange().notices == ()
    desk.write(PERMITS + "\n# one more line\n")
    assert desk.load_strange().settings.agent.approve == "ask"


def test_trust_is_taken_back_from_this_file_and_from_no_other(desk):
    other = desk.write(PERMITS, desk.home / "other.toml")
    trust_file(other, desk.around)
    path = desk.write(PERMITS)
    trust_file(path, desk.around)
    assert untrust_file(path, desk.around)
    assert desk.load_strange().held_back == KEYS
    assert not untrust_file(path, desk.around), "it was not trusted any more"
    assert untrust_file(other, desk.around)


def test_what_is_trusted_and_cannot_be_written_down_is_said_by_its_name(desk):
    path = desk.write(PERMITS)
    desk.around.data_folder.mkdir(parents=True)
    (desk.around.data_folder / "trusted.json").mkdir()
    with pytest.raises(InvalidInput, match=r"/trusted\.json: it cannot be written: "):
        trust_file(path, desk.around)
    assert [one.name for one in desk.around.data_folder.iterdir()] == ["trusted.json"]


def test_trust_is_in_a_file_at_its_place(desk):
    trust_file(desk.write(PERMITS), desk.around)
    desk.project = desk.project.parent / "other"
    desk.project.mkdir()
    desk.write(PERMITS)
    assert desk.load_strange().settings.agent.approve == "ask"


def test_ones_own_word_counts_as_it_is(desk):
    path = desk.write(PERMITS)
    assert desk.load_strange(path).settings.agent.approve == "auto", "by --config"
    desk.environ["HEADWAY_CONFIG"] = str(path)
    assert desk.load_strange().settings.agent.approve == "auto"
    del desk.environ["HEADWAY_CONFIG"]
    assert desk.load_strange(flags={"agent.approve": "edits"}).settings.agent.approve == "edits"
    path.unlink()
    desk.write_own(PERMITS)
    assert desk.load_strange().settings.agent.approve == "auto"


def test_a_file_that_is_both_is_ones_own(desk):
    desk.environ["HEADWAY_HOME"] = str(desk.project)
    desk.write(PERMITS)
    assert desk.load_strange().settings.agent.approve == "auto"


@pytest.mark.parametrize("mistake", ["[agent]\napprove = 'edit'", "agent = 7", "[agent]\nallow = [')']"])
def test_mistakes_are_mistakes_all_the_same(desk, mistake):
    desk.refuses(mistake)


@pytest.mark.parametrize(
    ("address", "keys"), [("http://evil.example/v1", None), ("https://api.openai.com/v1", ("env:OPENAI_API_KEY",))]
)
def test_a_key_that_nobody_has_named_goes_to_no_strangers_address(desk, address, keys):
    desk.environ["OPENAI_API_KEY"] = "sk-mine"
    desk.write(f'[providers.p]\npreset = "openai"\nbase_url = "{address}"\n')
    assert desk.load_strange().settings.providers["p"].keys == keys
    Path(desk.project / "headway.toml").unlink()
    desk.write_own(f'[providers.p]\npreset = "openai"\nbase_url = "{address}"\n')
    assert desk.load_strange().settings.providers["p"].keys == ("env:OPENAI_API_KEY",), "one's own file may"
