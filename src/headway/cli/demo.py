"""`headway demo`: the agent writes a real page through a playlist of faults, on two simulated providers.

Everything is real but the model: sockets, wire bytes, the turn engine, the tools, the file. No key and no network are
needed. At the end the file is proven whole, and what it cost is counted.
"""

import asyncio
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import click

from headway.agent import happenings
from headway.agent.approval import Approvals, Mode
from headway.agent.happenings import Done, ToolBegan
from headway.agent.loop import Agent, Brief
from headway.agent.tools.builtin import BUILTIN
from headway.agent.tools.tool import ToolContext
from headway.agent.workspace import Workspace
from headway.cli.status import status_line
from headway.cli.terminal import Terminal, fit
from headway.dialect import DIALECTS
from headway.events import TextDelta
from headway.sim.catalog import read_fault
from headway.sim.exchange import Ending, Exchange
from headway.sim.filler import text_of
from headway.sim.script import Final, Habits, Pace, Say, Script, WriteFile
from headway.sim.server import SimServer
from headway.store.memory import MemoryStore
from headway.store.sessions import Sessions
from headway.transport.http import HttpClient
from headway.transport.limits import Overrides
from headway.turn import notices
from headway.turn.crew import Crew
from headway.turn.endpoint import Endpoint
from headway.wire.table import WIRES

SIZE = 24_000
PIPED_WIDTH = 140
PAGE = "index.html"
ALPHA = (
    ("rst at=2600", "the connection is reset in the middle of the call"),
    ("stall at=2600", "the stream falls silent"),
    ("truncated_chunk at=90%", "the body is cut inside a chunk"),
    ("garbage_frame at=90%", "a frame of garbage"),
    ("output_limit at=90%", "the output limit falls into the arguments"),
    ("html_instead", "a login page instead of a stream"),
    ("content_filter pattern=meadow shows=error", "a content filter in mid-stream"),
)
BETA = (
    ("fin at=90%", "the stream ends as if it were complete"),
    ("overloaded", "no capacity"),
    ("pings_only at=90% interval=0.2", "pings, and nothing else"),
    ("rate_limit seconds=1", "a rate limit with a wait"),
)
LIMITS = Overrides(silence_seconds=1.0, first_content_seconds=2.0, dead_seconds=2.0, first_byte_seconds=2.0)


@click.command()
@click.option("--keep", type=click.Path(path_type=Path, file_okay=False), help="Keep the page in this folder.")
def demo(keep: Path | None) -> int:
    """Show the agent writing a page through a playlist of faults; no key, no network."""
    folder = Path(tempfile.mkdtemp(prefix="headway-demo-"))
    try:
        return asyncio.run(_demo(folder, keep))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def _demo(folder: Path, keep: Path | None) -> int:
    page = text_of(SIZE, PAGE)
    faults = len(ALPHA) + len(BETA)
    click.echo(f"The task: write {PAGE}, {_kb(len(page))}. Two simulated providers, {faults} faults on the way.\n")
    async with _Troubled(page, ALPHA).server as alpha, _Troubled(page, BETA).server as beta, HttpClient() as client:
        view = _View(len(page))
        session = await Sessions(MemoryStore()).create(str(folder))
        endpoints = [_endpoint("alpha", alpha, "chat"), _endpoint("beta", beta, "anthropic")]
        context = ToolContext(Workspace(folder), Approvals(Mode.AUTO))
        agent = Agent(
            client, lambda: Crew(tuple(endpoints)), session, BUILTIN, context, view.hear, Brief("You write pages.")
        )
        ending = await agent.ask(f"Write {PAGE}.")
        view.rest()
        return _report(page, folder / PAGE, (alpha, beta), view, ending, keep)


class _Troubled:
    """A provider whose requests meet the faults of a playlist, one each, in order; then all is well."""

    def __init__(self, page: str, playlist: Sequence[tuple[str, str]]) -> None:
        self._page = page
        self._faults = iter([read_fault(fault) for fault, _ in playlist])
        self.server = SimServer(self._next(), watch=self._ended)

    def _next(self) -> Script:
        fault = next(self._faults, None)
        return Script(
            steps=(Say("I write the page now. "), WriteFile(PAGE, self._page), Final("The page is ready.")),
            faults=(fault,) if fault is not None else (),
            pace=Pace(characters=60, seconds=0.003),
            habits=Habits(overlap=24),
        )

    def _ended(self, exchange: Exchange) -> None:
        if exchange.ending is not Ending.OPEN:
            self.server.provider.use(self._next())


def _endpoint(name: str, sim: SimServer, wire: str) -> Endpoint:
    headers = {"authorization": "Bearer demo"} if wire == "chat" else {"anthropic-version": "2023-06-01"}
    url = f"{sim.url}/v1{WIRES[wire].path}"
    return Endpoint(f"{name} ({wire})", wire, url, "demo-model", DIALECTS[wire], (headers,), limits=LIMITS)


class _View:
    """Shows the run live: what is said, what happens, and how much of the page is safe."""

    def __init__(self, size: int) -> None:
        self._size, self._kept, self._in_line = size, 0, False
        self._screen = Terminal(sys.stdout, os.environ)
        self.answers: list[str] = []
        """What was done after each request, in order."""
        self.effects = 0

    async def hear(self, items: Sequence[Any]) -> None:
        for item in items:
            if isinstance(item, TextDelta):
                sys.stdout.write(item.text)
                sys.stdout.flush()
                self._in_line = True
                continue
            self._count(item)
            if line := status_line(item):
                self.rest()
                room = (self._screen.width if self._screen.is_seen else PIPED_WIDTH) - len(self._bar()) - 4
                click.secho(f"  {self._bar()} {fit(line, room)}", fg=_colour(item))

    def rest(self) -> None:
        if self._in_line:
            click.echo()
            self._in_line = False

    def _count(self, item: Any) -> None:
        if isinstance(item, notices.DraftHeld):
            self._kept = item.draft.offset
        elif isinstance(item, notices.TryingAgain | notices.FailedOver):
            self.answers.append((status_line(item) or "").partition(": ")[2] or status_line(item) or "")
        elif isinstance(item, notices.Answered):
            self.answers.append("not at all: it did no harm")
        elif isinstance(item, ToolBegan):
            self._kept = self._size
            self.effects += item.call.name == "write_file"

    def _bar(self, width: int = 16) -> str:
        full = round(width * self._kept / self._size)
        return f"[{'█' * full}{'·' * (width - full)}] {self._kept / 1000:5.1f} KB"


def _report(
    page: str, path: Path, sims: Sequence[SimServer], view: _View, ending: happenings.Ending, keep: Path | None
) -> int:
    titles = {fault.partition(" ")[0]: title for fault, title in (*ALPHA, *BETA)}
    asked = sorted((one for sim in sims for one in sim.log), key=lambda one: one.started_at)
    # There is an answer to each request in order, also to those that no fault struck.
    struck = [(one, answer) for one, answer in zip(asked, view.answers, strict=False) if one.faults]
    click.echo("\n  #  fault                                              how it was survived")
    for number, (one, answer) in enumerate(struck, 1):
        click.echo(f" {number:>2}  {_title(one, titles):<50} {answer}")
    written = path.read_text(encoding="utf-8") if path.is_file() else ""
    whole = isinstance(ending, Done) and sha256(written.encode()).digest() == sha256(page.encode()).digest()
    generated = sum(one.generated for sim in sims for one in sim.log)
    click.echo(
        f"\n{len(struck)} faults, {sum(len(sim.log) for sim in sims)} requests. write_file ran {view.effects} time"
        f"{'' if view.effects == 1 else 's'}. The model wrote {_kb(generated)} for a page of {_kb(len(page))}: "
        f"{generated / len(page):.2f} times."
    )
    digest = sha256(written.encode()).hexdigest()[:16]
    verdict = f"The file is whole: {len(written):,} characters, sha256 {digest}…, as it was meant."
    click.secho(verdict if whole else "The file is NOT whole.", fg="green" if whole else "red", bold=True)
    if whole and keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, keep / PAGE)
        click.echo(f"Kept as {keep / PAGE}.")
    click.echo("Next, with a provider of your own: headway config init")
    return 0 if whole else 1


def _title(one: Exchange, titles: dict[str, str]) -> str:
    name = one.faults[0]
    return titles.get(name, name)


def _colour(item: Any) -> str | None:
    if isinstance(item, notices.Broke):
        return "red"
    if isinstance(item, notices.DraftHeld):
        return "yellow"
    return "cyan" if isinstance(item, notices.TryingAgain | notices.FailedOver) else None


def _kb(size: int) -> str:
    return f"{size / 1000:.1f} KB"
