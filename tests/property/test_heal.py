"""`headway heal` ends in a verdict whatever JSON it is given: a valid history, or one line that says why not."""

import json

import pytest
from click.testing import CliRunner
from hypothesis import example, given
from hypothesis import strategies as st

from headway.cli.heal import heal
from support.bodies import BODIES
from support.validators import VALIDATORS

KEYS = (
    "role content type text messages input model system tools tool_calls tool_call_id function custom name arguments "
    "id call_id output summary source data image_url url tool_use_id signature thinking is_error refusal instructions "
    "max_tokens reasoning_content encrypted_content status file previous_response_id tool_choice stream stop"
).split()
WORDS = (
    "user assistant system developer tool function text input_text output_text tool_use tool_result function_call "
    "function_call_output reasoning message image image_url document thinking server_tool_use item_reference {} [] a"
).split()
leaves = st.none() | st.booleans() | st.integers(-9, 9) | st.just(0.5) | st.sampled_from([*WORDS, "", " ", "\x00"])
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=25,
)
messages = st.dictionaries(st.sampled_from(KEYS[:14]), values, max_size=5)
bodies = st.lists(messages | values, max_size=5).flatmap(
    lambda listed: st.sampled_from([listed, {"messages": listed, "model": "m"}, {"input": listed, "model": "m"}])
)


def healed(value, *options: str):
    return CliRunner().invoke(heal, ["-", *options], input=json.dumps(value).encode(), standalone_mode=False)


@pytest.mark.parametrize("wire", BODIES)
@given(value=bodies | values)
@example(value=[{"type": [], "role": {}, "content": {"type": {}}}])
def test_no_json_whatever_makes_it_fall_over(wire, value):
    for options in ((), ("--check",), ("--wire", wire), ("--wire", wire, "--to", "anthropic")):
        done = healed(value, *options)
        assert done.exception is None, (options, value)
        assert done.return_value in (0, 1, 2)


@pytest.mark.parametrize("wire", BODIES)
@given(data=st.data())
def test_any_readable_body_comes_out_valid_and_then_stays_as_it_is(wire, data):
    first = healed(data.draw(BODIES[wire]), "--wire", wire)
    assert first.return_value == 0
    body = json.loads(first.stdout)
    assert VALIDATORS[wire](body) == []
    again = healed(body, "--wire", wire)
    assert json.loads(again.stdout) == body
    assert "nothing had to be changed" in again.stderr
    assert healed(body, "--wire", wire, "--check").return_value == 0
