"""Replies that conformance tests let every wire say."""

from headway.events import (
    CallArguments,
    CallClosed,
    CallOpened,
    Event,
    KeepAlive,
    Stop,
    StreamEnded,
    StreamOpened,
    TextDelta,
    ThinkingDelta,
    ThinkingSigned,
    Usage,
)

CONTENT = 'line one\n"quoted" \\ back\tslash é 😀\n' * 20
OPENED = StreamOpened("msg_abc", "model-1")


def answer() -> list[Event]:
    return [
        OPENED,
        KeepAlive(),
        TextDelta("Hello"),
        TextDelta(", "),
        KeepAlive(),
        TextDelta("wörld 😀."),
        Usage(input_tokens=11, output_tokens=7),
        StreamEnded(Stop.END),
    ]


def thought() -> list[Event]:
    return [
        OPENED,
        ThinkingDelta("Let me "),
        ThinkingDelta("think."),
        ThinkingSigned("c2lnbmF0dXJl"),
        TextDelta("Done."),
        Usage(input_tokens=11, output_tokens=7),
        StreamEnded(Stop.END),
    ]


def cut_short() -> list[Event]:
    return [OPENED, TextDelta("As I was say"), Usage(5, 4), StreamEnded(Stop.LENGTH)]


def calls() -> list[Event]:
    import json

    first = json.dumps({"path": "a.txt", "content": CONTENT}, ensure_ascii=False)
    return [
        OPENED,
        TextDelta("I write two files."),
        CallOpened(0, "call_one", "write_file"),
        *(CallArguments(0, first[at : at + 17]) for at in range(0, len(first), 17)),
        CallClosed(0),
        CallOpened(1, "call_two", "list_files"),
        CallArguments(1, "{}"),
        CallClosed(1),
        Usage(input_tokens=20, output_tokens=300),
        StreamEnded(Stop.CALLS),
    ]


REPLIES = {"answer": answer, "thought": thought, "cut_short": cut_short, "calls": calls}
