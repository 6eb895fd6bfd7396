"""The guide says what the program does: its tables have not drifted, and its examples run."""

import re
import tomllib
from pathlib import Path

import pytest

from headway.sim import Ending, Script, SimServer, fault_table, read_script, scenarios
from headway.sim.catalog import FAULTS, SCOPE, read_fault
from headway.sim.manners import EVERY_WIRE
from headway.sim.place import FORMS
from headway.transport.clock import run_virtual
from unit.sim.talking import asking, post

GUIDE = (Path(__file__).parents[3] / "docs" / "guides" / "simulator.md").read_text(encoding="utf-8")


def rows() -> list[str]:
    lines = []
    for row in fault_table():
        given = " ".join(f"`{name}={value}`" for name, value in row.parameters).replace("|", "\\|")
        only = "" if set(row.wires) == EVERY_WIRE else f" Only on {' and '.join(row.wires)}."
        lines.append(f"| `{row.name}` | {given} | {row.about}{only} |")
    for table in (SCOPE, FORMS, scenarios()):
        lines += [f"| `{name}` | {about} |" for name, about in table.items()]
    return lines


@pytest.mark.parametrize("row", rows())
def test_the_tables_of_the_guide_have_not_drifted(row: str) -> None:
    assert row in GUIDE.splitlines()


def test_the_guide_knows_how_many_faults_there_are() -> None:
    assert f"breaks in {len(FAULTS)} ways" in GUIDE


def test_the_scenario_of_the_reference_can_be_read() -> None:
    (text,) = re.findall(r"```toml\n(.*?)```", GUIDE, re.DOTALL)
    assert set(tomllib.loads(text)) == {
        "about",
        "keys",
        "models",
        "strict",
        "prefill",
        "task",
        "steps",
        "faults",
        "pace",
        "habits",
    }
    script = read_script(text, "guide")
    assert len(script.steps) == 6
    assert script.pace == Script().pace
    assert script.habits == Script().habits


def test_the_fault_of_the_guide_works() -> None:
    (code,) = re.findall(r"```python\n(from headway.sim.fault import.*?)```", GUIDE, re.DOTALL)
    try:
        exec(code, {})

        async def talk() -> Ending:
            async with SimServer(Script(faults=(read_fault("hiccup seconds=2"),))) as sim:
                await post(sim, "chat", asking("chat"))
                (one,) = await sim.quiet()
                assert one.seconds == pytest.approx(2.0)
                return one.ending

        assert run_virtual(talk()) is Ending.ANSWERED
    finally:
        FAULTS.pop("hiccup", None)
