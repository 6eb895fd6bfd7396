"""All layers to one value: flags over environment over the project's file over the user's file over defaults.

Above them all is what a program says itself. Each layer is checked by itself, so that an error names the place that
holds it. Keys are not opened here.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from headway.failure import InvalidInput
from headway.providers.presets import PRESETS
from headway.providers.secret import Secret
from headway.settings.completion import completed
from headway.settings.entries import provider_of
from headway.settings.environment import environment_layers
from headway.settings.gateway import check_gateway
from headway.settings.layers import DEFAULT, From, KeyPath, Layer, Origin, dotted, merged, replaced_keys
from headway.settings.mcp import checked_server
from headway.settings.places import FILE_NAME, Surroundings, surroundings
from headway.settings.reading import closest, read
from headway.settings.references import Keychain, anchored, check_reference
from headway.settings.rules import check_rules
from headway.settings.schema import Settings
from headway.settings.toml_files import read_table
from headway.settings.trusting import held_back, is_strange

_SQLITE = "sqlite:"


class Code(Struct, frozen=True):
    """What a program says itself, in the words of a file; its keys are held here, under their references."""

    table: dict[str, Any]
    keys: dict[str, Secret] = {}


class Loaded(Struct, frozen=True):
    """Settings, where each of them came from, and what is needed to open their keys."""

    settings: Settings
    origins: dict[KeyPath, Origin]
    files: tuple[Path, ...]
    """The files that were read."""
    around: Surroundings
    given: dict[str, Secret] = {}
    """The keys that a program holds itself, by their references."""
    held_back: tuple[str, ...] = ()
    """What the folder's own file permits, and nobody has said that they trust it."""
    replaced: dict[str, Origin] = {}
    """Providers whose keys stand in an entry that does not count, and where that is."""

    @property
    def notices(self) -> tuple[str, ...]:
        """Return what a person should know about these settings."""
        if not self.held_back:
            return ()
        keys = ", ".join(self.held_back)
        hint = "Read it, and if you trust it: headway config trust"
        return (f"{self.around.folder / FILE_NAME} came with this folder, so it does not decide {keys}. {hint}",)

    def origin(self, *path: str) -> Origin:
        """Return where a value came from."""
        return self.origins.get(path, DEFAULT)

    def entry_origin(self, *path: str) -> Origin:
        """Return where an entry came from, by any of its values."""
        return next((origin for known, origin in self.origins.items() if known[: len(path)] == path), DEFAULT)

    @property
    def keychain(self) -> Keychain:
        """Return what opens references."""
        return Keychain(self.around.environ, self.given)

    @property
    def store_url(self) -> str:
        """Return where sessions are kept."""
        return self.settings.store.url or f"{_SQLITE}{self.around.data_folder / 'headway.db'}"


def load(
    config: Path | None = None,
    flags: Mapping[str, Any] | None = None,
    around: Surroundings | None = None,
    code: Code | None = None,
) -> Loaded:
    """Return the settings in force.

    `config` is the file of `--config`; it, or HEADWAY_CONFIG, is read instead of the usual files. `flags` are values by
    dotted key (`{"agent.approve": "auto"}`); None among them means that the flag was not given. A program that says
    whom to ask, by `code`, gets the settings of a file only if it names one.
    """
    here = around or surroundings()
    says_whom = code is not None and "routes" in code.table
    files = () if says_whom and config is None else files_for(config, here)
    is_word = config is not None or bool(here.variable("HEADWAY_CONFIG"))
    strange = frozenset() if is_word else frozenset(str(path) for path in files if is_strange(path, here))
    read_files, left_out = list[Layer](), list[str]()
    for path in files:
        layer = _checked(Layer(Origin(From.FILE, str(path)), read_table(path), path.parent))
        counts, held = held_back(layer) if str(path) in strange else (layer, ())
        read_files.append(counts)
        left_out += held
    said = (
        *([Layer(Origin(From.CODE, "Headway(…)"), code.table, here.folder)] if code is not None else []),
        *_flag_layers(flags or {}, here),
        *environment_layers(here),
    )
    layers = (*map(_checked, said), *read_files)
    table, origins = merged(layers)
    whole = completed(read(Settings, table, "settings"), origins, here, strange)
    keys = code.keys if code is not None else {}
    loaded = Loaded(whole.settings, whole.origins, files, here, keys, tuple(left_out), replaced_keys(layers))
    _check_whole(loaded)
    return loaded


def files_for(config: Path | None, around: Surroundings) -> tuple[Path, ...]:
    """Return the files that are read, those that count more first."""
    if config is not None:
        return (around.folder / config.expanduser(),)
    if named := around.variable("HEADWAY_CONFIG"):
        path = around.folder / Path(named).expanduser()
        if not path.is_file():
            raise InvalidInput(str(path), "there is no such file", "Check the variable HEADWAY_CONFIG.")
        return (path,)
    return tuple(path for path in around.config_files if path.is_file())


def _flag_layers(flags: Mapping[str, Any], around: Surroundings) -> list[Layer]:
    layers = []
    for name, value in flags.items():
        if value is not None:
            section, _, key = name.partition(".")
            origin = Origin(From.FLAG, f"--{key.replace('_', '-')}")
            layers.append(Layer(origin, {section: {key: value}}, around.folder))
    return layers


def _checked(layer: Layer) -> Layer:
    """Return a layer that is right by itself, its relative paths made whole."""
    origin = str(layer.origin)
    settings = read(Settings, layer.table, origin)
    table = {section: dict(values) for section, values in layer.table.items()}
    for name, entry in settings.providers.items():
        if entry.keys is not None:
            keys = _keys(entry.keys, layer, ("providers", name, "keys"))
            table["providers"][name] = {**table["providers"][name], "keys": keys}
    if settings.gateway.keys:
        table["gateway"]["keys"] = _keys(settings.gateway.keys, layer, ("gateway", "keys"))
    if settings.store.url:
        table["store"]["url"] = _store(settings.store.url, layer)
    for name in ("writable", "hidden"):
        if paths := getattr(settings.agent, name):
            table["agent"][name] = [str(layer.folder / Path(path).expanduser()) for path in paths]
    for name, server in settings.mcp.items():
        table["mcp"][name] = checked_server(name, server, table["mcp"][name], layer)
    check_rules(settings.agent, origin)
    return Layer(layer.origin, table, layer.folder)


def _keys(keys: tuple[str, ...], layer: Layer, path: KeyPath) -> list[str]:
    owner = "HEADWAY" if path[0] == "gateway" else path[1].upper().replace("-", "_")
    for at, key in enumerate(keys if layer.origin.kind is not From.CODE else ()):  # a program's keys are checked there
        check_reference(key, f"{layer.origin}: {dotted(path)}[{at}]", f"{owner}_KEY")
    return [anchored(key, layer.folder) for key in dict.fromkeys(keys)]


def _store(url: str, layer: Layer) -> str:
    path = url.removeprefix(_SQLITE)
    if path == url or not path:
        hint = "Sessions are kept in an SQLite file: write sqlite:PATH."
        raise InvalidInput(f"{layer.origin}: store.url", "it names no store that Headway knows", hint)
    return f"{_SQLITE}{layer.folder / Path(path).expanduser()}"


def _check_whole(loaded: Loaded) -> None:
    """Refuse what only shows when everything is there: providers without an address, chains to nowhere."""
    settings = loaded.settings
    for name, entry in settings.providers.items():
        provider_of(name, entry, str(loaded.entry_origin("providers", name)))
    for name, route in settings.routes.items():
        place = f"{loaded.entry_origin('routes', name)}: {dotted(('routes', name, 'chain'))}"
        if not route.chain:
            raise InvalidInput(place, "it names nobody to ask", 'Write chain = ["provider/model"].')
        for at, text in enumerate(route.chain):
            _check_link(settings, text, f"{place}[{at}]")
    check_gateway(settings.gateway, str(loaded.origin("gateway", "listen")))


def _check_link(settings: Settings, text: str, place: str) -> None:
    provider, slash, model = text.partition("/")
    if provider not in settings.providers:
        near = closest(provider, [*settings.providers, *PRESETS])
        hint = f"Did you mean {near!r}?" if near else f"Add a table [providers.{provider or 'NAME'}]."
        raise InvalidInput(place, f"there is no provider {provider[:80]!r}", hint)
    own = provider_of(provider, settings.providers[provider], place).model
    if not model and (slash or not own):
        raise InvalidInput(place, f"it names no model of {provider}", f'Write "{provider}/MODEL".')
