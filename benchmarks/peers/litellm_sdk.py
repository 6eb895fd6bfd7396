"""litellm: `acompletion`, chunk by chunk."""

import os

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # it would fetch one at import

import litellm

from benchmarks.peers.worker import PROMPT, work

litellm.suppress_debug_info = True
MODELS = {"chat": ("openai/model-1", "/v1"), "anthropic": ("anthropic/model-1", "")}


async def read(url: str, wire: str) -> str:
    model, path = MODELS[wire]
    said = []
    messages = [{"role": "user", "content": PROMPT}]
    async for chunk in await litellm.acompletion(
        model=model, messages=messages, api_base=url + path, api_key="x", stream=True
    ):
        delta = chunk.choices[0].delta
        if delta.content:
            said.append(delta.content)
        for call in delta.tool_calls or ():
            if call.function and call.function.arguments:
                said.append(call.function.arguments)
    return "".join(said)


if __name__ == "__main__":
    work(read)
