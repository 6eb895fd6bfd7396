"""The presets agree with the wires, the failure table, the list of models and the rules of histories."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.failure import FailureKind, Where
from headway.history.invariants import violations
from headway.history.project import project
from headway.providers.catalog import body_for
from headway.providers.links import link
from headway.providers.models import is_listed
from headway.providers.presets import PRESETS, preset_named, provider_at
from headway.recovery.failures.classify import classify
from headway.recovery.failures.facts import Facts
from headway.recovery.failures.table import NAMES
from headway.wire.table import WIRES, wire_named
from support.histories import broken_requests
from support.validators import VALIDATORS

EVERY = pytest.mark.parametrize("provider", PRESETS.values(), ids=list(PRESETS))


@EVERY
def test_a_preset_speaks_a_wire_and_its_dialect_is_of_that_wire(provider):
    assert provider.wire in WIRES
    assert provider.dialect.wire == provider.wire


@EVERY
def test_the_classifier_knows_every_vendor_by_name(provider):
    assert provider.vendor in NAMES


@EVERY
def test_a_model_that_is_asked_by_default_is_listed_and_calls_tools(provider):
    if provider.model:
        assert is_listed(provider.vendor, provider.model)
        assert link(provider, provider.model).facts.tools


@EVERY
def test_a_preset_has_an_address_or_a_variable_for_one_and_keys_unless_it_is_ones_own(provider):
    assert provider.base_url or provider.url_variables
    assert provider.local != bool(provider.key_variables)
    assert provider.local == provider.base_url.startswith("http:")


@settings(max_examples=60)
@given(name=st.sampled_from(sorted(PRESETS)), request=broken_requests)
def test_any_history_can_be_sent_to_any_preset(name, request):
    to = link(PRESETS[name], PRESETS[name].model or "some-model")
    sendable = project(request, to.dialect).request
    assert not violations(sendable, to.dialect)
    body = body_for(to.provider, wire_named(to.provider.wire).render_request(sendable))
    assert VALIDATORS[to.provider.wire](body) == []


def test_a_vendor_that_speaks_several_wires_is_found_by_any_of_them():
    assert preset_named("openai").wire == "responses"
    assert preset_named("openai", "chat").name == "openai-chat"
    assert preset_named("minimax", "anthropic").name == "minimax-anthropic"
    assert preset_named("mistral", "anthropic") is None
    assert preset_named("nobody") is None


def test_a_known_host_keeps_its_quirks_under_any_name():
    found = provider_at("https://api.mistral.ai/v1", "chat", "main")
    assert (found.name, found.vendor, found.dialect.id_length) == ("main", "mistral", 9)
    assert provider_at("https://api.minimaxi.com/v1", "chat", "x").vendor == "minimax"
    assert provider_at("https://me.openai.azure.com", "chat", "x").vendor == "azure"


def test_a_known_host_on_a_wire_nobody_described_keeps_at_least_its_vendor():
    found = provider_at("https://api.deepseek.com/anthropic", "anthropic", "x")
    assert (found.vendor, found.wire) == ("deepseek", "anthropic")


def test_a_strange_host_is_nobody_in_particular():
    found = provider_at("https://api.mistral.ai.example.com/v1", "chat", "x")
    assert (found.vendor, found.dialect.issuer, found.key_variables) == ("", "chat", ())


def test_the_vendor_makes_the_classifier_right():
    facts = Facts(
        vendor=PRESETS["minimax"].vendor, where=Where.STREAM_ERROR_CHUNK, message="output new_sensitive (1027)"
    )
    assert classify(facts).kind is FailureKind.CONTENT_FILTERED


def test_the_usual_variables_are_of_one_account_each():
    owners = {}
    for provider in PRESETS.values():
        for variable in provider.key_variables:
            owners.setdefault(variable.name, set()).add(provider.vendor)
    assert [name for name, vendors in owners.items() if len(vendors) > 1] == []
