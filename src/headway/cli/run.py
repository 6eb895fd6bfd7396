"""`headway run`: one task for the agent. The reply goes to standard output, what happens to standard error."""

import asyncio
import io
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing, nullcontext
from functools import partial
from pathlib import Path
from textwrap import wrap
from typing import Any

import click

from headway.agent.approval import Approvals, Mode
from headway.agent.context.images import MOST_BYTES, image_of
from headway.agent.happenings import AgentItem, AgentSink, Done, Ending, GaveUp, NotKept, Stopped
from headway.agent.loop import Agent
from headway.agent.tools.builtin import BUILTIN
from headway.agent.tools.refusals import ToolError
from headway.agent.tools.threads import in_thread
from headway.agent.tools.tool import ToolLimits
from headway.agent.workspace import Workspace
from headway.cli.asking import TerminalAsker, Unattended, keyboard
from headway.cli.first_command import before_commands
from headway.cli.keeping import held_session, wanted_by
from headway.cli.lines import MEANINGS, Failed, Interrupted, RunStatus
from headway.cli.showing import ForPeople, ForPrograms
from headway.cli.terminal import Terminal
from headway.failure import HeadwayError, InvalidInput
from headway.messages import Image, Message, Text
from headway.settings import Loaded, Plan, load, open_pool, plan_for, route_for
from headway.settings.briefing import brief_for, takes_images
from headway.settings.mcp_servers import mcp_servers
from headway.settings.safety import Safety, checkpoints_for, safety_for
from headway.transport.http import HttpClient
from headway.transport.tls import trust_from
from headway.turn.fleet import Fleet
from headway.turn.notices import Broke

LONGEST_INPUT = 16 * 1024 * 1024
SYSTEM = (
    "You are an agent that works in a folder of the user's computer through the tools you are given. Paths are "
    "relative to that folder. Do the task, check what you did, and end with a short report of what you did."
)
EXAMPLES = """
\b
Examples:
  headway run "Write a page about patience to index.html"
  git diff | headway run "Review this change"
  headway run "Make @index.html look like this" --image sketch.png
  headway run --continue "Now add tests"
"""
KEEPING = """
\b
A new task is done even if nothing can be kept (a full disk, a read-only home,
a damaged store): the last line says so then. What cannot be written down before
it has an effect is not done: the run ends with 1.
"""
STATUSES = "\n".join(
    line
    for status, meaning in MEANINGS.items()
    for line in wrap(meaning, 80, initial_indent=f"  {status:<4} ", subsequent_indent=" " * 7)
)
EPILOG = f"{EXAMPLES}\n\b\nExit status:\n{STATUSES}\n{KEEPING}"


@click.command(epilog=EPILOG)
@click.argument("task", required=False)
@click.option("--config", type=click.Path(path_type=Path, dir_okay=False), help="The settings, instead of the usual.")
@click.option("--workspace", type=click.Path(path_type=Path, file_okay=False), default=Path(), help="The folder.")
@click.option("--route", default="default", help="A route of the settings, or provider/model.")
@click.option("--approve", type=click.Choice([mode.value for mode in Mode]), help="What may happen without asking.")
@click.option("--image", multiple=True, metavar="FILE", help="A picture that goes with the task; repeatable.")
@click.option("--continue", "latest", is_flag=True, help="Go on with the latest session of this folder.")
@click.option("--resume", metavar="ID", help="Go on with this session.")
@click.option("--json", "machine", is_flag=True, help="Print one event a line, as JSON.")
def run(task: str | None, config: Path | None, workspace: Path, **given: Any) -> int:
    """Give the agent one task and wait until it is done."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a character that a terminal lacks does not end a run
    message = Message("user", (*_words(task), *map(_image, given["image"])))
    loaded = load(config, {"agent.approve": given["approve"]})
    if not workspace.is_dir():
        raise InvalidInput(str(workspace), "there is no such folder", "Make it first, or name another")
    return asyncio.run(_interruptible(_run(message, loaded, workspace.resolve(), given)))


async def _interruptible(work: Any) -> int:
    """Run the work so that Ctrl-C and SIGTERM cancel it once, and cleanly; a second one does not wait for that."""
    task = asyncio.ensure_future(work)
    loop = asyncio.get_running_loop()

    def stop() -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
        task.cancel()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    try:
        return int(await task)
    except asyncio.CancelledError:
        _say("interrupted; what came is kept (headway run --continue goes on)")
        return int(RunStatus.INTERRUPTED)


async def _run(task: Message, loaded: Loaded, workspace: Path, given: dict[str, Any]) -> int:
    plan = plan_for(loaded, given["route"])
    if given["image"] and not takes_images(plan):
        chain = ", ".join(link.name for link in plan.chain)
        raise InvalidInput("--image", f"{chain} takes no pictures", "Ask a model that does, by --route")
    for notice in (*loaded.notices, *plan.notices):
        _say(notice)
    with closing(await in_thread(safety_for, loaded, workspace)) as safety:
        return await _task_done(task, loaded, plan, safety, given)


async def _task_done(task: Message, loaded: Loaded, plan: Plan, safety: Safety, given: dict[str, Any]) -> int:
    fleet, route = Fleet(open_pool(loaded), asyncio.get_running_loop().time), route_for(loaded, plan)
    environment, settings, workspace = loaded.around.environ, loaded.settings.agent, safety.workspace.roots[0]
    wanted = wanted_by(workspace, given)
    async with (
        held_session(loaded.store_url, wanted, _say) as held,
        HttpClient(trust=trust_from(environment), environment=environment) as client,
        mcp_servers(loaded, workspace, client, _say) as servers,
    ):
        folder, status = safety.workspace, Terminal(sys.stderr, environment)
        people = None if given["machine"] else ForPeople(Terminal(sys.stdout, environment), status)
        shown = people or ForPrograms(held.session.id)
        if held.trouble is not None:
            await shown.hear([NotKept(held.trouble.happened)])
        asker = _asker(status, folder, people)
        context = safety.context(
            approvals=Approvals(Mode(settings.approve), safety.rules, asker),
            limits=limits_for(settings.shell_seconds),
            checkpoints=checkpoints_for(loaded, held.session.id) if held.trouble is None else None,
        )
        brief = brief_for(loaded, plan, safety, SYSTEM)
        failed: dict[str, str] = {}
        hear = before_commands(_noting(failed, shown.hear), safety.notice, _say)
        try:
            tools = (*BUILTIN, *await servers.tools())
            agent = Agent(client, partial(fleet.crew, route), held.session, tools, context, hear, brief)
            with people.watching(agent.quiet) if people else nullcontext():
                ending = await agent.ask(task)
        except asyncio.CancelledError:
            shown.end(Interrupted())
            raise
        except HeadwayError as error:
            shown.end(Failed(str(error)))
            raise
        result, cause = _judged(ending, asker, failed, held.session.id if held.trouble is None else "")
        shown.end(ending, f"headway: {cause}" if cause else "")
        return int(result)


def _asker(status: Terminal, folder: Workspace, people: ForPeople | None) -> TerminalAsker | Unattended:
    """Return who decides: the person at the terminal, if there is one who sees the question."""
    keys = keyboard() if status.is_seen else None
    if keys is None:
        return Unattended()
    return TerminalAsker(keys, status, folder, people.paused if people else nullcontext)


def limits_for(shell_seconds: float) -> ToolLimits:
    """Return the limits of calls when commands may run so long."""
    usual = ToolLimits()
    longest = max(usual.most_shell_seconds, shell_seconds)
    spare = usual.call_seconds - usual.most_shell_seconds
    return ToolLimits(shell_seconds=shell_seconds, most_shell_seconds=longest, call_seconds=longest + spare)


def _noting(failed: dict[str, str], sink: AgentSink) -> AgentSink:
    """Return a sink that notes for each upstream why its latest request failed."""

    async def hear(items: Sequence[AgentItem]) -> None:
        failed.update((one.upstream, one.failure.reason) for one in items if isinstance(one, Broke))
        await sink(items)

    return hear


def _judged(
    ending: Ending, asker: TerminalAsker | Unattended, failed: Mapping[str, str], session: str
) -> tuple[RunStatus, str]:
    """Return the exit status for an ending, and the cause in one line if the task is not done."""
    match ending:
        case Done() | Stopped() if isinstance(asker, Unattended) and asker.refused:
            count = len(asker.refused)
            were = "1 call was" if count == 1 else f"{count} calls were"
            way_out = f"To allow such calls beforehand: {asker.way_out}"
            return RunStatus.NOT_ALLOWED, f"{were} not allowed, and nobody was here to be asked. {way_out}"
        case Done():
            return RunStatus.DONE, ""
        case GaveUp(failure=failure, why=why):
            kept = f" Session {session} has what came." if session else ""
            whose = ", ".join(name for name, reason in failed.items() if reason == failure.reason)
            return RunStatus.FAILED, f"{f'{whose}: ' if whose else ''}{failure.reason} Given up: {why.value}.{kept}"
        case Stopped(words=words):
            return RunStatus.STOPPED, f"stopped: {words}"


def _say(words: str) -> None:
    click.echo(f"headway: {words}", err=True)


def _words(task: str | None) -> tuple[Text, ...]:
    """Return the task; what is piped in goes below it, and what it mentions is not looked up."""
    piped = "" if sys.stdin.isatty() else sys.stdin.buffer.read(LONGEST_INPUT + 1).decode("utf-8", "replace")
    if len(piped) > LONGEST_INPUT:
        raise InvalidInput("standard input", f"it is longer than {LONGEST_INPUT // 2**20} MB", "Give it as a file")
    below = f"\n\n{piped.strip()}" if task and piped.strip() else piped.strip()
    words = tuple(Text(part) for part in (task or "", below) if part)
    if not words:
        raise InvalidInput("the task", "there is none", 'Try: headway run "Write a page to index.html"')
    return words


def _image(file: str) -> Image:
    """Return a picture that a person names; the path may lead anywhere."""
    try:
        with Path(file).open("rb") as stream:
            image = image_of(stream.read(MOST_BYTES + 1), file)
    except OSError as error:
        raise InvalidInput(f"--image {file}", error.strerror or str(error), "Name a file that can be read") from None
    except ToolError as error:
        raise InvalidInput(f"--image {file}", str(error)) from None
    if image is None:
        raise InvalidInput(f"--image {file}", "it is no PNG, JPEG, GIF or WebP", "Name a picture; @FILE attaches text")
    return image
