"""What a shell may offer where a command takes a name: sessions, routes, providers, scenarios. Only while completing.

It goes by the names of parameters and what stands for them in help, so that a
command that takes a session is completed without doing anything for it.
What cannot be had at once is not offered; nothing is ever said, since nobody could read it.
"""

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import click
from click.shell_completion import CompletionItem

from headway.failure import HeadwayError

MOST = 100
Offer: TypeAlias = Iterator[tuple[str, str]]
"""Names, each with a word about it."""


def with_values(command: click.Command) -> click.Command:
    """Return the command, its parameters ready to offer names, and those of the commands below it."""
    for parameter in command.params:
        offer = OFFERS.get(parameter.name or "") or OFFERS.get((parameter.metavar or "").strip("[]."))
        if offer is not None and isinstance(parameter.type, type(click.STRING)):
            parameter.type = _Offering(parameter.type, offer)
    for inner in command.commands.values() if isinstance(command, click.Group) else ():
        with_values(inner)
    return command


class _Offering(click.ParamType[Any]):
    """A type of words, some of which are known."""

    name = "text"

    def __init__(self, inner: click.ParamType[Any], offer: Callable[[], Offer]) -> None:
        self._inner, self._offer = inner, offer

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return self._inner.convert(value, param, ctx)

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002  # click calls it so
        param: click.Parameter,  # noqa: ARG002  # as above
        incomplete: str,
    ) -> list[CompletionItem[str]]:
        try:
            found = [(name, about) for name, about in self._offer() if name.startswith(incomplete)]
        except (HeadwayError, OSError):
            return []
        return [CompletionItem(name, help=about) for name, about in found[:MOST]]


def _sessions() -> Offer:
    from headway.settings import load
    from headway.store import Sessions, open_store

    sessions = Sessions(open_store(load().store_url, read_only=True))
    try:
        yield from ((info.id, _one_line(info.name)) for info in sessions.list())
    finally:
        sessions.close()


def _one_line(text: str) -> str:
    return "".join(char if char.isprintable() else " " for char in text[:60])


def _routes() -> Offer:
    from headway.settings import load

    for name, route in load().settings.routes.items():
        yield name, " → ".join(route.chain)
        yield from ((link, "") for link in route.chain if "/" in link)


def _providers() -> Offer:
    from headway.settings import load

    return ((name, entry.model) for name, entry in load().settings.providers.items())


def _presets() -> Offer:
    from headway.providers.presets import PRESETS

    return ((name, preset.model) for name, preset in PRESETS.items())


def _scenarios() -> Offer:
    from headway.sim import scenarios

    return iter(scenarios().items())


def _setting_keys() -> Offer:
    from headway.settings import load
    from headway.settings.showing import rows

    return ((row.key, row.value) for row in rows(load()))


OFFERS: dict[str, Callable[[], Offer]] = {
    "ID": _sessions,
    "route": _routes,
    "providers": _providers,
    "provider": _presets,
    "fallback": _presets,
    "scenario": _scenarios,
    "key": _setting_keys,
}
"""What is offered for a parameter of this name, or with this metavar, that takes any text."""
