"""Why a call may not run, in words for people. The reasons of `approval` are for the model, and say what to do next."""

from headway.agent.approval import Deny, Kind, Mode, Rules, judge
from headway.agent.places import Place
from headway.messages import ToolCall


def why_denied(mode: Mode, kind: Kind, rules: Rules, call: ToolCall, place: Place | None = None) -> str:
    """Return what denies a call, be it a rule or the mode; empty if nobody does before a person is asked."""
    if not isinstance(judge(mode, kind, rules, call, place), Deny):
        return ""
    for one in rules.deny:
        if isinstance(judge(Mode.AUTO, kind, Rules(deny=(one,)), call, place), Deny):
            return f"the rule `{one}` denies it"
    return f"the mode `{mode.value}` only reads"
