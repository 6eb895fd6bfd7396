"""The answer to an offered draft, turned into what the caller asked for: the whole call, or what is still missing.

A caller never sees `continue_draft`. If the continuation completes the draft, the reply holds the call that was meant,
under the id of the reply. If it does not, the reply is not an answer: the draft that it left, and the problem in words,
go into the outcome, and the machine decides.
"""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from headway.failure import Failure, FailureKind, Plan, Scope
from headway.messages import CallFragment, Opaque, Part, ToolCall, ToolSpec
from headway.received import Received
from headway.recovery.drafts import CONTINUE_DRAFT, Draft
from headway.recovery.joining import Joined, join_call
from headway.recovery.schema import Schema


class Settled(Struct, frozen=True):
    """A reply in the caller's terms. A draft that is open without a `problem` comes in pieces, and more will come."""

    received: Received
    draft: Draft | None = None
    problem: str = ""

    @property
    def failure(self) -> Failure | None:
        """Return the failure that an unfinished draft is."""
        if self.draft is None:
            return None
        if not self.problem:
            reason = f"The call to {self.draft.tool} comes in pieces: {self.draft.offset:,} characters have arrived."
            return Failure(FailureKind.PAUSED, Scope.MODEL, Plan.ASK_SMALLER_CHUNKS, reason)
        reason = f"The continuation of the call to {self.draft.tool} did not complete it. {self.problem}"
        return Failure(FailureKind.MALFORMED_OUTPUT, Scope.MODEL, Plan.ASK_SMALLER_CHUNKS, reason)


def settle(received: Received, draft: Draft | None, tools: Sequence[ToolSpec | Opaque]) -> Settled:
    """Put the draft's own call in the place of its continuation."""
    if draft is None or not any(call.name == CONTINUE_DRAFT.name for call in received.calls):
        return Settled(received)
    parameters = _parameters(draft.tool, tools)
    parts: list[Part] = []
    still: Draft | None = draft
    problem = ""
    for part in received.parts:
        if still is None or not isinstance(part, ToolCall) or part.name != CONTINUE_DRAFT.name:
            parts.append(part)
            continue
        result = join_call(still, part, parameters)
        if isinstance(result, Joined):
            parts.append(ToolCall(part.id, result.tool, result.arguments, result.freeform))
            still, problem = None, ""
        else:
            parts.append(CallFragment(part.id, part.name, part.arguments))
            still, problem = result.draft, result.problem
    if still is None:  # an earlier piece of a continuation that a later one completed
        parts = [part for part in parts if not (isinstance(part, CallFragment) and part.name == CONTINUE_DRAFT.name)]
    return Settled(replace(received, parts=tuple(parts)), still, problem)


def _parameters(tool: str, tools: Sequence[ToolSpec | Opaque]) -> Schema:
    return next((spec.parameters for spec in tools if isinstance(spec, ToolSpec) and spec.name == tool), None)
