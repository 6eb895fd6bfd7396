"""Tools from plain functions: the signature becomes the schema, the docstring what the model is told.

    @tool(kind=Kind.READS)
    async def forecast(city: str, days: Annotated[int, "how far to look"] = 3) -> str:
        "Say what the weather will be."

A parameter of type `ToolContext` gets the context. A trailing `_` keeps a name off Python's own and is not shown. A
plain `def` runs in a thread. What is returned is text, parts, or anything that can be written as JSON.
"""

import inspect
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, get_args, get_origin, get_type_hints, overload

import msgspec
from msgspec import Meta

from headway.agent.approval import Kind
from headway.agent.tools.refusals import ToolError
from headway.agent.tools.threads import in_thread
from headway.agent.tools.tool import Content, Tool, ToolContext
from headway.failure import InvalidInput
from headway.messages import Document, Image, Opaque, Text, ToolSpec
from headway.wire.json_text import encode_text

Function = Callable[..., Any]
_NAMED = {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}


@overload
def tool(function: Function, /) -> Tool: ...


@overload
def tool(*, kind: Kind = ..., drafts: bool = ..., name: str | None = ...) -> Callable[[Function], Tool]: ...


def tool(
    function: Function | None = None, /, *, kind: Kind = Kind.RUNS, drafts: bool = False, name: str | None = None
) -> Tool | Callable[[Function], Tool]:
    """Make a tool of a function. Unless its kind says that it only reads or edits, it counts as able to do anything."""
    if function is not None:
        return _defined(function, kind, name, drafts=drafts)
    return lambda function: _defined(function, kind, name, drafts=drafts)


def _defined(function: Function, kind: Kind, name: str | None, *, drafts: bool) -> Tool:
    name = name or function.__name__
    words = inspect.getdoc(function)
    if not words:
        raise InvalidInput(f"the tool {name}", "it has no docstring", "Say there what it does: the model reads it.")
    signature = _Signature(function, name)
    paragraphs = "\n\n".join(" ".join(paragraph.split()) for paragraph in words.split("\n\n"))
    spec = ToolSpec(name, paragraphs, signature.schema)

    async def run(arguments: dict[str, Any], context: ToolContext) -> Content:
        given = signature.values(arguments, context)
        if inspect.iscoroutinefunction(function):
            return _content(await function(**given))
        returned = await in_thread(function, **given)
        return _content(await returned if isinstance(returned, Awaitable) else returned)

    return Tool(spec, kind, run, drafts)


class _Signature:
    """What a function takes: as a schema for the model, and as typed values for the function."""

    def __init__(self, function: Function, name: str) -> None:
        self._context_name: str | None = None
        fields: list[Any] = []
        hints = get_type_hints(function, include_extras=True)
        for parameter in inspect.signature(function).parameters.values():
            hint = hints.get(parameter.name)
            if hint is ToolContext:
                self._context_name = parameter.name
            elif hint is None or parameter.kind not in _NAMED:
                why = f"its parameter `{parameter}` has no type" if hint is None else f"it takes `{parameter}`"
                raise InvalidInput(f"the tool {name}", why, "Give each parameter a name and a type.")
            else:
                default = () if parameter.default is parameter.empty else (parameter.default,)
                fields.append((parameter.name, _described(hint), *default))
        self._names = {field[0].rstrip("_"): field[0] for field in fields}
        try:
            self._type = msgspec.defstruct(
                "arguments",
                fields,
                kw_only=True,
                forbid_unknown_fields=True,
                rename=lambda given: given.rstrip("_"),
            )
            self.schema = _flat(msgspec.json.schema(self._type))
        except (TypeError, ValueError) as error:
            raise InvalidInput(f"the tool {name}", str(error), "Use types that JSON can hold.") from error

    def values(self, arguments: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        """Return what to call the function with; what was not given is left to its own defaults."""
        properties = self.schema["properties"]
        whole = {name: _whole_number(value, properties.get(name, {})) for name, value in arguments.items()}
        try:
            typed = msgspec.convert(whole, self._type)
        except msgspec.ValidationError as error:
            raise ToolError(f"The arguments are not what this tool takes: {error}.") from error
        values = {self._names[name]: getattr(typed, self._names[name]) for name in arguments}
        return values if self._context_name is None else {**values, self._context_name: context}


def _described(hint: Any) -> Any:
    """Return a type whose bare words, `Annotated[str, "words"]`, are the description that the model reads."""
    if get_origin(hint) is not Annotated:
        return hint
    kind, *notes = get_args(hint)
    described = tuple(Meta(description=note) if isinstance(note, str) else note for note in notes)
    return Annotated[(kind, *described)]


def _flat(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema with its root in place: some providers take no reference there."""
    definitions = schema["$defs"]
    root: dict[str, Any] = {key: value for key, value in definitions.pop("arguments").items() if key != "title"}
    return {**root, "$defs": definitions} if definitions else root


def _whole_number(value: Any, schema: dict[str, Any]) -> Any:
    """Read 3.0 as 3 where a whole number is wanted: in JSON they are the same."""
    return int(value) if isinstance(value, float) and value.is_integer() and schema.get("type") == "integer" else value


def _content(returned: Any) -> Content:
    if returned is None:
        return "Done."
    if isinstance(returned, str):
        return returned
    if isinstance(returned, Text | Image | Document | Opaque):
        return (returned,)
    is_parts = isinstance(returned, tuple) and all(
        isinstance(one, Text | Image | Document | Opaque) for one in returned
    )
    return returned if is_parts and returned else encode_text(returned)
