"""Worlds: whole conversations under random weather. One seed makes one world, always the same; here it is only data.

A world has days: on each, the user asks for something under that day's weather. What the model has to say and do over
all days is one script. Texts are cut from a library in which no line is like another, so that a judge can tell exactly
what of them was said, and how often.
"""

from collections.abc import Iterator
from enum import Enum
from functools import cache
from random import Random

from msgspec import Struct
from msgspec.structs import replace

from headway.recovery.ledger import Policy, Strategy
from headway.sim.script import Call, Final, Habits, Pace, Say, Script, Step, Think, WriteFile
from support.worlds_weather import Weather, weather

WIRES = ("chat", "responses", "anthropic")
LIBRARY_SIZE = 200_000
WORDS = ("river", "bridge", "lantern", "kettle", "harbour", "signal", "thread", "window", "garden", "saddle", "copper")
SMALL, MIDDLE, LARGE = (20, 300), (600, 2_200), (3_000, 9_000)


class Upset(Enum):
    """What the user, or the machine, does in the middle of a day."""

    NONE = "none"
    INTERRUPT = "interrupt"
    KILL = "kill"


class Day(Struct, frozen=True):
    """One turn of the user, and the weather at each upstream."""

    skies: tuple[Weather, ...]
    upset: Upset = Upset.NONE
    upset_after: int = 0
    """How many things the user has seen before it, that day …"""
    upset_late: float = 0.0
    """… and how many seconds it comes after that."""
    reopens: bool = False
    """Is the session closed and taken up again before it?"""

    @classmethod
    def clear(cls, world: "World") -> "Day":
        """Return a day on which nothing happens but what the user wants."""
        return cls(((),) * len(world.chain))

    @property
    def is_clear(self) -> bool:
        """Say whether nothing at all can strike."""
        return not any(self.skies)


class Upstream(Struct, frozen=True):
    """One provider of the chain."""

    wire: str
    keys: int
    seed: int
    prefill: bool = False
    reattaches: bool = False


class World(Struct, frozen=True):
    """Everything that is decided before it begins."""

    seed: int
    script: Script
    chain: tuple[Upstream, ...]
    days: tuple[Day, ...]
    policy: Policy
    has_fleet: bool
    """Do turns share what they learn about keys and health?"""
    max_output_tokens: int | None = None


def make_world(seed: int) -> World:
    """Return the world of a seed."""
    die = Random(seed)
    days = die.choice((1, 2, 2, 2, 3))
    limit = die.choice((300, 1_000)) if die.random() < 0.08 else None
    chain = tuple(_upstream(die) for _ in range(die.choice((1, 2, 2, 3))))
    script = _script(die, days)
    if limit is not None:  # then the model must be willing to make smaller calls
        script = replace(script, habits=replace(script.habits, obeys_sizes=True, piece=300))
    return World(
        seed=seed,
        script=script,
        chain=chain,
        days=tuple(_day(die, len(chain), is_first=number == 0) for number in range(days)),
        policy=_policy(die, script.pace),
        has_fleet=die.random() < 0.5,
        max_output_tokens=limit,
    )


def _upstream(die: Random) -> Upstream:
    wire = die.choice(WIRES)
    return Upstream(
        wire=wire,
        keys=die.choice((1, 1, 2)),
        seed=die.randrange(10**6),
        prefill=wire == "anthropic" and die.random() < 0.3,
        reattaches=wire == "responses" and die.random() < 0.3,
    )


def _policy(die: Random, pace: Pace) -> Policy:
    is_fast = pace.seconds < 0.1
    return Policy(
        forbidden=frozenset({Strategy.CONTINUE_DRAFT} if die.random() < 0.25 else ()),
        turn_seconds=90.0 if is_fast and die.random() < 0.3 else 1800.0,
    )


def _day(die: Random, upstreams: int, *, is_first: bool) -> Day:
    stormy = die.random() < (0.85 if is_first else 0.6)
    upset = die.choices((Upset.NONE, Upset.INTERRUPT, Upset.KILL), (7, 1.5, 1.5))[0]
    return Day(
        skies=tuple(weather(die) if stormy else () for _ in range(upstreams)),
        upset=upset,
        upset_after=die.choice((die.randint(1, 12), die.randint(1, 120))),
        upset_late=die.choice((0.0, 0.0, die.uniform(0.001, 3.0), die.uniform(0.1, 60.0))),
        reopens=not is_first and die.random() < 0.25,
    )


def _script(die: Random, days: int) -> Script:
    texts = _Texts(die)
    return Script(
        prompt="Please do the next part of your task.",
        steps=tuple(step for day in range(days) for step in _steps(die, texts, day)),
        pace=_pace(die),
        habits=Habits(
            overlap=die.choice((0, 0, 0, 60, 90)),
            offset=die.choice(("honest", "honest", "as_told", "wrong")),
            uses_drafts=die.random() < 0.85,
            obeys_sizes=die.random() < 0.9,
            piece=die.choice((300, 1_000)),
            gives_up_after=die.choice((3, 99)),
        ),
    )


def _pace(die: Random) -> Pace:
    if die.random() < 0.6:
        return Pace(characters=die.choice((7, 20, 60, 60, 200, 200)))
    seconds, first_seconds = die.choice((0.01, 0.01, 0.05, 0.3, 1.5)), die.choice((0.0, 0.5, 5.0))
    return Pace(die.choice((30, 60, 200)) if seconds < 0.1 else 200, seconds, first_seconds)


def _steps(die: Random, texts: "_Texts", day: int) -> Iterator[Step]:
    """Give what the model says and does on one day."""
    for number in range(die.choice((0, 1, 1, 1, 2))):
        if die.random() < 0.3:
            yield Think(texts.cut(*SMALL))
        if die.random() < 0.4:
            yield Say(texts.cut(*SMALL))
        for place in range(die.choice((1, 1, 1, 2, 3))):
            yield _action(die, texts, f"{day}{number}{place}", parallel=place > 0)
    if die.random() < 0.3:
        yield Think(texts.cut(*SMALL))
    yield Final(texts.cut(*die.choice((SMALL, SMALL, MIDDLE))).strip())


def _action(die: Random, texts: "_Texts", name: str, *, parallel: bool) -> Step:
    match die.choices(("write", "send", "list"), (5, 3, 1))[0]:
        case "send":
            return Call("send_letter", {"to": f"reader {name}", "words": texts.cut(*SMALL)}, parallel=parallel)
        case "list":
            return Call("list_files", {"pattern": f"f{name}*"}, parallel=parallel)
        case _:
            (size,) = die.choices((SMALL, MIDDLE, LARGE), (8, 14, 1))
            return WriteFile(f"f{name}.txt", texts.cut(*size), parallel=parallel)


class _Texts:
    """Texts of the library, one behind the other, so that no two have anything in common."""

    def __init__(self, die: Random) -> None:
        self._die = die
        self._at = die.randrange(LIBRARY_SIZE // 2)

    def cut(self, least: int, most: int) -> str:
        begin, self._at = self._at, self._at + self._die.randint(least, most)
        return _library()[begin : self._at]


@cache
def _library() -> str:
    """Return words with a number behind each: no stretch of two dozen characters is like another."""
    odd = (
        "“quoted”,",
        '"straight"',
        "naïve",
        "C:\\new",
        "→ 東京",
        "{}",
        "\n\n",
        "5 < 6 &",
        "1. ",
        "`code`",
        "é,",
        "\n",
    )
    words = (f"{WORDS[n * 7 % len(WORDS)]} {10_000 + n}{'.' if n % 9 == 8 else ''}" for n in range(LIBRARY_SIZE // 12))
    return " ".join(f"{word} {odd[n // 5 % len(odd)]}" if n % 5 == 0 else word for n, word in enumerate(words))
