"""Independent, strict judges of rendered bodies: those of the simulator, which know the providers' rules and no more.

Each returns the provider's own words for what is wrong, or nothing for a body that would be accepted.
"""

from headway.sim.strict import VALIDATORS, validate_anthropic, validate_chat, validate_responses

__all__ = ["VALIDATORS", "validate_anthropic", "validate_chat", "validate_responses"]
