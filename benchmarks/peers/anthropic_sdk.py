"""The anthropic SDK: its asynchronous client, event by event."""

import anthropic

from benchmarks.peers.worker import PROMPT, work


async def read(url: str, wire: str) -> str:
    assert wire == "anthropic"
    said = []
    messages = [{"role": "user", "content": PROMPT}]
    async with anthropic.AsyncAnthropic(api_key="x", base_url=url) as client:
        async for event in await client.messages.create(model="model-1", max_tokens=9, messages=messages, stream=True):
            if event.type == "content_block_delta":
                if event.delta.type == "text_delta":
                    said.append(event.delta.text)
                elif event.delta.type == "input_json_delta":
                    said.append(event.delta.partial_json)
    return "".join(said)


if __name__ == "__main__":
    work(read)
