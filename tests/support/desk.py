"""A place where `headway run` is run as a process: one home with its settings, one provider, one folder of work."""

import signal
from collections import Counter
from pathlib import Path
from typing import Any

from headway.messages import ModelRequest
from headway.sim.server import SimServer
from headway.store import Sessions, SessionState, entries_of, open_store
from headway.store.records import Record, ToolIntended, Unreadable
from headway.wire.table import WIRES
from support.nursery import Ended, Nursery


class Desk:
    """Runs are made one after another; what they leave behind can be looked at in between."""

    def __init__(self, home: Path, sim: SimServer, nursery: Nursery, wire: str = "chat", extra: str = "") -> None:
        self.home, self.sim, self.nursery, self.wire = home, sim, nursery, wire
        self.work, self.database = home / "work", home / "headway.db"
        self.work.mkdir(exist_ok=True)
        (home / "headway.toml").write_text(
            f'[providers.sim]\nwire = "{wire}"\nbase_url = "{sim.url}/v1"\nkeys = []\n'
            # Commands write down which process has run them, and behind walls they could not tell.
            '[agent]\nsandbox = "off"\n[routes.default]\nchain = ["sim/model-1"]\n'
            f"[limits]\nsilence_seconds = 60\n{extra}",
            encoding="utf-8",
        )
        self._asked = 0

    def arguments(self, *more: str) -> list[str]:
        common = ["run", "--config", str(self.home / "headway.toml"), "--workspace", str(self.work)]
        return [*common, "--approve", "auto", *more]

    def run(self, *more: str, **options: Any) -> Ended:
        self._asked = len(self.sim.log)
        return self.nursery.run(self.home, *self.arguments(*more), **options)

    def killed(self, *more: str, **options: Any) -> Ended:
        ended = self.run(*more, **options)
        assert ended.status == -signal.SIGKILL, ended
        return ended

    def goes_on(self) -> Ended:
        ended = self.run("--continue", "go on")
        assert ended.status == 0, ended.err
        assert "Traceback" not in ended.err
        assert not [one.refusal for one in self.sim.log if one.refusal], "every history was accepted"
        return ended

    @property
    def told(self) -> ModelRequest:
        """Return the first request of the latest run."""
        return WIRES[self.wire].parse_request(self.sim.log[self._asked].body)

    def records(self) -> list[Record | Unreadable]:
        sessions = Sessions(open_store(f"sqlite:{self.database}", read_only=True))
        try:
            found = sessions.store.sessions()
            return [entry.record for info in found for entry in entries_of(sessions.store.read(info.id))]
        finally:
            sessions.close()

    def state(self) -> SessionState:
        sessions = Sessions(open_store(f"sqlite:{self.database}", read_only=True))
        try:
            return sessions.state(sessions.store.sessions()[0].id)
        finally:
            sessions.close()

    def has_nothing_to_go_on_with(self) -> bool:
        """Say whether nothing that was said is kept, and it is said so."""
        ended = self.run("--continue", "go on")
        return ended.status == 2 and "there is no session of" in ended.last_line

    def every_intent_is_of_another_call(self) -> bool:
        intents = Counter(record.call.id for record in self.records() if isinstance(record, ToolIntended))
        return set(intents.values()) <= {1}

    def ran(self) -> list[int]:
        """Return the processes that added a line with their number to `ran.txt`, once for each line."""
        path = self.work / "ran.txt"
        return [int(line) for line in path.read_text().split()] if path.exists() else []

    def file(self, name: str) -> str | None:
        path = self.work / name
        return path.read_text(encoding="utf-8") if path.exists() else None
