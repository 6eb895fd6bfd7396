"""How long a request is, in tokens: by the word of whoever would answer it, where they count; else by an estimate."""

from typing import Any

from headway.transport.errors import TransportFailed
from headway.transport.http import HttpClient
from headway.transport.limits import Limits
from headway.transport.message import HttpRequest
from headway.turn.crew import Crew
from headway.turn.endpoint import Endpoint
from headway.turn.runner import CHARACTERS_A_TOKEN
from headway.wire.json_text import BadJson, encode, strict_object

COUNTING_WIRE = "anthropic"
"""The one wire that has a path for this, below the one for messages."""
PATIENCE = Limits(connect_seconds=5.0, first_byte_seconds=15.0, first_content_seconds=15.0, turn_seconds=20.0)
"""Clients count before they ask, and wait for it; an estimate now is worth more to them than a count later."""
LONGEST_ANSWER = 65_536
_COUNTED = ("system", "messages", "tools")


async def counted(client: HttpClient, crew: Crew, body: dict[str, Any]) -> int | None:
    """Return what whoever is asked first counts; None if they do not say."""
    first = crew.endpoints[0]
    try:
        return await _asked(client, first, body) if first.wire == COUNTING_WIRE else None
    finally:
        for endpoint in crew.endpoints:
            if endpoint.on_trial:  # this was no trial of it
                crew.lessons.left(endpoint.name)


def estimated(body: dict[str, Any]) -> int:
    """Return about how many tokens a request has."""
    size = len(encode({name: body[name] for name in _COUNTED if body.get(name)}))
    return size // CHARACTERS_A_TOKEN


async def _asked(client: HttpClient, endpoint: Endpoint, body: dict[str, Any]) -> int | None:
    headers = {**endpoint.headers[0], "content-type": "application/json", "accept": "application/json"}
    request = HttpRequest(
        "POST", endpoint.below("/count_tokens"), tuple(headers.items()), encode({**body, "model": endpoint.model})
    )
    held = bytearray()
    try:
        async with client.stream(request, PATIENCE) as response:
            if response.status != 200:
                return None
            async for data in response.bytes():
                held += data
                if len(held) > LONGEST_ANSWER:
                    return None
        count = strict_object(held.decode()).get("input_tokens")
    except (TransportFailed, BadJson, UnicodeDecodeError):
        return None
    return count if isinstance(count, int) and count >= 0 else None
