"""`headway explain`: one failure by flags, or any number of them as JSON lines, each answered by exactly one line.

Lines are read one at a time and never held when they are too long; a line that cannot be read is answered too.
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import click

from headway.cli.explanations import as_json, as_text, unreadable_json, unreadable_text
from headway.failure import InvalidInput, Where
from headway.recovery.failures.classify import classify
from headway.recovery.failures.records import facts_of_record
from headway.wire.json_text import BadJson, decode_repaired

MAX_LINE = 16 * 1024 * 1024
MAX_BODY = 16 * 1024 * 1024
_SKIP = 64 * 1024
WIRES = ("chat", "responses", "anthropic", "openai-chat", "openai-responses", "gemini", "bedrock", "any")

EPILOG = """
\b
Examples:
  headway explain --vendor anthropic --status 529 --body @error.json
  headway explain --finish-reason content_filter
  headway explain --json < failures.jsonl

\b
Each line of standard input is one JSON object with any of these fields: wire, vendor, where, status, code, type,
message, exception, body, headers, finish_reason, context, after_output, repeat, id. Other fields are ignored,
blank lines are skipped, and `id` is repeated in the answer.

\b
Exit status: 0 everything was explained; 1 an input could not be read; 2 wrong usage.
"""


@click.command(epilog=EPILOG)
@click.option("--wire", type=click.Choice(WIRES), help="The API that was spoken.")
@click.option("--vendor", help="Who answered: anthropic, openai, minimax, …")
@click.option("--where", type=click.Choice([place.value for place in Where]), help="Where the failure showed itself.")
@click.option("--status", type=click.IntRange(100, 999), help="The HTTP status.")
@click.option("--code", help="The error's code.")
@click.option("--type", "type_", help="The error's type, or the name of the exception.")
@click.option("--message", help="The error's words.")
@click.option("--finish-reason", help="How the stream says that it ended.")
@click.option("--header", "headers", multiple=True, metavar="'NAME: VALUE'", help="A response header; repeatable.")
@click.option("--context", type=click.Choice(["text_only", "open_tool_call"]), help="What was open when it happened.")
@click.option("--after-output/--before-output", default=None, help="Whether output had already been received.")
@click.option("--repeat", type=click.IntRange(1), help="How often the same has happened, this time included.")
@click.option("--body", metavar="TEXT|@FILE|-", help="The body: text, a file, or standard input.")
@click.option("--stdin", "piped", is_flag=True, help="Read JSON lines; flags fill in what a line leaves out.")
@click.option("--json", "machine", is_flag=True, help="Answer in JSON, one line for each failure.")
def explain(*, piped: bool, machine: bool, body: str | None, headers: tuple[str, ...], **flags: Any) -> int:
    """Say what an error is, whose it is, and what Headway does about it."""
    flags["type"] = flags.pop("type_")
    given = {name: value for name, value in flags.items() if value is not None}
    if headers:
        given["headers"] = dict(_header(text) for text in headers)
    if body is not None:
        given["body"] = _body(body)
    if piped or not given:
        if not piped and sys.stdin.isatty():
            raise click.UsageError("Nothing to explain: give flags, or pipe JSON lines. See --help.")
        return _explain_lines(sys.stdin.buffer, given, machine=machine)
    failure = classify(facts_of_record(given))
    click.echo(as_json(failure) if machine else as_text(failure))
    return 0


def _explain_lines(stream: BinaryIO, given: dict[str, Any], *, machine: bool) -> int:
    """Answer each line by one answer; return the exit status."""
    status = 0
    render: Callable[..., str] = as_json if machine else as_text
    complain = unreadable_json if machine else unreadable_text
    gap = "" if machine else "\n"
    for number, line in _lines(stream):
        try:
            record = _record(line)
        except BadJson as exc:
            status = 1
            answer = complain(f"Line {number} cannot be read: {exc}. To explain a raw body, use --body -.")
        else:
            filled = {**record, **{name: value for name, value in given.items() if record.get(name) is None}}
            answer = render(classify(facts_of_record(filled)), _identity(record))
        click.echo(answer + gap)
        sys.stdout.flush()
    return status


def _lines(stream: BinaryIO) -> Iterator[tuple[int, bytes | None]]:
    """Yield numbered lines that are not blank; one that is too long is passed over and yielded as None."""
    number = 0
    while line := stream.readline(MAX_LINE + 1):
        number += 1
        if len(line) > MAX_LINE and not line.endswith(b"\n"):
            del line
            while (rest := stream.readline(_SKIP)) and not rest.endswith(b"\n"):
                pass
            yield number, None
        elif line.strip():
            yield number, line


def _record(line: bytes | None) -> dict[str, Any]:
    if line is None:
        raise BadJson(f"it is longer than {MAX_LINE // 1024 // 1024} MB")
    value, _ = decode_repaired(line)
    if not isinstance(value, dict):
        raise BadJson(f"expected an object, got {type(value).__name__}")
    return value


def _identity(record: dict[str, Any]) -> str | int | None:
    identity = record.get("id")
    return identity if isinstance(identity, str | int) else None


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise InvalidInput(f"--header {text!r}", "it is not of the form 'Name: value'", "Quote it for the shell.")
    return name.strip(), value.strip()


def _body(text: str) -> str:
    """Return the body that a flag names: itself, a file's, or standard input's; no more than is worth reading."""
    if text == "-":
        return sys.stdin.buffer.read(MAX_BODY).decode("utf-8", "replace")
    if not text.startswith("@"):
        return text
    try:
        with Path(text[1:]).open("rb") as file:
            return file.read(MAX_BODY).decode("utf-8", "replace")
    except OSError as exc:
        raise InvalidInput(f"--body {text}", exc.strerror or str(exc), "Nothing was explained.") from exc
