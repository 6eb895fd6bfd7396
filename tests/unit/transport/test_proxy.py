"""Proxies by the usual variables: which one is chosen, and how it is asked, over real sockets."""

import asyncio
import base64
from contextlib import suppress

import pytest

from headway.failure import InvalidInput
from headway.transport import Cause, HttpClient, HttpRequest, Limits, Phase, Stalled, TransportFailed, Trust
from headway.transport.proxy import Proxy, proxy_for, read_proxy
from support.peers import CERTIFICATE, Leftovers, Talk, answer, black_hole, peer, real_time, says, sized, virtual_time

CORPORATE = Proxy("http", "proxy.corp", 3128)
USUAL = {"HTTP_PROXY": "http://proxy.corp:3128", "HTTPS_PROXY": "http://proxy.corp:3128"}


@pytest.mark.parametrize(
    ("environment", "chosen"),
    [
        ({}, None),
        (USUAL, CORPORATE),
        ({"https_proxy": "proxy.corp:3128"}, CORPORATE),
        ({"HTTPS_PROXY": "http://other", "https_proxy": "http://proxy.corp:3128"}, CORPORATE),
        ({"ALL_PROXY": "http://proxy.corp:3128"}, CORPORATE),
        ({"ALL_PROXY": "http://other", "HTTPS_PROXY": "http://proxy.corp:3128"}, CORPORATE),
        ({"HTTP_PROXY": "http://proxy.corp:3128"}, None),
        ({"HTTPS_PROXY": "  "}, None),
        ({"HTTPS_PROXY": "socks5h://u:p%40ss@socks"}, Proxy("socks5h", "socks", 1080, "u", "p@ss")),
    ],
)
def test_which_proxy_an_https_request_takes(environment, chosen):
    assert proxy_for("https", "api.example.com", 443, environment) == chosen


@pytest.mark.parametrize(
    ("no_proxy", "host", "direct"),
    [
        ("example.com", "example.com", True),
        ("example.com", "api.example.com", True),
        (".example.com", "api.example.com", True),
        ("*.example.com", "api.example.com", True),
        ("example.com", "notexample.com", False),
        ("other.com, example.com", "api.example.com", True),
        ("other.com example.com", "api.example.com", True),
        ("EXAMPLE.com", "api.example.COM", True),
        ("example.com:443", "example.com", True),
        ("example.com:8443", "example.com", False),
        ("*", "anything.at.all", True),
        ("10.0.0.0/8", "10.1.2.3", True),
        ("10.0.0.0/8", "11.1.2.3", False),
        ("192.168.1.7", "192.168.1.7", True),
        ("fd00::/8", "fd00::1", True),
        ("", "example.com", False),
        (",", "example.com", False),
    ],
)
def test_what_no_proxy_excepts(no_proxy, host, direct):
    assert (proxy_for("https", host, 443, USUAL | {"NO_PROXY": no_proxy}) is None) is direct


@pytest.mark.parametrize("host", ["localhost", "api.localhost", "127.0.0.1", "127.8.8.8", "::1"])
def test_this_machine_is_never_reached_through_a_proxy(host):
    assert proxy_for("http", host, 8320, USUAL) is None


def test_in_a_cgi_process_a_clients_header_is_not_a_setting():
    environment = {"HTTP_PROXY": "http://evil", "REQUEST_METHOD": "GET"}
    assert proxy_for("http", "example.com", 80, environment) is None


@pytest.mark.parametrize("url", ["ftp://proxy", "http://", "http://proxy:port", "socks4://proxy"])
def test_an_address_that_is_no_proxys_says_what_to_write(url):
    with pytest.raises(InvalidInput, match="Write it as"):
        read_proxy(url)


@real_time
async def test_a_proxy_that_cannot_be_used_is_a_failure_of_the_request():
    async with HttpClient(environment={"HTTP_PROXY": "gopher://x"}) as client:
        with pytest.raises(TransportFailed, match="no kind of proxy") as failed:
            async with client.stream(HttpRequest("GET", "http://peer.test/")):
                pass
    assert (failed.value.phase, failed.value.cause) == (Phase.PREPARE, Cause.INVALID)


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()


async def relay(talk: Talk, port: int) -> None:
    """Carry bytes both ways between the client and a port here."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        await asyncio.gather(pump(talk.reader, writer), pump(reader, talk.writer))
    finally:
        writer.close()


def connecting_to(port: int):
    async def script(talk: Talk) -> None:
        await talk.request()
        await talk.send(b"HTTP/1.1 200 Connection established\r\nvia: test\r\n\r\n")
        await relay(talk, port)

    return script


def socks_to(port: int, *, login: bytes = b"", refusal: int = 0, kind: bytes = b"\x01\0\0\0\0"):
    async def script(talk: Talk) -> None:
        _, count = await talk.reader.readexactly(2)
        methods = await talk.reader.readexactly(count)
        method = 2 if login else 0
        await talk.send(bytes([5, method if method in methods else 255]))
        if login:
            said = await talk.reader.readexactly(len(login))
            talk.peer.requests.append(said)
            await talk.send(bytes([1, said != login]))
        asked = await talk.reader.readexactly(5 + len("peer.test") + 2)
        talk.peer.requests.append(asked)
        await talk.send(bytes([5, refusal, 0]) + kind + b"\0\0")
        if not refusal:
            await relay(talk, port)

    return script


async def hang_up(talk: Talk) -> None:
    await talk.reader.readexactly(3)


async def asked(client: HttpClient, url: str) -> bytes:
    async with client.stream(HttpRequest("GET", url), Limits()) as response:
        return await response.read(1000)


def through(proxy_url: str) -> HttpClient:
    return HttpClient(trust=Trust(ca_file=CERTIFICATE), environment={"ALL_PROXY": proxy_url})


@real_time
async def test_plain_requests_are_handed_to_the_proxy_whole():
    async with peer(answer) as proxy, through(proxy.url.replace("//", "//me:s3cret@")) as client:
        assert await asked(client, "http://peer.test:8080/v1?x=1") == b"hello"
        assert await asked(client, "http://peer.test:8080/v2") == b"hello"
        head = proxy.requests[0]
        assert head.startswith(b"GET http://peer.test:8080/v1?x=1 HTTP/1.1\r\nHost: peer.test:8080\r\n")
        assert b"Proxy-Authorization: Basic " + base64.b64encode(b"me:s3cret") in head
        assert proxy.accepted == 1


@pytest.mark.parametrize("proxy_tls", [False, True], ids=["http proxy", "https proxy"])
@real_time
async def test_https_goes_through_a_tunnel_that_the_proxy_cannot_read(proxy_tls):
    async with peer(answer, tls=True) as one, peer(connecting_to(one.port), tls=proxy_tls) as proxy:
        async with through(proxy.url.replace("//", "//me:s3cret@")) as client:
            for _ in range(2):
                assert await asked(client, "https://peer.test/v1") == b"hello"
        assert (proxy.accepted, one.accepted, len(one.requests)) == (1, 1, 2)
        assert proxy.requests[0].startswith(b"CONNECT peer.test:443 HTTP/1.1\r\nHost: peer.test:443\r\n")
        assert b"Proxy-Authorization: Basic " + base64.b64encode(b"me:s3cret") in proxy.requests[0]
        assert b"Proxy-Authorization" not in one.requests[0]


@pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])
@pytest.mark.parametrize("kind", [b"\x01\0\0\0\0", b"\x03\x04name", b"\x04" + bytes(16)], ids=["v4", "name", "v6"])
@real_time
async def test_a_socks_proxy_carries_both_and_resolves_the_name_itself(tls, kind):
    async with peer(answer, tls=tls) as one, peer(socks_to(one.port, kind=kind)) as proxy:
        async with through(f"socks5h://127.0.0.1:{proxy.port}") as client:
            port = 443 if tls else 80
            assert await asked(client, f"{'https' if tls else 'http'}://peer.test/v1") == b"hello"
        assert proxy.requests == [b"\x05\x01\x00\x03\x09peer.test" + port.to_bytes(2, "big")]
        assert one.requests[0].startswith(b"GET /v1 HTTP/1.1\r\n")


@real_time
async def test_a_socks_proxy_gets_its_login():
    login = b"\x01\x02me\x06s3cret"
    async with peer(answer) as one, peer(socks_to(one.port, login=login)) as proxy:
        async with through(f"socks5://me:s3cret@127.0.0.1:{proxy.port}") as client:
            assert await asked(client, "http://peer.test/v1") == b"hello"
        assert proxy.requests[0] == login


async def refused(script, scheme: str = "http", url: str = "https://peer.test/") -> TransportFailed:
    async with peer(script) as proxy, through(f"{scheme}://127.0.0.1:{proxy.port}") as client:
        left = Leftovers(proxy)
        with pytest.raises(TransportFailed) as failed:
            await asked(client, url)
        await left.none_within()
    assert (failed.value.phase, failed.value.host) == (Phase.PROXY, "peer.test")
    return failed.value


@pytest.mark.parametrize(
    ("said", "cause", "words"),
    [
        (sized(b"", "407 Proxy Authentication Required"), Cause.PROXY_REFUSED, "proxy authentication required"),
        (sized(b"", "502 Bad Gateway"), Cause.PROXY_REFUSED, "tunnel connection failed: 502 Bad Gateway"),
        (b"not a proxy\r\n\r\n", Cause.PROTOCOL, "not HTTP"),
        (b"x" * 40_000, Cause.PROTOCOL, "no end"),
        (b"HTTP/1.1 200 OK\r\n\r\nsurplus", Cause.PROTOCOL, "more than was asked"),
        (b"HTTP/1.1 200", Cause.CLOSED_EARLY, ""),
    ],
    ids=["407", "502", "rubbish", "endless", "surplus", "cut"],
)
@real_time
async def test_a_proxy_that_opens_no_tunnel_is_understood(said, cause, words):
    failed = await refused(says(said))
    assert failed.cause is cause
    assert words in failed.detail


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (socks_to(1, login=b"\x01\x01x\x01y"), "login"),
        (socks_to(1, refusal=2), "its rules do not allow it"),
        (socks_to(1, refusal=99), "code 99"),
        (hang_up, ""),
    ],
    ids=["login wanted", "rules", "unknown", "gone"],
)
@real_time
async def test_a_socks_proxy_that_opens_no_way_is_understood(script, words):
    assert words in (await refused(script, "socks5")).detail


@pytest.mark.parametrize("scheme", ["http", "socks5"])
@virtual_time
async def test_a_proxy_that_never_answers_is_given_up_by_the_limit_for_connecting(scheme):
    failed = await refused(black_hole, scheme)
    assert isinstance(failed, Stalled)
    assert 10 <= asyncio.get_running_loop().time() < 10.5


@pytest.mark.parametrize("scheme", ["http", "socks5"])
@real_time
async def test_a_cancel_at_any_step_through_a_proxy_leaves_nothing(scheme):
    left = Leftovers()
    async with peer(answer, tls=True) as one:
        script = connecting_to(one.port) if scheme == "http" else socks_to(one.port)
        async with peer(script) as proxy, through(f"{scheme}://127.0.0.1:{proxy.port}") as client:
            for step in range(0, 60, 2):
                task = asyncio.create_task(asked(client, "https://peer.test/"))
                for _ in range(step):
                    await asyncio.sleep(0)
                task.cancel()
                await asyncio.wait([task])
            assert not client.streams
    await left.none_within()
