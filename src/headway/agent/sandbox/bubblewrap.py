"""The arguments of `bwrap` for a view of the files and for namespaces of one's own."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from headway.agent.sandbox.views import Kind, Step

KEPT_BY_ROOT = ("CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID")
"""Root works on files of others. It cannot mount, trace, make devices or change the machine."""
FOR_SUPERVISOR = "CAP_SYS_NICE"
"""It must get its turn in a flood of processes. What it starts does not have this."""
KERNEL = ("/proc/sys", "/proc/sysrq-trigger")
"""Root can write there without any capability, and `bwrap` leaves that open."""
DEAF = ("/bin/sh", "-c", 'trap "" TERM; exec "$@"', "sh")
"""Starts `bwrap` deaf to SIGTERM: it would die at once and take along who only wants to tidy up. The supervisor inside
hears it, and ends in time."""


def arguments(
    bwrap: str, steps: Sequence[Step], *, folder: Path, network: bool, is_root: bool, nested: bool
) -> tuple[str, ...]:
    """Return what to put before a command. `nested` lets it make user namespaces of its own."""
    words = [*DEAF, bwrap, "--die-with-parent", "--as-pid-1", "--unshare-pid", "--unshare-ipc", "--unshare-uts"]
    words += [] if network else ["--unshare-net", "--hostname", "sandbox"]
    words += ["--cap-drop", "ALL"]
    if is_root:
        words += [word for name in (*KEPT_BY_ROOT, FOR_SUPERVISOR) for word in ("--cap-add", name)]
    else:
        words += ["--unshare-user"] if nested else ["--unshare-user", "--disable-userns"]
    words += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    words += [word for path in KERNEL if is_root for word in ("--ro-bind-try", path, path)]
    words += [word for step in steps for word in _step(step)]
    masked = [str(step.path) for step in steps if step.kind is Kind.MASK]
    words += [word for path in masked for word in ("--remount-ro", path)]
    return (*words, "--chdir", str(folder), "--")


def _step(step: Step) -> Iterator[str]:
    path, source = str(step.path), str(step.source or step.path)
    match step.kind:
        case Kind.PRIVATE:
            yield from ("--bind", source, path)
        case Kind.MASK:
            yield from ("--tmpfs", path)
        case Kind.EMPTY:
            yield from ("--ro-bind", source, path)
        case Kind.WRITE:
            yield from ("--bind-try", source, path)
        case Kind.KEEP:
            yield from ("--ro-bind-try", source, path)
