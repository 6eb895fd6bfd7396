"""A chain said in code: if the first cannot go on, the next one does, from the last word. Keys are never shown."""

import asyncio
import os

import headway

CHAIN = (
    headway.Provider("anthropic", model="claude-sonnet-4-6"),
    headway.Provider("openai", model="gpt-5.5", key=["env:OPENAI_API_KEY", "env:OPENAI_API_KEY_2"]),
    headway.Provider(
        "office", wire="chat", base_url=os.environ.get("OFFICE_URL", "http://127.0.0.1:8000/v1"), model="any"
    ),
)
LIMITS = headway.Limits(silence_seconds=60, turn_seconds=300)


async def main() -> None:
    async with headway.Headway(*CHAIN, limits=LIMITS) as hw:
        print(hw)
        try:
            reply = await hw.turn("Where does the Rhine begin?", system="Answer in one sentence.")
        except headway.TurnFailed as failed:
            print(f"No answer: {failed}")
            print(f"What had come: {failed.text!r}")
        else:
            print(f"{reply.upstream} had the last word, after {reply.requests} requests: {reply}")


if __name__ == "__main__":
    asyncio.run(main())
