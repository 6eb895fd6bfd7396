"""What can be asked for, in a form that clients of every wire can read at once."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from headway.gateway.ways import Offer


def listed(offers: Sequence[Offer], created: int) -> dict[str, Any]:
    """Return the list of models: each entry has the fields of all wires, and so has the list."""
    data = [_entry(offer, created) for offer in offers]
    names = [entry["id"] for entry in data]
    edges = {"first_id": names[0] if names else None, "last_id": names[-1] if names else None}
    return {"object": "list", "data": data, "has_more": False, **edges}


def _entry(offer: Offer, created: int) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "id": offer.id,
        "object": "model",
        "type": "model",
        "created": created,
        "created_at": datetime.fromtimestamp(created, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "owned_by": offer.owner,
        "display_name": offer.id,
    }
    if offer.context:
        entry["context_length"] = entry["context_window"] = entry["max_input_tokens"] = offer.context
    if offer.output_limit:
        entry["max_output_tokens"] = entry["max_tokens"] = offer.output_limit
    return entry


def pages_of(pages: Iterable[str], models: Iterable[str]) -> list[str]:
    """Return the paths that are served."""
    return [f"/v1{path}" if path in {"/models", "/messages/count_tokens"} else path for path in (*models, *pages)]
