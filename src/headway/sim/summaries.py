"""What a model writes when it is asked to sum up, and what it takes from a summary later: the steps that are done.

It reads the record that it is shown, and it believes its own notes, wherever it finds them.
"""

import re
from collections.abc import Sequence

from headway.messages import ModelRequest
from headway.sim.past import Heard, One
from headway.sim.script import Call, Script, WriteFile
from headway.wire.json_text import encode_text

_ASKED = re.compile(r"\bsummed up\b|\bsum up\b|\bsummar(?:y|ise|ize)\b", re.IGNORECASE)


def is_asked_to_sum_up(request: ModelRequest) -> bool:
    """Say whether a request wants a summary and nothing else: no tools, and the words for it in the newest message."""
    return not request.tools and bool(request.messages) and bool(_ASKED.search(request.messages[-1].text))


def summary_of(request: ModelRequest, script: Script) -> str:
    """Return notes on the steps that the record shows, by the calls that stand in it."""
    lines = request.messages[-1].text.splitlines()
    steps = [step for step in script.steps if isinstance(step, Call | WriteFile)]
    notes = [_note(step) for step in steps if any(_shows(line, step) for line in lines)]
    return "\n".join(("This is what I have done so far:", *(notes or ["- nothing that counts"])))


def is_noted(step: Call | WriteFile, past: Sequence[One]) -> bool:
    """Say whether a step is done by the notes that the user gave back."""
    return any(isinstance(one, Heard) and _note(step) in one.text for one in past)


def _note(step: Call | WriteFile) -> str:
    return f"- `{step.tool}` {_what(step)}: done"


def _what(step: Call | WriteFile) -> str:
    return step.path if isinstance(step, WriteFile) else encode_text(step.given)


def _shows(line: str, step: Call | WriteFile) -> bool:
    return f"`{step.tool}`" in line and _what(step).strip("{}") in line.replace('": ', '":').replace(", ", ",")
