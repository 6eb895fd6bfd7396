"""How many tokens a request has: learnt from what providers count, never trusted beyond reason."""

from hypothesis import given
from hypothesis import strategies as st

from headway.history.exchanges import size_of
from headway.history.measure import FEWEST, LEAST_CHARACTERS, MOST, UNKNOWN, Gauge, request_size
from headway.messages import Image, Message, ModelRequest, Opaque, Raw, Text, ToolSpec, user

sizes = st.integers(0, 10_000_000)
counts = st.integers(-10, 10_000_000)
sightings = st.lists(st.tuples(st.sampled_from(["a", "b"]), sizes, counts), max_size=20)


def learnt(seen):
    gauge = Gauge()
    for model, characters, tokens in seen:
        gauge = gauge.after(model, characters, tokens)
    return gauge


@given(sightings)
def test_whatever_is_counted_the_ratio_stays_within_reason(seen):
    gauge = learnt(seen)
    assert all(FEWEST <= gauge.characters_a_token(model) <= MOST for model in ("a", "b", "never asked"))


@given(sightings, sizes)
def test_what_fits_into_tokens_is_never_more_than_them(seen, tokens):
    gauge = learnt(seen)
    assert gauge.tokens("a", gauge.characters("a", tokens)) <= tokens


@given(sightings, sizes, sizes)
def test_more_characters_are_never_fewer_tokens(seen, one, other):
    gauge, (short, long) = learnt(seen), sorted((one, other))
    assert gauge.tokens("a", short) <= gauge.tokens("a", long)


@given(st.floats(FEWEST + 0.01, MOST - 0.01), st.lists(st.integers(LEAST_CHARACTERS * 10, 10**7), min_size=8))
def test_a_model_that_is_steady_is_known_well_whatever_was_thought_before(ratio, asked):
    gauge = Gauge({"m": UNKNOWN})
    for characters in asked:
        gauge = gauge.after("m", characters, max(1, round(characters / ratio)))
    assert abs(gauge.characters_a_token("m") - ratio) < 0.1


@given(sightings, sizes)
def test_one_model_says_nothing_about_another(seen, characters):
    only_b = [one for one in seen if one[0] == "b"]
    assert learnt(seen).tokens("b", characters) == learnt(only_b).tokens("b", characters)


def test_where_nobody_has_counted_a_request_is_taken_for_longer_than_it_is():
    assert Gauge().tokens("m", 4_000) > 1_000
    assert Gauge().after("m", 4_000, 0) == Gauge(), "nothing was counted"
    assert Gauge().after("m", LEAST_CHARACTERS - 1, 1) == Gauge(), "too little to learn from"


def test_the_first_count_is_believed_and_the_next_ones_are_weighed():
    gauge = Gauge().after("m", 8_000, 2_000)
    assert gauge.characters_a_token("m") == 4.0
    assert gauge.after("m", 8_000, 4_000).characters_a_token("m") == 3.0


def test_a_request_is_measured_with_all_that_goes_out():
    said = (Message("user", (Text("x" * 100), Image("image/png", "A" * 9_000_000))),)
    bare = ModelRequest("m", said)
    assert request_size(bare) == size_of(said) < 10_000, "a picture weighs what a picture costs, not its bytes"
    tool = ToolSpec("read", "Read a file.", {"type": "object", "properties": {"path": {"type": "string"}}})
    whole = ModelRequest("m", (*said, user("y")), (Text("s" * 50),), (tool, Opaque(Raw("chat", {}))))
    assert request_size(whole) > request_size(bare) + 50 + 1 + len("readRead a file.") + 40
