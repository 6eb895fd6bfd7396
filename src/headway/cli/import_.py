"""`headway import`: settings from those of another gateway."""

from pathlib import Path

import click

from headway.cli.groups import Group
from headway.cli.import_litellm import settings_from
from headway.cli.litellm_models import Made
from headway.cli.toml_writing import write_toml
from headway.cli.yaml_reading import read_yaml
from headway.failure import InvalidInput
from headway.settings.places import surroundings
from headway.settings.reading import read
from headway.settings.schema import Settings
from headway.settings.toml_files import MOST_BYTES, parse_table

EPILOG = """
\b
Examples:
  headway import litellm config.yaml
  headway import litellm config.yaml --output headway.toml

What could not be carried over is said on standard error. Keys are not copied: the file names variables for them.
"""


@click.group(name="import", cls=Group)
def import_() -> None:
    """Make settings from those of another gateway."""


@import_.command(epilog=EPILOG)
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Write to a file.")
@click.option("--force", is_flag=True, help="Write over a file that is there.")
def litellm(file: Path, output: Path | None, *, force: bool) -> int:
    """Make a headway.toml from the configuration of a LiteLLM proxy."""
    if output is not None and output.exists() and not force:
        raise InvalidInput(str(output), "it is there already", "Choose another name, or add --force.")
    made = settings_from(read_yaml(_text_of(file), str(file)), surroundings().environ, str(file))
    text = _header(file, made) + write_toml(made.tables)
    read(Settings, parse_table(text.encode(), "what was made"), "what was made")
    if output is None:
        click.echo(text, nl=False)
    else:
        output.write_text(text, encoding="utf-8")
        click.echo(f"headway: wrote {output}; check it with: headway serve --config {output}", err=True)
    for note in made.notes:
        click.echo(f"headway: {note}", err=True)
    for variable, what in made.variables.items():
        click.echo(f"headway: set {variable} before you start: {what}", err=True)
    return 0


def _text_of(file: Path) -> str:
    try:
        data = file.read_bytes()
    except OSError as exc:
        why = exc.strerror or type(exc).__name__
        raise InvalidInput(str(file), f"it cannot be read: {why}", "Check the path and its permissions.") from None
    if len(data) > MOST_BYTES:
        raise InvalidInput(str(file), f"it has {len(data)} bytes, which are no settings", "Name a YAML file.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise InvalidInput(str(file), f"byte {exc.start} is not UTF-8", "Save the file as UTF-8.") from None


def _header(file: Path, made: Made) -> str:
    lines = [f"# Made by `headway import litellm {file.name}`."]
    if made.variables:
        lines.append(f"# Set before you start: {', '.join(made.variables)}.")
    return "\n".join(lines) + "\n\n"
