"""Strict judges of request bodies, one a wire: as strict as the strictest providers of that wire together.

They know the providers' documents and nothing of the rest of Headway, so that they can judge it. Each returns the
provider's own words for what is wrong, or nothing for a body that would be accepted.
"""

from headway.sim.strict.anthropic import validate_anthropic
from headway.sim.strict.chat import validate_chat
from headway.sim.strict.responses import validate_responses

VALIDATORS = {"chat": validate_chat, "responses": validate_responses, "anthropic": validate_anthropic}

__all__ = ["VALIDATORS", "validate_anthropic", "validate_chat", "validate_responses"]
