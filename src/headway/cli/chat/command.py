"""`headway chat`: talk with the agent at a terminal, or feed it lines without one."""

import asyncio
import io
import sys
from contextlib import closing
from pathlib import Path
from textwrap import wrap
from typing import Any

import click

from headway.agent.approval import Mode
from headway.agent.tools.threads import in_thread
from headway.cli.chat.conversation import Conversation
from headway.cli.chat.hangup import say_last
from headway.cli.chat.plain import PlainTalk
from headway.cli.keeping import held_session, wanted_by
from headway.cli.lines import RunStatus
from headway.cli.terminal import Terminal
from headway.failure import InvalidInput
from headway.settings import Loaded, load
from headway.settings.mcp_servers import mcp_servers
from headway.settings.safety import Safety, safety_for
from headway.transport.http import HttpClient
from headway.transport.tls import trust_from

EXAMPLES = """
\b
Examples:
  headway chat
  headway chat "What is in this folder?"
  headway chat --continue
  printf 'What is here?\\nAnd what is new?\\n' | headway chat --approve plan
"""
MEANINGS = {
    RunStatus.DONE: "You left. Without a terminal: every line was answered.",
    RunStatus.FAILED: "It could not go on. Without a terminal: a line got no answer.",
    RunStatus.USAGE: "The settings or the command line are wrong; nothing was done.",
    RunStatus.STOPPED: "Without a terminal: the agent was stopped in a line because it made no headway.",
    RunStatus.NOT_ALLOWED: "Without a terminal: calls were not run because nobody was there to allow them.",
    RunStatus.INTERRUPTED: "It was ended by a signal; what came is kept in the session.",
}
STATUSES = "\n".join(
    line
    for status, meaning in MEANINGS.items()
    for line in wrap(meaning, 80, initial_indent=f"  {status:<4} ", subsequent_indent=" " * 7)
)
EPILOG = f"{EXAMPLES}\n\b\nExit status:\n{STATUSES}\n"


@click.command(epilog=EPILOG)
@click.argument("prompt", required=False)
@click.option("--config", type=click.Path(path_type=Path, dir_okay=False), help="The settings, instead of the usual.")
@click.option("--workspace", type=click.Path(path_type=Path, file_okay=False), default=Path(), help="The folder.")
@click.option("--route", default="default", help="A route of the settings, or provider/model.")
@click.option("--approve", type=click.Choice([mode.value for mode in Mode]), help="What may happen without asking.")
@click.option("--continue", "latest", is_flag=True, help="Go on with the latest session of this folder.")
@click.option("--resume", metavar="ID", help="Go on with this session.")
def chat(prompt: str | None, config: Path | None, workspace: Path, **given: Any) -> int:
    """Talk with the agent: it reads, writes, searches and runs in a folder, and keeps what came."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    loaded = load(config, {"agent.approve": given["approve"]})
    if not workspace.is_dir():
        raise InvalidInput(str(workspace), "there is no such folder", "Make it first, or name another")
    return asyncio.run(_chat(prompt or "", loaded, workspace.resolve(), given))


async def _chat(prompt: str, loaded: Loaded, workspace: Path, given: dict[str, Any]) -> int:
    with closing(await in_thread(safety_for, loaded, workspace)) as safety:
        return int(await _talk(prompt, loaded, safety, given))


async def _talk(prompt: str, loaded: Loaded, safety: Safety, given: dict[str, Any]) -> RunStatus:
    environment = loaded.around.environ
    wanted = wanted_by(safety.workspace.roots[0], given)
    terminal = Terminal(sys.stdout, environment)
    async with (
        held_session(loaded.store_url, wanted, _say) as held,
        HttpClient(trust=trust_from(environment), environment=environment) as client,
    ):
        for notice in loaded.notices:
            _say(notice)
        conversation = Conversation(loaded, client, held, safety, given["route"])
        is_resumed = bool(wanted.latest or wanted.name)
        async with mcp_servers(loaded, conversation.folder, client, conversation.warn) as conversation.servers:
            if terminal.is_live and sys.stdin.isatty():
                from headway.cli.chat.opening import at_screen  # only here is a screen wanted

                status = await at_screen(conversation, terminal, prompt, is_resumed=is_resumed)
            else:
                status = await PlainTalk(conversation, terminal).run(prompt)
        if conversation.is_kept:
            _say(f"to go on with this: headway chat --resume {conversation.session.id}")
        await conversation.forget_if_empty()
    return status


def _say(words: str) -> None:
    say_last(sys.stderr, f"headway: {words}")
