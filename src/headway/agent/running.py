"""The calls of one reply, run: every call gets exactly one result, in the order of the calls.

Nothing runs before its arguments have passed the schema, it was approved, and its intent is recorded. Calls that only
read run side by side; one that edits or runs waits for all before it, and all after it wait for it. A tool that fails
gives an error result. Cancellation passes through: a call that it meets has an intent and no result, so its outcome
stays unknown.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import groupby
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from headway.agent.approval import Deny, Kind
from headway.agent.tools.bounds import clip
from headway.agent.tools.refusals import ToolError
from headway.agent.tools.threads import in_thread
from headway.agent.tools.tool import Content, Tool, ToolContext
from headway.failure import HeadwayError
from headway.history.characters import clean
from headway.messages import ResultPart, Text, ToolCall, ToolResult
from headway.recovery.schema import check
from headway.transport.clock import Awake
from headway.wire.json_text import BadJson, excerpt, strict_object

OnIntent: TypeAlias = Callable[[ToolCall], Awaitable[None]]
OnResult: TypeAlias = Callable[[ToolCall, ToolResult], Awaitable[None]]
LEAVE_SECONDS = 0.45
"""How long a cancelled tool may take to end what it has started, before it is left behind."""
_log = logging.getLogger("headway.agent")


async def _unheard(*_: object) -> None: ...


async def run_calls(
    calls: Sequence[ToolCall],
    tools: Iterable[Tool],
    context: ToolContext,
    on_intent: OnIntent = _unheard,
    on_result: OnResult = _unheard,
) -> tuple[ToolResult, ...]:
    """Run whole calls. `on_intent` is awaited before a call has any effect, `on_result` when its result is known.

    A call that is not run (unknown tool, wrong arguments, not approved) has a result and no intent. What the hooks
    raise passes through, when the calls beside it have ended.
    """
    for call in calls:
        if not isinstance(call, ToolCall):
            raise TypeError(f"only whole calls are run, not a {type(call).__name__}")
    executor = _Executor({tool.name: tool for tool in tools}, context, on_intent, on_result)
    results: list[ToolResult] = []
    for group in executor.groups(calls):
        results += await executor.run(group)
    return tuple(results)


class _Ready(Struct, frozen=True):
    """A call that may run now; its intent is recorded."""

    call: ToolCall
    tool: Tool
    arguments: dict[str, Any]
    context: ToolContext


class _Stopped(asyncio.CancelledError):
    """A call was interrupted, and its tool knows what it came to by then."""

    def __init__(self, last_words: ToolError) -> None:
        super().__init__()
        self.last_words = last_words


class _Executor:
    """The tools, the context and the hooks of one reply."""

    def __init__(
        self, tools: Mapping[str, Tool], context: ToolContext, on_intent: OnIntent, on_result: OnResult
    ) -> None:
        self._tools, self._context = tools, context
        self._on_intent, self._on_result = on_intent, on_result
        self._one_at_a_time = asyncio.Lock()
        self._room = asyncio.Semaphore(context.limits.parallel_reads)

    def groups(self, calls: Sequence[ToolCall]) -> Iterator[list[ToolCall]]:
        """Cut the calls into groups that may run side by side."""
        for only_reads, group in groupby(calls, key=self._only_reads):
            if only_reads:
                yield list(group)
            else:
                yield from ([call] for call in group)

    async def run(self, group: list[ToolCall]) -> list[ToolResult]:
        ready = [await self._prepare(call) for call in group]
        outcomes = await asyncio.gather(*map(self._finish, ready), return_exceptions=True)
        results: list[ToolResult] = []
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                raise outcome
            results.append(outcome)
        return results

    def _only_reads(self, call: ToolCall) -> bool:
        tool = self._tools.get(call.name)
        return tool is None or tool.kind is Kind.READS

    async def _prepare(self, call: ToolCall) -> "_Ready | ToolResult":
        """Return the call with its intent recorded, or the result that says why it does not run."""
        tool = self._tools.get(call.name)
        if tool is None:
            return await self._report(call, _failed(call, self._unknown(call.name)))
        try:
            arguments = {"input": call.arguments} if call.freeform else strict_object(call.arguments)
        except BadJson as bad:
            return await self._report(call, _failed(call, f"The arguments cannot be read: {bad}. It was not run."))
        if call.freeform != tool.spec.freeform:
            wants = "plain text" if tool.spec.freeform else "a JSON object"
            return await self._report(call, _failed(call, f"`{call.name}` takes {wants}. It was not run."))
        if problems := check(tool.spec.parameters, arguments):
            words = f"`{call.name}` was not run; its arguments do not fit: {'; '.join(problems)}."
            return await self._report(call, _failed(call, words))
        path, context = arguments.get("path"), self._context
        place = await in_thread(context.workspace.place, path) if isinstance(path, str) else None
        judgement = await context.approvals.decide(tool.kind, call, place)
        if isinstance(judgement, Deny):
            return await self._report(call, _failed(call, judgement.reason))
        if place is not None and place.concern:  # somebody was asked about this very place
            context = replace(context, workspace=context.workspace.revealing())
        await self._on_intent(call)
        return _Ready(call, tool, arguments, context)

    async def _finish(self, ready: "_Ready | ToolResult") -> ToolResult:
        if isinstance(ready, ToolResult):
            return ready
        async with self._room:
            context = replace(ready.context, call_id=ready.call.id)
            try:
                outcome = await _outcome(ready.tool.run(ready.arguments, context), context.limits.call_seconds)
            except _Stopped as stopped:
                await self._tell(ready.call, _failed(ready.call, str(stopped.last_words)))
                raise
        if isinstance(outcome, BaseException):
            return await self._tell(ready.call, _failed(ready.call, _words(ready.tool, outcome)))
        return await self._tell(ready.call, _result(ready.call, outcome))

    async def _tell(self, call: ToolCall, result: ToolResult) -> ToolResult:
        """Report what a call came to, without secrets and within bounds."""
        result = await in_thread(self._context.redactor.cleaned, result)
        return await self._report(call, _bounded(result, self._context.limits.result_characters))

    async def _report(self, call: ToolCall, result: ToolResult) -> ToolResult:
        async with self._one_at_a_time:
            await self._on_result(call, result)
        return result

    def _unknown(self, name: str) -> str:
        near = get_close_matches(name, self._tools, 3) or sorted(self._tools)
        return f"There is no tool `{excerpt(name, 80)}`. There is {', '.join(f'`{one}`' for one in near)}."


async def _outcome(running: Awaitable[Content], seconds: float) -> Content | BaseException:
    """Return what a tool returns or raises. A cancelled or overdue one gets a moment to end what it has started."""
    task = asyncio.ensure_future(running)
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    try:
        with Awake() as awake:
            ends_at = awake.time() + seconds
            while not task.done() and (left := ends_at - awake.time()) > 0:
                await asyncio.wait({task}, timeout=left)
    except asyncio.CancelledError:
        task.cancel()
        await asyncio.wait({task}, timeout=LEAVE_SECONDS)
        if task.done() and not task.cancelled() and isinstance(last := task.exception(), ToolError):
            raise _Stopped(last) from None
        raise
    if not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=LEAVE_SECONDS)
        return TimeoutError(f"it was stopped after {seconds:g} s, and what it has done until then is not known")
    if task.cancelled():
        return asyncio.CancelledError("it cancelled itself")
    return task.exception() or task.result()


def _words(tool: Tool, error: BaseException) -> str:
    """Return what a tool raised, in words; what nobody foresaw is a bug of the tool, and is logged as one."""
    if isinstance(error, HeadwayError):
        return str(error)
    if isinstance(error, TimeoutError):
        return f"`{tool.name}` took too long: {excerpt(str(error)) or 'its time was over'}."
    if isinstance(error, OSError):
        return f"`{tool.name}` failed: {excerpt(str(error))}."
    _log.error("The tool %s raised what it should not", tool.name, exc_info=error)
    return (
        f"`{tool.name}` failed by a bug of its own ({type(error).__name__}: {excerpt(str(error))}). What it has done "
        "until then is not known. Do not call it again in the same way."
    )


def _failed(call: ToolCall, words: str) -> ToolResult:
    return ToolResult(call.id, (Text(words),), is_error=True, freeform=call.freeform)


def _result(call: ToolCall, content: Content) -> ToolResult:
    parts: tuple[ResultPart, ...] = (Text(content),) if isinstance(content, str) else content
    return ToolResult(call.id, parts, freeform=call.freeform)


def _bounded(result: ToolResult, most: int) -> ToolResult:
    """Return the result with texts that every wire takes, of no more than `most` characters in all."""
    parts: list[ResultPart] = []
    for part in result.parts:
        if isinstance(part, Text):
            text = clean(clip(part.text, max(most, 0)), "\0")
            most -= len(text)
            part = replace(part, text=text)  # noqa: PLW2901
        parts.append(part)
    return replace(result, parts=tuple(parts))
