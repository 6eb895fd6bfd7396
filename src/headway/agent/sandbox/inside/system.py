"""System calls that Python has no words for, by number or through the C library. Errors are `OSError`s."""

import ctypes
import os
from contextlib import suppress
from typing import Final

PR_SET_PDEATHSIG: Final = 1
PR_SET_CHILD_SUBREAPER: Final = 36
PR_SET_NO_NEW_PRIVS: Final = 38
PR_CAPBSET_DROP: Final = 24
PR_CAP_AMBIENT: Final = 47
PR_CAP_AMBIENT_CLEAR_ALL: Final = 4
CLONE_NEWNS: Final = 0x00020000
CLONE_NEWCGROUP: Final = 0x02000000
CLONE_NEWUTS: Final = 0x04000000
CLONE_NEWIPC: Final = 0x08000000
CLONE_NEWUSER: Final = 0x10000000
CLONE_NEWPID: Final = 0x20000000
CLONE_NEWNET: Final = 0x40000000
MS_RDONLY: Final = 0x1
MS_NOSUID: Final = 0x2
MS_NODEV: Final = 0x4
MS_REMOUNT: Final = 0x20
MS_BIND: Final = 0x1000
MS_REC: Final = 0x4000
MS_PRIVATE: Final = 0x40000
AT_FDCWD: Final = -100
AT_RECURSIVE: Final = 0x8000
SYS_MOUNT_SETATTR: Final = 442
"""The same on every architecture that Linux has gained or kept since 5.x, like those of Landlock."""
KEPT_BY_ROOT: Final = (0, 1, 3, 4)
"""CHOWN, DAC_OVERRIDE, FOWNER, FSETID: root works on files of others; nothing here mounts, traces or makes devices."""
_CAPABILITIES: Final = 0x20080522
_LAST_CAPABILITY: Final = 63

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


class _Attributes(ctypes.Structure):
    """`struct mount_attr`."""

    _fields_ = (
        ("attr_set", ctypes.c_uint64),
        ("attr_clr", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns_fd", ctypes.c_uint64),
    )


def syscall(number: int, *arguments: object) -> int:
    """Make a system call; integers are passed as words, so give pointers as ctypes values."""
    given = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    return _checked(_libc.syscall(ctypes.c_long(number), *given))


def prctl(option: int, *values: int) -> None:
    """Change something about this process."""
    words = [ctypes.c_ulong(value) for value in (*values, 0, 0, 0, 0)[:4]]
    _checked(_libc.prctl(ctypes.c_int(option), *words))


def unshare(flags: int) -> None:
    """Leave the namespaces that the flags name, for new ones."""
    _checked(_libc.unshare(ctypes.c_int(flags)))


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    """Mount."""
    words = [os.fsencode(one) or None for one in (source, target, kind)]
    _checked(_libc.mount(*words, ctypes.c_ulong(flags), os.fsencode(options) or None), target)


def set_mount(target: str, *, add: int = 0, remove: int = 0, recursive: bool = False) -> None:
    """Change what a mount, or all below it, permits."""
    attributes = _Attributes(add, remove, 0, 0)
    flags, size = AT_RECURSIVE if recursive else 0, ctypes.sizeof(attributes)
    path = ctypes.c_char_p(os.fsencode(target))
    syscall(SYS_MOUNT_SETATTR, AT_FDCWD, path, flags, ctypes.byref(attributes), size)


def set_hostname(name: bytes) -> None:
    """Name this machine, for those in the same namespace."""
    _checked(_libc.sethostname(name, ctypes.c_size_t(len(name))))


def give_up_capabilities(kept: tuple[int, ...] = ()) -> None:
    """Give up all that root may do, but for those kept, now and after every exec."""
    mask = sum(1 << one for one in kept)
    for one in range(_LAST_CAPABILITY + 1):
        if not mask >> one & 1:
            with suppress(OSError):  # there is none of this number, or one who is not root need not give it up
                prctl(PR_CAPBSET_DROP, one)
    with suppress(OSError):  # a kernel that has no such set
        prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES, 0)
    sets = (ctypes.c_uint32 * 6)()
    _checked(_libc.capget(header, sets))
    for at in (0, 1):  # effective and permitted, of the low half; nothing of the high half is kept
        sets[at] &= mask
        sets[at + 3] = 0
    sets[2] = sets[5] = 0
    _checked(_libc.capset(header, sets))


def _checked(result: int, path: str | None = None) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), path)
    return result
