"""Who may say what: calls and thinking are the assistant's, results and media the user's, words anybody's."""

from headway.messages import (
    CallFragment,
    Document,
    Image,
    Opaque,
    Part,
    Refusal,
    Role,
    Thinking,
    ToolCall,
    ToolResult,
)

_HOMES: dict[type[Part], Role] = {
    Refusal: "assistant",
    Thinking: "assistant",
    ToolCall: "assistant",
    CallFragment: "assistant",
    ToolResult: "user",
    Image: "user",
    Document: "user",
}
_ASSISTANTS_ENDINGS = ("tool_use", "tool_result", "_call")
_USERS_ENDING = "_call_output"
_USERS_BEGINNING = "input_"


def home_of(part: Part, role: Role) -> Role:
    """Return the role that may say a part which was found in a message of the given role."""
    if isinstance(part, Opaque):
        return _opaque_home(str(part.raw.value.get("type")), role)
    return _HOMES.get(type(part), role)


def _opaque_home(kind: str, role: Role) -> Role:
    """Go by the name: the provider's own work is the assistant's, input and the client's answers are the user's."""
    if kind.endswith(_USERS_ENDING) or kind.startswith(_USERS_BEGINNING):
        return "user"
    return "assistant" if kind.endswith(_ASSISTANTS_ENDINGS) else role
