"""Many questions through one client. They share its connections and what it learns; none waits for another."""

import asyncio

import headway

RIVERS = ("Aare", "Inn", "Reuss", "Rhine", "Rhone", "Ticino")


async def length_of(hw: headway.Headway, river: str) -> str:
    try:
        async with asyncio.timeout(120):
            return await hw.text(f"How long is the {river}, in kilometres?", max_output_tokens=200)
    except TimeoutError:
        return "it took too long"
    except headway.TurnFailed as failed:
        return f"no answer: {failed}"


async def main() -> None:
    async with headway.Headway() as hw:
        answers = await asyncio.gather(*(length_of(hw, river) for river in RIVERS))
    for river, answer in zip(RIVERS, answers, strict=True):
        print(f"{river}: {answer}")


if __name__ == "__main__":
    asyncio.run(main())
