"""One place a request can go to: a provider and a model, ready to be asked, whatever made it."""

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from msgspec import Struct

from headway.dialect import Dialect
from headway.events import Usage
from headway.recovery.ledger import Upstream
from headway.transport.limits import Overrides


class Endpoint(Struct, frozen=True):
    """A provider and a model. The headers hold the keys, so an endpoint is never shown or written down."""

    name: str
    """What people call it: `provider/model`."""
    wire: str
    url: str
    """The whole address that requests are posted to."""
    model: str
    dialect: Dialect
    headers: tuple[dict[str, str], ...] = ({},)
    """One set for each key, in the order they are to be used."""
    vendor: str = ""
    """The name by which the failure table knows who answers."""
    output_limit: int | None = None
    context: int | None = None
    """Tokens of input and output together; None: nobody knows."""
    reasoning: bool = False
    reattaches: bool = False
    on_trial: bool = False
    """Was it unwell, and is this the request that tries it again?"""
    clients_key: bool = False
    """Is it asked with a key of whoever asks us, who is then told when that key is refused?"""
    limits: Overrides = Overrides()
    fit: Callable[[Mapping[str, Any]], dict[str, Any]] = dict
    """Puts a rendered body into the words that this endpoint knows."""
    cost: Callable[[Usage], float | None] = lambda _: None
    """Says what tokens cost here, in dollars; None: nobody knows."""

    def upstream(self) -> Upstream:
        """Return what decisions need to know about it."""
        return Upstream(self.name, len(self.headers), self.reattaches, self.on_trial)

    def headers_with(self, keys_left: int) -> dict[str, str]:
        """Return the headers of the key in use, when so many have not been ruled out."""
        return self.headers[max(0, len(self.headers) - keys_left)]

    def below(self, rest: str) -> str:
        """Return the address below its own, whatever parameters that one has."""
        scheme, host, path, query, _ = urlsplit(self.url)
        below, _, asked = rest.partition("?")
        return urlunsplit((scheme, host, path + below, "&".join(filter(None, (query, asked))), ""))

    def __repr__(self) -> str:
        return f"Endpoint({self.name!r}, {self.wire!r}, {len(self.headers)} keys)"
