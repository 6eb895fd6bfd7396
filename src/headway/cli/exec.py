"""`headway exec`: a client people already use, run through the gateway, unmodified and for one run."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from msgspec import Struct
from msgspec.structs import replace

from headway.cli.child import CannotStart, find_program, run_program
from headway.cli.serve import IDLE_UPSTREAMS, limits_of, run_loop
from headway.cli.survived import summary_of
from headway.clients.client import Client
from headway.clients.finding import find_client
from headway.clients.gatehouse import Gatehouse, Plan, plan_run
from headway.clients.pointing import Doorway, pointed
from headway.clients.table import CLIENTS
from headway.failure import InvalidInput
from headway.gateway.trace import Trace
from headway.gateway.trace_log import TraceLog
from headway.messages import WireName
from headway.settings import load
from headway.transport.http import HttpClient
from headway.transport.tls import trust_from

EPILOG = """
\b
Examples:
  headway exec -- claude
  headway exec -- codex exec "Write the tests."
  headway exec -- npx opencode-ai run "Write the tests."
  headway exec --env MY_BASE_URL={url}/v1 --env MY_KEY={key} -- ./my-agent

Without routes in the settings, the client's usual provider is asked, with the key in the environment or the client's
own login. The exit status is the client's; 127 means that there is no such command.
"""
DRAIN_SECONDS = 2.0
"""What is still open when a client has ended may go on for so long; nobody reads it."""


class Wish(Struct, frozen=True):
    """What to run, and how."""

    command: tuple[str, ...]
    config: Path | None = None
    named: str = ""
    wire: WireName | None = None
    variables: tuple[tuple[str, str], ...] = ()
    quiet: bool = False


@click.command(
    name="exec",
    epilog=EPILOG,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[--] COMMAND [ARGS]…")
@click.option("--config", type=click.Path(path_type=Path, dir_okay=False), help="The settings, instead of the usual.")
@click.option("--as", "named", metavar="CLIENT", default="", help="Which client it is, if its name does not say so.")
@click.option(
    "--wire", type=click.Choice(["chat", "responses", "anthropic"]), help="Set only the variables of this wire."
)
@click.option(
    "--env",
    "variables",
    multiple=True,
    metavar="NAME=VALUE",
    help="Set one more variable; {url} is the gateway, {key} the key that it takes.",
)
@click.option("--list", "lists", is_flag=True, help="List the clients that are known.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing at the end.")
def exec_(
    command: tuple[str, ...],
    *,
    config: Path | None,
    named: str,
    wire: WireName | None,
    variables: tuple[str, ...],
    lists: bool,
    quiet: bool,
) -> int:
    """Run a client through the gateway: its streams may break, and it does not notice."""
    if lists:
        click.echo("\n".join(f"{client.name:10} {client.title}" for client in CLIENTS.values()))
        return 0
    if not command:
        raise click.UsageError("Which command? Try: headway exec -- claude")
    pairs = tuple(_pair(text) for text in variables)
    return run_loop(_run(Wish(command, config, named, wire, pairs, quiet)))


def _pair(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not name or not sign:
        raise click.BadParameter(f"{text!r} is not NAME=VALUE.", param_hint="--env")
    return name, value


async def _run(wish: Wish) -> int:
    found = find_client(wish.command, wish.named)
    client = _of_wire(found.client, wish.wire)
    if client.refused:
        raise InvalidInput(client.title, client.refused, "`headway exec --list` shows the clients that can be.")
    loaded = load(wish.config)
    environ = loaded.around.environ
    try:
        program = find_program(wish.command[0], environ)
    except CannotStart as exc:
        click.echo(f"headway: {exc}", err=True)
        return exc.status
    plan = plan_run(client, loaded)
    _tell(*_notes(client, plan, known=found.known, given=bool(wish.variables)))
    traces: list[Trace] = []
    troubles: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, trouble: troubles.append(str(trouble.get("message"))))
    log = TraceLog(loaded.around.traces_file, loaded.settings.gateway.traces, troubles.append)

    def keep(trace: Trace) -> None:
        traces.append(trace)
        log.add(trace)

    http = HttpClient(trust=trust_from(environ), environment=environ, max_idle=IDLE_UPSTREAMS)
    house = Gatehouse(client, plan, http, keep)
    server = await house.open(limits_of(loaded))
    try:
        status = await _run_client(wish, client, house, environ, program, found.arguments_at)
    finally:
        await server.drain(DRAIN_SECONDS if server.connections else 0)
        http.close()
        log.flush()
    _tell(*troubles)
    if not wish.quiet and (words := summary_of(traces)):
        _tell(words)
    return status


async def _run_client(
    wish: Wish, client: Client, house: Gatehouse, environ: Mapping[str, str], program: str, arguments_at: int
) -> int:
    doorways = house.doorways()
    with TemporaryDirectory(prefix="headway-exec-") as folder:
        path = Path(folder) / client.file.name if client.file is not None else None
        if path is not None and client.file is not None:
            path.write_text(client.file.text, encoding="utf-8")
        start = pointed(client, doorways, environ, str(path or ""))
        environment = start.environment | {name: _filled(value, house, doorways) for name, value in wish.variables}
        command = (*wish.command[:arguments_at], *start.arguments, *wish.command[arguments_at:])
        try:
            return await run_program(program, command, environment)
        except CannotStart as exc:
            click.echo(f"headway: {exc}", err=True)
            return exc.status


def _of_wire(client: Client, wire: WireName | None) -> Client:
    """Return the client with only the doors at which it speaks a wire."""
    if wire is None:
        return client
    doors = tuple(door for door in client.doors if wire in door.wires)
    if not doors:
        spoken = ", ".join(dict.fromkeys(one for door in client.doors for one in door.wires)) or "nothing that is known"
        raise InvalidInput(f"--wire {wire}", f"{client.title} speaks {spoken}")
    return replace(client, doors=doors)


def _filled(template: str, house: Gatehouse, doorways: tuple[Doorway, ...]) -> str:
    """Fill in a variable that the user names."""
    first = doorways[0] if doorways else None
    url, key = (first.base, first.key or "") if first is not None else (house.url, house.key)
    return template.replace("{url}", url).replace("{key}", key)


def _notes(client: Client, plan: Plan, *, known: bool, given: bool) -> list[str]:
    """Return what a person should know before it starts."""
    notes = [f"{client.title}: {note}" for note in plan.notes]
    environ = plan.loaded.around.environ
    notes += [
        f"{name} is set, so {client.title} asks somebody else, and not through Headway"
        for name in client.elsewhere
        if environ.get(name)
    ]
    if not known and not given:
        notes.append("this client is not known; it gets the variables that the official SDKs read (--env for others)")
    if known and not client.doors and client.by_hand:
        notes.append(
            f"{client.title} takes its address only from its own settings: headway serve --print-env {client.name}"
        )
    return notes


def _tell(*lines: str) -> None:
    for line in lines:
        click.echo(f"headway: {line}", err=True)
