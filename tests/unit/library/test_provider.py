"""Providers said in code: what they mean, what is wrong with them, and that their keys are never shown."""

import copy
import logging
import pickle
import traceback

import pytest

from headway import Headway, InvalidInput, Limits, Provider, SyncHeadway, TurnFailed
from support.embedding import KEY, WORDS, in_program, script


def refused(*chain, **given):
    with pytest.raises(InvalidInput) as caught:
        Headway(*chain, **given)
    return str(caught.value)


def own(**more):
    return Provider("own", **{"wire": "chat", "base_url": "http://127.0.0.1:9/v1", "model": "m", **more})


def test_a_wire_an_address_a_key_and_a_model_are_one_line():
    hw = Headway(Provider("own", wire="chat", base_url="https://llm.example.com/v1", key=KEY, model="some/model"))
    assert hw.chain == ("own/some/model",)


def test_a_chain_may_mix_providers_presets_and_names(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    hw = Headway(own(), Provider("openai", key=KEY), "anthropic/claude-opus", own(model="other"))
    assert hw.chain[0] == "own/m"
    assert hw.chain[1].startswith("openai/")
    assert hw.chain[2:] == ("anthropic/claude-opus", "own/other")


@pytest.mark.parametrize("show", [repr, str, "{}".format, "{!r}".format])
def test_a_key_is_never_shown(show):
    provider = own(key=[KEY, "sk-second"])
    hw = Headway(provider)
    for shown in (provider, hw, SyncHeadway(provider), hw._way, hw._way.loaded, provider.table, provider.secrets):
        assert KEY not in show(shown)
        assert "sk-second" not in show(shown)
    assert repr(provider) == "<Provider own/m at 127.0.0.1, 2 keys>"


@pytest.mark.parametrize("leak", [pickle.dumps, copy.deepcopy])
def test_a_key_is_not_written_down(leak):
    with pytest.raises(TypeError, match="not written down"):
        leak(own(key=KEY))


def test_a_key_stands_where_its_wire_wants_it_and_in_no_error(caplog):
    async def work(program):
        for wire in ("chat", "responses", "anthropic"):
            made = await program.provider(wire, script(faults=("bad_key",)), key=[KEY, "sk-second"])
            async with Headway(made) as hw:
                with pytest.raises(TurnFailed) as caught:
                    await hw.text("Tell me.")
            assert [one.key for one in program.sims[-1].log] == [KEY, "sk-second"]
            assert KEY not in "".join(traceback.format_exception(caught.value))
        assert KEY not in caplog.text

    caplog.set_level(logging.DEBUG)
    in_program(work)


def test_a_key_may_be_a_reference_and_is_opened_late(monkeypatch):
    async def work(program):
        made = await program.provider("chat", script(keys=("from-the-variable",)), key="env:MY_KEY")
        async with Headway(made) as hw:
            assert await hw.text("Tell me.") == WORDS

    monkeypatch.setenv("MY_KEY", "from-the-variable")
    in_program(work)


def test_a_server_of_ones_own_needs_no_key():
    async def work(program):
        made = await program.provider("chat", script(), key=None)
        async with Headway(made) as hw:
            assert await hw.text("Tell me.") == WORDS
        assert "authorization" not in program.sims[0].log[0].headers

    in_program(work)


def test_a_preset_takes_its_usual_variable(monkeypatch):
    assert "OPENAI_API_KEY" in refused("openai")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert Headway("openai").chain[0].startswith("openai/")


def test_whoever_has_no_key_is_left_out_with_a_warning(caplog):
    hw = Headway("openai", own(key=KEY))
    assert hw.chain == ("own/m",)
    assert "OPENAI_API_KEY" in caplog.text


def test_settings_count_when_a_program_names_nobody(tmp_path, monkeypatch):
    text = """
        [providers.here]
        wire = "chat"
        base_url = "http://127.0.0.1:9/v1"
        [routes.default]
        chain = ["here/first"]
        [routes.second]
        chain = ["here/second"]
    """
    (tmp_path / "headway.toml").write_text(text, encoding="utf-8")
    (tmp_path / "other.toml").write_text(text.replace("here/first", "here/third"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert Headway().chain == ("here/first",)
    assert Headway(limits=Limits(attempts=1)).chain == ("here/first",)
    assert Headway(route="second").chain == ("here/second",)
    assert Headway(route="here/any").chain == ("here/any",)
    assert Headway(config="other.toml").chain == ("here/third",)
    assert Headway("here/fourth", config="other.toml").chain == ("here/fourth",)
    assert "no provider 'here'" in refused("here/first"), "files are not read when a program says whom to ask"
    assert "Did you mean 'second'?" in refused(route="secnod")
    assert "There is: default, second" in refused(route="zzz")


def test_a_broken_file_nearby_does_not_matter_to_a_program_that_says_whom_to_ask(tmp_path, monkeypatch):
    (tmp_path / "headway.toml").write_text("nonsense", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert Headway(own()).chain == ("own/m",)


@pytest.mark.parametrize(
    ("chain", "words"),
    [
        ((), "there is nobody to ask"),
        (("opneai",), "Did you mean 'openai'?"),
        ((Provider("opneai", key=KEY),), '"openai"'),
        ((Provider("own", base_url="http://127.0.0.1:9", model="m"),), "it has no wire"),
        ((own(base_url="127.0.0.1:9"),), "it is no address of a server"),
        ((own(base_url="http://me:secret@127.0.0.1"),), "a password does not belong in an address"),
        ((own(model=""),), "it names no model of own"),
        ((own(wire="caht"),), "Did you mean 'chat'?"),
        ((own(base_ulr="x"),), "Did you mean providers.own.base_url?"),
        ((own(headers={"authorization": KEY}),), "a key does not belong in a header"),
        ((own(key="env:NOT_SET"),), "the variable NOT_SET is not set"),
        ((own(key=KEY), own(key="another")), "it is in the chain twice, and not the same"),
        ((7,), "it holds a int"),
    ],
)
def test_a_chain_that_cannot_be_asked_says_what_is_wrong(chain, words):
    said = refused(*chain)
    assert words in said
    assert KEY not in said
    assert "secret" not in said


@pytest.mark.parametrize("key", ["", "  ", "two\nlines", "schlüssel", ["good", ""]])
def test_a_key_that_cannot_be_one_is_refused_unseen(key):
    with pytest.raises(InvalidInput) as caught:
        own(key=key)
    assert "schlüssel" not in str(caught.value)
    assert "lines" not in str(caught.value).replace("several lines", "")


@pytest.mark.parametrize("name", ["", "a/b"])
def test_a_name_that_a_chain_could_not_name_is_refused(name):
    with pytest.raises(InvalidInput, match="slash"):
        Provider(name)


def test_other_mistakes_say_what_is_wrong(tmp_path):
    assert "there is no such file" in refused(config=tmp_path / "none.toml")
    assert "there is a chain besides" in refused(own(), route="default")
    assert "limits.silence_seconds" in refused(own(), limits=Limits(silence_seconds=-1))


def test_limits_said_in_code_count():
    async def work(program):
        hw = await program.client("chat", script(faults=("wrong_status status=503",)), limits=Limits(attempts=2))
        with pytest.raises(TurnFailed):
            await hw.text("Tell me.")
        assert len(program.sims[0].log) == 2

    in_program(work)
