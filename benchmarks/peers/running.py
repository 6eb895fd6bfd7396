"""Starts the server and the clients, each a process of its own, and asks the clients to read.

The SDKs that our tests use run in the project's environment. Peers that nothing else needs have one of their own,
`.venv-bench`, which is made here from `requirements/bench.in`. A peer that cannot be had is named and left out.
"""

import json
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Self

from msgspec import Struct

ROOT = Path(__file__).parents[2]
OWN_PYTHON = Path(sys.executable)
PEERS_FOLDER = ROOT / ".venv-bench"
PEERS_PYTHON = PEERS_FOLDER / "bin" / "python"
WANTED = ROOT / "requirements" / "bench.in"
_STAMP = PEERS_FOLDER / ".ready"


class Peer(Struct, frozen=True):
    """A client: its name, its module, the wires it reads, and whether it comes from the extra environment."""

    name: str
    module: str
    wires: tuple[str, ...]
    is_extra: bool = False


HEADWAY = Peer("headway", "headway_turn", ("chat", "responses", "anthropic"))
OPENAI = Peer("openai", "openai_sdk", ("chat", "responses"))
PEERS = (
    OPENAI,
    Peer("anthropic", "anthropic_sdk", ("anthropic",)),
    Peer("litellm", "litellm_sdk", ("chat", "anthropic"), is_extra=True),
    Peer("pydantic-ai", "pydantic_ai_sdk", ("chat",), is_extra=True),  # it does not know the newest anthropic SDK
)


class Reading(Struct, frozen=True):
    """What one reading cost."""

    cpu_seconds: float
    grew_bytes: int
    allocated_bytes: int
    sha256: str


class PeerDied(RuntimeError):
    """A client's process is gone."""


class Client:
    """One client's process."""

    def __init__(self, peer: Peer, process: subprocess.Popen[str]) -> None:
        self.peer, self._process = peer, process

    @classmethod
    @contextmanager
    def of(cls, peer: Peer) -> Iterator[Self]:
        python = PEERS_PYTHON if peer.is_extra else OWN_PYTHON
        with started(python, f"benchmarks.peers.{peer.module}") as process:
            yield cls(peer, process)

    def read(self, url: str, wire: str, *, traced: bool = False) -> Reading:
        """Let it read a stream to its end; raises `PeerDied` when it cannot."""
        line = ""
        with suppress(BrokenPipeError):
            print(json.dumps({"url": url, "wire": wire, "traced": traced}), file=self._process.stdin, flush=True)
            line = self._process.stdout.readline()
        if not line:
            raise PeerDied(last_words(self._process))
        return Reading(**json.loads(line))


@contextmanager
def started(python: Path, module: str) -> Iterator[subprocess.Popen[str]]:
    """Run a module until the block is left: it ends when nobody writes to it any more."""
    with tempfile.TemporaryFile("w+") as said:  # some peers complain at length about nothing
        process = subprocess.Popen(
            [python, "-m", module], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, text=True
        )
        process.stderr = said
        try:
            yield process
        finally:
            with suppress(BrokenPipeError):
                process.stdin.close()
            process.wait()


def last_words(process: subprocess.Popen[str]) -> str:
    """Return the last line that a process which died has written."""
    status = process.wait()
    process.stderr.seek(0)
    return " ".join(process.stderr.read().strip().splitlines()[-1:]) or f"it died (status {status})"


@contextmanager
def server() -> Iterator[str]:
    """Serve, and give the address."""
    with started(OWN_PYTHON, "benchmarks.peers.server") as process:
        port = process.stdout.readline().strip()
        if not port:
            raise RuntimeError(f"the server of the benchmark did not start: {last_words(process)}")
        yield f"http://127.0.0.1:{port}"


@contextmanager
def clients() -> Iterator[list[Client]]:
    """Start Headway and every peer that can be had; Headway is the first."""
    with ExitStack() as stack:
        yield [stack.enter_context(Client.of(peer)) for peer in (HEADWAY, *available())]


def available() -> list[Peer]:
    """Return the peers that can be imported; the others are named."""
    make_environment()
    found = []
    for peer in PEERS:
        python = PEERS_PYTHON if peer.is_extra else OWN_PYTHON
        tried = python.exists() and subprocess.run(
            [python, "-c", f"import benchmarks.peers.{peer.module}"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        if tried and not tried.returncode:
            found.append(peer)
        else:
            why = tried.stderr.strip().splitlines()[-1:] if tried else ["its environment could not be made"]
            leave_out(peer, " ".join(why) or "it cannot be imported")
    return found


def leave_out(peer: Peer, why: object) -> None:
    """Say, so that nobody overlooks it, that a peer is not measured."""
    print(f"!! {peer.name} IS LEFT OUT: {why}", file=sys.stderr, flush=True)


def make_environment() -> None:
    """Make or renew the environment of the extra peers, if what is wanted has changed."""
    wanted = WANTED.read_text(encoding="utf-8")
    if _STAMP.exists() and _STAMP.read_text(encoding="utf-8") == wanted:
        return
    print(f"installing the peers of {WANTED.relative_to(ROOT)} into {PEERS_FOLDER.name} (once; a minute or two)")
    venv.create(PEERS_FOLDER, clear=True, with_pip=True)
    pip = [PEERS_PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-warn-conflicts"]
    installed = subprocess.run([*pip, "-r", WANTED], capture_output=True, text=True, check=False)
    if installed.returncode:
        print("!! pip:", *installed.stderr.strip().splitlines()[-1:], file=sys.stderr)
    else:
        _STAMP.write_text(wanted, encoding="utf-8")
