"""Decoding and assembling a stream, against the official SDKs' parsing of the same bytes, in one run.

Both sides read from memory in 64 KB pieces, so nothing but parsing is measured. Each side does what an application
needs: all text joined, or the tool call's arguments joined and parsed once. The SDKs' accumulating helpers are listed
besides. Goals: ≥ 50 × openai's, ≥ 15 × anthropic's.
"""

import json
from collections.abc import Callable, Iterator
from time import process_time

import anthropic
import httpx2
import openai

from headway.events import CallArguments, CallClosed, CallOpened, Event, Stop, StreamEnded, StreamOpened, TextDelta
from headway.wire.assembly import Assembler
from headway.wire.table import WIRES

CHUNKS = 5_000
ARGUMENTS = json.dumps({"path": "index.html", "content": "<p>all work and no play</p>\n" * 7_200})
DELTA = 20
GOALS = {"chat": 50, "responses": 50, "anthropic": 15}
USER = [{"role": "user", "content": "hi"}]


def text_stream() -> list[Event]:
    said = [TextDelta(f" word{number}") for number in range(CHUNKS)]
    return [StreamOpened("msg_1", "model-1"), *said, StreamEnded(Stop.END)]


def call_stream() -> list[Event]:
    pieces = [CallArguments(0, ARGUMENTS[at : at + DELTA]) for at in range(0, len(ARGUMENTS), DELTA)]
    return [
        StreamOpened("msg_1", "model-1"),
        CallOpened(0, "call_1", "write_file"),
        *pieces,
        CallClosed(0),
        StreamEnded(Stop.CALLS),
    ]


def pieces_of(data: bytes, size: int = 65_536) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


def headway_reads(wire: str, data: bytes) -> str:
    decoder, assembler = WIRES[wire].decoder(), Assembler()
    for piece in pieces_of(data):
        assembler.add_all(decoder.feed(piece))
    assembler.add_all(decoder.close())
    received = assembler.received()
    return received.calls[0].arguments if received.calls else received.text


def _http(data: bytes) -> httpx2.Client:
    def answer(_: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=pieces_of(data))

    return httpx2.Client(transport=httpx2.MockTransport(answer))


def chat_sdk_reads(data: bytes) -> str:
    client = openai.OpenAI(api_key="x", base_url="http://sim", http_client=_http(data))
    text, arguments = [], []
    for chunk in client.chat.completions.create(model="m", messages=USER, stream=True):
        for choice in chunk.choices:
            if choice.delta.content:
                text.append(choice.delta.content)
            for call in choice.delta.tool_calls or ():
                if call.function and call.function.arguments:
                    arguments.append(call.function.arguments)
    if arguments:
        json.loads("".join(arguments))
    return "".join(arguments) or "".join(text)


def responses_sdk_reads(data: bytes) -> str:
    client = openai.OpenAI(api_key="x", base_url="http://sim", http_client=_http(data))
    text, arguments = [], []
    for event in client.responses.create(model="m", input="hi", stream=True):
        if event.type == "response.output_text.delta":
            text.append(event.delta)
        elif event.type == "response.function_call_arguments.delta":
            arguments.append(event.delta)
    if arguments:
        json.loads("".join(arguments))
    return "".join(arguments) or "".join(text)


def anthropic_sdk_reads(data: bytes) -> str:
    client = anthropic.Anthropic(api_key="x", base_url="http://sim", http_client=_http(data))
    text, arguments = [], []
    for event in client.messages.create(model="m", max_tokens=9, messages=USER, stream=True):
        if event.type == "content_block_delta":
            if event.delta.type == "text_delta":
                text.append(event.delta.text)
            elif event.delta.type == "input_json_delta":
                arguments.append(event.delta.partial_json)
    if arguments:
        json.loads("".join(arguments))
    return "".join(arguments) or "".join(text)


PEERS: dict[str, Callable[[bytes], str]] = {
    "chat": chat_sdk_reads,
    "responses": responses_sdk_reads,
    "anthropic": anthropic_sdk_reads,
}


def best_seconds(work: Callable[[], str], expected: str, rounds: int) -> float:
    times = []
    for _ in range(rounds):
        start = process_time()
        result = work()
        times.append(process_time() - start)
        assert result == expected, "a benchmark that reads something else measures nothing"
    return min(times)


def main() -> dict[str, float]:
    ratios: dict[str, float] = {}
    print(f"{'stream':<26}{'headway µs/chunk':>18}{'SDK µs/chunk':>15}{'ratio':>8}   goal")
    for kind, events in (("text", text_stream()), ("200 KB call", call_stream())):
        chunks = len(events)
        for name, wire in WIRES.items():
            encoder = wire.encoder()
            data = b"".join(encoder.write(event) for event in events)
            expected = headway_reads(name, data)
            assert expected == (ARGUMENTS if "call" in kind else "".join(f" word{n}" for n in range(CHUNKS)))
            ours = best_seconds(lambda name=name, data=data: headway_reads(name, data), expected, 7)
            theirs = best_seconds(lambda name=name, data=data: PEERS[name](data), expected, 2)
            ratio = ratios[f"{name} {kind}"] = theirs / ours
            row = f"{name + ' ' + kind:<26}{ours / chunks * 1e6:>18.2f}{theirs / chunks * 1e6:>15.1f}{ratio:>7.0f}×"
            print(f"{row}   ≥ {GOALS[name]}×")
    return ratios
