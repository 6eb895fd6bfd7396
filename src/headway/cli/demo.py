"""`headway demo`: one file through four failures, on three wires, with nothing but the core.

The bytes are real wire bytes, cut in the middle; the model is played by a script that behaves like one (it repeats its
last words before it goes on). Nothing is opened: the decisions, drafts and seams are what is shown.
"""

import json
from collections.abc import Iterator
from hashlib import sha256

import click
from msgspec import Struct

from headway.dialect import DIALECTS
from headway.events import (
    CallArguments,
    CallClosed,
    CallOpened,
    Cut,
    Event,
    Stop,
    StreamCut,
    StreamEnded,
    StreamOpened,
    TextDelta,
)
from headway.failure import Where
from headway.history.project import project
from headway.messages import ModelRequest, ToolSpec, user
from headway.received import Received
from headway.recovery.continuation import next_request
from headway.recovery.decisions import Again, Decision, FailOver, GiveUp, RunTools
from headway.recovery.drafts import CONTINUE_DRAFT
from headway.recovery.failures.classify import classify, failure_of_end
from headway.recovery.failures.facts import Facts
from headway.recovery.ledger import Ledger, Policy, Upstream, open_ledger
from headway.recovery.machine import Answered, Broken, decide
from headway.recovery.settle import settle
from headway.wire.assembly import assemble
from headway.wire.json_text import encode_text, strict_object
from headway.wire.table import WIRES

PARAGRAPHS = 200
PIECE = 24
REPEATS = 37
WRITE_FILE = ToolSpec(
    "write_file",
    "Write a file.",
    {
        "type": "object",
        "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
        "required": ["path", "content"],
    },
)


class Act(Struct, frozen=True):
    """What happens to one attempt: what arrives of its bytes, and how it ends."""

    title: str
    survives: float
    """The share of the reply that arrives; 1.0 is a stream that lives."""
    error: str = ""
    """An error frame that comes then."""
    stop: Stop | None = None
    """A finish that comes then, with the call still open."""
    refused: Facts | None = None
    """An answer that is no stream at all."""


ACTS = (
    Act("the connection is reset in the middle of a frame", 0.38),
    Act("a content filter strikes in mid-stream", 0.5, error='{"error":{"message":"output new_sensitive (1027)"}}'),
    Act("the output limit falls into the arguments", 0.6, stop=Stop.LENGTH),
    Act(
        "the account has run dry",
        0.0,
        refused=Facts(status=400, where=Where.HTTP_ERROR, message="Your credit balance is too low"),
    ),
    Act("the stream lives", 1.0),
)
UPSTREAMS = {"alpha": "chat", "beta": "anthropic", "gamma": "responses"}


@click.command()
def demo() -> int:
    """Show the core at work: one 20 KB file, four failures, three wires, nothing lost."""
    page = _page()
    request = ModelRequest("model-1", (user("Write index.html: a long page about patience."),), tools=(WRITE_FILE,))
    ledger = open_ledger(Policy(), tuple(Upstream(name) for name in UPSTREAMS))
    generated = 0
    click.echo(
        f"The task: one call of write_file, with a page of {_kb(len(page))}. Real wire bytes, a scripted model.\n"
    )
    for number, act in enumerate(ACTS, 1):
        wire = UPSTREAMS[ledger.upstream.name]
        sent = _request_of(wire, request, ledger)
        received = _receive(wire, act, _reply(sent, ledger, page))
        generated += _size(received)
        _show_attempt(number, f"{ledger.upstream.name} ({wire})", act, received)
        ledger, decision = _decided(ledger, wire, act, received)
        _show_decision(ledger, decision)
        if isinstance(decision, RunTools):
            return _report(page, decision, generated)
    click.secho("The demo did not come to its end.", fg="red", err=True)
    return 1


def _page() -> str:
    rows = (
        f'  <p id="p{number}">“No. {number}” — 忍耐 keeps\n     what has arrived, '
        "to the \\letter\\ 🐢 and beyond the line.</p>\n"
        for number in range(PARAGRAPHS)
    )
    return f"<!doctype html>\n<title>Patience</title>\n<body>\n{''.join(rows)}</body>\n"


def _request_of(wire_name: str, request: ModelRequest, ledger: Ledger) -> ModelRequest:
    """Build, project and render what would be sent, and read it again as the provider would."""
    dialect, wire = DIALECTS[wire_name], WIRES[wire_name]
    body = wire.render_request(project(next_request(request, ledger, dialect), dialect).request)
    return wire.parse_request(body)


def _reply(sent: ModelRequest, ledger: Ledger, page: str) -> list[Event]:
    """Play the model: it writes the whole file, unless it is offered to go on from a draft."""
    draft = ledger.salvage.draft
    if draft is not None and any(
        isinstance(tool, ToolSpec) and tool.name == CONTINUE_DRAFT.name for tool in sent.tools
    ):
        start = max(0, draft.offset - REPEATS)
        given = {"draft": draft.id, "offset": start, "rest": page[start:]}
        return list(_call(CONTINUE_DRAFT.name, encode_text(given)))
    return [*_call("write_file", json.dumps({"path": "index.html", "content": page}, ensure_ascii=False))]


def _call(name: str, arguments: str) -> Iterator[Event]:
    yield StreamOpened("msg_1", "model-1")
    yield TextDelta("On it.")
    yield CallOpened(0, "call_1", name)
    for at in range(0, len(arguments), PIECE):
        yield CallArguments(0, arguments[at : at + PIECE])
    yield CallClosed(0)
    yield StreamEnded(Stop.CALLS)


def _receive(wire: str, act: Act, said: list[Event]) -> Received:
    """Turn the reply into real bytes, let the act happen to them, and read what is left."""
    encoder, decoder = WIRES[wire].encoder(), WIRES[wire].decoder()
    if act.error or act.stop:
        end = StreamEnded(act.stop) if act.stop else StreamCut(Cut.ERROR, act.error)
        data = b"".join(encoder.write(event) for event in (*said[: int(len(said) * act.survives)], end))
    else:
        data = b"".join(encoder.write(event) for event in said)
        data = data[: int(len(data) * act.survives)]
    return assemble([*decoder.feed(data), *decoder.close()], issuer=wire)


def _decided(ledger: Ledger, wire: str, act: Act, received: Received) -> tuple[Ledger, Decision]:
    assert received.end is not None, "a closed decoder has given its verdict"
    failure = classify(act.refused) if act.refused else failure_of_end(received.end, received, wire)
    if failure is not None:
        return decide(ledger, Broken(failure, received, took_seconds=4.0))
    settled = settle(received, ledger.salvage.draft, (WRITE_FILE,))
    if settled.failure is not None:
        return decide(ledger, Broken(settled.failure, settled.received, draft=settled.draft, problem=settled.problem))
    return decide(ledger, Answered(settled.received, took_seconds=4.0))


def _show_attempt(number: int, name: str, act: Act, received: Received) -> None:
    click.secho(f"{number}. {name}", bold=True, nl=False)
    click.echo(f": {act.title}")
    for fragment in received.fragments:
        click.secho(f"   cut    {fragment.name} after {_kb(len(fragment.arguments))} of arguments; not run", fg="red")


def _show_decision(ledger: Ledger, decision: Decision) -> None:
    """Say what was kept and what is done next."""
    draft = ledger.salvage.draft
    if draft is not None:
        kept = f"{draft.offset:,} characters of `{draft.open_name}`, up to {draft.tail[-20:]!r}"
        click.secho(f"   kept   draft {draft.id}: {kept}", fg="yellow")
    match decision:
        case Again(strategy=strategy):
            click.secho(f"   next   {strategy.value.replace('_', ' ')}: only the rest is asked for", fg="cyan")
        case FailOver(to=name, because=failure):
            click.secho(f"   why    {failure.reason}", fg="cyan")
            click.secho(f"   next   {name} ({UPSTREAMS[name]}) goes on from the draft", fg="cyan")
        case GiveUp(failure=failure):
            click.secho(f"   end    {failure.reason}", fg="red")
        case _:
            pass


def _report(page: str, decision: RunTools, generated: int) -> int:
    written = strict_object(decision.calls[0].arguments)["content"]
    whole = isinstance(written, str) and sha256(written.encode()).digest() == sha256(page.encode()).digest()
    click.secho("   whole  " if whole else "   BROKEN ", fg="green" if whole else "red", bold=True, nl=False)
    verdict = "matches" if whole else "differs"
    click.echo(f"{decision.calls[0].name} runs once, with all {len(page):,} characters; sha256 {verdict}")
    needed = len(json.dumps({"path": "index.html", "content": page}, ensure_ascii=False))
    click.echo(
        f"\n{len(ACTS) - 1} failures, nothing lost. The model wrote {_kb(generated)} for the {_kb(needed)} that were "
        f"needed: {generated / needed:.2f} times."
    )
    return 0 if whole else 1


def _size(received: Received) -> int:
    return sum(len(call.arguments) for call in received.calls) + sum(len(cut.arguments) for cut in received.fragments)


def _kb(size: int) -> str:
    return f"{size / 1000:.1f} KB"
