"""`headway trace`: what became of the requests that went through the gateway."""

import sys
from pathlib import Path

import click
import msgspec

from headway.cli.traces import line_of, page_of
from headway.failure import InvalidInput
from headway.gateway.trace_log import read_traces
from headway.settings import load

EPILOG = """
\b
Examples:
  headway trace              the last requests, one a line
  headway trace 3f9a         everything about one, by the beginning of its id
  headway trace --json | jq  for programs

The id of a request is in the header x-headway-request of its answer.
"""


@click.command(epilog=EPILOG)
@click.argument("request_id", required=False)
@click.option("--config", type=click.Path(path_type=Path, dir_okay=False), help="The settings, instead of the usual.")
@click.option("--last", type=click.IntRange(1, 100_000), default=20, show_default=True, help="How many to show.")
@click.option("--json", "machine", is_flag=True, help="Print one trace a line, as JSON.")
def trace(request_id: str | None, config: Path | None, last: int, machine: bool) -> int:  # noqa: FBT001  # click's way
    """Show the last requests of the gateway, or everything about one of them."""
    path = load(config).around.traces_file
    found = read_traces(path, id_begins=request_id or "", last=last)
    if request_id and not found:
        raise InvalidInput(request_id, "no request has that id", "`headway trace` lists the last ones.")
    if machine:
        for one in found:
            sys.stdout.buffer.write(msgspec.json.encode(one) + b"\n")
    elif request_id:
        click.echo("\n\n".join("\n".join(page_of(one)) for one in found))
    else:
        click.echo("\n".join(map(line_of, reversed(found))))
    return 0
