"""All faults, a family a module. Importing this package fills the table of `fault.FAULTS`."""

from headway.sim.fault import FAULTS
from headway.sim.faults import calls, content, cuts, ends, errors, frames, pace, silence, statuses

__all__ = ["FAULTS", "calls", "content", "cuts", "ends", "errors", "frames", "pace", "silence", "statuses"]
