"""`headway serve`: the gateway, until it is told to stop."""

import asyncio
import gc
import signal
import sys
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
import msgspec

from headway.cli.traces import line_of
from headway.clients.by_hand import by_hand
from headway.clients.finding import client_named
from headway.failure import InvalidInput
from headway.gateway.doors import Doors
from headway.gateway.doors import Limits as DoorLimits
from headway.gateway.message import Limits
from headway.gateway.server import Server
from headway.gateway.service import Keep, Service, Setup
from headway.gateway.trace import Trace
from headway.gateway.trace_log import TraceLog
from headway.settings import Loaded, load, open_pool
from headway.settings.gateway import address_of
from headway.settings.ways import SettingsWays
from headway.transport.http import HttpClient
from headway.transport.tls import trust_from
from headway.turn.fleet import Fleet

EPILOG = """
\b
Examples:
  headway serve
  headway serve --listen 127.0.0.1:9000 --config work.toml
  headway serve --print-env claude
  curl http://127.0.0.1:8320/v1/models

SIGHUP reads the settings again, without dropping a stream; SIGTERM lets open streams finish, and stops.
"""
IDLE_UPSTREAMS = 256
NOBODY_YET = "nobody to ask yet: run `headway config init`, then send SIGHUP"


@click.command(epilog=EPILOG)
@click.option("--config", type=click.Path(path_type=Path, dir_okay=False), help="The settings, instead of the usual.")
@click.option("--listen", metavar="HOST:PORT", help="Where to listen, instead of `gateway.listen`.")
@click.option("--print-env", metavar="CLIENT", help="Say how to point a client there (claude, codex, …), and stop.")
def serve(config: Path | None, listen: str | None, print_env: str | None) -> int:
    """Serve OpenAI Chat Completions, OpenAI Responses and Anthropic Messages to any client."""
    flags = {"gateway.listen": listen}
    loaded = load(config, flags)
    if print_env is not None:
        click.echo(by_hand(client_named(print_env), *shown_address(loaded)))
        return 0
    return run_loop(_serve(config, flags, loaded))


def shown_address(loaded: Loaded) -> tuple[str, str]:
    """Return where a client on this machine finds the gateway, and the key to show there, by the variable it is in."""
    host, port = address_of(loaded.settings.gateway.listen) or ("127.0.0.1", 8320)
    here = "127.0.0.1" if host in {"0.0.0.0", "::"} else f"[{host}]" if ":" in host else host  # noqa: S104
    keys = loaded.settings.gateway.keys
    kind, _, name = keys[0].partition(":") if keys else ("", "", "")
    return f"http://{here}:{port}", f"${name}" if kind == "env" else f"KEY-OF-{name}" if keys else "headway"


def run_loop(work: Coroutine[Any, Any, int]) -> int:
    """Run on uvloop where it is installed: it halves the cost of slow streams."""
    try:
        import uvloop
    except ImportError:
        return asyncio.run(work)
    return int(uvloop.run(work))


async def _serve(config: Path | None, flags: dict[str, str | None], loaded: Loaded) -> int:
    environment = loaded.around.environ
    client = HttpClient(trust=trust_from(environment), environment=environment, max_idle=IDLE_UPSTREAMS)
    log = TraceLog(loaded.around.traces_file, loaded.settings.gateway.traces, complain)
    service = Service(client, setup_of(loaded), keeper_of(loaded, log))
    server = Server(service, limits_of(loaded))
    host, port = address_of(loaded.settings.gateway.listen) or ("127.0.0.1", 8320)
    host, port = await server.start(host, port)
    allow_many_sockets()
    collect_rarely()
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)

    def reload() -> None:
        try:
            service.setup = setup_of(load(config, flags))
        except InvalidInput as exc:
            click.echo(f"headway: the settings were not read again, the old ones stay: {exc}", err=True)
        else:
            click.echo("headway: the settings were read again", err=True)

    loop.add_signal_handler(signal.SIGHUP, reload)
    click.echo(f"headway: listening on http://{host}:{port} ({routes_of(loaded)}); Ctrl-C stops", err=True)
    await stopped.wait()
    for number in (signal.SIGINT, signal.SIGTERM):  # a second one does not wait
        loop.add_signal_handler(number, sys.exit, 1)
    service.draining = True
    server.stop_listening()
    if service.metrics.open:
        click.echo(f"headway: stopping; {service.metrics.open} streams may finish first", err=True)
    dropped = await server.drain(loaded.settings.gateway.drain_seconds)
    client.close()
    log.flush()
    if dropped:
        click.echo(f"headway: {dropped} streams did not finish in time", err=True)
    return 0


def collect_rarely() -> None:
    """Have the garbage collector look seldom: each look stops all streams, longer the more of them are open.

    What is loaded by now stays, and a request that is over is freed at once, because nothing of it forms a ring
    (tests/spec/test_gateway_memory.py). What is left for the collector is what went wrong in ways that nobody foresaw.
    """
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)


def allow_many_sockets() -> None:
    """Raise this process's own limit of open files as far as it may: a stream takes two sockets, and 1024 is usual."""
    try:
        import resource
    except ImportError:  # no such limit here
        return
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):  # macOS allows less than it says
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def complain(words: str) -> None:
    """Tell whoever runs the gateway."""
    click.echo(f"headway: {words}", err=True)


def setup_of(loaded: Loaded) -> Setup:
    """Return what requests are answered by."""
    gateway = loaded.settings.gateway
    keys = [loaded.keychain.open(reference) for reference in gateway.keys]
    doors = Doors(keys, DoorLimits(gateway.streams, gateway.requests_per_minute))
    fleet = Fleet(open_pool(loaded), asyncio.get_running_loop().time)
    return Setup(SettingsWays(loaded), fleet, doors, gateway.heartbeat_seconds, gateway.trace_content)


def limits_of(loaded: Loaded) -> Limits:
    """Return what a client may take up."""
    gateway = loaded.settings.gateway
    return Limits(
        head_bytes=gateway.header_kb * 1024,
        body_bytes=gateway.body_mb * 2**20,
        write_seconds=gateway.write_seconds,
        connections=gateway.connections,
    )


def routes_of(loaded: Loaded) -> str:
    """Say in a few words whom the gateway asks."""
    routes = loaded.settings.routes
    return "; ".join(f"{name}: {' → '.join(route.chain)}" for name, route in routes.items()) or NOBODY_YET


def keeper_of(loaded: Loaded, log: TraceLog) -> Keep:
    """Return what is done with the trace of a finished request."""
    form = loaded.settings.gateway.log

    def keep(trace: Trace) -> None:
        log.add(trace)
        if form != "off":
            line = msgspec.json.encode(trace).decode() if form == "json" else line_of(trace)
            with suppress(OSError):  # a log that nobody takes is no reason to fail a request
                click.echo(line, err=True)

    return keep
