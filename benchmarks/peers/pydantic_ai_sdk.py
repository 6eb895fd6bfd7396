"""pydantic-ai: its direct request, event by event."""

from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import (
    ModelRequest,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ToolCallPart,
    ToolCallPartDelta,
)
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from benchmarks.peers.worker import PROMPT, work


async def read(url: str, wire: str) -> str:
    assert wire == "chat"
    model = OpenAIChatModel("model-1", provider=OpenAIProvider(base_url=f"{url}/v1", api_key="x"))
    said = []
    async with model_request_stream(model, [ModelRequest.user_text_prompt(PROMPT)]) as stream:
        async for event in stream:
            match event:
                case (
                    PartStartEvent(part=TextPart(content=text))
                    | PartDeltaEvent(delta=TextPartDelta(content_delta=text))
                ):
                    said.append(text)
                case (
                    PartStartEvent(part=ToolCallPart(args=text))
                    | PartDeltaEvent(delta=ToolCallPartDelta(args_delta=text))
                ):
                    said.append(text or "")
    return "".join(said)


if __name__ == "__main__":
    work(read)
