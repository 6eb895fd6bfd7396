"""The models of a LiteLLM proxy's configuration: each deployment becomes a provider and a link to one of its models."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct, field

from headway.cli.litellm_names import BY_MODEL, NAMES, REASONS, Known
from headway.messages import WireName
from headway.providers.presets import preset_named
from headway.transport.limits import is_local

FROM_ENVIRONMENT = "os.environ/"
_NO_KEYS = frozenset({"", "none", "null", "empty", "dummy", "fake", "sk-no-key-required", "not-needed", "anything"})
_SPOKEN = ("chat", "responses", "completion")
_PARAMETERS = frozenset(
    {"model", "api_base", "base_url", "api_key", "api_version", "custom_llm_provider", "extra_headers", "timeout"}
    | {"stream_timeout", "organization"}
)


class Made(Struct):
    """Settings in the making, and what a person must know about them."""

    tables: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    """Variables that must be set, with what belongs into them."""

    def note(self, words: str) -> None:
        """Say something to whoever runs this, once."""
        if words not in self.notes:
            self.notes.append(words)


class Deployment(Struct, frozen=True):
    """Somebody who can be asked for a group's model."""

    provider: str
    model: str

    @property
    def link(self) -> str:
        """Return how a chain names it."""
        return f"{self.provider}/{self.model}"


class Groups:
    """The model list: deployments by the names that clients use."""

    def __init__(self, made: Made, environ: Mapping[str, str]) -> None:
        self._made, self._environ = made, environ
        self._providers: dict[str, dict[str, Any]] = made.tables["providers"]
        self._groups_of: dict[str, set[str]] = {}
        self.chains: dict[str, list[str]] = {}

    def add(self, entry: Any, place: str) -> None:
        """Take one deployment, or say why not."""
        given = entry if isinstance(entry, dict) else {}
        name, parameters = given.get("model_name"), given.get("litellm_params")
        if not isinstance(name, str) or not isinstance(parameters, dict) or not parameters.get("model"):
            self._made.note(f"{place}: it has no model_name or no litellm_params.model, and was left out")
            return
        info = given.get("model_info") if isinstance(given.get("model_info"), dict) else {}
        mode = str((info or {}).get("mode") or "chat")
        if mode not in _SPOKEN:
            self._made.note(f"{name}: its mode is {mode}, and the gateway answers only chats; it was left out")
            return
        try:
            deployment = self._deployment(name, parameters, info or {})
        except LeftOut as exc:
            self._made.note(f"{name}: {exc}; it was left out")
            return
        chain = self.chains.setdefault(name, [])
        if deployment.link not in chain:
            chain.append(deployment.link)

    def _deployment(self, name: str, parameters: Mapping[str, Any], info: Mapping[str, Any]) -> Deployment:
        prefix, model = _whose(parameters)
        known = NAMES.get(prefix)
        if known is None:
            raise LeftOut(f"{prefix} speaks a wire that Headway does not, or is not known")
        wire: WireName = "responses" if model.startswith("responses/") else known.wire
        model = model.removeprefix("responses/")
        entry = self._entry(name, prefix, wire, parameters)
        stem = "openai-compatible" if prefix == "openai" and "wire" in entry else prefix.replace("_", "-")
        provider = self._merged(name, entry, model) or self._named(stem, entry)
        self._groups_of.setdefault(provider, set()).add(name)
        facts = _facts(info)
        if facts and model != "*":
            self._providers[provider].setdefault("models", {})[model] = facts
        for unknown in sorted(set(parameters) - _PARAMETERS):
            why = REASONS.get(unknown, "clients say that themselves, or Headway does not do it")
            self._made.note(f"litellm_params.{unknown}: {why}")
        if self.chains.get(name) and f"{provider}/{model}" not in self.chains[name]:
            self._made.note("several deployments of one name are asked one after the other, and not balanced")
        return Deployment(provider, model)

    def _entry(self, name: str, prefix: str, wire: WireName, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return the provider that a deployment needs."""
        known = NAMES[prefix]
        place = self._place(name, prefix, wire, parameters)
        if parameters.get("api_version"):
            self._made.note("litellm_params.api_version: Azure is asked by its v1 address, which has no versions")
        headers = parameters.get("extra_headers")
        more = {str(key): str(value) for key, value in headers.items()} if isinstance(headers, dict) else {}
        if parameters.get("organization"):
            try:
                more["openai-organization"] = self._text(parameters["organization"], f"{name}: organization")
            except LeftOut as exc:
                self._made.note(f"{name}: {exc}; it is asked without one")
        seconds = parameters.get("stream_timeout") or parameters.get("timeout")
        limits = {"first_byte_seconds": float(seconds)} if isinstance(seconds, int | float) else {}
        keys = self._keys(name, known, parameters.get("api_key"), place.get("base_url", ""))
        whole = {**place, "keys": keys, "headers": more or None, "limits": limits or None}
        return {key: value for key, value in whole.items() if value is not None}

    def _place(self, name: str, prefix: str, wire: WireName, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return where it is: a preset, or a wire and an address."""
        known = NAMES[prefix]
        base = self._text(parameters.get("api_base") or parameters.get("base_url"), f"{name}: api_base")
        base = base.rstrip("/").removesuffix("/chat/completions").removesuffix("/messages").rstrip("/")
        preset = preset_named(known.preset, wire) if known.preset else None
        if preset is not None and not preset.base_url and base:
            return {"preset": preset.name, "base_url": base}
        if base:
            return {"wire": wire, "base_url": base if base.endswith(known.below) else base + known.below}
        if preset is not None and preset.base_url:
            return {"preset": preset.name}
        if known.base_url:
            return {"wire": wire, "base_url": known.base_url}
        raise LeftOut(f"it has no api_base, and {prefix} has no address of its own")

    def _text(self, value: Any, what: str) -> str:
        """Return a text of the file; one that is kept in a variable is looked up now."""
        if not isinstance(value, str):
            return ""
        if not value.startswith(FROM_ENVIRONMENT):
            return value
        variable = value.removeprefix(FROM_ENVIRONMENT)
        found = self._environ.get(variable, "").strip()
        if not found:
            raise LeftOut(f"{what.rpartition(': ')[2]} is in the variable {variable}, which is not set here")
        self._made.note(f"{what} was taken from the variable {variable} as it is now")
        return found

    def _keys(self, name: str, known: Known, given: Any, address: str) -> list[str] | None:
        """Return references to keys; None: the usual variables of the preset."""
        text = given if isinstance(given, str) else ""
        if text.startswith(FROM_ENVIRONMENT):
            return [f"env:{text.removeprefix(FROM_ENVIRONMENT)}"]
        if text.lower() in _NO_KEYS:
            if known.preset and (not address or not is_local(urlsplit(address).hostname or "")):
                return None
            return [f"env:{known.variable}"] if known.variable and not text else []
        variable = re.sub(r"[^A-Z0-9]+", "_", f"{name}_API_KEY".upper()).strip("_")
        variable = f"KEY_{variable}" if variable[:1].isdigit() else variable
        self._made.variables[variable] = f"the key that is written out for {name}"
        return [f"env:{variable}"]

    def _merged(self, group: str, entry: dict[str, Any], model: str) -> str:
        """Add the keys of a deployment to one that differs from it in nothing else; empty when there is none."""
        for name, there in self._providers.items():
            same = {**there, "keys": None, "models": None} == {**entry, "keys": None, "models": None}
            both = there.get("keys") and entry.get("keys")
            if same and both and self._groups_of.get(name) == {group} and f"{name}/{model}" in self.chains[group]:
                there["keys"] = list(dict.fromkeys((*there["keys"], *entry["keys"])))
                return name
        return ""

    def _named(self, prefix: str, entry: dict[str, Any]) -> str:
        """Return the name of a provider like this one; a new one if there is none."""
        number = 1
        while True:
            name = prefix if number == 1 else f"{prefix}-{number}"
            there = self._providers.get(name)
            if there is None:
                self._providers[name] = entry
                return name
            if {key: value for key, value in there.items() if key != "models"} == entry:
                return name
            number += 1


class LeftOut(Exception):
    """A deployment that has no place here; says why."""


def _whose(parameters: Mapping[str, Any]) -> tuple[str, str]:
    """Return LiteLLM's name of the provider, and the model's name there."""
    model = str(parameters["model"])
    prefix, slash, rest = model.partition("/")
    if parameters.get("custom_llm_provider"):
        own = str(parameters["custom_llm_provider"])
        return own, rest if slash and prefix == own else model
    if slash and prefix in NAMES:
        return prefix, rest
    if not slash and model == "*":
        return "openai", "*"
    if not slash:
        found = next((whose for start, whose in BY_MODEL if model.startswith(start)), "")
        return (found or "openai", model)
    return prefix, rest


def _facts(info: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the file says about a model."""
    numbers = {
        "context": info.get("max_input_tokens"),
        "output_limit": info.get("max_output_tokens") or info.get("max_tokens"),
    }
    facts: dict[str, Any] = {key: value for key, value in numbers.items() if type(value) is int and value > 0}
    for ours, theirs in (("input_price", "input_cost_per_token"), ("output_price", "output_cost_per_token")):
        if isinstance(cost := info.get(theirs), int | float) and not isinstance(cost, bool):
            facts[ours] = round(cost * 1_000_000, 6)
    for ours, theirs in (("images", "supports_vision"), ("reasoning", "supports_reasoning")):
        if isinstance(flag := info.get(theirs), bool):
            facts[ours] = flag
    return facts
