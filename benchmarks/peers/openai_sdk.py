"""The openai SDK: its asynchronous client, chunk by chunk."""

import openai

from benchmarks.peers.worker import PROMPT, work


async def read(url: str, wire: str) -> str:
    async with openai.AsyncOpenAI(api_key="x", base_url=f"{url}/v1") as client:
        return await (chat(client) if wire == "chat" else responses(client))


async def chat(client: openai.AsyncOpenAI) -> str:
    said = []
    messages = [{"role": "user", "content": PROMPT}]
    async for chunk in await client.chat.completions.create(model="model-1", messages=messages, stream=True):
        for choice in chunk.choices:
            if choice.delta.content:
                said.append(choice.delta.content)
            for call in choice.delta.tool_calls or ():
                if call.function and call.function.arguments:
                    said.append(call.function.arguments)
    return "".join(said)


async def responses(client: openai.AsyncOpenAI) -> str:
    said = []
    async for event in await client.responses.create(model="model-1", input=PROMPT, stream=True):
        if event.type in {"response.output_text.delta", "response.function_call_arguments.delta"}:
            said.append(event.delta)
    return "".join(said)


if __name__ == "__main__":
    work(read)
