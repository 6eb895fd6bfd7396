"""Texts of any size for scripts that care about the size: a page, or notes. No line is like another, not all is ASCII.

A text is the same for the same size, so a test can compare a file with it to the character.
"""

from collections.abc import Iterator

_WORDS = (
    *("stream", "river", "bridge", "lantern", "harbour", "signal", "thread", "window", "garden", "copper"),
    *("winter", "paper", "meadow", "engine", "letter", "compass", "orchard", "kettle", "marble", "anchor"),
    *("velvet", "canyon", "mirror", "saddle", "timber", "pepper", "hollow", "island", "ribbon", "thunder"),
)
_ODDITIES = (
    "a “quoted” word",
    'a "straight" one',
    "5 < 6 & 7 > 2",
    "naïve café",
    "C:\\temp\\new",
    "→ 東京",
    "π ≈ 3.14159",
)


def text_of(size: int, path: str = "") -> str:
    """Return a text of exactly so many characters: a page for a path that ends like one, else notes."""
    is_page = path.endswith((".html", ".htm"))
    head, foot = (_PAGE_HEAD, _PAGE_FOOT) if is_page else ("# Notes\n\n", "")
    if size < len(head) + len(foot) + 40:
        head = foot = ""
    lines = _lines('<p id="p{0}">{1}</p>\n' if is_page and head else "{0}. {1}\n")
    room = size - len(head) - len(foot)
    body: list[str] = []
    while len(line := next(lines)) <= room:
        body.append(line)
        room -= len(line)
    return "".join((head, *body, _last_line(line, room, is_page=is_page), foot))


def _last_line(line: str, room: int, *, is_page: bool) -> str:
    """Return as much of a line as there is room for."""
    if room == 0:
        return ""
    if not is_page:
        return f"{line[: room - 1]}\n"
    words = line.partition(">")[2].removesuffix("</p>\n")
    return f"<!-- {words.ljust(room, '~')[: room - 10]} -->\n" if room > 10 else f"{' ' * (room - 1)}\n"


def _lines(form: str) -> Iterator[str]:
    number = 0
    while True:
        number += 1
        picked = [_WORDS[(number * step + step * step) % len(_WORDS)] for step in range(1, 7)]
        odd = f", {_ODDITIES[number // 3 % len(_ODDITIES)]}" if number % 3 == 0 else ""
        yield form.format(number, f"The {' '.join(picked)} of line {number * 7919 % 100_003}{odd}.")


_PAGE_HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <title>A page that survived</title>
  <style>body { font: 16px/1.5 Georgia, serif; max-width: 40em; margin: 2em auto; }</style>
</head>
<body>
<h1>A page that survived</h1>
"""
_PAGE_FOOT = "</body>\n</html>\n"
