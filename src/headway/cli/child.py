"""A program that runs in our place: it has the terminal, gets the signals that are meant for it, and its end is ours.

It stays in our process group, so that Ctrl-C, Ctrl-Z and a resized window reach it from the terminal as they would
without us, in a pipeline too. What somebody sends to us alone is sent on.
"""

import asyncio
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

NOT_FOUND = 127
NOT_RUNNABLE = 126
SIGNALLED = 128
_FROM_TERMINALS = ("SIGINT", "SIGQUIT")
"""What a terminal sends to the whole group: the program has it already, then."""
_FORWARDED = (*_FROM_TERMINALS, "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2")


class CannotStart(Exception):
    """The program could not be started; carries the exit status for that."""

    def __init__(self, words: str, status: int) -> None:
        """Say why."""
        self.status = status
        super().__init__(words)


def find_program(name: str, environment: Mapping[str, str]) -> str:
    """Return the path of a program; raises `CannotStart` when there is none."""
    found = shutil.which(name, path=environment.get("PATH"))
    if found is not None:
        return found
    if os.sep in name and Path(name).exists():
        raise CannotStart(f"{name}: it is there, but cannot be run. Is it executable?", NOT_RUNNABLE)
    raise CannotStart(f"{name}: there is no such command. Is it installed, and in PATH?", NOT_FOUND)


async def run_program(program: str, command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a command in the foreground until it ends; return its exit status, 128 and more for a signal."""
    try:
        child = subprocess.Popen(command, executable=program, env=dict(environment))  # noqa: ASYNC220, S603
    except OSError as exc:
        raise CannotStart(f"{program}: it could not be started: {exc.strerror or exc}", NOT_RUNNABLE) from None
    with _forwarding(child):
        code = await asyncio.get_running_loop().run_in_executor(None, child.wait)
    return code if code >= 0 else SIGNALLED - code


@contextmanager
def _forwarding(child: "subprocess.Popen[bytes]") -> Iterator[None]:
    """Send on what is sent to us while the program runs."""
    loop = asyncio.get_running_loop()
    numbers = [getattr(signal, name) for name in _FORWARDED if hasattr(signal, name)]

    def forward(number: signal.Signals) -> None:
        if number.name not in _FROM_TERMINALS or not _in_foreground():
            child.send_signal(number)  # does nothing once it has ended

    with suppress(NotImplementedError):  # a system without such signals
        for number in numbers:
            loop.add_signal_handler(number, forward, number)
    try:
        yield
    finally:
        with suppress(NotImplementedError):
            for number in numbers:
                loop.remove_signal_handler(number)


def _in_foreground() -> bool:
    """Say whether the terminal that we belong to, if any, sends its signals to our group."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)
