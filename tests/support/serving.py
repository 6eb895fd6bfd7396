"""`headway serve` as a process of its own, and a client that needs no SDK."""

import http.client
import json
import os
import queue
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

from support.gate import body_of

PATIENCE_SECONDS = 30
"""Longer than anything here takes, also on a machine that is busy with other things."""


class Client:
    """Somebody who asks a gateway, on a connection for each request."""

    def __init__(self, port: int) -> None:
        self.port = port

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)

    def get(self, path: str) -> tuple[int, bytes]:
        with closing(self.connect()) as connection:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read()

    def begin(self, **asked: Any) -> "Stream":
        """Ask on the chat wire; return what comes, to be read."""
        connection = self.connect()
        connection.request("POST", "/v1/chat/completions", json.dumps(body_of("chat", **asked)))
        return Stream(connection, connection.getresponse())

    def ask(self, **asked: Any) -> tuple[int, str]:
        """Ask on the chat wire; return the status and the words of the reply."""
        stream = self.begin(**asked)
        return stream.status, stream.text()


class Serving(Client):
    """A gateway that runs. What it says on standard error is read as it comes."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        super().__init__(0)
        self.process = process
        self.said: list[str] = []
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self._lines.put(line.rstrip("\n"))
        self._lines.put(None)

    def line(self, words: str) -> str:
        """Wait for a line with these words on standard error."""
        while (line := self._lines.get(timeout=PATIENCE_SECONDS)) is not None:
            self.said.append(line)
            if words in line:
                return line
        raise AssertionError(f"it ended without saying {words!r}: {self.said}")

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal and wait for the end; return the exit status."""
        self.process.send_signal(number)
        status = self.process.wait(PATIENCE_SECONDS)
        self._reader.join(PATIENCE_SECONDS)
        while (line := self._lines.get()) is not None:
            self.said.append(line)
        return status


class Stream:
    """A reply that is being read."""

    def __init__(self, connection: http.client.HTTPConnection, answer: http.client.HTTPResponse) -> None:
        self._connection, self._answer = connection, answer
        self.status = answer.status
        self.id = answer.headers.get("x-headway-request", "")

    def first(self) -> str:
        """Read until something was said."""
        for line in self._answer:
            if words := _words(line):
                return words
        return ""

    def text(self) -> str:
        words = "".join(map(_words, self._answer))
        self.close()
        return words

    def close(self) -> None:
        self._connection.close()


def _words(line: bytes) -> str:
    if not line.startswith(b"data: {"):
        return ""
    choices = json.loads(line[6:]).get("choices") or [{}]
    return (choices[0].get("delta") or {}).get("content") or ""


def serve_command(home: Path, *arguments: str) -> dict[str, Any]:
    """Return how to start `headway serve` on the settings of a folder."""
    settings = ["--config", str(home / "headway.toml")]
    return {
        "args": [sys.executable, "-m", "headway", "serve", *settings, *arguments],
        "env": {"PATH": os.environ["PATH"], "HEADWAY_HOME": str(home), "GATE_KEY": "open"},
        "text": True,
    }


@contextmanager
def serving(home: Path, *arguments: str) -> Iterator[Serving]:
    """Serve on a free port until the block ends."""
    command = serve_command(home, *arguments, "--listen", "127.0.0.1:0")
    with subprocess.Popen(**command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        gateway = Serving(process)
        try:
            found = re.search(r"http://127\.0\.0\.1:(\d+)", gateway.line("listening on"))
            assert found is not None
            gateway.port = int(found[1])
            yield gateway
        finally:
            if process.poll() is None:
                process.kill()
