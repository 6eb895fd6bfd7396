"""A provider that misbehaves on purpose, over real sockets, scripted and seeded. For our own tests and for yours.

`SimServer` serves a `Script` on all three wires; `load_script` finds one by name or reads it from a TOML file.
"""

from headway.sim.catalog import fault_table, make_fault, read_fault
from headway.sim.exchange import Ending, Exchange
from headway.sim.scenario import load_script, read_script, scenarios
from headway.sim.script import Call, Final, Habits, Loop, Pace, Say, Script, Step, Think, WriteFile
from headway.sim.server import SimServer
from headway.sim.thread import serving

__all__ = [
    "Call",
    "Ending",
    "Exchange",
    "Final",
    "Habits",
    "Loop",
    "Pace",
    "Say",
    "Script",
    "SimServer",
    "Step",
    "Think",
    "WriteFile",
    "fault_table",
    "load_script",
    "make_fault",
    "read_fault",
    "read_script",
    "scenarios",
    "serving",
]
