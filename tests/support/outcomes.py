"""Outcomes that attempts can have, small enough to try all of them."""

import json
from itertools import product

from headway.events import Cut, Stop, StreamCut, StreamEnded
from headway.failure import Failure, FailureKind, Plan, Scope
from headway.messages import CallFragment, Text, ToolCall
from headway.received import Received
from headway.recovery.machine import Answered, Broken, Outcome

LONG = json.dumps({"path": "index.html", "content": "<p>all work and no play makes a dull page</p>\n" * 40})
EOF = StreamCut(Cut.EOF)
SHAPES: dict[str, Received] = {
    "nothing": Received(end=EOF),
    "text": Received((Text("some words "),), EOF),
    "long call": Received((CallFragment("c1", "write_file", LONG[:600]),), EOF),
    "longer call": Received((Text("I write."), CallFragment("c1", "write_file", LONG[:700])), EOF),
    "short call": Received((CallFragment("c1", "write_file", '{"path": "a'),), EOF),
    "shell call": Received((CallFragment("c1", "shell", json.dumps({"command": "x" * 500})[:-2]),), EOF),
    "whole call, cut call": Received(
        (ToolCall("c0", "read_file", "{}"), CallFragment("c1", "write_file", LONG[:600])), EOF
    ),
}
ANSWERS: dict[str, Received] = {
    "answer": Received((Text("done"),), StreamEnded(Stop.END)),
    "call": Received((ToolCall("c9", "read_file", '{"path":"a"}'),), StreamEnded(Stop.CALLS)),
}


def failure(
    kind: FailureKind = FailureKind.STREAM_CUT,
    plan: Plan = Plan.RESUME,
    then: Plan | None = None,
    scope: Scope = Scope.NETWORK,
    wait_seconds: float | None = None,
) -> Failure:
    return Failure(kind, scope, plan, f"{kind.value}.", then=then, wait_seconds=wait_seconds)


K, P = FailureKind, Plan
COMMON: tuple[Failure, ...] = (
    failure(),
    failure(K.CALL_CUT, P.ASK_SMALLER_CHUNKS, P.FAILOVER_NOW),
    failure(K.OUTPUT_LIMIT, P.ASK_SMALLER_CHUNKS, scope=Scope.REQUEST),
    failure(K.OUTPUT_LIMIT, P.RESUME, scope=Scope.REQUEST),
    failure(K.SERVER_FAULT, P.RETRY_SAME, scope=Scope.PROVIDER),
    failure(K.RATE_LIMITED, P.RETRY_SAME, scope=Scope.KEY, wait_seconds=5),
    failure(K.RATE_LIMITED, P.RETRY_SAME, scope=Scope.KEY, wait_seconds=86_400),
    failure(K.OVERLOADED, P.RETRY_SAME, P.FAILOVER_NOW, Scope.PROVIDER),
    failure(K.BAD_KEY, P.ROTATE_CREDENTIAL, scope=Scope.KEY),
    failure(K.CONTENT_FILTERED, P.FAILOVER_NOW, scope=Scope.MODEL),
    failure(K.REFUSED, P.FAILOVER_NOW, P.GIVE_UP, Scope.MODEL),
    failure(K.HISTORY_REFUSED, P.SANITISE_HISTORY, scope=Scope.HISTORY),
    failure(K.CONTEXT_FULL, P.COMPRESS_CONTEXT, P.LOWER_MAX_TOKENS, Scope.HISTORY),
    failure(K.OUTPUT_CAP_TOO_HIGH, P.LOWER_MAX_TOKENS, scope=Scope.REQUEST),
    failure(K.EMPTY_REPLY, P.RETRY_SAME, scope=Scope.MODEL),
    failure(K.PAUSED, P.RESUME, scope=Scope.MODEL),
    failure(K.MISCONFIGURED, P.GIVE_UP, scope=Scope.PROVIDER),
    failure(K.CANCELLED, P.GIVE_UP, scope=Scope.REQUEST),
)
EVERY_FAILURE: tuple[Failure, ...] = tuple(
    failure(kind, plan, then, scope, wait)
    for kind, plan, then, scope, wait in product(K, P, (None, *P), (Scope.KEY, Scope.MODEL), (None, 3.0, 1e9))
)


def broken(cause: Failure, received: Received = SHAPES["nothing"], took_seconds: float = 1.0) -> Broken:
    return Broken(cause, received, took_seconds)


COMMON_OUTCOMES: tuple[Outcome, ...] = (
    *(broken(cause, shape) for cause, shape in product(COMMON, SHAPES.values())),
    *(Answered(received, 1.0) for received in ANSWERS.values()),
)
