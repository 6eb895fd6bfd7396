"""Approvals: what each mode lets through, and rules that hold however a command is spelled."""

import asyncio
import json
import subprocess
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from headway.agent.approval import Allow, Approvals, Ask, Deny, Kind, Mode, Rule, Rules, judge, rule
from headway.agent.tools.commands import LONGEST, read_command
from headway.agent.tools.shell_words import Break, Word, scan
from headway.failure import InvalidInput
from headway.messages import ToolCall


def shell(command):
    return ToolCall("1", "shell", json.dumps({"command": command}))


def judged(command, mode=Mode.ASK, **rules):
    return judge(
        mode, Kind.RUNS, Rules(**{name: tuple(map(rule, texts)) for name, texts in rules.items()}), shell(command)
    )


@pytest.mark.parametrize(
    ("mode", "reads", "edits", "runs"),
    [
        (Mode.ASK, Allow, Ask, Ask),
        (Mode.EDITS, Allow, Allow, Ask),
        (Mode.PLAN, Allow, Deny, Deny),
        (Mode.AUTO, Allow, Allow, Allow),
    ],
)
def test_each_mode_lets_through_what_it_says(mode, reads, edits, runs):
    for kind, wanted in ((Kind.READS, reads), (Kind.EDITS, edits), (Kind.RUNS, runs)):
        assert isinstance(judge(mode, kind, Rules(), ToolCall("1", "x", "{}")), wanted)


def test_rules_come_before_the_mode_and_deny_before_all():
    assert isinstance(judged("ls", allow=["shell"]), Allow)
    assert isinstance(judged("ls", Mode.AUTO, ask=["shell"]), Ask)
    assert isinstance(judged("ls", Mode.AUTO, deny=["sh*"], allow=["shell"]), Deny)
    assert isinstance(judged("ls", Mode.AUTO, deny=["read_*"]), Allow)
    assert isinstance(judged("ls", ask=["shell(ls)"], allow=["shell"]), Ask)
    assert isinstance(judged("ls", Mode.PLAN, allow=["shell"]), Deny), "plan mode only reads"
    assert isinstance(
        judge(Mode.AUTO, Kind.READS, Rules(deny=(Rule("read_file"),)), ToolCall("1", "read_file", "{}")), Deny
    )


@pytest.mark.parametrize(
    "command",
    [
        "git status",
        "git  status -s",
        "git 'status'",
        "git status && git diff x",
        "git status; git diff | git status",
        "git status *.py",
        "git status 'a $b'",
    ],
)
def test_an_allow_rule_speaks_for_plain_commands(command):
    assert isinstance(judged(command, allow=["shell(git status)", "shell(git diff)"]), Allow)


@pytest.mark.parametrize(
    "command",
    [
        "git push",
        "git statusx",
        "git",
        "",
        "/tmp/git status",
        "git status; rm x",
        "git status & rm x",
        "git status | sh",
        "git status\nrm x",
        "git status $(rm x)",
        "git status `rm x`",
        'git status "$(rm x)"',
        "git status > x",
        "git status <(rm x)",
        "GIT_PAGER=evil git status",
        "git status #'\nrm x #'",
        "git status {a,b}",
        "git status 'unclosed",
        "git status \\",
        "(git status)",
        "sudo git status",
    ],
)
def test_an_allow_rule_speaks_for_nothing_more(command):
    assert isinstance(judged(command, allow=["shell(git status)"]), Ask)


WRAPPERS = """
{} | sudo {} | env A=1 {} | A=1 B=2 {} | nohup nice -n 5 {} & | time {} | xargs {} | command {} | find . -exec {} ;
true && {} | true; {} | true\\n{} | false || {} || true | true |{} | ({}) | {{ {}; }} | ! {} | \\t{} | {} # comment
if true; then {}; fi | for x in a; do {}; done | f() {{ {}; }}; f | echo x > y; {} | # '\\n{}\\n# '
echo $({}) | echo `{}` | echo "$({})" | cat <({}) | cat <<E\\n{}\\nE | bash <<< '{}' | echo '{}' |sh
bash -c '{}' | sh -c "{}" | eval '{}' | trap '{}' EXIT | watch '{}' | env -S '{}'
bash -c "sh -c \\"{}\\"" | busybox {}
"""
WRAPPERS = [
    one.replace("\\n", "\n").replace("\\t", "\t") for line in WRAPPERS.split("\n") for one in line.split(" | ") if one
]
NAMES = r"""
rm /bin/rm /usr/bin/../bin/rm ./rm \rm r\m r''m r""m 'rm' "rm" RM $'rm' $'\x72m' r$1m r${x}m r$@m $X ${X:-rm}
$(echo_rm) `echo_rm` /bin/r? /bin/[r]m /bin/{rm,x} {rm,-f}
"""
NAMES = [*(name.replace("_", " ") for name in NAMES.split()), "r\\\nm"]


@given(st.sampled_from(WRAPPERS), st.sampled_from(NAMES), st.sampled_from(["x", "-rf x", "--", ""]))
@example("{}", "rm", "x")
def test_a_denied_command_is_never_let_through_however_it_is_spelled(wrapper, name, rest):
    command = wrapper.format(f"{name} {rest}".strip())
    for allow in ((), ("shell(true)", "shell(echo)", "shell(sudo)")):
        assert not isinstance(judged(command, Mode.AUTO, deny=["shell(rm)"], allow=list(allow)), Allow), command


def test_every_wrapper_and_name_together_is_tried():
    passed = [
        wrapper.format(f"{name} x")
        for wrapper in WRAPPERS
        for name in NAMES
        if isinstance(judged(wrapper.format(f"{name} x"), Mode.AUTO, deny=["shell(rm)"]), Allow)
    ]
    assert passed == []


@pytest.mark.parametrize(
    "command", ["git push", "git -C dir push origin", "cd x && git push --force", "/usr/bin/git push"]
)
def test_a_deny_rule_of_several_words_finds_them_in_their_order(command):
    assert isinstance(judged(command, Mode.AUTO, deny=["shell(git push)"]), Deny)
    assert isinstance(judged(command.replace("push", "pull"), Mode.AUTO, deny=["shell(git push)"]), Allow)


@pytest.mark.parametrize(
    "command",
    [
        "ls -l",
        "grep -r 'a$b' src",
        "pytest -k 'x and y' tests/*.py",
        "echo farm",
        "make # rm",
        "git commit -m 'rm it; now'",
    ],
)
def test_a_deny_rule_does_not_get_in_the_way_of_others(command):
    assert isinstance(judged(command, Mode.AUTO, deny=["shell(rm)"]), Allow)


def test_a_command_that_cannot_be_read_is_asked_about():
    question = judged("python3 -c 'anything'", Mode.AUTO, deny=["shell(rm)"])
    assert isinstance(question, Ask)
    assert "`shell(rm)` is denied" in question.why
    assert isinstance(judged("python3 -c 'anything'", Mode.AUTO), Allow), "without such a rule there is nothing to ask"


def test_a_prefix_for_a_tool_without_commands_fails_closed():
    call = ToolCall("1", "teleport", '{"to": "x"}')
    assert isinstance(judge(Mode.AUTO, Kind.EDITS, Rules(deny=(rule("teleport(src)"),)), call), Ask)
    assert isinstance(judge(Mode.ASK, Kind.EDITS, Rules(allow=(rule("teleport(src)"),)), call), Ask)
    assert isinstance(judge(Mode.AUTO, Kind.EDITS, Rules(deny=(rule("*(rm)"),)), call), Allow)


def test_the_asker_decides_and_without_one_the_way_out_is_said():
    async def asker(call, question):
        return Deny(question.why)

    assert asyncio.run(Approvals(Mode.ASK, asker=asker).decide(Kind.RUNS, shell("ls"))) == Deny(
        "`shell` can do anything"
    )
    assert asyncio.run(Approvals(Mode.AUTO, asker=asker).decide(Kind.RUNS, shell("ls"))) == Allow()
    denied = asyncio.run(Approvals(Mode.EDITS).decide(Kind.RUNS, shell("ls -l")))
    assert "nobody is here to be asked" in denied.reason
    assert "`--approve auto`" in denied.reason
    assert "`shell(ls -l)`" in denied.reason
    assert "`shell`" in asyncio.run(Approvals().decide(Kind.RUNS, shell("a | b"))).reason


@pytest.mark.parametrize(
    ("text", "read"),
    [("shell", Rule("shell")), (" shell( git  push ) ", Rule("shell", ("git", "push"))), ("mcp.*", Rule("mcp.*"))],
)
def test_rules_are_read_and_written(text, read):
    assert rule(text) == read
    assert rule(str(read)) == read


@pytest.mark.parametrize("text", ["", "shell(", "shell()", "shell)", "a b", "(x)"])
def test_a_rule_that_cannot_be_read_is_refused(text):
    with pytest.raises(InvalidInput, match="cannot be read"):
        rule(text)


SAFE = st.text(st.sampled_from("ab'\" \\\t\n;#é"), max_size=12)


@given(SAFE)
def test_words_are_split_as_the_shell_splits_them(tmp_path_factory, line):
    """Where the scanner claims to know the words of a plain command, bash sees the same words."""
    tokens = list(scan(f"printf '%s\\0' {line}"))
    if not all(isinstance(token, Word) for token in tokens):
        return
    said = subprocess.run(["bash", "-c", f"printf '%s\\0' {line}"], capture_output=True, cwd="/", check=False)
    words = [token.text for token in tokens][2:]
    assert said.stdout.decode() == "".join(f"{word}\0" for word in words or [""])


@given(st.text(max_size=60))
def test_every_text_can_be_read_as_a_command(line):
    command = read_command(line)
    assert not (command.is_plain and command.hidden)


@pytest.mark.parametrize("piece", ["x", "'", "git ", "\\a", "sh -c '", "a;", "$(", "a$", '"', "#", "\n", "a'b'#"])
def test_no_command_takes_long_to_read(piece):
    began = time.monotonic()
    for first in ("", '"', "sh "):
        command = read_command(f"{first}{piece * 200_000}"[:LONGEST])
        command.mentions(("git", "push"))
        command.begins_with([("git",)])
    assert time.monotonic() - began < 5
    assert judged(piece * LONGEST * 2, Mode.AUTO, deny=["shell(rm)"]) != Allow()


def test_separators_and_comments_are_told_apart():
    assert list(scan("a#b #c'\nd&&e")) == [
        Word("a#b", "a#b"),
        Break("\n"),
        Word("d", "d"),
        Break("&&", glued=True),
        Word("e", "e"),
    ]


@pytest.mark.parametrize(
    "command", ["pytest > /tmp/out.txt", "make >> /var/log/make 2>&1", "ls &> ./listing", ">/tmp/x ls"]
)
def test_a_file_that_is_written_to_is_no_command_that_could_be_a_denied_one(command):
    assert isinstance(judged(command, Mode.AUTO, deny=["shell(git push *)"]), Allow)


@pytest.mark.parametrize("command", [">/tmp/x git push", "ls > f; git push", 'ls > "$(git push)"', "ls >(git push)"])
def test_a_denied_command_is_found_behind_a_redirection(command):
    assert not isinstance(judged(command, Mode.AUTO, deny=["shell(git push)"]), Allow)


NO_PUSH = {"deny": ["shell(git push *)"]}


@pytest.mark.parametrize(
    "command",
    [
        "git >/dev/null push origin main",
        "git 2>&1 push origin main",
        "git <file push origin main",
        "ls &>file git push",
        "env --unset echo git push x",
        "env -iu echo git push x",
        "exec -ca echo git push x",
        "sudo --prompt cat git push x",
        "strace --output cat git push",
        "touch push && git pus? origin main",
        r"touch push; find push -exec git {} origin main \;",
        "printf 'git push' > echo && chmod +x echo && ./echo",
        "echo 'git push' > f; sed -ee f",
        "echo git push | sed 's/git/git/ew f'",
        "git fetch --upload-pa=./x",
        "tar --use-compress=./x -cf a b",
        "sort --compress-prog=./x f",
        "git rebase -xfoo",
        "XDG_CONFIG_HOME=/w git p",
    ],
)
def test_a_denied_command_is_not_let_through_in_these_spellings_either(command):
    assert not isinstance(judged(command, Mode.AUTO, **NO_PUSH), Allow)


@pytest.mark.parametrize(
    "command",
    [
        "git add *",
        "git add p*.py",
        "git status > out",
        "ls -la | grep push",
        "pytest -q > /tmp/out 2>&1",
        r"find . -name '*.py' -exec grep x {} \;",
        "find . -name '*.pyc' -exec rm {} +",
        "sed -i 's/a/b/' f",
        "sed -n -e '1,5p' f",
        "git commit -m 'push it'",
        "if [ -f x ]; then echo git push; fi",
        "timeout 5 ls",
        "cat < file",
    ],
)
def test_what_is_not_denied_is_not_asked_about_for_its_looks(command):
    assert isinstance(judged(command, Mode.AUTO, **NO_PUSH), Allow)
