"""Every setting: its type, its bounds, its default and what it is for.

The reference page and the JSON Schema are made of this. None as a default means that Headway chooses, by what it knows
of the provider, the model and the request.
"""

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct

from headway.failure import FailureKind
from headway.gateway.manners import Calls
from headway.providers.catalog import Auth
from headway.recovery.ledger import Strategy

DAY = 86_400

Seconds: TypeAlias = Annotated[float, Meta(gt=0, le=DAY)]
Count: TypeAlias = Annotated[int, Meta(ge=1, le=1_000)]
Tokens: TypeAlias = Annotated[int, Meta(ge=1, le=100_000_000)]
Amount: TypeAlias = Annotated[float, Meta(ge=0, le=1_000_000)]
Wire: TypeAlias = Literal["chat", "responses", "anthropic"]
Splice: TypeAlias = Literal["any", "same", "never"]
Approve: TypeAlias = Literal["ask", "edits", "plan", "auto"]
Walls: TypeAlias = Literal["auto", "require", "off"]
ServerKind: TypeAlias = Literal["runs", "hinted", "reads"]


class _Table(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of the file; what it does not know, it does not take."""


class StreamLimits(_Table, frozen=True, kw_only=True):
    """How long each kind of quiet in a stream may last. One that is written counts as written and is not stretched."""

    connect_seconds: Annotated[Seconds | None, Meta(description="Name, socket, proxy and TLS together.")] = None
    first_byte_seconds: Annotated[Seconds | None, Meta(description="No bytes at all, before anything was said.")] = None
    dead_seconds: Annotated[Seconds | None, Meta(description="No bytes at all, after something was said.")] = None
    first_content_seconds: Annotated[Seconds | None, Meta(description="Bytes, but nothing said yet.")] = None
    silence_seconds: Annotated[Seconds | None, Meta(description="Bytes, but nothing more said.")] = None
    drip_chars_per_second: Annotated[Amount | None, Meta(description="Less than this is a drip and no stream …")] = None
    drip_window_seconds: Annotated[Seconds | None, Meta(description="… when it lasts this long.")] = None


class TurnLimits(StreamLimits, frozen=True, kw_only=True):
    """What one turn may take, besides."""

    turn_seconds: Annotated[Seconds | None, Meta(description="The whole turn, all of its attempts together.")] = None
    attempts: Annotated[Count | None, Meta(description="Requests in a turn that may end without gaining ground.")] = (
        None
    )
    attempts_per_upstream: Annotated[Count | None, Meta(description="The same, for each upstream of the chain.")] = None
    continuations: Annotated[
        Count | None, Meta(description="Requests in a turn that gained ground but did not finish.")
    ] = None
    longest_wait_seconds: Annotated[
        Seconds | None, Meta(description="The longest wait that a provider may ask for within a turn.")
    ] = None


class Limits(TurnLimits, frozen=True, kw_only=True):
    """The limits for everything, and those of health and keys, which all turns share."""

    unwell_after: Annotated[Count, Meta(description="Failures in a row after which an upstream is left alone …")] = 3
    unwell_seconds: Annotated[Seconds, Meta(description="… for so long at first, twice as long each time …")] = 15.0
    longest_unwell_seconds: Annotated[Seconds, Meta(description="… and never longer than this.")] = 300.0
    key_rest_seconds: Annotated[
        Seconds, Meta(description="How long a key rests after a limit on rates, if the provider does not say.")
    ] = 20.0


class ModelEntry(_Table, frozen=True, kw_only=True):
    """Facts about a model that Headway cannot know, or has wrong."""

    context: Annotated[Tokens | None, Meta(description="Tokens of input and output together.")] = None
    output_limit: Annotated[Tokens | None, Meta(description="Tokens that one reply may have.")] = None
    reasoning: Annotated[bool | None, Meta(description="Does it think before it speaks?")] = None
    images: Annotated[bool | None, Meta(description="Can it see?")] = None
    prefill: Annotated[bool | None, Meta(description="Can it go on from assistant text?")] = None
    input_price: Annotated[Amount | None, Meta(description="Dollars for a million tokens of input.")] = None
    output_price: Annotated[Amount | None, Meta(description="Dollars for a million tokens of output.")] = None


class ProviderEntry(_Table, frozen=True, kw_only=True):
    """A provider. Its name may be a preset's; otherwise it has a `preset`, or a `wire` and a `base_url`."""

    preset: Annotated[str, Meta(description="A provider that Headway knows, by its name in the list below.")] = ""
    wire: Annotated[Wire | None, Meta(description="What it speaks, if not what the preset says.")] = None
    base_url: Annotated[str, Meta(description="Where it is, if not where the preset says.")] = ""
    path: Annotated[
        str, Meta(description="The endpoint below the base URL, if not the wire's own; `{model}` is the model.")
    ] = ""
    keys: Annotated[
        tuple[str, ...] | None,
        Meta(description="Keys as `env:NAME`, `file:PATH` or `keyring:NAME`; without it, the usual variables."),
    ] = None
    auth: Annotated[Auth | None, Meta(description="Where the key stands in a request.")] = None
    headers: Annotated[dict[str, str], Meta(description="More headers for every request; no keys.")] = {}
    betas: Annotated[tuple[str, ...], Meta(description="Beta features to ask for, where the wire has them.")] = ()
    model: Annotated[str, Meta(description="The model when a chain names only the provider.")] = ""
    models: Annotated[dict[str, ModelEntry], Meta(description="Facts about its models, by their names.")] = {}
    client_key: Annotated[
        bool, Meta(description="Send on the key that a client of the gateway shows, instead of one of ours?")
    ] = False
    reattach: Annotated[
        bool | None, Meta(description="Run replies in the background, so that a broken stream is taken up again?")
    ] = None
    limits: Annotated[StreamLimits, Meta(description="Limits for this provider.")] = StreamLimits()


class RouteEntry(_Table, frozen=True, kw_only=True):
    """A way to an answer: whom to ask, and whom next."""

    chain: Annotated[
        tuple[str, ...],
        Meta(
            description="`provider/model`, first choice first; `provider` alone is its own model, "
            "`provider/*` the one that a client of the gateway asks for."
        ),
    ] = ()
    stay_home: Annotated[
        tuple[FailureKind, ...], Meta(description="Kinds of failure that do not go to the next of the chain.")
    ] = ()
    drafts: Annotated[bool, Meta(description="Let the model go on from a tool call that was cut?")] = True
    forbid: Annotated[
        tuple[Strategy, ...], Meta(description="Recoveries that are not used, by the names in the recovery reference.")
    ] = ()
    calls: Annotated[
        Calls,
        Meta(
            description="When a client of the gateway gets a tool call: whole, or as it comes up to the last safe cut."
        ),
    ] = Calls.HOLD
    splice: Annotated[
        Splice, Meta(description="Who may go on with a text that a client already has: anybody, its model, or nobody.")
    ] = "any"
    mark_seams: Annotated[
        bool, Meta(description="Put a comment into a client's stream where another attempt goes on?")
    ] = False
    continue_limits: Annotated[
        bool, Meta(description="Go on past a client's own limit on output, where that cut its text? Calls always are.")
    ] = False
    limits: Annotated[TurnLimits, Meta(description="Limits for this route; they count before a provider's.")] = (
        TurnLimits()
    )


class Gateway(_Table, frozen=True, kw_only=True):
    """`headway serve`."""

    listen: Annotated[str, Meta(description="Address and port.")] = "127.0.0.1:8320"
    keys: Annotated[
        tuple[str, ...], Meta(description="Keys that clients must show, written like those above; needed off loopback.")
    ] = ()
    heartbeat_seconds: Annotated[
        Seconds, Meta(description="A client that waits so long for the next word gets a sign of life.")
    ] = 15.0
    write_seconds: Annotated[Seconds, Meta(description="How long a client may take nothing of its answer.")] = 60.0
    drain_seconds: Annotated[Seconds, Meta(description="How long open streams may go on after SIGTERM.")] = 60.0
    body_mb: Annotated[Count, Meta(description="The largest body that a client may send, in megabytes.")] = 64
    header_kb: Annotated[Count, Meta(description="The largest head of a request, in kilobytes.")] = 64
    connections: Annotated[Tokens, Meta(description="Connections that may be open at once.")] = 4096
    streams: Annotated[Tokens, Meta(description="Requests that may be answered at once.")] = 1024
    requests_per_minute: Annotated[
        Tokens | None, Meta(description="Requests a minute for each key; without it, as many as they like.")
    ] = None
    traces: Annotated[
        int, Meta(ge=0, le=10_000_000, description="How many requests `headway trace` can tell about; 0: none.")
    ] = 10_000
    trace_content: Annotated[bool, Meta(description="Keep what was asked in traces? Off: sizes and times only.")] = (
        False
    )
    log: Annotated[Literal["json", "text", "off"], Meta(description="One line a request on standard error.")] = "text"


class Store(_Table, frozen=True, kw_only=True):
    """Where sessions are kept."""

    url: Annotated[str, Meta(description="`sqlite:PATH`, an SQLite file; empty: one in Headway's own folder.")] = ""


class Agent(_Table, frozen=True, kw_only=True):
    """`headway run` and `headway chat`."""

    approve: Annotated[
        Approve, Meta(description="What needs a yes: everything that acts, all but edits, nothing acts, nothing asks.")
    ] = "ask"
    steps: Annotated[Count, Meta(description="Rounds of tool calls in one task.")] = 200
    instructions: Annotated[bool, Meta(description="Tell the model what AGENTS.md or CLAUDE.md says?")] = True
    skills: Annotated[bool, Meta(description="Offer the skills of the workspace and of the user?")] = True
    compact_at: Annotated[
        float,
        Meta(
            ge=0, le=1, description="The share of a model's window at which a conversation is summed up; 0: when full."
        ),
    ] = 0.85
    shell_seconds: Annotated[
        Seconds, Meta(description="How long one shell command may run, unless the model asks for more.")
    ] = 120.0
    sandbox: Annotated[
        Walls,
        Meta(description="Walls around shell commands: the best there are, none means nothing starts, or none wanted."),
    ] = "auto"
    network: Annotated[bool, Meta(description="May shell commands in a sandbox use the network?")] = False
    writable: Annotated[
        tuple[str, ...], Meta(description="Folders besides the workspace that may be written to, such as a cache.")
    ] = ()
    hidden: Annotated[
        tuple[str, ...],
        Meta(description="Files and folders with secrets, besides the usual; commands do not see them, tools ask."),
    ] = ()
    allow: Annotated[
        tuple[str, ...],
        Meta(description="Calls that need no yes: `shell(git status)`, `write_file(src/**)`, `shell(npm run *)`."),
    ] = ()
    deny: Annotated[
        tuple[str, ...],
        Meta(description="Calls that are never run, however they are spelled; those of all files count together."),
    ] = ()
    ask: Annotated[
        tuple[str, ...], Meta(description="Calls that always need a yes; those of all files count together.")
    ] = ()


class McpEntry(_Table, frozen=True, kw_only=True):
    """An MCP server, whose tools the agent gets as `NAME__tool`. It has a `command`, or a `url`."""

    command: Annotated[
        tuple[str, ...], Meta(description="The program and its arguments; it speaks over its standard streams.")
    ] = ()
    env: Annotated[
        dict[str, str],
        Meta(
            description="Its variables, besides the harmless ones; secrets as `env:NAME`, `file:PATH`, `keyring:NAME`."
        ),
    ] = {}
    cwd: Annotated[str, Meta(description="The folder that it starts in; without it, the workspace.")] = ""
    url: Annotated[str, Meta(description="Its endpoint, if it is reached over HTTP.")] = ""
    headers: Annotated[
        dict[str, str], Meta(description="Headers for its endpoint; secrets as above, such as `Bearer env:NAME`.")
    ] = {}
    tools: Annotated[tuple[str, ...], Meta(description="Which of its tools are offered; `*` and `?` match.")] = ("*",)
    kind: Annotated[
        ServerKind,
        Meta(description="What its tools do: anything, anything but where it says that one only reads, or they read."),
    ] = "runs"
    seconds: Annotated[Seconds, Meta(description="How long one call may take.")] = 60.0
    start_seconds: Annotated[Seconds, Meta(description="How long it may take from its start to its list of tools.")] = (
        30.0
    )
    enabled: Annotated[bool, Meta(description="Is it used?")] = True


class Settings(_Table, frozen=True, kw_only=True):
    """Everything that can be set."""

    providers: Annotated[dict[str, ProviderEntry], Meta(description="Who can be asked.")] = {}
    routes: Annotated[dict[str, RouteEntry], Meta(description="In which order they are.")] = {}
    limits: Annotated[Limits, Meta(description="How long, and how often.")] = Limits()
    gateway: Annotated[Gateway, Meta(description="The server.")] = Gateway()
    store: Annotated[Store, Meta(description="The sessions.")] = Store()
    agent: Annotated[Agent, Meta(description="The agent.")] = Agent()
    mcp: Annotated[dict[str, McpEntry], Meta(description="Servers with more tools for the agent.")] = {}
