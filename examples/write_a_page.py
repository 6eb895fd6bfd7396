"""An agent that works in a folder. Editing needs no question here; before it runs a command, a person is asked."""

import asyncio
import sys
from pathlib import Path

import headway
from headway import notices


def approve(call: headway.messages.ToolCall) -> bool:
    if call.name in {"write_file", "edit_file"}:
        return True
    return input(f"Run {call.name} {call.arguments}? [y/N] ").strip().lower() == "y"


async def main(folder: Path) -> None:
    async with headway.Headway() as hw:
        turn = hw.agent(workspace=folder, approve=approve).turn("Write index.html, a page about patience.")
        async for item in turn:
            match item:
                case headway.TextDelta(text=text):
                    print(text, end="", flush=True)
                case notices.ToolEnded(call=call, result=result):
                    print(f"\n[{call.name}: {result.text}]")
                case notices.DraftHeld(draft=draft):
                    print(f"\n[cut after {draft.offset} characters; kept, and gone on with]")
        print(f"\n{turn.reply.requests} requests")


if __name__ == "__main__":
    place = Path(sys.argv[1] if len(sys.argv) > 1 else "site")
    place.mkdir(parents=True, exist_ok=True)
    asyncio.run(main(place))
