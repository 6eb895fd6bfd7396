"""No key, no settings file and no variable of the person who runs the tests gets in."""

import os

import pytest


@pytest.fixture(autouse=True)
def _nobodys_settings(monkeypatch, tmp_path_factory):
    for name in list(os.environ):
        if name.startswith("HEADWAY_") or name.endswith(("_API_KEY", "_AUTH_TOKEN", "_BASE_URL", "_ENDPOINT")):
            monkeypatch.delenv(name)
    place = tmp_path_factory.mktemp("elsewhere")
    monkeypatch.setenv("HEADWAY_HOME", str(place))
    monkeypatch.chdir(place)
