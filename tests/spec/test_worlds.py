"""Worlds: the whole stack in virtual time, under random faults from a seed. A failing world prints how to replay it.

`make test` runs WORLDS of them; `make soak` as many as HEADWAY_WORLDS says.
"""

import os
import re
from random import Random

import pytest

from headway.agent.happenings import Done, ToolBegan
from headway.dialect import DIALECTS
from headway.history.invariants import violations
from headway.history.project import project
from headway.messages import ModelRequest, Text, ToolSpec, user
from headway.recovery.ledger import Policy, Strategy
from headway.sim.catalog import read_fault
from headway.sim.filler import text_of
from headway.sim.script import Call, Final, Habits, Pace, Say, Script, Think, WriteFile
from headway.wire.json_text import strict_object
from headway.wire.table import WIRES
from support.lab import asked, in_lab
from support.validators import VALIDATORS

WORLDS = int(os.environ.get("HEADWAY_WORLDS", "200"))
BATCH = 50
WEATHER = (
    "stall at=anywhere chance={}",
    "rst at=anywhere chance={}",
    "fin at=anywhere chance={}",
    "truncated_chunk at=anywhere chance={}",
    "pings_only at=anywhere chance={}",
    "empty_deltas at=anywhere chance={}",
    "garbage_frame at=anywhere chance={}",
    "output_limit at=anywhere chance={}",
    "stream_error at=anywhere chance={}",
    "no_headers chance={}",
    "wrong_status status=503 chance={}",
    "wrong_status status=500 chance={}",
    "empty_reply chance={}",
    "html_instead chance={}",
)


def weather(die: Random) -> tuple:
    chosen = die.sample(WEATHER, die.randint(0, 6))
    return tuple(read_fault(fault.format(round(die.uniform(0.02, 0.25), 3))) for fault in chosen)


def task(die: Random) -> Script:
    steps = []
    for number in range(die.randint(1, 3)):
        if die.random() < 0.4:
            steps.append(Think(text_of(die.randint(20, 200))))
        if die.random() < 0.4:
            steps.append(Say(f"Step {number}: I write a file. "))
        steps.append(WriteFile(f"f{number}.txt", text_of(die.randint(50, 9000))))
        if die.random() < 0.3:
            steps.append(Call("list_files", {"path": "."}))
    steps.append(Final(text_of(die.randint(20, 1500))))
    return Script(
        prompt="Write the files.",
        steps=tuple(steps),
        pace=Pace(characters=die.choice([7, 20, 200]), seconds=die.choice([0, 0, 0.01])),
        habits=Habits(overlap=die.choice([0, 0, 30, 60])),
    )


def judge(lab, script, ending):
    """Hold a world to the promises."""
    wanted = {step.path: step.content for step in script.steps if isinstance(step, WriteFile)}
    for happening in lab.told(ToolBegan):
        given = strict_object(happening.call.arguments)
        if happening.call.name == "write_file":
            assert given["content"] in wanted[given["path"]], "what ran is a whole piece of what was meant"
    for path in lab.folder.iterdir():
        assert wanted[path.name].startswith(path.read_text(encoding="utf-8")), "no effect happened twice"
    history = lab.session.state.history
    tools = (
        ToolSpec("write_file", parameters={"type": "object"}),
        ToolSpec("list_files", parameters={"type": "object"}),
    )
    for name, wire in WIRES.items():
        request = ModelRequest("m", (*history, user("go on")), tools=tools, system=(Text("s"),))
        sent = project(request, DIALECTS[name]).request
        assert violations(sent, DIALECTS[name]) == []
        assert VALIDATORS[name](wire.render_request(sent)) == []
    if isinstance(ending, Done) and not any(sim.log[-1].faults for sim in lab.sims if sim.log):
        final = next(step.text for step in script.steps if isinstance(step, Final))
        assert plain(final) in plain(ending.text) or ending.text == script.afterwards, "every word, exactly once"


def plain(text: str) -> str:
    """Blank the filler's runs of dots: where one is cut, nobody can say how many of them were a repeat."""
    return re.sub(r"[.\s]*\.{3,}[.\s]*", "…", text)


def play(seed: int, folder) -> None:
    die = Random(seed)
    script = task(die)
    policy = Policy(forbidden=frozenset({Strategy.CONTINUE_DRAFT})) if die.random() < 0.3 else Policy()

    async def work(lab):
        endpoints = []
        for _ in range(die.randint(1, 3)):
            stormy = Script(**{**fields(script), "faults": weather(die)})
            endpoints.append(await lab.provider(stormy, die.choice(list(WIRES)), seed=die.randrange(10**6)))
        ending = await asked(lab, script, *endpoints, policy=policy)
        judge(lab, script, ending)

    in_lab(folder, work)


def fields(script: Script) -> dict:
    return {name: getattr(script, name) for name in script.__struct_fields__}


def worlds() -> list[range]:
    """Give the seeds to play: one that is named, or all of them in batches."""
    if named := os.environ.get("HEADWAY_WORLD"):
        return [range(int(named), int(named) + 1)]
    return [range(start, min(start + BATCH, WORLDS)) for start in range(0, WORLDS, BATCH)]


@pytest.mark.parametrize("seeds", worlds(), ids=lambda seeds: f"{seeds.start}-{seeds.stop - 1}")
def test_worlds(tmp_path, seeds):
    for seed in seeds:
        folder = tmp_path / str(seed)
        folder.mkdir()
        try:
            play(seed, folder)
        except BaseException as exc:
            exc.add_note(f"replay: HEADWAY_WORLD={seed} .venv/bin/python -m pytest tests/spec/test_worlds.py")
            raise
