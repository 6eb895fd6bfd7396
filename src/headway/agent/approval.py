"""What may run: a pure judgement from the mode, the rules and the call, and who is asked when it says so.

A deny rule always wins. Plan mode only reads, whatever is allowed. Then come ask rules, allow rules, and the mode. A
rule is written `tool` or `tool(command prefix)`: `shell(git status)` allows plain `git status …` and nothing chained to
it that is not allowed as well; as a deny rule it finds its words in every spelling that can be read, and what cannot
be read is asked about.
"""

import re
from collections.abc import Awaitable, Callable, Iterable
from enum import Enum
from fnmatch import fnmatchcase
from typing import TypeAlias

from msgspec import Struct

from headway.agent.tools.commands import Command, Words, read_command
from headway.failure import InvalidInput
from headway.messages import ToolCall
from headway.wire.json_text import BadJson, strict_object

_RULE = re.compile(r"\s*([\w.*?-]+)\s*(?:\((.*)\))?\s*", re.DOTALL)


class Kind(Enum):
    """How careful one must be with a tool."""

    READS = "reads"
    EDITS = "edits"
    RUNS = "runs"


class Mode(Enum):
    """How much happens without a question."""

    ASK = "ask"
    EDITS = "edits"
    PLAN = "plan"
    AUTO = "auto"


class Allow(Struct, frozen=True, tag="allow"):
    """It may run."""


class Ask(Struct, frozen=True, tag="ask"):
    """A person decides."""

    why: str


class Deny(Struct, frozen=True, tag="deny"):
    """It may not run; the reason is for the model."""

    reason: str


Judgement: TypeAlias = Allow | Ask | Deny
Asker: TypeAlias = Callable[[ToolCall, Ask], Awaitable[Allow | Deny]]


class Rule(Struct, frozen=True):
    """One rule: a tool by its name (`*` and `?` match), and the words that its command begins with."""

    tool: str
    prefix: Words = ()

    def __str__(self) -> str:
        return f"{self.tool}({' '.join(self.prefix)})" if self.prefix else self.tool


class Rules(Struct, frozen=True):
    """What a person has decided beforehand."""

    allow: tuple[Rule, ...] = ()
    deny: tuple[Rule, ...] = ()
    ask: tuple[Rule, ...] = ()


def rule(text: str) -> Rule:
    """Read a rule as people write it: `write_file`, `shell(git push)`."""
    read = _RULE.fullmatch(text)
    if read is None or (read[2] is not None and not read[2].split()):
        raise InvalidInput(f"the rule {text!r}", "it cannot be read", "Write `tool` or `tool(command prefix)`.")
    return Rule(read[1], tuple((read[2] or "").split()))


def rules_of(allow: Iterable[str] = (), deny: Iterable[str] = (), ask: Iterable[str] = ()) -> Rules:
    """Read rules as settings have them."""
    return Rules(tuple(map(rule, allow)), tuple(map(rule, deny)), tuple(map(rule, ask)))


def judge(mode: Mode, kind: Kind, rules: Rules, call: ToolCall) -> Judgement:
    """Say whether a call may run."""
    speaks_of_commands = any(one.prefix for one in (*rules.deny, *rules.ask, *rules.allow))
    command = _command(call) if speaks_of_commands else None
    denied = _denied(rules.deny, call, command)
    if isinstance(denied, Deny):
        return denied
    if kind is Kind.READS:
        default: Judgement = Allow()
    elif mode is Mode.PLAN:
        return Deny("This is plan mode: only reading is allowed. Say what you would do, and let the user decide.")
    elif mode is Mode.AUTO or (mode is Mode.EDITS and kind is Kind.EDITS):
        default = Allow()
    else:
        default = Ask(f"`{call.name}` {'changes files' if kind is Kind.EDITS else 'can do anything'}")
    asked = next((one for one in rules.ask if _speaks_of(one, call, command)), None)
    if asked is not None:
        return Ask(f"the rule `{asked}` says to ask")
    if denied is not None:
        return denied
    return Allow() if _is_allowed(rules.allow, call, command) else default


class Approvals(Struct, frozen=True):
    """The mode and the rules of a session, and who is asked; nobody, when no person is there."""

    mode: Mode = Mode.ASK
    rules: Rules = Rules()
    asker: Asker | None = None

    async def decide(self, kind: Kind, call: ToolCall) -> Allow | Deny:
        """Judge a call and, if a person must decide, ask; without anybody to ask, it is denied with the way out."""
        judgement = judge(self.mode, kind, self.rules, call)
        if not isinstance(judgement, Ask):
            return judgement
        if self.asker is not None:
            return await self.asker(call, judgement)
        mode = "edits` or `--approve auto" if kind is Kind.EDITS else "auto"
        return Deny(
            f"It was not run: {judgement.why}, and nobody is here to be asked. The user can allow it with "
            f"`--approve {mode}`, or with an allow rule such as `{_example(call)}`."
        )


def _command(call: ToolCall) -> Command | None:
    """Return the command line of a call; None if it has none."""
    if call.freeform:
        return read_command(call.arguments)
    try:
        line = strict_object(call.arguments).get("command")
    except BadJson:
        return None
    return read_command(line) if isinstance(line, str) else None


def _denied(rules: tuple[Rule, ...], call: ToolCall, command: Command | None) -> Deny | Ask | None:
    unsure: Ask | None = None
    for one in rules:
        if not fnmatchcase(call.name, one.tool) or (command is None and one.prefix and one.tool != call.name):
            continue
        if not one.prefix or (command is not None and command.mentions(one.prefix)):
            return Deny(
                f"The rule `{one}` denies this. Do not try to get around it; find another way, or ask the user."
            )
        if command is None or command.hidden:
            why = command.hidden if command is not None else "it names no command"
            unsure = Ask(f"`{one}` is denied, and whether this does it cannot be told: {why}")
    return unsure


def _speaks_of(one: Rule, call: ToolCall, command: Command | None) -> bool:
    if not fnmatchcase(call.name, one.tool):
        return False
    return not one.prefix or command is None or command.mentions(one.prefix) or bool(command.hidden)


def _is_allowed(rules: tuple[Rule, ...], call: ToolCall, command: Command | None) -> bool:
    about = [one for one in rules if fnmatchcase(call.name, one.tool)]
    if any(not one.prefix for one in about):
        return True
    return command is not None and command.begins_with([one.prefix for one in about])


def _example(call: ToolCall) -> str:
    command = _command(call)
    words = command.parts[0] if command is not None and command.is_plain and len(command.parts) == 1 else ()
    return str(Rule(call.name, words))
