"""Pictures of the program for the README, taken of the program: `make screenshots`. Needs tmux; no key, no network.

Each scene runs in a real terminal of tmux, is looked at until what it shows is on the screen, and is written as SVG:
text that stays sharp, can be searched, and changes in a diff only where the program has changed.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Self

from msgspec import Struct
from msgspec.structs import replace

from headway.sim import Final, Pace, Say, Script, WriteFile, read_fault, serving

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
HEADWAY = ROOT / ".venv" / "bin" / "headway"
PATIENCE_SECONDS = 60.0
CELL, LINE, FONT, MARGIN = 8.4, 18, 14, 16
PAPER, INK = "#16181d", "#d6d9e0"
COLOURS = ("#3b4048", "#e06c75", "#8fc379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", INK)
BRIGHT = ("#7d8590", "#ff7b86", "#a5e075", "#f0d197", "#7fc1ff", "#d89bec", "#6fd3df", "#ffffff")
_SGR = re.compile(r"\x1b\[([\d;]*)m")


class Look(Struct, frozen=True):
    """How characters look."""

    colour: str = INK
    bold: bool = False
    dim: bool = False
    italic: bool = False

    def after(self, codes: list[int]) -> "Look":
        """Return the look after a sequence."""
        look = self
        for code in codes or [0]:
            match code:
                case 0:
                    look = Look()
                case 1:
                    look = replace(look, bold=True)
                case 2:
                    look = replace(look, dim=True)
                case 3:
                    look = replace(look, italic=True)
                case 22:
                    look = replace(look, bold=False, dim=False)
                case 23:
                    look = replace(look, italic=False)
                case 39:
                    look = replace(look, colour=INK)
                case _ if 30 <= code <= 37:
                    look = replace(look, colour=COLOURS[code - 30])
                case _ if 90 <= code <= 97:
                    look = replace(look, colour=BRIGHT[code - 90])
        return look


class Scene:
    """A program in a terminal of its own."""

    def __init__(self, name: str, command: str, columns: int, rows: int) -> None:
        self._tmux = ["tmux", "-L", f"headway-{name}"]
        self._do("-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(rows), command)
        self._do("set-option", "-g", "status", "off")
        self.columns = columns

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        subprocess.run([*self._tmux, "kill-server"], capture_output=True, check=False)

    def type(self, *keys: str) -> None:
        self._do("send-keys", *keys)

    def sees(self, pattern: str) -> None:
        ends_at = time.monotonic() + PATIENCE_SECONDS
        while not re.search(pattern, self.text()):
            if time.monotonic() > ends_at:
                raise SystemExit(f"{pattern!r} never came; the screen has:\n{self.text()}")
            time.sleep(0.05)

    def text(self) -> str:
        return self._do("capture-pane", "-p")

    def picture(self) -> str:
        return svg(self._do("capture-pane", "-p", "-e").rstrip("\n").split("\n"), self.columns)

    def _do(self, *words: str) -> str:
        done = subprocess.run([*self._tmux, *words], capture_output=True, text=True, check=True)
        return done.stdout


def svg(lines: list[str], columns: int) -> str:
    """Return lines with colours as a picture."""
    while lines and not _SGR.sub("", lines[0]).strip():
        lines.pop(0)
    width, height = columns * CELL + 2 * MARGIN, len(lines) * LINE + 2 * MARGIN
    look, rows = Look(), []
    for number, line in enumerate(lines):
        spans, look = _spans(line, look)
        y = MARGIN + number * LINE + FONT
        rows.append("".join(_span(text, at, y, how) for text, at, how in spans if text.strip()))
    font = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}">\n'
        f'<rect width="100%" height="100%" rx="8" fill="{PAPER}"/>\n'
        f'<g font-family="{font}" font-size="{FONT}" xml:space="preserve">\n'
        + "\n".join(filter(None, rows))
        + "\n</g>\n</svg>\n"
    )


def _spans(line: str, look: Look) -> tuple[list[tuple[str, int, Look]], Look]:
    spans, at, place = [], 0, 0
    for found in _SGR.finditer(line):
        text = line[place : found.start()]
        spans.append((text, at, look))
        at, place = at + len(text), found.end()
        look = look.after([int(code) for code in found[1].split(";") if code])
    return [*spans, (line[place:], at, look)], look


def _span(text: str, at: int, y: float, look: Look) -> str:
    bare = text.lstrip()
    at += len(text) - len(bare)
    bare = bare.rstrip()
    style = ' font-weight="bold"' * look.bold + ' font-style="italic"' * look.italic + ' opacity="0.6"' * look.dim
    x, length = MARGIN + at * CELL, len(bare) * CELL
    return f'<text x="{x:.1f}" y="{y}" textLength="{length:.1f}" fill="{look.colour}"{style}>{escape(bare)}</text>'


def demo() -> str:
    with Scene("demo", f"{HEADWAY} demo; sleep 60", 108, 46) as scene:
        scene.sees(r"The file is whole")
        return scene.picture()


PAGE = "<!doctype html>\n<title>Patience</title>\n" + "".join(
    f"<p>Line {number} of a page about patience, which a broken stream does not end.</p>\n" for number in range(240)
)
TALK = Script(
    steps=(
        Say("I write the page in one go, and then I check it.\n\n"),
        WriteFile("index.html", PAGE),
        Final("Done: **index.html** has 240 lines about patience.\n\n- one file\n- no line twice\n- nothing lost\n"),
    ),
    faults=(read_fault("rst at=5200 first=1"), read_fault("stall at=12400 first=1")),
    pace=Pace(characters=160, seconds=0.01),
)


def chat() -> str:
    folder = Path(tempfile.gettempdir()) / "headway-pictures"  # its name is in the picture
    shutil.rmtree(folder, ignore_errors=True)
    with serving(TALK) as sim:
        (folder / "patience").mkdir(parents=True)
        (folder / "headway.toml").write_text(
            f'[providers.alpha]\nwire = "anthropic"\nbase_url = "{sim.url}"\nkeys = ["env:SIM"]\n'
            f'[providers.beta]\nwire = "chat"\nbase_url = "{sim.url}"\nkeys = ["env:SIM"]\n'
            '[routes.default]\nchain = ["alpha/large", "beta/other"]\n[limits]\nsilence_seconds = 3\n'
        )
        command = f"cd {folder}/patience && SIM=k HEADWAY_HOME={folder} {HEADWAY} chat --approve edits"
        with Scene("chat", command, 92, 34) as scene:
            scene.sees("/help")
            scene.type("Write a page about patience to index.html", "Enter")
            scene.sees("continu|draft")
            scene.type("And then a short poem about streams")
            scene.sees("nothing lost")
            scene.sees("salvaged|kept")
            return scene.picture()


SCENES = {"demo": demo, "chat": chat}


def wanted(names: list[str]) -> Iterator[str]:
    return (name for name in SCENES if not names or name in names)


def main() -> int:
    if shutil.which("tmux") is None:
        print("screenshots need tmux (apt-get install tmux)", file=sys.stderr)
        return 2
    IMAGES.mkdir(exist_ok=True)
    for name in wanted(sys.argv[1:]):
        (IMAGES / f"{name}.svg").write_text(SCENES[name](), encoding="utf-8")
        print(f"docs/images/{name}.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
