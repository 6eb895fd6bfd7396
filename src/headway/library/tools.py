"""The tools of a program: its own functions, and who decides about the tools that come with Headway.

A program's own tools are its own business: they run without a question, except that a plan only reads. The built-in
ones can touch files and start programs, so what they may do is said by `approve`.
"""

import inspect
import logging
import re
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any, Literal, TypeAlias

from msgspec.structs import replace

from headway.agent.approval import Allow, Approvals, Ask, Asker, Deny, Mode, Rule
from headway.agent.sandbox import words
from headway.agent.sandbox.finding import find
from headway.agent.sandbox.sandbox import Found
from headway.agent.tools.builtin import BUILTIN
from headway.agent.tools.define import tool
from headway.agent.tools.threads import in_thread
from headway.agent.tools.tool import Tool, ToolContext
from headway.failure import InvalidInput
from headway.messages import ToolCall
from headway.recovery.drafts import CONTINUE_DRAFT
from headway.settings import Loaded
from headway.settings.safety import safety_for

_log = logging.getLogger("headway.library")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
OwnTool: TypeAlias = Tool | Callable[..., Any]
"""A tool, or a function to make one of."""
Approver: TypeAlias = Callable[[ToolCall], bool | Awaitable[bool]]
Approve: TypeAlias = Literal["plan", "edits", "auto"] | Approver
"""What built-in tools may do: only read, edit files too, everything, or what a function says of each call that acts."""


def own_tools(given: Iterable[OwnTool]) -> tuple[Tool, ...]:
    """Return what was given as tools, each name once."""
    tools: dict[str, Tool] = {}
    for one in given:
        if not (isinstance(one, Tool) or callable(one)):
            raise InvalidInput("the tools", f"{type(one).__name__} is none", "Give functions, or what @tool makes.")
        made = one if isinstance(one, Tool) else tool(one)
        if not _NAME.fullmatch(made.name) or made.name == CONTINUE_DRAFT.name:
            hint = "Use letters, digits, _ and -, at most 64."
            raise InvalidInput(f"the tool {made.name!r}", "no model could call it by that name", hint)
        if made.name in tools:
            raise InvalidInput(f"the tool {made.name!r}", "there are two of that name", "Rename one of them.")
        tools[made.name] = made
    return tuple(tools.values())


def with_builtin(own: tuple[Tool, ...], workspace: str | Path | None) -> tuple[Tool, ...]:
    """Add the built-in tools when there is a folder for them to work in; a program's own of the same name counts."""
    if workspace is None:
        return own
    names = {one.name for one in own}
    return (*own, *(one for one in BUILTIN if one.name not in names))


def context_for(own: tuple[Tool, ...], workspace: str | Path | None, approve: Approve, loaded: Loaded) -> ToolContext:
    """Return where tools work and what may run."""
    if not callable(approve) and approve not in {"plan", "edits", "auto"}:
        hint = 'Use "plan", "edits", "auto", or a function that is asked.'
        raise InvalidInput("approve", f"{approve!r} is not known", hint)
    safety = safety_for(loaded, Path(workspace if workspace is not None else Path()).resolve(), _look)
    rules = replace(safety.rules, allow=(*(Rule(one.name) for one in own), *safety.rules.allow))
    if callable(approve):
        return safety.context(approvals=Approvals(Mode.ASK, rules, _asker(approve)))
    return safety.context(approvals=Approvals(Mode(approve), rules, _nobody))


def words_for(context: ToolContext) -> str:
    """Return what a model is told about where its commands run."""
    return words.for_model(context.sandbox.confinement) if context.sandbox is not None else words.FOR_MODEL_WITHOUT


def _look() -> Found:
    """Look for walls around commands; that there are none is logged as a warning."""
    found = find()
    if found.means is None:
        _log.warning("%s", words.without(found.reasons))
    return found


def _asker(approve: Approver) -> Asker:
    async def ask(call: ToolCall, _: Ask) -> Allow | Deny:
        if inspect.iscoroutinefunction(approve):
            allowed = await approve(call)
        else:
            said = await in_thread(approve, call)
            allowed = await said if isinstance(said, Awaitable) else said
        return Allow() if allowed else Deny(f"`{call.name}` was not run: the user did not allow it.")

    return ask


async def _nobody(call: ToolCall, asked: Ask) -> Allow | Deny:
    return Deny(f"`{call.name}` was not run: {asked.why}, and this program does not allow that. Do without it.")
