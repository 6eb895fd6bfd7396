"""The guide and the examples do what they say: every program in them runs on the simulator, and prints just that."""

import re
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

import headway
from headway.sim import Call, Final, Loop, Pace, Script, WriteFile, serving
from support.embedding import script

ROOT = Path(__file__).parents[3]
GUIDE = (ROOT / "docs" / "guides" / "library.md").read_text(encoding="utf-8")
PROGRAM = re.compile(r"<!-- simulated: (\w+) -->\n```python\n(.*?)```\n\n```text\n(.*?)```\n", re.DOTALL)
RHINE = "It begins in the Alps, in Switzerland, where two streams meet, and ends in the North Sea."
HERE = "http://127.0.0.1:8321"
"""The address that the guide shows; in a test it is the simulator's."""
SCRIPTS: dict[str, Script] = {
    "cut": script(Final(RHINE), faults=("rst at=40 every=2",)),
    "talk": script(Final("The Rhine."), Final("It begins in Switzerland."), Final("It ends in the North Sea.")),
    "filtered anthropic": script(Final(RHINE), faults=("content_filter pattern=Alps shows=error wire=anthropic",)),
    "filtered": script(Final(RHINE), faults=("content_filter pattern=Alps shows=error wire=chat",)),
    "down": script(faults=("wrong_status status=500",)),
    "tools": script(Call("population", {"city": "Basel"}), Final("About 178,000 people live in Basel.")),
    "page": script(
        WriteFile("index.html", "<p>A line of it.</p>\n\n\n\n" * 400),
        Final("Ready."),
        faults=("rst at=call+4000 first=1",),
    ),
    "remembers": script(Final("Hello, Ada."), Final("Your name is Ada.")),
    "lost": script(Final(RHINE), faults=("rst at=22 first=1", "bad_key after=1"), pace=Pace(characters=2)),
    "circles": script(Loop((Call("look", {"place": "here"}),))),
}


def programs():
    found = PROGRAM.findall(GUIDE)
    return [pytest.param(*one, id=f"{number}-{one[0]}") for number, one in enumerate(found, 1)]


@pytest.fixture
def served(monkeypatch, tmp_path):
    """Play a script as everybody whom the examples ask."""
    with ExitStack() as stack:

        def serve(played: Script) -> str:
            sim = stack.enter_context(serving(played))
            for name, url in (("OPENAI", f"{sim.url}/v1"), ("ANTHROPIC", sim.url)):
                monkeypatch.setenv(f"{name}_BASE_URL", url)
                monkeypatch.setenv(f"{name}_API_KEY", "any")
            monkeypatch.chdir(tmp_path)
            return sim.url

        yield serve


@pytest.mark.parametrize(("name", "code", "printed"), programs())
def test_each_program_of_the_guide_prints_what_the_guide_says(served, capsys, name, code, printed):
    url = served(SCRIPTS[name])
    exec(compile(code.replace(HERE, url), "library.md", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out.rstrip("\n") == printed.rstrip("\n")


def test_no_program_of_the_guide_is_left_out():
    assert len(programs()) == GUIDE.count("```python")


@pytest.mark.parametrize("name", headway.__all__)
def test_every_name_is_used_by_a_program_and_explained(name):
    code = "".join(program[1] for program in PROGRAM.findall(GUIDE))
    assert re.search(rf"\bheadway\.{name}\b|import .*\b{name}\b", code) or name in {"Turn", "Reply", "Agent", "Tool"}
    assert re.search(rf"\*\*`(?:headway\.)?{name}s?`", GUIDE)
    assert re.search(rf"^\|.*`{name}`", GUIDE, re.MULTILINE)


def test_the_guide_knows_how_many_names_there_are():
    assert f"These {len(headway.__all__)} names" in GUIDE


DAY = {"room": "Rhine", "day": "2026-12-24", "name": "Ada"}
EXAMPLES: dict[str, tuple[Script, str]] = {
    "stream_text": (SCRIPTS["cut"], RHINE),
    "own_tools": (
        script(
            Call("free_rooms", {"day": "2026-12-24"}),
            Call("book_room", DAY),
            Final("Rhine is yours."),
            faults=("rst at=call+10 first=2",),
        ),
        "Rhine is yours.\n{'2026-12-24 Rhine': 'Ada'}",
    ),
    "several_providers": (
        SCRIPTS["filtered anthropic"],
        "openai/gpt-5.5 had the last word, after 2 requests: It begins",
    ),
    "many_at_once": (script(Final("I do not know."), faults=("rst at=5 first=3",)), "Ticino: I do not know."),
    "write_a_page": (SCRIPTS["page"], "kept, and gone on with]"),
    "chat": (SCRIPTS["cut"], f"> {RHINE}\n> \nTo go on: python chat.py "),
}
"""What plays the model for each example, and what is printed then."""


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_example_runs(served, name):
    played, said = EXAMPLES[name]
    served(played)
    program = [sys.executable, str(ROOT / "examples" / f"{name}.py")]
    done = subprocess.run(program, input="Hi.\n", capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    assert said in done.stdout, done.stdout


def test_no_example_is_left_out():
    found = sorted(path.stem for path in (ROOT / "examples").glob("*.py"))
    assert found == sorted(EXAMPLES)
    readme = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    assert [name for name in found if f"| [{name}.py]({name}.py) |" not in readme] == []
