"""What is tried only by `make test-terminal`, as it takes minutes of real terminals and adds little to each change."""

import os

import pytest

AT_LENGTH = bool(os.environ.get("HEADWAY_TERMINAL_TESTS"))
only_at_length = pytest.mark.skipif(
    not AT_LENGTH, reason="one more real terminal for what others also show: make test-terminal"
)
