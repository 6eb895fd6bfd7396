"""Servers at an address: real sockets on a loop whose hours pass in milliseconds."""

import asyncio
import json

import pytest

from headway.agent.mcp.spec import ServerSpec
from headway.providers.secret import Secret
from support.mcp import hand
from support.peers import CHUNKED, LAST_CHUNK, chunk, peer, sized, virtual_time

SESSION = "mcp-session-id: abc"
JSON = "content-type: application/json"
TOOLS = [{"name": name, "inputSchema": {"type": "object"}} for name in ("echo", "cut", "hang", "ask", "flood")]


def event(message, *lines):
    return chunk("".join(f"{line}\n" for line in (*lines, f"data: {json.dumps(message)}", "")).encode() + b"\n")


class Endpoint:
    """A server over HTTP that does as each method's entry in `manners` says."""

    def __init__(self, **manners):
        self.manners = manners
        self.seen = []
        """Method of HTTP, method of the message, and the headers."""
        self.forget = False

    async def __call__(self, talk):
        while True:
            head, _, body = (await talk.request()).partition(b"\r\n\r\n")
            first, *lines = head.decode("latin-1").split("\r\n")
            headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
            message = json.loads(body) if body else {}
            method = message.get("method", "")
            self.seen.append((first.split()[0], method, headers))
            if self.forget and "mcp-session-id" in headers:
                self.forget = False
                await talk.send(sized(b"", "404 Not Found"))
                continue
            if method in self.manners:
                await self.manners[method](talk, message)
            elif first.startswith("GET"):
                await self.manners["GET"](talk, headers)
            elif "id" not in message or first.startswith("DELETE"):
                await talk.send(sized(b"", "202 Accepted"))
            else:
                await talk.send(self.answer(message))

    def answer(self, message):
        match message["method"]:
            case "initialize":
                version = message["params"]["protocolVersion"]
                info = {"name": "house", "version": "2"}
                result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
            case "tools/list":
                result = {"tools": TOOLS}
            case _:
                result = {"content": [{"type": "text", "text": f"called {message['params']['name']}"}]}
        whole = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        return sized(json.dumps(whole).encode(), "200 OK", "content-type: application/json", SESSION)

    def methods(self):
        return [f"{http} {method}".strip() for http, method, _ in self.seen]


def spec(there, **given):
    return ServerSpec("h", url=f"{there.url}/mcp", **given)


def reply(message, text):
    return {"jsonrpc": "2.0", "id": message["id"], "result": {"content": [{"type": "text", "text": text}]}}


@virtual_time
async def test_a_session_is_opened_used_and_said_good_bye_to(tmp_path):
    endpoint = Endpoint()
    key = Secret("token-5678-abcdef", "env:T")
    async with peer(endpoint) as there:
        given = {"headers": (("authorization", "Bearer token-5678-abcdef"),), "secrets": {"env:T": key}}
        async with hand(tmp_path, spec(there, **given)) as user:
            assert (await user.call("h__echo")).text == "called echo"
        assert endpoint.methods() == [
            "POST initialize",
            "POST notifications/initialized",
            "POST tools/list",
            "POST tools/call",
            "DELETE",
        ]
        first, *others = [headers for _, _, headers in endpoint.seen]
        assert "mcp-session-id" not in first
        assert all(one["mcp-session-id"] == "abc" for one in others)
        assert all(one["mcp-protocol-version"] == "2025-11-25" for one in others)
        assert all(one["authorization"] == "Bearer token-5678-abcdef" for one in (first, *others))
        assert there.accepted == 1, "one connection carried it all"


@virtual_time
async def test_a_stream_brings_requests_and_notices_before_the_answer(tmp_path):
    heard = []

    async def call(talk, message):
        asked = {"jsonrpc": "2.0", "id": 7, "method": "sampling/createMessage", "params": {}}
        token = message["params"]["_meta"]["progressToken"]
        told = {
            "jsonrpc": "2.0",
            "method": "notifications/progress",
            "params": {"progressToken": token, "message": "so far"},
        }
        await talk.send(CHUNKED + chunk(b": hello\n\n") + event(asked) + event(told))
        await asyncio.sleep(600)
        await talk.send(event(reply(message, "at last")) + LAST_CHUNK)

    async def refused(talk, message):
        heard.append(message["error"]["code"])
        await talk.send(sized(b"", "202 Accepted"))

    async with (
        peer(Endpoint(**{"tools/call": call, "": refused})) as there,
        hand(tmp_path, spec(there, call_seconds=900)) as user,
    ):
        assert (await user.call("h__ask")).text == "at last"
        assert user.printed == ["so far\n"]
    assert heard == [-32601]


@virtual_time
async def test_a_stream_that_breaks_off_is_taken_up_where_it_was_and_the_call_is_not_made_again(tmp_path):
    calls = []

    async def call(talk, message):
        calls.append(message)
        await talk.send(CHUNKED + chunk(b"id: e1\nretry: 50\ndata:\n\n"))
        talk.reset()

    async def resume(talk, headers):
        assert headers["last-event-id"] == "e1"
        await talk.send(CHUNKED + event(reply(calls[0], "whole"), "id: e2") + LAST_CHUNK)

    endpoint = Endpoint(**{"tools/call": call, "GET": resume})
    async with peer(endpoint) as there, hand(tmp_path, spec(there)) as user:
        assert (await user.call("h__cut")).text == "whole"
        assert len(calls) == 1


@virtual_time
async def test_an_answer_that_ends_too_soon_is_an_error_with_an_unknown_outcome(tmp_path):
    async def call(talk, message):
        await talk.send(CHUNKED + chunk(b": nothing yet\n\n") + LAST_CHUNK)

    async with peer(Endpoint(**{"tools/call": call})) as there, hand(tmp_path, spec(there)) as user:
        cut = await user.call("h__cut")
        assert cut.is_error
        assert "its answer ended before it was whole" in cut.text
        assert "not known" in cut.text


@virtual_time
async def test_a_call_that_hangs_ends_by_its_limit_is_taken_back_and_its_socket_closed(tmp_path):
    async def call(talk, message):
        await talk.send(CHUNKED + chunk(b": wait\n\n"))
        await talk.gone()

    endpoint = Endpoint(**{"tools/call": call})
    async with peer(endpoint) as there, hand(tmp_path, spec(there, call_seconds=60)) as user:
        await user.names()
        began = asyncio.get_running_loop().time()
        hung = await user.call("h__hang")
        assert "given up: nothing came within 60 s" in hung.text
        assert 60 <= asyncio.get_running_loop().time() - began < 61
        assert there.farewells == ["reset"]
        assert endpoint.methods()[-1] == "POST notifications/cancelled"


@virtual_time
async def test_a_server_that_has_forgotten_the_session_gets_a_new_one_and_the_call_once(tmp_path):
    endpoint = Endpoint()
    async with peer(endpoint) as there, hand(tmp_path, spec(there)) as user:
        await user.names()
        endpoint.forget = True
        assert (await user.call("h__echo")).text == "called echo"
        assert endpoint.methods().count("POST initialize") == 2


@virtual_time
async def test_a_list_that_may_have_changed_is_asked_for_anew_and_the_old_one_holds_if_nobody_answers(tmp_path):
    tools = [TOOLS[0]]

    async def greet(talk, message):
        able = {"tools": {"listChanged": True}}
        result = {"protocolVersion": "2025-06-18", "capabilities": able, "serverInfo": {"name": "x", "version": "1"}}
        await talk.send(sized(json.dumps({"id": message["id"], "result": result}).encode(), "200 OK", JSON))

    async def listed(talk, message):
        if not tools:
            return await talk.gone()
        body = json.dumps({"id": message["id"], "result": {"tools": tools}}).encode()
        return await talk.send(sized(body, "200 OK", JSON))

    endpoint = Endpoint(**{"initialize": greet, "tools/list": listed})
    async with peer(endpoint) as there, hand(tmp_path, spec(there)) as user:
        assert await user.names() == ["h__echo"]
        tools.append(TOOLS[1])
        assert await user.names() == ["h__echo"], "it was asked a moment ago"
        await asyncio.sleep(60)
        assert await user.names() == ["h__echo", "h__cut"]
        await asyncio.sleep(60)
        tools.clear()
        assert await user.names() == ["h__echo", "h__cut"]
        assert user.said == []


@virtual_time
async def test_a_server_without_a_handshake_is_spoken_to_without_one(tmp_path):
    async def refuse(talk, message):
        error = {"code": -32022, "message": "Unsupported protocol version", "data": {"supported": ["2026-07-28"]}}
        body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}).encode()
        await talk.send(sized(body, "400 Bad Request", "content-type: application/json"))

    async def discover(talk, message):
        result = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "serverInfo": {"name": "new"}}
        body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()
        await talk.send(sized(body, "200 OK", "content-type: application/json"))

    async def call(talk, message):
        meta = message["params"]["_meta"]
        assert meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
        await talk.send(CHUNKED + event(reply(message, "new ways")) + LAST_CHUNK)

    endpoint = Endpoint(**{"initialize": refuse, "server/discover": discover, "tools/call": call})
    async with peer(endpoint) as there, hand(tmp_path, spec(there)) as user:
        assert (await user.call("h__echo")).text == "new ways"
        _, _, headers = endpoint.seen[-1]
        assert (headers["mcp-method"], headers["mcp-name"]) == ("tools/call", "echo")
        assert headers["mcp-protocol-version"] == "2026-07-28"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (sized(b"", "401 Unauthorized", 'www-authenticate: Bearer realm="x"'), "Bearer env:NAME"),
        (sized(b"", "307 Temporary Redirect", "location: https://elsewhere/mcp"), "https://elsewhere/mcp"),
        (sized(b"<html>", "404 Not Found", "content-type: text/html"), "it often ends in /mcp"),
        (sized(b"hello", "200 OK", "content-type: text/plain"), "which is no answer to a request"),
        (sized(b"oh", "503 Unavailable"), "it answered 503: oh"),
        (sized(b"[]", "200 OK", "content-type: application/json"), "which is no answer to a request"),
    ],
)
@virtual_time
async def test_who_does_not_answer_as_a_server_would_is_left_out_with_the_way_out(tmp_path, answer, said):
    async def greet(talk, message):
        await talk.send(answer)

    async with peer(Endpoint(initialize=greet)) as there, hand(tmp_path, spec(there)) as user:
        assert await user.names() == []
        (words,) = user.said
        assert said in words


@virtual_time
async def test_nobody_there_and_nobody_answering_are_told_apart_in_time(tmp_path):
    async def never(talk):
        await talk.request()
        await talk.gone()

    async with peer(never) as there:
        nobody = ServerSpec("n", url="http://127.0.0.1:1/mcp")
        async with hand(tmp_path, spec(there, start_seconds=30), nobody) as user:
            assert await user.names() == []
            assert asyncio.get_running_loop().time() < 40
        hung, refused = sorted(user.said)
        assert "nothing came within 30 s (handshake)" in hung
        assert "nothing listens there" in refused
        assert there.sockets == 0
