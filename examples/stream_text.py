"""Print an answer as it comes. What happens to the stream goes to standard error; the words stay clean."""

import asyncio
import sys

import headway


async def main(question: str) -> None:
    async with headway.Headway() as hw:
        async for item in hw.turn(question):
            if isinstance(item, headway.TextDelta):
                print(item.text, end="", flush=True)
            elif line := headway.status_line(item):
                print(f"\n[{line}]", file=sys.stderr)
        print()


if __name__ == "__main__":
    asyncio.run(main(" ".join(sys.argv[1:]) or "Tell me a story."))
