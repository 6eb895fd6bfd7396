"""Markdown as it streams, line by line: a line that is whole is shown once and never again; the rest is the tail.

Only what a line says by itself counts, and whether a fence is open. So nothing that comes later can change what was
shown, however long the answer is. Rows of a table wait for its end, as their columns depend on all of them.
"""

import re
from collections.abc import Callable

from headway.cli.chat.paint import Paint, Span, wrapped
from headway.cli.chat.tables import MOST_ROWS, drawn, is_row
from headway.cli.terminal import visible

LONGEST_STYLED = 4_000
"""Longer lines are shown as they are: looking for marks in them is not worth the time."""
TAIL = 2_000
"""Characters of an unfinished line that are shown."""
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})\s*([\w+#.-]*)[^`]*$")
_HEADING = re.compile(r"^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
_RULE = re.compile(r"^ {0,3}([-*_])(?:\s*\1){2,}\s*$")
_ITEM = re.compile(r"^(\s*)([-*+]|\d{1,9}[.)])(\s+)(?:\[([ xX])\]\s+)?(.*)$")
_QUOTE = re.compile(r"^ {0,3}>\s?(.*)$")
_INLINE = re.compile(
    r"(?P<tick>`+)(?P<code>[^`]+?)(?P=tick)(?!`)"
    r"|\*\*(?P<bold>[^\s*](?:[^*]*[^\s*])?)\*\*"
    r"|(?<!\w)__(?P<strong>[^\s_](?:[^_]*[^\s_])?)__(?!\w)"
    r"|(?<![\w*])\*(?P<italic>[^\s*](?:[^*]*[^\s*])?)\*(?![\w*])"
    r"|(?<!\w)_(?P<slanted>[^\s_](?:[^_]*[^\s_])?)_(?!\w)"
    r"|~~(?P<struck>[^\s~](?:[^~]*[^\s~])?)~~"
    r"|\[(?P<link>[^\[\]]+)\]\((?P<url>[^()\s]+)\)"
)
_STYLE_OF = {
    "bold": "bold",
    "strong": "bold",
    "italic": "italic",
    "slanted": "italic",
    "struck": "struck",
    "link": "link",
}
_IN_CODE = re.compile(
    r"(?P<string>\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')"
    r"|(?P<dim>(?:(?<=\s)|^)(?:#|//).*$)"
    r"|(?P<keyword>\b(?:def|class|return|if|elif|else|for|while|import|from|async|await|with|try|except|finally|raise"
    r"|function|const|let|var|fn|pub|struct|enum|impl|use|match|func|package|public|private|static|void|new|this"
    r"|True|False|None|true|false|null|nil|self|export|default|type|interface|in|not|and|or|is|yield|lambda|break"
    r"|continue|do|done|then|fi|case|esac|echo|local|select|where|SELECT|FROM|WHERE|INSERT|UPDATE|CREATE|TABLE)\b)"
)


class Reply:
    """A reply on its way to the screen."""

    def __init__(self, paint: Paint, width: Callable[[], int]) -> None:
        """Render for a width that may change."""
        self._paint, self._width = paint, width
        self._open = ""
        self._fence, self._language = "", ""
        self._blank = True
        self._rows: list[str] = []
        """Of a table that has not ended."""
        self._tail_of: tuple[str, int] = ("", 0)
        self._tail: list[str] = []

    def feed(self, text: str) -> list[str]:
        """Take more of it and return the lines that are whole now."""
        *whole, self._open = (self._open + text.replace("\r", "")).split("\n")
        return [line for source in whole for line in self._finished(source)]

    def tail(self) -> list[str]:
        """Return what is not whole, as it looks so far: a line, or a table."""
        if self._rows:
            return [*self._table(), *([visible(self._open[-TAIL:])] if self._open else [])]
        if not self._open:
            return []
        key = (self._open, self._width())
        if key != self._tail_of:  # a drawing asks for it several times
            shown = self._open if len(self._open) <= TAIL else f"…{self._open[-TAIL:]}"
            self._tail_of, self._tail = key, self._rendered(shown, self._fence)
        return self._tail

    def end(self) -> list[str]:
        """Return what is left; nothing more comes."""
        rest, self._open = self._open, ""
        lines = [*(self._finished(rest) if rest else []), *self._table_ended()]
        self._fence, self._language = "", ""
        return lines

    @property
    def is_between(self) -> bool:
        """Say whether a word from somebody else would not stand in the middle of anything."""
        return not self._open and not self._fence and not self._rows

    def _finished(self, source: str) -> list[str]:
        if not self._fence and is_row(source):
            self._rows.append(source)
            self._blank = False
            return self._table_ended() if len(self._rows) >= MOST_ROWS else []
        return [*self._table_ended(), *self._line_finished(source)]

    def _table_ended(self) -> list[str]:
        lines = self._table()
        self._rows.clear()
        return lines

    def _table(self) -> list[str]:
        rows = [visible(row.expandtabs(4)) for row in self._rows]
        table = drawn(rows, self._width(), inline)
        return rows if table is None else [self._paint.line(line).rstrip() for line in table]

    def _line_finished(self, source: str) -> list[str]:
        fence = _FENCE.match(source)
        if fence is not None and not self._fence:
            self._fence, self._language = fence[1], fence[2]
            self._blank = False
            return [self._paint(f"  {fence[2]}", "dim")] if fence[2] else []
        if fence is not None and fence[1].startswith(self._fence) and not fence[2]:
            self._fence, self._language = "", ""
            return []
        if not source.strip() and not self._fence:
            lines = [] if self._blank else [""]
            self._blank = True
            return lines
        self._blank = False
        return self._rendered(source, self._fence)

    def _rendered(self, source: str, fence: str) -> list[str]:
        text = visible(source.expandtabs(4)) if "\t" in source else visible(source)
        if fence:
            return [self._paint.line([Span("  "), *code_spans(text, self._language)])]
        return [self._paint.line(line) for line in line_spans(text, self._width())]


def line_spans(text: str, width: int) -> list[list[Span]]:
    """Return one line of Markdown outside of a fence, as lines of spans."""
    if (found := _HEADING.match(text)) is not None:
        return wrapped([Span(span.text, "heading") for span in inline(found[2])], width)
    if _RULE.match(text) is not None:
        return [[Span("─" * min(40, width), "dim")]]
    if (found := _QUOTE.match(text)) is not None:
        return wrapped([Span(span.text, span.style or "quote") for span in inline(found[1])], width, "│ ", "│ ")
    if (found := _ITEM.match(text)) is not None:
        mark = "•" if found[2] in "-*+" else found[2]
        if found[4] is not None:
            mark = "☐" if found[4] == " " else "☑"
        head = f"{found[1]}{mark} "
        return wrapped(inline(found[5]), width, head, " " * len(head))
    indent = text[: len(text) - len(text.lstrip())]
    return wrapped(inline(text[len(indent) :]), width, indent, indent)


def inline(text: str) -> list[Span]:
    """Return a text with its marks as styles; marks that do not close are text."""
    if len(text) > LONGEST_STYLED:
        return [Span(text)]
    spans, at = list[Span](), 0
    for found in _INLINE.finditer(text):
        spans.append(Span(text[at : found.start()]))
        at = found.end()
        if found["code"] is not None:
            spans.append(Span(found["code"], "code"))
            continue
        name = next(name for name in _STYLE_OF if found[name] is not None)
        spans.append(Span(found[name], _STYLE_OF[name]))
        if found["url"] is not None and found["url"] != found["link"]:
            spans.append(Span(f" ({found['url']})", "dim"))
    spans.append(Span(text[at:]))
    return [span for span in spans if span.text]


def code_spans(text: str, language: str = "") -> list[Span]:
    """Return a line of code with a light touch: strings, comments and common words; a diff by its signs."""
    if language in ("diff", "patch"):
        return [Span(text, {"+": "good", "-": "bad", "@": "place"}.get(text[:1], ""))]
    if len(text) > LONGEST_STYLED or language in ("text", "txt", "console", "markdown", "md"):
        return [Span(text)]
    spans, at = list[Span](), 0
    for found in _IN_CODE.finditer(text):
        spans.append(Span(text[at : found.start()]))
        spans.append(Span(found[0], found.lastgroup or ""))
        at = found.end()
    spans.append(Span(text[at:]))
    return [span for span in spans if span.text]
