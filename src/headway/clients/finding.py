"""Which client a command line starts, and where in it the client's own arguments begin."""

from collections.abc import Sequence
from pathlib import PurePath

from msgspec import Struct

from headway.clients.client import Client
from headway.clients.table import ANY, CLIENTS
from headway.failure import InvalidInput

_RUNNERS = frozenset({"npx", "bunx", "pnpx", "uvx"})
_RUNNERS_WITH_A_WORD = {"npm": "exec", "pnpm": "dlx", "yarn": "dlx", "pipx": "run", "uv": "run"}
_TAKES_A_VALUE = frozenset({"-p", "--package", "--from", "--with", "--python"})
_ENDINGS = (".exe", ".cmd", ".bat", ".ps1")


class Found(Struct, frozen=True):
    """A client in a command line."""

    client: Client
    known: bool
    """Did the command line say which client it is?"""
    arguments_at: int
    """Where its arguments begin."""


def find_client(command: Sequence[str], named: str = "") -> Found:
    """Return the client that a command starts; `named` says which one, if its name does not."""
    at = _place(command)
    word = command[at] if at < len(command) else ""
    if named:
        return Found(client_named(named), known=True, arguments_at=at + 1)
    found = _by_word(word)
    if found is None and at > 0:  # a runner of something else
        return Found(ANY, known=False, arguments_at=at + 1)
    return Found(found or ANY, known=found is not None, arguments_at=at + 1)


def client_named(name: str) -> Client:
    """Return a client by its name; raises `InvalidInput` for one that nobody knows."""
    if name not in CLIENTS:
        raise InvalidInput(name[:80], "no client of that name is known", f"Known: {', '.join(CLIENTS)}.")
    return CLIENTS[name]


def _by_word(word: str) -> Client | None:
    """Return the client of a program or a package, whatever its path, its version and its ending."""
    package = word[:1] + word[1:].partition("@")[0]
    name = PurePath(word.replace("\\", "/")).name
    for ending in _ENDINGS:
        name = name.removesuffix(ending)
    if name.startswith("python3."):
        name = "python3"
    for client in CLIENTS.values():
        if package in client.packages or name == client.name or name in client.binaries:
            return client
    return None


def _place(command: Sequence[str]) -> int:
    """Return where the word stands that names the client: the first, or what a runner runs."""
    runner = PurePath(command[0].replace("\\", "/")).name if command else ""
    at = 1
    if runner in _RUNNERS_WITH_A_WORD and len(command) > 1 and command[1] == _RUNNERS_WITH_A_WORD[runner]:
        at = 2
    elif runner not in _RUNNERS:
        return 0
    while at < len(command) and command[at].startswith("-"):
        at += 2 if command[at] in _TAKES_A_VALUE else 1
    return at if at < len(command) else 0
