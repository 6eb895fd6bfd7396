"""A denied command never runs, in whatever spelling the shell allows. The shell itself is the judge.

Commands are made up of names, quotes, wrappers and tricks around a program that is denied. Whatever the rules let
through is run by a real bash, in an empty folder, and the program must not have run. That each trick does run it, when
nobody forbids it, is tried too: else nothing would be proven.
"""

import asyncio
import json
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from headway.agent.approval import Allow, Approvals, Deny, Kind, Mode, judge, rules_of
from headway.agent.places import Place
from headway.agent.running import run_calls
from headway.agent.tools.builtin import BUILTIN
from headway.agent.tools.commands import read_command
from headway.agent.tools.tool import ToolContext
from headway.agent.workspace import Workspace
from headway.messages import ToolCall

NAME = "forbid"
RULES = rules_of(deny=[f"shell({NAME} *)"])


class Yard:
    """A folder with the program that is denied, on the path, which leaves a mark when it runs."""

    def __init__(self, base: Path) -> None:
        self.bin, self.mark = base / "bin", base / "mark"
        self.bin.mkdir()
        program = self.bin / NAME
        program.write_text(f"#!/bin/sh\n: >{self.mark}\n")
        program.chmod(0o755)

    def runs(self, command: str, *, bare: bool = False) -> bool:
        """Run a command by a real shell; say whether the program ran. `bare`: there are no other programs at all."""
        path = str(self.bin) if bare else f"{self.bin}:/usr/bin:/bin"
        self.mark.unlink(missing_ok=True)
        with tempfile.TemporaryDirectory() as folder:
            environment = {"PATH": path, "HOME": folder, "BIN": "unset", "LC_ALL": "C.UTF-8"}
            arguments = ["/bin/bash", "-c", command]
            quiet = subprocess.DEVNULL
            process = subprocess.Popen(
                arguments, cwd=folder, env=environment, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True
            )
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                process.wait()
        return self.mark.exists()


@contextmanager
def yard() -> Iterator[Yard]:
    base = Path(tempfile.mkdtemp(prefix="headway-yard-")).resolve()
    try:
        yield Yard(base)
    finally:
        shutil.rmtree(base)


@pytest.fixture(scope="module")
def place():
    with yard() as made:
        yield made


def judged(command, rules=RULES, mode=Mode.AUTO):
    return judge(mode, Kind.RUNS, rules, ToolCall("1", "shell", json.dumps({"command": command})))


def let_through(command, rules=RULES):
    return isinstance(judged(command, rules), Allow)


# How the name of a program can be spelled. `«bin»` is the folder that it is in.

SPELLINGS = {
    "as it is": "forbid",
    "in quotes": "'forbid'",
    "in double quotes": '"forbid"',
    "quotes inside": "for''bid",
    "double quotes inside": 'fo""r""bid',
    "escaped": "\\forbid",
    "escaped inside": "f\\orb\\id",
    "every letter escaped": "\\f\\o\\r\\b\\i\\d",
    "over two lines": "for\\\nbid",
    "with its folder": "«bin»/forbid",
    "with dots": "«bin»/../bin/./forbid",
    "pattern": "«bin»/forbi?",
    "star": "«bin»/f*d",
    "brackets": "«bin»/[f]orbid",
    "class": "«bin»/[[:lower:]]orbid",
    "every letter a class": "«bin»/[f][o][r][b][i][d]",
    "ansi quotes": "$'forbid'",
    "escape sequence": "$'\\x66orbid'",
    "octal": "$'\\146orbid'",
    "locale quotes": '$"forbid"',
    "braces": "{forbid,x}",
    "braces in between": "for{bid,}",
    "range": "f{o..o}rbid",
    "substitution": "$(echo forbid)",
    "backticks": "`echo forbid`",
    "substitution inside": "for$(echo bid)",
    "default": "${X:-forbid}",
    "empty variable": "for${X}bid",
    "positional": "for$1bid",
    "all positionals": "for$@bid",
    "printed": '"$(printf %s for bid)"',
    "reversed": "$(echo dibrof | rev)",
    "encoded": "$(echo Zm9yYmlk | base64 -d)",
    "arithmetic": "$'\\x'$((60+6))'orbid'",
}
BROKEN = {"arithmetic", "locale quotes"}
"""Kept as noise: bash does not run these here."""
# How a command can be wrapped. `{}` is the command, `Q` the command as one word.
WRAPPERS = {
    "alone": "{}",
    "after a command": "true; {}",
    "and": "true && {}",
    "or": "false || {}",
    "in a pipe": "true | {}",
    "into a pipe": "{} | cat",
    "in the background": "{} & wait",
    "on another line": "true\n{}",
    "after a comment": "true # it's\n{}",
    "subshell": "({})",
    "group": "{ {}; }",
    "not": "! {}",
    "timed": "time {}",
    "if": "if true; then {}; fi",
    "as a condition": "if {}; then true; fi",
    "while": "while {}; do break; done",
    "until": "until {}; do break; done",
    "for": "for x in a; do {}; done",
    "case": "case a in a) {};; esac",
    "function": "f() { {}; }; f",
    "function by its word": "function f { {}; }; f",
    "assignment before": "A=1 {}",
    "redirection before": ">out {}",
    "redirection behind": "{} >out 2>&1",
    "error redirected before": "2>/dev/null {}",
    "command": "command {}",
    "command with an option": "command -p {}",
    "exec": "exec {}",
    "exec with a name": "exec -a other {}",
    "coprocess": "coproc {}; wait",
    "env": "env A=1 {}",
    "env with options": "env -i PATH=«bin»:/bin {}",
    "env splits": "env -S Q",
    "nice": "nice -n 5 {}",
    "nohup": "nohup {}",
    "timeout": "timeout 5 {}",
    "stdbuf": "stdbuf -o0 {}",
    "setsid": "setsid -w {}",
    "flock": "flock lock {}",
    "flock with a text": "flock lock -c Q",
    "xargs": "echo | xargs {}",
    "xargs with a text": "echo Q | xargs -I% sh -c %",
    "find": "find . -maxdepth 0 -exec {} \\;",
    "find it": "find «bin» -name 'f*' -exec {}{} \\;",
    "substituted": "echo $({})",
    "in quotes": 'echo "$({})"',
    "in backticks": "echo `{}`",
    "process substitution": "cat <({})",
    "as a default": 'echo "${X:-$({})}"',
    "in a subscript": "let 'a[$({})]=1'",
    "in a test": "[[ -v 'a[$({})]' ]]",
    "in an old test": "test -v 'a[$({})]'",
    "in a declaration": "declare 'a[$({})]=1'",
    "by printf": "printf -v 'a[$({})]' x",
    "shell": "bash -c Q",
    "shell with options": "sh -ec Q",
    "shell by its path": "/bin/bash -c Q",
    "shell in a shell": "sh -c 'bash -c \"$1\"' - Q",
    "eval": "eval Q",
    "eval of pieces": "eval {}",
    "trap": "trap Q EXIT",
    "here string": "bash <<< Q",
    "here document": "bash <<E\n{}\nE",
    "piped to a shell": "echo Q | sh",
    "printed to a shell": "printf '%s\\n' Q | bash",
    "encoded to a shell": "echo Q | base64 | base64 -d | sh",
    "sourced": "echo Q > s; . ./s",
    "sourced by its word": "echo Q > s; source s",
    "script": "echo Q > s; sh s",
    "script that is run": "echo Q > s; chmod +x s; ./s",
    "script in a folder": "mkdir d; echo Q > d/s; chmod +x d/s; d/s",
    "start file": "echo Q > s; BASH_ENV=s bash -c true",
    "other path": "cp «bin»/forbid ls; PATH=.:$PATH ls",
    "copy": "cp «bin»/forbid mine; ./mine",
    "link": "ln -s «bin»/forbid mine; ./mine",
    "copy by a pattern": "cp «bin»/f* .; mv f* mine; ./mine",
    "remembered": "hash -p «bin»/forbid ls; ls",
    "alias": "shopt -s expand_aliases\nalias x=Q\nx",
    "python": "python3 -c 'import os; os.system(\"forbid\")'",
    "perl": "perl -e 'system(\"forbid\")'",
    "awk": "awk 'BEGIN{system(\"forbid\")}'",
    "sed": "echo x | sed 's/.*/forbid/e'",
    "sed's own": "echo x | sed '1e forbid'",
    "tar": "touch x; tar cf /dev/null --checkpoint=1 --checkpoint-action=exec=forbid x",
    "make": "make --eval 'x:;@forbid' x",
    "make from its input": "printf 'x:\\n\\tforbid\\n' | make -f - x",
    "git alias": "git -c alias.x='!forbid' x",
    "split": "echo x | split --filter=forbid",
    "script(1)": "script -qc forbid /dev/null",
    "callback": "mapfile -C forbid -c 1 a < /etc/passwd",
    "completion": "compgen -C forbid",
    "variable": "x=forbid; $x",
    "variable in pieces": "x=for; y=bid; $x$y",
    "array": "a=(forbid); ${a[0]}",
    "arguments": 'set -- forbid; "$@"',
    "read": "read x <<< forbid; $x",
    "separator": "IFS=_; x=forbid_a; $x",
    "indirect": "y=forbid; x=y; ${!x}",
    "nameref": "y=forbid; declare -n x=y; $x",
    "function of that name": "forbid() { command forbid; }; forbid",
    "loader": "/lib64/ld-linux-x86-64.so.2 /bin/sh «bin»/forbid",
    "extended pattern": "shopt -s extglob\n«bin»/+(f)orbid",
    "extended pattern of one": "shopt -s extglob\n«bin»/@(forbid)",
    "nocase pattern": "shopt -s nocaseglob\n«bin»/FORBI?",
    "busybox": "busybox sh -c Q",
}
NOT_HERE = {
    "command with an option",
    "busybox",
    "make",
    "make from its input",
    "git alias",
    "script(1)",
    "loader",
    "flock",
    "flock with a text",
}
"""These need programs that may not be there."""


def command_of(wrapper: str, spelling: str, folder: Path) -> str:
    """Write a command: a spelling of the program inside a wrapper."""
    name = SPELLINGS[spelling].replace("«bin»", str(folder))
    wrapped = WRAPPERS[wrapper].replace("«bin»", str(folder)).replace("{}{}", "\0")
    return wrapped.replace("Q", shlex.quote(name)).replace("{}", name).replace("\0", "{}")


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_each_wrapper_runs_what_is_in_it_and_is_not_let_through(place, wrapper):
    command = command_of(wrapper, "as it is", place.bin)
    if wrapper not in NOT_HERE:
        assert place.runs(command), "the trick itself does not work, and proves nothing"
    assert not let_through(command)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_each_spelling_is_the_program_and_is_not_let_through(place, spelling):
    command = command_of("alone", spelling, place.bin)
    if spelling not in BROKEN:
        assert place.runs(command), "the trick itself does not work, and proves nothing"
    assert not let_through(command)


def test_every_wrapper_with_every_spelling_is_tried(place):
    passed = [
        command
        for wrapper in WRAPPERS
        for spelling in SPELLINGS
        if let_through(command := command_of(wrapper, spelling, place.bin)) and place.runs(command)
    ]
    assert passed == []


names = st.sampled_from(sorted(SPELLINGS))
wrappers = st.sampled_from(sorted(set(WRAPPERS) - {"find it"}))


@given(
    st.data(), names, st.lists(wrappers, min_size=1, max_size=4), st.sampled_from(["", " x", " -rf x", " 'a b'", " *"])
)
def test_wrappers_in_wrappers_let_nothing_through(data, spelling, layers, rest):
    with yard() as made:
        command = SPELLINGS[spelling].replace("«bin»", str(made.bin)) + rest
        for layer in layers:
            wrapped = WRAPPERS[layer].replace("«bin»", str(made.bin))
            command = wrapped.replace("Q", shlex.quote(command)).replace("{}", command)
        if let_through(command):
            assert not made.runs(command), command


PIECES = ["forbid", "for", "bid", "f", "o", "rbid", "x", "a", "/", ".", "-c", "true", "echo", "eval", "set --", "exec"]
LETTERS = [
    *"'\"\\ \t\n;&|()<>$`{}[]*?~!#=+,:@%^",
    "$(",
    "${",
    "$((",
    "<<",
    "<<<",
    "&&",
    "||",
    "$'",
    '$"',
    "<(",
    "..",
    "\\\n",
]


@given(st.lists(st.sampled_from([*PIECES, *LETTERS]), max_size=24).map("".join))
@example("x=for;${x}bid")
@example("for\\\nbid")
@example("true&forbid")
@example("f{o..o}rbid")
def test_no_text_at_all_lets_it_through(line):
    """Any text, run by a shell that has nothing but the program that is denied."""
    if let_through(line):
        with yard() as made:
            assert not made.runs(line, bare=True), line


@given(st.lists(st.sampled_from([*PIECES, *LETTERS]), max_size=16).map("".join))
def test_what_is_allowed_by_its_words_runs_nothing_else(line):
    """An allow rule lets nothing pass that is not one of its words, one after the other."""
    rules = rules_of(allow=["shell(true)", "shell(echo *)"])
    command = f"true {line}"
    if isinstance(judged(command, rules, Mode.ASK), Allow):
        with yard() as made:
            assert not made.runs(command, bare=True), command


@given(names, wrappers)
def test_what_cannot_be_understood_is_never_allowed_by_itself(spelling, wrapper):
    """Allowed is what is plain; a wrapper around it must be allowed too, or somebody is asked."""
    rules = rules_of(allow=[f"shell({NAME})", "shell(true)", "shell(echo)"])
    command = command_of(wrapper, spelling, Path("/yard/bin"))
    if isinstance(judged(command, rules, Mode.ASK), Allow):
        read = read_command(command)
        assert read.is_plain
        assert {part.words[0] for part in read.parts} <= {NAME, "true", "echo"}


HARMLESS = """
ls -l | make test | git status | git commit -m 'forbid it; now' | git log --grep forbid -n 5 | grep -rn forbid src
echo forbid | cat forbid.txt | npm run build | pytest -k 'not forbid' tests/*.py | sed -n '1,5p' file
sed 's/a/b/g' file
find . -name '*.py' | CI=1 npm test | cargo test --workspace | go test ./... | mkdir -p a/b && cd a/b | [ -f x ] && make
tar czf x.tgz src | head -n 20 file | timeout 60 pytest tests/unit/test_x.py | PYTHONPATH=src pytest | wc -l *.txt
curl -s http://localhost:8000 | diff a b | cp a b && mv b c | ls . | uv run ruff check . | git switch -c new
"""


@pytest.mark.parametrize("command", [one.strip() for line in HARMLESS.strip().split("\n") for one in line.split(" | ")])
def test_a_rule_does_not_get_in_the_way_of_what_it_does_not_mean(command):
    assert isinstance(judged(command), Allow)


@pytest.mark.parametrize(
    ("rule", "command", "denied"),
    [
        ("shell(git push *)", "git push", True),
        ("shell(git push *)", "git -C x push --force", True),
        ("shell(git push *)", "git pull", False),
        ("shell(npm run deploy:*)", "npm run deploy:prod", True),
        ("shell(npm run deploy:*)", "npm run test", False),
        ("shell(*)", "ls", True),
        ("shell(git*)", "gitk", True),
        ("shell(rm -rf *)", "rm -rf x", True),
        ("shell(rm -rf *)", "rm x", False),
        ("shell(/bin/rm)", "rm x", True),
    ],
)
def test_patterns_in_rules_that_deny(rule, command, denied):
    assert isinstance(judged(command, rules_of(deny=[rule])), Deny) is denied


@pytest.mark.parametrize(
    ("rule", "command", "allowed"),
    [
        ("shell(git diff *)", "git diff", True),
        ("shell(git diff *)", "git diff --stat x", True),
        ("shell(npm run test:*)", "npm run test:unit", True),
        ("shell(npm run test:*)", "npm run deploy", False),
        ("shell(g*)", "g/evil", False),
        ("shell(python3 -m pytest)", "python3 -m pytest -q", True),
        ("shell(python3 -m pytest)", "python3 -c x", False),
        ("shell(./gradlew)", "./gradlew build", True),
    ],
)
def test_patterns_in_rules_that_allow(rule, command, allowed):
    for deny in ([], [f"shell({NAME})"]):
        judgement = judged(command, rules_of(allow=[rule], deny=deny), Mode.ASK)
        assert isinstance(judgement, Allow) is allowed, judgement


def test_a_program_that_can_run_anything_is_allowed_only_by_its_name():
    rules = rules_of(allow=["shell", "shell(sudo)"], deny=[f"shell({NAME})"])
    assert not isinstance(judged("sudo python3 x.py", rules), Allow)
    assert not isinstance(judged("python3 x.py", rules), Allow)


# Paths


def call_on(path, tool="write_file"):
    return ToolCall("1", tool, json.dumps({"path": path, "content": ""}))


@pytest.mark.parametrize(
    ("rule", "path", "denied"),
    [
        ("write_file(src/**)", "src/a/b.py", True),
        ("write_file(src/**)", "./src//a.py", True),
        ("write_file(src)", "src/a.py", True),
        ("write_file(src)", "lib/src/a.py", False),
        ("write_file(*.lock)", "poetry.lock", True),
        ("write_file(**/*.lock)", "a/b/poetry.lock", True),
        ("write_file(src/**)", "SRC/a.py", True),
        ("write_file(src/**)", "docs/a.md", False),
        ("*_file(.env)", ".env", True),
    ],
)
def test_a_path_is_denied_in_every_spelling(rule, path, denied):
    judgement = judge(Mode.AUTO, Kind.EDITS, rules_of(deny=[rule]), call_on(path))
    assert isinstance(judgement, Deny) is denied


def test_a_path_whose_end_is_not_known_is_asked_about_and_never_allowed():
    path = "docs/../src/a.py"
    denying = judge(Mode.AUTO, Kind.EDITS, rules_of(deny=["write_file(src/**)"]), call_on(path))
    assert not isinstance(denying, Allow)
    allowing = judge(Mode.ASK, Kind.EDITS, rules_of(allow=["write_file(docs/**)"]), call_on(path))
    assert not isinstance(allowing, Allow)


@given(st.lists(st.sampled_from(["src", "docs", "..", ".", "link", "", "a.py"]), min_size=1, max_size=6))
def test_no_path_leads_to_a_denied_place(parts):
    """Real files, real links: whatever path is written, nothing below `src` changes, and all else may."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        (root / "src").mkdir()
        (root / "docs").mkdir()
        (root / "docs" / "link").symlink_to("../src")
        (root / "link").symlink_to(root / "src")
        rules = rules_of(deny=["write_file(src/**)"])
        context = ToolContext(Workspace(root), Approvals(Mode.AUTO, rules))
        asyncio.run(run_calls([call_on("/".join(parts) + "/new.txt")], BUILTIN, context))
        assert not list((root / "src").iterdir())


def test_absolute_patterns_fit_what_is_inside():
    place = Place(("src", "a.py"), root=("home", "me", "work"))
    judgement = judge(Mode.AUTO, Kind.EDITS, rules_of(deny=["write_file(/home/me/work/src/**)"]), call_on("x"), place)
    assert isinstance(judgement, Deny)
