"""A LiteLLM proxy's configuration as our settings: deployments become providers, groups become routes.

Nothing is guessed: what has no place here is said, with the reason. Keys are never copied.
"""

from collections.abc import Mapping
from typing import Any

from headway.cli.litellm_models import FROM_ENVIRONMENT, Groups, Made
from headway.cli.litellm_names import NOT_NEEDED, REASONS
from headway.failure import InvalidInput

_SECTIONS = ("model_list", "router_settings", "litellm_settings", "general_settings", "environment_variables")
_FALLBACKS = ("fallbacks", "content_policy_fallbacks", "context_window_fallbacks")


def settings_from(config: Any, environ: Mapping[str, str], name: str) -> Made:
    """Return what a configuration comes to; raises `InvalidInput` for what is none."""
    if not isinstance(config, dict) or not isinstance(config.get("model_list"), list):
        hint = "It is the file that `litellm --config` takes, with a `model_list`."
        raise InvalidInput(name, "this is no configuration of a LiteLLM proxy", hint)
    made = Made({"providers": {}, "routes": {}})
    groups = Groups(made, environ)
    for number, entry in enumerate(config["model_list"], 1):
        groups.add(entry, f"model_list[{number}]")
    if not groups.chains:
        raise InvalidInput(name, "none of its models can be asked here", "; ".join(made.notes) or "It has none.")
    _routes(made, groups.chains, config)
    _limits(made, config)
    _gateway(made, config)
    _rest(made, config)
    return made


def _routes(made: Made, chains: Mapping[str, list[str]], config: Mapping[str, Any]) -> None:
    """Write a route for each name that clients use, with those that it falls back to behind it."""
    routes: dict[str, dict[str, Any]] = made.tables["routes"]
    behind = _fallbacks(made, config)
    general = behind.get("*", [])
    for name, chain in chains.items():
        whole = list(chain)
        for group in (*behind.get(name, []), *general):
            if group not in chains:
                made.note(f"{name} falls back to {group}, which was left out")
            whole += [link for link in chains.get(group, ()) if link not in whole]
        if name == "*":
            routes["default"] = {"chain": whole}
        elif "*" in name:
            provider = whole[0].partition("/")[0]
            made.note(f"{name}: clients ask for it as {provider}/MODEL, which needs no route")
        else:
            routes[name] = {"chain": whole}
    aliases = _section(config, "router_settings").get("model_group_alias")
    for alias, target in (aliases if isinstance(aliases, dict) else {}).items():
        group = _group(target)
        if group in routes:
            routes[str(alias)] = dict(routes[group])
        else:
            made.note(f"model_group_alias.{alias}: {group} was left out")
    if "default" not in routes:
        first = next(iter(routes), None)
        if first is None:
            routes["default"] = {"chain": [next(iter(chains.values()))[0]]}
        else:
            routes["default"] = dict(routes[first])
            made.note(f"a model that no route is named after goes to routes.default, which is that of {first}")


def _fallbacks(made: Made, config: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return whom each group falls back to, in order; `*` is for all."""
    behind: dict[str, list[str]] = {}
    for section in ("router_settings", "litellm_settings"):
        settings = _section(config, section)
        for kind in _FALLBACKS:
            said = settings.get(kind)
            for one in said if isinstance(said, list) else ():
                for group, others in one.items() if isinstance(one, dict) else ():
                    found = behind.setdefault(str(group), [])
                    found += [other for other in map(_group, others or ()) if other and other not in found]
            if kind != "fallbacks" and said:
                made.note(f"{section}.{kind}: a chain is for every failure, so they stand at the end of it")
        for other in settings.get("default_fallbacks") or ():
            behind.setdefault("*", []).append(str(other))
    return behind


def _group(other: Any) -> str:
    return str(other.get("model") or "") if isinstance(other, dict) else str(other)


def _limits(made: Made, config: Mapping[str, Any]) -> None:
    limits: dict[str, Any] = {}
    for section in ("litellm_settings", "router_settings"):
        settings = _section(config, section)
        if isinstance(retries := settings.get("num_retries"), int) and retries >= 0:
            limits["attempts_per_upstream"] = retries + 1
        for key in ("request_timeout", "timeout", "stream_timeout"):
            if isinstance(seconds := settings.get(key), int | float) and 0 < seconds <= 86_400:
                limits["first_byte_seconds"] = float(seconds)
                made.note(f"{section}.{key} became limits.first_byte_seconds: a stream that goes on is not cut by it")
        if isinstance(fails := settings.get("allowed_fails"), int) and fails >= 0:
            limits["unwell_after"] = fails + 1
        if isinstance(seconds := settings.get("cooldown_time"), int | float) and seconds > 0:
            limits["unwell_seconds"] = float(seconds)
    if limits:
        made.tables["limits"] = limits


def _gateway(made: Made, config: Mapping[str, Any]) -> None:
    key = _section(config, "general_settings").get("master_key") or _section(config, "litellm_settings").get(
        "master_key"
    )
    if not isinstance(key, str) or not key:
        return
    variable = key.removeprefix(FROM_ENVIRONMENT) if key.startswith(FROM_ENVIRONMENT) else "LITELLM_MASTER_KEY"
    made.tables["gateway"] = {"keys": [f"env:{variable}"]}
    if not key.startswith(FROM_ENVIRONMENT):
        made.variables[variable] = "the master_key that is written out: what clients show to the gateway"


_CARRIED = frozenset(
    {*_FALLBACKS, "default_fallbacks", "num_retries", "request_timeout", "timeout", "stream_timeout", "allowed_fails"}
    | {"cooldown_time", "model_group_alias", "master_key"}
)


def _rest(made: Made, config: Mapping[str, Any]) -> None:
    """Say what else is in the file."""
    for section in ("litellm_settings", "router_settings", "general_settings"):
        for key in _section(config, section):
            if key in NOT_NEEDED:
                made.note(f"{section}.{key} is not needed: {NOT_NEEDED[key]}")
            elif key not in _CARRIED:
                made.note(f"{section}.{key} was not carried over: {REASONS.get(key, 'Headway has nothing like it')}")
    for variable in _section(config, "environment_variables"):
        made.variables[str(variable)] = "as environment_variables has it"
    for section in config:
        if section == "include":
            made.note("include: the files that it names were not read; import each of them")
        elif section not in _SECTIONS:
            made.note(f"{section} was not carried over: Headway has nothing like it")


def _section(config: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = config.get(name)
    return found if isinstance(found, dict) else {}
