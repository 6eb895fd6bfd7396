"""The simulator as a server: its paths, keys and books, its manners with connections, and what it leaves behind."""

import asyncio
import json
import threading
import urllib.request
from pathlib import Path

import pytest

from headway.events import Stop
from headway.sim import Ending, Final, Pace, Script, SimServer, WriteFile, load_script, read_fault, serving
from headway.sim.server import Exchange
from headway.transport.clock import run_virtual
from headway.wire.assembly import assemble
from headway.wire.table import WIRES
from unit.sim.talking import PATHS, WIRE_NAMES, Client, asking, post

VERSION = {"anthropic-version": "2023-06-01"}
BIG = Script(steps=(Final("x" * 8_000_000),), pace=Pace(characters=1_000))


@pytest.mark.parametrize("wire", WIRE_NAMES)
@pytest.mark.parametrize("prefix", ["/v1", "", "/openai/v1", "/anthropic/v1", "/api/paas/v4"])
def test_any_prefix_is_fine(wire: str, prefix: str) -> None:
    async def talk() -> int:
        async with SimServer() as sim, Client(sim.port) as client:
            path = prefix + PATHS[wire].removeprefix("/v1")
            return (await client.ask("POST", path, asking(wire), VERSION)).status

    assert run_virtual(talk()) == 200


def test_a_connection_is_used_again_and_again() -> None:
    async def talk() -> list[Exchange]:
        async with SimServer() as sim:
            async with Client(sim.port) as client:
                for wire in (*WIRE_NAMES, *WIRE_NAMES):
                    assert (await client.ask("POST", PATHS[wire], asking(wire), VERSION)).ended == "complete"
                assert (sim.open_connections, sim.connections_made) == (1, 1)
            return await sim.quiet()

    log = run_virtual(talk())
    assert [one.number for one in log] == [1, 2, 3, 4, 5, 6]
    assert {one.connection for one in log} == {1}


def test_requests_that_come_together_are_answered_in_order() -> None:
    async def talk() -> list[str]:
        async with SimServer() as sim, Client(sim.port) as client:
            data = b""
            for path in ("/v1/models", "/health", "/nowhere"):
                data += f"GET {path} HTTP/1.1\r\nhost: sim\r\n\r\n".encode()
            client.transport.write(data)
            return [(await client.answer()).body.decode() for _ in range(3)]

    models, health, nothing = run_virtual(talk())
    assert json.loads(models)["data"][0]["id"] == "sim-1"
    assert json.loads(health) == {"status": "ok", "script": "unnamed"}
    assert "Invalid URL" in nothing


@pytest.mark.parametrize("wire", WIRE_NAMES)
def test_a_reply_may_come_without_a_stream(wire: str) -> None:
    async def talk() -> tuple[str, bytes]:
        async with SimServer(load_script("all_is_well")) as sim:
            answer = await post(sim, wire, asking(wire, stream=False))
            return answer.headers["content-type"], answer.body

    kind, body = run_virtual(talk())
    assert kind == "application/json"
    received = assemble(WIRES[wire].parse_reply(json.loads(body)), wire)
    assert (received.end.stop, received.calls[0].name) == (Stop.CALLS, "write_file")


@pytest.mark.parametrize(
    ("wire", "headers", "status"),
    [
        ("chat", {"authorization": "Bearer good"}, 200),
        ("responses", {"authorization": "bearer good"}, 200),
        ("chat", {"api-key": "good"}, 200),
        ("anthropic", {"x-api-key": "good"}, 200),
        ("anthropic", {"authorization": "Bearer good"}, 200),
        ("chat", {"authorization": "Bearer bad"}, 401),
        ("responses", {}, 401),
        ("anthropic", {"x-api-key": "bad"}, 401),
        ("anthropic", {"x-api-key": "good", "authorization": "Bearer good"}, 401),
    ],
)
def test_only_listed_keys_are_accepted(wire: str, headers: dict[str, str], status: int) -> None:
    async def talk() -> tuple[int, bytes, list[Exchange]]:
        async with SimServer(Script(keys=("good",))) as sim:
            answer = await post(sim, wire, asking(wire), headers)
            return answer.status, answer.body, await sim.quiet()

    got, body, log = run_virtual(talk())
    assert got == status
    if status == 401:
        assert log[0].ending is Ending.REFUSED
        error = json.loads(body)["error"]
        assert error["type"] == ("authentication_error" if wire == "anthropic" else "invalid_request_error")
        assert "good" not in body.decode()


@pytest.mark.parametrize("wire", WIRE_NAMES)
def test_a_model_that_is_not_there_is_not_found(wire: str) -> None:
    async def talk() -> tuple[int, list[str]]:
        async with SimServer(Script(models=("a", "b"))) as sim, Client(sim.port) as client:
            models = (await client.ask("GET", "/v1/models")).json()["data"]
            return (await post(sim, wire, asking(wire))).status, [one["id"] for one in models]

    assert run_virtual(talk()) == (404, ["a", "b"])


def test_tokens_are_counted() -> None:
    async def talk() -> dict[str, int]:
        async with SimServer() as sim, Client(sim.port) as client:
            body = {key: one for key, one in asking("anthropic").items() if key not in ("max_tokens", "stream")}
            return (await client.ask("POST", "/v1/messages/count_tokens", body, VERSION)).json()

    assert run_virtual(talk()) == {"input_tokens": 5}


def test_only_some_wires_may_be_spoken() -> None:
    async def talk() -> list[int]:
        async with SimServer(wires=frozenset({"anthropic"})) as sim:
            return [(await post(sim, wire, asking(wire))).status for wire in WIRE_NAMES]

    assert run_virtual(talk()) == [404, 404, 200]


@pytest.mark.parametrize("junk", [b"\x00\x01\x02\r\n\r\n", b"GET\r\n\r\n", b"HELLO / HTTP/9.9\r\n\r\n"])
def test_what_is_no_http_is_refused_and_the_rest_lives(junk: bytes) -> None:
    async def talk() -> tuple[int, int]:
        async with SimServer() as sim, Client(sim.port) as client:
            client.transport.write(junk)
            return (await client.answer()).status, (await post(sim, "chat", asking("chat"))).status

    assert run_virtual(talk()) == (400, 200)


@pytest.mark.parametrize("wire", WIRE_NAMES)
@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"3", b'{"model": 3}', b"\xff"])
def test_what_is_no_request_is_refused_in_the_words_of_the_wire(wire: str, body: bytes) -> None:
    async def talk() -> tuple[int, dict[str, object]]:
        async with SimServer() as sim, Client(sim.port) as client:
            answer = await client.ask("POST", PATHS[wire], body, VERSION)
            return answer.status, answer.json()

    status, said = run_virtual(talk())
    assert status == 400
    assert ("type" in said) == (wire == "anthropic")
    assert said["error"]["message"]


def test_a_client_that_waits_to_be_asked_is_asked() -> None:
    async def talk() -> bytes:
        async with SimServer() as sim, Client(sim.port) as client:
            head = b"POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\nexpect: 100-continue\r\n\r\n"
            client.transport.write(head)
            while not client.bytes.data:
                await client.bytes.news.wait()
            return client.bytes.data

    assert run_virtual(talk()).startswith(b"HTTP/1.1 100 Continue")


# Books


def test_the_log_tells_what_was_asked_and_what_became_of_it() -> None:
    script = Script(steps=(WriteFile("é.txt", "é" * 1_000),), faults=(read_fault("stall at=call+500 first=1"),))

    async def talk() -> list[Exchange]:
        async with SimServer(script) as sim:
            await post(sim, "chat", asking("chat"), {"authorization": "Bearer k1"}, patience=3.0)
            await post(sim, "anthropic", asking("anthropic"), {"x-api-key": "k2"})
            await post(sim, "chat", asking("chat") | {"messages": []})
            return await sim.quiet()

    first, second, third = run_virtual(talk())
    assert (first.wire, first.model, first.key, first.path) == ("chat", "sim-1", "k1", "/v1/chat/completions")
    assert (first.faults, first.ending, first.generated) == (("stall",), Ending.CLIENT_LEFT, 500)
    assert first.generated_bytes > first.generated
    assert first.client_left_at == pytest.approx(3.0)
    assert first.body["messages"][0]["content"] == "Please do your task."
    assert (second.faults, second.ending, second.key) == ((), Ending.ANSWERED, "k2")
    assert second.generated == len('{"path":"é.txt","content":""}') + 1_000
    assert (third.ending, third.status, third.generated) == (Ending.REFUSED, 400, 0)
    assert third.refusal.startswith("Invalid 'messages': empty array")


def test_the_script_can_be_changed_between_requests() -> None:
    async def talk() -> list[str]:
        async with SimServer(Script(faults=(read_fault("rst"),))) as sim:
            first = await post(sim, "chat", asking("chat"))
            sim.use(Script())
            return [first.ended, (await post(sim, "chat", asking("chat"))).ended]

    assert run_virtual(talk()) == ["rst", "complete"]


def test_whoever_watches_sees_faults_coming_and_exchanges_ending() -> None:
    seen: list[tuple[int, bool]] = []

    async def talk() -> None:
        watch = lambda one: seen.append((one.number, one.ended_at is not None))  # noqa: E731
        async with SimServer(Script(faults=(read_fault("stall first=1"),)), watch=watch) as sim:
            await post(sim, "chat", asking("chat"))
            await post(sim, "chat", asking("chat"))

    run_virtual(talk())
    assert seen == [(1, False), (1, True), (2, True)]


@pytest.mark.parametrize("wire", WIRE_NAMES)
def test_the_same_seed_gives_the_same_bytes(wire: str) -> None:
    async def talk(seed: int) -> list[bytes]:
        async with SimServer(load_script("bad_weather"), seed=seed) as sim:
            return [(await post(sim, wire, asking(wire))).body for _ in range(4)]

    first, again, other = (run_virtual(talk(seed)) for seed in (3, 3, 4))
    assert first == again != other


# Background mode


def test_a_background_response_is_taken_up_where_it_was_cut() -> None:
    text = "".join(f"word{number} " for number in range(200))
    script = Script(steps=(Final(text),), pace=Pace(seconds=1.0), faults=(read_fault("rst at=500 first=1"),))

    async def talk() -> tuple[str, list[Exchange]]:
        async with SimServer(script) as sim:
            cut = await post(sim, "responses", asking("responses", background=True, store=True), patience=500)
            events = [json.loads(line[6:]) for line in cut.body.decode().splitlines() if line.startswith("data: ")]
            assert cut.ended == "rst"
            name, last = events[0]["response"]["id"], events[-1]["sequence_number"]
            async with Client(sim.port, patience=500) as client:
                rest = await client.ask("GET", f"/v1/responses/{name}?stream=true&starting_after={last}")
            more = [json.loads(line[6:]) for line in rest.body.decode().splitlines() if line.startswith("data: ")]
            assert [one["sequence_number"] for one in events + more] == list(range(len(events + more)))
            assert more[-1]["type"] == "response.completed"
            said = "".join(one["delta"] for one in events + more if one["type"] == "response.output_text.delta")
            return said, await sim.quiet()

    said, log = run_virtual(talk())
    assert said == text
    assert [one.generated for one in log] == [len(text), 0]
    assert [one.ending for one in log] == [Ending.CUT, Ending.ANSWERED]


def test_a_background_response_can_be_polled_and_cancelled() -> None:
    script = Script(steps=(Final("x" * 200),), pace=Pace(seconds=1.0))

    async def talk() -> list[str]:
        async with SimServer(script) as sim, Client(sim.port) as client:
            statuses = []
            made = await client.ask("POST", "/v1/responses", asking("responses", stream=False, background=True))
            other = await client.ask("POST", "/v1/responses", asking("responses", stream=False, background=True))
            name, second = made.json()["id"], other.json()["id"]
            statuses.append(made.json()["status"])
            statuses.append((await client.ask("POST", f"/v1/responses/{second}/cancel")).json()["status"])
            await asyncio.sleep(11)
            done = (await client.ask("GET", f"/v1/responses/{name}")).json()
            statuses += [done["status"], done["output"][0]["content"][0]["text"]]
            statuses.append((await client.ask("GET", f"/v1/responses/{second}")).json()["status"])
            cut = await client.ask("GET", f"/v1/responses/{second}?stream=true")
            assert b"response.completed" not in cut.body
            statuses.append(str((await client.ask("GET", "/v1/responses/resp_unknown")).status))
            return statuses

    assert run_virtual(talk()) == ["in_progress", "cancelled", "completed", "x" * 200, "cancelled", "404"]


# What is left behind


def test_a_client_that_does_not_read_costs_no_memory_and_can_leave() -> None:
    async def talk() -> Exchange:
        async with SimServer(BIG) as sim:
            async with Client(sim.port) as client:
                client.transport.pause_reading()
                data = json.dumps(asking("chat")).encode()
                head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: {len(data)}\r\n\r\n"
                client.transport.write(head.encode() + data)
                await asyncio.sleep(5)
                assert 0 < sim.log[0].generated < 8_000_000
            return (await sim.quiet())[0]

    assert run_virtual(talk()).ending is Ending.CLIENT_LEFT


@pytest.mark.parametrize("fault", ["stall", "no_headers", "pings_only", "slow_steady seconds=9", "rst", "fin", "drip"])
def test_closing_leaves_no_task_and_no_socket(fault: str) -> None:
    def sockets() -> int:
        return sum(str(_target(one)).startswith("socket:") for one in Path("/proc/self/fd").iterdir())

    async def talk() -> None:
        before = sockets()
        async with SimServer(Script(faults=(read_fault(fault),))) as sim:
            clients = [Client(sim.port, patience=2.0) for _ in range(4)]
            for client in clients:
                await client.__aenter__()
            asks = (client.ask("POST", PATHS["chat"], asking("chat")) for client in clients)
            await asyncio.gather(*asks)
        assert [one.ending for one in sim.log if one.ending is Ending.OPEN] == []
        assert sim.open_connections == 0
        for client in clients:
            client.transport.abort()
        await asyncio.sleep(0.1)
        assert asyncio.all_tasks() == {asyncio.current_task()}
        assert sockets() == before

    run_virtual(talk())


def _target(link: Path) -> Path | None:
    try:
        return link.readlink()
    except FileNotFoundError:  # the one that listed the folder
        return None


def test_closing_under_a_waiting_client_says_so_in_the_log() -> None:
    async def talk() -> Ending:
        async with SimServer(Script(faults=(read_fault("stall"),))) as sim, asyncio.TaskGroup() as group:
            waiting = group.create_task(post(sim, "chat", asking("chat")))
            await asyncio.sleep(1)
            await sim.close()
            assert (await waiting).ended == "rst"
        return sim.log[0].ending

    assert run_virtual(talk()) is Ending.STOPPED


def test_a_program_without_a_loop_can_use_it_too() -> None:
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Hi"}]}).encode()
    with serving(Script(steps=(Final("Hello."),))) as sim:
        request = urllib.request.Request(f"{sim.url}/v1/chat/completions", body)
        with urllib.request.urlopen(request, timeout=10) as answer:
            said = json.load(answer)["choices"][0]["message"]["content"]
    assert (said, [one.ending for one in sim.log], sim.open_connections) == ("Hello.", [Ending.ANSWERED], 0)
    assert "headway sim" not in [thread.name for thread in threading.enumerate()]
