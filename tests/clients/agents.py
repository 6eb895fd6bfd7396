"""The clients as the tests run them: without a person, without telemetry, in a home of their own.

Each row says how the client is told to do one task, and how a model tells it to write one file: by the client's own
tool, in its own words.
"""

import json
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from headway.messages import WireName
from headway.sim import Call, Final, Say, Step, WriteFile

PAGE = "".join(f'<p id="p{number}">“Line” {number} — é 😀 \\ "quoted"</p>\n' for number in range(400))
FILE = "page.html"
PROMPT = "Write the page."
DONE = "All done now."
Writes = Callable[[Path], Step]


class Agent(Struct, frozen=True, kw_only=True):
    """One client."""

    name: str
    package: str
    """Its folder in .clients is named after this."""
    program: str
    wire: WireName
    key: str
    """The variable in which it looks for its key …"""
    url: str
    """… and its provider's address, as `$url` says."""
    url_ends: str = ""
    arguments: tuple[str, ...]
    writes: Writes
    says: tuple[Step, ...] = (Say("I write it."),)
    environment: dict[str, str] = {}

    def steps(self, workspace: Path) -> tuple[Step, ...]:
        step = self.writes(workspace)
        return (step,) if isinstance(step, Final) else (*self.says, step, Final(DONE))


def writes(tool: str, path_as: str, *, absolute: bool = False) -> Writes:
    """Return how a client's tool writes a whole file."""
    return lambda folder: WriteFile(str(folder / FILE) if absolute else FILE, PAGE, tool, path_as)


_LINES = "".join(f"+{line}\n" for line in PAGE.splitlines())
PATCH = f"*** Begin Patch\n*** Add File: {FILE}\n{_LINES}*** End Patch\n"


def patches(_: Path) -> Step:
    """Return how a file is written by a tool that takes free text."""
    return Call("apply_patch", text=PATCH)


def runs_a_command(_: Path) -> Step:
    return Call("exec_command", {"cmd": f"cat > {FILE} <<'EOF'\n{PAGE}EOF\n", "yield_time_ms": 30_000})


def runs_a_script(_: Path) -> Step:
    """Return how a file is written by a model whose only tool runs scripts that call the others."""
    return Call("exec", text=f'await tools.apply_patch({json.dumps(PATCH)});\ntext("patched");\n')


def says_it(_: Path) -> Step:
    """Return how a file is written by a client without tools: in the words of the reply."""
    return Final(f"Here is the page.\n\n{FILE}\n```html\n{PAGE}```\n\n{DONE}")


_ANTHROPIC = {"key": "ANTHROPIC_API_KEY", "url": "ANTHROPIC_BASE_URL"}
_OPENAI = {"key": "OPENAI_API_KEY", "url": "OPENAI_BASE_URL", "url_ends": "/v1"}

CLAUDE = Agent(
    name="claude",
    package="anthropic-ai-claude-code",
    program="claude",
    wire="anthropic",
    **_ANTHROPIC,
    arguments=("-p", PROMPT, "--dangerously-skip-permissions"),
    writes=writes("Write", "file_path"),
    environment={
        "IS_SANDBOX": "1",  # it does not run so as root otherwise
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    },
)
CODEX = Agent(
    name="codex",
    package="openai-codex",
    program="codex",
    wire="responses",
    **_OPENAI,
    arguments=(
        *("exec", "-m", "gpt-5.5", "--dangerously-bypass-approvals-and-sandbox", "--skip-git-repo-check"),
        *("-c", "analytics.enabled=false", PROMPT),
    ),
    writes=patches,
)
CODEX_SHELL = Agent(
    name="codex-shell",
    package=CODEX.package,
    program=CODEX.program,
    wire="responses",
    **_OPENAI,
    arguments=CODEX.arguments,
    writes=runs_a_command,
)
CODEX_SCRIPTS = Agent(
    name="codex-scripts",
    package=CODEX.package,
    program=CODEX.program,
    wire="responses",
    **_OPENAI,
    arguments=tuple("gpt-6.1-sol" if word == "gpt-5.5" else word for word in CODEX.arguments),
    writes=runs_a_script,
)
OPENCODE = Agent(
    name="opencode",
    package="opencode-ai",
    program="opencode",
    wire="anthropic",
    **_ANTHROPIC,
    arguments=("run", "-m", "anthropic/claude-sonnet-4-6", PROMPT),
    writes=writes("write", "filePath"),
    environment={"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"},
)
OPENCODE_RESPONSES = Agent(
    name="opencode-responses",
    package="opencode-ai",
    program="opencode",
    wire="responses",
    **_OPENAI,
    arguments=("run", "-m", "openai/gpt-5.4-mini", PROMPT),
    writes=lambda _: Call("apply_patch", {"patchText": PATCH}),
    environment=OPENCODE.environment,
)
PI = Agent(
    name="pi",
    package="earendil-works-pi-coding-agent",
    program="pi",
    wire="anthropic",
    **_ANTHROPIC,
    arguments=("--provider", "anthropic", "--model", "claude-sonnet-4-6", "-p", PROMPT),
    writes=writes("write", "path"),
    environment={"PI_OFFLINE": "1"},
)
PI_RESPONSES = Agent(
    name="pi-responses",
    package=PI.package,
    program="pi",
    wire="responses",
    **_OPENAI,
    arguments=("--provider", "openai", "--model", "gpt-5.5", "-p", PROMPT),
    writes=writes("write", "path"),
    environment=PI.environment,
)
QWEN = Agent(
    name="qwen",
    package="qwen-code-qwen-code",
    program="qwen",
    wire="chat",
    **_OPENAI,
    arguments=("--auth-type", "openai", "-m", "qwen3-coder-plus", "--yolo", PROMPT),
    writes=writes("write_file", "file_path", absolute=True),
)
HERMES = Agent(
    name="hermes",
    package="hermes-agent",
    program="hermes",
    wire="chat",
    **_OPENAI,
    arguments=("chat", "-Q", "--yolo", "--provider", "openai-api", "-m", "gpt-4.1", "-q", PROMPT),
    writes=writes("write_file", "path"),
)
AIDER = Agent(
    name="aider",
    package="aider-chat",
    program="aider",
    wire="chat",
    **_OPENAI,
    arguments=(
        *("--model", "openai/sim-1", "--edit-format", "whole", "--no-git", "--yes-always", "--no-check-update"),
        *("--analytics-disable", "--no-show-model-warnings", "--message", PROMPT, FILE),
    ),
    writes=says_it,
)
LLM = Agent(
    name="llm",
    package="llm",
    program="llm",
    wire="chat",
    **_OPENAI,
    arguments=("-m", "gpt-4o-mini", "--no-log", PROMPT),
    writes=lambda _: Final(PAGE + DONE),
)
AGENTS = (
    CLAUDE,
    CODEX,
    CODEX_SHELL,
    CODEX_SCRIPTS,
    OPENCODE,
    OPENCODE_RESPONSES,
    PI,
    PI_RESPONSES,
    QWEN,
    HERMES,
    AIDER,
)
"""Those that write files; `LLM` only speaks."""
