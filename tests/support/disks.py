"""Disks that fail: SQLite's own system calls, replaced. Only for tests; Linux and macOS."""

import ctypes
import errno
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import apsw

_PWRITE = ("pwrite64", "pwrite")
_SHAPE = ctypes.CFUNCTYPE(
    ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int64, use_errno=True
)
_libc = ctypes.CDLL(None, use_errno=True)
_libc.pwrite.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int64]
_libc.pwrite.restype = ctypes.c_ssize_t


@contextmanager
def writing_by(write: Callable[[int, int, int, int], int]) -> Iterator[None]:
    """Let SQLite write by this function, until the end."""
    vfs = apsw.VFS("failing", "unix")
    function = _SHAPE(write)
    names = [name for name in _PWRITE if vfs.xGetSystemCall(name)]
    assert names, "this SQLite does not write by pwrite"
    for name in names:
        vfs.xSetSystemCall(name, ctypes.cast(function, ctypes.c_void_p).value)
    try:
        yield
    finally:
        for name in names:
            vfs.xSetSystemCall(name, 0)
        vfs.unregister()


class FillingDisk:
    """A disk that takes `room` more writes and is full then, until there is more room."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.writes = 0

    def write(self, handle: int, data: int, size: int, offset: int) -> int:
        self.writes += 1
        if self.room <= 0:
            ctypes.set_errno(errno.ENOSPC)
            return -1
        self.room -= 1
        return _libc.pwrite(handle, data, size, offset)


class DeadlyDisk:
    """A disk at whose n-th write the process is killed, with half of the write done."""

    def __init__(self, deadly: int) -> None:
        self.left = deadly

    def write(self, handle: int, data: int, size: int, offset: int) -> int:
        self.left -= 1
        if self.left == 0:
            _libc.pwrite(handle, data, size // 2, offset)
            os.kill(os.getpid(), signal.SIGKILL)
        return _libc.pwrite(handle, data, size, offset)
