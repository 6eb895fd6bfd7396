"""`headway run`: one task for the agent. The reply goes to standard output, what happens to standard error."""

import asyncio
import signal
import sys
from collections.abc import Sequence
from enum import IntEnum
from pathlib import Path
from typing import Any

import click
import msgspec

from headway.agent.approval import Approvals, Mode
from headway.agent.happenings import Done, Ending, GaveUp, Stopped
from headway.agent.loop import Agent, AgentItem, Brief
from headway.agent.tools.builtin import BUILTIN
from headway.agent.tools.tool import ToolContext
from headway.agent.workspace import Workspace
from headway.cli.status import status_line
from headway.events import TextDelta
from headway.failure import InvalidInput
from headway.providers.pool import choose
from headway.settings import Loaded, load, made_ready, open_pool, plan_for
from headway.store.session import Session
from headway.store.sessions import Sessions, open_store
from headway.transport.http import HttpClient
from headway.transport.tls import trust_from

FORMAT = 1
"""The version of what `--json` prints; it rises when a reader would have to change."""
LONGEST_INPUT = 16 * 1024 * 1024
SYSTEM = (
    "You are an agent that works in a folder of the user's computer through the tools you are given. Paths are "
    "relative to that folder. Do the task, check what you did, and end with a short report of what you did."
)
EPILOG = """
\b
Examples:
  headway run "Write a page about patience to index.html"
  git diff | headway run "Review this change"
  headway run --continue "Now add tests"

\b
Exit status: 0 the task is done; 1 no answer could be had (the cause is the last line); 2 settings or usage;
3 the agent was stopped because it went round in circles; 130 interrupted (what came is kept in the session).
"""


class RunStatus(IntEnum):
    """How a run ended."""

    DONE = 0
    FAILED = 1
    STOPPED = 3
    INTERRUPTED = 130


@click.command(epilog=EPILOG)
@click.argument("task", required=False)
@click.option("--config", type=click.Path(path_type=Path, dir_okay=False), help="The settings, instead of the usual.")
@click.option("--workspace", type=click.Path(path_type=Path, file_okay=False), default=Path(), help="The folder.")
@click.option("--route", default="default", help="A route of the settings, or provider/model.")
@click.option("--approve", type=click.Choice([mode.value for mode in Mode]), help="What may happen without asking.")
@click.option("--continue", "latest", is_flag=True, help="Go on with the latest session of this folder.")
@click.option("--resume", metavar="ID", help="Go on with this session.")
@click.option("--json", "machine", is_flag=True, help="Print one event a line, as JSON.")
def run(task: str | None, config: Path | None, workspace: Path, **given: Any) -> int:
    """Give the agent one task and wait until it is done."""
    words = _words(task)
    loaded = load(config, {"agent.approve": given["approve"]})
    if not workspace.is_dir():
        raise InvalidInput(str(workspace), "there is no such folder", "Make it first, or name another")
    return asyncio.run(_interruptible(_run(words, loaded, workspace.resolve(), given)))


async def _interruptible(work: Any) -> int:
    """Run the work so that Ctrl-C and SIGTERM cancel it once, and cleanly."""
    task = asyncio.ensure_future(work)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, task.cancel)
    try:
        return int(await task)
    except asyncio.CancelledError:
        click.echo("headway: interrupted; what came is kept (headway run --continue goes on)", err=True)
        return int(RunStatus.INTERRUPTED)


async def _run(words: str, loaded: Loaded, workspace: Path, given: dict[str, Any]) -> int:
    plan = plan_for(loaded, given["route"])
    for notice in plan.notices:
        click.echo(f"headway: {notice}", err=True)
    now = asyncio.get_running_loop().time()
    choice = choose(open_pool(loaded), plan.chain, now)
    ready = made_ready(loaded, plan, choice.pool, choice.links, now)
    environment = loaded.around.environ
    sessions = Sessions(open_store(loaded.store_url))
    try:
        session = await _session(sessions, workspace, given)
        async with HttpClient(trust=trust_from(environment), environment=environment) as client, session:
            approvals = Approvals(Mode(loaded.settings.agent.approve))
            context = ToolContext(Workspace(workspace), approvals)
            shown = _Shown(session.id, machine=given["machine"])
            endpoints = [one.endpoint for one in ready]
            agent = Agent(client, endpoints, session, BUILTIN, context, shown.hear, Brief(SYSTEM, plan.policy))
            ending = await agent.ask(words)
            return shown.end(ending)
    finally:
        sessions.close()


async def _session(sessions: Sessions, workspace: Path, given: dict[str, Any]) -> Session:
    if given["resume"]:
        return await sessions.resume(sessions.find(given["resume"]).id)
    if given["latest"]:
        found = sessions.list(str(workspace))
        if not found:
            raise InvalidInput("--continue", f"there is no session of {workspace} yet", "Leave it out to begin one")
        return await sessions.resume(found[0].id)
    return await sessions.create(str(workspace))


def _words(task: str | None) -> str:
    """Return the task; what is piped in goes below it."""
    piped = "" if sys.stdin.isatty() else sys.stdin.buffer.read(LONGEST_INPUT + 1).decode("utf-8", "replace")
    if len(piped) > LONGEST_INPUT:
        raise InvalidInput("standard input", f"it is longer than {LONGEST_INPUT // 2**20} MB", "Give it as a file")
    words = "\n\n".join(part for part in (task or "", piped.strip()) if part)
    if not words:
        raise InvalidInput("the task", "there is none", 'Try: headway run "Write a page to index.html"')
    return words


class _Shown:
    """Shows a run: for people, or one event a line."""

    def __init__(self, session: str, *, machine: bool) -> None:
        self._machine, self._session, self._in_line = machine, session, False
        if machine:
            self._line({"type": "headway", "format": FORMAT, "session": session})

    async def hear(self, items: Sequence[AgentItem]) -> None:
        for item in items:
            if self._machine:
                self._line(item)
            elif isinstance(item, TextDelta):
                sys.stdout.write(item.text)
                sys.stdout.flush()
                self._in_line = not item.text.endswith("\n")
            elif line := status_line(item):
                self._say(line)

    def end(self, ending: Ending) -> int:
        if self._machine:
            self._line(ending)
        elif self._in_line:
            sys.stdout.write("\n")
        match ending:
            case Done():
                return int(RunStatus.DONE)
            case GaveUp(failure=failure, why=why):
                self._last(f"headway: {failure.reason} Given up: {why.value}. Session {self._session} has what came.")
                return int(RunStatus.FAILED)
            case Stopped(words=words):
                self._last(f"headway: stopped: {words}")
                return int(RunStatus.STOPPED)

    def _say(self, line: str) -> None:
        if self._in_line:
            sys.stdout.write("\n")
            sys.stdout.flush()
            self._in_line = False
        click.secho(f"· {line}", err=True, dim=True)

    def _last(self, line: str) -> None:
        click.echo(line, err=True)

    def _line(self, value: Any) -> None:
        sys.stdout.buffer.write(msgspec.json.encode(value) + b"\n")
        sys.stdout.flush()
