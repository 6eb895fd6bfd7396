"""A folder to talk in, settings for simulated providers, and panes with `headway chat` in them."""

import os
import sys

from msgspec.structs import replace

from headway.sim.catalog import read_fault
from headway.sim.thread import serving
from support.tmux import Pane

READY = r"⇧⇥"
"""The last line of the screen: the chat takes keys."""


class ChatHome:
    def __init__(self, folder, sim):
        self.folder, self.sim = folder, sim
        self.work = folder / "work"
        self.work.mkdir()

    def command(self, *arguments, settings="silence_seconds = 60", agent=""):
        provider = f'wire = "chat"\nbase_url = "{self.sim.url}/v1"\nkeys = []\n'
        (self.folder / "headway.toml").write_text(
            f"[providers.sim]\n{provider}[providers.sim.models.model-1]\ninput_price = 3.0\noutput_price = 15.0\n"
            f"[providers.backup]\n{provider}"
            '[routes.default]\nchain = ["sim/model-1"]\n[routes.both]\nchain = ["sim/model-1", "backup/model-b"]\n'
            f"[limits]\n{settings}\n[agent]\n{agent}\n"
        )
        command = [sys.executable, "-m", "headway", "chat", "--config", str(self.folder / "headway.toml")]
        return [*command, "--workspace", str(self.work), *arguments]

    def environment(self, **more):
        given = {"PATH": os.environ["PATH"], "HEADWAY_HOME": str(self.folder), "LANG": "C.UTF-8"}
        return {**given, "TERM": "screen-256color", "TMUX": "here", **more}

    def pane(self, *arguments, columns=80, lines=24, env=(), settings="silence_seconds = 60", agent="", raw=None):
        command = self.command(*arguments, settings=settings, agent=agent)
        pane = Pane(command, self.environment(**dict(env)), columns=columns, lines=lines, raw=raw)
        try:
            pane.sees(READY)
        except AssertionError:
            pane.__exit__()
            raise
        return pane

    def asked(self):
        """Return how many requests there were."""
        return len(self.sim.log)

    def told(self, number=-1):
        """Return everything that the model was told, in one of its requests."""
        return str(self.sim.log[number].body)


def at_home(folder, script, *faults):
    """Serve a script with faults, and give the home of a chat with it."""
    return _Home(folder, replace(script, faults=tuple(read_fault(words) for words in faults)))


class _Home:
    def __init__(self, folder, script):
        self._folder, self._serving = folder, serving(script)

    def __enter__(self):
        return ChatHome(self._folder, self._serving.__enter__())

    def __exit__(self, *error):
        return self._serving.__exit__(*error)
