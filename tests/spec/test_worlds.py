"""Worlds: the whole stack in virtual time, under random faults from a seed. A failing world prints how to replay it.

`make test` runs WORLDS of them; `make soak` as many as HEADWAY_WORLDS says. What a world is stands in
`support/worlds.py`, what it is held to in `support/worlds_judge.py`.
"""

import os
import random
from pathlib import Path
from shutil import rmtree

import pytest

from headway.sim.fault import FAULTS, name_of
from support.lab import in_lab
from support.rows import row
from support.worlds import Day, make_world
from support.worlds_account import Account
from support.worlds_judge import Judge
from support.worlds_play import Player
from support.worlds_weather import weather

WORLDS = int(os.environ.get("HEADWAY_WORLDS", "2000"))
BATCH = 100


def play(seed: int, folder: Path) -> list[Account]:
    """Play a world, judge each day, and let the weather be clear until everything is done."""
    random.seed(seed)
    world = make_world(seed)
    accounts: list[Account] = []

    async def work(lab):
        player = Player(world, lab)
        await player.begin()
        judge = Judge(player)
        for day in (*world.days, *[Day.clear(world)] * (len(world.days) + 2)):
            if len(accounts) >= len(world.days) and judge.is_done(accounts[-1]):
                break
            accounts.append(await player.live(day))
            judge.judge_day(accounts[-1])
        judge.judge_end(accounts[-1])

    in_lab(folder, work)
    return accounts


def worlds() -> list[range]:
    """Give the seeds to play: one that is named, or all of them in batches."""
    if named := os.environ.get("HEADWAY_WORLD"):
        return [range(int(named), int(named) + 1)]
    return [range(start, min(start + BATCH, WORLDS)) for start in range(0, WORLDS, BATCH)]


@row(49)
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
        rmtree(folder)  # thousands of them are not worth keeping


@pytest.mark.parametrize("seed", range(0, 40, 4))
def test_the_same_seed_is_the_same_world(tmp_path, seed):
    told = []
    for turn in ("first", "again"):
        (tmp_path / turn).mkdir()
        accounts = play(seed, tmp_path / turn)
        told.append([([item for _, item in account.heard], account.ending) for account in accounts])
    assert told[0] == told[1]


def test_every_fault_of_the_catalogue_has_its_weather():
    die = random.Random(0)
    assert {name_of(type(fault)) for _ in range(3000) for fault in weather(die)} == set(FAULTS)
