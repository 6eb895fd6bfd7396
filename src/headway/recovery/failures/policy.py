"""The whole policy on one screen: for every kind of failure, whose it is, what cures it, and what to tell a person.

A row of the table may cure one wording of a kind differently; everything else follows from here.
"""

from msgspec import Struct

from headway.failure import FailureKind, Plan, Scope

K, S, P = FailureKind, Scope, Plan


class Policy(Struct, frozen=True):
    """What a kind of failure means. `happened` ends a sentence that begins with the provider's name."""

    scope: Scope
    plan: Plan
    then: Plan | None
    happened: str
    advice: str


POLICIES: dict[FailureKind, Policy] = {
    K.RATE_LIMITED: Policy(
        S.KEY, P.RETRY_SAME, None, "asks for fewer requests or tokens a minute", "Add keys, or ask for a higher limit."
    ),
    K.OVERLOADED: Policy(
        S.PROVIDER, P.RETRY_SAME, P.FAILOVER_NOW, "has no capacity at the moment", "Configure a second provider."
    ),
    K.SERVER_FAULT: Policy(
        S.PROVIDER, P.RETRY_SAME, None, "failed on its own side", "If it lasts, look at the provider's status page."
    ),
    K.TIMED_OUT: Policy(
        S.PROVIDER, P.RETRY_SAME, P.FAILOVER_NOW, "did not answer in time", "Stream, or ask for less at once."
    ),
    K.STALLED: Policy(
        S.PROVIDER, P.RETRY_SAME, P.FAILOVER_NOW, "went silent in the middle of a stream", "Raise the silence limit."
    ),
    K.UNREACHABLE: Policy(
        S.NETWORK, P.RETRY_SAME, P.FAILOVER_NOW, "could not be reached", "Check the network and the base URL."
    ),
    K.TLS_REFUSED: Policy(
        S.NETWORK,
        P.GIVE_UP,
        P.FAILOVER_NOW,
        "cannot be trusted: no TLS connection could be agreed on",
        "Check the system's certificates, its clock, and any proxy that inspects traffic.",
    ),
    K.STREAM_CUT: Policy(S.NETWORK, P.RETRY_SAME, P.FAILOVER_NOW, "stopped without finishing its answer", ""),
    K.CALL_CUT: Policy(
        S.MODEL, P.ASK_SMALLER_CHUNKS, P.FAILOVER_NOW, "stopped in the middle of a tool call, which is void", ""
    ),
    K.OUTPUT_LIMIT: Policy(S.MODEL, P.RESUME, None, "reached its output limit before it was finished", ""),
    K.PAUSED: Policy(S.MODEL, P.RESUME, None, "paused and waits to be sent on", ""),
    K.CONTENT_FILTERED: Policy(
        S.PROVIDER,
        P.FAILOVER_NOW,
        None,
        "blocked this content by its filter; asking it again would be blocked again",
        "Configure a second provider, or word the request differently.",
    ),
    K.REFUSED: Policy(
        S.MODEL, P.FAILOVER_NOW, P.GIVE_UP, "refused to answer", "Configure another model, or ask differently."
    ),
    K.BAD_KEY: Policy(
        S.KEY,
        P.ROTATE_CREDENTIAL,
        None,
        "does not accept this key",
        "Check that the key is whole, current, and made for this endpoint.",
    ),
    K.FORBIDDEN: Policy(
        S.KEY, P.ROTATE_CREDENTIAL, None, "does not let this account do this", "Check the account's access rights."
    ),
    K.BILLING: Policy(
        S.KEY, P.ROTATE_CREDENTIAL, P.FAILOVER_NOW, "wants to be paid first", "Check the account's balance and limits."
    ),
    K.QUOTA_SPENT: Policy(
        S.KEY,
        P.ROTATE_CREDENTIAL,
        P.FAILOVER_NOW,
        "says that this account's quota is used up, for longer than a turn can wait",
        "Wait for the quota to reset, or use another account.",
    ),
    K.MODEL_UNAVAILABLE: Policy(
        S.MODEL, P.FAILOVER_NOW, None, "does not offer this model to this account", "Check the model's name."
    ),
    K.CONTEXT_FULL: Policy(S.REQUEST, P.COMPRESS_CONTEXT, None, "cannot take so long an input", "Shorten the input."),
    K.OUTPUT_CAP_TOO_HIGH: Policy(
        S.REQUEST, P.LOWER_MAX_TOKENS, None, "does not allow so much output", "Lower the output limit."
    ),
    K.HISTORY_REFUSED: Policy(
        S.HISTORY,
        P.SANITISE_HISTORY,
        P.FAILOVER_NOW,
        "refuses the conversation as it was sent",
        "`headway heal FILE` says what is broken in it.",
    ),
    K.PARAMETER_REFUSED: Policy(
        S.REQUEST, P.SANITISE_HISTORY, P.FAILOVER_NOW, "refuses a parameter of the request", "Remove that parameter."
    ),
    K.REQUEST_REFUSED: Policy(
        S.REQUEST,
        P.GIVE_UP,
        P.FAILOVER_NOW,
        "refuses the request, and nothing says how to mend it",
        "Compare the request with the provider's documentation.",
    ),
    K.MALFORMED_OUTPUT: Policy(
        S.MODEL, P.RETRY_SAME, P.ASK_SMALLER_CHUNKS, "wrote something that cannot be read as an answer", ""
    ),
    K.EMPTY_REPLY: Policy(S.MODEL, P.RETRY_SAME, P.FAILOVER_NOW, "ended its answer without saying anything", ""),
    K.NOT_A_STREAM: Policy(
        S.PROVIDER,
        P.RETRY_SAME,
        P.FAILOVER_NOW,
        "sent something that is no answer",
        "Check that the base URL points to the API itself.",
    ),
    K.MISCONFIGURED: Policy(
        S.PROVIDER,
        P.GIVE_UP,
        P.FAILOVER_NOW,
        "is not set up for this request",
        "Change the configuration that the message names.",
    ),
    K.CANCELLED: Policy(S.REQUEST, P.GIVE_UP, None, "was told that the client went away", "Ask again if you want to."),
    K.UNKNOWN: Policy(
        S.PROVIDER, P.RETRY_SAME, P.FAILOVER_NOW, "failed in a way that nobody has described yet", "Please report it."
    ),
}
