"""What a tool is: what a model is told about it, how careful one must be with it, and what runs.

`run` gets arguments that have passed the schema. It returns words or parts for the model, or raises `ToolError` with
words on why not. It may be cancelled at any await, and must then leave nothing running.
"""

import os
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, TypeAlias

from msgspec import Struct, field

from headway.agent.approval import Approvals, Kind
from headway.agent.checkpoints import Checkpoints
from headway.agent.redaction import Redactor
from headway.agent.sandbox.sandbox import Sandbox
from headway.agent.tools.environment import secrets_of, without_secrets
from headway.agent.workspace import Workspace
from headway.messages import ResultPart, ToolSpec

Content: TypeAlias = str | tuple[ResultPart, ...]


class ToolLimits(Struct, frozen=True):
    """How much one call may bring back, and how long it may take."""

    result_characters: int = 60_000
    """No result is longer, whatever its tool does."""
    read_characters: int = 50_000
    output_characters: int = 30_000
    listed: int = 500
    found: int = 200
    search_seconds: float = 10.0
    shell_seconds: float = 120.0
    """When the model names no limit."""
    most_shell_seconds: float = 3600.0
    parallel_reads: int = 8
    call_seconds: float = 4_000.0
    """No call takes longer, whatever its tool does; more than the longest command may ask for."""


class ToolContext(Struct, frozen=True):
    """Where a call runs, and what it may do."""

    workspace: Workspace
    approvals: Approvals = Approvals()
    limits: ToolLimits = ToolLimits()
    environment: Mapping[str, str] = field(default_factory=lambda: without_secrets(os.environ))
    """What commands see of the environment."""
    on_output: Callable[[str, str], None] | None = None
    """Told the id of a call and the next piece of its output, as it comes."""
    call_id: str = ""
    """The call that is running; the executor sets it."""
    redactor: Redactor = field(default_factory=lambda: Redactor(secrets_of(os.environ)))
    """Takes secrets out of results, before anybody sees them."""
    checkpoints: Checkpoints | None = None
    """Keeps what files were before they are changed; nobody does, if there is no place for it."""
    sandbox: Sandbox | None = None
    """The walls that commands run behind; none, if there are none or nobody wants them."""


class Tool(Struct, frozen=True):
    """One thing that an agent can do."""

    spec: ToolSpec
    kind: Kind
    run: Callable[[dict[str, Any], ToolContext], Awaitable[Content]]
    drafts: bool = False
    """Whether a call that was cut may be gone on with. Half a command may not: it is asked for again."""

    @property
    def name(self) -> str:
        """Return the name that a model calls it by."""
        return self.spec.name


def refusing_drafts(tools: Iterable[Tool]) -> frozenset[str]:
    """Return the names of the tools whose cut calls are asked for again instead of continued."""
    return frozenset(tool.name for tool in tools if not tool.drafts)
