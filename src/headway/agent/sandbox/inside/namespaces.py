"""Namespaces without a helper program: an own view of the files, no network, and nobody else's processes.

Everything becomes read-only, then each step of the plan changes one place: hides it, opens it for writing, puts a
private folder there. `enter` is for the process outside, `arrange` for the first process inside.
"""
# pathlib takes longer to load than all the rest.
# ruff: noqa: PTH102, PTH103, PTH112, PTH120, PTH123, PTH211

import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from . import system
from .landlock import DEVICES

_STRICT = system.MS_RDONLY | system.MS_NOSUID | system.MS_NODEV
_SMALL = "size=1m,mode=0755"
_LINKS = {"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"}


def enter(*, network: bool) -> None:
    """Leave the namespaces of the others; the next child is the first process of the new ones."""
    own = system.CLONE_NEWNS | system.CLONE_NEWPID | system.CLONE_NEWIPC | system.CLONE_NEWUTS
    own |= 0 if network else system.CLONE_NEWNET
    user, group = os.geteuid(), os.getegid()
    try:
        system.unshare(own)
    except PermissionError:  # only who may do everything may do so without a user namespace
        system.unshare(own | system.CLONE_NEWUSER)
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{user} {user} 1")
        _write("/proc/self/gid_map", f"{group} {group} 1")


def arrange(steps: Sequence[Sequence[str]], *, network: bool) -> None:
    """Make the view of the files that the steps describe, and bring up what stands for a network."""
    system.mount("none", "/", flags=system.MS_REC | system.MS_PRIVATE)
    sources = [source if kind in {"empty", "private"} else path for kind, path, source in steps]
    with _held(sources) as handles, _held(DEVICES) as devices:
        system.set_mount("/", add=_STRICT, recursive=True)
        _make_devices(devices)
        masked = [path for (kind, path, _), handle in zip(steps, handles, strict=True) if _take(kind, path, handle)]
        for path in masked:
            system.mount("none", path, flags=system.MS_REMOUNT | system.MS_BIND | _STRICT)
    system.mount("proc", "/proc", "proc", system.MS_NOSUID | system.MS_NODEV)
    for inner in ("sys", "sysrq-trigger", "irq", "bus"):  # root could write there without any capability
        path = f"/proc/{inner}"
        with suppress(FileNotFoundError):
            system.mount(path, path, flags=system.MS_BIND | system.MS_REC)
            system.mount("none", path, flags=system.MS_REMOUNT | system.MS_BIND | _STRICT)
    if not network:
        system.set_hostname(b"sandbox")
        _bring_up_loopback()


def _take(kind: str, path: str, handle: int | None) -> bool:
    """Do one step; say whether it hid a folder, which must not be written to. What is not there is left out."""
    if handle is None:
        return False
    if kind == "mask":
        system.mount("tmpfs", path, "tmpfs", system.MS_NOSUID | system.MS_NODEV, _SMALL)
        return True
    _make_way(path, handle)
    system.mount(f"/proc/self/fd/{handle}", path, flags=system.MS_BIND | system.MS_REC)
    if kind in {"write", "private"}:
        system.set_mount(path, remove=system.MS_RDONLY, recursive=True)
    else:
        system.set_mount(path, add=_STRICT, recursive=True)
    return False


def _make_way(path: str, handle: int) -> None:
    """See that there is something to mount upon: folders above may be hidden, and empty, by now."""
    is_folder = os.path.isdir(f"/proc/self/fd/{handle}")
    os.makedirs(path if is_folder else os.path.dirname(path), exist_ok=True)
    if not is_folder and not os.path.lexists(path):
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))


def _make_devices(devices: Sequence[int | None]) -> None:
    system.mount("tmpfs", "/dev", "tmpfs", system.MS_NOSUID, "size=64m,mode=0755")
    for path, handle in zip(DEVICES, devices, strict=True):
        if handle is not None:
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))
            system.mount(f"/proc/self/fd/{handle}", path, flags=system.MS_BIND)
            system.set_mount(path, remove=system.MS_RDONLY | system.MS_NODEV)
    for name, target in _LINKS.items():
        os.symlink(target, f"/dev/{name}")
    os.mkdir("/dev/shm", 0o1777)  # noqa: S108
    os.mkdir("/dev/pts", 0o755)
    with suppress(OSError):  # without it there are no pseudo-terminals, and that is all
        system.mount("devpts", "/dev/pts", "devpts", system.MS_NOSUID, "newinstance,ptmxmode=0666,mode=0620")
        os.symlink("pts/ptmx", "/dev/ptmx")


@contextmanager
def _held(paths: Sequence[str]) -> Iterator[list[int | None]]:
    """Hold places open, so that they can be reached when something else is mounted upon them."""
    handles: list[int | None] = []
    try:
        for path in paths:
            try:
                handles.append(os.open(path, os.O_PATH | os.O_CLOEXEC))
            except OSError:
                handles.append(None)
        yield handles
    finally:
        for handle in handles:
            if handle is not None:
                os.close(handle)


def _bring_up_loopback() -> None:
    """Let tests of servers talk to themselves: a new network has a loopback device, and it is down."""
    import fcntl
    import struct

    up = 0x1 | 0x40  # IFF_UP, IFF_RUNNING
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request: Any = struct.pack("16sH14s", b"lo", up, b"")
        fcntl.ioctl(any_socket, 0x8914, request)  # SIOCSIFFLAGS


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
