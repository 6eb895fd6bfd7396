"""What went wrong, as facts that never need parsing, and the errors that carry them.

HeadwayError            anything Headway raises on purpose; its text is for people
├── InvalidInput        a body, file or flag that cannot be read (which, where, why, what to do)
└── TurnFailed          a turn ended without an answer; carries the `Failure` and what was tried
"""

from collections.abc import Iterable
from enum import Enum

from msgspec import Struct


class Plan(Enum):
    """What cures a failure; the classes of the failure table."""

    RETRY_SAME = "retry_same"
    ROTATE_CREDENTIAL = "rotate_credential"
    FAILOVER_NOW = "failover_now"
    COMPRESS_CONTEXT = "compress_context"
    LOWER_MAX_TOKENS = "lower_max_tokens"
    SANITISE_HISTORY = "sanitise_history"
    ASK_SMALLER_CHUNKS = "ask_smaller_chunks"
    RESUME = "resume"
    GIVE_UP = "give_up_clear_error"


class Scope(Enum):
    """What the failure belongs to; it alone decides between healing, rotating, failing over and waiting."""

    REQUEST = "request"
    HISTORY = "history"
    KEY = "key"
    MODEL = "model"
    PROVIDER = "provider"
    NETWORK = "network"


class FailureKind(Enum):
    """The kinds of failure, by meaning; providers' words for them are rows of the table."""

    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    SERVER_FAULT = "server_fault"
    TIMED_OUT = "timed_out"
    STALLED = "stalled"
    UNREACHABLE = "unreachable"
    TLS_REFUSED = "tls_refused"
    STREAM_CUT = "stream_cut"
    CALL_CUT = "call_cut"
    OUTPUT_LIMIT = "output_limit"
    PAUSED = "paused"
    CONTENT_FILTERED = "content_filtered"
    REFUSED = "refused"
    BAD_KEY = "bad_key"
    FORBIDDEN = "forbidden"
    BILLING = "billing"
    QUOTA_SPENT = "quota_spent"
    MODEL_UNAVAILABLE = "model_unavailable"
    CONTEXT_FULL = "context_full"
    OUTPUT_CAP_TOO_HIGH = "output_cap_too_high"
    HISTORY_REFUSED = "history_refused"
    PARAMETER_REFUSED = "parameter_refused"
    REQUEST_REFUSED = "request_refused"
    MALFORMED_OUTPUT = "malformed_output"
    EMPTY_REPLY = "empty_reply"
    NOT_A_STREAM = "not_a_stream"
    MISCONFIGURED = "misconfigured"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"


class Where(Enum):
    """Where a failure showed itself."""

    HTTP_ERROR = "http_error"
    STREAM_ERROR_EVENT = "stream_error_event"
    STREAM_ERROR_CHUNK = "stream_error_chunk"
    FINISH_REASON = "finish_reason"
    BODY_200 = "body_200"
    STREAM_EOF = "stream_eof"
    CONNECT = "connect"
    DNS = "dns"
    TLS = "tls"
    TIMEOUT = "timeout"


class Failure(Struct, frozen=True):
    """One failure. Decisions read the fields; people read `reason`."""

    kind: FailureKind
    scope: Scope
    plan: Plan
    reason: str
    """One sentence for a person: what happened, to what."""
    then: Plan | None = None
    """The plan when the first does not cure it."""
    where: Where | None = None
    status: int | None = None
    code: str | None = None
    wait_seconds: float | None = None
    """How long the provider said to wait, if it said so."""
    repair: str | None = None
    """What a history or parameter repair should do, when the answer names it."""
    limit_tokens: int | None = None
    """A window or cap the provider named in its answer."""


class HeadwayError(Exception):
    """The root of everything Headway raises on purpose."""


class InvalidInput(HeadwayError):
    """Something given to Headway cannot be read; nothing was changed."""

    def __init__(self, what: str, why: str, hint: str = "") -> None:
        """Say what cannot be read, why, and what to do about it."""
        self.what, self.why, self.hint = what, why, hint
        super().__init__(what, why, hint)

    def __str__(self) -> str:
        text = f"{self.what}: {self.why}"
        return f"{text}. {self.hint}" if self.hint else text


class TurnFailed(HeadwayError):
    """A turn ended without an answer. It carries the last failure, who was asked, and the words that had come."""

    def __init__(self, failure: Failure, tried: Iterable[str] = (), text: str = "", why: str = "") -> None:
        """Keep the facts; `text` is what was received of the answer, `why` is why no more was tried."""
        self.failure, self.tried, self.text, self.why = failure, tuple(tried), text, why
        super().__init__(failure, self.tried, text, why)

    def __str__(self) -> str:
        why = f" Given up: {self.why}." if self.why else ""
        tried = f" Asked: {', '.join(self.tried)}." if self.tried else ""
        kept = f" {len(self.text):,} characters of the answer are kept." if self.text else ""
        return f"{self.failure.reason}{why}{tried}{kept}"
