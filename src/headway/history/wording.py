"""Every word that repair itself puts into a history. They are constants: the same repair, the same prompt cache."""

from collections.abc import Sequence

NOT_EXECUTED = "not executed: interrupted"
"""The result of a call that has none."""

PLEASE_CONTINUE = "Please continue."
OPENING = "(The conversation begins with the assistant's words.)"
RESULTS_SEEN = "(The results were received.)"
IMAGE_LEFT_OUT = "(An image was here; it cannot be shown to this model.)"
DOCUMENT_LEFT_OUT = "(A document was here; it cannot be shown to this model.)"
FROM_A_RESULT = "(From the result of a tool call:)"
"""Introduces the images and documents of a result that can only hold text."""


_SHOWN = 64
"""How much of a name that a model made up is said back to it."""


def told_incomplete(names: Sequence[str]) -> str:
    """Tell the model that calls of its were incomplete and did not happen."""
    known = list(dict.fromkeys(name.strip()[:_SHOWN] for name in names if name.strip()))
    if not known:
        return "(A tool call without a name was not run.)"
    if len(known) == 1 and len(names) == 1:
        return f"(The call to {known[0]} was incomplete and was not run.)"
    return f"(The calls to {', '.join(known)} were incomplete and were not run.)"


def told_result(text: str, tool: str = "") -> str:
    """Put a result that belongs to no call, or is one too many for its call, into words of the user."""
    source = f"Another result of the call to {tool}" if tool else "The result of an earlier tool call"
    return f"({source}:)\n{text}"
