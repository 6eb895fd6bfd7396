"""Rows about the way there and the machine at its end: network, TLS, time, faults. No provider's name stands here."""

from headway.failure import FailureKind, Plan, Where
from headway.recovery.failures.facts import OPEN_TOOL_CALL
from headway.recovery.failures.rows import Row, row

K, P, W = FailureKind, Plan, Where

_NOT_OUR_FAULT = (None, 200, 429, *range(500, 600))
_AT_THE_DOOR = (None, W.CONNECT, W.DNS, W.TLS, W.TIMEOUT)

OUTPUT: tuple[Row, ...] = (
    row(
        K.MALFORMED_OUTPUT,
        "the model wrote a call or JSON that could not be read; asking again often passes",
        code=r"""tool_use_failed|json_validate_failed|output_parse_failed|failed_generation|malformed_\w+
            |json_schema_validation\w*|invalid_tool_call\w*|tool_call_parse\w*|model_output_\w+""",
        says=[
            (r"failed to (?:call a function|(?:generate|validate) json)|failed_generation|malformed function call",),
            (
                r"(?:model|generated|generation|output|completion|response)",
                r"could not be parsed|unable to parse|parsing failed",
            ),
            (
                r"""error parsing tool call|tool call validation failed
                    |failed to parse (?:tool call(?! arguments)|input at pos|generated)""",
            ),
            (r"does not match the expected .{0,40}format|not in request\.tools",),
        ],
        unless=r"arguments for tool",
    ),
    row(
        K.CALL_CUT,
        "the arguments of a streamed call are incomplete: they are neither run nor kept",
        code=r"\w*json_?decode_error",
        context=OPEN_TOOL_CALL,
    ),
    row(
        K.NOT_A_STREAM,
        "the stream holds something that cannot be read, so nothing behind it can be trusted",
        code=r"""\w*json_?decode_error|unicode_decode_error|stream_unreadable|stream_event_without_bounds
            |decoding_error""",
        where=(None, W.STREAM_EOF, W.STREAM_ERROR_CHUNK, W.STREAM_ERROR_EVENT),
    ),
)
"""What the model wrote is at fault."""

NETWORK: tuple[Row, ...] = (
    row(
        K.UNREACHABLE,
        "the edge in front of the provider finds no origin behind it",
        says=[(r"\berror (?:code: ?)?10(?:00|16|18|33)\b",)],
        plan=P.FAILOVER_NOW,
    ),
    row(
        K.TLS_REFUSED,
        "the certificate cannot be verified; trying again changes nothing",
        where=_AT_THE_DOOR,
        code=r"""cert_\w+|\w*certificate\w*|depth_zero\w*|self_signed\w*|unable_to_(?:verify|get)\w*|err_tls_cert\w*
            |ssl_cert\w*""",
        says=[
            (
                r"""certificate_verify_failed|certificate verify failed|self[- ]signed
                    |unable to get (?:local )?issuer|x509|altname""",
            ),
            (
                r"\bcert(?:ificate)?s?\b",
                r"expired|not valid|invalid|verif|mismatch|unknown|untrusted|not trusted|doesn't match",
            ),
        ],
    ),
    row(
        K.MISCONFIGURED,
        "TLS was spoken to a port that speaks plain HTTP, or the other way round",
        says=[(r"wrong_version_number|wrong version number|http_request|record layer failure|plain http request",)],
        plan=P.GIVE_UP,
    ),
    row(
        K.MISCONFIGURED,
        "the address, a header or the proxy is set up wrongly",
        code=r"""\w*unsupported_protocol|\w*invalid_url|\w*missing_schema|\w*invalid_schema|\w*too_many_redirects
            |err_invalid_url|\w*invalid_header|\w*unicode_encode_error""",
        says=[
            (
                r"""illegal header value|codec can't encode|missing an? 'http|unsupported protocol
                    |invalid url|no scheme supplied|too many redirects""",
            ),
            (r"proxy authentication required|\b407\b",),
        ],
        unless=r"image|(?<!tls )\bssl\b",
        plan=P.GIVE_UP,
    ),
    row(
        K.UNREACHABLE,
        "the handshake was cut; another attempt may pass",
        where=(W.TLS,),
        says=[
            (r"reset|eof|unexpected_eof|aborted|closed|broken pipe|timed out|timeout|bad_record_mac|bad record mac",)
        ],
    ),
    row(
        K.TLS_REFUSED,
        "the two sides agree on no version or cipher",
        where=_AT_THE_DOOR,
        says=[
            (
                r"""handshake[_ ]failure|no[_ ](?:shared[_ ]cipher|protocols)|unsupported[_ ]protocol
                    |protocol[_ ]version|tlsv1_alert""",
            )
        ],
        code=r"err_ssl\w*",
    ),
    row(
        K.STREAM_CUT,
        "the other side closed the connection before it handled the request: send it again at once",
        says=[
            (
                r"""connectionterminated|goaway|streamreset .{0,40}error_code:(?:7|8|11)|refused_stream
                    |enhance_your_calm""",
            )
        ],
        plan=P.RETRY_SAME,
    ),
    row(
        K.UNREACHABLE,
        "the name could not be resolved, or nothing answers at the address",
        code=r"""\w*connect_error|\w*connection_error|\w*connect_timeout(?:_error)?|\w*connector_\w*error|enotfound
            |econnrefused|eai_again|ehostunreach|enetunreach|\w*gaierror|\w*new_connection_error
            |\w*max_retry_error|\w*proxy_error|\w*name_resolution_error|und_err_connect\w*
            |\w*connection_refused\w*|\w*connection_timeout\w*|\w*host_unreachable|api_connection\w*""",
        says=[
            (
                r"""connection refused|name or service not known|nodename nor servname|name resolution|getaddrinfo
                    |no address associated""",
            ),
            (
                r"""all connection attempts failed|network is unreachable|no route to host|cannot connect
                    |failed to connect|fetch failed""",
            ),
            (
                r"""connect call failed|could not resolve host|max retries exceeded|failed to establish
                    |tunnel connection failed""",
            ),
        ],
    ),
    row(
        K.TIMED_OUT,
        "nothing came in the time that was allowed",
        code=r"""\w*read_?timeout(?:_error)?|\w*write_?timeout|\w*pool_?timeout|etimedout
            |und_err_(?:headers|body)_timeout|timeout_error|\w*server_timeout\w*|socket_timeout
            |asyncio_timeout\w*""",
        where=(*_AT_THE_DOOR, W.STREAM_EOF),
    ),
    row(
        K.STREAM_CUT,
        "the connection broke while the answer came",
        code=r"""\w*remote_protocol_error|\w*read_error|\w*write_error|\w*chunked_encoding_error
            |\w*incomplete_?read\w*|\w*payload_error|\w*server_disconnected\w*|econnreset|epipe|und_err_socket
            |\w*protocol_error|\w*connection_reset\w*|err_stream_premature_close|\w*connection_aborted\w*
            |\w*broken_pipe\w*|\w*connection_closed\w*|err_http2\w*|\w*local_protocol_error|\w*close_error""",
        says=[
            (
                r"""peer closed connection|incomplete chunked read|incompleteread|server disconnected
                    |connection reset|socket hang up""",
            ),
            (
                r"""other side closed|premature close|broken pipe|connection (?:was )?(?:closed|aborted|lost|broken)
                    |streamreset|terminated$""",
            ),
            (
                r"""unexpected eof|stream (?:was )?(?:closed|ended|terminated|disconnected|interrupted)
                    |not enough data to satisfy""",
            ),
        ],
        where=(W.STREAM_EOF, W.STREAM_ERROR_CHUNK, W.STREAM_ERROR_EVENT, W.BODY_200),
    ),
    row(
        K.UNREACHABLE,
        "the connection broke before an answer came",
        code=r"""\w*remote_protocol_error|\w*read_error|\w*write_error|econnreset|epipe|und_err_socket
            |\w*server_disconnected\w*|\w*connection_reset\w*|\w*connection_aborted\w*|\w*protocol_error""",
        says=[
            (
                r"""server disconnected|connection reset|socket hang up|other side closed|broken pipe
                    |connection aborted""",
            ),
            (r"(?:ssl|tls)\b.{0,60}(?:bad record mac|alert|eof)|eof occurred in violation|bad_record_mac",),
        ],
    ),
)
"""The way to the provider is at fault."""

FAULTS: tuple[Row, ...] = (
    row(
        K.CANCELLED,
        "the client went away before the answer came",
        code=r"cancell?ed|client_closed\w*|request_cancell?ed|abort_error|cancelled_error",
        says=[
            (
                r"""request (?:was )?cancell?ed|client closed|operation (?:was )?(?:cancell?ed|aborted)
                    |cancell?ed by (?:the )?client""",
            )
        ],
    ),
    row(
        K.SERVER_FAULT,
        "something the answer depends on was lost while it was made",
        code=r"not_found",
        where=(W.STREAM_ERROR_EVENT, W.STREAM_ERROR_CHUNK),
        then=P.FAILOVER_NOW,
    ),
    row(
        K.TIMED_OUT,
        "generation took longer than the provider allows; a shorter answer may fit",
        code=r"model_timeout\w*|origin_response_timeout",
        says=[(r"took too long|processing time exceeded|error code: 52[24]|a timeout occurred|gateway time-?out",)],
        then=P.ASK_SMALLER_CHUNKS,
    ),
    row(
        K.TIMED_OUT,
        "the deadline passed; a long prompt is the usual cause",
        code=r"deadline_exceeded",
        then=P.COMPRESS_CONTEXT,
    ),
    row(
        K.TIMED_OUT,
        "the provider gave up waiting for its own answer",
        code=r"\w*time_?d?_?out\w*",
        says=[(r"timed? ?-?out|deadline exceeded|超时",)],
    ),
    row(
        K.OVERLOADED,
        "the service is not available at the moment",
        code=r"\w*unavailable\w*|model_serving\w*|unreachable_backend|no_available_\w+|no_healthy_\w+",
        says=[
            (
                r"""temporarily unavailable|service (?:is )?(?:temporarily )?(?:unavailable|not available)
                    |currently unavailable|loading model""",
            )
        ],
    ),
    row(
        K.SERVER_FAULT,
        "the machine that made the answer died or ran out of memory",
        code=r"engine_dead\w*|engine_core\w*",
        says=[
            (
                r"""enginecore|enginedead|runner process|has (?:crashed|terminated)|crash|cuda|out of memory
                    |exit code|channel error""",
            )
        ],
        then=P.FAILOVER_NOW,
    ),
    row(
        K.SERVER_FAULT,
        "the provider behind a proxy failed or vanished",
        status=_NOT_OUR_FAULT,
        code=r"mid_stream_fallback\w*|provider_\w+|upstream_\w+|bad_gateway\w*|model_error\w*",
        says=[(r"provider disconnected|upstream|bad gateway|invalid response",)],
        then=P.FAILOVER_NOW,
    ),
    row(
        K.SERVER_FAULT,
        "somebody else works on the same thing at this moment",
        says=[(r"another (?:process|request|run|operation) (?:is|was)\b",)],
    ),
    row(
        K.SERVER_FAULT,
        "the provider says that the fault is its own",
        says=[
            (
                r"""internal (?:server |service )?error|unexpected error|server had an error|something went wrong
                    |unknown error|mysql""",
            ),
            (
                r"""system error|backend error|内部错误|系统(?:错误|异常|繁忙)|服务(?:异常|错误)|网络错误
                    |调用流程出错|(?:稍后|再)(?:重|再)?试""",
            ),
        ],
        unless=r"\binvalid\b",
    ),
    row(
        K.SERVER_FAULT,
        "an error that is filed under the provider's own, and no status says otherwise",
        code=r"""\w*server_error\w*|\w*internal\w*|api_error|unknown_error|unexpected_error|\w*system_error
            |model_stream_error\w*|conflict_error|conversation_locked|aborted|data_loss|vector_store_timeout|cmek_\w+|server|unmapped|api_exception""",
        status=_NOT_OUR_FAULT,
    ),
)
"""The machine at the other end is at fault."""
