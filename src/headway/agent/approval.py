"""What may run: a pure judgement from the mode, the rules and the call, and who is asked when it says so.

A deny rule always wins. Plan mode only reads, whatever is allowed. Then come ask rules, allow rules, and the mode. A
rule is written `tool`, `tool(command prefix)` or `tool(path)`. `shell(git status)` allows plain `git status …` and
nothing chained to it that is not allowed as well; as a deny rule it finds its words in every spelling that can be read,
and what cannot be read is asked about. `write_file(src/**)` speaks of the path that a call leads to.
"""

import re
from collections.abc import Awaitable, Callable, Iterable
from enum import Enum
from fnmatch import fnmatchcase
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from headway.agent.places import Place, fits_path, place_named
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
    kind: Kind = Kind.RUNS
    """How careful one must be with the tool that is asked about."""


class Deny(Struct, frozen=True, tag="deny"):
    """It may not run; the reason is for the model."""

    reason: str


Judgement: TypeAlias = Allow | Ask | Deny
Asker: TypeAlias = Callable[[ToolCall, Ask], Awaitable[Allow | Deny]]


class Rule(Struct, frozen=True):
    """One rule: a tool by its name (`*` and `?` match), and the words that its command begins with, or its path."""

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
    """Read a rule as people write it: `write_file`, `shell(git push)`, `shell(rm *)`, `write_file(src/**)`."""
    read = _RULE.fullmatch(text)
    if read is None or (read[2] is not None and not read[2].split()):
        hint = "Write `tool`, `tool(command prefix)` or `tool(path)`."
        raise InvalidInput(f"the rule {text!r}", "it cannot be read", hint)
    words = (read[2] or "").split()
    while len(words) > 1 and words[-1] == "*":  # whatever follows fits anyway
        words.pop()
    return Rule(read[1], tuple(words))


def rules_of(allow: Iterable[str] = (), deny: Iterable[str] = (), ask: Iterable[str] = ()) -> Rules:
    """Read rules as settings have them."""
    return Rules(tuple(map(rule, allow)), tuple(map(rule, deny)), tuple(map(rule, ask)))


def judge(mode: Mode, kind: Kind, rules: Rules, call: ToolCall, place: Place | None = None) -> Judgement:
    """Say whether a call may run; `place` is where the path among its arguments leads, if that was looked up."""
    speaks_of_more = any(one.prefix for one in (*rules.deny, *rules.ask, *rules.allow))
    about = _Subject(call, place if place is not None else _place(call), _command(call) if speaks_of_more else None)
    denied = _denied(rules.deny, about)
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
    asked = next((one for one in rules.ask if about.could_be(one)), None)
    if asked is not None:
        return Ask(f"the rule `{asked}` says to ask")
    if denied is not None:
        return Allow() if about.is_allowed(rules.allow, beyond_doubt=True) else denied
    if about.place is not None and about.place.concern:
        named = [one for one in rules.allow if one.prefix]
        return Allow() if about.is_allowed(named, beyond_doubt=True) else Ask(about.place.concern)
    return Allow() if about.is_allowed(rules.allow) else default


class Approvals(Struct, frozen=True):
    """The mode and the rules of a session, and who is asked; nobody, when no person is there."""

    mode: Mode = Mode.ASK
    rules: Rules = Rules()
    asker: Asker | None = None

    async def decide(self, kind: Kind, call: ToolCall, place: Place | None = None) -> Allow | Deny:
        """Judge a call and, if a person must decide, ask; without anybody to ask, it is denied with the way out."""
        judgement = judge(self.mode, kind, self.rules, call, place)
        if not isinstance(judgement, Ask):
            return judgement
        asked = replace(judgement, kind=kind)
        return nobody_to_ask(call, asked) if self.asker is None else await self.asker(call, asked)


def nobody_to_ask(call: ToolCall, ask: Ask) -> Deny:
    """Return the answer to a question when there is nobody who could answer it, with the way out."""
    mode = "edits` or `--approve auto" if ask.kind is Kind.EDITS else "auto"
    return Deny(
        f"This is not allowed: {ask.why}, and nobody is here to be asked. Do not try it again; say in the end what is "
        f"left to do. The user can allow it with `--approve {mode}`, or with an allow rule such as `{_example(call)}`."
    )


class _Subject(Struct, frozen=True):
    """What rules speak about: a call, the place that it leads to, the command that it runs."""

    call: ToolCall
    place: Place | None
    command: Command | None

    def is_denied(self, one: Rule) -> bool:
        """Say whether this is what a rule means, as far as can be seen."""
        if not one.prefix:
            return True
        if self.command is not None:
            return self.command.mentions(one.prefix)
        return self.place is not None and fits_path(" ".join(one.prefix), self.place)

    def doubt(self, one: Rule) -> str:
        """Return why this could be what a rule means although it cannot be seen; empty if it could not."""
        if self.command is not None:
            found = self.command.doubt
            return found or ("a text in it could be run" if self.command.might_mention(one.prefix) else "")
        if self.place is None:
            return "it names no command and no path" if one.tool == self.call.name else ""
        return "" if self.place.parts is not None else "where its path leads is not known"

    def could_be(self, one: Rule) -> bool:
        """Say whether this is what a rule means, or could be."""
        if not fnmatchcase(self.call.name, one.tool):
            return False
        return self.is_denied(one) or bool(self.doubt(one)) or (self.command is None and self.place is None)

    def is_allowed(self, rules: Iterable[Rule], *, beyond_doubt: bool = False) -> bool:
        """Say whether rules allow this. `beyond_doubt` wants rules that name what could do more than can be seen."""
        about = [one for one in rules if fnmatchcase(self.call.name, one.tool)]
        if any(not one.prefix for one in about):
            return not beyond_doubt
        if self.command is not None:
            return self.command.begins_with([one.prefix for one in about], beyond_doubt=beyond_doubt)
        return self.place is not None and any(
            fits_path(" ".join(one.prefix), self.place, exactly=True) for one in about
        )


def _command(call: ToolCall) -> Command | None:
    """Return the command line of a call; None if it has none."""
    line = call.arguments if call.freeform else _argument(call, "command")
    return read_command(line) if isinstance(line, str) else None


def _place(call: ToolCall) -> Place | None:
    """Return the place that a call names, by its text alone; None if it names none."""
    path = None if call.freeform else _argument(call, "path")
    return place_named(path) if isinstance(path, str) else None


def _argument(call: ToolCall, name: str) -> object:
    try:
        return strict_object(call.arguments).get(name)
    except BadJson:
        return None


def _denied(rules: tuple[Rule, ...], about: _Subject) -> Deny | Ask | None:
    unsure: Ask | None = None
    for one in (one for one in rules if fnmatchcase(about.call.name, one.tool)):
        if about.is_denied(one):
            return Deny(
                f"The rule `{one}` denies this. Do not try to get around it; find another way, or ask the user."
            )
        if why := about.doubt(one):
            unsure = Ask(f"`{one}` is denied, and whether this does it cannot be told: {why}")
    return unsure


def _example(call: ToolCall) -> str:
    command = _command(call)
    is_one = command is not None and command.is_plain and len(command.parts) == 1
    words = command.parts[0].words if command is not None and is_one else ()
    return str(Rule(call.name, words))
