"""The public names: few, pinned, typed, light, and each of them in the guide."""

import inspect
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

import headway
from headway.agent.happenings import Happening
from headway.library import notices
from headway.providers.changes import Change
from headway.turn.notices import Notice

ROOT = Path(__file__).parents[3]
NAMES = [
    "Agent",
    "AgentStopped",
    "FailureKind",
    "Headway",
    "HeadwayError",
    "InvalidInput",
    "Item",
    "Kind",
    "Limits",
    "Message",
    "Misused",
    "Provider",
    "Reply",
    "SyncAgent",
    "SyncHeadway",
    "SyncTurn",
    "TextDelta",
    "Tool",
    "ToolError",
    "Turn",
    "TurnFailed",
    "assistant",
    "events",
    "messages",
    "notices",
    "status_line",
    "tool",
    "user",
]


def test_the_public_names_are_these_and_fewer_than_thirty():
    assert headway.__all__ == NAMES
    assert len(NAMES) < 30
    assert set(dir(headway)) == {*NAMES, "__version__"}


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_there_and_says_what_it_is(name):
    value = getattr(headway, name)
    if name != "Item":  # an alias has no docstring of its own
        assert inspect.getdoc(value)


def test_a_name_that_is_not_there_is_an_ordinary_error():
    with pytest.raises(AttributeError, match="no attribute 'Agnet'"):
        _ = headway.Agnet


def test_importing_headway_loads_next_to_nothing():
    code = "import sys, headway; print([m for m in sys.modules if m.startswith(('headway.', 'asyncio', 'ssl'))])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_library_does_not_load_the_command_line_or_the_simulator():
    code = (
        "import sys, headway; [getattr(headway, name) for name in headway.__all__ if name != 'status_line'];"
        "print([m for m in sys.modules if m.startswith(('click', 'headway.sim', 'headway.cli'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_all_that_can_be_told_is_among_the_notices():
    told = [kind for union in (Notice, Happening, Change) for kind in get_args(union)]
    assert [kind.__name__ for kind in told if getattr(notices, kind.__name__, None) is not kind] == []


def test_the_types_are_shipped():
    assert (Path(headway.__file__).parent / "py.typed").is_file()


def test_what_a_program_writes_is_checked_by_its_type_checker(tmp_path):
    """A small program in strict mode: everything has the type that the guide says."""
    program = tmp_path / "program.py"
    program.write_text(
        """
import asyncio
from collections.abc import AsyncIterator
import headway

@headway.tool(kind=headway.Kind.READS)
def add(a: int, b: int) -> int:
    "Add."
    return a + b

def negate(a: int) -> int:
    "Negate."
    return -a

async def main() -> None:
    main = headway.Provider("main", wire="chat", base_url="http://127.0.0.1:1/v1", key="k", model="m")
    async with headway.Headway(main, "openai/gpt-5.5", limits=headway.Limits(attempts=2)) as hw:
        text: str = await hw.text("Hi", system="Be brief.", max_output_tokens=100)
        pieces: AsyncIterator[str] = hw.stream_text([headway.user(text), {"role": "user", "content": "Hi"}])
        turn: headway.Turn = hw.turn("Hi", tools=[add, negate])
        async for item in turn:
            if isinstance(item, headway.TextDelta):
                text += item.text
            elif isinstance(item, headway.notices.TryingAgain):
                wait: float = item.wait_seconds
        reply: headway.Reply = turn.reply
        agent: headway.Agent = hw.agent(tools=[add, negate], workspace=".", approve=lambda call: call.name == "x")
        done: headway.Reply = await agent.ask("Go.")
        again: headway.Reply = await hw.turn("Hi", after=turn)
    with headway.SyncHeadway(main) as sync:
        for event in sync.turn("Hi"):
            line: str | None = headway.status_line(event)
        words: list[str] = list(sync.stream_text("Hi"))
        outcome: headway.Reply = sync.agent(tools=[add]).ask("Go.")

asyncio.run(main())
""",
        encoding="utf-8",
    )
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(program)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={"MYPYPATH": str(ROOT / "src"), "PATH": ""},
    )
    assert [line for line in checked.stdout.splitlines() if "program.py" in line] == []
    assert "Success" in checked.stdout or "Found" in checked.stdout, checked.stderr
