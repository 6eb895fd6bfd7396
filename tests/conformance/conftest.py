import pytest

from support.server import scripted_server


@pytest.fixture
def server():
    with scripted_server() as script:
        yield script
