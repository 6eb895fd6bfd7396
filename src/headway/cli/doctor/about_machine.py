"""The machine: the way out of it, the walls around commands, and what is installed."""

import platform
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from headway import __version__
from headway.agent.sandbox import words as sandbox_words
from headway.agent.sandbox.confinement import Confinement
from headway.agent.sandbox.finding import find
from headway.agent.sandbox.sandbox import Found
from headway.cli.doctor.findings import Area, Finding, State
from headway.failure import InvalidInput
from headway.settings.schema import Agent
from headway.transport.proxy import read_proxy
from headway.transport.tls import client_context, trust_from

_PROXIES = ("https_proxy", "http_proxy", "all_proxy")
EXTRAS = {
    "fast": ("uvloop", "a faster loop for the gateway"),
    "keyring": ("keyring", "keys in the system's own keeping"),
}
"""What can be installed besides: the module, and what it is for."""


def about_network(environ: Mapping[str, str]) -> Iterator[Finding]:
    """Tell which proxies and certificates count. Blocks a moment: certificates are read."""
    yield _proxies(environ)
    trust = trust_from(environ)
    used = [path for path in (trust.ca_file, trust.ca_directory, trust.extra_ca_file) if path]
    try:
        client_context(trust)
    except InvalidInput as error:
        advice = f"{error.hint} It is named by SSL_CERT_FILE, SSL_CERT_DIR, REQUESTS_CA_BUNDLE or NODE_EXTRA_CA_CERTS."
        yield _network("certificates", f"{error.what}: {error.why}", State.PROBLEM, advice)
        return
    besides = "" if trust.ca_file or trust.ca_directory else "the system's"
    named = " and ".join([*([besides] if besides else []), *used])
    yield _network("certificates", f"{named} count", facts={"files": used})


def _proxies(environ: Mapping[str, str]) -> Finding:
    found: dict[str, str] = {}
    for name in (spelled for low in _PROXIES for spelled in (low, low.upper())):
        if url := environ.get(name, "").strip():
            try:
                proxy = read_proxy(url)
            except InvalidInput as error:
                return _network("proxy", f"{name}: {error.why}", State.PROBLEM, error.hint)
            found[name] = f"{proxy.scheme}://{proxy.host}:{proxy.port}"
    if not found:
        return _network("proxy", "none; connections are made directly")
    except_for = environ.get("no_proxy") or environ.get("NO_PROXY") or ""
    rest = f", but not to {except_for[:200]}" if except_for else ""
    words = ", ".join(f"{name} is {place}" for name, place in found.items())
    return _network("proxy", words + rest, facts={"proxies": found})


def about_sandbox(agent: Agent, look: Callable[[], Found] = find) -> Finding:
    """Tell which walls hold around shell commands. Blocks: they are tried."""
    if agent.sandbox == "off":
        return _sandbox(
            "switched off in the settings: commands can do what you can", State.NOTE, "Leave out agent.sandbox."
        )
    found = look()
    if found.means is None:
        state = State.PROBLEM if agent.sandbox == "require" else State.NOTE
        words = f"no walls hold here ({'; '.join(found.reasons)}): commands can do what you can"
        return _sandbox(words, state, "Install bubblewrap, or work with `--approve plan`.")
    confinement = Confinement(Path.cwd(), network=agent.network)
    if missing := sandbox_words.lacks(found.means, confinement):
        words = f"{found.means.walls.value} holds, but cannot deny {', '.join(missing)}"
        return _sandbox(words, State.NOTE, "Install bubblewrap: with it, all is denied.")
    network = "the network is open to them" if agent.network else "no network"
    return _sandbox(f"{found.means.walls.value} holds: commands write to the workspace only, {network}")


def about_installation() -> Iterator[Finding]:
    """Tell what is installed."""
    python = platform.python_version()
    system = f"{platform.system()} {platform.release()} {platform.machine()}"
    facts = {"headway": __version__, "python": python, "system": system, "executable": sys.executable}
    words = f"{__version__} on Python {python}, {system}"
    yield Finding(area=Area.INSTALLATION, name="headway", words=words, facts=facts)
    there = {name: find_spec(module) is not None for name, (module, _) in EXTRAS.items()}
    words = ", ".join(f"{name} {'is there' if is_there else 'is not'}" for name, is_there in there.items())
    missing = tuple(
        f'pip install "headway[{name}]": {EXTRAS[name][1]}' for name, is_there in there.items() if not is_there
    )
    yield Finding(area=Area.INSTALLATION, name="extras", words=words, more=missing, facts=dict(there))


def _network(
    name: str, words: str, state: State = State.WELL, advice: str = "", facts: dict[str, Any] | None = None
) -> Finding:
    return Finding(area=Area.NETWORK, name=name, words=words, state=state, advice=advice, facts=facts or {})


def _sandbox(words: str, state: State = State.WELL, advice: str = "") -> Finding:
    return Finding(area=Area.SANDBOX, name="walls", words=words, state=state, advice=advice)
