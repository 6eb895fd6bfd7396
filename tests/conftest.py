"""How long properties are tried: short in `make test`, long in `make soak` (HEADWAY_EXAMPLES)."""

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "headway",
    max_examples=int(os.environ.get("HEADWAY_EXAMPLES", "100")),
    deadline=None,
    derandomize="HEADWAY_EXAMPLES" not in os.environ,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("headway")
