"""Strategies for request bodies of each wire, as broken as clients leave them; every one can still be read."""

from hypothesis import strategies as st

ids = st.sampled_from(["call_1", "call_2", "toolu_1", "", "bad id!", "y" * 50, None, 7])
names = st.sampled_from(["write_file", "read", "", "functions.run", None])
words = st.sampled_from(["hello", "the file is saved", "ends blank \n", "", " \n", "a\x00b", "ünï"])
whole = st.sampled_from(["{}", '{"path":"a.txt"}', ""])
cut = st.sampled_from(['{"path":"a.txt","text":"half', "[]", "null", '{"a":1}{"a":2}'])
extras = st.sampled_from([{}, {}, {"x_unknown": 1}])


def merged(*strategies: st.SearchStrategy[dict]) -> st.SearchStrategy[dict]:
    return st.tuples(*strategies).map(lambda dicts: {key: value for one in dicts for key, value in one.items()})


def listed(item: st.SearchStrategy, most: int = 3) -> st.SearchStrategy[list]:
    return st.lists(item, max_size=most)


# Chat Completions

chat_parts = st.one_of(
    st.fixed_dictionaries({"type": st.just("text"), "text": words}),
    st.sampled_from(
        [
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
            {"type": "image_url", "image_url": {"url": "https://example.com/a.png", "detail": "low"}},
            {"type": "image_url"},
            {"type": "file", "file": {"file_id": "file-1"}},
            {"type": "file", "file": {}},
            {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
            "a bare string",
        ]
    ),
)
chat_content = st.one_of(words, words, st.none(), listed(chat_parts), st.just(42), st.just({"any": "object"}))
chat_calls = st.one_of(
    st.fixed_dictionaries(
        {
            "id": ids,
            "type": st.just("function"),
            "function": st.fixed_dictionaries({"name": names, "arguments": whole | cut | st.just({"path": "a.txt"})}),
        }
    ),
    st.fixed_dictionaries(
        {
            "id": ids,
            "type": st.just("custom"),
            "custom": st.fixed_dictionaries({"name": names, "input": words}),
        }
    ),
    st.just({"id": "call_1"}),
)
chat_messages = st.one_of(
    merged(
        st.fixed_dictionaries(
            {"role": st.sampled_from(["user", "user", "system", "developer"]), "content": chat_content}
        ),
        extras,
    ),
    merged(
        st.fixed_dictionaries(
            {"role": st.just("assistant"), "content": chat_content},
            optional={
                "tool_calls": listed(chat_calls),
                "reasoning_content": words,
                "refusal": st.none() | words,
            },
        ),
        extras,
    ),
    st.fixed_dictionaries({"role": st.just("tool"), "tool_call_id": ids, "content": chat_content}),
)
chat_bodies = st.fixed_dictionaries(
    {"model": st.just("model-1"), "messages": st.lists(chat_messages, min_size=1, max_size=8)},
    optional={"temperature": st.just(0.5), "x_unknown": st.just({"kept": True})},
)

# Responses

responses_parts = st.one_of(
    st.fixed_dictionaries({"type": st.sampled_from(["input_text", "output_text"]), "text": words}),
    st.sampled_from(
        [
            {"type": "refusal", "refusal": "I will not."},
            {"type": "input_image", "image_url": "https://example.com/a.png", "detail": "auto"},
            {"type": "input_image"},
            {"type": "input_file", "file_id": "file-1"},
            {"type": "input_file", "filename": "a.txt"},
        ]
    ),
)
responses_content = st.one_of(words, words, listed(responses_parts), st.none(), st.just(42))
responses_items = st.one_of(
    merged(
        st.fixed_dictionaries(
            {
                "role": st.sampled_from(["user", "assistant", "system", "developer"]),
                "content": responses_content,
            },
            optional={"type": st.just("message")},
        ),
        extras,
    ),
    st.fixed_dictionaries(
        {"type": st.just("function_call"), "call_id": ids, "name": names, "arguments": whole | cut},
        optional={"id": st.just("fc_1"), "status": st.sampled_from(["completed", "incomplete"])},
    ),
    st.fixed_dictionaries({"type": st.just("custom_tool_call"), "call_id": ids, "name": names, "input": words}),
    st.fixed_dictionaries(
        {
            "type": st.sampled_from(["function_call_output", "custom_tool_call_output"]),
            "call_id": ids,
            "output": words | st.lists(responses_parts, min_size=1, max_size=3),
        }
    ),
    st.fixed_dictionaries(
        {"type": st.just("reasoning"), "summary": st.just([])},
        optional={"id": st.just("rs_1"), "encrypted_content": st.just("c2VhbGVk")},
    ),
    st.sampled_from([{"type": "web_search_call", "id": "ws_1", "status": "completed"}, None, "a bare string"]),
)
responses_bodies = st.fixed_dictionaries(
    {"model": st.just("model-1"), "input": st.lists(responses_items, min_size=1, max_size=8)},
    optional={"instructions": words, "x_unknown": st.just({"kept": True})},
)

# Anthropic Messages

pictures = st.sampled_from(
    [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}},
        {"type": "image", "source": None},
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "plain words"}},
    ]
)
text_blocks = st.fixed_dictionaries({"type": st.just("text"), "text": words})
blocks = st.one_of(
    text_blocks,
    merged(
        st.fixed_dictionaries(
            {
                "type": st.just("tool_use"),
                "id": ids,
                "name": names,
                "input": st.sampled_from([{}, {"path": "a.txt"}, "half", None, []]),
            }
        ),
        extras,
    ),
    st.fixed_dictionaries(
        {"type": st.just("tool_result"), "tool_use_id": ids},
        optional={"content": words | listed(text_blocks | pictures), "is_error": st.booleans()},
    ),
    st.fixed_dictionaries(
        {"type": st.just("thinking"), "thinking": words}, optional={"signature": st.sampled_from(["", "c2lnbmVk"])}
    ),
    st.just({"type": "redacted_thinking", "data": "c2VhbGVk"}),
    pictures,
    st.sampled_from(
        [
            {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}},
            {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
            "a bare string",
        ]
    ),
)
anthropic_messages = merged(
    st.fixed_dictionaries(
        {
            "role": st.sampled_from(["user", "assistant", "user", "assistant", "system"]),
            "content": words | listed(blocks, 4) | st.none(),
        }
    ),
    extras,
)
anthropic_bodies = st.fixed_dictionaries(
    {
        "model": st.just("model-1"),
        "max_tokens": st.just(4096),
        "messages": st.lists(anthropic_messages, min_size=1, max_size=8),
    },
    optional={
        "system": words | listed(text_blocks, 2),
        "thinking": st.just({"type": "enabled", "budget_tokens": 2048}),
        "x_unknown": st.just({"kept": True}),
    },
)

BODIES = {"chat": chat_bodies, "responses": responses_bodies, "anthropic": anthropic_bodies}
