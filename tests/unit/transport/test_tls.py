"""Whom we trust: the system, a bundle, an extra certificate, or nobody at all; and what a refusal looks like."""

import ssl
from pathlib import Path

import pytest

from headway.failure import InvalidInput
from headway.transport import Cause, HttpClient, HttpRequest, Limits, Phase, TransportFailed, Trust, trust_from
from headway.transport.tls import client_context
from support.peers import CERTIFICATE, Leftovers, answer, peer, real_time


async def asked(trust: Trust, url: str) -> bytes:
    async with HttpClient(trust=trust) as client, client.stream(HttpRequest("GET", url), Limits()) as response:
        return await response.read(100)


@pytest.mark.parametrize(
    "trust",
    [Trust(ca_file=CERTIFICATE), Trust(extra_ca_file=CERTIFICATE), Trust(insecure=True)],
    ids=["bundle", "extra", "insecure"],
)
@real_time
async def test_a_peer_with_a_certificate_of_its_own_is_trusted_when_told_so(trust):
    async with peer(answer, tls=True) as one:
        assert await asked(trust, one.url) == b"hello"


@real_time
async def test_a_peer_with_a_certificate_of_its_own_is_refused_by_default():
    async with peer(answer, tls=True) as one:
        left = Leftovers(one)
        with pytest.raises(TransportFailed) as failed:
            await asked(Trust(), one.url)
        assert (failed.value.phase, failed.value.cause) == (Phase.TLS, Cause.CERTIFICATE)
        assert "self-signed certificate" in str(failed.value)
        await left.none_within()


@real_time
async def test_a_certificate_for_another_name_is_refused():
    async with peer(answer, tls=True, host="127.0.0.2") as one:
        with pytest.raises(TransportFailed, match=r"certificate of 127\.0\.0\.2") as failed:
            await asked(Trust(ca_file=CERTIFICATE), one.url)
        assert failed.value.cause is Cause.CERTIFICATE


@real_time
async def test_tls_spoken_to_a_peer_that_speaks_none_says_so():
    async def shout(talk):
        await talk.send(b"HTTP/1.1 400 plain HTTP here\r\n\r\n")

    async with peer(shout) as one:
        with pytest.raises(TransportFailed) as failed:
            await asked(Trust(), f"https://127.0.0.1:{one.port}")
    assert (failed.value.phase, failed.value.cause) == (Phase.TLS, Cause.HANDSHAKE)
    assert "wrong version number" in str(failed.value).lower().replace("_", " ")


@real_time
async def test_a_peer_that_leaves_during_the_handshake_is_a_break_in_tls():
    async def leave(talk):
        await talk.reader.read(10)

    async with peer(leave) as one:
        left = Leftovers(one)
        with pytest.raises(TransportFailed) as failed:
            await asked(Trust(), f"https://127.0.0.1:{one.port}")
        assert failed.value.phase is Phase.TLS
        assert failed.value.cause in {Cause.RESET, Cause.CLOSED_EARLY}
        await left.none_within()


def test_the_variables_of_other_tools_are_read():
    assert trust_from({}) == Trust()
    assert trust_from({"SSL_CERT_FILE": "a", "SSL_CERT_DIR": "b", "NODE_EXTRA_CA_CERTS": "c"}) == Trust("a", "b", "c")
    assert trust_from({"REQUESTS_CA_BUNDLE": "a.pem"}) == Trust(ca_file="a.pem")
    folder = str(Path(CERTIFICATE).parent)
    assert trust_from({"REQUESTS_CA_BUNDLE": folder}) == Trust(ca_directory=folder)


def test_the_system_is_trusted_and_names_are_checked_by_default():
    context = client_context(Trust())
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname


@pytest.mark.parametrize("field", ["ca_file", "extra_ca_file"])
def test_a_file_without_certificates_says_which_and_what_to_do(field, tmp_path):
    for name, content in {"missing.pem": None, "empty.pem": "", "wrong.pem": "hello"}.items():
        path = tmp_path / name
        if content is not None:
            path.write_text(content)
        with pytest.raises(InvalidInput, match="Name a PEM file") as failed:
            client_context(Trust(**{field: str(path)}))
        assert name in str(failed.value)


@real_time
async def test_a_file_without_certificates_is_a_failure_of_the_request(tmp_path):
    async with peer(answer, tls=True) as one:
        left = Leftovers(one)
        with pytest.raises(TransportFailed, match=r"missing\.pem") as failed:
            await asked(Trust(ca_file=str(tmp_path / "missing.pem")), one.url)
        assert failed.value.cause is Cause.INVALID
        await left.none_within()
