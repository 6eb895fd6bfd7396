"""A server that gives no ids: a call that streamed is not read a second time from its `done` event."""

import json

from headway.events import CallArguments, CallClosed, CallOpened, Stop, StreamEnded, StreamOpened
from headway.wire.assembly import assemble
from headway.wire.openai_responses import WIRE

NAMES = ("id", "call_id", "item_id")


def nameless(value):
    if isinstance(value, dict):
        return {key: nameless(inner) for key, inner in value.items() if key not in NAMES}
    return [nameless(inner) for inner in value] if isinstance(value, list) else value


def stripped(data: bytes) -> bytes:
    lines = []
    for line in data.split(b"\n"):
        head, _, text = line.partition(b"data: ")
        lines.append(b"data: " + json.dumps(nameless(json.loads(text))).encode() if text and not head else line)
    return b"\n".join(lines)


def test_a_call_without_ids_is_one_call():
    encoder = WIRE.encoder()
    calls = [(0, '{"path":"a"}'), (1, '{"path":"b"}'), (2, '{"path":"b"}')]
    events = [StreamOpened("resp_1", "m")]
    for number, arguments in calls:
        events += [CallOpened(number, f"c{number}", "read"), CallArguments(number, arguments), CallClosed(number)]
    data = stripped(b"".join(map(encoder.write, [*events, StreamEnded(Stop.CALLS)])))
    decoder = WIRE.decoder()
    received = assemble([*decoder.feed(data), *decoder.close()])
    assert [call.arguments for call in received.calls] == [arguments for _, arguments in calls]
    assert not received.fragments
