"""What can be set, where it is set, and what a turn makes of it. The only reader of the environment and of files."""

from headway.settings.asking import made_ready, route_for
from headway.settings.layers import From, Origin
from headway.settings.loading import Code, Loaded, load
from headway.settings.places import Surroundings, surroundings
from headway.settings.planning import Plan, open_pool, plan_for
from headway.settings.references import Keychain
from headway.settings.schema import Settings

__all__ = [
    "Code",
    "From",
    "Keychain",
    "Loaded",
    "Origin",
    "Plan",
    "Settings",
    "Surroundings",
    "load",
    "made_ready",
    "open_pool",
    "plan_for",
    "route_for",
    "surroundings",
]
