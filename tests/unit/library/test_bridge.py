"""An interrupt at any moment of a wait: it is raised, and nothing of the work is left."""

import asyncio
import linecache
import sys
import warnings

import pytest

from headway.library import bridge
from headway.library.bridge import Bridge

MOMENTS = 60
"""More than the lines that a wait runs through."""


class Interrupting:
    """Interrupts the thread that it traces, before the nth line of the bridge that it comes to."""

    def __init__(self, moment: int) -> None:
        self._left = moment
        self.struck = False

    def __call__(self, frame, event, _):
        if frame.f_code.co_filename != bridge.__file__:
            return None
        line = linecache.getline(bridge.__file__, frame.f_lineno).strip()
        # The line of a `with` comes up again before it lets go: Python takes no signal there, only a trace comes by.
        if event == "line" and not self.struck and not line.startswith("with "):
            self._left -= 1
            if self._left <= 0:
                self.struck = True
                raise KeyboardInterrupt
        return self


def run_interrupted(made: Bridge, moment: int, work) -> bool:
    """Run work with an interrupt; say whether there was one, which there is not if the work was done before."""
    before, interrupting = sys.gettrace(), Interrupting(moment)
    sys.settrace(interrupting)
    try:
        assert made.run(work) == "done"
    except KeyboardInterrupt:
        assert interrupting.struck
    finally:
        sys.settrace(before)
    return interrupting.struck


@pytest.mark.parametrize("is_started", [True, False], ids=["a later call", "the first call"])
def test_an_interrupt_at_any_moment_leaves_nothing_behind(is_started):
    """The first call may be interrupted too, while the thread starts: what comes next works all the same."""

    async def work() -> str:
        for _ in range(3):
            await asyncio.sleep(0)
        return "done"

    async def others() -> int:
        return len(asyncio.all_tasks()) - 2  # the one that serves, and this one

    struck = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # as for a coroutine that nobody awaited
        for moment in range(1, MOMENTS):
            made = Bridge()
            if is_started:
                assert made.run(others) == 0
            struck += run_interrupted(made, moment, work)
            assert made.run(others) == 0
            assert made.run(work) == "done"
            made.close()
    assert struck >= 10


def test_work_that_cannot_even_begin_says_so():
    made = Bridge()

    def refuses():
        raise LookupError("no such thing")

    with pytest.raises(LookupError, match="no such thing"):
        made.run(refuses)
    made.close()
