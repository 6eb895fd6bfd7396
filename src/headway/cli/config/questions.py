"""The questions of `headway config init`: which provider, where its key is, which model, who goes on if it fails."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from headway.cli.config.choosing import (
    SIMULATOR,
    Chosen,
    key_variable,
    preset_called,
    some_models,
    usual_model,
    with_keys,
)
from headway.failure import InvalidInput
from headway.providers.catalog import Provider
from headway.providers.presets import PRESETS
from headway.settings.entries import check_url
from headway.settings.references import KINDS, check_reference

NOBODY = "none"
PASTE = "paste"


class Person(Protocol):
    """Somebody who can be asked."""

    def says(self, words: str) -> None:
        """Tell them something."""

    def asked(self, question: str, default: str = "") -> str:
        """Ask for a line; an empty one means the default."""
        ...

    def asked_secretly(self, question: str) -> str:
        """Ask for a line that is not shown while it is typed."""
        ...

    def agrees(self, question: str, *, default: bool = True) -> bool:
        """Ask for a yes or a no."""
        ...


class Questions:
    """Asks a person until there is a chain. `save_key` takes a key that was pasted, and returns the reference to it."""

    def __init__(self, person: Person, environ: Mapping[str, str], save_key: Callable[[str, str], str]) -> None:
        """Ask this person, who has these variables."""
        self._person, self._environ, self._save_key = person, environ, save_key
        self._there = with_keys(environ)

    def chain(self) -> list[Chosen]:
        """Ask for everything."""
        self._say_whom_there_is()
        first = self._provider("Which provider?", next(iter(self._there), ""))
        chain = [self._chosen(first)]
        if first == SIMULATOR:
            return chain
        others = [name for name in self._there if name != first]
        while True:
            taken = {one.provider for one in chain}
            left = next((name for name in others if name not in taken), NOBODY)
            more = self._provider(f"Who goes on if {chain[-1].provider} fails? ({NOBODY}: nobody)", left, NOBODY)
            if more == NOBODY or more in taken:
                return chain
            chain.append(self._chosen(more))

    def _say_whom_there_is(self) -> None:
        say = self._person.says
        if self._there:
            say("Keys that are in the environment:")
            for name, variable in self._there.items():
                say(f"  {name:<12} {variable}")
        else:
            say("No provider's key is in the environment.")
        others = [name for name in PRESETS if name not in self._there]
        say(f"Others: {', '.join(others)}.")
        say(f"Without a key: {SIMULATOR} (a simulated provider on this machine), or a server of your own (ollama, …).")

    def _provider(self, question: str, default: str, *besides: str) -> str:
        while True:
            name = self._person.asked(question, default).strip().lower()
            try:
                if name in besides:
                    return name
                preset_called(name)
            except InvalidInput as error:
                self._person.says(f"  {error}")
            else:
                return name

    def _chosen(self, name: str) -> Chosen:
        preset = preset_called(name)
        if preset is None:
            return Chosen(name, usual_model(None))
        base_url = self._address(preset) if not preset.base_url else ""
        keys = self._keys(preset)
        return Chosen(name, self._model(preset), keys, base_url)

    def _address(self, preset: Provider) -> str:
        there = next((self._environ[name] for name in preset.url_variables if self._environ.get(name)), "")
        if there:
            return ""  # it is found there whenever it is needed
        while True:
            url = self._person.asked(f"Address of {preset.name} (https://…)").strip()
            try:
                check_url(url, "the address")
            except InvalidInput as error:
                self._person.says(f"  {error}")
            else:
                return url

    def _keys(self, preset: Provider) -> tuple[str, ...]:
        variable = key_variable(preset, self._environ)
        if not variable:
            return ()
        if self._environ.get(variable, "").strip() and self._person.agrees(f"Use the key in {variable}?"):
            return (f"env:{variable}",)
        self._person.says(
            f"The key of {preset.name}: env:NAME for a variable, file:PATH for a file, or {PASTE} to type it in here; "
            "it goes to a file of its own that only you can read."
        )
        while True:
            said = self._person.asked("Where is the key?", f"env:{variable}").strip()
            if said == PASTE or not said.startswith(tuple(f"{kind}:" for kind in KINDS)):
                key = self._person.asked_secretly(f"Key of {preset.name}").strip() if said == PASTE else said
                if problem := _problem_of(key):
                    self._person.says(f"  That is no key: {problem}")
                    continue
                return (self._save_key(preset.name, key),)
            try:
                check_reference(said, "the key", variable)
            except InvalidInput as error:
                self._person.says(f"  {error}")
            else:
                return (said,)

    def _model(self, preset: Provider) -> str:
        known = some_models(preset)
        if known:
            self._person.says(f"Models of {preset.name}: {', '.join(known)}, …")
        while True:
            model = self._person.asked(f"Which model of {preset.name}?", usual_model(preset)).strip()
            if model and model.isprintable():
                return model


def _problem_of(key: str) -> str:
    """Say why something is no key; nothing if it may be one. It is not shown."""
    if not key:
        return "it is empty."
    if any(map(str.isspace, key)):
        return "there is a space or a line end inside it. Copy it alone, and in one line."
    return "" if key.isprintable() else "there are control characters in it."


def chain_of_flags(
    wanted: Sequence[str], keys: Sequence[str], model: str, base_url: str, environ: Mapping[str, str]
) -> list[Chosen]:
    """Return the chain that flags name, without a question; the first of `wanted` has the key, model and address."""
    chain = []
    for at, text in enumerate(wanted):
        name, _, own_model = text.partition("/")
        preset = preset_called(name)
        first = at == 0
        chosen = own_model or (model if first else "") or usual_model(preset)
        if not chosen:
            flag = f"--model MODEL or --provider {name}/MODEL" if first else f"--fallback {name}/MODEL"
            raise InvalidInput(name, "nobody can know which model it has", f"Say it: {flag}")
        url = base_url if first else ""
        if preset is not None and not preset.base_url and not url and not any(map(environ.get, preset.url_variables)):
            raise InvalidInput(name, "it has no address of its own", "Say it: --base-url https://…")
        if url:
            check_url(url, "--base-url")
        chain.append(Chosen(name, chosen, _references(preset, keys if first else (), environ), url))
    return chain


def _references(preset: Provider | None, given: Sequence[str], environ: Mapping[str, str]) -> tuple[str, ...]:
    variable = key_variable(preset, environ) if preset is not None else ""
    for text in given:
        check_reference(text, "--key", variable or "MY_KEY")
    if given or not variable:
        return tuple(_absolute(text) for text in given)
    return (f"env:{variable}",)


def _absolute(reference: str) -> str:
    """Return a path that means the same wherever the settings are written to."""
    kind, _, name = reference.partition(":")
    return f"file:{Path(name).expanduser().absolute()}" if kind == "file" else reference
