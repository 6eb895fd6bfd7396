"""Settings that hold an agent: rules add up, paths are whole, walls are what was asked for, secrets are known."""

import asyncio

import pytest
from msgspec.structs import replace

from headway.agent.approval import Approvals, Mode, rules_of
from headway.agent.running import run_calls
from headway.agent.sandbox.confinement import Walls
from headway.agent.sandbox.sandbox import Found, Means
from headway.agent.tools.builtin import BUILTIN
from headway.agent.tools.tool import ToolContext
from headway.failure import InvalidInput
from headway.messages import ToolCall
from headway.settings.safety import checkpoints_for, safety_for


@pytest.fixture
def work(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    return folder


def nothing_holds():
    """Be a machine on which there are no walls."""
    return Found(None, ("bubblewrap: it is not installed",))


def test_what_is_denied_anywhere_is_denied(desk):
    """A file in a project must not be able to take back what its user has forbidden."""
    own = desk.write_own('[agent]\ndeny = ["shell(rm *)"]\nallow = ["shell(ls)"]\nhidden = ["secrets"]\n')
    desk.environ = {"HEADWAY_AGENT_DENY": "shell(git push *), shell(dd)"}
    agent = desk.load(
        '[agent]\ndeny = []\nask = ["write_file"]\nallow = ["shell(pwd)"]\nhidden = [".env"]\n'
    ).settings.agent
    assert set(agent.deny) == {"shell(rm *)", "shell(git push *)", "shell(dd)"}
    assert agent.ask == ("write_file",)
    assert agent.allow == ("shell(pwd)",), "what is allowed is what the nearest file allows"
    assert agent.hidden == (str(own.parent / "secrets"), str(desk.project / ".env"))


def test_a_rule_that_cannot_be_read_is_an_error_that_names_it(desk):
    with pytest.raises(InvalidInput, match=r"headway.toml: agent.deny\[1\]: 'rm \*' is no rule"):
        desk.load('[agent]\ndeny = ["shell(rm)", "rm *"]\n')


def test_walls_are_what_was_asked_for(desk, work):
    auto = safety_for(desk.load(""), work, nothing_holds, lambda: False)
    assert "without a sandbox (bubblewrap: it is not installed)" in asyncio.run(auto.notice())
    assert "not in a sandbox" in auto.words
    with pytest.raises(InvalidInput, match="none hold here"):
        safety_for(desk.load('[agent]\nsandbox = "require"\n'), work, nothing_holds)
    off = safety_for(desk.load('[agent]\nsandbox = "off"\n'), work, nothing_holds)
    assert off.sandbox is None
    assert asyncio.run(off.notice()) == ""


def test_where_nothing_holds_commands_run_all_the_same_unless_walls_are_required(desk, work):
    context = safety_for(desk.load(""), work, nothing_holds).context(approvals=Approvals(Mode.AUTO))
    call = ToolCall("1", "shell", '{"command": "pwd"}')
    (result,) = asyncio.run(run_calls([call], BUILTIN, context))
    assert result.text == f"{work}\n[exit status 0]"


def test_what_the_walls_let_through_is_what_settings_say(desk, work):
    means = Means(Walls.LANDLOCK, landlock=4)
    (desk.project / "cache").mkdir()
    loaded = desk.load('[agent]\nwritable = ["cache"]\nnetwork = true\nhidden = ["x.pem"]\n')
    safety = safety_for(loaded, work, lambda: Found(means), lambda: True)
    confinement = safety.sandbox.confinement
    assert confinement.folder == work
    assert confinement.writable == (desk.project / "cache",)
    assert confinement.network
    assert desk.project / "x.pem" in confinement.hidden
    assert "cannot deny" in asyncio.run(safety.notice())
    assert "The network can be reached." in safety.words
    assert safety.workspace.roots == (work.resolve(), (desk.project / "cache").resolve())
    assert isinstance(safety.context(), ToolContext)


def test_secrets_of_headway_itself_are_hidden_and_known(desk, work):
    desk.write("key-in-a-file-0123456789", desk.project / "own.key")
    desk.environ = {"MAIN": "value-of-main-0123456789", "PATH": "/bin"}
    text = '[providers.main]\nwire = "chat"\nbase_url = "http://x/v1"\nkeys = ["env:MAIN", "file:own.key"]\n'
    loaded = desk.load(f'{text}[store]\nurl = "sqlite:here.db"\n')
    safety = safety_for(loaded, work, nothing_holds)
    hidden = set(safety.workspace.hidden)
    for place in (loaded.around.data_folder, loaded.around.config_folder, loaded.around.home / ".ssh"):
        assert place.resolve() in hidden
    assert {(desk.project / name).resolve() for name in ("own.key", "here.db", "here.db-wal")} <= hidden
    assert safety.environment == {"PATH": "/bin"}, "a variable that settings name as a key is one"
    shown = safety.redactor.clean("value-of-main-0123456789 key-in-a-file-0123456789")
    assert "0123456789" not in shown


def test_rules_and_checkpoints_are_of_the_session(desk, work):
    loaded = desk.load('[agent]\ndeny = ["shell(rm *)"]\n')
    assert safety_for(loaded, work, nothing_holds).rules == rules_of(deny=["shell(rm)"])
    assert checkpoints_for(loaded, "s1")._folder.parent.name == "checkpoints"
    assert replace(safety_for(loaded, work, nothing_holds).rules).allow == ()
    assert Mode(loaded.settings.agent.approve) is Mode.ASK
