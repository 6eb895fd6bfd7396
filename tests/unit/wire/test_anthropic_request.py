import json

import pytest
from msgspec.structs import replace

from headway.failure import InvalidInput
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
    ToolChoice,
    ToolResult,
    ToolSpec,
    assistant,
    user,
)
from headway.wire.anthropic import WIRE

CHAT = Raw("chat", {"role": "x"})
HELLO = [{"role": "user", "content": "hello"}]


def body(messages=None, **fields):
    return {"model": "m", "max_tokens": 10, "messages": messages or HELLO, **fields}


def parsed(*content, role="user"):
    """Return the parts of one message with these blocks."""
    return WIRE.parse_request(body([{"role": role, "content": list(content)}])).messages[0].parts


def rendered(*messages, **fields):
    """Return the messages of a neutral request's body."""
    return WIRE.render_request(ModelRequest("m", messages, **fields))["messages"]


def rendered_request(**fields):
    out = WIRE.render_request(ModelRequest("m", (user("hello"),), **fields))
    return {key: value for key, value in out.items() if key not in ("model", "max_tokens", "messages")}


# Reading


def test_a_string_is_a_text_without_a_raw_form():
    request = WIRE.parse_request(body(system="be kind"))
    assert request.messages[0].parts == (Text("hello"),)
    assert request.system == (Text("be kind"),)


def test_each_block_is_a_part():
    thinking = {"type": "thinking", "thinking": "hm", "signature": "sig"}
    sealed = {"type": "redacted_thinking", "data": "xyz"}
    use = {"type": "tool_use", "id": "t1", "name": "go", "input": {"n": 1.50, "big": 10**30}}
    text = {"type": "text", "text": "hi", "citations": [1]}
    search = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}
    assert parsed(thinking, sealed, text, use, search, role="assistant") == (
        Thinking("hm", "anthropic", "sig", raw=Raw("anthropic", thinking)),
        Thinking("", "anthropic", sealed="xyz", raw=Raw("anthropic", sealed)),
        Text("hi", Raw("anthropic", text)),
        ToolCall("t1", "go", '{"n":1.5,"big":1000000000000000000000000000000}', raw=Raw("anthropic", use)),
        Opaque(Raw("anthropic", search)),
    )


@pytest.mark.parametrize("given", ['{"a":1}', "", None, 3, [1], "{"])
def test_an_input_that_is_no_object_makes_a_fragment_and_is_not_sent_again(given):
    (part,) = parsed({"type": "tool_use", "id": "t", "name": "n", "input": given}, role="assistant")
    assert isinstance(part, CallFragment)
    assert part.arguments == (given if isinstance(given, str) else json.dumps(given) if given is not None else "")
    assert rendered(user("a"), Message("assistant", (part,)), user("b")) == [
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}
    ]


def test_a_call_that_cannot_be_written_as_json_is_a_fragment():
    deep = []
    for _ in range(5000):
        deep = [deep]
    (part,) = parsed({"type": "tool_use", "id": "t", "name": "n", "input": {"a": deep}}, role="assistant")
    assert isinstance(part, CallFragment)


def test_names_and_ids_of_the_wrong_type_are_blank():
    call, result = parsed({"type": "tool_use", "id": 7, "name": None, "input": {}}, {"type": "tool_result"})
    assert (call.id, call.name, result.call_id) == ("", "", "")


@pytest.mark.parametrize(
    ("content", "parts", "again"),
    [
        ("done", ("done",), "done"),
        ([{"type": "text", "text": "a"}], ("a",), [{"type": "text", "text": "a"}]),
        (
            ["a", {"type": "text", "text": "b"}],
            ("a", "b"),
            [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
        ),
        ({"type": "text", "text": "a"}, ("a",), [{"type": "text", "text": "a"}]),
        (42, ("42",), "42"),
        ({"rows": 3}, ('{"rows":3}',), '{"rows":3}'),
        ([None], ("null",), "null"),
        ("\ud800", ("\ud800",), "\ud800"),
        (["\ud800"], ("\ud800",), "\ud800"),
        ([{"half": "\ud800"}], ("",), ""),
    ],
)
def test_a_result_is_read_tolerantly_and_written_strictly(content, parts, again):
    (result,) = parsed({"type": "tool_result", "tool_use_id": "t", "content": content, "is_error": None})
    assert tuple(part.text for part in result.parts) == parts
    assert rendered(Message("user", (result,)))[0]["content"] == [
        {"type": "tool_result", "tool_use_id": "t", "content": again}
    ]


@pytest.mark.parametrize("fields", [{}, {"content": ""}, {"content": []}, {"is_error": False}, {"is_error": True}])
def test_a_result_keeps_the_shape_it_had(fields):
    messages = [
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "toolset_name": "x", **fields}]}
    ]
    assert WIRE.render_request(WIRE.parse_request(body(messages))) == body(messages)


def test_a_block_that_has_no_place_in_a_result_is_opaque_there():
    inner = {"type": "tool_use", "id": "a", "name": "b", "input": {}}
    (result,) = parsed({"type": "tool_result", "tool_use_id": "t", "content": [inner]})
    assert result.parts == (Opaque(Raw("anthropic", inner)),)


def test_pictures_and_files_are_known_by_their_source():
    def image(**source):
        return {"type": "image", "source": source}

    def document(**source):
        return {"type": "document", "source": source, "title": "T"}

    found = parsed(
        image(type="base64", media_type="image/gif", data="QQ=="),
        image(type="url", url="u"),
        image(type="file", file_id="f"),
        image(type="hologram"),
        document(type="base64", media_type="application/pdf", data="QQ=="),
        document(type="text", media_type="text/plain", data="words"),
        document(type="url", url="u"),
        document(type="file", file_id="f"),
        document(type="content", content=[]),
    )
    assert [replace(part, raw=None) for part in found if not isinstance(part, Opaque)] == [
        Image("image/gif", "QQ=="),
        Image(url="u"),
        Image(file_id="f"),
        Document("application/pdf", "QQ==", name="T"),
        Document("text/plain", text="words", name="T"),
        Document(url="u", name="T"),
        Document(file_id="f", name="T"),
    ]
    assert isinstance(found[3], Opaque)
    assert isinstance(found[8], Opaque)


def test_a_bare_string_among_blocks_and_a_bare_block_are_content():
    assert WIRE.parse_request(body([{"role": "user", "content": ["a"]}])).messages[0].parts == (Text("a"),)
    request = WIRE.parse_request(body([{"role": "user", "content": {"type": "text", "text": "a"}}]))
    assert WIRE.render_request(request)["messages"] == [{"role": "user", "content": [{"type": "text", "text": "a"}]}]


def test_a_message_without_content_says_nothing():
    request = WIRE.parse_request(body([{"role": "assistant"}, *HELLO]))
    assert request.messages[0].parts == ()
    assert WIRE.render_request(request)["messages"] == HELLO


def test_a_choice_of_a_kind_nobody_knows_is_left_alone():
    given = body(tool_choice={"type": "clairvoyant", "disable_parallel_tool_use": True})
    request = WIRE.parse_request(given)
    assert (request.tool_choice, request.parallel_calls) == (None, False)
    assert WIRE.render_request(request) == given


def test_settings_are_read():
    request = WIRE.parse_request(
        body(
            tools=[
                {"name": "go", "description": "d", "input_schema": {"type": "object"}, "strict": True},
                {"type": "bash_20250124", "name": "bash"},
            ],
            tool_choice={"type": "any", "disable_parallel_tool_use": True},
            temperature=0.5,
            top_p=0.9,
            stop_sequences=["END"],
            thinking={"type": "enabled", "budget_tokens": 2000},
            output_config={"effort": "high"},
            stream=True,
        )
    )
    go, bash = request.tools
    assert (go.name, go.description, go.parameters) == ("go", "d", {"type": "object"})
    assert isinstance(bash, Opaque)
    assert (request.tool_choice, request.parallel_calls) == (ToolChoice("required"), False)
    assert (request.max_output_tokens, request.temperature, request.top_p) == (10, 0.5, 0.9)
    assert (request.stop, request.stream) == (("END",), True)
    assert request.reasoning == Reasoning("high", 2000)


@pytest.mark.parametrize(
    ("broken", "what"),
    [
        ([], "request"),
        ({}, "messages"),
        ({"model": "m", "messages": "hi"}, "messages"),
        ({"model": "m", "input": []}, "messages"),
        ({"model": 4, "messages": []}, "model"),
        (body(["hi"]), "messages[0]"),
        (body([{"role": "tool", "content": "x"}]), "messages[0].role"),
        (body([{"role": ["user"], "content": "x"}]), "messages[0].role"),
        (body([{"role": "user", "content": 3}]), "messages[0].content"),
        (body([{"role": "user", "content": ["x", None]}]), "messages[0].content[1]"),
        (body(system=3), "system"),
        (body(system=[{"type": "image"}]), "system[0]"),
        (body(system=[3]), "system[0]"),
        (body(tools={}), "tools"),
        (body(tools=["x"]), "tools[0]"),
    ],
)
def test_what_is_no_request_is_refused_by_the_place_that_is_wrong(broken, what):
    with pytest.raises(InvalidInput) as refused:
        WIRE.parse_request(broken)
    assert refused.value.what == what
    assert refused.value.why


# Writing what was read


def test_unknown_fields_survive_at_every_level():
    mark = {"cache_control": {"type": "ephemeral"}}
    given = body(
        [
            {"role": "user", "content": [{"type": "text", "text": "a", **mark}], "note": 1},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "n", "input": {}, "caller": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "toolset_name": "x", **mark}]},
            {"role": "system", "content": [{"type": "text", "text": "now", **mark}]},
        ],
        system=[{"type": "text", "text": "s", **mark}],
        tools=[{"name": "n", "input_schema": {}, **mark}],
        tool_choice={"type": "tool", "name": "n", "later": 1},
        container={"skills": []},
        metadata={"user_id": "u"},
        betas=["x"],
    )
    assert WIRE.render_request(WIRE.parse_request(given)) == given


def test_unknown_fields_survive_an_edit_beside_them():
    given = body(
        [{"role": "user", "content": [{"type": "text", "text": "a", "cache_control": {}}]}],
        tools=[{"name": "n", "input_schema": {"type": "object"}, "strict": True}],
        tool_choice={"type": "auto", "later": 1},
        thinking={"type": "enabled", "budget_tokens": 2000, "display": "omitted"},
        output_config={"effort": "low", "format": {"type": "json_schema"}},
    )
    request = WIRE.parse_request(given)
    (message,) = request.messages
    edited = replace(
        request,
        messages=(replace(message, parts=(replace(message.parts[0], text="b"),)),),
        tools=(replace(request.tools[0], description="d"),),
        tool_choice=ToolChoice("required"),
        reasoning=Reasoning("high", 3000),
    )
    assert WIRE.render_request(edited) == body(
        [{"role": "user", "content": [{"type": "text", "text": "b", "cache_control": {}}]}],
        tools=[{"name": "n", "description": "d", "input_schema": {"type": "object"}, "strict": True}],
        tool_choice={"type": "any", "later": 1},
        thinking={"type": "enabled", "budget_tokens": 3000, "display": "omitted"},
        output_config={"effort": "high", "format": {"type": "json_schema"}},
    )


def test_a_tool_that_is_added_changes_no_other():
    given = [
        {"name": "n", "input_schema": {"type": "object"}, "strict": True},
        {"type": "bash_20250124", "name": "bash"},
    ]
    request = WIRE.parse_request(body(tools=given))
    out = WIRE.render_request(replace(request, tools=(*request.tools, ToolSpec("more"))))
    assert out["tools"] == [*given, {"name": "more", "input_schema": {"type": "object", "properties": {}}}]


def test_what_is_taken_away_is_gone():
    given = body(
        system="s",
        tools=[{"name": "n", "input_schema": {"type": "object"}}],
        tool_choice={"type": "any"},
        thinking={"type": "enabled", "budget_tokens": 2000},
        output_config={"effort": "low"},
        stop_sequences=["x"],
        temperature=1,
    )
    bare = replace(
        WIRE.parse_request(given), system=(), tools=(), tool_choice=None, reasoning=None, stop=(), temperature=None
    )
    assert WIRE.render_request(bare) == body()


def test_a_choice_does_not_outlive_its_tools():
    given = body(tools=[{"name": "n", "input_schema": {"type": "object"}}], tool_choice={"type": "any"})
    assert "tool_choice" not in WIRE.render_request(replace(WIRE.parse_request(given), tools=()))


def test_thinking_that_is_not_a_budget_is_left_alone():
    given = body(thinking={"type": "adaptive"}, output_config={"effort": "low"})
    assert WIRE.render_request(replace(WIRE.parse_request(given), reasoning=None)) == body(
        thinking={"type": "adaptive"}
    )


def test_a_result_that_was_shortened_keeps_its_other_fields():
    (result,) = parsed({"type": "tool_result", "tool_use_id": "t", "content": "long", "is_error": True, "x": 1})
    shorter = replace(result, parts=(Text("l"),), is_error=False)
    assert rendered(Message("user", (shorter,)))[0]["content"] == [
        {"type": "tool_result", "tool_use_id": "t", "content": "l", "x": 1}
    ]
    assert rendered(Message("user", (replace(result, parts=()),)))[0]["content"] == [
        {"type": "tool_result", "tool_use_id": "t", "is_error": True, "x": 1}
    ]


def test_a_tool_without_a_schema_gets_one():
    request = WIRE.parse_request(body(tools=[{"name": "n", "strict": True}, {"name": "o", "input_schema": None}]))
    assert WIRE.render_request(replace(request, tools=request.tools[:1]))["tools"] == [
        {"name": "n", "strict": True, "input_schema": {"type": "object", "properties": {}}}
    ]


def test_a_body_without_a_model_is_written_without_one():
    assert WIRE.render_request(WIRE.parse_request({"max_tokens": 1, "messages": HELLO})) == {
        "max_tokens": 1,
        "messages": HELLO,
    }


# Writing the strict shape


def test_neighbours_of_one_role_become_one_message():
    assert rendered(user("a"), user("b"), assistant("c"), Message("assistant", (Text("d", CHAT),), CHAT)) == [
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "c"}, {"type": "text", "text": "d"}]},
    ]


def test_all_results_of_a_run_come_first_and_words_after_them():
    call = ToolCall("1", "n", "{}")
    out = rendered(
        user("go"),
        Message("assistant", (call, replace(call, id="2"))),
        Message("user", (ToolResult("1", (Text("one"),)),)),
        Message("system", (Text("careful"),), CHAT),
        Message("user", (Text("and"), ToolResult("2", (Text("two"),)))),
    )
    assert out[-1]["content"] == [
        {"type": "tool_result", "tool_use_id": "1", "content": "one"},
        {"type": "tool_result", "tool_use_id": "2", "content": "two"},
        {"type": "text", "text": "careful"},
        {"type": "text", "text": "and"},
    ]


def test_merging_is_linear():
    many = tuple(user("x") for _ in range(20_000))
    assert len(rendered(*many)[0]["content"]) == 20_000


def test_system_words_before_the_conversation_go_above_it():
    out = WIRE.render_request(
        ModelRequest("m", (Message("system", (Text("b"),)), Message("system", (Text("c"),)), user("hi")), (Text("a"),))
    )
    assert out["system"] == [{"type": "text", "text": text} for text in "abc"]
    assert out["messages"] == [{"role": "user", "content": "hi"}]
    assert WIRE.render_request(ModelRequest("m", (Message("system", (Text("b"),)), user("hi"))))["system"] == "b"
    assert "system" not in WIRE.render_request(ModelRequest("m", (Message("system", (Text(" "),)), user("hi"))))


def test_later_system_messages_stay_what_they_were_on_this_wire_and_are_said_by_the_user_otherwise():
    given = [*HELLO, {"role": "system", "content": "now be brief"}, {"role": "assistant", "content": "ok"}]
    assert WIRE.render_request(WIRE.parse_request(body(given)))["messages"] == given
    assert rendered(user("a"), assistant("b"), Message("system", (Text("c"),), CHAT)) == [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "b"},
        {"role": "user", "content": "c"},
    ]


def test_only_proven_thinking_is_sent_and_it_stays_where_it_was():
    sealed = {"type": "redacted_thinking", "data": "z", "x": 1}
    out = rendered(
        user("a"),
        Message(
            "assistant",
            (
                Thinking("signed", "anthropic", "sig"),
                Thinking("bare", "anthropic"),
                Thinking("", "anthropic", sealed="z", raw=Raw("anthropic", sealed)),
                Thinking("", "responses", sealed="foreign", raw=Raw("responses", {})),
                Text("b"),
                Thinking("", "anthropic", "empty but signed"),
            ),
        ),
    )
    assert out[1]["content"] == [
        {"type": "thinking", "thinking": "signed", "signature": "sig"},
        sealed,
        {"type": "text", "text": "b"},
        {"type": "thinking", "thinking": "", "signature": "empty but signed"},
    ]


def test_thinking_in_a_users_message_is_not_sent():
    assert rendered(Message("user", (Thinking("x", "anthropic", "sig"), Text("a")))) == [
        {"role": "user", "content": "a"}
    ]


def test_a_message_with_nothing_left_to_send_is_passed_over():
    out = rendered(
        user("a"), Message("assistant", (CallFragment("1", "n", "{"), Opaque(CHAT))), Message("assistant", ())
    )
    assert out == [{"role": "user", "content": "a"}]


def test_a_refusal_is_said_in_words():
    assert rendered(user("a"), Message("assistant", (Refusal("no"),)))[1]["content"] == [{"type": "text", "text": "no"}]


def test_calls_are_objects_and_free_text_is_one_of_their_strings():
    calls = (
        ToolCall("1", "n", '{"a": 1.0, "big": 12345678901234567890123}'),
        ToolCall("2", "patch", "*** Begin", freeform=True),
        ToolCall("3", "n", "not an object"),
    )
    assert rendered(user("a"), Message("assistant", calls))[1]["content"] == [
        {"type": "tool_use", "id": "1", "name": "n", "input": {"a": 1.0, "big": 12345678901234567890123}},
        {"type": "tool_use", "id": "2", "name": "patch", "input": {"input": "*** Begin"}},
    ]


def test_pictures_and_files_of_other_wires_are_sent_by_value_or_address_but_not_by_a_strange_id():
    shown = (
        Image("image/jpeg", "QQ==", raw=CHAT),
        Image(url="https://x.test/a.png"),
        Image(url="data:image/webp;base64,QQ=="),
        Image(file_id="file-1", raw=CHAT),
        Image(file_id="file-2"),
        Document(None, "QQ==", name="a.pdf"),
        Document(text="words"),
        Document(file_id="file-1", raw=CHAT),
    )
    sources = [(block["type"], block["source"]) for block in rendered(Message("user", shown))[0]["content"]]
    assert sources == [
        ("image", {"type": "base64", "media_type": "image/jpeg", "data": "QQ=="}),
        ("image", {"type": "url", "url": "https://x.test/a.png"}),
        ("image", {"type": "base64", "media_type": "image/webp", "data": "QQ=="}),
        ("image", {"type": "file", "file_id": "file-2"}),
        ("document", {"type": "base64", "media_type": "application/pdf", "data": "QQ=="}),
        ("document", {"type": "text", "media_type": "text/plain", "data": "words"}),
    ]


def test_an_assistant_of_another_wire_shows_no_pictures_here():
    out = rendered(user("a"), Message("assistant", (Image("image/png", "QQ==", raw=CHAT), Text("b"))))
    assert out[1] == {"role": "assistant", "content": "b"}


def test_tools_of_other_wires_get_a_schema():
    tools = (
        ToolSpec("a", "d", {"type": "object", "properties": {"x": {}}}),
        ToolSpec("b"),
        ToolSpec("c", parameters={"properties": {}}),
        ToolSpec("patch", freeform=True),
        Opaque(Raw("responses", {"type": "web_search"})),
    )
    assert rendered_request(tools=tools)["tools"] == [
        {"name": "a", "description": "d", "input_schema": {"type": "object", "properties": {"x": {}}}},
        {"name": "b", "input_schema": {"type": "object", "properties": {}}},
        {"name": "c", "input_schema": {"type": "object", "properties": {}}},
        {
            "name": "patch",
            "input_schema": {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]},
        },
    ]


@pytest.mark.parametrize(
    ("choice", "parallel", "written"),
    [
        (None, None, None),
        (None, True, None),
        (None, False, {"type": "auto", "disable_parallel_tool_use": True}),
        (ToolChoice("auto"), None, {"type": "auto"}),
        (ToolChoice("required"), True, {"type": "any", "disable_parallel_tool_use": False}),
        (ToolChoice("tool", "n"), False, {"type": "tool", "name": "n", "disable_parallel_tool_use": True}),
        (ToolChoice("tool"), None, {"type": "any"}),
        (ToolChoice("none"), False, {"type": "none"}),
    ],
)
def test_the_choice_of_tools(choice, parallel, written):
    fields = rendered_request(tools=(ToolSpec("n"),), tool_choice=choice, parallel_calls=parallel)
    assert fields.get("tool_choice") == written
    assert "tool_choice" not in rendered_request(tool_choice=choice, parallel_calls=parallel)


@pytest.mark.parametrize(
    ("reasoning", "fields"),
    [
        (Reasoning("high"), {"output_config": {"effort": "high"}}),
        (Reasoning("minimal"), {"output_config": {"effort": "low"}}),
        (Reasoning("cosmic"), {}),
        (Reasoning(budget_tokens=2000), {"thinking": {"type": "enabled", "budget_tokens": 2000}}),
    ],
)
def test_how_much_to_think(reasoning, fields):
    assert rendered_request(reasoning=reasoning) == fields


def test_a_limit_is_always_sent_and_leaves_room_for_a_thinking_budget():
    assert WIRE.render_request(ModelRequest("m", (user("a"),)))["max_tokens"] == 8192
    thinking = ModelRequest("m", (user("a"),), reasoning=Reasoning(budget_tokens=9000))
    assert WIRE.render_request(thinking)["max_tokens"] == 17192
    assert WIRE.render_request(replace(thinking, max_output_tokens=5))["max_tokens"] == 5


def test_settings_outside_of_what_this_wire_takes_are_brought_inside():
    assert rendered_request(temperature=1.7, stop=("\n\n", "END"), top_p=0.5, stream=True) == {
        "temperature": 1,
        "stop_sequences": ["END"],
        "top_p": 0.5,
        "stream": True,
    }


# The bare list


def test_a_bare_list_keeps_what_would_stand_above_it():
    messages = [{"role": "system", "content": "s", "x": 1}, *HELLO]
    assert WIRE.render_messages(WIRE.parse_messages(messages)) == messages
    moved = ModelRequest("", (Message("system", (Text("b"),), CHAT), user("hi")), system=(Text("a"),))
    assert WIRE.render_messages(moved) == [
        {"role": "system", "content": "a"},
        {"role": "system", "content": "b"},
        {"role": "user", "content": "hi"},
    ]


def test_what_is_no_list_is_refused():
    with pytest.raises(InvalidInput):
        WIRE.parse_messages({"messages": []})
