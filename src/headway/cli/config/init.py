"""`headway config init`: ask, write, test, and say what to do next."""

import asyncio
import shlex
import sys
from contextlib import aclosing
from pathlib import Path
from typing import Any

import click

from headway.cli.config.at_terminal import AtTerminal
from headway.cli.config.choosing import SIMULATOR, Chosen, tables_of, with_keys
from headway.cli.config.questions import Questions, chain_of_flags
from headway.cli.config.writing import text_of, write_key, write_settings
from headway.cli.doctor.examining import Wish, examine
from headway.cli.doctor.findings import State
from headway.cli.doctor.showing import Page
from headway.cli.terminal import Terminal, visible
from headway.failure import InvalidInput
from headway.settings import load, surroundings
from headway.settings.places import FILE_NAME, Surroundings

SIMULATED_TASK = "Write page.html, then list the files."
"""What the simulator does unless it is told otherwise, whatever it is asked."""
KEYS = "keys"
"""The folder beside the settings for keys that were typed in."""
EPILOG = """
\b
Examples:
  headway config init
  headway config init --provider anthropic --key env:ANTHROPIC_API_KEY --yes
  headway config init --provider openai --model gpt-5.5 --fallback anthropic --yes
  headway config init --provider ollama/qwen3-coder --yes
  headway config init --provider sim --yes

A key itself is never written into the settings: they name the variable or the file that holds it.

\b
Exit status:
  0    The settings are written, and who they name answers (or was not asked).
  1    They are written, but there are problems; each has a line of advice.
  2    The command line is wrong, or the file may not be written; nothing was changed.
"""


@click.command(epilog=EPILOG)
@click.option("--provider", metavar="NAME[/MODEL]", help="Whom to ask: a preset, or sim for the simulator.")
@click.option("--model", default="", help="Its model.")
@click.option("--key", "keys", multiple=True, metavar="REF", help="Its key: env:NAME, file:PATH or keyring:NAME.")
@click.option("--base-url", default="", metavar="URL", help="Its address, if not the usual one.")
@click.option("--fallback", multiple=True, metavar="NAME[/MODEL]", help="Who goes on if it fails; repeatable.")
@click.option(
    "--file", type=click.Path(path_type=Path, dir_okay=False), help="Where to write, instead of your own file."
)
@click.option("--here", is_flag=True, help="Write headway.toml into this folder, for this project.")
@click.option("--yes", is_flag=True, help="Ask nothing: what flags do not say is found out.")
@click.option("--force", is_flag=True, help="Write over settings that are there; they are kept as FILE.old.")
@click.option("--no-test", is_flag=True, help="Do not ask the providers whether they answer.")
def init(*, provider: str | None, file: Path | None, here: bool, yes: bool, no_test: bool, **given: Any) -> int:
    """Make settings: whom to ask, with which key, and who goes on if that fails."""
    around = surroundings()
    path = _place(around, file, here=here)
    attended = sys.stdin.isatty() and not yes
    if path.exists() and not given["force"] and not attended:
        raise InvalidInput(str(path), "it is there already", "Add --force to write over it; it is kept as FILE.old.")
    person, pasted = AtTerminal(around.environ), dict[Path, str]()
    if attended and provider is None:
        chain = _asked(person, around, pasted)
    else:
        chain = _told(around, provider, attended=attended, yes=yes, **given)
    text = text_of(tables_of(chain))
    if attended and not _is_wanted(person, path, text, force=given["force"]):
        person.says("Nothing was written.")
        return 0
    for place, key in pasted.items():
        write_key(place, key)
    old = write_settings(path, text)
    person.says(f"Wrote {path}{f' (the one before is {old.name})' if old else ''}.")
    if path not in _read_now(around):
        person.says(f"It is not read by itself: add --config {shlex.quote(str(path))}, or set HEADWAY_CONFIG.")
    elif (first := around.config_files[0]).exists() and first != path:
        person.says(f"Here, {first} counts before it.")
    return _tested(chain, path, around, person, is_tested=not no_test)


def _place(around: Surroundings, file: Path | None, *, here: bool) -> Path:
    if file is not None and here:
        raise click.UsageError("Give --file or --here, not both.")
    if file is not None:
        return around.folder / file.expanduser()
    if here:
        return around.folder / FILE_NAME
    named = around.variable("HEADWAY_CONFIG")
    return around.folder / Path(named).expanduser() if named else around.config_folder / FILE_NAME


def _read_now(around: Surroundings) -> tuple[Path, ...]:
    named = around.variable("HEADWAY_CONFIG")
    return (around.folder / Path(named).expanduser(),) if named else around.config_files


def _asked(person: AtTerminal, around: Surroundings, pasted: dict[Path, str]) -> list[Chosen]:
    """Ask for the chain; keys that were pasted are written when everything is."""

    def save(provider: str, key: str) -> str:
        path = around.config_folder / KEYS / provider
        pasted[path] = key
        return f"file:{path}"

    return Questions(person, around.environ, save).chain()


def _told(around: Surroundings, provider: str | None, *, attended: bool, yes: bool, **given: Any) -> list[Chosen]:
    """Return the chain by flags; where they name nobody, those whose keys are there."""
    if provider is None and not yes and not attended:
        raise InvalidInput("config init", "there is no terminal to ask at", "Say it by flags: --provider NAME --yes")
    there = list(with_keys(around.environ))
    wanted = [provider, *given["fallback"]] if provider is not None else [*there, *given["fallback"]]
    if not wanted:
        hint = "Name one: --provider NAME --key env:VARIABLE. Without a key: --provider sim"
        raise InvalidInput("config init", "no provider's key is in the environment", hint)
    return chain_of_flags(wanted, given["keys"], given["model"], given["base_url"], around.environ)


def _is_wanted(person: AtTerminal, path: Path, text: str, *, force: bool) -> bool:
    person.shows(f"\n{visible(text)}")
    if path.exists() and not force:
        return person.agrees(f"{path} is there already. Write over it, and keep it as {path.name}.old?", default=False)
    return person.agrees(f"Write this to {path}?")


def _tested(chain: list[Chosen], path: Path, around: Surroundings, person: AtTerminal, *, is_tested: bool) -> int:
    """Ask whether they answer; say what to do next."""
    if chain[0].provider == SIMULATOR:
        person.says("Next, in another terminal: headway sim")
        person.says(f'Then: headway run "{SIMULATED_TASK}"')
        return 0
    well = asyncio.run(_answer(chain, path, around)) if is_tested else True
    if well:
        person.says('Next: headway chat, or headway run "What is in this folder?"')
        return 0
    person.says("Do what stands behind “→”, then: headway doctor")
    return 1


async def _answer(chain: list[Chosen], path: Path, around: Surroundings) -> bool:
    page, well = Page(Terminal(sys.stdout, around.environ)), True
    wish = Wish(tuple(dict.fromkeys(one.provider for one in chain)))
    async with aclosing(examine(lambda: load(path, around=around), around, wish)) as findings:
        async for finding in findings:
            page.show(finding)
            well = well and finding.state is not State.PROBLEM
    click.echo("")
    return well
