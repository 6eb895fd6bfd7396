"""How long properties are tried: short in `make test`, long in `make soak` (HEADWAY_EXAMPLES)."""

import os

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "headway",
    max_examples=int(os.environ.get("HEADWAY_EXAMPLES", "60")),
    deadline=None,
    derandomize="HEADWAY_EXAMPLES" not in os.environ,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("headway")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "row(*numbers): the rows of the table of behaviours that this test proves")
