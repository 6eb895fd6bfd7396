"""What the library raises besides `InvalidInput` and `TurnFailed`."""

from headway.failure import HeadwayError


class Misused(HeadwayError):
    """The program used something when it cannot be used: closed, busy, not ended, or on another loop."""

    def __init__(self, what: str, why: str, hint: str = "") -> None:
        """Say what was used, why that cannot be, and what to do instead."""
        self.what, self.why, self.hint = what, why, hint
        super().__init__(what, why, hint)

    def __str__(self) -> str:
        text = f"{self.what}: {self.why}"
        return f"{text}. {self.hint}" if self.hint else text


class AgentStopped(HeadwayError):
    """An agent was stopped because it made no headway; its session has all that it did."""

    def __init__(self, words: str, text: str = "") -> None:
        """Keep why it was stopped, and the last words that came."""
        self.words, self.text = words, text
        super().__init__(words, text)

    def __str__(self) -> str:
        return self.words
