"""What official clients are put through: tasks, faults on the way, and what one must have in the end."""

from typing import Any, NamedTuple

from msgspec.structs import replace

from headway.sim.catalog import read_fault
from headway.sim.script import Call, Final, Pace, Say, Script, Think, WriteFile

WIRES = ["chat", "responses", "anthropic"]
TEXT = " ".join(f"word{number}" for number in range(150))
PAGE = "".join(f'<p id="p{number}">“Line” {number} — é 😀 \\ "quoted"</p>\n' for number in range(80))
ANSWER = '{"name": "Ada", "age": 36}'
PACE = Pace(characters=60)
TALK = Script(prompt="Go.", steps=(Final(TEXT),), pace=PACE)
WRITE = Script(prompt="Go.", steps=(Say("I write it."), WriteFile("page.html", PAGE), Final("Done.")), pace=PACE)
LOOK = Script(
    prompt="Go.",
    steps=(
        Say("I look at both."),
        Call("look", {"at": "north"}),
        Call("look", {"at": "south — é"}, parallel=True),
        Final("Done."),
    ),
)
THINK = Script(prompt="Go.", steps=(Think("Let me think about it."), Final("Forty-two.")))
FORM = Script(prompt="Go.", steps=(Final(ANSWER),))
TASKS = {"talk": TALK, "write": WRITE, "look": LOOK, "think": THINK}

CUT_TEXTS = ["rst at=500 first=1", "fin at=500 first=1", "stream_error at=500 first=1", "stall at=500 first=1"]
CUT_CALLS = [
    "rst at=call+2500 first=1",
    "fin at=call+2500 first=1",
    "output_limit at=call+2500 first=1",
    "stream_error at=call+2500 first=1",
    "stall at=call+2500 first=1",
    "truncated_chunk at=call+2500 first=1",
]
QUICK = "[limits]\nsilence_seconds = 0.4\nfirst_content_seconds = 0.8\ndead_seconds = 0.4\nfirst_byte_seconds = 0.8\n"
"""Limits for stalls, which cost real seconds here."""
SOON_OVER = "[limits]\nattempts = 2\nturn_seconds = 5\n"


def limits_for(fault: str) -> str:
    return QUICK if fault.startswith("stall") else ""


class Said(NamedTuple):
    """What a client has in the end, in no client's words."""

    text: str
    calls: list[tuple[str, Any]]
    """Names and parsed arguments."""
    finish: str
    thinking: str = ""
    tokens: int = 0
    """What it was told about output; not compared."""

    def same(self) -> tuple[Any, ...]:
        """Return what must be equal to a healthy call's."""
        return self[:4]


def broken(script: Script, *faults: str) -> Script:
    return replace(script, faults=tuple(map(read_fault, faults)))
