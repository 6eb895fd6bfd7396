"""What is known about models, what is guessed, and what a reply costs."""

from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.events import Usage
from headway.providers.links import link
from headway.providers.models import FREE, ModelFacts, Price, Source, _listed, cost, facts_for
from headway.providers.presets import PRESETS


def test_the_list_is_small_and_every_row_makes_sense():
    assert len(files("headway.providers").joinpath("models.json").read_bytes()) < 200_000
    rows = [(vendor, name, row) for vendor, names in _listed().vendors.items() for name, row in names.items()]
    assert len(rows) > 500
    for vendor, name, row in rows:
        assert 0 < row.output_limit <= row.context, (vendor, name)
        assert set(row.abilities) <= set("ritp"), (vendor, name)
        starts = [price.from_tokens for price in row.prices]
        assert starts == sorted(set(starts)), (vendor, name)
        assert not starts or starts[0] == 0, (vendor, name)


@pytest.mark.parametrize(
    ("vendor", "model", "source"),
    [
        ("anthropic", "claude-sonnet-4-6", Source.LISTED),
        ("", "claude-sonnet-4-6", Source.ALIKE),
        ("", "anthropic/claude-sonnet-4.6", Source.ALIKE),
        ("anthropic", "claude-opus-4-7-20260416", Source.ALIKE),
        ("", "anthropic.claude-fable-9", Source.GUESSED),
        ("", "something-else", Source.GUESSED),
    ],
)
def test_a_model_is_found_by_its_name_wherever_it_is_offered(vendor, model, source):
    assert facts_for(vendor, model).source is source


def test_only_old_claudes_go_on_from_assistant_text():
    assert facts_for("anthropic", "claude-sonnet-4-5").prefill
    assert facts_for("anthropic", "claude-opus-4-20250514").prefill
    assert not facts_for("anthropic", "claude-sonnet-4-6").prefill
    assert not facts_for("anthropic", "claude-opus-6").prefill
    assert not facts_for("openai", "gpt-5.5").prefill


def test_prefill_needs_an_endpoint_that_can():
    assert link(PRESETS["anthropic"], "claude-sonnet-4-5").dialect.prefill
    assert not link(PRESETS["anthropic"], "claude-sonnet-4-6").dialect.prefill
    assert not link(PRESETS["openrouter"], "anthropic/claude-sonnet-4.5").dialect.prefill


def test_pictures_go_only_to_models_that_see():
    assert link(PRESETS["anthropic"], "claude-sonnet-4-6").dialect.images
    assert not link(PRESETS["zhipu"], "glm-5.1").dialect.images
    assert not link(PRESETS["deepseek"], "a-new-one").dialect.images
    assert link(PRESETS["ollama"], "a-new-one").dialect.images


def test_names_say_something_about_models_nobody_listed():
    assert facts_for("", "o7-mini").reasoning
    assert facts_for("", "kimi-k9-thinking").reasoning
    assert not facts_for("", "llama9:70b").reasoning


def test_a_server_of_ones_own_is_free_and_has_less_room():
    facts = facts_for("ollama", "llama9:70b", local=True)
    assert facts.prices == FREE
    assert facts.context < facts_for("", "llama9:70b").context
    assert cost(facts, Usage(10_000, 10_000)) == 0


@given(st.text(max_size=300), st.text(max_size=300), st.booleans())
def test_there_are_facts_about_every_name(vendor, model, local):
    facts = facts_for(vendor, model, local=local)
    assert 0 < facts.output_limit <= facts.context


def test_a_reply_costs_what_its_tokens_cost():
    facts = ModelFacts(prices=(Price(0, 3.0, 15.0, 0.3, 3.75),))
    assert cost(facts, Usage(1_000_000, 0)) == pytest.approx(3.0)
    assert cost(facts, Usage(0, 1_000_000)) == pytest.approx(15.0)
    used = Usage(input_tokens=1_000, output_tokens=100, cache_read_tokens=600, cache_write_tokens=300)
    assert cost(facts, used) == pytest.approx((100 * 3 + 600 * 0.3 + 300 * 3.75 + 100 * 15) / 1e6)


def test_long_requests_may_cost_more_for_each_token():
    facts = ModelFacts(prices=(Price(0, 1.0, 1.0), Price(200_000, 2.0, 4.0)))
    assert cost(facts, Usage(199_999, 0)) == pytest.approx(0.199999)
    assert cost(facts, Usage(200_000, 1_000_000)) == pytest.approx(4.4)


def test_a_price_nobody_knows_is_not_nothing():
    assert cost(facts_for("", "something-else"), Usage(1, 1)) is None


@given(
    st.builds(Usage, *[st.integers(-10, 10**9)] * 5),
    st.tuples(st.floats(0, 100), st.floats(0, 100), st.none() | st.floats(0, 100)),
)
def test_nothing_costs_less_than_nothing(usage, prices):
    amount = cost(ModelFacts(prices=(Price(0, *prices),)), usage)
    assert amount is None or amount >= 0
