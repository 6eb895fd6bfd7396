"""Requests to bytes: exactly what was asked, and nothing that could be read as more than one request."""

import pytest

from headway.transport import Cause, HttpRequest, Phase, TransportFailed
from headway.transport.message import head_of, target_of


def written(request: HttpRequest, **kwargs) -> bytes:
    return head_of(request, target_of(request.url), **({"through_proxy": False} | kwargs))


def test_a_request_is_written_as_the_caller_spelled_it():
    request = HttpRequest(
        "POST", "https://api.example.com/v1/x?a=1", (("X-Api-Key", "k"), ("content-type", "json")), b"{}"
    )
    assert written(request) == (
        b"POST /v1/x?a=1 HTTP/1.1\r\nHost: api.example.com\r\nX-Api-Key: k\r\ncontent-type: json\r\n"
        b"Accept-Encoding: identity\r\nUser-Agent: headway\r\nContent-Length: 2\r\n\r\n"
    )


def test_what_the_caller_says_about_itself_is_not_said_twice():
    headers = (("host", "other"), ("ACCEPT-ENCODING", "gzip"), ("User-agent", "me"))
    assert written(HttpRequest("GET", "http://h", headers)) == (
        b"GET / HTTP/1.1\r\nhost: other\r\nACCEPT-ENCODING: gzip\r\nUser-agent: me\r\n\r\n"
    )


def test_a_proxy_gets_the_whole_address_and_its_own_login():
    head = written(HttpRequest("GET", "http://h:8080/p"), through_proxy=True, proxy_authorization="Basic eA==")
    assert head.startswith(b"GET http://h:8080/p HTTP/1.1\r\nHost: h:8080\r\n")
    assert b"\r\nProxy-Authorization: Basic eA==\r\n" in head


@pytest.mark.parametrize(
    ("url", "host", "port", "path", "authority"),
    [
        ("http://example.com", "example.com", 80, "/", "example.com"),
        ("https://example.com:443/a/b", "example.com", 443, "/a/b", "example.com"),
        ("https://EXAMPLE.com:8443", "example.com", 8443, "/", "example.com:8443"),
        ("http://[::1]:11434/v1", "::1", 11434, "/v1", "[::1]:11434"),
        ("http://h/a b?q=ü#frag", "h", 80, "/a%20b?q=%C3%BC", "h"),
        ("http://h/a%20b%2F?x=%25", "h", 80, "/a%20b%2F?x=%25", "h"),
        ("http://bücher.example/", "xn--bcher-kva.example", 80, "/", "xn--bcher-kva.example"),
    ],
)
def test_where_a_url_leads(url, host, port, path, authority):
    target = target_of(url)
    assert (target.host, target.port, target.path, target.authority) == (host, port, path, authority)


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("ftp://h/", "unsupported protocol"),
        ("example.com/v1", "unsupported protocol"),
        ("", "unsupported protocol"),
        ("http://", "names no host"),
        ("http://h:99999/", "invalid URL"),
        ("http://h:port/", "invalid URL"),
        ("http://[::1/", "invalid URL"),
        ("https://user:secret@h/", "credentials"),
    ],
)
def test_a_url_that_cannot_be_requested_says_why(url, says):
    with pytest.raises(TransportFailed, match=says) as failed:
        target_of(url)
    assert (failed.value.phase, failed.value.cause) == (Phase.PREPARE, Cause.INVALID)
    assert "secret" not in str(failed.value)


@pytest.mark.parametrize(
    "headers",
    [
        (("x-key", "secret\r\nx-more: 1"),),
        (("x-key", "secret\n"),),
        (("x-key", "secret\x00"),),
        (("x key", "secret"),),
        (("x-key:", "secret"),),
        (("", "secret"),),
        (("x-key", "secret→"),),
        (("Content-Length", "secret"),),
        (("transfer-encoding", "chunked"),),
    ],
)
def test_a_header_that_would_break_the_framing_is_refused_without_showing_its_value(headers):
    with pytest.raises(TransportFailed, match="illegal header") as failed:
        written(HttpRequest("GET", "http://h/", headers))
    assert "secret" not in str(failed.value)


def test_a_method_that_would_break_the_framing_is_refused():
    with pytest.raises(TransportFailed, match="illegal method"):
        written(HttpRequest("GET / HTTP/1.1\r\nx:", "http://h/"))
