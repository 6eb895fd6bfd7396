"""One session as a page to read: what it is, what was said and done, what is open, how to go on."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from headway.cli.calls import call_words
from headway.cli.chat.paint import Paint, Span, wrapped
from headway.cli.sessions.overview import Overview
from headway.cli.sessions.words import ago, counted, from_home
from headway.cli.terminal import fit, size, visible
from headway.messages import CallFragment, Document, Image, Part, Refusal, Text, ToolCall, ToolResult
from headway.store.markdown import speaker_of
from headway.store.state import SessionState

MOST_LINES = 12
"""Of one text, unless everything is asked for."""
MOST_RESULT_LINES = 4
MOST_TURNS = 30
"""The last ones, unless everything is asked for."""


class Page:
    """Writes a page of some width."""

    def __init__(self, width: int, paint: Paint, *, full: bool = False) -> None:
        """Write lines of at most `width` columns; not `full`: the beginning of each text."""
        self._width, self._paint, self._full = width, paint, full
        self._results: dict[str, list[ToolResult]] = {}
        """The results that were not shown yet, by their calls."""

    def lines(self, seen: Overview, state: SessionState, home: Path, now: float) -> Iterator[str]:
        """Give the page, line by line."""
        yield from self._wrap(" ".join((seen.title or f"Session {seen.id}").split()), "", "bold")
        yield from self._wrap(" · ".join(_facts(seen, state, home, now)), "", "dim")
        self._results = {}
        for result in (result for message in state.history for result in message.results):
            self._results.setdefault(result.call_id, []).append(result)
        speaker, first = "", 0 if self._full else _start_of_the_last(MOST_TURNS, state)
        if first:
            yield ""
            earlier = counted(sum(map(state.is_said_by_user, state.history[:first])), "earlier turn")
            yield self._paint(f"… {earlier} (--full shows all)", "dim")
        for at, message in enumerate(state.history[first:], first):
            blocks = [block for part in message.parts if (block := list(self._block(part)))]
            who = "Summary" if at == state.summary_at else speaker_of(message, state)
            if blocks and who != speaker and not message.results:
                speaker = who
                yield ""
                yield self._paint(who, "you" if state.is_said_by_user(message) else "heading")
            for block in blocks:
                yield from block
        yield from self._ending(seen)

    def _ending(self, seen: Overview) -> Iterator[str]:
        yield ""
        for words in seen.open_words():
            yield from self._wrap(f"▸ {words}", "", "warn")
        yield from self._wrap(f"To go on: headway chat --resume {seen.id}", "", "dim")

    def _block(self, part: Part) -> Iterator[str]:
        match part:
            case Text(text=text) | Refusal(text=text) if text.strip():
                yield from self._text(text, "  ", MOST_LINES)
            case ToolCall():
                yield f"  {self._paint(fit(f'▸ {call_words(part)}', self._width - 2), 'place')}"
                if results := self._results.get(part.id):
                    yield from self._result(results.pop(0))
            case CallFragment(name=name, arguments=arguments):
                words = f"▸ {visible(name)} was cut after {size(len(arguments))}, and not run"
                yield from self._wrap(words, "  ", "warn")
            case ToolResult() if part in self._results.get(part.call_id, ()):
                self._results[part.call_id].remove(part)
                yield from self._result(part)  # of no call that was shown
            case Image() | Document():
                yield self._paint(f"  ({'a picture' if isinstance(part, Image) else 'a file'})", "dim")
            case _:
                return

    def _result(self, result: ToolResult) -> Iterator[str]:
        style = "bad" if result.is_error else "dim"
        yield from self._text(result.text or "(no words)", "    ", MOST_RESULT_LINES, style)

    def _text(self, text: str, indent: str, most: int, style: str = "") -> Iterator[str]:
        given = text.strip("\n").splitlines()
        room = len(text) if self._full else self._width * (most + 1)
        left = len(text) if self._full else most
        for number, one in enumerate(given):
            # What is cut off here would stand on lines that are not shown.
            found = list(self._wrap(visible(one[:room]).expandtabs(4), indent, style))
            yield from found[:left]
            if len(found) > left:
                yield self._paint(f"{indent}…", "dim")
                return
            left -= len(found)
            if left <= 0 and number + 1 < len(given):
                yield self._paint(f"{indent}… {counted(len(given) - number - 1, 'more line')}", "dim")
                return

    def _wrap(self, text: str, indent: str, style: str = "") -> Iterator[str]:
        leading = text[: len(text) - len(text.lstrip(" "))][: self._width // 2]
        spans = [Span(visible(text).strip(), style)]
        for line in wrapped(spans, self._width, indent + leading, indent + leading):
            yield self._paint.line(line).rstrip()


def _start_of_the_last(turns: int, state: SessionState) -> int:
    """Return where the last turns begin."""
    places = [at for at, message in enumerate(state.history) if state.is_said_by_user(message)]
    return places[-turns] if len(places) > turns else 0


def _facts(seen: Overview, state: SessionState, home: Path, now: float) -> Sequence[str]:
    totals = state.totals
    facts = [seen.id, from_home(seen.folder, home), counted(seen.turns, "turn")]
    begun, last = ago(seen.created_at, now), ago(seen.updated_at, now)
    facts.append(last if begun == last else f"begun {begun}, last {last}")
    if totals.replies:
        facts.append(f"{totals.usage.input_tokens:,} tokens in, {totals.usage.output_tokens:,} out")
    if totals.broken:
        facts.append(f"{counted(totals.broken, 'broken request')}, {size(totals.salvaged)} salvaged")
    if seen.source:
        facts.append(f"taken over from {seen.source}")
    if seen.origin:
        facts.append(f"a copy of {seen.origin}")
    return [visible(fact) for fact in facts]
