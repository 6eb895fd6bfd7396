"""What can be wrong with a server, as facts: in which phase, what, and what a person can do about it."""

from enum import Enum

from headway.agent.mcp.spec import ServerSpec
from headway.failure import HeadwayError


class Phase(Enum):
    """How far a server had come."""

    START = "start"
    HANDSHAKE = "handshake"
    LIST = "list of tools"
    CALL = "call"


class Trouble(Enum):
    """What is wrong with it."""

    NO_PROGRAM = "no program"
    ENDED = "ended"
    HUNG = "hung"
    REFUSED = "refused"
    NONSENSE = "nonsense"
    FLOODS = "floods"
    UNREACHABLE = "unreachable"
    NOT_LET_IN = "not let in"
    FORGOT_US = "forgot us"
    WRONG_ADDRESS = "wrong address"
    RESTING = "resting"


class ServerFailed(HeadwayError):
    """A server did not do what it was asked. `detail` is what the system or the server said."""

    def __init__(self, trouble: Trouble, server: str, phase: Phase, detail: str) -> None:
        """Keep the facts."""
        self.trouble, self.server, self.phase, self.detail = trouble, server, phase, detail
        super().__init__(trouble, server, phase, detail)

    def __str__(self) -> str:
        return f"the MCP server {self.server}: {self.detail} ({self.phase.value})"


def advice(failed: ServerFailed, spec: ServerSpec) -> str:
    """Return what a person can do about it."""
    table = f"[mcp.{spec.name}]"
    match failed.trouble:
        case Trouble.NO_PROGRAM:
            return f"Install it, or write its whole path as the first word of `command` in {table}."
        case Trouble.ENDED if failed.phase is not Phase.CALL:
            return f"Try its command by hand; what it misses in its environment belongs into `env` of {table}."
        case Trouble.HUNG if failed.phase is not Phase.CALL:
            return f"If it only needs longer (a first download, say), set `start_seconds` in {table}."
        case Trouble.HUNG:
            return f"If it only needs longer, set `seconds` in {table}."
        case Trouble.NONSENSE if spec.command:
            return "See that the command is an MCP server over stdio, and that it prints nothing else to its output."
        case Trouble.NONSENSE | Trouble.WRONG_ADDRESS:
            return f"See that `url` in {table} is the endpoint itself; it often ends in /mcp."
        case Trouble.NOT_LET_IN:
            return f'Give it a token: headers = {{ Authorization = "Bearer env:NAME" }} in {table}.'
        case Trouble.UNREACHABLE:
            return f"See that it runs, and that `url` in {table} is right."
        case _:
            return f"See what it says by itself, or leave it out with `enabled = false` in {table}."
