"""An agent with tools of its own: the signature is the schema, the docstring is what the model is told."""

import asyncio
from datetime import date
from typing import Annotated

import headway

BOOKED: dict[str, str] = {}


def free_on(day: date) -> list[str]:
    return [room for room in ("Aare", "Rhine", "Rhone") if f"{day} {room}" not in BOOKED]


@headway.tool(kind=headway.Kind.READS)
def free_rooms(day: Annotated[date, "the day, as 2026-12-24"]) -> list[str]:
    """List the rooms that are free on a day."""
    return free_on(day)


@headway.tool
async def book_room(room: str, day: date, name: str) -> str:
    """Book a room for somebody."""
    if room not in free_on(day):
        raise headway.ToolError(f"{room} is not free on {day}. Free are: {', '.join(free_on(day)) or 'none'}.")
    BOOKED[f"{day} {room}"] = name
    return f"{room} is booked for {name} on {day}."


async def main() -> None:
    async with headway.Headway() as hw:
        agent = hw.agent(tools=[free_rooms, book_room], system="You book meeting rooms.")
        print(await agent.ask("Book any free room for Ada on 2026-12-24."))
        print(BOOKED)


if __name__ == "__main__":
    asyncio.run(main())
