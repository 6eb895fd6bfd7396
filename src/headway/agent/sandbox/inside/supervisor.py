"""Starts a command behind walls, waits for it, and lets nothing that it has started outlive it.

It is the first process of its own process namespace, or else the one to which orphans come. It ends everything when it
is asked to end, when its parent has died, when there are too many processes or when the disk fills up. What it saw goes
to a pipe as lines of JSON: that the command began, and how it ended.
"""
# pathlib takes longer to load than all the rest.
# ruff: noqa: PTH116, PTH123, PTH208

import json
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NoReturn

ASKED_SECONDS = 0.1
"""Time between asking the rest to end and killing it; less than the caller gives."""
LINGER_SECONDS = 0.1
LOOK_SECONDS = 0.1
"""How often processes are counted and the disk is looked at."""
THREADS_EACH = 4
"""The kernel counts threads; so many of them for each process that is allowed."""
NOT_STARTED = 126
_HEARD = (signal.SIGCHLD, signal.SIGTERM)


def main() -> None:
    """Do what the plan in the first argument says with the command in the rest."""
    plan, command = json.loads(sys.argv[1]), sys.argv[2:]
    os.set_inheritable(plan["report"], False)
    signal.pthread_sigmask(signal.SIG_BLOCK, _HEARD)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # bubblewrap was told to ignore it, and this is its child
    if plan["walls"] == "namespaces":
        _enter_namespaces(plan)
    is_alone = _adopt_orphans(plan) if plan["walls"] == "landlock" else os.getpid() == 1
    _Supervisor(plan, command, is_alone=is_alone).run()


class _Supervisor:
    """One command and everything that comes from it."""

    def __init__(self, plan: dict[str, Any], command: list[str], *, is_alone: bool) -> None:
        """Be `is_alone`, as the first of a process namespace is, with those who come from the command."""
        self._plan, self._command, self._is_alone = plan, command, is_alone
        self._child = 0
        self._status: int | None = None
        self._stopped = ""
        self._others = 0 if os.getpid() == 1 else _processes()
        self._free = {path: _free_bytes(path) for path in plan["watched"]}

    def run(self) -> NoReturn:
        self._limit()
        self._child = os.fork()
        if not self._child:
            self._become_the_command()
        self._say({"began": True})
        asked = self._wait()
        left = self._end_the_rest(asked=asked)
        status = self._status if self._status is not None else -signal.SIGKILL
        self._say({"status": None if self._stopped else status, "left": left, "stopped": self._stopped})
        os._exit(status if status >= 0 else 128 - status)

    def _wait(self) -> bool:
        """Wait until the command has ended; say whether everything was asked to end before."""
        while self._status is None:
            heard = signal.sigtimedwait(_HEARD, LOOK_SECONDS)
            self._reap()
            if heard is not None and heard.si_signo == signal.SIGTERM:
                return True
            self._stopped = self._stopped or self._what_is_too_much()
            if self._stopped:
                return True
        return False

    def _end_the_rest(self, *, asked: bool) -> bool:
        """End what is left, and say whether there was anything that the command had left behind."""
        if not self._stopped and self._all_gone_within(ASKED_SECONDS if asked else LINGER_SECONDS):
            return False
        if not asked:
            self._signal_all(signal.SIGTERM)
            self._all_gone_within(ASKED_SECONDS)
        while not self._all_gone_within(0.01):
            self._signal_all(signal.SIGSTOP)  # what stands still starts nothing new
            self._signal_all(signal.SIGKILL)
        return not asked

    def _all_gone_within(self, seconds: float) -> bool:
        ends_at = time.monotonic() + seconds
        while True:
            self._reap()
            try:
                os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return True
            left = ends_at - time.monotonic()
            if left <= 0:
                return False
            signal.sigtimedwait((signal.SIGCHLD,), left)

    def _reap(self) -> None:
        """Collect everybody who has ended."""
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == self._child:
                    self._status = os.waitstatus_to_exitcode(ended[1])

    def _signal_all(self, number: int) -> None:
        if self._is_alone:  # at once, so that nobody starts another meanwhile
            with suppress(ProcessLookupError, PermissionError):
                os.kill(-1, number)
            return
        for pid in _descendants():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)

    def _what_is_too_much(self) -> str:
        for path, before in self._free.items():
            now = _free_bytes(path)
            if before - now > self._plan["disk_bytes"] or now < min(self._plan["least_free_bytes"], before // 2):
                return "disk"
        # Names are counted and nothing is read: what a starving process holds, its reader would wait for.
        return "processes" if _processes() - self._others > self._plan["processes"] else ""

    def _limit(self) -> None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        _lower(resource.RLIMIT_FSIZE, self._plan["disk_bytes"])
        with open("/proc/self/uid_map", encoding="ascii") as file:
            counts_alone = file.read().split() != ["0", "0", "4294967295"]
        # A user namespace counts its own threads; elsewhere all of the user's are counted, and root's never.
        others = 0 if counts_alone else _threads_of(os.getuid())
        _lower(resource.RLIMIT_NPROC, others + self._plan["processes"] * THREADS_EACH)
        if os.getuid() == 0:
            with suppress(OSError):  # so that a flood of processes does not keep this one from ending it
                os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(1))

    def _become_the_command(self) -> NoReturn:
        walls, plan = self._plan["walls"], self._plan
        try:
            from . import landlock, system

            system.prctl(system.PR_SET_NO_NEW_PRIVS, 1)
            system.give_up_capabilities(system.KEPT_BY_ROOT if os.geteuid() == 0 else ())
            if landlock.version():  # behind namespaces it is a second wall
                hidden = plan["hidden"] if walls == "landlock" else None
                has_own_network = walls != "landlock" and not plan["network"]
                landlock.restrict(writable=plan["writable"], hidden=hidden, network=plan["network"] or has_own_network)
            elif walls == "landlock":
                raise OSError("Landlock is gone")  # noqa: TRY301
            os.chdir(plan["folder"])
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _HEARD)
            os.execv(self._command[0], self._command)  # noqa: S606  # what may run was decided before
        except OSError as error:
            os.write(2, f"the sandbox failed: {error}\n".encode())
            os._exit(NOT_STARTED)

    def _say(self, fact: dict[str, Any]) -> None:
        with suppress(OSError):  # nobody is there to hear it
            os.write(self._plan["report"], json.dumps(fact).encode() + b"\n")


def _enter_namespaces(plan: dict[str, Any]) -> None:
    """Go on in namespaces of one's own, as their first process; who stays outside passes on how that ends."""
    from . import namespaces, system

    system.prctl(system.PR_SET_PDEATHSIG, signal.SIGKILL)
    _stop_if_orphaned(plan)
    namespaces.enter(network=plan["network"])
    child = os.fork()
    if child:
        os.close(plan["report"])
        _, status = os.waitpid(child, 0)  # SIGTERM is blocked: the command may tidy up
        code = os.waitstatus_to_exitcode(status)
        os._exit(code if code >= 0 else 128 - code)
    system.prctl(system.PR_SET_PDEATHSIG, signal.SIGKILL)
    namespaces.arrange(plan["steps"], network=plan["network"])


def _adopt_orphans(plan: dict[str, Any]) -> bool:
    """Become the parent of everything that is left behind below, and hear of the death of our own parent.

    Say whether a signal to everybody reaches those below and nobody else.
    """
    from . import landlock, system

    system.prctl(system.PR_SET_CHILD_SUBREAPER, 1)
    system.prctl(system.PR_SET_PDEATHSIG, signal.SIGTERM)
    _stop_if_orphaned(plan)
    system.prctl(system.PR_SET_NO_NEW_PRIVS, 1)
    return landlock.keep_signals_inside()


def _stop_if_orphaned(plan: dict[str, Any]) -> None:
    """End if the parent had died before its death could be heard of."""
    if os.getppid() != plan["parent"]:
        os._exit(NOT_STARTED)


def _descendants() -> Iterator[int]:
    """Return all processes that come from this one."""
    parents: dict[int, int] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
            parents[int(name)] = int(file.read().rpartition(b")")[2].split()[1])
    ours = {os.getpid()}
    while new := {pid for pid, parent in parents.items() if parent in ours and pid not in ours}:
        ours |= new
        yield from new


def _processes() -> int:
    """Return how many processes there are, as far as can be seen from here."""
    return sum(map(str.isdigit, os.listdir("/proc")))


def _threads_of(user: int) -> int:
    """Return how many threads a user has, on the whole machine."""
    count = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            if os.stat(f"/proc/{name}").st_uid == user:
                count += len(os.listdir(f"/proc/{name}/task"))
    return count


def _free_bytes(path: str) -> int:
    try:
        found = os.statvfs(path)
    except OSError:
        return 0
    return found.f_bavail * found.f_frsize


def _lower(limit: int, value: int) -> None:
    _, hard = resource.getrlimit(limit)
    most = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(limit, (most, most))
