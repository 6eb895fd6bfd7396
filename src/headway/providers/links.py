"""A link of a chain: one provider, one of its models, and what follows from both."""

from msgspec import Struct
from msgspec.structs import replace

from headway.dialect import Dialect
from headway.providers.catalog import Provider, endpoint
from headway.providers.models import ModelFacts, facts_for


class Link(Struct, frozen=True):
    """Whom to ask for what. Two links of one name are the same upstream."""

    provider: Provider
    model: str
    facts: ModelFacts

    @property
    def name(self) -> str:
        """Return the name that settings, status lines and ledgers use."""
        return f"{self.provider.name}/{self.model}"

    @property
    def url(self) -> str:
        """Return where requests go."""
        return endpoint(self.provider, self.model)

    @property
    def dialect(self) -> Dialect:
        """Return the rules for histories: the endpoint's, as far as the model keeps up with it."""
        rules = self.provider.dialect
        prefill = self.provider.prefills and self.facts.prefill
        return replace(rules, prefill=prefill, images=rules.images and self.facts.images)


def link(provider: Provider, model: str) -> Link:
    """Return the link to a model, with what is known about it."""
    return Link(provider, model, facts_for(provider.vendor, model, local=provider.local))
