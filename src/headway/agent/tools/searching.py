"""`search`: the lines of files that match a pattern, found by a process that can be killed when it never ends."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct

from headway.agent.approval import Kind
from headway.agent.tools import search_worker
from headway.agent.tools.define import tool
from headway.agent.tools.files import read
from headway.agent.tools.globs import Glob
from headway.agent.tools.near_names import with_near_names
from headway.agent.tools.refusals import ToolError
from headway.agent.tools.texts import is_binary
from headway.agent.tools.threads import SETTLE_SECONDS, start_thread
from headway.agent.tools.tool import ToolContext
from headway.agent.tools.walking import Cut, Entry, walk

MOST_FILE_BYTES = 4 * 1024 * 1024
BATCH_BYTES = 1024 * 1024
BATCH_FILES = 200


@tool(kind=Kind.READS)
async def search(
    context: ToolContext,
    *,
    pattern: Annotated[str, Meta(min_length=1, max_length=1000, description="A regular expression for one line.")],
    path: Annotated[str, "The file or directory to look in, relative to the workspace."] = ".",
    glob: Annotated[str, "Only files like this: `*.py`, `src/**/*.{ts,tsx}`."] = "",
    literal: Annotated[bool, "Take the pattern as plain text."] = False,
    ignore_case: Annotated[bool, "Let upper and lower case match."] = False,
) -> str:
    """Find lines in files. The answer has `path:line: text`. What .gitignore leaves out is not searched."""
    hunt = _Hunt(context, path, Glob(glob) if glob else None)
    question = {"pattern": pattern, "literal": literal, "ignore_case": ignore_case}
    work = start_thread(hunt.run, question)
    done = False
    try:
        finished, _ = await asyncio.wait({work}, timeout=context.limits.search_seconds)
        done = bool(finished)
    finally:
        hunt.stop()
        await asyncio.wait({work}, timeout=SETTLE_SECONDS)
    if not done:
        hunt.notes.append(
            f"stopped after {context.limits.search_seconds:g} s: look in fewer files, or use a simpler pattern"
        )
    else:
        work.result()
    return hunt.report()


class _Hunt:
    """One search: it walks, reads, and hands the files to its worker in batches. It can be stopped from outside."""

    def __init__(self, context: ToolContext, path: str, glob: Glob | None) -> None:
        self._context, self._path, self._glob = context, path, glob
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False
        self._found: list[str] = []
        self._skipped: list[str] = []
        self.notes: list[str] = []

    def run(self, question: dict[str, Any]) -> None:
        """Search; blocks. What was found stays, however it ends."""
        limits = self._context.limits
        question |= {"most": limits.found + 1, "seconds": limits.search_seconds + 1}
        try:
            with self._worker() as self._process:
                try:
                    if not self._stopped:
                        self._search(question)
                finally:
                    self._process.kill()
        except (BrokenPipeError, EOFError):
            if not self._stopped:
                self.notes.append("the search broke off before its end; try again, or with a simpler pattern")

    def _search(self, question: dict[str, Any]) -> None:
        problem = self._ask(json.dumps(question).encode())
        if problem:
            raise ToolError(f"The pattern cannot be read: {problem}. Set `literal` to search for plain text.")
        for batch in self._batches():
            self._take(batch)
            if len(self._found) > self._context.limits.found:
                return

    def stop(self) -> None:
        """End the search; may be called at any time, from another thread."""
        self._stopped = True
        process = self._process
        if process is not None:
            process.kill()

    def report(self) -> str:
        """Return what was found, and what should be known about it."""
        most = self._context.limits.found
        notes = list(self.notes)
        if self._skipped:
            more = f" And {len(self._skipped) - 1:,} others." if len(self._skipped) > 1 else ""
            notes.append(f"not searched: {self._skipped[0]}{more}")
        if len(self._found) > most:
            notes.append(f"more than {most:,} lines match: narrow the pattern, the path or the glob")
        lines = self._found[:most] or ([] if self.notes else ["[no line matches]"])
        return "\n".join(lines + [f"[{note}]" for note in notes])

    def _worker(self) -> "subprocess.Popen[bytes]":
        worker = [sys.executable, "-I", "-S", str(Path(search_worker.__file__))]
        pipe = subprocess.PIPE
        quiet = subprocess.DEVNULL
        return subprocess.Popen(worker, stdin=pipe, stdout=pipe, stderr=quiet, start_new_session=True)  # noqa: S603

    def _ask(self, *pieces: bytes) -> Any:
        process = self._process
        assert process is not None, "asked before it was started"
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(pieces[0] + b"\n")
        process.stdin.writelines(pieces[1:])
        process.stdin.flush()
        answer = process.stdout.readline()
        if not answer:
            raise EOFError
        return json.loads(answer)

    def _take(self, batch: list["_File"]) -> None:
        sizes = json.dumps([len(file.data) for file in batch]).encode()
        for index, number, line in self._ask(sizes, *(file.data for file in batch)):
            self._found.append(f"{batch[index].path}:{number}: {line}")

    def _batches(self) -> Iterator[list["_File"]]:
        batch: list[_File] = []
        held = 0
        for file in self._files():
            batch.append(file)
            held += len(file.data)
            if held >= BATCH_BYTES or len(batch) >= BATCH_FILES:
                yield batch
                batch, held = [], 0
        if batch:
            yield batch

    def _files(self) -> Iterator["_File"]:
        workspace = self._context.workspace
        with with_near_names(workspace, self._path):
            for entry in walk(workspace, self._path):
                if self._stopped:
                    return
                if isinstance(entry, Cut):
                    self.notes.append("there are more files than can be looked through: name a directory")
                elif not (entry.is_directory or entry.is_link) and entry.fits(self._glob):
                    file = self._read(entry)
                    if file is not None and not is_binary(file.data):
                        yield file

    def _read(self, entry: Entry) -> "_File | None":
        try:
            with self._context.workspace.spot(entry.path) as spot:
                return _File(entry.path, read(spot, MOST_FILE_BYTES)[0])
        except ToolError as refused:
            self._skipped.append(str(refused))
            return None


class _File(Struct, frozen=True):
    path: str
    data: bytes
