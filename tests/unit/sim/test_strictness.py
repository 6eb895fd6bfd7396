"""As strict about histories as the real providers, in their own words; and never confused by what it is sent."""

from random import Random
from typing import Any

import pytest

from headway.sim import Ending, Final, Script, SimServer, Think
from headway.sim.seals import judge_seals, seal
from headway.sim.strict import VALIDATORS
from headway.transport.clock import run_virtual
from unit.sim.talking import Answer, asking, post

USER = {"role": "user", "content": "Hi"}
CALL = {"id": "call_1", "type": "function", "function": {"name": "shell", "arguments": "{}"}}
CALLING = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "ok"}
ITEM = {"type": "function_call", "call_id": "call_1", "name": "shell", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "call_1", "output": "ok"}
USE = {"type": "tool_use", "id": "toolu_1", "name": "shell", "input": {}}
USING = {"role": "assistant", "content": [USE]}
GIVEN = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok"}]}


def send(wire: str, messages: list[Any], script: Script | None = None, **more: Any) -> tuple[Answer, Ending]:
    async def talk() -> tuple[Answer, Ending]:
        async with SimServer(script) as sim:
            answer = await post(sim, wire, asking(wire, *messages, **more))
            return answer, (await sim.quiet())[0].ending

    return run_virtual(talk())


@pytest.mark.parametrize(
    ("wire", "messages", "words"),
    [
        pytest.param("chat", [USER, CALLING, USER], "did not have response messages: call_1", id="call without result"),
        pytest.param("chat", [USER, RESULT], "must be a response to a preceeding message", id="result without call"),
        pytest.param(
            "chat", [USER, CALLING | {"content": "x", "tool_calls": []}], "empty array", id="empty list of calls"
        ),
        pytest.param(
            "chat",
            [USER, CALLING | {"tool_calls": [CALL | {"function": {"name": "shell", "arguments": '{"a": "b'}}]}, RESULT],
            "invalid function arguments json string, tool_call_id: call_1 (2013)",
            id="half arguments",
        ),
        pytest.param(
            "chat",
            [USER, CALLING | {"tool_calls": [CALL | {"id": "x" * 41}]}, RESULT | {"tool_call_id": "x" * 41}],
            "string too long. Expected a string with maximum length 40, but got a string with length 41 instead.",
            id="long id",
        ),
        pytest.param("chat", [USER | {"content": " "}], "Content length must be greater than 0", id="blank content"),
        pytest.param("responses", [USER, ITEM], "No tool output found for function call call_1.", id="call alone"),
        pytest.param(
            "responses",
            [USER, OUTPUT],
            "No tool call found for function call output with call_id call_1.",
            id="output alone",
        ),
        pytest.param(
            "responses",
            [USER, {"type": "reasoning", "id": "rs_1", "summary": []}],
            "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
            id="reasoning alone",
        ),
        pytest.param(
            "responses",
            [USER, {"type": "reasoning", "summary": [], "encrypted_content": "gAAAforeign"}, ITEM, OUTPUT],
            "could not be verified",
            id="foreign reasoning",
        ),
        pytest.param(
            "anthropic",
            [USER, USING, USER],
            "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1.",
            id="use without result",
        ),
        pytest.param("anthropic", [GIVEN], "unexpected `tool_use_id` found in `tool_result` blocks", id="result alone"),
        pytest.param("anthropic", [USING, GIVEN], 'first message must use the "user" role', id="assistant first"),
        pytest.param(
            "anthropic",
            [USER, {"role": "assistant", "content": "He"}],
            "does not support assistant message prefill",
            id="prefill",
        ),
        pytest.param("anthropic", [USER | {"content": ""}], "must have non-empty content", id="empty content"),
        pytest.param(
            "anthropic",
            [USER, {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}, USE]}, GIVEN],
            "messages.1.content.0.thinking.signature: Field required",
            id="unsigned thinking",
        ),
        pytest.param(
            "anthropic",
            [
                USER,
                {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "x"}, USE]},
                GIVEN,
            ],
            "messages.1.content.0: Invalid `signature` in `thinking` block",
            id="foreign thinking",
        ),
    ],
)
def test_a_broken_history_is_refused_in_the_providers_own_words(wire: str, messages: list[Any], words: str) -> None:
    answer, ending = send(wire, messages)
    body = answer.json()
    assert (answer.status, ending) == (400, Ending.REFUSED)
    assert words in body["error"]["message"]
    assert body["error"]["type"] == "invalid_request_error"
    assert ("request_id" in body) == (wire == "anthropic")


@pytest.mark.parametrize(
    ("wire", "messages"),
    [
        ("chat", [USER, CALLING, RESULT, USER]),
        ("responses", [USER, ITEM, OUTPUT, USER]),
        ("anthropic", [USER, USING, GIVEN]),
        (
            "anthropic",
            [
                USER,
                {
                    "role": "assistant",
                    "content": [{"type": "thinking", "thinking": "hm", "signature": seal("hm")}, USE],
                },
                GIVEN,
            ],
        ),
        (
            "responses",
            [USER, {"type": "reasoning", "summary": [], "encrypted_content": seal("hm")}, ITEM, OUTPUT],
        ),
    ],
)
def test_a_history_in_order_is_accepted(wire: str, messages: list[Any]) -> None:
    assert send(wire, messages)[0].status == 200


@pytest.mark.parametrize("wire", ["responses", "anthropic"])
def test_its_own_thinking_is_known_again(wire: str) -> None:
    script = Script(steps=(Think("A deep thought."), Final("Said.")))
    thought = send(wire, [USER], script)[0].received(wire).thinking[0]
    assert (thought.signature or thought.sealed) == seal("A deep thought.")


def test_a_provider_may_allow_a_prefill_or_everything() -> None:
    prefill = [USER, {"role": "assistant", "content": "Hello! I am"}]
    answer, _ = send("anthropic", prefill, Script(prefill=True))
    assert answer.received("anthropic").text == " a simulated model, and all is well."
    assert send("chat", [USER, CALLING, USER], Script(strict=False))[0].status == 200


@pytest.mark.parametrize(
    ("headers", "more", "words"),
    [
        ({"anthropic-version": ""}, {}, "anthropic-version: header is required"),
        ({"anthropic-version": "2026-10-21"}, {"temperature": 1}, "temperature: Extra inputs are not permitted"),
        ({"anthropic-version": "2026-10-21"}, {}, None),
        ({"anthropic-version": "2023-06-01"}, {"temperature": 1}, None),
    ],
)
def test_versions_matter(headers: dict[str, str], more: dict[str, Any], words: str | None) -> None:
    async def talk() -> Answer:
        async with SimServer() as sim:
            return await post(sim, "anthropic", asking("anthropic", **more), headers)

    answer = run_virtual(talk())
    assert answer.status == (400 if words else 200)
    assert not words or words in answer.json()["error"]["message"]


def test_a_response_that_was_not_kept_cannot_be_continued() -> None:
    answer, _ = send("responses", [USER], previous_response_id="resp_old")
    assert answer.json()["error"]["code"] == "previous_response_not_found"


# Hostile bodies

WORDS = (
    *(
        "model",
        "messages",
        "input",
        "tools",
        "role",
        "content",
        "type",
        "id",
        "name",
        "tool_calls",
        "function",
        "system",
    ),
    *("arguments", "tool_call_id", "call_id", "output", "tool_use_id", "source", "thinking", "summary", "tool_choice"),
    *("signature", "image_url", "max_tokens", "budget_tokens", "stream", "custom", "input_schema", "instructions"),
)
KINDS = (
    *("user", "assistant", "tool", "function", "text", "tool_use", "tool_result", "thinking", "message", "reasoning"),
    *("function_call", "function_call_output", "image", "document", "input_text", "output_text", "enabled"),
)
PLAIN: tuple[Any, ...] = (None, True, 0, 3, -1, 0.5, "", " ", "x", "{}", '{"a":1}', *KINDS)


def anything(dice: Random, depth: int = 0) -> Any:
    """Return some JSON that looks like parts of requests put together by somebody who cannot read."""
    chance = dice.random()
    if depth > 4 or chance < 0.35:
        return dice.choice(PLAIN)
    if chance < 0.6:
        return [anything(dice, depth + 1) for _ in range(dice.randint(0, 3))]
    return {dice.choice(WORDS): anything(dice, depth + 1) for _ in range(dice.randint(0, 6))}


def nearly_a_body(dice: Random) -> dict[str, Any]:
    def one() -> dict[str, Any]:
        named = {"role": dice.choice(("user", "assistant", "tool", 3)), "type": dice.choice((*KINDS, 3))}
        rest = {dice.choice(WORDS): anything(dice, 2) for _ in range(4)}
        return {**named, "content": anything(dice, 2), **rest}

    lists = {name: [one() for _ in range(dice.randint(0, 3))] for name in ("messages", "input", "tools")}
    return {
        "model": "m",
        "max_tokens": 9,
        **lists,
        **{dice.choice(WORDS): anything(dice) for _ in range(dice.randint(0, 2))},
    }


@pytest.mark.parametrize("wire", sorted(VALIDATORS))
def test_the_judges_never_raise_whatever_they_are_sent(wire: str) -> None:
    dice = Random(wire)
    for _ in range(500):
        body = nearly_a_body(dice)
        errors = VALIDATORS[wire](body)
        assert all(isinstance(error, str) for error in errors)
        assert errors or isinstance(judge_seals(wire, body), list)
