"""Secrets do not come back from tools: not to the model, not into the journal; and marks do not go into files."""

import asyncio
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.agent.happenings import Done
from headway.agent.redaction import Redactor, is_telling
from headway.agent.running import run_calls
from headway.agent.tools.define import tool
from headway.agent.tools.environment import secrets_of, without_secrets
from headway.agent.tools.refusals import ToolError
from headway.messages import ToolCall
from headway.providers.presets import PRESETS
from headway.sim.script import Call, Final, Script
from headway.store import entries_of
from support.lab import in_lab

KEY = "sk-proj-9Zx8Yc7Wv6Ub5Ta4Sr3Qp2On1Ml0Kj"
PEM = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAA\nAAAAB3Nz\n-----END OPENSSH PRIVATE KEY-----"
SHAPES = [
    KEY,
    "sk-ant-api03-AbCdEf0123456789_AbCdEf0123456789-AbCdEf",
    "sk-0123456789abcdef0123456789abcdef",
    "sk-or-v1-0123456789abcdef0123456789abcdef",
    "AKIAIOSFODNN7EXAMPLE",
    "ghp_0123456789abcdefghijABCDEFGHIJ012345",
    "github_pat_11ABCDEFG0123456789_abcdefghijklmnop",
    "glpat-AbCdEfGhIjKlMnOpQrSt",
    "AIzaSyA0123456789abcdefghijklmnopqrstuv",
    "xoxb-123456789012-abcdefghijkl",
    "npm_0123456789abcdefghijABCDEFGHIJ012345",
    "sk_live_0123456789abcdefABCD",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
    PEM,
    PEM[:60],
]


@pytest.mark.parametrize("secret", SHAPES)
@pytest.mark.parametrize("around", ["{}", "key={}", '{{"key": "{}"}}', "a\n{}\nb", "  {},"])
def test_what_looks_like_a_key_is_taken_out(secret, around):
    cleaned = Redactor().clean(around.format(secret))
    assert secret not in cleaned
    assert "[hidden: a " in cleaned
    assert not any(piece in cleaned for piece in (secret[-12:], secret[8:20]))


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "aws_secret_access_key = [hidden: a key]"),
        ("Authorization: Bearer abcdef.0123456789", "Authorization: Bearer [hidden: a token]"),
        ("postgres://me:hunter2hunter@db/x", "postgres://me:[hidden: a password]@db/x"),
        ("https://user@host/path", "https://user@host/path"),
    ],
)
def test_what_stands_beside_a_secret_stays(text, cleaned):
    assert Redactor().clean(text) == cleaned


@pytest.mark.parametrize(
    "text",
    [
        "sk-fading-circle-animation-delay",
        "class='sk-folding-cube sk-cube-grid-wrapper-large'",
        "task-1234567890123456789012",
        "http://localhost:8000/a",
        "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
        "commit 0123456789abcdef0123456789abcdef01234567",
        "risk-0123456789abcdef0123456789abcdef",
    ],
)
def test_what_only_resembles_a_key_is_left_alone(text):
    assert Redactor().clean(text) == text


def test_known_values_are_found_wherever_they_stand():
    secret = "my secret, with any characters: é$%"
    redactor = Redactor({"DB_PASSWORD": secret, "SHORT": "abc", "FILE_KEY": "/home/me/key.pem"})
    assert redactor.clean(f"x{secret}y") == "x[hidden: the value of DB_PASSWORD]y"
    assert redactor.clean("abc /home/me/key.pem") == "abc /home/me/key.pem"
    assert secret not in repr(redactor)


def test_a_value_that_was_cut_is_still_known():
    secret = "0123456789ZYXWVUTSRQponmlkjihgfedcba"
    redactor = Redactor({"A_TOKEN": secret})
    for cut in (secret[:25], secret[-25:], f"…{secret[-20:]}", f"{secret[:20]}…"):
        assert "[hidden: the value of A_TOKEN]" in redactor.clean(cut)


@given(st.text(min_size=8, max_size=40), st.text(max_size=80), st.text(max_size=80))
def test_no_known_value_survives(value, before, after):
    if is_telling(value):
        assert value not in Redactor({"X": value}).clean(before + value + after) or value in "[hidden: the value of X]"


@pytest.mark.parametrize(
    "piece", ["sk-", "a-", "-----BEGIN PRIVATE KEY-----", "://a:", "eyJ", "Authorization: ", "a://", "A" * 9]
)
def test_no_text_takes_long(piece):
    began = time.monotonic()
    Redactor({"K": "0123456789abcdef0123456789"}).clean(piece * (400_000 // len(piece)))
    assert time.monotonic() - began < 5


def test_every_variable_of_every_provider_is_a_secret():
    names = {variable.name for provider in PRESETS.values() for variable in provider.key_variables}
    more = (
        "DB_PASS SMTP_PASSWORD MYSQL_PWD GITLAB_PAT SENTRY_DSN NPM_AUTH SLACK_WEBHOOK_URL AWS_SECRET_ACCESS_KEY".split()
    )
    environment = dict.fromkeys((*names, *more), "value-0123456789")
    plain = {
        "PATH": "/bin",
        "PWD": "/x",
        "OLDPWD": "/y",
        "HOME": "/h",
        "LANG": "C",
        "SSH_AUTH_SOCK": "/s",
        "GOPRIVATE": "x",
    }
    assert without_secrets({**environment, **plain}) == plain
    assert set(secrets_of({**environment, **plain})) == set(environment)
    assert without_secrets({"MAIN": "x", "X": KEY}, also={"MAIN"}) == {}, "by its name in the settings, by its shape"
    assert secrets_of({"DATABASE_URL": "pg://me:hunter22@h/d"}) == {"DATABASE_URL": "hunter22"}


def test_results_of_every_tool_are_without_secrets(hand, root):
    (root / "conf.py").write_text(f'KEY = "{KEY}"\nMODE = "plain"\n')
    for name, arguments in (
        ("read_file", {"path": "conf.py"}),
        ("search", {"pattern": "KEY"}),
        ("shell", {"command": "cat conf.py; echo done"}),
        ("shell", {"command": "cat conf.py; sleep 9", "timeout_seconds": 0.3}),
    ):
        text = hand.result(name, **arguments).text
        assert KEY not in text
        assert "[hidden: a key]" in text


def test_errors_of_tools_are_without_secrets(hand):
    @tool
    def leak() -> str:
        """Leak."""
        raise ToolError(f"401 for {KEY}")

    @tool
    def crash() -> str:
        """Crash."""
        raise RuntimeError(KEY)

    for made in (leak, crash):
        (result,) = asyncio.run(run_calls([ToolCall("1", made.name, "{}")], [made], hand.context))
        assert result.is_error
        assert KEY not in result.text


def test_a_mark_does_not_take_the_place_of_the_secret(hand, root):
    (root / "conf.py").write_text(f'KEY = "{KEY}"\nMODE = "plain"\n')
    seen = hand.does("read_file", path="conf.py").partition("\n")[2]
    assert "stands for a secret" in hand.fails("write_file", path="conf.py", content=seen)
    assert "stands for a secret" in hand.fails("edit_file", path="conf.py", old="plain", new="[hidden: a key]")
    assert hand.does("edit_file", path="conf.py", old='"plain"', new='"other"')
    assert KEY in (root / "conf.py").read_text()


def test_a_text_that_has_marks_of_its_own_can_be_edited(hand, root):
    (root / "doc.md").write_text("It shows [hidden: a key] instead.\n")
    assert hand.does("edit_file", path="doc.md", old="instead", new="there")


def test_neither_the_provider_nor_the_journal_gets_a_secret(tmp_path, monkeypatch):
    own = "own-secret-value-0123456789"
    monkeypatch.setenv("MY_SERVICE_TOKEN", own)
    (tmp_path / ".env").write_text(f"A={own}\nB={KEY}\n")
    script = Script(steps=(Call("read_file", {"path": ".env"}), Final("Done.")))

    async def work(lab):
        endpoint = await lab.provider(script, "anthropic")
        agent = await lab.agent(endpoint)
        assert await agent.ask("Look.") == Done("Done.")
        bodies = json.dumps([str(one.body) for one in lab.sims[0].log])
        journal = repr([entry.record for entry in entries_of(lab.sessions.store.read(lab.session.id))])
        for where in (bodies, journal):
            assert own not in where
            assert KEY not in where
            assert "[hidden: the value of MY_SERVICE_TOKEN]" in where

    in_lab(tmp_path, work)
