"""Histories that were read on another wire or born here, brought into this wire's order."""

from typing import Any

from headway.messages import (
    CallFragment,
    Document,
    Image,
    Message,
    ModelRequest,
    Opaque,
    Part,
    Raw,
    Refusal,
    ResultPart,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    assistant,
    user,
)
from headway.wire.openai_chat import WIRE

FOREIGN = Raw("anthropic", {"type": "text", "text": "raw", "cache_control": {}})
CALL = ToolCall("x", "f", '{"a":1}', raw=Raw("anthropic", {"type": "tool_use"}))
OTHER_CALL = ToolCall("y", "g", "words", freeform=True)
WRITTEN = {"id": "x", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}
OTHER_WRITTEN = {"id": "y", "type": "custom", "custom": {"name": "g", "input": "words"}}
IMAGE = Image("image/png", "AAA", raw=Raw("anthropic", {"type": "image"}))
IMAGE_WRITTEN = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAA"}}


def render(*messages: Message) -> list[dict[str, Any]]:
    return WIRE.render_messages(ModelRequest("m", messages))


def said(*parts: Part) -> Message:
    return Message("assistant", parts)


def result(call_id: str, *parts: ResultPart, is_error: bool = False) -> ToolResult:
    return ToolResult(call_id, parts, is_error)


def test_words_of_another_wire_become_one_string() -> None:
    assert render(Message("user", (Text("a", FOREIGN), Text("b")), FOREIGN), said(Text("c"), Text("d"))) == [
        {"role": "user", "content": "a\n\nb"},
        {"role": "assistant", "content": "cd"},
    ]


def test_each_result_is_a_message_and_the_users_words_follow() -> None:
    parts = (Text("and now?"), result("x", Text("one"), Text("two")), result("y", Text("three")))
    assert render(said(CALL, OTHER_CALL), Message("user", parts)) == [
        {"role": "assistant", "content": None, "tool_calls": [WRITTEN, OTHER_WRITTEN]},
        {"role": "tool", "tool_call_id": "x", "content": "one\ntwo"},
        {"role": "tool", "tool_call_id": "y", "content": "three"},
        {"role": "user", "content": "and now?"},
    ]


def test_pictures_in_results_follow_behind_all_results() -> None:
    assert render(
        Message("user", (result("x", Text("see"), IMAGE),)),
        Message("user", (result("y", Document("application/pdf", "BBB", name="a.pdf")),)),
        assistant("nice"),
    ) == [
        {"role": "tool", "tool_call_id": "x", "content": "see\n[image attached in the next user message]"},
        {"role": "tool", "tool_call_id": "y", "content": "[file attached in the next user message]"},
        {
            "role": "user",
            "content": [
                IMAGE_WRITTEN,
                {"type": "file", "file": {"file_data": "data:application/pdf;base64,BBB", "filename": "a.pdf"}},
            ],
        },
        {"role": "assistant", "content": "nice"},
    ]


def test_pictures_in_the_last_results_are_not_forgotten() -> None:
    assert render(Message("user", (result("x", IMAGE),)))[-1] == {"role": "user", "content": [IMAGE_WRITTEN]}


def test_a_picture_that_this_wires_client_put_into_a_result_stays_there() -> None:
    value = {"role": "tool", "tool_call_id": "x", "content": [IMAGE_WRITTEN]}
    assert WIRE.render_messages(WIRE.parse_messages([value])) == [value]


def test_a_failed_result_says_so_in_words() -> None:
    results = (result("x", Text("no such file"), is_error=True), result("y", Text("Error: x"), is_error=True))
    assert [message["content"] for message in render(Message("user", results))] == ["Error:\nno such file", "Error: x"]


def test_a_result_without_words_is_an_empty_string() -> None:
    opaque = Opaque(Raw("anthropic", {"type": "tool_reference"}))
    assert [message["content"] for message in render(Message("user", (result("x"), result("y", opaque))))] == ["", ""]


def test_a_document_of_plain_text_is_its_text() -> None:
    document = Document("text/plain", text="lorem")
    assert render(Message("user", (result("x", document),)), Message("user", (document,))) == [
        {"role": "tool", "tool_call_id": "x", "content": "lorem"},
        {"role": "user", "content": [{"type": "text", "text": "lorem"}]},
    ]


def test_what_cannot_be_brought_here_is_named() -> None:
    parts = (Image(url="https://x.example/a.png"), Image(file_id="file_1"), Document(url="https://x.example/a.pdf"))
    assert render(Message("user", parts))[0]["content"] == [
        {"type": "image_url", "image_url": {"url": "https://x.example/a.png"}},
        {"type": "text", "text": "[an image that is stored with another provider]"},
        {"type": "text", "text": "[https://x.example/a.pdf]"},
    ]


def test_a_turn_that_another_wire_keeps_apart_becomes_one_message() -> None:
    items = [said(Thinking("hm", "chat")), assistant("Let me see."), said(CALL), said(OTHER_CALL), assistant("Both.")]
    assert render(*items) == [
        {
            "role": "assistant",
            "content": "Let me see.Both.",
            "reasoning_content": "hm",
            "tool_calls": [WRITTEN, OTHER_WRITTEN],
        }
    ]


def test_two_answers_in_a_row_stay_two() -> None:
    assert len(render(assistant("a"), assistant("b"))) == 2


def test_what_was_read_on_this_wire_is_not_merged() -> None:
    values = [{"role": "assistant", "content": "a"}, {"role": "assistant", "content": None, "tool_calls": [WRITTEN]}]
    assert WIRE.render_messages(WIRE.parse_messages(values)) == values


def test_a_refusal_keeps_its_own_field() -> None:
    assert render(said(Refusal("I can"), Refusal("not."))) == [
        {"role": "assistant", "content": None, "refusal": "I cannot."}
    ]


def test_what_only_another_wire_knows_is_left_out() -> None:
    opaque = Opaque(Raw("responses", {"type": "web_search_call"}))
    fragment = CallFragment("z", "f", '{"a')
    assert render(said(opaque), said(fragment), Message("user", (opaque,)), said(opaque, Text("a"), fragment)) == [
        {"role": "assistant", "content": "a"}
    ]


def test_thinking_alone_is_no_message() -> None:
    assert render(said(Thinking("hm", "chat"))) == []


def test_a_system_message_may_stand_anywhere() -> None:
    assert render(user("hi"), Message("system", (Text("be kind"),))) == [
        {"role": "user", "content": "hi"},
        {"role": "system", "content": "be kind"},
    ]


def test_a_result_that_was_made_into_words_is_a_user_message() -> None:
    (message,) = WIRE.parse_messages([{"role": "tool", "tool_call_id": "x", "content": "a"}]).messages
    assert render(Message("user", (Text("a"),), message.raw)) == [{"role": "user", "content": "a"}]
