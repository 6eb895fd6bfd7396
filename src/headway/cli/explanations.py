"""A failure as lines for a person, or as one line of JSON for a program."""

import textwrap
from typing import Any

from headway.failure import Failure, Plan, Scope
from headway.recovery.failures.policy import POLICIES
from headway.wire.json_text import encode_text

WIDTH = 96
_LABEL = 15

OWNERS = {
    Scope.REQUEST: "this request alone; the next one may be fine",
    Scope.HISTORY: "the conversation as it was sent",
    Scope.KEY: "the key or the account behind it",
    Scope.MODEL: "the model",
    Scope.PROVIDER: "the provider",
    Scope.NETWORK: "the network between here and the provider",
}
ACTIONS = {
    Plan.RETRY_SAME: "asks the same provider again, a bounded number of times",
    Plan.ROTATE_CREDENTIAL: "goes on with the next key of this provider",
    Plan.FAILOVER_NOW: "goes to the next provider or model at once",
    Plan.COMPRESS_CONTEXT: "shortens the conversation and sends it again",
    Plan.LOWER_MAX_TOKENS: "lowers the output limit and sends it again",
    Plan.SANITISE_HISTORY: "repairs what was sent and sends it once more",
    Plan.ASK_SMALLER_CHUNKS: "drops the cut call and asks the model for smaller pieces",
    Plan.RESUME: "keeps what was received and goes on from there",
    Plan.GIVE_UP: "asks no more here: nothing automatic helps",
}
UNREADABLE = "unreadable_input"


def as_json(failure: Failure, identity: Any = None) -> str:
    """Return one line of JSON."""
    return encode_text(
        {
            **({"id": identity} if identity is not None else {}),
            "kind": failure.kind.value,
            "scope": failure.scope.value,
            "plan": failure.plan.value,
            "then": failure.then.value if failure.then else None,
            "wait_seconds": failure.wait_seconds,
            "repair": failure.repair,
            "limit_tokens": failure.limit_tokens,
            "reason": failure.reason,
        }
    )


def as_text(failure: Failure, identity: Any = None) -> str:
    """Return a few lines for a person."""
    title = failure.kind.value.replace("_", " ").capitalize().replace("Tls", "TLS")
    lines = [f"{title} [{identity}]" if identity is not None else title]
    lines += _entry("what happened", failure.reason)
    lines += _entry("whose it is", OWNERS[failure.scope])
    lines += _entry("Headway", _action(failure))
    if failure.then is not None:
        lines += _entry("else" if failure.plan is Plan.GIVE_UP else "if that fails", ACTIONS[failure.then])
    if failure.repair is not None:
        lines += _entry("the repair", failure.repair.replace("_", " "))
    if failure.limit_tokens is not None:
        lines += _entry("the limit", f"{failure.limit_tokens:,} tokens")
    advice = POLICIES[failure.kind].advice
    if advice and advice not in failure.reason:
        lines += _entry("you can", advice)
    return "\n".join(lines)


def unreadable_json(why: str) -> str:
    """Return the line of JSON that stands for an input that could not be read."""
    return encode_text(
        {
            "kind": UNREADABLE,
            "scope": Scope.REQUEST.value,
            "plan": Plan.GIVE_UP.value,
            "then": None,
            "wait_seconds": None,
            "repair": None,
            "limit_tokens": None,
            "reason": why,
        }
    )


def unreadable_text(why: str) -> str:
    """Return the line that stands for an input that could not be read."""
    return f"Unreadable input\n{textwrap.indent(textwrap.fill(why, WIDTH - 2), '  ')}"


def _action(failure: Failure) -> str:
    action = ACTIONS[failure.plan]
    if failure.wait_seconds is None or failure.plan not in {Plan.RETRY_SAME, Plan.RESUME}:
        return action
    return f"waits {failure.wait_seconds:g} seconds as told, then {action}"


def _entry(label: str, text: str) -> list[str]:
    indent = " " * (_LABEL + 2)
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=f"  {label:<{_LABEL}}",
        subsequent_indent=indent,
        break_on_hyphens=False,
    )
