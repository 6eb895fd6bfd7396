"""Rows about how a stream ended: finish reasons, and ends without one. No provider's name stands here."""

from headway.failure import FailureKind, Plan, Where
from headway.recovery.failures.facts import OPEN_TOOL_CALL
from headway.recovery.failures.rows import Row, row

K, P, W = FailureKind, Plan, Where

_LIMIT = r"length|max_tokens|max_output_tokens|max_len|max_length|token_limit|max_new_tokens|output_limit"
_ORDINARY = r"stop|end|end_turn|eos|eos_token|complete|completed|stop_sequence|tool_calls?|tool_use|function_call|calls"

ENDS: tuple[Row, ...] = (
    row(
        K.CONTENT_FILTERED,
        "the answer was stopped because it repeats known text; another wording or smaller pieces may pass",
        finish=r"recitation",
        then=P.ASK_SMALLER_CHUNKS,
    ),
    row(
        K.CONTENT_FILTERED,
        "a guardrail replaced or blocked the answer",
        finish=r"guardrail_intervened|guardrails?",
        then=P.GIVE_UP,
    ),
    row(
        K.CONTENT_FILTERED,
        "the answer was blocked by a content filter, be it after some text",
        finish=r"""content_filter(?:ed)?|filtered|safety|blocklist|prohibited_content|spii|language|sensitive
            |image_(?:safety|other|prohibited_content)|model_armor|jailbreak|(?:error_)?toxic|moderation
            |blocked|risk|content_policy\w*|policy_violation|harmful|unsafe""",
    ),
    row(K.REFUSED, "the model declined to answer; what it said before that is withdrawn", finish=r"refusal|refused"),
    row(
        K.CONTEXT_FULL,
        "the context window was full before the answer was finished",
        finish=r"(?:model_)?context_(?:window|length|full)\w*|model_length|max_context|error_limit|context_limit",
    ),
    row(
        K.CALL_CUT,
        "the output limit was reached inside a tool call, which is void",
        finish=_LIMIT,
        context=OPEN_TOOL_CALL,
    ),
    row(
        K.OUTPUT_LIMIT,
        "the time for one answer ran out before it was finished",
        finish=r"time_limit",
        then=P.ASK_SMALLER_CHUNKS,
    ),
    row(K.OUTPUT_LIMIT, "the output limit was reached; the text so far can be continued", finish=_LIMIT),
    row(
        K.PAUSED,
        "the provider paused a long turn: send back what it said, unchanged, and it goes on",
        finish=r"pause|pause_turn|compaction|continuation",
    ),
    row(
        K.MALFORMED_OUTPUT,
        "the model called a tool that was not offered, or in a form that is not allowed",
        finish=r"unexpected_tool_call|too_many_tool_calls|invalid_tool_call",
        then=P.SANITISE_HISTORY,
    ),
    row(K.MALFORMED_OUTPUT, "the model wrote something that could not be parsed", finish=r"malformed_\w+"),
    row(K.CANCELLED, "the request was cancelled by its client", finish=r"(?:user_)?cancell?(?:ed)?"),
    row(
        K.OVERLOADED,
        "the provider ran out of resources in the middle of the answer",
        finish=r"insufficient_system_resources?|overloaded\w*",
    ),
)
"""Finish reasons that speak for themselves."""

LAST_ENDS: tuple[Row, ...] = (
    row(
        K.CALL_CUT,
        "the stream ended inside a tool call, which is void",
        where=(W.STREAM_EOF,),
        context=OPEN_TOOL_CALL,
    ),
    row(
        K.CALL_CUT,
        "the answer ended although a tool call was still open or cannot be parsed",
        where=(W.FINISH_REASON,),
        finish=_ORDINARY,
        context=OPEN_TOOL_CALL,
    ),
    row(
        K.EMPTY_REPLY,
        "the answer ended as if all were well, and says nothing",
        where=(W.FINISH_REASON,),
        finish=_ORDINARY,
    ),
    row(K.TIMED_OUT, "generation took longer than the provider allows", finish=r"time_?out|time_limit"),
    row(K.SERVER_FAULT, "generation failed on the provider's side", finish=r"network_error"),
    row(
        K.SERVER_FAULT,
        "generation failed on the provider's side",
        finish=r"error\w*|failed|aborted|abort|interrupted|incomplete",
        then=P.FAILOVER_NOW,
    ),
    row(
        K.UNKNOWN,
        "the provider stopped for a reason that it does not explain: never read as success",
        where=(W.FINISH_REASON,),
    ),
    row(K.STREAM_CUT, "the stream ended without its terminal mark", where=(W.STREAM_EOF,)),
)
"""What an end means when nothing else was said about it."""
