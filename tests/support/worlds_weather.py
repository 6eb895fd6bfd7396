"""Weather: what can strike an upstream of a world, all of the simulator's catalogue. Which of it does, the die says."""

from functools import cache
from random import Random
from typing import TypeAlias

from msgspec.structs import replace

from headway.sim.answers import in_stream, statuses
from headway.sim.catalog import read_fault
from headway.sim.fault import Fault

Weather: TypeAlias = tuple[Fault, ...]
Kinds: TypeAlias = tuple[tuple[tuple[str, ...], int], ...]

PLACES = (
    *("anywhere", "anywhere", "anywhere", "40", "opened", "headers", "end", "text", "'text 60%'", "string", "call"),
    *("call+450", "'call 50%'", "'call 50%'", "'call 80%'", "'call 80%'"),
)
RARE_WORD = "kettle|saddle"
"""What filters look for: some texts have it, many do not."""
SIZES = (120, 400, 900)

CUTS = (
    "rst at={at}",
    "fin at={at}",
    "fin framing=open at={at}",
    "truncated_chunk at={at}",
    "cut_utf8",
    "output_limit at={size}",
    "output_limit at=anywhere",
    "stream_error at={at} like={in_stream}",
    "garbage_frame at={inside}",
    "broken_json at={inside}",
    "bad_utf8 at={inside}",
    "thinking_only",
    "thinking_only spent=true",
    "empty_reply",
)
STALLS = (
    "stall at={at}",
    "no_headers",
    "pings_only at={at} interval=5",
    "comments_only at={at} interval=5",
    "empty_deltas at={at} interval=5",
    "role_only interval=5",
    "drip characters=3 seconds=18",
)
ANSWERS = (
    "wrong_status status={status}",
    "wrong_status status=503 retry_after=7",
    "wrong_status like={answer}",
    "rate_limit seconds={wait}",
    "rate_limit seconds={wait} key=*-1",
    "overloaded",
    "bad_key key=*-1",
    "bad_key status=403 key=*-1",
    "history_refused",
    "gateway_timeout seconds=9",
    "html_instead",
)
FILTERS = tuple(
    f"content_filter pattern={RARE_WORD} shows={form}" for form in ("finish", "error", "http", "cut", "stall")
)
ODD_BUT_WELL = (
    "slow_headers seconds=6",
    "slow_steady seconds=0.5",
    "silent_thinking seconds=20 interval=5",
    "stall at={at} seconds=8",
    "burst seconds=6",
    "fragments bytes=61",
    "late_bytes",
    "late_bytes where=connection",
    "close_after_each",
    "done_without_finish",
    "missing_finish",
    "finish_before_usage",
    "early_finish",
    "no_usage",
    "missing_ids",
    "wrong_ids how=same",
    "wrong_ids how=odd",
    "wrong_ids how=changing",
    "reused_indexes how=zero",
    "reused_indexes how=missing",
    "name_twice",
    "arguments_as_object",
    "json_instead",
)
LIES = ("false_finish at={at}", "duplicate_delta at={inside}", "refusal", "context_overflow characters={window}")
"""What nobody can see through, or what makes the model forget: the words of such a reply are not judged."""
KINDS: Kinds = ((CUTS, 6), (STALLS, 3), (ANSWERS, 3), (FILTERS, 1), (ODD_BUT_WELL, 3), (LIES, 1))


def weather(die: Random) -> Weather:
    """Return what may strike in one turn: mostly a few things by chance, sometimes one that always does."""
    if die.random() < 0.12:
        return (_drawn(die, 1.0, KINDS[:-1]),)
    return tuple(_drawn(die, die.uniform(0.15, 0.7)) for _ in range(die.choice((0, 1, 1, 2, 2, 3, 4))))


def _drawn(die: Random, chance: float, kinds: Kinds = KINDS) -> Fault:
    (kind,) = die.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])
    line = die.choice(kind).format(
        at=die.choice(PLACES),
        inside=die.choice(("anywhere", "'50%'", "text", "call+30")),
        size=die.choice(SIZES),
        window=die.choice((1_500, 4_000, 9_000)),
        wait=die.choice((0, 2, 45, 400)),
        status=die.choice((400, 402, 404, 408, 409, 413, 422, 500, 502, 503, 504, 529)),
        in_stream=die.choice(sorted(in_stream())),
        answer=die.choice(sorted(statuses())),
    )
    return replace(_read(line), chance=chance)


_read = cache(read_fault)
