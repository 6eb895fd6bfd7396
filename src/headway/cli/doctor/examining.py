"""The examination as it goes on: findings one after another, for a command, a chat, or a program.

Providers are asked all at once; what blocks is done in threads. Left at any point, it closes what it has opened.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from pathlib import Path

from msgspec import Struct

from headway.agent.tools.threads import in_thread
from headway.cli.doctor.about_machine import about_installation, about_network, about_sandbox
from headway.cli.doctor.about_providers import Manner, about_providers, probes_for, unasked
from headway.cli.doctor.about_settings import about_keys, about_mistakes, about_settings, targets
from headway.cli.doctor.about_store import about_store
from headway.cli.doctor.findings import Finding, State
from headway.failure import InvalidInput
from headway.providers.presets import PRESETS
from headway.settings import Loaded, Surroundings
from headway.settings.reading import closest
from headway.settings.schema import Agent


class Wish(Struct, frozen=True):
    """What is to be looked at: some providers (by name, or as provider/model), or, when none is named, everything."""

    providers: tuple[str, ...] = ()
    manner: Manner = Manner()
    config: Path | None = None
    """The file of `--config`, for what is wrong in it."""


EVERYTHING = Wish()


async def examine(
    look: Callable[[], Loaded], around: Surroundings, wish: Wish = EVERYTHING
) -> AsyncGenerator[Finding, None]:
    """Look at everything; `look` loads the settings, and what is wrong with them is the first finding.

    Close it (`contextlib.aclosing`) if you leave before its end. Raises `InvalidInput` for a provider that the settings
    do not have.
    """
    try:
        loaded = look()
    except InvalidInput as error:
        for finding in about_mistakes(error, wish.config, around):
            yield finding
        async for finding in _around(around, Agent()):
            yield finding
        return
    check_names(loaded, wish.providers)
    for finding in about_settings(loaded) if not wish.providers else ():
        yield finding
    wanted = targets(loaded, wish.providers)
    # One file serves people with different keys; only who was asked about must have one.
    missing = State.PROBLEM if wish.providers else State.NOTE
    for finding in await in_thread(about_keys, loaded, wanted, missing):
        yield finding
    for finding in unasked(wanted):
        yield finding
    probes = await in_thread(probes_for, loaded, wanted)
    async with aclosing(about_providers(loaded, probes, wish.manner)) as answers:
        async for finding in answers:
            yield finding
    if wish.providers:
        return
    for finding in await in_thread(lambda: list(about_store(loaded))):
        yield finding
    async for finding in _around(around, loaded.settings.agent):
        yield finding


async def _around(around: Surroundings, agent: Agent) -> AsyncGenerator[Finding, None]:
    for finding in await in_thread(lambda: list(about_network(around.environ))):
        yield finding
    yield await in_thread(about_sandbox, agent)
    for finding in about_installation():
        yield finding


def check_names(loaded: Loaded, names: tuple[str, ...]) -> None:
    """Refuse a provider that the settings do not have."""
    known = loaded.settings.providers
    for name in (text.partition("/")[0] for text in names):
        if name in known:
            continue
        near = name if name in PRESETS else closest(name, (*known, *PRESETS))
        hint = f"There is: {', '.join(known) or 'none'}."
        if near is not None:
            hint = f"Did you mean {near!r}?" if near in known else f"To have it: headway config init --provider {near}"
        raise InvalidInput(f"the provider {name[:80]!r}", "the settings have none of that name", hint)
