"""Signs that some terminals join and others do not, drawn apart in the input: where the cursor is must be sure.

A family of emoji, a flag or a tone of skin takes as many columns as the terminal likes, and none can be asked. What is
sent is what was typed.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING

from prompt_toolkit.layout.processors import Processor, Transformation, TransformationInput
from prompt_toolkit.layout.utils import explode_text_fragments

if TYPE_CHECKING:
    from prompt_toolkit.formatted_text import StyleAndTextTuples

_JOINS = re.compile("[\u200d\ufe0e\ufe0f\u20e3\U0001f3fb-\U0001f3ff]")
"""What joins the sign before it to the one behind, or changes how wide it is."""
_FLAG, _LAST_FLAG, _LETTER = 0x1F1E6, 0x1F1FF, ord("A")
"""Two of these letters are drawn as one flag."""


class DrawnApart(Processor):
    """Leaves out what joins, and draws the letters of flags as letters."""

    def apply_transformation(self, transformation_input: TransformationInput) -> Transformation:
        """Return the line as it is drawn, and where each character of it has come from."""
        parts = explode_text_fragments(transformation_input.fragments)
        kept = [at for at, part in enumerate(parts) if not _JOINS.match(part[1])]
        shown: StyleAndTextTuples = [(parts[at][0], _apart(parts[at][1])) for at in kept]
        if shown == parts:
            return Transformation(transformation_input.fragments)
        sources = [*kept, len(parts)]
        return Transformation(
            shown,
            source_to_display=lambda at: bisect_left(kept, at),
            display_to_source=lambda at: sources[min(at, len(kept))],
        )


def _apart(sign: str) -> str:
    return chr(ord(sign) - _FLAG + _LETTER) if len(sign) == 1 and _FLAG <= ord(sign) <= _LAST_FLAG else sign
