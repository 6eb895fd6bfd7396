"""`headway sim`: a provider that misbehaves on purpose, to point any client at; prints what happens as it happens."""

import asyncio
import ipaddress
import signal
from collections.abc import Iterable
from contextlib import suppress

import click
from msgspec.structs import replace

from headway.failure import InvalidInput
from headway.messages import WireName
from headway.sim import Ending, Exchange, Script, SimServer, fault_table, load_script, read_fault, scenarios
from headway.sim.answers import in_stream, statuses
from headway.sim.catalog import SCOPE
from headway.sim.manners import EVERY_WIRE
from headway.sim.place import FORMS

DEFAULT_LISTEN = "127.0.0.1:8321"
_BASES: dict[WireName, tuple[str, str, str]] = {
    "chat": ("/v1", "OPENAI_BASE_URL", "OpenAI Chat Completions"),
    "responses": ("/v1", "OPENAI_BASE_URL", "OpenAI Responses"),
    "anthropic": ("", "ANTHROPIC_BASE_URL", "Anthropic Messages"),
}
_WORDS = {
    Ending.ANSWERED: "answered",
    Ending.REFUSED: "refused",
    Ending.CUT: "cut by us",
    Ending.CLIENT_LEFT: "the client left",
    Ending.STOPPED: "stopped with us",
    Ending.OPEN: "open",
}


@click.command(epilog="Try it: headway sim stale_stream_in_a_large_call, and point an agent at the printed address.")
@click.argument("scenario", default="all_is_well", metavar="[NAME|FILE]")
@click.option("--list", "lists", is_flag=True, help="List the scenarios that come with Headway.")
@click.option("--faults", "faults", is_flag=True, help="List all faults, places and vendors' answers.")
@click.option(
    "--listen", default=DEFAULT_LISTEN, metavar="HOST:PORT", show_default=True, help="Where to listen; port 0 is any."
)
@click.option("--wire", "wires", multiple=True, type=click.Choice(sorted(EVERY_WIRE)), help="Speak only this wire.")
@click.option("--seed", default=0, show_default=True, help="What chance depends on.")
@click.option(
    "--fault", "more", multiple=True, metavar="FAULT", help='Add a fault, such as "stall at=call+2000 first=1".'
)
def sim(
    scenario: str,
    *,
    lists: bool,
    faults: bool,
    listen: str,
    wires: tuple[WireName, ...],
    seed: int,
    more: tuple[str, ...],
) -> None:
    """Simulate a provider that stalls, breaks off, lies and refuses, as a scenario says."""
    if lists:
        click.echo(_scenario_list())
    elif faults:
        click.echo(_fault_list())
    else:
        script = load_script(scenario)
        script = replace(script, faults=(*script.faults, *map(read_fault, more)))
        host, port = _address(listen)
        asyncio.run(_run(script, host, port, frozenset(wires) or EVERY_WIRE, seed))


async def _run(script: Script, host: str, port: int, wires: frozenset[WireName], seed: int) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError):  # a loop without signals: Ctrl-C then ends the program itself
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
    server = SimServer(script, seed=seed, host=host, port=port, wires=wires, watch=_tell)
    try:
        await server.__aenter__()
    except OSError as bad:
        raise InvalidInput(
            f"--listen {host}:{port}", f"cannot listen there: {bad.strerror or bad}", "Try port 0."
        ) from None
    try:
        click.echo(_greeting(script, server, wires, seed))
        await stop.wait()
    finally:
        await server.close()
    click.echo(_summary(server))


def _greeting(script: Script, server: SimServer, wires: Iterable[WireName], seed: int) -> str:
    lines = [f"{script.name} (seed {seed}): {script.about}", ""]
    for wire in sorted(wires):
        path, variable, name = _BASES[wire]
        lines.append(f"  {name:24} {variable}={server.url}{path}")
    keys = f"Keys: {', '.join(script.keys)}." if script.keys else "Any key is accepted."
    lines += ["", f'{keys} Ask your agent: "{script.prompt}" Stop with Ctrl-C.']
    if not _is_loopback(server.url):
        lines += ["", "This is not a loopback address: everybody who reaches it can use it."]
    return "\n".join(lines) + "\n"


def _tell(exchange: Exchange) -> None:
    """Print one line: that a fault is about to strike, or how an exchange ended."""
    start = f"#{exchange.number:<4}{exchange.wire or '-':10}"
    if exchange.ended_at is None:
        click.echo(f"{start} {', '.join(exchange.faults)}")
        return
    said = exchange.refusal or _WORDS[exchange.ending]
    status = f"{exchange.status or '---'} "
    size = f", {exchange.generated:,} characters generated" if exchange.generated else ""
    click.echo(f"{start} {status}{said}, after {exchange.seconds:.1f} s{size}")


def _summary(server: SimServer) -> str:
    struck = [name for exchange in server.log for name in exchange.faults]
    by_name = ", ".join(f"{name} {struck.count(name)}×" for name in dict.fromkeys(struck)) or "none"
    return (
        f"\n{len(server.log)} requests on {server.connections_made} connections. Faults: {by_name}. "
        f"The model generated {server.generated:,} characters."
    )


def _scenario_list() -> str:
    return "\n".join(f"{name}\n    {about}" for name, about in scenarios().items())


def _fault_list() -> str:
    lines = ["Faults"]
    for row in fault_table():
        given = " ".join(f"{name}={value}" for name, value in row.parameters)
        where = "" if set(row.wires) == EVERY_WIRE else f" Only on: {', '.join(row.wires)}."
        lines += [f"  {row.name} {given}".rstrip(), f"      {row.about}{where}"]
    lines += ["", "Whom they strike (parameters of all)", *(f"  {name:16} {about}" for name, about in SCOPE.items())]
    lines += ["", "Places (at=…)", *(f"  {form:16} {about}" for form, about in FORMS.items())]
    lines += ["", "Errors inside streams (stream_error like=…, content_filter shows=error like=…)"]
    lines += [f"  {name:24} {one.about} ({', '.join(one.wires)})" for name, one in sorted(in_stream().items())]
    lines += ["", "Answers with a status (wrong_status like=…)"]
    lines += [f"  {name:24} {one.status}: {one.about}" for name, one in sorted(statuses().items())]
    return "\n".join(lines)


def _address(listen: str) -> tuple[str, int]:
    host, _, port = listen.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65_535:
        raise InvalidInput(f"--listen {listen}", "it is no address", "Write HOST:PORT, such as 127.0.0.1:0.")
    return host.strip("[]"), int(port)


def _is_loopback(url: str) -> bool:
    host = url.removeprefix("http://").rpartition(":")[0].strip("[]")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
