"""Ways out of the sandbox, tried by commands through the shell tool: all of them are refused, and the refusal is seen.

What walls of a kind cannot deny they must say, in `lacks`; nothing is left unsaid.
"""

import asyncio
import os
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from msgspec import Struct

from headway.agent.happenings import Done
from headway.agent.sandbox.confinement import Walls
from headway.agent.sandbox.words import lacks
from headway.agent.tools.shell import shell
from headway.agent.tools.tool import ToolContext
from headway.sim.script import Call, Final, Script
from support.lab import in_lab
from support.walls import EVERY_WALL, SECRET, SOME_WALL, Den, Prisoner, den, means_or_skip, prisoner

SEPARATOR = "=== "
PATIENCE = 30.0
USERS_NOTHING = ("permissions and owners",)
SOCKETS = ("sockets of other programs",)
DATAGRAMS = ("UDP", "the network")


class Escape(Struct, frozen=True):
    """One way out."""

    name: str
    command: str
    """In it, `{victim}` is a file outside, `{pid}` a process outside."""
    lacking: tuple[str, ...] = ()
    """How Landlock alone says that it cannot deny this, if it cannot."""
    since: int = 0
    """The version of Landlock that can, if one can."""


WRITES = [
    Escape("dots", "echo x > ../outside/{name}.txt"),
    Escape("more dots", "echo x > ./a/../../outside/{name}.txt"),
    Escape("absolute path", "echo x > {victim}"),
    Escape("append", "echo x >> {victim}"),
    Escape("new file", "echo x > {victim}.new"),
    Escape("new folder", "mkdir {victim}.d"),
    Escape("link that was there", "echo x > way-out/{name}.txt"),
    Escape("link that was made", "ln -s {outside} lnk && echo x > lnk/{name}.txt"),
    Escape("link in a link", "mkdir -p l1 && ln -s .. l1/l2 && ln -s l1/l2/../outside l3 && echo x > l3/{name}.txt"),
    Escape("hard link to it", "ln {victim} hard && echo x > hard"),
    Escape("hard link of ours", "echo x > own && ln -f own {victim}"),
    Escape("tee", "echo x | tee {victim}"),
    Escape("python", 'python3 -c \'open("{victim}", "w").write("x")\''),
    Escape("copy over", "echo x > c && cp c {victim}"),
    Escape("move over", "echo x > m && mv -f m {victim}"),
    Escape("move away", "mv {victim} moved"),
    Escape("remove", "rm -f {victim}"),
    Escape("remove the folder", "rm -rf {outside}"),
    Escape("permissions", "chmod 777 {victim}", USERS_NOTHING),
    Escape("permissions by python", "python3 -c 'import os; os.chmod(\"{victim}\", 0o777)'", USERS_NOTHING),
    Escape("owner", "chown 12345 {victim}", USERS_NOTHING),
    Escape("times", "touch -d 2001-01-01 {victim}", USERS_NOTHING),
    Escape("truncate", "truncate -s 0 {victim}"),
    Escape("truncate on opening", ": > {victim}"),
    Escape("dd", "dd if=/dev/zero of={victim} bs=1 count=1"),
    Escape("sed in place", "sed -i s/u/x/ {victim}"),
    Escape("install", "echo x > i && install i {victim}"),
    Escape("fifo", "mkfifo {victim}.fifo"),
    Escape("socket file", "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"{victim}.s\")'"),
    Escape("own root in proc", "echo x > /proc/self/root{victim}"),
    Escape("own folder in proc", "echo x > /proc/self/cwd/../outside/{name}.txt"),
    Escape("root of the first process", "echo x > /proc/1/root{victim}"),
    Escape("root of a process outside", "echo x > /proc/{pid}/root{victim}"),
    Escape("open file of a process outside", "echo x > /proc/{pid}/fd/{fd}"),
    Escape("bind mount", "mkdir -p bm && mount --bind {outside} bm && echo x > bm/{name}.txt"),
    Escape("remount", "mount -o remount,rw / && echo x > {victim}"),
    Escape("new namespaces", "unshare -Urm sh -c 'mount -o remount,rw,bind / ; echo x > {victim}'"),
    Escape(
        "mount in new namespaces",
        "mkdir -p nm && unshare -Urm sh -c 'mount --bind {outside} nm && echo x > nm/{name}.txt'",
    ),
    Escape("namespaces of another", "nsenter -t 1 -m sh -c 'echo x > {victim}'"),
    Escape("root of our own", "mkdir -p cr && chroot {outside} /bin/true"),
    Escape("device of our own", "mknod disk b 254 0 && head -c 512 disk | grep -c ."),
    Escape("disk itself", 'test -n "$(head -qc 512 /dev/[sv]da /dev/nvme0n1 /dev/xvda 2>/dev/null | head -c 1)"'),
    Escape("settings of the kernel", "echo x > /proc/sys/kernel/hostname"),
    Escape("what runs at a crash", "echo '|/bin/sh' > /proc/sys/kernel/core_pattern"),
    Escape("system files", "echo x > /etc/headway-was-here"),
    Escape("control groups", "mkdir /sys/fs/cgroup/headway-was-here"),
    Escape("start file of the shell", "echo x >> ~/.bashrc"),
    Escape("keys that may log in", "echo x >> ~/.ssh/authorized_keys"),
]
READS = [
    Escape("secret", "cat ~/.ssh/id_ed25519"),
    Escape("secret by its path", "cat {home}/.aws/credentials"),
    Escape("secret file", "test -s ~/.netrc && cat ~/.netrc"),
    Escape("secret through a link that was there", "cat to-secrets/id_ed25519"),
    Escape("secret through a link that was made", "ln -s ~/.netrc n; test -s n && cat n"),
    Escape("secret through dots", "cat way-out/../home/.ssh/id_ed25519"),
    Escape("secret by a hard link", "ln ~/.ssh/id_ed25519 k && cat k"),
    Escape("secret moved", "mv ~/.ssh here && cat here/id_ed25519"),
    Escape("secret copied", "cp -r ~/.ssh there && cat there/id_ed25519"),
    Escape("secret found", "grep -rs 'hush' {home}"),
    Escape("secret through proc", "cat /proc/self/root{home}/.ssh/id_ed25519"),
    Escape("secret through a process outside", "cat /proc/{pid}/root{home}/.ssh/id_ed25519"),
    Escape(
        "secret unmasked", "umount -l ~/.ssh; umount -l ~/.netrc; test -s ~/.netrc && cat ~/.ssh/id_ed25519 ~/.netrc"
    ),
    Escape("secret unmasked in new namespaces", "unshare -Urm sh -c 'umount -l ~/.ssh; cat ~/.ssh/id_ed25519'"),
    Escape("environment", "env | grep hush"),
    Escape("own environment in proc", "tr '\\0' '\\n' < /proc/self/environ | grep hush"),
    Escape("environment of the parent", "tr '\\0' '\\n' < /proc/$PPID/environ | grep hush"),
    Escape("environment of a process outside", "tr '\\0' '\\n' < /proc/{pid}/environ | grep hush"),
    Escape("every environment", "cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep hush"),
    Escape("memory of a process outside", "head -c 1 /proc/{pid}/mem"),
    Escape("memory map of a process outside", "test -s /proc/{pid}/maps && cat /proc/{pid}/maps"),
]
SEND = "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', {udp}))"
WAYS = [
    Escape("tcp", "exec 3<>/dev/tcp/127.0.0.1/{tcp} && echo x >&3", ("the network",), since=4),
    Escape(
        "tcp by python",
        'python3 -c \'import socket; socket.create_connection(("127.0.0.1", {tcp}), 2).send(b"x")\'',
        ("the network",),
        since=4,
    ),
    Escape("udp", "echo x > /dev/udp/127.0.0.1/{udp}", DATAGRAMS),
    Escape("udp, as for names", f'python3 -c "{SEND}"', DATAGRAMS),
    Escape(
        "socket of a daemon", "python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"{sock}\")'", SOCKETS
    ),
    Escape(
        "socket without a path",
        "python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"\\0{abstract}\")'",
        SOCKETS,
        since=6,
    ),
    Escape("signal", "kill -KILL {sleeper}", ("signals",), since=6),
]
ALL = [*WRITES, *READS, *WAYS]


class Tried(Struct):
    """What came of all ways out, tried one after another behind the same walls."""

    prisoner: Prisoner
    statuses: dict[str, int]
    outputs: dict[str, str]
    changed: set[str]
    heard: set[str]
    answer: str


def script_of(escapes: list[Escape], facts: dict[str, str], outside: Path) -> str:
    """Write a command that tries each way in a shell of its own."""
    lines = []
    for escape in escapes:
        name = escape.name.replace(" ", "-")
        command = escape.command
        for key, value in {**facts, "name": name, "victim": str(outside / f"{name}.txt")}.items():
            command = command.replace(f"{{{key}}}", value)
        lines += [
            f"echo '{SEPARATOR}{escape.name}'",
            f"bash -c {shlex.quote(command)} 2>&1 </dev/null",
            'echo "=status $?"',
        ]
    return "\n".join(lines)


@contextmanager
def listeners(place: Den) -> Iterator[tuple[dict[str, str], set[str]]]:
    """Listen on every kind of socket; return where, and the names of those that were reached."""
    heard: set[str] = set()
    stop = threading.Event()
    abstract = f"headway-{time.monotonic_ns()}"
    with ExitStack() as stack:
        tcp, udp, path, hidden = (
            stack.enter_context(socket.socket(family, kind))
            for family, kind in (
                (socket.AF_INET, socket.SOCK_STREAM),
                (socket.AF_INET, socket.SOCK_DGRAM),
                (socket.AF_UNIX, socket.SOCK_STREAM),
                (socket.AF_UNIX, socket.SOCK_STREAM),
            )
        )
        tcp.bind(("127.0.0.1", 0))
        udp.bind(("127.0.0.1", 0))
        path.bind(str(place.outside / "daemon.sock"))
        hidden.bind(f"\0{abstract}")
        for one in (tcp, path, hidden):
            one.listen()

        def wait(name: str, one: socket.socket) -> None:
            one.settimeout(0.05)
            while not stop.is_set():
                try:
                    one.recv(10) if one is udp else one.accept()[0].close()
                except TimeoutError:
                    continue
                heard.add(name)

        threads = [
            threading.Thread(target=wait, args=pair)
            for pair in (("tcp", tcp), ("udp", udp), ("socket of a daemon", path), ("socket without a path", hidden))
        ]
        for thread in threads:
            thread.start()
        try:
            facts = {"tcp": str(tcp.getsockname()[1]), "udp": str(udp.getsockname()[1])}
            yield {**facts, "sock": str(place.outside / "daemon.sock"), "abstract": abstract}, heard
        finally:
            stop.set()
            for thread in threads:
                thread.join()


@contextmanager
def every_way_tried(walls: Walls) -> Iterator[Tried]:
    """Try every way out, from behind one kind of walls, in one command."""
    with ExitStack() as stack:
        held = stack.enter_context(prisoner(walls))
        place = held.den
        victims = {escape.name: place.victim(escape.name) for escape in WRITES}
        before = {name: (path.stat(), path.read_text()) for name, path in victims.items()}
        facts, heard = stack.enter_context(listeners(place))
        secretive = {**os.environ, "MY_API_KEY": SECRET}
        # It stands for Headway: a process outside, with the same rights, with secrets and an open file.
        open_file = os.open(victims["open file of a process outside"], os.O_RDWR)
        stack.callback(os.close, open_file)
        outsider, sleeper = (
            stack.enter_context(subprocess.Popen(["sleep", "600"], env=secretive, pass_fds=(open_file,)))
            for _ in range(2)
        )
        stack.callback(sleeper.kill)
        stack.callback(outsider.kill)
        facts |= {"home": str(place.home), "outside": str(place.outside), "pid": str(outsider.pid)}
        facts |= {"fd": str(open_file), "sleeper": str(sleeper.pid)}
        answer = held.shell(script_of(ALL, facts, place.outside), 120)
        if sleeper.poll() is not None:
            heard.add("signal")
        statuses, outputs = {}, {}
        for part in answer.split(SEPARATOR)[1:]:
            name, _, rest = part.partition("\n")
            output, _, status = rest.rpartition("=status ")
            statuses[name], outputs[name] = int(status.split()[0]), output
        changed = {name for name, path in victims.items() if not is_untouched(path, *before[name])}
        changed |= {name for name in victims if new_beside(victims[name])}
        yield Tried(held, statuses, outputs, changed, set(heard), answer)


def is_untouched(path: Path, stat: os.stat_result, text: str) -> bool:
    if not path.exists():
        return False
    now = path.stat()
    facts = ("st_ino", "st_mode", "st_uid", "st_gid", "st_mtime", "st_nlink")
    return path.read_text() == text and all(getattr(now, fact) == getattr(stat, fact) for fact in facts)


def new_beside(victim: Path) -> bool:
    return any(one != victim for one in victim.parent.glob(f"{victim.name}*"))


def cannot_be_denied(walls: Walls, tried: Tried, escape: Escape) -> bool:
    """Say whether these walls have a gap here; then it must be one that is told to people."""
    means = tried.prisoner.sandbox.means
    if walls is not Walls.LANDLOCK or not escape.lacking or (escape.since and means.landlock >= escape.since):
        return False
    said = lacks(means, tried.prisoner.sandbox.confinement)
    assert any(words in one for words in escape.lacking for one in said), "a gap that nobody is told about"
    return True


def is_out(tried: Tried, escape: Escape) -> bool:
    """Say whether a way led out: something was changed, read or reached, or the command thought so."""
    if SECRET in tried.outputs[escape.name] or escape.name in tried.changed:
        return True
    if any(escape.name.startswith(name) for name in tried.heard):
        return True
    # Nobody is told whether a datagram arrives.
    return tried.statuses[escape.name] == 0 and not escape.name.startswith("udp")


@EVERY_WALL
def test_every_way_out_is_refused(walls):
    """One test for all ways: putting walls up is what costs."""
    with every_way_tried(walls) as tried:
        assert set(tried.statuses) == {escape.name for escape in ALL}, "each was tried"
        denied = [escape for escape in ALL if not cannot_be_denied(walls, tried, escape)]
        assert len(denied) > 60
        assert {one.name: tried.outputs[one.name] for one in denied if is_out(tried, one)} == {}


def test_without_walls_the_same_ways_lead_out():
    """The tries themselves are good: where nothing holds them, they change, read and reach what they want."""
    easy = {"dots", "absolute path", "link that was there", "tee", "python", "move over", "permissions", "truncate"}
    with den() as place, listeners(place) as (facts, heard):
        held = Prisoner(place, None)
        victims = {escape.name: place.victim(escape.name) for escape in WRITES}
        facts |= {"home": str(place.home), "outside": str(place.outside), "sleeper": "0", "pid": "1", "fd": "9"}
        escapes = [
            escape for escape in (*WRITES, *READS[:8], *WAYS[:-1]) if escape.name in easy or escape not in WRITES
        ]
        answer = held.shell(script_of(escapes, facts, place.outside))
        assert {name for name in easy if victims[name].read_text() == "untouched\n"} <= {"permissions"}
        assert answer.count(SECRET) >= 6
        assert heard == {"tcp", "udp", "socket of a daemon", "socket without a path"}


# What a command may do


@SOME_WALL
def test_work_in_the_workspace_goes_on_as_ever(walls):
    with prisoner(walls) as held:
        said = held.shell("echo a >f && mkdir d && mv f d/ && ln d/f g && ln -s g h && chmod 700 g && cat h && pwd")
        assert said == f"a\n{held.den.work}\n[exit status 0]"
        name = f"kept-{time.monotonic_ns()}"
        said = held.shell(f"echo kept >$TMPDIR/{name}; mktemp >/dev/null && cat ~/notes.txt")
        assert said == "nothing special\n[exit status 0]"
        assert held.shell(f"cat $TMPDIR/{name}; echo $((1+1)) | cat; git init -q r && ls r/.git/HEAD") == (
            "kept\n2\nr/.git/HEAD\n[exit status 0]"
        ), "what is temporary lasts from one command to the next"
        assert not Path("/tmp", name).exists(), "and nobody else sees it"
        assert held.shell("kill -SEGV $$") == "[no output]\n[ended by SIGSEGV]"
        assert held.shell("exit 3") == "[no output]\n[exit status 3]"


@SOME_WALL
def test_programs_find_the_devices_that_they_need(walls):
    with prisoner(walls) as held:
        said = held.shell(
            "echo x >/dev/null; head -c 3 /dev/zero | wc -c; head -c 2 /dev/urandom | wc -c; cat </dev/null"
        )
        assert said == "3\n2\n[exit status 0]"


@SOME_WALL
def test_a_server_and_its_client_in_one_command_can_talk(walls):
    script = (
        "import socket, threading\n"
        "s = socket.create_server(('127.0.0.1', 0))\n"
        "c = socket.create_connection(s.getsockname())\n"
        "print('talked')"
    )
    with prisoner(walls) as held:
        said = held.shell(f"python3 -c {shlex.quote(script)}")
        if walls is Walls.LANDLOCK and held.sandbox.means.landlock >= 4:
            assert "Permission denied" in said, "Landlock denies all of TCP"
        else:
            assert "talked" in said


@SOME_WALL
def test_what_is_allowed_beside_the_workspace_is_allowed(walls):
    means = means_or_skip(walls)
    with den() as place:
        (place.base / "cache").mkdir()
        held = Prisoner(place, means, writable=(place.base / "cache",), network=True)
        try:
            assert held.shell(f"echo x > {place.base}/cache/f && echo ok") == "ok\n[exit status 0]"
            assert "[exit status 1]" in held.shell(f"echo x > {place.outside}/f")
            with listeners(place) as (facts, heard):
                held.shell(f"echo x > /dev/tcp/127.0.0.1/{facts['tcp']}; sleep 0.2")
            assert "tcp" in heard
        finally:
            held.close()


@EVERY_WALL
def test_what_is_kept_stays_as_it_is(walls):
    """A hook of git would run outside, at the next commit of the user."""
    means = means_or_skip(walls)
    if walls is Walls.LANDLOCK:
        pytest.skip("NOT TRIED: Landlock alone cannot take back what it has granted above")
    with den() as place:
        hooks, settings = place.work / ".git" / "hooks", place.work / "headway.toml"
        hooks.mkdir(parents=True)
        settings.write_text("")
        held = Prisoner(place, means, kept=(hooks, settings))
        try:
            for command in (
                "echo x > .git/hooks/pre-commit",
                "echo x > headway.toml",
                "mv .git/hooks .git/old",
                "rm headway.toml",
            ):
                assert "[exit status 1]" in held.shell(command), command
            assert held.shell("echo x > .git/index && echo ok") == "ok\n[exit status 0]"
        finally:
            held.close()
        assert list(hooks.iterdir()) == []


@EVERY_WALL
def test_a_secret_in_the_workspace_is_hidden_and_the_rest_is_not(walls):
    means = means_or_skip(walls)
    with den() as place:
        (place.work / ".env").write_text(SECRET)
        (place.work / "src").mkdir()
        held = Prisoner(place, means, hidden=(place.work / ".env",))
        try:
            said = held.shell(
                "echo a >src/new && cat src/new; cat .env; mv .env src/e; cat src/e; ln .env src/l; cat src/l"
            )
            assert SECRET not in said
            assert said.startswith("a\n")
        finally:
            held.close()
        assert (place.work / ".env").read_text() == SECRET


@EVERY_WALL
def test_a_workspace_in_a_folder_that_is_hidden_can_be_used(walls):
    """Settings and data may live around it."""
    means = means_or_skip(walls)
    with den() as place:
        held = Prisoner(place, means, hidden=(place.base,))
        try:
            said = held.shell(f"echo a >f && cat f; cat {place.home}/notes.txt")
        finally:
            held.close()
        assert said.startswith("a\n")
        assert "nothing special" not in said


# What is left behind, and what takes too much


def marked(marker: str) -> list[int]:
    """Return the processes that have a marker among their arguments."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if marker.encode() in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            continue
    return [pid for pid in found if pid != os.getpid()]


def there(marker: str, count: int = 2) -> None:
    deadline = time.monotonic() + PATIENCE
    while len(marked(f"sleep\0{marker}")) < count:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def gone(marker: str) -> bool:
    deadline = time.monotonic() + PATIENCE
    while marked(marker) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not marked(marker)


DAEMONS = {
    "in the background": "sleep {n} & echo started",
    "without its terminal": "nohup sleep {n} >/dev/null 2>&1 & echo started",
    "in a session of its own": "setsid sleep {n} >/dev/null 2>&1 & echo started",
    "forked twice": "(setsid bash -c 'sleep {n} & disown' >/dev/null 2>&1 &) ; sleep 0.2; echo started",
    "deaf": "bash -c 'trap \"\" TERM HUP INT; sleep {n}' & sleep 0.1; echo started",
}


@SOME_WALL
def test_nothing_outlives_its_command(walls):
    with prisoner(walls) as held:
        for name, command in DAEMONS.items():
            marker = f"98765.{time.monotonic_ns()}"
            began = time.monotonic()
            said = held.shell(command.format(n=marker))
            assert time.monotonic() - began < PATIENCE, name
            assert said == "started\n[exit status 0]\n[processes that it left in the background were ended]", name
            assert gone(marker), name


@SOME_WALL
def test_a_command_that_takes_too_long_ends_with_its_daemons(walls):
    marker = f"98765.{time.monotonic_ns()}"
    with prisoner(walls) as held:
        said = held.shell(
            f"setsid sleep {marker} & (trap '' TERM; sleep {marker}; sleep {marker}) & echo so far; wait", 1
        )
        assert said.startswith("so far\n[stopped: it took longer than 1 s")
        assert gone(marker)


@SOME_WALL
def test_a_program_that_is_asked_to_end_may_tidy_up(walls):
    with prisoner(walls) as held:
        assert "tidied" in held.shell("trap 'echo tidied; exit' TERM; sleep 5 & wait", 1)


@SOME_WALL
def test_cancelled_a_command_is_gone_with_its_daemons(walls):
    marker = f"98765.{time.monotonic_ns()}"

    async def scenario(held: Prisoner) -> float:
        task = asyncio.create_task(held.call("shell", command=f"setsid sleep {marker} & sleep {marker}"))
        await asyncio.to_thread(there, marker)
        began = time.monotonic()
        task.cancel()
        await asyncio.wait({task})
        assert task.cancelled()
        return time.monotonic() - began

    with prisoner(walls) as held:
        assert asyncio.run(scenario(held)) < PATIENCE
        assert gone(marker)


DOOMED = """
import asyncio, os, sys
from pathlib import Path
from headway.agent.sandbox.confinement import Confinement, Walls
from headway.agent.sandbox.finding import candidates
from headway.agent.sandbox.sandbox import Sandbox

means = next(means for means, _ in candidates() if means.walls is Walls(sys.argv[1]))
sandbox = Sandbox(means, Confinement(Path(sys.argv[2])))
command = f"setsid sleep {sys.argv[3]} & sleep {sys.argv[3]}"
asyncio.run(sandbox.run(["/bin/bash", "-c", command], environment=os.environ, seconds=600, on_text=print))
"""


@SOME_WALL
def test_a_killed_headway_leaves_no_orphan(walls):
    means_or_skip(walls)
    marker = f"98765.{time.monotonic_ns()}"
    with den() as place:
        arguments = [sys.executable, "-c", DOOMED, walls.value, str(place.work), marker]
        with subprocess.Popen(arguments, env={**os.environ, "TMPDIR": str(place.base)}) as doomed:
            there(marker)
            doomed.send_signal(signal.SIGKILL)
        assert gone(marker)


@SOME_WALL
def test_a_fork_bomb_is_stopped(walls):
    marker = f"98765.{time.monotonic_ns()}"
    with prisoner(walls, processes=80) as held:
        # As real ones do, it doubles; but a test must not take the machine along if it gets loose.
        next_one = "bomb $(($1 - 1))"
        body = f'[ "$1" -gt 0 ] && {{ sleep {marker} & {next_one} | {next_one} & wait; }}'
        said = held.shell(f"bomb() {{ {body}; }}; bomb 8", 60)
        assert "too many processes" in said or "Resource temporarily unavailable" in said
        assert gone(marker)


@SOME_WALL
def test_many_processes_that_only_wait_are_too_many_as_well(walls):
    marker = f"98765.{time.monotonic_ns()}"
    with prisoner(walls, processes=60) as held:
        said = held.shell(f"for i in $(seq 200); do sleep {marker} & done; wait", 60)
        assert "[stopped: it had started too many processes" in said
        assert gone(marker)


@SOME_WALL
def test_the_disk_is_not_filled(walls):
    with prisoner(walls, disk_bytes=20_000_000) as held:
        said = held.shell("head -c 300M /dev/zero > big; stat -c %s big")
        assert "File size limit" in said or "File too large" in said or "20000000" in said
        assert (held.den.work / "big").stat().st_size <= 20_000_000
        said = held.shell("for i in $(seq 1000); do head -c 5M /dev/zero > f$i; sync f$i; done")
        assert "[stopped: it was filling the disk" in said
        assert sum(path.stat().st_size for path in held.den.work.glob("f*")) < 1_000_000_000


@SOME_WALL
def test_walls_that_cannot_be_put_up_let_nothing_run(walls):
    means = means_or_skip(walls)
    with den() as place:
        held = Prisoner(place, means)
        try:
            (place.base / "work").rename(place.base / "elsewhere")
            result = asyncio.run(held.call("shell", command="touch ran"))
            assert result.is_error, result.text
            assert not (place.base / "elsewhere" / "ran").exists()
        finally:
            held.close()


# Told


@SOME_WALL
def test_a_refusal_is_explained_to_the_model(walls):
    with prisoner(walls) as held:
        said = held.shell(f"echo x > {held.den.outside}/f")
        assert said.splitlines()[-1].startswith("[the sandbox lets a command write only to the workspace")
        assert "the sandbox" not in held.shell("ls /nowhere"), "what failed by itself is not explained by it"


@SOME_WALL
def test_an_agent_that_tries_to_get_out_is_refused_and_told(tmp_path, walls):
    with prisoner(walls) as held:
        held.den.outside.joinpath("keep.txt").write_text("kept")
        commands = (f"echo x > {held.den.outside}/keep.txt", "cat ~/.ssh/id_ed25519", "cat to-secrets/id_ed25519")
        script = Script(steps=(*(Call("shell", {"command": one}) for one in commands), Final("I cannot.")))

        async def work(lab):
            endpoint = await lab.provider(script, "chat")
            agent = await lab.agent(endpoint)
            agent._tools, agent._context = (shell,), held.context
            assert await agent.ask("Get out.") == Done("I cannot.")
            bodies = [str(one.body) for one in lab.sims[0].log]
            assert len(bodies) == 4
            assert not any(SECRET in body for body in bodies), "it was shown to a provider"
            assert "the sandbox lets a command write only to the workspace" in bodies[1]

        in_lab(tmp_path, work)
        assert held.den.outside.joinpath("keep.txt").read_text() == "kept"


def test_the_default_is_no_walls_for_a_context_that_names_none(tmp_path):
    """Who makes a context by hand decides; commands and the library name them."""
    from headway.agent.workspace import Workspace

    assert ToolContext(Workspace(tmp_path)).sandbox is None
