"""What the system says becomes facts in one place, and the classifier knows what to do with them."""

import errno
import pickle
import socket
import ssl

import pytest

from headway.failure import FailureKind, Where
from headway.recovery.failures.classify import classify
from headway.recovery.failures.facts import Facts
from headway.transport import Cause, Patience, Phase, Stall, Stalled, TransportFailed, facts_of
from headway.transport.errors import failure_of

STALL = Stall(Patience.SILENCE, 90.0, 90.04)


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"), Cause.REFUSED),
        (ConnectionResetError(errno.ECONNRESET, "Connection reset by peer"), Cause.RESET),
        (BrokenPipeError(errno.EPIPE, "Broken pipe"), Cause.RESET),
        (TimeoutError(errno.ETIMEDOUT, "Connection timed out"), Cause.TIMED_OUT),
        (OSError(errno.EHOSTUNREACH, "No route to host"), Cause.UNREACHABLE),
        (OSError(errno.ENETUNREACH, "Network is unreachable"), Cause.UNREACHABLE),
        (OSError(errno.EMFILE, "Too many open files"), Cause.EXHAUSTED),
        (OSError("odd"), Cause.OTHER),
        (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), Cause.NAME_UNKNOWN),
        (ssl.SSLCertVerificationError(1, "certificate verify failed"), Cause.CERTIFICATE),
        (ssl.SSLEOFError(8, "EOF occurred in violation of protocol"), Cause.CLOSED_EARLY),
        (ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER] wrong version number"), Cause.HANDSHAKE),
    ],
)
def test_every_error_of_the_system_has_a_cause_and_keeps_its_words(error, cause):
    failed = failure_of(error, Phase.TLS, "h")
    assert (failed.phase, failed.cause, failed.host) == (Phase.TLS, cause, "h")
    assert str(error) in str(failed)


def test_records_that_no_longer_decrypt_are_a_broken_connection():
    assert failure_of(ssl.SSLError(1, "bad record mac"), Phase.BODY, "h").cause is Cause.RESET


@pytest.mark.parametrize("cause", Cause)
def test_every_cause_is_a_sentence_for_a_person(cause):
    text = str(TransportFailed(Phase.CONNECT, cause, "api.example.com", "what the system said"))
    assert "what the system said" in text
    assert "{" not in text


@pytest.mark.parametrize("patience", Patience)
def test_every_stall_names_the_setting_that_ran_out(patience):
    text = str(Stalled(Stall(patience, 60.0, 61.23456), Phase.BODY, "api.example.com"))
    assert f"({patience.value} is 60)" in text
    assert "api.example.com" in text


@pytest.mark.parametrize(
    "failed", [TransportFailed(Phase.DNS, Cause.NAME_UNKNOWN, "h", "d"), Stalled(STALL, Phase.BODY, "h")]
)
def test_failures_survive_pickling(failed):
    again = pickle.loads(pickle.dumps(failed))
    assert (type(again), again.args, str(again)) == (type(failed), failed.args, str(failed))


@pytest.mark.parametrize(
    ("failed", "where", "kind"),
    [
        (
            TransportFailed(Phase.DNS, Cause.NAME_UNKNOWN, "h", "Name or service not known"),
            Where.DNS,
            FailureKind.UNREACHABLE,
        ),
        (
            TransportFailed(Phase.CONNECT, Cause.REFUSED, "h", "Connection refused"),
            Where.CONNECT,
            FailureKind.UNREACHABLE,
        ),
        (TransportFailed(Phase.CONNECT, Cause.UNREACHABLE, "h", "No route"), Where.CONNECT, FailureKind.UNREACHABLE),
        (Stalled(Stall(Patience.CONNECT, 10, 10), Phase.CONNECT, "h"), Where.CONNECT, FailureKind.UNREACHABLE),
        (Stalled(Stall(Patience.CONNECT, 10, 10), Phase.TLS, "h"), Where.TLS, FailureKind.UNREACHABLE),
        (TransportFailed(Phase.TLS, Cause.CERTIFICATE, "h", "self-signed"), Where.TLS, FailureKind.TLS_REFUSED),
        (
            TransportFailed(Phase.TLS, Cause.HANDSHAKE, "h", "wrong version number"),
            Where.TLS,
            FailureKind.MISCONFIGURED,
        ),
        (TransportFailed(Phase.TLS, Cause.RESET, "h", "reset"), Where.TLS, FailureKind.UNREACHABLE),
        (TransportFailed(Phase.PROXY, Cause.PROXY_REFUSED, "h", "502 no"), Where.CONNECT, FailureKind.UNREACHABLE),
        (TransportFailed(Phase.PREPARE, Cause.INVALID, "h", "bad"), Where.CONNECT, FailureKind.MISCONFIGURED),
        (TransportFailed(Phase.FIRST_BYTE, Cause.CLOSED_EARLY, "h"), Where.CONNECT, FailureKind.UNREACHABLE),
        (TransportFailed(Phase.FIRST_BYTE, Cause.PROTOCOL, "h"), Where.CONNECT, FailureKind.UNREACHABLE),
        (Stalled(Stall(Patience.FIRST_BYTE, 60, 60), Phase.FIRST_BYTE, "h"), Where.TIMEOUT, FailureKind.TIMED_OUT),
        (TransportFailed(Phase.BODY, Cause.RESET, "h", "reset"), Where.STREAM_EOF, FailureKind.STREAM_CUT),
        (TransportFailed(Phase.BODY, Cause.CLOSED_EARLY, "h"), Where.STREAM_EOF, FailureKind.STREAM_CUT),
        (TransportFailed(Phase.BODY, Cause.PROTOCOL, "h"), Where.STREAM_EOF, FailureKind.STREAM_CUT),
    ],
)
def test_the_classifier_understands_them(failed, where, kind):
    facts = facts_of(failed)
    assert facts["where"] is where
    assert classify(Facts(**facts)).kind is kind


def test_a_stall_in_the_body_says_so_by_its_code():
    facts = facts_of(Stalled(STALL, Phase.BODY, "h"))
    assert (facts["where"], facts["code"]) == (Where.TIMEOUT, "stream_stalled")
