"""What a provider refuses before its model sees anything: keys, bodies, models, and histories that break a rule."""

from typing import Any

from headway.sim.connection import Request
from headway.sim.manners import Trouble, refused_key
from headway.sim.script import Script
from headway.sim.seals import judge_seals
from headway.sim.strict import validate_anthropic, validate_chat, validate_responses
from headway.wire.json_text import BadJson, decode

NEW_VERSION = "2026-10-21"
"""From this version of the Messages API on, sampling parameters are gone."""
SYSTEM_INSIDE = ("per-turn-control-", "mid-conversation-")
"""How the betas begin that let system messages stand among the others."""
_SAMPLING = ("temperature", "top_p", "top_k")
_PARAMS = {"chat": "messages", "responses": "input"}


class Refused(Exception):
    """A request that breaks a rule; carries what to answer."""

    def __init__(self, trouble: Trouble) -> None:
        """Keep what to answer."""
        self.trouble = trouble
        super().__init__(trouble)


def key_of(request: Request) -> str:
    """Return the key of a request, from whichever header it stands in."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return token.strip()
    return request.headers.get("x-api-key") or request.headers.get("api-key", "")


def check_key(request: Request, wire: str, script: Script) -> None:
    """Refuse a key that is not on the list, if there is a list, and two keys at once where the API does."""
    key = key_of(request)
    if wire == "anthropic" and "x-api-key" in request.headers and "authorization" in request.headers:
        raise Refused(Trouble(401, "Both x-api-key and Authorization headers were given; use one of them."))
    if script.keys and key not in script.keys:
        raise Refused(refused_key(key, wire))


def read_body(request: Request) -> dict[str, Any]:
    """Return the JSON object of a request."""
    try:
        body = decode(request.body)
    except BadJson as bad:
        raise Refused(Trouble(400, f"We could not parse the JSON body of your request: {bad}")) from None
    if not isinstance(body, dict):
        raise Refused(Trouble(400, "The JSON body of your request is not an object."))
    return body


def check_body(request: Request, body: dict[str, Any], wire: str, script: Script) -> None:
    """Refuse what the wire's own provider refuses, and a model that is not there."""
    model = body.get("model")
    if script.models and isinstance(model, str) and model not in script.models:
        raise Refused(_no_such_model(model, wire))
    if not script.strict:
        return
    if wire == "anthropic":
        _check_version(request, body)
    if body.get("previous_response_id"):
        gone = f"Previous response with id '{body['previous_response_id']}' not found."
        raise Refused(Trouble(400, gone, "previous_response_not_found", "previous_response_id"))
    wrong = _judge(_judged(request, body), wire, script) or judge_seals(wire, body)
    if wrong:
        code = "invalid_encrypted_content" if wrong[0].startswith("The encrypted content") else None
        raise Refused(Trouble(400, wrong[0], code, _PARAMS.get(wire)))


def _judged(request: Request, body: dict[str, Any]) -> dict[str, Any]:
    """Return what the rules are for: system messages among the others are allowed to who asks for the beta."""
    betas = request.headers.get("anthropic-beta", "").replace(" ", "").split(",")
    messages = body.get("messages")
    if not isinstance(messages, list) or not any(beta.startswith(SYSTEM_INSIDE) for beta in betas):
        return body
    spoken = [one for one in messages if not isinstance(one, dict) or one.get("role") != "system"]
    return {**body, "messages": spoken}


def _judge(body: dict[str, Any], wire: str, script: Script) -> list[str]:
    if wire == "anthropic":
        return validate_anthropic(body, prefill_allowed=script.prefill)
    return validate_chat(body) if wire == "chat" else validate_responses(body)


def _check_version(request: Request, body: dict[str, Any]) -> None:
    version = request.headers.get("anthropic-version")
    if not version:
        raise Refused(Trouble(400, "anthropic-version: header is required"))
    gone = [name for name in _SAMPLING if name in body] if version >= NEW_VERSION else []
    if gone:
        raise Refused(Trouble(400, f"{gone[0]}: Extra inputs are not permitted"))


def _no_such_model(model: str, wire: str) -> Trouble:
    if wire == "anthropic":
        return Trouble(404, f"model: {model}")
    return Trouble(404, f"The model `{model}` does not exist or you do not have access to it.", "model_not_found")
