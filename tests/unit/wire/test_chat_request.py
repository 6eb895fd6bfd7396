"""Bodies of this wire: how they are read, and what is written when something was changed since."""

from typing import Any

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
    user,
)
from headway.wire.openai_chat import WIRE

HELLO = {"role": "user", "content": "hi"}


def body(**fields: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [HELLO], **fields}


def parse(*messages: dict[str, Any]) -> tuple[Message, ...]:
    return WIRE.parse_messages(list(messages)).messages


def render(*messages: Message, **fields: Any) -> list[dict[str, Any]]:
    return WIRE.render_messages(ModelRequest("m", messages, **fields))


def raw(value: dict[str, Any]) -> Raw:
    return Raw("chat", value)


class TestRefusing:
    @pytest.mark.parametrize(
        ("value", "what"),
        [
            ([], "the body"),
            ({"messages": [HELLO]}, "model"),
            ({"model": 4, "messages": [HELLO]}, "model"),
            ({"model": "m"}, "messages"),
            ({"model": "m", "messages": []}, "messages"),
            ({"model": "m", "messages": "hi"}, "messages"),
            ({"model": "m", "messages": [HELLO, "hi"]}, "messages[1]"),
            ({"model": "m", "messages": [{"content": "hi"}]}, "messages[0]"),
            ({"model": "m", "messages": [{"role": "critic", "content": "hi"}]}, "messages[0]"),
            ({"model": "m", "messages": [HELLO], "tools": {}}, "tools"),
            ({"model": "m", "messages": [HELLO], "tools": ["f"]}, "tools[0]"),
        ],
    )
    def test_what_is_no_request_says_what_why_and_what_to_do(self, value: Any, what: str) -> None:
        with pytest.raises(InvalidInput) as refused:
            WIRE.parse_request(value)
        assert refused.value.what == what
        assert refused.value.why
        assert refused.value.hint

    def test_a_bare_list_must_be_a_list(self) -> None:
        with pytest.raises(InvalidInput):
            WIRE.parse_messages({"role": "user"})  # type: ignore[arg-type]


class TestReadingMessages:
    def test_roles_stay_where_they_stand(self) -> None:
        roles = [
            m.role for m in parse({"role": "developer", "content": "a"}, HELLO, {"role": "system", "content": "b"})
        ]
        assert roles == ["system", "user", "system"]

    def test_a_bare_string_has_no_raw_and_a_listed_text_has(self) -> None:
        part = {"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}
        bare, listed = parse(HELLO, {"role": "user", "content": [part]})
        assert bare.parts == (Text("hi"),)
        assert listed.parts == (Text("hi", raw(part)),)

    def test_pictures_files_and_the_rest(self) -> None:
        parts = [
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAA", "detail": "low"}},
            {"type": "image_url", "image_url": {"url": "https://x.example/a.png"}},
            {"type": "file", "file": {"file_data": "data:application/pdf;base64,BBB", "filename": "a.pdf"}},
            {"type": "file", "file": {"file_id": "file-1"}},
            {"type": "input_audio", "input_audio": {"data": "CCC", "format": "wav"}},
            {"type": "image_url", "image_url": None},
        ]
        (message,) = parse({"role": "user", "content": parts})
        raws = [raw(part) for part in parts]
        assert message.parts == (
            Image("image/png", "AAA", raw=raws[0]),
            Image(url="https://x.example/a.png", raw=raws[1]),
            Document("application/pdf", "BBB", name="a.pdf", raw=raws[2]),
            Document(file_id="file-1", raw=raws[3]),
            Opaque(raws[4]),
            Opaque(raws[5]),
        )

    @pytest.mark.parametrize(
        ("content", "parts"),
        [
            (None, ()),
            ("", (Text(""),)),
            (5, (Text("5"),)),
            (True, (Text("true"),)),
            ({"k": [1]}, (Text('{"k":[1]}'),)),
            ({"k": "\ud800"}, (Text(""),)),
            ({"type": "text", "text": "a"}, (Text("a", raw({"type": "text", "text": "a"})),)),
            (["a", 5, None], (Text("a"),)),
        ],
    )
    def test_content_of_any_type_is_read_as_far_as_it_has_a_meaning(self, content: Any, parts: Any) -> None:
        assert parse({"role": "user", "content": content})[0].parts == parts

    def test_a_tool_message_is_a_result(self) -> None:
        value = {"role": "tool", "tool_call_id": "x", "content": "done", "name": "f"}
        assert parse(value)[0] == Message("user", (ToolResult("x", (Text("done"),), raw=raw(value)),), raw(value))

    @pytest.mark.parametrize(
        ("value", "call_id"),
        [
            ({"role": "tool", "content": "x"}, ""),
            ({"role": "tool", "tool_call_id": None, "content": "x"}, ""),
            ({"role": "tool", "tool_call_id": 7, "content": "x"}, "7"),
            ({"role": "function", "name": "f", "content": "x"}, ""),
        ],
    )
    def test_a_result_without_an_id_keeps_it_blank(self, value: dict[str, Any], call_id: str) -> None:
        (result,) = parse(value)[0].results
        assert (result.call_id, result.text) == (call_id, "x")

    def test_an_assistant_message_has_thinking_words_refusal_and_calls(self) -> None:
        call = {"id": "x", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}
        value = {
            "role": "assistant",
            "content": "a",
            "refusal": "no",
            "reasoning_content": "hm",
            "audio": {"id": "au"},
            "tool_calls": [call],
        }
        assert parse(value)[0].parts == (
            Thinking("hm", "chat", raw=raw({"reasoning_content": "hm"})),
            Text("a"),
            Refusal("no"),
            Opaque(raw({"audio": {"id": "au"}})),
            ToolCall("x", "f", '{"a":1}', raw=raw(call)),
        )

    def test_a_legacy_function_call_is_carried_as_it_is(self) -> None:
        value = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{"}}
        assert parse(value)[0].parts == (Opaque(raw({"function_call": value["function_call"]})),)
        assert render(*parse(value)) == [value]


class TestReadingCalls:
    def read(self, call: Any) -> Any:
        (part,) = parse({"role": "assistant", "tool_calls": [call]})[0].parts
        return replace(part, raw=None)

    @pytest.mark.parametrize(
        "arguments", ['{"a":', "[1]", '"a"', "{} {}", '{"a":1,"a":2}', "5", 5, [1], True, {"a": "\ud800"}]
    )
    def test_arguments_that_are_not_one_whole_object_make_a_fragment(self, arguments: Any) -> None:
        call = {"id": "x", "function": {"name": "f", "arguments": arguments}}
        assert isinstance(self.read(call), CallFragment)

    @pytest.mark.parametrize("arguments", ["", "  ", None])
    def test_no_arguments_are_an_empty_object(self, arguments: Any) -> None:
        assert self.read({"id": "x", "function": {"name": "f", "arguments": arguments}}) == ToolCall("x", "f", "{}")

    def test_arguments_as_an_object_are_whole(self) -> None:
        call = {"id": "x", "function": {"name": "f", "arguments": {"a": 1}}}
        assert self.read(call) == ToolCall("x", "f", '{"a":1}')

    def test_a_custom_call_is_freeform(self) -> None:
        call = {"id": "x", "type": "custom", "custom": {"name": "f", "input": "words"}}
        assert self.read(call) == ToolCall("x", "f", "words", freeform=True)

    @pytest.mark.parametrize(
        ("call", "part"),
        [
            ({"function": {"name": "f", "arguments": "{}"}}, ToolCall("", "f", "{}")),
            ({"id": 7, "function": {"name": None, "arguments": "{}"}}, ToolCall("7", "", "{}")),
            ({"id": "x"}, CallFragment("x", "", "")),
            ({"id": "x", "function": "f"}, CallFragment("x", "", "")),
            ({"id": "x", "type": "custom", "custom": {"name": "f"}}, CallFragment("x", "", "")),
        ],
    )
    def test_blank_ids_and_names_stay_blank_for_the_history_rules(self, call: Any, part: Any) -> None:
        assert self.read(call) == part

    @pytest.mark.parametrize("calls", [None, [], "f", 5, [None, "f"]])
    def test_calls_that_are_none_are_none(self, calls: Any) -> None:
        assert parse({"role": "assistant", "content": "a", "tool_calls": calls})[0].parts == (Text("a"),)


class TestThinking:
    def test_each_detail_is_a_block_and_flat_text_is_not_read_twice(self) -> None:
        details = [
            {"type": "reasoning.text", "text": "a", "signature": "s"},
            {"type": "reasoning.summary", "summary": "b"},
            {"type": "reasoning.encrypted", "data": "gA"},
        ]
        value = {"role": "assistant", "content": "c", "reasoning": "ab", "reasoning_details": details}
        thinking = [part for part in parse(value)[0].parts if isinstance(part, Thinking)]
        assert [(part.text, part.signature, part.sealed) for part in thinking] == [
            ("a", "s", None),
            ("b", None, None),
            ("", None, "gA"),
        ]
        assert render(*parse(value)) == [value]

    def test_flat_text_belongs_to_details_that_cannot_be_read(self) -> None:
        value = {
            "role": "assistant",
            "content": "c",
            "reasoning": "ab",
            "reasoning_details": [{"type": "reasoning.encrypted", "data": "gA"}],
        }
        (thinking, _) = parse(value)[0].parts
        assert isinstance(thinking, Thinking)
        assert (thinking.text, thinking.sealed) == ("ab", "gA")

    def test_dropped_thinking_takes_all_its_fields_along(self) -> None:
        value = {
            "role": "assistant",
            "content": "c",
            "reasoning": "a",
            "reasoning_details": [{"type": "x", "text": "a"}],
        }
        (message,) = parse(value)
        assert render(replace(message, parts=message.parts[1:])) == [{"role": "assistant", "content": "c"}]

    def test_plain_thinking_goes_out_as_flat_text_even_when_blank(self) -> None:
        call = ToolCall("x", "f", "{}")
        assert render(Message("assistant", (Thinking("", "chat"), call)))[0]["reasoning_content"] == ""
        assert render(Message("assistant", (Thinking("a", "some-provider"), call)))[0]["reasoning_content"] == "a"

    def test_thinking_of_another_wire_stays_behind(self) -> None:
        thinking = (Thinking("a", "anthropic", "sig"), Thinking("b", "responses", sealed="gB"))
        assert render(Message("assistant", (*thinking, Text("c")))) == [{"role": "assistant", "content": "c"}]

    def test_signed_and_streamed_thinking_goes_out_as_details(self) -> None:
        item = {"type": "reasoning.encrypted", "data": "gA", "id": "rs_1"}
        streamed = Thinking("b", "chat", sealed="gA", raw=raw({"reasoning_details": [item]}))
        (written,) = render(Message("assistant", (Thinking("a", "chat", "s"), streamed, Text("c"))))
        assert written["reasoning_details"] == [
            {"type": "reasoning.text", "text": "a", "signature": "s"},
            {"type": "reasoning.summary", "summary": "b"},
            item,
        ]
        assert written["reasoning_content"] == "ab"


class TestRenderingWhatChanged:
    def test_own_fields_win_and_unknown_ones_survive(self) -> None:
        call = {"id": "x", "type": "function", "function": {"name": "f", "arguments": "{}", "k": 1}, "index": 0}
        (message,) = parse({"role": "assistant", "content": "a", "tool_calls": [call], "prefix": True})
        changed = replace(message, parts=(Text("b"), replace(message.calls[0], id="y")))
        assert render(changed) == [
            {"role": "assistant", "content": "b", "tool_calls": [{**call, "id": "y"}], "prefix": True}
        ]

    def test_a_dropped_text_leaves_null_beside_calls(self) -> None:
        call = {"id": "x", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        (message,) = parse({"role": "assistant", "content": "", "tool_calls": [call]})
        assert render(replace(message, parts=message.calls)) == [
            {"role": "assistant", "content": None, "tool_calls": [call]}
        ]

    def test_dropped_calls_leave_no_empty_list(self) -> None:
        call = {"id": "x", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        (message,) = parse({"role": "assistant", "content": "a", "tool_calls": [call]})
        assert render(replace(message, parts=(Text("a"),))) == [{"role": "assistant", "content": "a"}]

    def test_a_fragment_is_never_sent_and_a_message_of_fragments_neither(self) -> None:
        broken = {"id": "x", "type": "function", "function": {"name": "f", "arguments": "{"}}
        alone, beside = parse(
            {"role": "assistant", "content": None, "tool_calls": [broken]},
            {"role": "assistant", "content": "a", "tool_calls": [broken]},
        )
        assert render(alone, beside) == [{"role": "assistant", "content": "a"}]

    def test_a_changed_body_keeps_what_was_not_changed(self) -> None:
        given = body(max_tokens=5, stop="x", temperature=1, logprobs=True, stream_options=None)
        request = replace(WIRE.parse_request(given), max_output_tokens=9, stop=("a", "b"), model="other")
        assert WIRE.render_request(request) == {**given, "max_tokens": 9, "stop": ["a", "b"], "model": "other"}

    def test_both_names_of_the_cap_become_one_when_it_changes(self) -> None:
        request = WIRE.parse_request(body(max_tokens=5, max_completion_tokens=6))
        assert request.max_output_tokens == 6
        assert WIRE.render_request(replace(request, max_output_tokens=7)) == body(max_completion_tokens=7)
        assert WIRE.render_request(replace(request, max_output_tokens=None)) == body()

    def test_without_tools_nothing_about_tools_is_sent(self) -> None:
        tool = {"type": "function", "function": {"name": "f"}}
        request = WIRE.parse_request(body(tools=[tool], tool_choice="auto", parallel_tool_calls=True))
        assert WIRE.render_request(replace(request, tools=())) == body()
        assert WIRE.render_request(WIRE.parse_request(body(tools=[]))) == body()

    def test_a_choice_among_custom_tools_names_it_as_one(self) -> None:
        tools = (ToolSpec("f", freeform=True), ToolSpec("g", "says g", {"type": "object"}))
        request = ModelRequest("m", (user("hi"),), tools=tools, tool_choice=ToolChoice("tool", "f"))
        rendered = WIRE.render_request(request)
        assert rendered["tool_choice"] == {"type": "custom", "custom": {"name": "f"}}
        assert rendered["tools"] == [
            {"type": "custom", "custom": {"name": "f"}},
            {
                "type": "function",
                "function": {"name": "g", "description": "says g", "parameters": {"type": "object"}},
            },
        ]
        assert WIRE.render_request(replace(request, tool_choice=ToolChoice("none")))["tool_choice"] == "none"
        other = WIRE.render_request(replace(request, tool_choice=ToolChoice("tool", "g")))
        assert other["tool_choice"] == {"type": "function", "function": {"name": "g"}}

    def test_a_changed_tool_keeps_its_unknown_fields(self) -> None:
        tool = {"type": "function", "function": {"name": "f", "description": "a", "strict": True}, "cache": 1}
        request = WIRE.parse_request(body(tools=[tool, {"type": "web_search"}]))
        spec = request.tools[0]
        assert isinstance(spec, ToolSpec)
        changed = replace(
            request, tools=(replace(spec, description=None), request.tools[1], Opaque(Raw("responses", {})))
        )
        assert WIRE.render_request(changed)["tools"] == [
            {"type": "function", "function": {"name": "f", "strict": True}, "cache": 1},
            {"type": "web_search"},
        ]


def test_a_body_with_everything_comes_back_as_it_was() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAA", "detail": "low"}, "k": 1}
    call = {"id": "x", "type": "function", "function": {"name": "f", "arguments": "{}"}, "extra_content": {"k": 1}}
    file = {"type": "file", "file": {"file_data": "bare", "k": 1}}
    given = body(
        messages=[
            {"role": "developer", "content": [{"type": "text", "text": "be kind", "cache_control": {}}], "name": "d"},
            {"role": "user", "content": [picture, file, {"type": "input_audio", "input_audio": {"data": "A"}}]},
            {"role": "assistant", "content": [{"type": "refusal", "refusal": "no", "k": 1}], "audio": None},
            {"role": "assistant", "content": None, "tool_calls": [call], "reasoning": "hm", "k": 1},
            {"role": "tool", "tool_call_id": "x", "content": "done", "k": 1},
            {"role": "assistant", "content": "", "audio": {"id": "au"}, "function_call": None},
        ],
        tools=[{"type": "function", "function": {"name": "f", "parameters": None}}, {"type": "web_search", "k": 1}],
        tool_choice={"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}},
        stop=None,
        stream=True,
        stream_options={"include_usage": True},
        metadata={"k": "v"},
    )
    assert WIRE.render_request(WIRE.parse_request(given)) == given


class TestStreaming:
    @pytest.mark.parametrize(
        ("given", "sent"),
        [
            ({}, {"include_usage": True}),
            ({"stream_options": None}, {"include_usage": True}),
            ({"stream_options": {"include_usage": False}}, {"include_usage": False}),
            (
                {"stream_options": {"include_obfuscation": False}},
                {"include_obfuscation": False, "include_usage": True},
            ),
        ],
    )
    def test_a_stream_asks_for_its_usage_unless_the_client_said_so(self, given: Any, sent: Any) -> None:
        assert WIRE.render_request(WIRE.parse_request(body(stream=True, **given)))["stream_options"] == sent

    def test_a_request_turned_into_one_that_does_not_stream_takes_its_options_back(self) -> None:
        request = WIRE.parse_request(body(stream=True, stream_options={"include_usage": True}))
        assert WIRE.render_request(replace(request, stream=False)) == body()


def test_a_request_born_elsewhere_is_written_in_this_wires_words() -> None:
    request = ModelRequest(
        "m",
        (user("hi"),),
        system=(Text("be kind"), Text("be brief")),
        parallel_calls=False,
        max_output_tokens=9,
        temperature=0.5,
        top_p=0.9,
        stop=("x",),
        reasoning=Reasoning("high", 2048),
        stream=True,
        raw=Raw("anthropic", {"max_tokens": 4, "system": "x"}),
    )
    assert WIRE.render_request(request) == {
        "model": "m",
        "messages": [{"role": "system", "content": "be kind\n\nbe brief"}, HELLO],
        "max_completion_tokens": 9,
        "temperature": 0.5,
        "top_p": 0.9,
        "stop": ["x"],
        "reasoning_effort": "high",
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_a_budget_of_thinking_has_no_word_here() -> None:
    request = ModelRequest("m", (user("hi"),), reasoning=Reasoning(budget_tokens=2048))
    assert WIRE.render_request(request) == body()
