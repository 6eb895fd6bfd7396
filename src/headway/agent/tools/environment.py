"""The environment that commands get: the user's, without secrets and without anything that waits for a person."""

import re
from collections.abc import Collection, Mapping

from headway.agent.redaction import has_shape

_SECRET_NAME = re.compile(
    r"KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|BEARER|COOKIE|WEBHOOK|CONNECTION_STRING|AUTHORIZATION|DOCKER_AUTH"
    r"|(?:^|_)(?:PASS|PAT|DSN|AUTH)$|_PWD$",
    re.IGNORECASE,
)
_SECRET_VALUE = re.compile(r"://[^/\s:@]*:([^/\s@]+)@")
"""A URL with a password in it, whatever its variable is called."""
UNATTENDED = {
    "TERM": "dumb",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "DEBIAN_FRONTEND": "noninteractive",
}


def without_secrets(
    environment: Mapping[str, str], keep: Collection[str] = (), also: Collection[str] = ()
) -> dict[str, str]:
    """Return what commands may see.

    `keep` names variables that a person has decided to hand on, `also` those that are secret whatever they are called.
    """
    return {
        name: value
        for name, value in environment.items()
        if name in keep or not (name in also or _is_secret(name, value))
    }


def secrets_of(environment: Mapping[str, str], also: Collection[str] = ()) -> dict[str, str]:
    """Return the values that nobody should see, by the names of their variables; of a URL, its password."""
    found: dict[str, str] = {}
    for name, value in environment.items():
        if name in also or _SECRET_NAME.search(name):
            found[name] = value.strip()
        elif password := _SECRET_VALUE.search(value):
            found[name] = password[1]
    return found


def unattended(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a program that has no terminal and nobody to answer it."""
    return {**environment, **UNATTENDED}


def _is_secret(name: str, value: str) -> bool:
    return bool(_SECRET_NAME.search(name) or _SECRET_VALUE.search(value) or has_shape(value))
