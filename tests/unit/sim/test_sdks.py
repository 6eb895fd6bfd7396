"""The official clients, unmodified, against the simulator: what is healthy reads as healthy."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from headway.sim import Final, Script, SimServer, Think, WriteFile, read_fault
from headway.sim.filler import text_of

anthropic = pytest.importorskip("anthropic")
openai = pytest.importorskip("openai")

NOTES = text_of(900)
SCRIPT = Script(steps=(Think("Hm."), WriteFile("notes.md", NOTES), Final("It is written.")), keys=("sim-key",))
FUNCTION = {"name": "write_file", "parameters": {"type": "object", "properties": {}}}
HEALTHY = ("fragments bytes=11", "silent_thinking seconds=0.02 interval=0.01", "slow_headers seconds=0.01", "no_usage")


def serve(talk: Callable[[str], Coroutine[Any, Any, Any]], *faults: str) -> Any:
    async def run() -> Any:
        async with SimServer(
            Script(steps=SCRIPT.steps, keys=SCRIPT.keys, faults=tuple(map(read_fault, faults)))
        ) as sim:
            result = await talk(sim.url)
            assert [one.refusal for one in sim.log] == [""] * len(sim.log)
            return result

    return asyncio.run(run())


async def by_chat(url: str) -> tuple[str, str]:
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="sim-key", max_retries=0) as client:
        messages: list[Any] = [{"role": "user", "content": "Write."}]
        tools: Any = [{"type": "function", "function": FUNCTION}]
        async with client.chat.completions.stream(model="m", messages=messages, tools=tools) as stream:
            first = (await stream.get_final_completion()).choices[0].message
        call = first.tool_calls[0]
        messages += [first.to_dict(), {"role": "tool", "tool_call_id": call.id, "content": "ok"}]
        second = await client.chat.completions.create(model="m", messages=messages, tools=tools)
        return call.function.arguments, second.choices[0].message.content


async def by_responses(url: str) -> tuple[str, str]:
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="sim-key", max_retries=0) as client:
        items: list[Any] = [{"role": "user", "content": "Write."}]
        tools: Any = [{"type": "function", "strict": False, **FUNCTION}]
        async with client.responses.stream(model="m", input=items, tools=tools) as stream:
            first = await stream.get_final_response()
        call = next(item for item in first.output if item.type == "function_call")
        said = [item.to_dict() for item in first.output]
        items += [*said, {"type": "function_call_output", "call_id": call.call_id, "output": "ok"}]
        second = await client.responses.create(model="m", input=items, tools=tools)
        return call.arguments, second.output_text


async def by_messages(url: str) -> tuple[str, str]:
    async with anthropic.AsyncAnthropic(base_url=url, api_key="sim-key", max_retries=0) as client:
        messages: list[Any] = [{"role": "user", "content": "Write."}]
        tools: Any = [{"name": "write_file", "input_schema": FUNCTION["parameters"]}]
        async with client.messages.stream(model="m", messages=messages, tools=tools, max_tokens=9_000) as stream:
            first = await stream.get_final_message()
        call = next(block for block in first.content if block.type == "tool_use")
        result = {"type": "tool_result", "tool_use_id": call.id, "content": "ok"}
        said = [block.to_dict() for block in first.content]
        messages += [{"role": "assistant", "content": said}, {"role": "user", "content": [result]}]
        second = await client.messages.create(model="m", messages=messages, tools=tools, max_tokens=9_000)
        return json.dumps(call.input), second.content[0].text


@pytest.mark.parametrize("talk", [by_chat, by_responses, by_messages])
@pytest.mark.parametrize("fault", ["", *HEALTHY])
def test_an_official_client_works_through_a_whole_task(talk: Any, fault: str) -> None:
    arguments, text = serve(talk, *([fault] if fault else []))
    assert json.loads(arguments) == {"path": "notes.md", "content": NOTES}
    assert text == "It is written."


def test_a_wrong_key_is_an_authentication_error_for_both() -> None:
    async def talk(url: str) -> None:
        with pytest.raises(openai.AuthenticationError):
            async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="wrong", max_retries=0) as client:
                await client.responses.create(model="m", input="Hi")
        with pytest.raises(anthropic.AuthenticationError):
            async with anthropic.AsyncAnthropic(base_url=url, api_key="wrong", max_retries=0) as client:
                await client.messages.create(model="m", max_tokens=9, messages=[{"role": "user", "content": "Hi"}])

    async def run() -> None:
        async with SimServer(SCRIPT) as sim:
            await talk(sim.url)

    asyncio.run(run())


def test_an_error_in_a_stream_is_an_error_for_both() -> None:
    async def run() -> None:
        async with SimServer(Script(faults=(read_fault("stream_error at=10"),))) as sim:
            async with openai.AsyncOpenAI(base_url=f"{sim.url}/v1", api_key="x", max_retries=0) as client:
                with pytest.raises(openai.APIError):
                    async for _ in await client.chat.completions.create(
                        model="m", stream=True, messages=[{"role": "user", "content": "Hi"}]
                    ):
                        pass
            async with anthropic.AsyncAnthropic(base_url=sim.url, api_key="x", max_retries=0) as other:
                with pytest.raises(anthropic.APIStatusError, match="Overloaded"):
                    async with other.messages.stream(
                        model="m", max_tokens=9, messages=[{"role": "user", "content": "Hi"}]
                    ) as stream:
                        await stream.get_final_message()

    asyncio.run(run())
