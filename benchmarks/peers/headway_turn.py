"""Headway: a whole turn, from the socket to typed events, with its watchdog."""

from benchmarks.peers.worker import PROMPT, work
from headway.dialect import DIALECTS
from headway.events import CallArguments, TextDelta
from headway.messages import ModelRequest, ToolSpec, user
from headway.recovery.decisions import Finish, RunTools
from headway.transport.http import HttpClient
from headway.turn.endpoint import Endpoint
from headway.turn.runner import Turn

PATHS = {"chat": "/v1/chat/completions", "responses": "/v1/responses", "anthropic": "/v1/messages"}
TOOL = ToolSpec("write_file", "Write a file.", {"type": "object", "properties": {}})


async def read(url: str, wire: str) -> str:
    heard = 0

    async def hear(items) -> None:
        nonlocal heard
        for item in items:
            if type(item) is TextDelta or type(item) is CallArguments:
                heard += len(item.text)

    endpoint = Endpoint("bench", wire, url + PATHS[wire], "model-1", DIALECTS[wire])
    async with HttpClient() as client:
        turn = Turn(client, [endpoint], hear)
        decision = await turn.run(ModelRequest("model-1", (user(PROMPT),), tools=(TOOL,)))
    salvage = turn.ledger.salvage
    if isinstance(decision, RunTools):
        said = salvage.calls[0].arguments
    else:
        assert isinstance(decision, Finish), decision
        said = salvage.text
    assert heard == len(said)
    return said


if __name__ == "__main__":
    work(read)
