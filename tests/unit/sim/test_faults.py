"""Every fault does on the wire what it says, on every wire where there is such a thing."""

import asyncio
import json
import re
from functools import cache
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace

from headway.events import CONTENT, Cut, KeepAlive, Stop, StreamCut, StreamEnded
from headway.received import Received
from headway.sim import Call, Ending, Exchange, Final, Say, Script, SimServer, Think, WriteFile, read_fault
from headway.sim.answers import in_stream, statuses
from headway.sim.catalog import FAULTS, fault_table
from headway.transport.clock import run_virtual
from headway.wire.assembly import assemble
from headway.wire.table import WIRES
from support.worlds_weather import weather
from unit.sim.talking import WIRE_NAMES, Answer, Client, asking, post

CONTENT_OF_FILE = "línea «one»\n" * 200
SCRIPT = Script(
    steps=(
        Think("First the file, then a look."),
        Say("I write the file – now."),
        WriteFile("a.txt", CONTENT_OF_FILE),
        Call("list_files", {"path": "."}, parallel=True),
        Final("Done."),
    )
)
each_wire = pytest.mark.parametrize("wire", WIRE_NAMES)


def meet(
    *lines: str, wire: str, stream: bool = True, script: Script = SCRIPT, patience: float = 30.0
) -> tuple[Answer, Exchange]:
    """Send one request to a provider with these faults."""

    async def talk() -> tuple[Answer, Exchange]:
        faulty = Script(steps=script.steps, faults=tuple(map(read_fault, lines)))
        async with SimServer(faulty) as sim:
            answer = await post(sim, wire, asking(wire, stream=stream), patience=patience)
            return answer, (await sim.quiet())[0]

    return run_virtual(talk())


@cache
def healthy(wire: str) -> Received:
    return meet(wire=wire)[0].received(wire)


def size(received: Received) -> int:
    """Return how much of a reply came through, in characters."""
    parts = (getattr(part, "arguments", getattr(part, "text", "")) for part in received.parts)
    return sum(map(len, parts))


def is_whole(received: Received, wire: str) -> bool:
    return (received.text, [call.arguments for call in received.calls]) == (
        healthy(wire).text,
        [call.arguments for call in healthy(wire).calls],
    )


def test_every_fault_is_tested_here() -> None:
    tested = set(re.findall(r'"(\w+)', Path(__file__).read_text(encoding="utf-8")))
    assert set(FAULTS) <= tested


@each_wire
def test_without_faults_a_reply_is_whole(wire: str) -> None:
    answer, exchange = meet(wire=wire)
    received = answer.received(wire)
    assert answer.ended == "complete"
    assert received.end == StreamEnded(Stop.CALLS, received.end.said)
    assert [call.name for call in received.calls] == ["write_file", "list_files"]
    assert json.loads(received.calls[0].arguments) == {"path": "a.txt", "content": CONTENT_OF_FILE}
    assert received.thinking[0].text == "First the file, then a look."
    assert received.usage.output_tokens > 0
    assert exchange.ending is Ending.ANSWERED
    assert exchange.generated == size(received)


# Silence


@each_wire
@pytest.mark.parametrize("at", ["50%", "500", "call+1000", "12 events", "text+5", "call 2+3", "string", "anywhere"])
def test_a_stall_comes_exactly_at_its_place(wire: str, at: str) -> None:
    answer, exchange = meet(f"stall at='{at}'", wire=wire)
    assert (answer.ended, exchange.ending, exchange.faults) == ("silence", Ending.CLIENT_LEFT, ("stall",))
    assert exchange.client_left_at == pytest.approx(30.0)
    received = answer.received(wire)
    assert isinstance(received.end, StreamCut)
    assert size(received) == exchange.generated < size(healthy(wire))
    match at:
        case "500":
            assert exchange.generated == 500
        case "call+1000":
            assert [len(fragment.arguments) for fragment in received.fragments] == [1000]
        case "text+5":
            assert received.text == "I wri"
        case "call 2+3":
            assert len(received.fragments[-1].arguments) == 3
        case "string":
            assert received.fragments[-1].arguments == '{"path":"a.txt"'


@each_wire
def test_a_stall_may_pass(wire: str) -> None:
    answer, exchange = meet("stall seconds=7", wire=wire)
    assert answer.ended == "complete"
    assert is_whole(answer.received(wire), wire)
    assert exchange.seconds == pytest.approx(7.0)


@each_wire
def test_a_stall_after_the_name_of_a_call_leaves_no_arguments(wire: str) -> None:
    answer, _ = meet("stall at=call", wire=wire)
    assert [(one.name, one.arguments) for one in answer.received(wire).fragments] == [("write_file", "")]


@each_wire
@pytest.mark.parametrize("stream", [True, False])
def test_no_headers_means_no_byte_at_all(wire: str, stream) -> None:
    answer, exchange = meet("no_headers", wire=wire, stream=stream)
    assert (answer.ended, answer.status, answer.body, exchange.generated) == ("silence", 0, b"", 0)


@each_wire
def test_a_stall_behind_the_headers_brings_nothing_else(wire: str) -> None:
    answer, _ = meet("stall at=headers", wire=wire)
    assert (answer.ended, answer.status, answer.body) == ("silence", 200, b"")


@each_wire
def test_slow_headers_come_late_and_all_is_well(wire: str) -> None:
    answer, exchange = meet("slow_headers seconds=9", wire=wire)
    assert is_whole(answer.received(wire), wire)
    assert exchange.seconds == pytest.approx(9.0)


@each_wire
@pytest.mark.parametrize("fault", ["pings_only", "comments_only", "empty_deltas", "role_only"])
def test_idle_frames_keep_the_bytes_coming_and_say_nothing(wire: str, fault: str) -> None:
    answer, exchange = meet(fault, wire=wire)
    assert (answer.ended, exchange.ending) == ("silence", Ending.CLIENT_LEFT)
    events = answer.events(wire)
    said = max((i for i, event in enumerate(events) if isinstance(event, CONTENT)), default=0)
    assert len([event for event in events[said + 1 :] if isinstance(event, KeepAlive)]) >= 25
    assert len(answer.arrived) > 25
    assert size(assemble(events, wire)) == exchange.generated


@each_wire
def test_empty_deltas_look_like_the_delta_before_them(wire: str) -> None:
    answer, _ = meet("empty_deltas at=call+100", wire=wire)
    last = answer.body.decode().strip().rsplit("data: ", 1)[1]
    assert re.search(r'"(arguments|partial_json|delta)":""', last)


@each_wire
def test_silent_thinking_is_healthy(wire: str) -> None:
    answer, exchange = meet("silent_thinking seconds=120 interval=10", wire=wire, patience=500)
    assert is_whole(answer.received(wire), wire)
    assert exchange.seconds == pytest.approx(120.0)
    assert sum(isinstance(event, KeepAlive) for event in answer.events(wire)) >= 12


# Pace


@each_wire
@pytest.mark.parametrize(
    ("line", "seconds"),
    [("drip characters=10 seconds=3 at=end", 0.0), ("slow_steady seconds=2", None), ("burst seconds=5", 5.0)],
)
def test_an_odd_pace_changes_nothing_else(wire: str, line: str, seconds: float | None) -> None:
    answer, exchange = meet(line, wire=wire, patience=10_000)
    assert is_whole(answer.received(wire), wire)
    assert exchange.seconds > 100 if seconds is None else exchange.seconds == pytest.approx(seconds)


@each_wire
def test_drip_crawls(wire: str) -> None:
    script = Script(steps=(Final("Twelve chars"),))
    answer, exchange = meet("drip characters=1 seconds=10", wire=wire, script=script, patience=1_000)
    assert answer.received(wire).text == "Twelve chars"
    assert exchange.seconds == pytest.approx(120.0)


@each_wire
def test_fragments_split_characters_and_lines(wire: str) -> None:
    answer, _ = meet("fragments bytes=3", wire=wire)
    assert is_whole(answer.received(wire), wire)
    assert answer.chunks > len(answer.body) / 4


# Cuts


@each_wire
@pytest.mark.parametrize(
    ("line", "ended"),
    [
        ("rst at=700", "rst"),
        ("fin at=700", "complete"),
        ("fin at=700 framing=open", "fin"),
        ("truncated_chunk at=700", "fin"),
    ],
)
def test_a_cut_ends_the_connection_in_its_own_way(wire: str, line: str, ended: str) -> None:
    answer, exchange = meet(line, wire=wire)
    received = answer.received(wire)
    assert answer.ended == ended
    assert exchange.ending is (Ending.ANSWERED if ended == "complete" else Ending.CUT)
    assert isinstance(received.end, StreamCut)
    assert received.end.cause is Cut.EOF
    assert size(received) == exchange.generated == 700


@each_wire
@pytest.mark.parametrize("line", ["rst at=start", "fin at=start framing=open"])
def test_a_connection_may_end_before_the_headers(wire: str, line: str) -> None:
    answer, _ = meet(line, wire=wire)
    assert (answer.status, answer.body) == (0, b"")
    assert answer.ended in ("rst", "fin")


@each_wire
@pytest.mark.parametrize("stream", [True, False])
def test_cut_utf8_ends_inside_a_character(wire: str, stream) -> None:
    answer, _ = meet("cut_utf8", wire=wire, stream=stream)
    assert answer.ended == "complete"
    with pytest.raises(UnicodeDecodeError, match="unexpected end of data"):
        answer.body.decode()


@each_wire
def test_late_bytes_come_behind_the_end_and_change_nothing(wire: str) -> None:
    answer, _ = meet("late_bytes", wire=wire)
    assert answer.body.endswith(b'data: {"late": true}\n\n')
    assert is_whole(answer.received(wire), wire)


@each_wire
def test_late_bytes_may_follow_the_body_itself(wire: str) -> None:
    answer, _ = meet("late_bytes where=connection text=HTTP/1.1", wire=wire)
    assert answer.ended == "complete"
    assert is_whole(answer.received(wire), wire)


@each_wire
def test_close_after_each_says_so_and_does_it(wire: str) -> None:
    answer, exchange = meet("close_after_each", wire=wire)
    assert answer.headers["connection"] == "close"
    assert exchange.ending is Ending.ANSWERED
    assert is_whole(answer.received(wire), wire)


# Frames


@each_wire
@pytest.mark.parametrize("line", ["garbage_frame at=700", "broken_json at=700", "bad_utf8 at=700"])
def test_a_frame_that_cannot_be_read_comes_among_good_ones(wire: str, line: str) -> None:
    answer, exchange = meet(line, wire=wire)
    received = answer.received(wire)
    assert isinstance(received.end, StreamCut)
    assert received.end.cause is Cut.UNREADABLE
    assert size(received) == 700
    assert exchange.generated == size(healthy(wire)), "the provider goes on as if nothing had happened"


@pytest.mark.parametrize("line", ["bad_utf8", "broken_json", "duplicate_delta"])
def test_a_frame_of_a_stored_response_is_spoilt_too(line: str) -> None:
    async def talk() -> list[Answer]:
        async with SimServer(Script(steps=SCRIPT.steps, faults=(read_fault(line),))) as sim:
            asked = {**asking("responses"), "background": True, "store": True}
            made = await post(sim, "responses", asked)
            name = re.search(rb'"id":"(resp_[^"]+)"', made.body)
            assert name is not None
            path = f"/v1/responses/{name[1].decode()}?stream=true&starting_after="
            async with Client(sim.port) as client:
                return [made, *[await client.ask("GET", f"{path}{number}") for number in (-1, 40, 9_999)]]

    assert [answer.ended for answer in run_virtual(talk())] == ["complete"] * 4


@pytest.mark.parametrize("line", ["role_only", "empty_deltas at=300", "pings_only at=300", "comments_only at=300"])
def test_a_stored_response_goes_on_behind_frames_that_say_nothing(line: str) -> None:
    async def talk() -> tuple[Answer, Answer]:
        script = Script(steps=(Final("word " * 200),), faults=(read_fault(f"{line} interval=1 first=1"),))
        async with SimServer(script) as sim:
            asked = {**asking("responses"), "background": True, "store": True}
            first = await post(sim, "responses", asked, patience=5.0)
            decoder = WIRES["responses"].decoder()
            decoder.feed(first.body)
            async with Client(sim.port) as client:
                return first, await client.ask("GET", "/v1/responses" + WIRES["responses"].reattach(decoder))

    first, second = run_virtual(talk())
    decoder = WIRES["responses"].decoder()
    events = [*decoder.feed(first.body), *decoder.feed(second.body), *decoder.close()]
    assert assemble(events, "responses").text == "word " * 200


@each_wire
@pytest.mark.parametrize("stored", [False, True])
def test_whatever_strikes_together_the_simulator_goes_on(wire: str, *, stored: bool) -> None:
    die, troubles = Random(f"{wire}{stored}"), list[dict[str, object]]()

    async def talk() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, trouble: troubles.append(trouble))
        async with SimServer(SCRIPT) as sim:
            for _ in range(100):
                faults = tuple(replace(fault, chance=1.0) for fault in (*weather(die), *weather(die)))
                sim.use(replace(SCRIPT, faults=faults))
                body = {**asking(wire), **({"background": True, "store": True} if stored else {})}
                await post(sim, wire, body, patience=1.0)
                await sim.quiet()
                assert sim.log[-1].ended_at is not None

    run_virtual(talk())
    assert troubles == []


@each_wire
def test_duplicate_delta_says_something_twice(wire: str) -> None:
    answer, _ = meet("duplicate_delta at=text", wire=wire, script=Script(steps=(Final("once upon a time"),)))
    assert answer.body.count(b"once upon a time") >= 2
    text = "".join(event.text for event in answer.events(wire) if hasattr(event, "text"))
    assert text.count("once upon a time") in (1, 2), "some wires number their frames or repeat the whole at the end"


# Ends


@pytest.mark.parametrize(
    ("wire", "fault", "stop"),
    [
        ("chat", "done_without_finish", Stop.CALLS),
        ("anthropic", "done_without_finish", Stop.CALLS),
        ("chat", "missing_finish", Stop.CALLS),
        ("anthropic", "missing_finish", None),
        ("chat", "finish_before_usage", Stop.CALLS),
        ("anthropic", "finish_before_usage", Stop.CALLS),
        ("chat", "early_finish", Stop.CALLS),
        ("responses", "done_without_finish", None),
    ],
)
def test_odd_ends_are_as_odd_as_they_say(wire: str, fault: str, stop: Stop | None) -> None:
    answer, _ = meet(fault, wire=wire)
    text = answer.body.decode()
    has_done = "[DONE]" in text or '"message_stop"' in text
    has_reason = re.search(r'"(finish|stop)_reason":"', text) is not None
    has_usage = re.search(r'"(prompt|output)_tokens":[1-9]', text) is not None
    assert (has_done, has_reason, has_usage) == {
        "done_without_finish": (True, False, False),
        "missing_finish": (False, False, True),
        "finish_before_usage": (False, True, False),
        "early_finish": (True, True, True),
    }[fault]
    end = answer.received(wire).end
    assert (end.stop if isinstance(end, StreamEnded) else None) == stop


@each_wire
def test_no_usage_leaves_the_usage_out(wire: str) -> None:
    received = meet("no_usage", wire=wire)[0].received(wire)
    assert is_whole(received, wire)
    assert received.usage is None


# Content


@each_wire
@pytest.mark.parametrize("stream", [True, False])
def test_output_limit_stops_inside_of_arguments_and_says_so(wire: str, stream) -> None:
    answer, exchange = meet("output_limit characters=800", wire=wire, stream=stream)
    received = answer.received(wire) if stream else assemble(WIRES[wire].parse_reply(answer.json()), wire)
    assert received.end.stop is Stop.LENGTH
    assert received.calls == ()
    assert exchange.generated == 800
    if stream:
        assert received.fragments[0].name == "write_file"


@each_wire
@pytest.mark.parametrize("at", ["call+100", "call", "string", "call 2+3"])
def test_a_false_finish_claims_that_half_a_call_is_whole(wire: str, at: str) -> None:
    received = meet(f"false_finish at='{at}'", wire=wire)[0].received(wire)
    assert isinstance(received.end, StreamEnded)
    assert received.end.stop is Stop.CALLS
    if at == "call":
        assert [call.arguments for call in received.calls] == ["{}"], "which is whole, and was never meant"
    else:
        assert [call.name for call in received.calls] == (["write_file"] if at == "call 2+3" else [])
        assert len(received.fragments) == 1


@each_wire
def test_the_output_limit_of_the_request_counts_too(wire: str) -> None:
    names = {"chat": "max_completion_tokens", "responses": "max_output_tokens", "anthropic": "max_tokens"}

    async def talk() -> Received:
        async with SimServer(SCRIPT) as sim:
            return (await post(sim, wire, asking(wire) | {names[wire]: 100})).received(wire)

    received = run_virtual(talk())
    assert received.end.stop is Stop.LENGTH
    assert 380 <= size(received) <= 400


@each_wire
@pytest.mark.parametrize(
    ("shows", "check"),
    [
        ("finish", lambda answer, end, _: isinstance(end, StreamEnded) and end.stop in (Stop.FILTERED, Stop.REFUSED)),
        ("error", lambda answer, end, wire: wire == "responses" or end.cause is Cut.ERROR),
        ("http", lambda answer, end, _: answer.status == 400),
        ("cut", lambda answer, end, _: answer.ended == "complete" and end.cause is Cut.EOF),
        ("stall", lambda answer, end, _: answer.ended == "silence"),
    ],
)
def test_a_content_filter_shows_in_all_its_forms(wire: str, shows: str, check: object) -> None:
    answer, _ = meet(f"content_filter pattern=«one» shows={shows}", wire=wire)
    received = answer.received(wire)
    assert check(answer, received.end, wire)  # type: ignore[operator]
    if shows != "http":
        assert received.fragments[0].arguments.endswith("«one»")


@each_wire
def test_a_content_filter_looks_at_the_input_too(wire: str) -> None:
    answer, exchange = meet("content_filter pattern='do your task' looks_at=input", wire=wire)
    assert answer.received(wire).end.stop in (Stop.FILTERED, Stop.REFUSED)
    assert exchange.generated == 0
    assert meet("content_filter pattern='nothing of this kind'", wire=wire)[1].faults == ()


@each_wire
def test_a_refusal_is_marked_as_the_wire_marks_it(wire: str) -> None:
    received = meet("refusal", wire=wire)[0].received(wire)
    if wire == "anthropic":
        assert received.end.stop is Stop.REFUSED
    else:
        assert received.refusal == "I can't help with that."


@each_wire
@pytest.mark.parametrize("stream", [True, False])
def test_an_empty_reply_ends_well_and_says_nothing(wire: str, stream) -> None:
    answer, _ = meet("empty_reply", wire=wire, stream=stream)
    received = answer.received(wire) if stream else assemble(WIRES[wire].parse_reply(answer.json()), wire)
    assert received.end.stop is Stop.END
    assert size(received) == 0


@each_wire
@pytest.mark.parametrize(("line", "stop"), [("thinking_only", Stop.END), ("thinking_only spent=true", Stop.LENGTH)])
def test_a_reply_may_be_thinking_only(wire: str, line: str, stop: Stop) -> None:
    received = meet(line, wire=wire)[0].received(wire)
    assert received.end.stop is stop
    assert [type(part).__name__ for part in received.parts] == ["Thinking"]


# Calls


@each_wire
def test_missing_ids_leave_calls_nameless(wire: str) -> None:
    text = meet("missing_ids", wire=wire)[0].body.decode()
    assert not re.search(r"call_[0-9a-f]{20}|toolu_", text)
    assert "write_file" in text


@each_wire
@pytest.mark.parametrize("how", ["same", "odd"])
def test_wrong_ids_are_wrong(wire: str, how: str) -> None:
    received = meet(f"wrong_ids how={how}", wire=wire)[0].received(wire)
    ids = [call.id for call in received.calls]
    assert len(ids) == 2
    assert len(set(ids)) == 1 if how == "same" else all(len(one) > 64 and "|" in one for one in ids)


def test_changing_ids_change_from_event_to_event() -> None:
    answer, _ = meet("wrong_ids how=changing", wire="responses")
    assert len(set(re.findall(r'"item_id":"(\w+)"', answer.body.decode()))) > 20
    assert is_whole(answer.received("responses"), "responses")


@each_wire
@pytest.mark.parametrize("how", ["zero", "missing"])
def test_reused_indexes_are_zero_or_gone(wire: str, how: str) -> None:
    answer, _ = meet(f"reused_indexes how={how}", wire=wire)
    indexes = set(re.findall(r'"(?:output_)?index":(\d)', answer.body.decode()))
    assert indexes <= ({"0"} if how == "zero" or wire == "chat" else set())
    assert is_whole(answer.received(wire), wire)


def test_name_twice_says_the_name_with_every_piece() -> None:
    answer, _ = meet("name_twice", wire="chat")
    assert answer.body.count(b'"name":"write_file"') > 20
    assert is_whole(answer.received("chat"), "chat")


@pytest.mark.parametrize("wire", ["chat", "anthropic"])
def test_arguments_as_object_come_at_once(wire: str) -> None:
    answer, _ = meet("arguments_as_object", wire=wire)
    assert re.search(rb'"(arguments|input)":\{"path":"a.txt"', answer.body)
    assert is_whole(answer.received(wire), wire)


# Errors and statuses


@each_wire
def test_stream_error_breaks_off_in_the_usual_form(wire: str) -> None:
    answer, exchange = meet("stream_error at=700", wire=wire)
    received = answer.received(wire)
    assert (answer.ended, received.end.cause) == ("complete", Cut.ERROR)
    assert size(received) == exchange.generated == 700


@pytest.mark.parametrize("like", sorted(in_stream()))
def test_no_in_stream_error_can_be_taken_for_success(like: str) -> None:
    for wire in in_stream()[like].wires:
        answer, exchange = meet(f"stream_error at=700 like={like}", wire=wire)
        end = answer.received(wire).end
        assert exchange.faults == ("stream_error",)
        assert isinstance(end, StreamCut) or end.stop in (Stop.FILTERED, Stop.FAILED)
        assert not isinstance(end, StreamCut) or (end.cause is Cut.ERROR and end.body)


@pytest.mark.parametrize("like", sorted(statuses()))
def test_answers_with_a_status_are_sent_as_they_stand(like: str) -> None:
    said = statuses()[like]
    for wire in said.wires:
        answer, _ = meet(f"wrong_status like={like} retry_after=7", wire=wire)
        assert (answer.status, answer.body.decode()) == (said.status, said.body.replace("$model", "sim-1"))
        assert answer.headers["retry-after"] == "7"


@each_wire
@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("wrong_status status=502 message=Oh", 502),
        ("rate_limit seconds=3", 429),
        ("overloaded", 0),
        ("bad_key", 401),
        ("bad_key status=403", 403),
        ("context_overflow characters=10", 400),
        ("history_refused", 400),
        ("gateway_timeout", 524),
        ("html_instead", 200),
    ],
)
@pytest.mark.parametrize("stream", [True, False])
def test_an_answer_instead_of_a_reply(wire: str, line: str, status: int, stream) -> None:
    answer, exchange = meet(line, wire=wire, stream=stream)
    assert answer.status == (status or {"anthropic": 529}.get(wire, 503))
    assert (exchange.ending, exchange.generated) == (Ending.ANSWERED, 0)
    if "rate_limit" in line:
        assert answer.headers["retry-after"] == "3"
    if line in ("gateway_timeout", "html_instead"):
        assert answer.headers["content-type"] in ("text/plain", "text/html")
        return
    body = answer.json()
    assert body["error"]["message"]
    assert (body.get("type") == "error") == (wire == "anthropic")


@each_wire
def test_context_overflow_lets_small_requests_pass(wire: str) -> None:
    assert meet("context_overflow characters=10000", wire=wire)[1].faults == ()


@each_wire
def test_json_instead_of_events_is_a_whole_reply(wire: str) -> None:
    answer, _ = meet("json_instead", wire=wire)
    assert answer.headers["content-type"] == "application/json"
    assert is_whole(answer.received(wire), wire)


# All together


@pytest.mark.parametrize("row", fault_table(), ids=lambda row: row.name)
def test_every_fault_passes_by_where_it_does_not_apply(row) -> None:
    for wire in set(WIRE_NAMES) - set(row.wires):
        answer, exchange = meet(row.name, wire=wire)
        assert exchange.faults == ()
        assert is_whole(answer.received(wire), wire)


@pytest.mark.parametrize(
    "line",
    [
        *(f"{row.name} at=9999999" for row in fault_table() if "at" in dict(row.parameters)),
        *("missing_ids", "wrong_ids", "reused_indexes", "name_twice", "arguments_as_object"),
        *("cut_utf8", "stream_error like=vllm wire=anthropic", "wrong_status like=rate_limit wire=anthropic"),
    ],
)
def test_a_fault_that_finds_nothing_to_strike_lets_the_reply_pass(line: str) -> None:
    script = Script(steps=(Final("Plain words, and no call."),))
    wire = "anthropic" if "anthropic" in line else "chat"
    answer, exchange = meet(line, wire=wire, script=script)
    assert exchange.faults == ()
    assert answer.received(wire).text == "Plain words, and no call."


@pytest.mark.parametrize("ending", [["empty_reply", "early_finish"], ["rst", "missing_finish"], ["fin", "late_bytes"]])
def test_what_is_gone_cannot_be_struck_again(ending: list[str]) -> None:
    _, exchange = meet(*ending, wire="chat")
    assert exchange.faults[0] == ending[0]
    assert len(exchange.faults) == (2 if ending[1] == "late_bytes" else 1)


@each_wire
def test_faults_compose(wire: str) -> None:
    answer, exchange = meet("silent_thinking seconds=20", "fragments bytes=5", "rst at=call+300", wire=wire)
    assert exchange.faults == ("silent_thinking", "fragments", "rst")
    assert (answer.ended, len(answer.received(wire).fragments[0].arguments)) == ("rst", 300)
    assert exchange.seconds == pytest.approx(20.0)
