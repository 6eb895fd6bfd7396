"""A workspace with something worth stealing beside it, and a hand that uses tools as a model would."""

import asyncio
import json
from pathlib import Path

import pytest

from headway.agent.approval import Approvals, Mode
from headway.agent.running import run_calls
from headway.agent.tools.builtin import BUILTIN
from headway.agent.tools.tool import ToolContext, ToolLimits
from headway.agent.workspace import Workspace
from headway.messages import ToolCall, ToolResult


class Hand:
    """Calls built-in tools on one workspace, each through the executor."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.context = ToolContext(Workspace(root), Approvals(Mode.AUTO), environment={"PATH": "/usr/bin:/bin"})

    def limits(self, **limits) -> None:
        self.context = ToolContext(
            self.context.workspace,
            self.context.approvals,
            ToolLimits(**limits),
            self.context.environment,
            self.context.on_output,
        )

    async def call(self, tool: str, **arguments) -> ToolResult:
        (result,) = await run_calls([ToolCall("c1", tool, json.dumps(arguments))], BUILTIN, self.context)
        return result

    def result(self, tool: str, **arguments) -> ToolResult:
        return asyncio.run(self.call(tool, **arguments))

    def does(self, tool: str, **arguments) -> str:
        result = self.result(tool, **arguments)
        assert not result.is_error, result.text
        return result.text

    def fails(self, tool: str, **arguments) -> str:
        result = self.result(tool, **arguments)
        assert result.is_error, result.text
        return result.text


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret.txt").write_text("the secret\n")
    return folder


@pytest.fixture
def root(tmp_path: Path, outside: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def hand(root: Path) -> Hand:
    return Hand(root)
