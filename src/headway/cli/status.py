"""What is happening, as lines for a person: plain sentences, one a line, on a channel apart from the reply."""

from typing import Any

from headway.agent.happenings import LoopNoticed, ToolBegan, ToolEnded
from headway.recovery.ledger import Strategy
from headway.turn import notices
from headway.wire.json_text import BadJson, strict_object

_DOING = {
    Strategy.REATTACH: "taking it up again on the server",
    Strategy.CONTINUE_TEXT: "continuing from the last word",
    Strategy.CONTINUE_DRAFT: "continuing from the draft",
    Strategy.SMALLER_PIECES: "asking for smaller pieces",
    Strategy.SEND_BACK: "sending a paused turn on",
    Strategy.NUDGE: "asking again in other words",
    Strategy.RETRY_NOW: "asking again",
    Strategy.RETRY_SOON: "asking again soon",
    Strategy.RETRY_LATER: "asking again later",
    Strategy.ROTATE_KEY: "trying the next key",
    Strategy.HEAL: "healing the request",
    Strategy.HEAL_HARDER: "leaving out what can be left out",
    Strategy.COMPACT: "shortening the history",
    Strategy.LOWER_OUTPUT: "asking for less output",
}
SHOWN = 60


def status_line(item: Any) -> str | None:
    """Return the line for something that happened; None if it is not worth one."""
    match item:
        case notices.Broke(upstream=name, failure=failure):
            return f"{name}: {failure.reason}"
        case notices.DraftHeld(draft=draft):
            place = f" of {draft.open_name}" if draft.open_name else ""
            return f"kept {draft.offset:,} characters{place} of {draft.tool} as draft {draft.id}; nothing was run"
        case notices.TryingAgain(upstream=name, strategy=strategy, wait_seconds=wait):
            pause = f" in {wait:.0f} s" if wait >= 1 else ""
            return f"{name}: {_DOING[strategy]}{pause}"
        case notices.FailedOver(to=to):
            return f"going on with {to}"
        case notices.Healed(repairs=repairs):
            return f"healed the history on its way out: {'; '.join(repair.words for repair in repairs[:3])}"
        case ToolBegan(call=call):
            return f"{call.name} {_brief(call.arguments)}"
        case ToolEnded(call=call, result=result) if result.is_error:
            return f"{call.name} failed: {result.text[:200]}"
        case LoopNoticed(words=words):
            return f"told the model: {words}"
        case _:
            return None


def _brief(arguments: str) -> str:
    """Return a call's short arguments, and the sizes of its long ones."""
    try:
        given = strict_object(arguments)
    except BadJson:
        return f"({len(arguments):,} characters)"
    shown = (
        f"{name}={value!r}" if len(str(value)) <= SHOWN else f"{name}=({len(str(value)):,} characters)"
        for name, value in given.items()
    )
    return ", ".join(shown)
