"""The gateway's ways, from the settings: whom a client's request goes to, and by which manners.

A gateway's turns differ from an agent's. Its client has a limit on output for its own reasons, sees text that cannot be
taken back, and shortens its own history when it is told that it is too long. So a reached limit ends a text, what was
shown is gone on from, and nothing is left out of a history here.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from msgspec.structs import replace

from headway.gateway.manners import Manners
from headway.gateway.ways import Offer, Way
from headway.providers.catalog import request_headers
from headway.providers.links import Link
from headway.providers.pool import Pool
from headway.providers.secret import Secret
from headway.recovery.ledger import Policy, Strategy
from headway.settings.asking import made_ready
from headway.settings.entries import facts_of, provider_of
from headway.settings.loading import Loaded
from headway.settings.planning import ANY_MODEL, Plan, plan_for
from headway.settings.schema import ProviderEntry, RouteEntry
from headway.turn.fleet import Ready, Route

SHELLS: Final = frozenset(
    {"shell", "bash", "Bash", "local_shell", "exec", "exec_command", "run_command", "run_shell_command", "execute"}
    | {"execute_command", "terminal", "run_terminal_cmd", "write_stdin", "run_in_terminal", "powershell", "KillShell"}
)
"""What clients call the tools whose half-received calls are never gone on from."""
PASSED_ON: Final = {
    "anthropic": ("anthropic-version", "user-agent", "x-app", "x-claude-*"),
    "chat": ("openai-*", "user-agent", "http-referer", "x-title"),
    "responses": (
        *("openai-*", "x-openai-*", "x-codex-*", "chatgpt-account-id", "originator", "version", "user-agent"),
        *("session_id", "session-id", "conversation_id", "thread-id", "x-client-request-id"),
    ),
}
"""Headers of a client that mean something to an upstream of its wire, `*` for any ending; betas go by themselves."""
SYSTEM_INSIDE: Final = ("per-turn-control-", "mid-conversation-")
"""How the betas begin that let system messages stand among the others, where a client asks for them."""
_PLANS: Final = 256
_LONGEST_NAME: Final = 256
"""So many plans are remembered, for names that are no longer than this: the names are the clients'."""


class SettingsWays:
    """The routes of the settings."""

    def __init__(self, loaded: Loaded) -> None:
        """Read them from what is in force."""
        self._loaded = loaded
        self._own_keys = tuple(loaded.keychain.open(reference) for reference in loaded.settings.gateway.keys)
        self._known = lru_cache(_PLANS)(self._laid)  # settings do not change; a reload makes this object anew

    def way(self, asked: str, wire: str, headers: Mapping[str, str]) -> Way:
        """Return the way for a model that a client asked for."""
        loaded = self._loaded
        plan, policy, manners = self._known(asked) if len(asked) <= _LONGEST_NAME else self._laid(asked)
        client = _Client(wire, headers, self._own_keys)

        def make_ready(pool: Pool, links: Sequence[Link], now: float) -> tuple[Ready, ...]:
            ready = made_ready(loaded, plan, pool, links, now, betas=client.betas)
            entries = loaded.settings.providers
            return tuple(client.fitted(one, entries[one.link.provider.name]) for one in ready)

        return Way(Route(plan.route, plan.chain, make_ready, policy), manners)

    def offers(self) -> list[Offer]:
        """Return the routes, and every model of their chains."""
        loaded = self._loaded
        found = [Offer(name) for name in loaded.settings.routes]
        for route in loaded.settings.routes.values():
            for text in route.chain:
                name, _, model = text.partition("/")
                entry = loaded.settings.providers[name]
                provider = provider_of(name, entry, "settings")
                model = model or provider.model
                if model and model != ANY_MODEL:
                    facts = facts_of(provider, model, entry.models.get(model))
                    found.append(Offer(f"{name}/{model}", name, facts.context, facts.output_limit))
        return list({offer.id: offer for offer in found}.values())

    def _laid(self, asked: str) -> tuple[Plan, Policy, Manners]:
        plan = plan_for(self._loaded, asked)
        entry = self._loaded.settings.routes.get(plan.route, RouteEntry())
        return plan, _policy(plan, entry), Manners(entry.calls, entry.mark_seams)


class _Client:
    """What a client's headers mean for an upstream of its own wire."""

    def __init__(self, wire: str, headers: Mapping[str, str], doors: Sequence[Secret] = ()) -> None:
        self._wire, self._headers, self._doors = wire, headers, doors
        beta = headers.get("anthropic-beta", "") if wire == "anthropic" else ""
        self.betas = tuple(name.strip() for name in beta.split(",") if name.strip())

    def fitted(self, ready: Ready, entry: ProviderEntry) -> Ready:
        """Return an endpoint with the headers that the client's request brings; those of the settings stay theirs."""
        endpoint = ready.endpoint
        if entry.client_key and (key := self._key()) is not None:
            own = dict(request_headers(ready.link.provider, key, betas=self.betas))
            endpoint = replace(endpoint, headers=(own,), clients_key=True)
        if endpoint.wire != self._wire:
            return replace(ready, endpoint=endpoint)
        kept = {name.lower() for name in entry.headers}
        passed = {
            name: value for name, value in self._headers.items() if self._means_something(name) and name not in kept
        }
        dialect = endpoint.dialect
        if any(beta.startswith(SYSTEM_INSIDE) for beta in self.betas):
            dialect = replace(dialect, system_messages=True, system_inside=True)
        headers = tuple(own | passed for own in endpoint.headers)
        return replace(ready, endpoint=replace(endpoint, headers=headers, dialect=dialect))

    def _means_something(self, name: str) -> bool:
        known = PASSED_ON.get(self._wire, ())
        return any(name == one or (one.endswith("*") and name.startswith(one[:-1])) for one in known)

    def _key(self) -> Secret | None:
        """Return the key that is the client's own: one that opens this gateway is for nobody else."""
        scheme, _, bearer = self._headers.get("authorization", "").partition(" ")
        shown = (self._headers.get("x-api-key", ""), bearer.strip() if scheme.lower() == "bearer" else "")
        own = [one for one in shown if one and not any(door.matches(one) for door in self._doors)]
        return Secret(own[0], "the client's") if own else None


def _policy(plan: Plan, entry: RouteEntry) -> Policy:
    forbidden = plan.policy.forbidden | {Strategy.COMPACT, Strategy.SHORTEN}
    if entry.splice == "never":
        forbidden |= {Strategy.CONTINUE_TEXT}
    if entry.calls.value == "live":
        forbidden |= {Strategy.SMALLER_PIECES}  # what the client has of a call can be gone on from, and not replaced
    return replace(
        plan.policy,
        forbidden=forbidden,
        never_drafted=plan.policy.never_drafted | SHELLS,
        limit_ends_text=not entry.continue_limits,
        shown_stays=True,
        splices_models=entry.splice == "any",
    )
