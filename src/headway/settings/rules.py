"""Rules about calls, checked where they are written, so that an error names the place."""

from headway.agent.approval import rule
from headway.failure import InvalidInput
from headway.settings.schema import Agent


def check_rules(agent: Agent, origin: str) -> None:
    """Refuse a rule that cannot be read: one that denies would deny nothing."""
    for name in ("allow", "deny", "ask"):
        for at, text in enumerate(getattr(agent, name)):
            try:
                rule(text)
            except InvalidInput:
                hint = "Write `tool`, `tool(command prefix)` or `tool(path)`, such as `shell(rm *)`."
                raise InvalidInput(f"{origin}: agent.{name}[{at}]", f"{text[:80]!r} is no rule", hint) from None
