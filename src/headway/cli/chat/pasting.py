"""Large pastes: shown in the input as a few words, and put back when it is sent. Nothing of them is lost."""

LINES, CHARACTERS = 12, 2_000
"""A paste with more than this is folded."""


class Pastes:
    """Remembers what was folded, for as long as the process lives."""

    def __init__(self) -> None:
        """Start with none."""
        self._texts: dict[str, str] = {}

    def fold(self, text: str) -> str:
        """Return what to show for a paste: itself, or a label that stands for it."""
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        lines = text.count("\n") + (not text.endswith("\n"))
        if lines <= LINES and len(text) <= CHARACTERS:
            return text
        label = f"[pasted {lines:,} lines]" if lines > 1 else f"[pasted {len(text):,} characters]"
        number, taken = 2, label
        while self._texts.get(taken, text) != text:
            taken = f"{label[:-1]} #{number}]"
            number += 1
        self._texts[taken] = text
        return taken

    def unfold(self, text: str) -> str:
        """Return a text with every label replaced by what it stands for, wherever the label is whole."""
        parts, at = list[str](), 0
        while (start := text.find("[pasted ", at)) >= 0:
            end = text.find("]", start) + 1
            label = text[start:end] if end else ""
            parts.append(text[at:start])
            parts.append(self._texts.get(label, label) if label else text[start:])
            at = end or len(text)
        return "".join([*parts, text[at:]])

    def label_before(self, text: str) -> str:
        """Return the label that a text ends with; it is deleted as one."""
        start = text.rfind("[pasted ")
        return text[start:] if start >= 0 and text[start:] in self._texts else ""
