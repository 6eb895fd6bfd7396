"""What to do next about a failure of a provider, in one line; what is known of the place makes it plain."""

from urllib.parse import urlsplit

from headway.cli.doctor.probing import Outcome, Probe
from headway.failure import Failure, FailureKind, Where
from headway.providers.models import models_of
from headway.providers.presets import preset_named
from headway.recovery.failures.policy import POLICIES
from headway.settings.reading import closest
from headway.transport.errors import Cause
from headway.transport.limits import is_local

_NO_CONTENT = "first_content"
_NO_BYTE = "first_byte"


def happened(failure: Failure) -> str:
    """Return what happened, without the general advice that may stand behind it."""
    return failure.reason.removesuffix(POLICIES[failure.kind].advice).rstrip()


def advice_for(probe: Probe, outcome: Outcome) -> str:
    """Return what to do next about a probe that failed."""
    failure = outcome.failure
    assert failure is not None, "who is well needs no advice"
    name, place = probe.link.provider.name, _place(probe)
    match failure.kind:
        case FailureKind.BAD_KEY if not probe.key:
            return f'It wants a key, and none was sent: write keys = ["env:NAME"] into [providers.{name}].'
        case FailureKind.BAD_KEY:
            return f"{probe.key} holds a key, but not one for {_host(probe)}: copy it again, whole, from your account."
        case FailureKind.MODEL_UNAVAILABLE:
            return _other_model(probe)
        case FailureKind.UNREACHABLE:
            return _unreachable(probe, failure)
        case FailureKind.TLS_REFUSED:
            return (
                "If a proxy of your company inspects traffic, set NODE_EXTRA_CA_CERTS to its certificate (a PEM file); "
                "if not, check this machine's certificates and its clock."
            )
        case FailureKind.STALLED | FailureKind.TIMED_OUT:
            return _quiet(name, outcome.reached)
        case FailureKind.NOT_A_STREAM if not place:
            return (
                f"Log in to this network, if it wants that, or check the proxy: no API answers as {_host(probe)} here."
            )
        case FailureKind.NOT_A_STREAM:
            return f"Check that {place} points to the API itself, not to a page or a login: {_shown_url(probe)}"
        case _:
            return POLICIES[failure.kind].advice or "Try again; if it lasts, add a second provider to the chain."


def _place(probe: Probe) -> str:
    """Return the setting that holds the address; empty if it is the usual one, which nobody wrote."""
    provider = probe.link.provider
    usual = preset_named(provider.name, provider.wire)
    return "" if usual is not None and usual.base_url == provider.base_url else f"`providers.{provider.name}.base_url`"


def _unreachable(probe: Probe, failure: Failure) -> str:
    host, place = _host(probe), _place(probe)
    if failure.where is Where.DNS:
        name = f"the name in {place}, and " if place else ""
        return f"Check {name}the network: nobody here knows {host}. `headway demo` needs no network."
    if failure.code == Cause.REFUSED.value and is_local(host):
        elsewhere = f", or check {place}" if place else ""
        return f"Start the server at {_origin(probe)} (the simulator: `headway sim`){elsewhere}."
    if failure.code == Cause.PROXY_REFUSED.value:
        return "Check the proxy in HTTPS_PROXY and its login, or name the host in NO_PROXY."
    places = f"the network, a firewall, and {place}" if place else "the network and its firewall"
    return f"Check {places}; where only a proxy leads out, set HTTPS_PROXY."


def _quiet(name: str, reached: str) -> str:
    if reached == _NO_CONTENT:
        return (
            "It is connected, but does not speak: add a second provider to the chain, or, if it only thinks for long, "
            f"raise `providers.{name}.limits.first_content_seconds`."
        )
    if reached == _NO_BYTE:
        return (
            "It took the request and does not answer: add a second provider to the chain, or raise "
            f"`providers.{name}.limits.first_byte_seconds`."
        )
    return "No connection comes about: check the network, a firewall, and HTTPS_PROXY."


def _other_model(probe: Probe) -> str:
    near = closest(probe.link.model, models_of(probe.link.provider.vendor))
    meant = f' Did you mean "{probe.link.provider.name}/{near}"?' if near and near != probe.link.model else ""
    return f"Check the model's name in the chain, and that your account may use it.{meant}"


def _host(probe: Probe) -> str:
    return urlsplit(probe.endpoint.url).hostname or probe.link.provider.name


def _origin(probe: Probe) -> str:
    parts = urlsplit(probe.endpoint.url)
    return f"{parts.scheme}://{parts.netloc}"


def _shown_url(probe: Probe) -> str:
    """Return the address without what may be a secret in its query."""
    parts = urlsplit(probe.endpoint.url)
    return f"{parts.scheme}://{parts.netloc}{parts.path}"
