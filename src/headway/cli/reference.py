"""The reference pages, written from the tables the program itself runs on; `--check` fails when they have drifted."""

import sys
from collections.abc import Callable
from pathlib import Path

import click

from headway.cli.event_reference import events_page
from headway.cli.main import COMMANDS, cli
from headway.cli.man_page import man_page
from headway.failure import Plan
from headway.history.invariants import INVARIANTS
from headway.recovery.failures.table import ROWS
from headway.recovery.ladders import BY_KIND, LADDERS
from headway.settings.reference import settings_page

FOLDER = Path(__file__).resolve().parents[3] / "docs" / "reference"
NOTICE = "<!-- Written by `make docs` from the program's own tables; edit those instead. -->"


def cli_page() -> str:
    """Return every command's help."""
    lines = ["# Commands", "", NOTICE, "", "```text", _help(cli, "headway"), "```"]
    for name in sorted(COMMANDS):
        command = cli.get_command(click.Context(cli), name)
        if command is not None:
            lines += ["", f"## headway {name}", "", "```text", _help(command, f"headway {name}"), "```"]
        for inner, one in command.commands.items() if isinstance(command, click.Group) else ():
            lines += ["", f"### headway {name} {inner}", "", "```text", _help(one, f"headway {name} {inner}"), "```"]
    return "\n".join(lines) + "\n"


def failures_page() -> str:
    """Return the failure table, by meaning."""
    lines = ["# Failures", "", NOTICE, "", "What a failure is decides what is done about it. First match wins.", ""]
    lines += ["| meaning | kind | scope | plan | then |", "| --- | --- | --- | --- | --- |"]
    lines += dict.fromkeys(
        f"| {row.meaning} | `{row.kind.value}` | {row.scope.value} | `{row.plan.value}` | {_code(row.then)} |"
        for row in ROWS
    )
    return "\n".join(lines) + "\n"


def history_page() -> str:
    """Return the rules of a sendable history."""
    lines = ["# History rules", "", NOTICE, "", "A request is sent only if its history obeys all of these.", ""]
    lines += [f"- **{rule.__name__.replace('_', ' ')}**: {_first_line(rule)}" for rule in INVARIANTS]
    return "\n".join(lines) + "\n"


def recovery_page() -> str:
    """Return the ladders of strategies."""
    lines = ["# Recovery ladders", "", NOTICE, "", "Tried from left to right; each failure meets each rung once.", ""]
    lines += ["| plan | strategies |", "| --- | --- |"]
    lines += [f"| `{plan.value}` | {_steps(rungs)} |" for plan, rungs in LADDERS.items()]
    lines += ["", "Some kinds have a ladder of their own:", "", "| kind | strategies |", "| --- | --- |"]
    lines += [f"| `{kind.value}` | {_steps(rungs)} |" for kind, rungs in BY_KIND.items()]
    return "\n".join(lines) + "\n"


PAGES: dict[str, Callable[[], str]] = {
    "cli.md": cli_page,
    "events.md": events_page,
    "failures.md": failures_page,
    "headway.1": man_page,
    "history.md": history_page,
    "recovery.md": recovery_page,
    "settings.md": settings_page,
}


def _help(command: click.Command, name: str) -> str:
    return command.get_help(click.Context(command, info_name=name, terminal_width=88, max_content_width=88)).rstrip()


def _code(plan: Plan | None) -> str:
    return f"`{plan.value}`" if plan else ""


def _steps(rungs: tuple[object, ...]) -> str:
    return " → ".join(getattr(rung, "value", str(rung)).replace("_", " ") for rung in rungs) or "none: a clear end"


def _first_line(rule: Callable[..., object]) -> str:
    return (rule.__doc__ or "").strip().splitlines()[0]


def drifted() -> list[str]:
    """Return the names of pages that do not say what the tables say."""
    return [name for name, page in PAGES.items() if not _same(FOLDER / name, page())]


def _same(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8") == text


def main() -> int:
    """Write the pages, or check them."""
    stale = drifted()
    if "--check" in sys.argv[1:]:
        if stale:
            click.echo(f"docs/reference has drifted: {', '.join(stale)}. Run: make docs", err=True)
        return 1 if stale else 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in stale:
        (FOLDER / name).write_text(PAGES[name](), encoding="utf-8")
        click.echo(f"wrote docs/reference/{name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
