"""Strategies for histories of every kind of brokenness, and dialects of every kind of strictness."""

from hypothesis import strategies as st
from msgspec.structs import replace

from headway.dialect import ANTHROPIC, CHAT, RESPONSES, Dialect
from headway.messages import (
    CallFragment,
    Document,
    Image,
    Message,
    ModelRequest,
    Opaque,
    Raw,
    Reasoning,
    Refusal,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    ToolSpec,
)

NINE = replace(CHAT, id_alphabet="a-zA-Z0-9", id_length=9, assistant_after_results=True, ends_with_assistant=False)
REPLAYING = replace(
    CHAT, issuer="thinker", reasoning_on_calls=True, images=False, documents=False, text_results_only=True
)
USER_WANTED = replace(CHAT, needs_user=True, system_inside=False, assistant_after_results=True, thinking=False)
PREFILLING = replace(ANTHROPIC, prefill=True, tools_with_history=True)
LENIENT = replace(CHAT, blank_text=True, blank_beside_calls=True, ends_with_assistant=False, prefill=True)
EVERY_DIALECT: dict[str, Dialect] = {
    "chat": CHAT,
    "responses": RESPONSES,
    "anthropic": ANTHROPIC,
    "ids of nine characters, an assistant after results": NINE,
    "reasoning replayed, plain results, no media": REPLAYING,
    "a user wanted, system first, no thinking": USER_WANTED,
    "prefill, tools with history": PREFILLING,
    "blanks accepted, prefill": LENIENT,
}
PLAIN = {"chat": CHAT, "responses": RESPONSES, "anthropic": ANTHROPIC}

ids = st.sampled_from(["a", "b", "call_1", "toolu_1", "", "bad id!", "y" * 50, "z" * 80, "123456789"])
tool_names = st.sampled_from(["write_file", "read", "write_file", "", " ", "functions.run", "n" * 200])
texts = st.sampled_from(["hello", "the file is saved", "trailing \n", "", "  \n", "a\x00b", "lone \ud800 half", "ünï"])
issuers = st.sampled_from(["chat", "responses", "anthropic", "thinker"])
arguments = st.sampled_from(["{}", '{"path":"a.txt"}', '{"path":"a.txt","text":"half', "[]", "", "\ud800"])
raws = st.none() | st.sampled_from(["chat", "responses", "anthropic"]).map(lambda wire: Raw(wire, {}))

OPAQUE_VALUES = [
    ("anthropic", {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}),
    ("anthropic", {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}),
    ("anthropic", {"type": "image", "source": None}),
    ("responses", {"type": "web_search_call", "id": "ws_1", "status": "completed"}),
    ("responses", {"type": "local_shell_call", "call_id": "sh_1", "id": "lsh_1", "action": {}, "status": "completed"}),
    ("responses", {"type": "local_shell_call_output", "call_id": "sh_1", "id": "lso_1", "output": "done"}),
    ("chat", {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}),
]
opaques = st.sampled_from(OPAQUE_VALUES).map(lambda pair: Opaque(Raw(*pair)))
images = st.sampled_from([Image("image/png", "iVBORw0KGgo="), Image(url="https://example.com/a.png"), Image()])
documents = st.sampled_from(
    [
        Document("application/pdf", "JVBERi0=", name="a.pdf"),
        Document(text="plain words", name="a.txt"),
        Document(text="\x00 \ud800"),
        Document(),
    ]
)
result_parts = st.lists(texts.map(Text) | texts.map(Text) | images | documents, max_size=3).map(tuple)
results = st.builds(ToolResult, ids, result_parts, is_error=st.booleans(), freeform=st.booleans())
thinking = st.builds(
    Thinking, texts, issuers, st.none() | st.just("c2lnbmVk"), st.none() | st.just("c2VhbGVk"), st.none()
)
calls = st.builds(ToolCall, ids, tool_names, arguments, freeform=st.booleans())
fragments = st.builds(CallFragment, ids, tool_names, arguments)
parts = st.one_of(
    texts.map(Text), calls, calls, results, results, fragments, thinking, texts.map(Refusal), images, documents, opaques
)
roles = st.sampled_from(["user", "assistant", "user", "assistant", "system"])
messages = st.builds(Message, roles, st.lists(parts, max_size=4).map(tuple))
broken_histories = st.lists(messages, max_size=10).map(tuple)
broken_requests = st.builds(
    ModelRequest,
    st.just("model-1"),
    broken_histories,
    system=st.lists(texts.map(Text), max_size=2).map(tuple),
    tools=st.sampled_from([(), (ToolSpec("write_file", None, {"type": "object"}),)]),
    reasoning=st.sampled_from([None, Reasoning("high"), Reasoning(None, 2048)]),
)


@st.composite
def _sound_histories(draw: st.DrawFn) -> tuple[Message, ...]:
    """Draw a conversation that every endpoint accepts: questions, parallel calls with their results, answers."""
    said: list[Message] = []
    for turn in range(draw(st.integers(1, 4))):
        said.append(Message("user", (Text(f"question {turn}"),)))
        for step in range(draw(st.integers(0, 2))):
            ids = [f"call_{turn}_{step}_{number}" for number in range(draw(st.integers(1, 3)))]
            spoken = (Text("I look."),) if draw(st.booleans()) else ()
            said.append(Message("assistant", (*spoken, *(ToolCall(one, "read", '{"path":"a"}') for one in ids))))
            order = draw(st.permutations(ids))
            answers = [ToolResult(one, (Text(f"result of {one}"),)) for one in order]
            together = draw(st.booleans())
            said += [Message("user", tuple(answers))] if together else [Message("user", (one,)) for one in answers]
        said.append(Message("assistant", (Text(f"answer {turn}"),)))
    return (*said, Message("user", (Text("go on"),)))


sound_histories = _sound_histories()
wedges = st.sampled_from(
    [
        Message("assistant", (CallFragment("cut", "write_file", '{"path":"a'),)),
        Message("assistant", (Text("I write."), CallFragment("cut", "write_file", '{"path":"a'))),
        Message("assistant", (ToolCall("unanswered", "read", "{}"),)),
        Message("assistant", (ToolCall("bad id!", "read", "{}"),)),
        Message(
            "assistant", (ToolCall("twice", "read", "{}"), ToolCall("twice", "read", "{}"), ToolCall("x", "", "{}"))
        ),
        Message("user", (ToolResult("nobody", (Text("an orphan's words"),)),)),
        Message("user", (Text("  "),)),
        Message("assistant", ()),
        Message("assistant", (Thinking("hm", "somebody else", "c2ln"),)),
        Message("assistant", (Opaque(Raw("another wire", {"type": "x"})),)),
    ]
)
