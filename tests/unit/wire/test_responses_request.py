"""Request bodies and input items, both ways."""

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
from headway.wire.openai_responses import WIRE

parse, render = WIRE.parse_request, WIRE.render_request


def read(*items) -> tuple[Message, ...]:
    return WIRE.parse_messages(list(items)).messages


def write(*messages: Message) -> list[dict]:
    return WIRE.render_messages(ModelRequest("", messages))


def only_part(item: dict):
    ((part,),) = (message.parts for message in read(item))
    return part


# Reading


def test_a_string_is_one_user_message_and_stays_a_string():
    request = parse({"model": "m", "input": "Hi"})
    assert request.messages == (user("Hi"),)
    assert render(request)["input"] == "Hi"
    more = replace(request, messages=(*request.messages, assistant("Yes?")))
    assert [item["role"] for item in render(more)["input"]] == ["user", "assistant"]


def test_instructions_are_the_system_and_developer_items_stay_where_they_are():
    body = {"model": "m", "instructions": "Be brief.", "input": [{"role": "developer", "content": "Now."}]}
    request = parse(body)
    assert request.system == (Text("Be brief."),)
    assert request.messages[0].role == "system"
    assert render(request) == body


def test_a_call_is_whole_only_if_its_arguments_are_one_object():
    item = {"type": "function_call", "call_id": "c", "name": "f"}
    assert isinstance(only_part({**item, "arguments": '{"a":1}'}), ToolCall)
    for broken in ('{"a":', "[1]", '{"a":1,"a":2}', '{"a":1} {"b":2}', "null", None, 5):
        part = only_part({**item, "arguments": broken})
        assert isinstance(part, CallFragment), broken
        assert part.arguments != "{}"


def test_no_arguments_are_an_empty_object_unless_the_call_was_cut():
    item = {"type": "function_call", "call_id": "c", "name": "f", "arguments": " "}
    assert only_part(item).arguments == "{}"
    assert write(*read(item)) == [{**item, "arguments": "{}"}]
    assert isinstance(only_part({**item, "status": "incomplete"}), CallFragment)


def test_arguments_sent_as_an_object_are_written_as_text():
    (message,) = read({"type": "function_call", "call_id": "c", "name": "f", "arguments": {"a": 1}})
    assert write(message)[0]["arguments"] == '{"a":1}'


def test_a_freeform_call_is_whole_unless_it_was_cut():
    item = {"type": "custom_tool_call", "call_id": "c", "name": "patch", "input": "*** Begin"}
    assert only_part(item) == ToolCall("c", "patch", "*** Begin", freeform=True, raw=Raw("responses", item))
    assert isinstance(only_part({**item, "status": "incomplete"}), CallFragment)
    assert isinstance(only_part({**item, "input": None}), CallFragment)


def test_blank_names_and_ids_are_kept_for_the_repair_pass():
    call = only_part({"type": "function_call", "call_id": None, "name": 7, "arguments": "{}"})
    assert (call.id, call.name) == ("", "")
    assert only_part({"type": "function_call_output"}) == ToolResult(
        "", (), raw=Raw("responses", {"type": "function_call_output"})
    )


def test_reasoning_is_thinking_of_this_wire():
    item = {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "A"}, {"type": "summary_text", "text": "B"}],
        "content": [{"type": "reasoning_text", "text": "C"}],
        "encrypted_content": "g",
    }
    assert only_part(item) == Thinking("A\n\nB\n\nC", "responses", sealed="g", raw=Raw("responses", item))


@pytest.mark.parametrize(
    ("kind", "role"),
    [("web_search_call", "assistant"), ("shell_call_output", "user"), ("item_reference", "user"), (None, "user")],
)
def test_other_items_are_opaque_and_belong_to_whoever_made_them(kind, role):
    item = {"type": kind, "id": "x"} if kind else {"id": "x"}
    assert read(item) == (Message(role, (Opaque(Raw("responses", item)),), Raw("responses", item)),)


def test_pictures_and_files_are_read_by_their_source():
    parts = [
        {"type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "low"},
        {"type": "input_image", "image_url": "https://x/y.png"},
        {"type": "input_image", "file_id": "file_1"},
        {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,BB"},
        {"type": "input_file", "file_data": "BBBB"},
        {"type": "input_file", "file_url": "https://x/y.pdf"},
        {"type": "input_file"},
        {"type": "input_image", "image_url": {"url": "nested"}},
        {"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}},
    ]
    (message,) = read({"role": "user", "content": parts})
    assert [replace(part, raw=None) if not isinstance(part, Opaque) else "opaque" for part in message.parts] == [
        Image("image/png", "AAAA"),
        Image(url="https://x/y.png"),
        Image(file_id="file_1"),
        Document("application/pdf", "BB", name="a.pdf"),
        Document(data="BBBB"),
        Document(url="https://x/y.pdf"),
        "opaque",
        "opaque",
        "opaque",
    ]
    assert write(message) == [{"role": "user", "content": parts}]


@pytest.mark.parametrize(
    ("content", "text"),
    [(5, "5"), ([7], "7"), ({"type": "input_text", "text": "x"}, "x"), ([{"text": "y"}], "y"), (True, "true")],
)
def test_content_that_is_no_text_becomes_some(content, text):
    (message,) = read({"role": "user", "content": content})
    assert message.text == text
    (item,) = write(message)
    assert item["content"] == [{"type": "input_text", "text": text}]


def test_a_refusal_is_told_apart_from_words():
    item = {"role": "assistant", "content": [{"type": "refusal", "refusal": "No"}]}
    assert read(item)[0].parts == (Refusal("No", Raw("responses", item["content"][0])),)
    assert write(*read(item)) == [item]


@pytest.mark.parametrize(
    ("value", "choice"),
    [
        ("required", ToolChoice("required")),
        ({"type": "function", "name": "f"}, ToolChoice("tool", "f")),
        ({"type": "custom", "name": "p"}, ToolChoice("tool", "p")),
        ({"type": "allowed_tools", "mode": "auto", "tools": []}, None),
        (["odd"], None),
    ],
)
def test_a_choice_of_tools_is_read_where_the_vocabulary_has_it_and_kept_where_not(value, choice):
    body = {"model": "m", "input": "x", "tool_choice": value}
    assert parse(body).tool_choice == choice
    assert render(parse(body)) == body


def test_tools_of_the_server_and_tools_without_a_name_are_kept_as_they_are():
    tools = [{"type": "web_search"}, {"type": "function", "function": {"name": "f"}}]
    request = parse({"model": "m", "input": "x", "tools": tools})
    assert request.tools == tuple(Opaque(Raw("responses", tool)) for tool in tools)
    assert render(replace(request, tools=(*request.tools, ToolSpec("f"))))["tools"][:2] == tools


def test_strings_and_nulls_among_items_are_read_with_good_will():
    assert read("Hi", None) == (user("Hi"),)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ([], "not a JSON object"),
        ({"model": "m"}, "no `input`"),
        ({"model": "m", "messages": []}, "no `input`"),
        ({"model": "m", "input": 5}, "neither a string nor a list"),
        ({"model": "m", "input": [5]}, "an item is an object"),
        ({"model": "m", "input": [{"role": "tool", "content": "x"}]}, "no role 'tool'"),
    ],
)
def test_what_is_no_request_is_refused_in_words(body, why):
    with pytest.raises(InvalidInput, match=why) as refused:
        parse(body)
    assert refused.value.hint


def test_a_body_may_leave_its_input_on_the_server():
    body = {"model": "m", "previous_response_id": "resp_1"}
    assert render(parse(body)) == body


def test_words_nested_too_deeply_are_refused_in_words():
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(InvalidInput, match="nested too deeply"):
        parse({"model": "m", "input": [{"role": "user", "content": [{"type": "input_text", "text": deep}]}]})
    while deep:  # take it apart by hand: a destructor would recurse
        deep = deep.pop()


def test_a_bare_list_must_be_a_list():
    with pytest.raises(InvalidInput, match="not a list"):
        WIRE.parse_messages({})


# Writing what was changed


def test_own_fields_win_and_unknown_ones_survive():
    body = {"model": "m", "input": [], "reasoning": {"effort": "low", "summary": "auto"}, "metadata": {"k": "v"}}
    changed = replace(parse(body), model="n", reasoning=Reasoning("high"), max_output_tokens=9, stream=True)
    assert render(changed) == {
        **body,
        "model": "n",
        "reasoning": {"effort": "high", "summary": "auto"},
        "max_output_tokens": 9,
        "stream": True,
    }
    assert render(replace(changed, reasoning=None))["reasoning"] == {"summary": "auto"}
    limited = parse({"model": "m", "input": [], "max_output_tokens": 9})
    assert render(replace(limited, max_output_tokens=None)) == {"model": "m", "input": []}


def test_a_call_that_was_renamed_keeps_its_unknown_fields():
    item = {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "f", "arguments": "{}", "caller": {"a": 1}}
    (message,) = read(item)
    renamed = replace(message, parts=(replace(message.parts[0], id="d"),))
    assert write(renamed) == [{**item, "call_id": "d"}]


def test_a_tool_that_was_changed_keeps_its_unknown_fields():
    tool = {
        "type": "function",
        "name": "f",
        "description": "Old",
        "parameters": {},
        "strict": True,
        "defer_loading": True,
    }
    request = parse({"model": "m", "input": "x", "tools": [tool]})
    renamed = replace(request, tools=(replace(request.tools[0], name="g", description=None),))
    (written,) = render(renamed)["tools"]
    assert (written["name"], written["strict"], written["defer_loading"]) == ("g", True, True)
    assert "description" not in written


def test_fragments_are_never_written():
    assert write(Message("assistant", (Text("A"), CallFragment("c", "f", "{")))) == write(assistant("A"))
    assert write(*read({"type": "function_call", "call_id": "c", "name": "f", "arguments": "{"})) == []


# Writing what came from elsewhere


def test_a_request_of_another_wire_is_written_in_this_ones_words():
    request = ModelRequest(
        "m",
        (user("Hi"), assistant("Yes?"), Message("system", (Text("Mind."),))),
        system=(Text("One."), Text("Two.")),
        tools=(
            ToolSpec("f", "Does f", {"type": "object"}),
            ToolSpec("g"),
            ToolSpec("p", "Patches", freeform=True),
            Opaque(Raw("anthropic", {"type": "web_search_20250305"})),
        ),
        tool_choice=ToolChoice("tool", "p"),
        parallel_calls=False,
        max_output_tokens=5,
        temperature=0.5,
        top_p=0.9,
        stop=("END",),
        reasoning=Reasoning("low", 1024),
        stream=True,
        raw=Raw("chat", {"frequency_penalty": 1}),
    )
    nothing = {"type": "object", "properties": {}}
    assert render(request) == {
        "model": "m",
        "instructions": "One.\n\nTwo.",
        "input": [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "Yes?", "annotations": []}],
            },
            {"type": "message", "role": "system", "content": [{"type": "input_text", "text": "Mind."}]},
        ],
        "tools": [
            {
                "type": "function",
                "name": "f",
                "description": "Does f",
                "parameters": {"type": "object"},
                "strict": False,
            },
            {"type": "function", "name": "g", "parameters": nothing, "strict": False},
            {"type": "custom", "name": "p", "description": "Patches"},
        ],
        "tool_choice": {"type": "custom", "name": "p"},
        "parallel_tool_calls": False,
        "max_output_tokens": 5,
        "temperature": 0.5,
        "top_p": 0.9,
        "reasoning": {"effort": "low"},
        "stream": True,
    }
    assert render(replace(request, tool_choice=ToolChoice("required")))["tool_choice"] == "required"


def test_one_turn_becomes_items_in_the_order_it_was_said():
    sealed = Thinking("Hm", "responses", sealed="g")
    turn = Message("assistant", (sealed, Text("A"), ToolCall("c1", "f", "{}"), ToolCall("c2", "p", "x", freeform=True)))
    results = Message("user", (ToolResult("c1", (Text("r"),)), ToolResult("c2", freeform=True), Text("Go on")))
    assert write(turn, results) == [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm"}], "encrypted_content": "g"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "A", "annotations": []}]},
        {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
        {"type": "custom_tool_call", "call_id": "c2", "name": "p", "input": "x"},
        {"type": "function_call_output", "call_id": "c1", "output": "r"},
        {"type": "custom_tool_call_output", "call_id": "c2", "output": ""},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go on"}]},
    ]


def test_a_result_with_pictures_is_a_list_of_parts():
    parts = (
        Text("See"),
        Image("image/png", "AAAA"),
        Image(url="https://x"),
        Image(file_id="f"),
        Document("application/pdf", "BB"),
        Document(text="plain"),
        Document(url="https://y", name="y"),
        Document(file_id="g"),
        Image(),
        Document(),
        Opaque(Raw("anthropic", {"type": "search_result"})),
    )
    (item,) = write(Message("user", (ToolResult("c", parts),)))
    assert item["output"] == [
        {"type": "input_text", "text": "See"},
        {"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,AAAA"},
        {"type": "input_image", "detail": "auto", "image_url": "https://x"},
        {"type": "input_image", "detail": "auto", "file_id": "f"},
        {"type": "input_file", "filename": "file", "file_data": "data:application/pdf;base64,BB"},
        {"type": "input_text", "text": "plain"},
        {"type": "input_file", "filename": "y", "file_url": "https://y"},
        {"type": "input_file", "file_id": "g"},
    ]


def test_words_and_blocks_of_another_wire_alone_are_a_string():
    result = ToolResult("c", (Text("a"), Opaque(Raw("anthropic", {"type": "x"})), Text("b")))
    assert write(Message("user", (result,)))[0]["output"] == "a\nb"


def test_the_model_cannot_have_said_a_picture():
    assert write(Message("assistant", (Image(url="https://x"), Document(url="https://y")))) == []


def test_what_the_model_said_is_written_as_input_where_a_user_says_it():
    spoken = {"type": "output_text", "text": "A", "annotations": [], "logprobs": []}
    quoted = Message("user", (Text("A", Raw("responses", spoken)), Refusal("B")))
    assert write(quoted)[0]["content"] == [{"type": "input_text", "text": "A"}, {"type": "input_text", "text": "B"}]
    assert write(Message("assistant", (Refusal("B"),)))[0]["content"] == [{"type": "refusal", "refusal": "B"}]


# Reasoning


SEALED = {"type": "reasoning", "id": "rs_1", "status": "completed", "summary": [], "encrypted_content": "g"}


def test_streamed_reasoning_goes_back_without_what_only_a_server_knows():
    streamed = Thinking("", "responses", sealed="g", raw=Raw("responses", SEALED))
    items = write(Message("assistant", (streamed, ToolCall("c", "f", "{}"))))
    assert items[0] == {"type": "reasoning", "summary": [], "encrypted_content": "g"}


def test_streamed_reasoning_that_led_to_nothing_is_left_out():
    streamed = Thinking("", "responses", sealed="g", raw=Raw("responses", SEALED))
    assert [item["type"] for item in write(Message("assistant", (Text("A"), streamed, streamed)))] == ["message"]
    assert [item["type"] for item in write(Message("assistant", (streamed,)), user("Hi"))] == ["message"]
    assert [item["type"] for item in write(Message("assistant", (streamed,)), assistant("A"))] == [
        "reasoning",
        "message",
    ]


def test_reasoning_that_was_read_goes_back_as_it_came():
    assert write(*read(SEALED)) == [SEALED]


def test_reasoning_of_others_and_reasoning_without_a_seal_stay_here():
    for thinking in (Thinking("Hm", "anthropic", signature="s"), Thinking("Hm", "responses")):
        assert write(Message("assistant", (thinking, Text("A")))) == write(assistant("A"))
