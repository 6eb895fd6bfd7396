"""Tools from functions: the signature is the schema, the docstring is what the model reads."""

import asyncio
import dataclasses
from enum import Enum
from typing import Annotated, Literal

import msgspec
import pytest
from msgspec import Meta

from headway.agent.approval import Kind
from headway.agent.tools.builtin import BUILTIN
from headway.agent.tools.define import tool
from headway.agent.tools.refusals import ToolError
from headway.agent.tools.tool import ToolContext
from headway.agent.workspace import Workspace
from headway.failure import InvalidInput
from headway.messages import Image, Text
from headway.recovery.schema import check


class Unit(Enum):
    CELSIUS = "celsius"
    KELVIN = "kelvin"


class Place(msgspec.Struct):
    city: str
    country: str = "FR"


@pytest.fixture
def context(root):
    return ToolContext(Workspace(root), call_id="c7")


def use(made, context, **arguments):
    assert check(made.spec.parameters, arguments) == []
    return asyncio.run(made.run(arguments, context))


def test_a_function_becomes_a_tool_that_a_model_understands():
    @tool(kind=Kind.READS)
    async def forecast(
        place: Annotated[Place, "Where."],
        days: Annotated[int, Meta(ge=1, le=10, description="How far to look.")] = 3,
        unit: Unit = Unit.CELSIUS,
        detail: Literal["low", "high"] | None = None,
    ) -> str:
        """Say what the weather will be,

        in a few
        words.
        """

    assert (forecast.name, forecast.kind, forecast.drafts) == ("forecast", Kind.READS, False)
    assert forecast.spec.description == "Say what the weather will be,\n\nin a few words."
    schema = forecast.spec.parameters
    assert schema["required"] == ["place"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["days"] == {
        "type": "integer",
        "description": "How far to look.",
        "minimum": 1,
        "maximum": 10,
        "default": 3,
    }
    assert check(schema, {"place": {"city": "Paris"}, "unit": "kelvin", "detail": None}) == []
    assert check(schema, {"place": {"city": 5}, "days": 11, "unit": "?"}) != []
    assert check(schema, {}) == ["`place` is missing"]


def test_arguments_arrive_typed_and_defaults_are_the_functions_own(context):
    given = []

    @tool
    def note(place: Place, unit: Unit = Unit.KELVIN, days: int = 3, names: list[str] = []) -> None:  # noqa: B006
        """Note it."""
        given.append((place, unit, days, names))

    assert note.kind is Kind.RUNS, "what says nothing may do anything"
    assert use(note, context, place={"city": "Paris"}) == "Done."
    assert use(note, context, place={"city": "Oslo", "country": "NO"}, unit="celsius", days=4.0, names=["a"]) == "Done."
    assert given == [(Place("Paris"), Unit.KELVIN, 3, []), (Place("Oslo", "NO"), Unit.CELSIUS, 4, ["a"])]


def test_the_context_is_given_and_not_shown(context):
    @tool(name="where")
    async def ask(here: ToolContext, in_: str = "") -> str:
        """Say where this is."""
        return f"{here.call_id} {in_}"

    assert ask.name == "where"
    assert list(ask.spec.parameters["properties"]) == ["in"]
    assert use(ask, context, **{"in": "Paris"}) == "c7 Paris"


@pytest.mark.parametrize(
    ("returned", "content"),
    [
        (None, "Done."),
        ("words", "words"),
        ({"a": [1, None]}, '{"a":[1,null]}'),
        (Place("Paris"), '{"city":"Paris","country":"FR"}'),
        ((), "[]"),
        ((1, 2), "[1,2]"),
        (Text("x"), (Text("x"),)),
        ((Text("x"), Image(url="u")), (Text("x"), Image(url="u"))),
    ],
)
def test_what_is_returned_becomes_words_or_parts(context, returned, content):
    @tool
    async def give() -> object:
        """Give it."""
        return returned

    assert use(give, context) == content


def test_a_plain_function_may_return_something_to_await(context):
    async def later():
        return "later"

    @tool
    def soon() -> object:
        """Give it later."""
        return later()

    assert use(soon, context) == "later"


def test_what_the_schema_cannot_say_is_still_checked(context):
    @tool
    async def dial(number: Annotated[str, Meta(pattern=r"^\d+$")]) -> str:
        """Dial a number."""

    with pytest.raises(ToolError, match="not what this tool takes"):
        use(dial, context, number="abc")


def undocumented(x: int) -> None: ...


def untyped(x) -> None:
    """Take anything."""


def open_ended(*numbers: int) -> None:
    """Take many."""


def of_sets(x: complex) -> None:
    """Take what JSON has not."""


@pytest.mark.parametrize(
    ("function", "why"),
    [(undocumented, "no docstring"), (untyped, "has no type"), (open_ended, r"\*numbers"), (of_sets, "complex")],
)
def test_what_no_model_could_call_is_refused_where_it_is_defined(function, why):
    with pytest.raises(InvalidInput, match=why):
        tool(function)


def test_dataclasses_can_be_taken(context):
    @dataclasses.dataclass
    class Point:
        x: int

    def show(point: Point) -> str:
        """Show a point."""
        return str(point.x)

    show.__annotations__["point"] = Point
    assert use(tool(show), context, point={"x": 3}) == "3"


def test_every_builtin_tool_and_each_of_its_parameters_is_described():
    for one in BUILTIN:
        assert one.spec.description
        assert one.spec.parameters["additionalProperties"] is False
        for name, schema in one.spec.parameters["properties"].items():
            assert schema.get("description"), f"{one.name}.{name}"
    assert [one.name for one in BUILTIN] == ["read_file", "write_file", "edit_file", "list_files", "search", "shell"]
    assert {one.name: one.kind.value for one in BUILTIN if one.kind is not Kind.READS} == {
        "write_file": "edits",
        "edit_file": "edits",
        "shell": "runs",
    }
