"""Settings to what keeps an agent within bounds: walls for commands, rules for calls, and secrets that stay secret.

All for one workspace. Walls are tried out when the first command comes, or at once if they are required.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from headway.agent.approval import Rules, rules_of
from headway.agent.checkpoints import Checkpoints, copy_all, forget
from headway.agent.redaction import Redactor
from headway.agent.sandbox import words
from headway.agent.sandbox.confinement import Confinement
from headway.agent.sandbox.finding import are_likely, find
from headway.agent.sandbox.sandbox import Found, Sandbox
from headway.agent.sandbox.secret_places import secret_places
from headway.agent.tools.environment import secrets_of, without_secrets
from headway.agent.tools.tool import ToolContext
from headway.agent.workspace import Workspace
from headway.failure import InvalidInput
from headway.settings.loading import Loaded
from headway.settings.mcp import references_in
from headway.settings.places import FILE_NAME

CHECKPOINTS = "checkpoints"
"""The folder beside the journal that has what files were before, by session."""
_RUN_OUTSIDE = (".git/hooks", ".git/config", ".hg/hgrc", FILE_NAME)
"""In a workspace, but obeyed outside: what is written there would be run, or believed, without any walls."""
_SQLITE = "sqlite:"


class Safety(Struct, frozen=True):
    """What an agent is held by."""

    workspace: Workspace
    rules: Rules
    environment: dict[str, str]
    """What commands see of it."""
    redactor: Redactor
    sandbox: Sandbox | None
    words: str
    """What the model is told."""

    def context(self, **given: Any) -> ToolContext:
        """Return the context of an agent's tools; approvals, limits and the like are given."""
        return ToolContext(
            self.workspace,
            environment=self.environment,
            redactor=self.redactor,
            sandbox=self.sandbox,
            **given,
        )

    async def notice(self) -> str:
        """Return what a person should know before the first command runs; empty if all is well, or as was wished."""
        if self.sandbox is None:
            return ""
        found = await self.sandbox.found()
        if found.means is None:
            return words.without(found.reasons)
        return words.for_people(found.means, self.sandbox.confinement)

    async def walls(self) -> str:
        """Return what commands are held by, in a few words."""
        if self.sandbox is None:
            return "off: commands can do what you can"
        means = (await self.sandbox.found()).means
        if means is None:
            return "none can be had here: commands can do what you can"
        network = "the network" if self.sandbox.confinement.network else "no network"
        return f"{means.walls.value}: commands write to the folder alone, and have {network}"

    def close(self) -> None:
        """Remove what commands had as temporary folders."""
        if self.sandbox is not None:
            self.sandbox.close()


def safety_for(
    loaded: Loaded, folder: Path, look: Callable[[], Found] = find, likely: Callable[[], bool] = are_likely
) -> Safety:
    """Return what holds an agent that works in a folder; raises `InvalidInput` if walls are required and none hold."""
    settings = loaded.settings.agent
    writable = tuple(map(Path, settings.writable))
    hidden = tuple(dict.fromkeys((*_secret(loaded), *map(Path, settings.hidden))))
    names = frozenset(_variables(loaded))
    confinement = Confinement(
        folder,
        writable=writable,
        hidden=hidden,
        kept=tuple(folder / name for name in _RUN_OUTSIDE),
        network=settings.network,
    )
    return Safety(
        Workspace(folder, [path for path in writable if path.is_dir()], hidden),
        rules_of(settings.allow, settings.deny, settings.ask),
        without_secrets(loaded.around.environ, also=names),
        Redactor({**secrets_of(loaded.around.environ, also=names), **_key_files(loaded)}),
        _walls(settings.sandbox, confinement, look),
        words.for_model(confinement) if settings.sandbox != "off" and likely() else words.FOR_MODEL_WITHOUT,
    )


def checkpoints_for(loaded: Loaded, session: str) -> Checkpoints:
    """Return what keeps the changes of a session."""
    return Checkpoints(loaded.around.data_folder / CHECKPOINTS / session)


def copy_checkpoints(loaded: Loaded, session: str, copy: str) -> None:
    """Give a copy of a session what was kept of its changes, so that these can be looked at and taken back there."""
    folder = loaded.around.data_folder / CHECKPOINTS
    copy_all(folder / session, folder / copy)


def forget_checkpoints(loaded: Loaded, session: str) -> None:
    """Remove what was kept of the changes of a session that is removed."""
    forget(loaded.around.data_folder / CHECKPOINTS / session)


def _walls(wanted: str, confinement: Confinement, look: Callable[[], Found]) -> Sandbox | None:
    """Return the walls that are wanted. They are looked for when they are needed, or at once if they are required."""
    if wanted == "off":
        return None
    if wanted == "require" and (found := look()).means is None:
        hint = 'Install bubblewrap, or set agent.sandbox to "auto" or "off".'
        raise InvalidInput(
            "agent.sandbox", f"walls are required, and none hold here ({'; '.join(found.reasons)})", hint
        )
    return Sandbox(look, confinement)


def _secret(loaded: Loaded) -> Iterator[Path]:
    """Return the places of secrets: of everybody, and of Headway itself."""
    around = loaded.around
    yield from secret_places(around.home)
    yield from (around.config_folder, around.data_folder)
    yield from (Path(reference.removeprefix("file:")).expanduser() for reference in _references(loaded, "file:"))
    url = loaded.settings.store.url
    if url.startswith(_SQLITE):
        database = url.removeprefix(_SQLITE)
        yield from (Path(f"{database}{end}") for end in ("", "-wal", "-shm"))


def _variables(loaded: Loaded) -> Iterator[str]:
    return (reference.removeprefix("env:") for reference in _references(loaded, "env:"))


def _references(loaded: Loaded, kind: str) -> Iterator[str]:
    """Return the references to keys of one kind, wherever settings have them."""
    settings = loaded.settings
    given = [key for entry in settings.providers.values() for key in entry.keys or ()]
    given += [reference for entry in settings.mcp.values() for reference in references_in(entry)]
    return (one for one in (*given, *settings.gateway.keys) if one.startswith(kind))


def _key_files(loaded: Loaded) -> dict[str, str]:
    """Return the keys that lie in files, and those that a program holds itself."""
    references = [*_references(loaded, "file:"), *loaded.given]
    return {
        reference: loaded.keychain.open(reference).reveal()
        for reference in references
        if loaded.keychain.problem(reference) is None
    }
