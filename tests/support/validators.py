"""Independent, strict judges of rendered bodies. They import nothing of Headway; they know the providers' rules.

Each returns the provider's own words for what is wrong, or nothing for a body that would be accepted.
"""

from support.judges.anthropic import validate_anthropic
from support.judges.chat import validate_chat
from support.judges.responses import validate_responses

VALIDATORS = {"chat": validate_chat, "responses": validate_responses, "anthropic": validate_anthropic}

__all__ = ["VALIDATORS", "validate_anthropic", "validate_chat", "validate_responses"]
