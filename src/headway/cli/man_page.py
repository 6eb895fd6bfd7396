"""The manual page, in roff, from the same commands that run: their help, their options, their exit statuses."""

import re
import textwrap
from collections.abc import Iterator

import click

from headway import __version__
from headway.cli.main import COMMANDS, cli

FILES = {
    "./headway.toml": "The settings of a project.",
    "~/.config/headway/headway.toml": "One's own settings ($XDG_CONFIG_HOME, or $HEADWAY_HOME, where they are set).",
    "~/.local/share/headway/headway.db": "The sessions ($XDG_DATA_HOME, or $HEADWAY_HOME, where they are set).",
}
ENVIRONMENT = {
    "ANTHROPIC_API_KEY, OPENAI_API_KEY, …": "The usual keys of providers; those that are there are used.",
    "HEADWAY_CONFIG": "The settings to read instead of the usual files.",
    "HEADWAY_HOME": "The folder for settings and sessions.",
    "HEADWAY_TABLE_KEY": "A single setting, such as HEADWAY_LIMITS_SILENCE_SECONDS.",
    "HTTPS_PROXY, NO_PROXY, SSL_CERT_FILE, NODE_EXTRA_CA_CERTS": "The way out, and whom to trust.",
    "NO_COLOR": "If set, nothing is coloured.",
}
NOTICE = ".\\\" Written by `make docs` from the program's own tables; edit those instead."


def man_page() -> str:
    """Return headway(1)."""
    about = _plain(cli.help or "")
    lines = [NOTICE, f'.TH HEADWAY 1 "" "Headway {__version__}" "User Commands"', ".SH NAME"]
    lines += [f"headway \\- {_escaped(about.rstrip('.'))}", ".SH SYNOPSIS"]
    lines += [".B headway", "[OPTIONS] COMMAND [ARGS]...", ".SH DESCRIPTION", _escaped(about), ".SH COMMANDS"]
    for name in sorted(COMMANDS):
        command = cli.get_command(click.Context(cli), name)
        assert command is not None, "the table has it"
        lines += _command(command, f"headway {name}")
    for title, table in (("FILES", FILES), ("ENVIRONMENT", ENVIRONMENT)):
        lines += [f".SH {title}"]
        lines += [
            line for term, meaning in table.items() for line in (".TP", f".B {_escaped(term)}", _escaped(meaning))
        ]
    lines += [".SH SEE ALSO", "The guides and the reference: the folder docs of the source."]
    return "\n".join(lines) + "\n"


def _command(command: click.Command, name: str) -> Iterator[str]:
    context = click.Context(command, info_name=name)
    pieces = " ".join(piece for piece in command.collect_usage_pieces(context))
    yield f'.SS "{_escaped(name)}"'
    yield f".B {_escaped(name)}"
    yield _escaped(pieces)
    yield ".PP"
    yield from _text(command.help or "")
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and record[1]:
            yield from (".TP", f".B {_escaped(record[0])}", _escaped(record[1]))
    yield from _text(command.epilog or "")
    for inner, one in command.commands.items() if isinstance(command, click.Group) else ():
        yield from _command(one, f"{name} {inner}")


def _text(text: str) -> Iterator[str]:
    """Yield paragraphs; those that click leaves as they are stay so here."""
    for paragraph in re.split(r"\n\s*\n", textwrap.dedent(text).strip()):
        if not paragraph:
            continue
        yield ".PP"
        if paragraph.startswith("\b"):
            yield ".nf"
            yield from (_escaped(line) for line in paragraph.splitlines()[1:])
            yield ".fi"
        else:
            yield _escaped(_plain(paragraph))


def _plain(text: str) -> str:
    return " ".join(text.split())


def _escaped(text: str) -> str:
    """Write text so that roff takes it for nothing else."""
    safe = text.replace("\\", "\\e").replace("-", "\\-")
    safe = "".join(char if char.isascii() else f"\\[u{ord(char):04X}]" for char in safe)
    return f"\\&{safe}" if safe.startswith((".", "'")) else safe
