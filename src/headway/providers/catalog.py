"""What is known about one provider, as data: where it is, how it wants to be asked, and what it cannot take.

Everything a provider does differently is a field here; nobody asks for its name. `presets.py` fills the fields in.
"""

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit

from msgspec import Struct

from headway.dialect import DIALECTS, Dialect
from headway.messages import WireName
from headway.providers.secret import Secret
from headway.wire.table import wire_named

_IN_THE_BACKGROUND = (("background", True), ("store", True))
_CAPS = ("max_completion_tokens", "max_tokens")


class Auth(Enum):
    """Where a key stands in a request."""

    NONE = "none"
    BEARER = "bearer"
    X_API_KEY = "x-api-key"
    API_KEY = "api-key"
    OAUTH = "oauth"
    """A bearer, together with the beta that OAuth tokens need."""


class KeyVariable(Struct, frozen=True):
    """An environment variable in which people keep a key, and where such a key stands if not in the usual place."""

    name: str
    auth: Auth | None = None


class Provider(Struct, frozen=True, kw_only=True):
    """One endpoint."""

    name: str
    wire: WireName
    dialect: Dialect
    """What its histories must look like."""
    base_url: str = ""
    """Empty: it has no address of its own, and one must be given."""
    root: str = "/v1"
    """What a base URL that is only a host lacks."""
    version: str = ""
    """A last segment that base URLs of this wire are usually written without."""
    path: str = ""
    """The endpoint below the base URL, when it is not the wire's own; `{model}` stands for the model."""
    hosts: tuple[str, ...] = ()
    """Its other hosts; one that begins with a dot stands for all below it."""
    vendor: str = ""
    """Whose words its errors are in, and whose models it has; empty is nobody in particular."""

    auth: Auth = Auth.BEARER
    key_variables: tuple[KeyVariable, ...] = ()
    url_variables: tuple[str, ...] = ()
    """The environment variables in which people keep the base URL."""
    headers: tuple[tuple[str, str], ...] = ()
    beta_header: str = ""
    betas: tuple[str, ...] = ()
    oauth_prefix: str = ""
    """How its OAuth tokens begin; they are sent as such wherever they are found."""
    oauth_beta: str = ""

    output_cap: str = ""
    """Its word for the cap on output, where it knows only one of them."""
    stream_usage: bool = True
    """Does it take the wish for usage at the end of a stream?"""
    streams_only: bool = False
    """Are replies that do not stream refused, at least from models that think?"""
    body: tuple[tuple[str, Any], ...] = ()
    """What every request has that does not say otherwise."""
    prefills: bool = False
    """Can a model here go on from assistant text, if the model itself can?"""
    reattaches: bool = False
    """Can a broken generation be taken up again on the server?"""
    reattach_body: tuple[tuple[str, Any], ...] = ()
    """What a request must have for that; empty where the wire has no way to do it."""
    local: bool = False
    """Is it a server of one's own: no key, no bill, more patience?"""
    model: str = ""
    """The model to ask when nobody names one."""


def custom(name: str, wire: WireName, base_url: str, *, local: bool = False) -> Provider:
    """Return an endpoint that only follows a wire. Its thinking counts as the wire's, as it may stand for anybody."""
    messages = wire == "anthropic"
    return Provider(
        name=name,
        wire=wire,
        dialect=DIALECTS[wire],
        base_url=base_url,
        root="" if messages else "/v1",
        version="/v1" if messages else "",
        auth=Auth.X_API_KEY if messages else Auth.BEARER,
        headers=(("anthropic-version", "2023-06-01"),) if messages else (),
        beta_header="anthropic-beta" if messages else "",
        output_cap="max_tokens" if wire == "chat" else "",
        prefills=messages,
        reattach_body=_IN_THE_BACKGROUND if wire == "responses" else (),
        local=local,
    )


def endpoint(provider: Provider, model: str = "") -> str:
    """Return the URL that requests are sent to, however much of it the base URL already says."""
    own = wire_named(provider.wire).path
    scheme, host, base, query, _ = urlsplit(provider.base_url)
    base = base.rstrip("/").removesuffix(own) or provider.root
    if provider.version and not base.endswith(provider.version):
        base += provider.version
    below, _, asked = (provider.path or own).partition("?")
    path = base + below.replace("{model}", quote(model, safe=""))
    return urlunsplit((scheme, host, path, "&".join(filter(None, (query, asked))), ""))


def request_headers(
    provider: Provider, key: Secret | None = None, *, betas: Iterable[str] = ()
) -> tuple[tuple[str, str], ...]:
    """Return the headers of a request; the same for a reconnect as for the first, betas and all.

    `betas` are those that a client asked for itself.
    """
    secret = key.reveal() if key is not None else ""
    auth = _auth_for(provider, secret)
    wanted = [*provider.betas, *betas]
    if auth is Auth.OAUTH:
        wanted.append(provider.oauth_beta)
    names = ",".join(dict.fromkeys(name for beta in wanted for name in beta.replace(" ", "").split(",") if name))
    headers = [("content-type", "application/json"), *provider.headers]
    if names and provider.beta_header:
        headers.append((provider.beta_header, names))
    if auth in {Auth.BEARER, Auth.OAUTH}:
        headers.append(("authorization", f"Bearer {secret}"))
    elif auth is not Auth.NONE:
        headers.append((auth.value, secret))
    return tuple(headers)


def _auth_for(provider: Provider, secret: str) -> Auth:
    """Say where this key stands; never in two places, which is refused as no key at all."""
    if not secret:
        return Auth.NONE
    if provider.oauth_prefix and secret.startswith(provider.oauth_prefix) and provider.auth is not Auth.NONE:
        return Auth.OAUTH
    return provider.auth


def extra_body(provider: Provider, asked: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return what requests have here beyond what the wire says; whoever wants nothing kept there gets nothing kept."""
    said = asked or {}
    willing = provider.reattaches and all(said.get(name, value) == value for name, value in provider.reattach_body)
    return {**dict(provider.body), **(dict(provider.reattach_body) if willing else {})}


def body_for(provider: Provider, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a rendered body in the words that this endpoint knows; the one that was given is left as it is."""
    fitted = {**extra_body(provider, body), **body}
    if provider.output_cap:
        said = [fitted.pop(word) for word in _CAPS if fitted.get(word) is not None]
        if said:
            fitted[provider.output_cap] = said[0]
    if not provider.stream_usage:
        fitted.pop("stream_options", None)
    return fitted
