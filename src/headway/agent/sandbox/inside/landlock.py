"""Landlock: a process that gives up rights on files, ports and signals for itself and all it will ever start.

Rules only grant, so everything that may be done is listed: what may be read is every file but those hidden, found by
going down to each hidden place and granting all that lies beside the way. Rights that a kernel does not know are not
asked for, and `lacks` says what it then cannot deny.
"""

import ctypes
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from stat import S_ISDIR

from .system import syscall

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_ON_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_BEFORE_2 = (1 << 13) - 1
_CONNECT_AND_BIND = 0b11
_SOCKETS, _SIGNALS = 0b01, 0b10
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")


class _Ruleset(ctypes.Structure):
    """`struct landlock_ruleset_attr`, as of version 6."""

    _fields_ = (("files", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    """`struct landlock_path_beneath_attr`."""

    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def version() -> int:
    """Return the version that this kernel speaks; 0 if it speaks none, or has it switched off."""
    try:
        return syscall(_CREATE_RULESET, ctypes.c_void_p(None), 0, 1)
    except OSError:
        return 0


def keep_signals_inside() -> bool:
    """Give up signals to anybody but those who come from this process; say whether they are given up for sure.

    All of them can then be reached by one signal to everybody, and nobody else is. It does not hinder what they do.
    """
    if version() < 6:
        return False
    # Moving files between folders is denied by every ruleset that does not speak of it.
    ruleset = syscall(_CREATE_RULESET, ctypes.byref(_Ruleset(_REFER, 0, _SIGNALS)), 24, 0)
    try:
        _grant(ruleset, "/", _REFER)
        syscall(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)
    try:
        os.kill(os.getppid(), 0)
    except PermissionError:
        return True
    return False


def restrict(*, writable: Sequence[str], hidden: Sequence[str] | None, network: bool) -> None:
    """Give up everything but reading, and writing below some places.

    With `hidden`, reading is given up there too; None leaves that to whoever has hidden it already. This process must
    have given up gaining privileges before.
    """
    known = version()
    files = _BEFORE_2 | _REFER * (known >= 2) | _TRUNCATE * (known >= 3) | _IOCTL_DEV * (known >= 5)
    if hidden is None:
        files &= ~_READ
    net = _CONNECT_AND_BIND if known >= 4 and not network else 0
    scoped = _SOCKETS | _SIGNALS if known >= 6 else 0
    attributes = _Ruleset(files, net, scoped)
    size = 24 if known >= 6 else 16 if known >= 4 else 8
    ruleset = syscall(_CREATE_RULESET, ctypes.byref(attributes), size, 0)
    try:
        for path in writable:
            # A place with something hidden in it is written to as a whole, and read entry by entry.
            open_to_reading = hidden is None or not any(_is_below(one, path) for one in hidden)
            _grant(ruleset, path, files if open_to_reading else files & ~(_EXECUTE | _READ_FILE))
        for path in DEVICES:
            _grant(ruleset, path, files & (_WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV))
        if hidden is not None:
            _grant(ruleset, "/", _READ_DIR)
            for path in _readable("/", hidden):
                _grant(ruleset, path, _READ)
            for root in writable:
                for path in _readable(root, hidden) if any(_is_below(one, root) for one in hidden) else ():
                    _grant(ruleset, path, _READ)
        syscall(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _readable(folder: str, hidden: Iterable[str]) -> Iterator[str]:
    """Return places below a folder, as few as can be, that hold everything but what is hidden."""
    inside = [one for one in hidden if one == folder or _is_below(one, folder)]
    if folder == "/dev":
        return
    if not inside and folder != "/":
        yield folder
    elif folder not in inside:
        with suppress(OSError), os.scandir(folder) as entries:
            # What a link points to has its own place, or is hidden there.
            for entry in [entry for entry in entries if not entry.is_symlink()]:
                if entry.is_dir(follow_symlinks=False):
                    yield from _readable(entry.path, inside)
                elif entry.path not in inside:
                    yield entry.path


def _grant(ruleset: int, path: str, rights: int) -> None:
    """Allow rights at a place and below it; one that is not there, or that cannot be opened, is left out."""
    with suppress(OSError):
        place = os.open(path, os.O_PATH | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            if not S_ISDIR(os.fstat(place).st_mode):
                rights &= _ON_FILES
            syscall(_ADD_RULE, ruleset, 1, ctypes.byref(_Beneath(rights, place)), 0)
        finally:
            os.close(place)


def _is_below(path: str, folder: str) -> bool:
    return path != folder and path.startswith(folder.rstrip("/") + "/")
