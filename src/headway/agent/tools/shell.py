"""`shell`: a command in the workspace, with a time limit, no input, no secrets, and a bounded answer."""

import asyncio
import os
import shutil
import signal
from typing import Annotated

from msgspec import Meta

from headway.agent.approval import Kind
from headway.agent.sandbox.sandbox import NotConfined
from headway.agent.sandbox.words import after_refusal
from headway.agent.tools.bounds import Spool, shorten_lines
from headway.agent.tools.define import tool
from headway.agent.tools.environment import unattended
from headway.agent.tools.processes import Ended, run_group
from headway.agent.tools.refusals import ToolError
from headway.agent.tools.terminal import plain
from headway.agent.tools.tool import ToolContext

MOST_SECONDS = 3600


@tool(kind=Kind.RUNS)
async def shell(
    context: ToolContext,
    command: Annotated[str, Meta(min_length=1, description="The command line, for bash or sh.")],
    timeout_seconds: Annotated[
        Annotated[float, Meta(gt=0, le=MOST_SECONDS)] | None, "When to stop it, if it may take longer than usual."
    ] = None,
) -> str:
    """Run a command in the workspace and see its output and exit status.

    It gets no input and has no terminal. Everything that it starts ends with it, so do not leave servers running in the
    background: start, use and stop them in one command. Each call begins in the workspace again.
    """
    if os.name != "posix":
        raise ToolError("Commands can be run on POSIX systems only; this is another one.")
    if "\0" in command:
        raise ToolError("The command holds a NUL character, which no command can.")
    limits = context.limits
    seconds = min(timeout_seconds or limits.shell_seconds, limits.most_shell_seconds)
    spool = Spool(limits.output_characters)

    def take(text: str) -> None:
        spool.write(text)
        if context.on_output is not None:
            context.on_output(context.call_id, text)

    program = [shutil.which("bash") or "/bin/sh", "-c", command]
    environment = unattended(context.environment)
    sandbox = context.sandbox if context.sandbox is not None and (await context.sandbox.found()).means else None
    try:
        if sandbox is not None:
            ended = await sandbox.run(program, environment=environment, seconds=seconds, on_text=take)
        else:
            folder = context.workspace.root
            ended = await run_group(program, folder=folder, environment=environment, seconds=seconds, on_text=take)
    except asyncio.CancelledError:  # what came until then is worth knowing, and the call is told as what it is: stopped
        raise ToolError(_answered(spool, "[interrupted: everything that it had started was ended]")) from None
    except NotConfined as failed:
        said = f"The sandbox could not be put up, so the command was not run. {spool.text()}"
        raise ToolError(said.strip()) from failed
    said = _said(ended, seconds)
    if sandbox is not None and ended.status != 0 and (hint := after_refusal(spool.text(), sandbox.confinement)):
        said = f"{said}\n{hint}"
    answer = _answered(spool, said)
    if ended.status is None:
        raise ToolError(answer)
    return answer


def _answered(spool: Spool, said: str) -> str:
    """Return what a command printed, and how it ended."""
    output = shorten_lines(plain(spool.text())).strip("\n")
    return f"{output}\n{said}" if output.strip() else f"[no output]\n{said}"


def _said(ended: Ended, seconds: float) -> str:
    if ended.stopped:
        what = "it had started too many processes" if ended.stopped == "processes" else "it was filling the disk"
        return f"[stopped: {what}; everything that it had started was ended]"
    if ended.status is None:
        return f"[stopped: it took longer than {seconds:g} s, and everything that it had started was ended]"
    if ended.status < 0:
        words = f"[ended by {next((one.name for one in signal.Signals if one == -ended.status), -ended.status)}]"
    else:
        words = f"[exit status {ended.status}]"
    left = "\n[processes that it left in the background were ended]" if ended.left_running else ""
    return words + left
