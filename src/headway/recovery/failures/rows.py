"""One row of the failure table, and what it means to match it.

A row names the evidence for a meaning: codes, words, finish reasons, statuses, places. `code`, `finish` and `says` are
alternatives: one of them is enough. Everything else narrows, and all of it must hold. An alternative of `says` is a
tuple of word groups that must all stand in one sentence, in any order: a meaning, not a wording.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import TypedDict, Unpack

from msgspec import Struct
from msgspec.structs import replace

from headway.failure import FailureKind, Plan, Scope, Where
from headway.recovery.failures.evidence import Evidence
from headway.recovery.failures.hints import wait_seconds
from headway.recovery.failures.policy import POLICIES


class Row(Struct, frozen=True, kw_only=True):
    """What a piece of evidence means.

    Regular expressions are matched against lower case. A long one may be laid out over several lines.
    """

    kind: FailureKind
    meaning: str
    scope: Scope
    plan: Plan
    then: Plan | None
    repair: str | None = None

    code: str = ""
    finish: str = ""
    says: tuple[tuple[str, ...], ...] = ()

    vendor: str = ""
    unless: str = ""
    """Words that, in the sentence that matched, make it mean something else."""
    status: tuple[int | None, ...] = ()
    where: tuple[Where | None, ...] = ()
    context: str = ""
    silent: bool = False
    """Whether the body must be empty."""
    waits_from: float = 0.0
    """The seconds that the provider must at least have named as the time to wait."""

    def matches(self, evidence: Evidence) -> bool:
        """Say whether the evidence means this."""
        facts = evidence.facts
        return (
            (not self.vendor or self.vendor == evidence.vendor)
            and (not self.status or evidence.status in self.status)
            and (not self.where or facts.where in self.where)
            and (not self.context or self.context == facts.context)
            and (not self.silent or not (evidence.codes or evidence.sentences))
            and self._speaks(evidence)
            and (not self.waits_from or (wait_seconds(evidence) or 0.0) >= self.waits_from)
        )

    def _speaks(self, evidence: Evidence) -> bool:
        if not (self.code or self.finish or self.says):
            return True
        return (
            bool(self.code and _any(_compiled(rf"(?:^|_)(?:{self.code})(?:_|$)"), evidence.codes))
            or bool(self.finish and _any(_compiled(rf"(?:^|_)(?:{self.finish})$"), evidence.finishes))
            or bool(self.says and _doorway(self.says).search(evidence.text) and self._is_said(evidence.sentences))
        )

    def _is_said(self, sentences: tuple[str, ...]) -> bool:
        return any(self._in_one_sentence(groups, sentences) for groups in self.says)

    def _in_one_sentence(self, groups: tuple[str, ...], sentences: tuple[str, ...]) -> bool:
        patterns = [_compiled(group) for group in groups]
        return any(
            all(pattern.search(sentence) for pattern in patterns)
            and not (self.unless and _compiled(self.unless).search(sentence))
            for sentence in sentences
        )


class Fields(TypedDict, total=False):
    """What a row may say beside its kind and its meaning."""

    plan: Plan
    then: Plan
    scope: Scope
    repair: str
    code: str
    finish: str
    says: Sequence[tuple[str, ...]]
    vendor: str
    unless: str
    status: tuple[int | None, ...]
    where: tuple[Where | None, ...]
    context: str
    silent: bool
    waits_from: float


def row(kind: FailureKind, meaning: str, **fields: Unpack[Fields]) -> Row:
    """Write a row; what it does not say follows from the policy for its kind."""
    policy = POLICIES[kind]
    plan = fields.get("plan", policy.plan)
    base = Row(
        kind=kind, meaning=meaning, scope=policy.scope, plan=plan, then=policy.then if plan is policy.plan else None
    )
    return replace(base, **{**fields, "says": tuple(fields.get("says", ()))})


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(_on_one_line(pattern))


@cache
def _doorway(says: tuple[tuple[str, ...], ...]) -> re.Pattern[str]:
    """Return one pattern without which none of the alternatives can match: most rows end here."""
    return re.compile("|".join(f"(?:{_on_one_line(groups[0])})" for groups in says), re.MULTILINE)


def _on_one_line(pattern: str) -> str:
    """Undo the breaks and indents by which a long pattern is laid out."""
    return "".join(line.strip() if "\n" in pattern else line for line in pattern.splitlines())


def _any(pattern: re.Pattern[str], names: tuple[str, ...]) -> bool:
    return any(pattern.search(name) for name in names)
