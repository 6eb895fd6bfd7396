"""What people should know about commands before the first one runs, and not before: most tasks run none."""

from collections.abc import Awaitable, Callable, Sequence

from headway.agent.happenings import AgentItem, AgentSink, ToolBegan


def before_commands(sink: AgentSink, notice: Callable[[], Awaitable[str]], say: Callable[[str], None]) -> AgentSink:
    """Return a sink that says something, if there is anything to say, when the first command is about to run."""
    waiting = [notice]

    async def hear(items: Sequence[AgentItem]) -> None:
        runs = any(isinstance(item, ToolBegan) and item.call.name == "shell" for item in items)
        words = await waiting.pop()() if waiting and runs else ""
        if words:
            say(words)
        await sink(items)

    return hear
