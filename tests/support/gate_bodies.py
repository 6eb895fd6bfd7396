"""Bodies that a client may send by mistake or on purpose: valid ones, mutated in their values and in their text."""

import json
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from support.bodies import BODIES
from support.gate import body_of

Path = tuple[Any, ...]


def _nested(depth: int) -> Any:
    """Return a list in a list in a list, so deep."""
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


odd_values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**30),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(
        ["", " ", "\x00", "\ud800", "\udfff tail", "ü" * 300, "x" * 70_000, "{", "[DONE]", "\r\ndata: x\n\n"]
    ),
    st.sampled_from(
        [[], {}, [[]], [{}], [None], {"": {}}, {"type": "text"}, {"type": None}, [["a", "b"]], {"role": "x"}]
    ),
    st.integers(2, 700).map(_nested),
    st.text(max_size=20),
)
FIELDS = """
    model messages input tools stream max_tokens content role type tool_calls system tool_choice stop thinking reasoning
    metadata stream_options x_unknown n text id temperature stop_sequences response_format previous_response_id include
    background store instructions max_output_tokens max_completion_tokens parallel_tool_calls logprobs
""".split()


def places_in(value: Any, at: Path = ()) -> Iterator[Path]:
    """Give the way to everything inside a value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in inside:
        yield (*at, key)
        yield from places_in(inner, (*at, key))


def changed(value: Any, place: Path, new: Any, *, how: str) -> Any:
    """Return a value with one place put right, dropped or doubled."""
    if not place:
        return new
    first, *rest = place
    if isinstance(value, dict):
        inner = changed(value[first], tuple(rest), new, how=how) if rest else new
        kept = {key: one for key, one in value.items() if key != first}
        return kept if how == "drop" and not rest else {**value, first: inner}
    inner = changed(value[first], tuple(rest), new, how=how) if rest else new
    middle = [inner] if rest or how == "put" else [] if how == "drop" else [value[first], value[first]]
    return [*value[:first], *middle, *value[first + 1 :]]


@st.composite
def mutated_bodies(draw: st.DrawFn, wire: str) -> Any:
    """Draw a body of a wire with up to three things wrong with it."""
    asked = {"stream": draw(st.booleans()), "tools": draw(st.booleans())}
    body: Any = body_of(wire, **asked)
    if draw(st.booleans()):
        body = {**body, **draw(BODIES[wire])}
    for _ in range(draw(st.integers(0, 3))):
        places = list(places_in(body))
        if not places or draw(st.integers(0, 5)) == 0:
            body = {**body, draw(st.sampled_from(FIELDS)): draw(odd_values)} if isinstance(body, dict) else body
        else:
            how = draw(st.sampled_from(["put", "put", "drop", "double"]))
            body = changed(body, draw(st.sampled_from(places)), draw(odd_values), how=how)
    return body


@st.composite
def body_texts(draw: st.DrawFn, wire: str) -> bytes:
    """Draw the bytes of a body: mostly JSON, sometimes not quite."""
    text = json.dumps(draw(mutated_bodies(wire)), ensure_ascii=draw(st.booleans()))
    data = text.encode("utf-8", "surrogatepass")
    at = draw(st.integers(0, len(data)))
    match draw(
        st.sampled_from([*["as it is"] * 8, "cut", "with other bytes", "keys twice", "nan", "encoded", "other"])
    ):
        case "cut":
            return data[:at]
        case "with other bytes":
            return data[:at] + draw(st.binary(min_size=1, max_size=4)) + data[at:]
        case "keys twice":
            return data[:-1] + b',"model":"again","stream":true,"stream":false}'
        case "nan":
            return data[:-1] + b',"temperature":NaN,"top_p":-Infinity,"x":1e999,"y":"\\ud800"}'
        case "encoded":
            return draw(st.sampled_from([b"\xef\xbb\xbf" + data, text.encode("utf-16", "surrogatepass"), data + data]))
        case "other":
            return draw(st.sampled_from([b"", b"null", b"[]", b'"x"', b"7", b"NaN", b"{" * 5000, b"[" * 100_000]))
        case _:
            return data
