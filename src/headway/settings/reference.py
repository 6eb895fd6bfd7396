"""The page about settings, written from the schema, the presets and the example that the tests load."""

from importlib.resources import files
from typing import Any

import msgspec
from msgspec import Struct

from headway.providers.presets import PRESETS
from headway.recovery.ledger import Policy
from headway.settings import schema
from headway.settings.environment import PREFIX
from headway.settings.reading import choices, type_words
from headway.transport.limits import DEFAULTS

NOTICE = "<!-- Written by `make docs` from the program's own tables; edit those instead. -->"

STRETCHED = {"first_byte_seconds", "dead_seconds", "first_content_seconds", "silence_seconds", "drip_window_seconds"}
"""These grow with the size of the request, with models that think, with servers of one's own and with what was seen."""

INTRODUCTION = """\
Headway needs no settings: with a provider's usual key in the environment it makes a default route of the providers
that have one. Everything else is TOML.

**Files.** `./headway.toml`, then `headway.toml` in the user's configuration folder (`$XDG_CONFIG_HOME/headway` or
`~/.config/headway`; on macOS `~/Library/Application Support/headway`; `$HEADWAY_HOME` if that is set). `--config FILE`,
or the variable `HEADWAY_CONFIG`, is read instead of both.

**Order.** A flag counts before the environment, that before the project's file, that before the user's file, that
before the default. Tables are merged key by key, but an entry of `[providers]`, `[routes]` or `[mcp]` comes whole from
one file, so that a project's file does not mix an address of its own with keys of yours.
**Trust.** A `headway.toml` that came with a folder may name providers and forbid. What it permits does not count
until you run `headway config trust` there: `agent.approve`, `allow`, `sandbox`, `network` and `writable`, and
`store.url`; nor do keys that it does not name go to an address of its choice. A file that changes is asked about
again; `--config FILE` is your word. It can still name any variable of yours as a key: read a file that you did not
write before you run Headway beside it.

**Environment.** A variable is `{prefix}` + table + key: `{prefix}LIMITS_SILENCE_SECONDS=3`, lists with commas. A
provider's own variable for its address, such as `ANTHROPIC_BASE_URL`, stands for the preset's
address, so an address that is written in a file counts before it.

**Keys** are never written out. `env:NAME` is a variable, `file:PATH` a file that holds nothing else, `keyring:NAME` an
entry of the system's keyring (service `headway`; needs `headway[keyring]`). They are opened when a request is sent, and
never shown. A key that is not there is left out with a notice; a chain in which nobody has one is an error.

**Mistakes** are errors that name the file and the key, with what was probably meant."""


def settings_page() -> str:
    """Return the page."""
    lines = ["# Settings", "", NOTICE, "", INTRODUCTION.format(prefix=PREFIX), "", "## A full example", ""]
    lines += ["```toml", example().rstrip(), "```"]
    lines += _table("[providers.NAME]", schema.ProviderEntry)
    lines += _table("[providers.NAME.models.MODEL]", schema.ModelEntry)
    lines += _table("[routes.NAME]", schema.RouteEntry)
    lines += _table("[limits]", schema.Limits)
    lines += [
        "",
        "`[providers.NAME.limits]` takes those from `connect_seconds` to `drip_window_seconds`,",
        "`[routes.NAME.limits]` those up to `longest_wait_seconds`. A route's count before a provider's, and a",
        "provider's before these.",
    ]
    for name, kind in (("gateway", schema.Gateway), ("store", schema.Store), ("agent", schema.Agent)):
        lines += _table(f"[{name}]", kind)
    lines += _table("[mcp.NAME]", schema.McpEntry)
    lines += ["", "## Presets", "", "| name | wire | address | usual keys | model |", "| --- | --- | --- | --- | --- |"]
    lines += [
        f"| `{preset.name}` | {preset.wire} | {preset.base_url or 'yours'} | "
        f"{', '.join(f'`{known.name}`' for known in preset.key_variables) or 'none'} | {_code(preset.model)} |"
        for preset in PRESETS.values()
    ]
    return "\n".join(lines) + "\n"


def example() -> str:
    """Return the example with everything in it."""
    return files("headway.settings").joinpath("example.toml").read_text(encoding="utf-8")


def _table(title: str, kind: type[Struct]) -> list[str]:
    lines = ["", f"## `{title}`", "", f"{kind.__doc__}", "", "| key | value | default | meaning |"]
    lines += ["| --- | --- | --- | --- |"]
    for field in msgspec.structs.fields(kind):
        value = ", ".join(f"`{word}`" for word in choices(field.type)) or type_words(field.type)
        default = _default(field.name, field.default)
        lines.append(f"| `{field.name}` | {value} | {default} | {_meaning(field.type)} |")
    return lines


def _default(name: str, value: Any) -> str:
    if value is None and hasattr(DEFAULTS, name):
        return f"{getattr(DEFAULTS, name):g}{' or more' if name in STRETCHED else ''}"
    if value is None:
        return f"{getattr(Policy(), name):g}" if hasattr(Policy(), name) else ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"{value:g}"
    return _code(value) if isinstance(value, str) else ""


def _meaning(kind: Any) -> str:
    return next((meta.description for meta in kind.__metadata__ if meta.description), "")


def _code(text: str) -> str:
    return f"`{text}`" if text else ""
