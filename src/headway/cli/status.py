"""What is happening, as lines for a person: plain sentences, one a line, on a channel apart from the reply."""

from typing import Any

from headway.agent.happenings import (
    AnsweredBy,
    LoopNoticed,
    Noted,
    NotKept,
    NotSummedUp,
    SummedUp,
    SummingUp,
    ToolBegan,
    ToolEnded,
)
from headway.cli.calls import call_words
from headway.cli.terminal import fit, size
from headway.providers.changes import Change, sentence
from headway.recovery.ledger import Strategy
from headway.turn import notices

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
    Strategy.COMPACT: "the conversation is too long for it and must become shorter",
    Strategy.SHORTEN: "leaving out old results and the oldest exchanges",
    Strategy.LOWER_OUTPUT: "asking for less output",
}
SHOWN_OF_AN_ERROR = 200
SHOWN_OF_A_REASON = 400


def doing(strategy: Strategy) -> str:
    """Return what is done by a strategy."""
    return _DOING[strategy]


def status_line(item: Any) -> str | None:
    """Return the line for something that happened; None if it is not worth one."""
    if isinstance(item, Change):
        return sentence(item)
    return _about_requests(item) or _about_work(item)


def _about_requests(item: Any) -> str | None:
    match item:
        case notices.Broke(upstream=name, failure=failure):
            return f"{name}: {failure.reason}"
        case notices.DraftHeld(draft=draft):
            place = f" of {draft.open_name}" if draft.open_name else ""
            return f"kept {draft.offset:,} characters{place} of {draft.tool} as draft {draft.id}; nothing was run"
        case notices.TryingAgain(upstream=name, strategy=strategy, wait_seconds=wait):
            pause = f" in {wait:.0f} s" if wait >= 1 else ""
            return f"{name}: {_DOING[strategy]}{pause}"
        case notices.Withdrawn(upstream=name):
            return f"{name}: takes back what it has said in this reply; the answer begins anew"
        case notices.FailedOver(to=to):
            return f"going on with {to}"
        case notices.Healed(repairs=repairs):
            return f"healed the history on its way out: {'; '.join(repair.words for repair in repairs[:3])}"
        case _:
            return None


def _about_work(item: Any) -> str | None:
    match item:
        case ToolBegan(call=call):
            return call_words(call)
        case ToolEnded(call=call, result=result, ran=False):
            return f"{call_words(call)} was not run: {fit(result.text, SHOWN_OF_A_REASON)}"
        case ToolEnded(call=call, result=result) if result.is_error:
            return f"{call.name} failed: {fit(result.text, SHOWN_OF_AN_ERROR)}"
        case AnsweredBy(upstream=name, instead_of=before):
            return f"answered by {name} instead of {before}"
        case SummingUp(characters=characters):
            return f"having the older part of the conversation summed up ({size(characters)}); the session keeps it all"
        case SummedUp(before=before, after=after):
            return f"the conversation is shorter now: {size(after)} instead of {size(before)}"
        case NotSummedUp(reason=reason, left_out=False):
            return f"no summary: {reason} Going on as it is for now"
        case NotSummedUp(reason=reason):
            return f"no summary: {reason} Leaving out the oldest instead"
        case Noted(words=words):
            return words
        case NotKept(words=words):
            return f"going on in memory: {words}"
        case LoopNoticed(words=words):
            return f"told the model: {words}"
        case _:
            return None
