"""Processes that die while they write a session: `python -m support.dying each|forever|holding FOLDER`.

`each` plays the scripted turn in one child after another; each is killed at another write of SQLite, in the middle of
it, until one survives. `forever` writes until it is killed from outside. Every child says what was acknowledged to it.
"""

import os
import sys
import time
from itertools import count
from pathlib import Path

from headway.store.records import TextReceived
from headway.store.sqlite import SqliteStore
from support.disks import DeadlyDisk, writing_by
from support.journals import A_TURN, OPENED, rows_of


def say(number: int) -> None:
    os.write(sys.stdout.fileno(), b"%d\n" % number)


def play(folder: Path) -> None:
    """Write the scripted turn; after each append, add the number of its last row to a file."""
    acknowledged = os.open(folder / "acknowledged", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    store = SqliteStore(folder / "s.db")
    store.create("s1", rows_of([OPENED]))
    os.write(acknowledged, b"1\n")
    journal = store.open("s1")
    for records, durable in A_TURN:
        journal.append(rows_of(records, journal.last), durable=durable)
        os.write(acknowledged, b"%d\n" % journal.last)
    journal.close()
    store.close()


def each(folder: Path) -> None:
    for deadly in count(1):
        place = folder / str(deadly)
        place.mkdir()
        child = os.fork()
        if not child:
            with writing_by(DeadlyDisk(deadly).write):
                play(place)
            os._exit(0)
        if os.waitpid(child, 0)[1] == 0:
            return


def forever(folder: Path) -> None:
    store = SqliteStore(folder / "s.db")
    journal = store.open("s1")
    for number in count():
        journal.append(rows_of([TextReceived(1, f"{number} " * 50)], journal.last), durable=number % 4 == 0)
        say(journal.last)


def holding(folder: Path) -> None:
    store = SqliteStore(folder / "s.db")
    journal = store.open("s1")
    say(journal.last)
    time.sleep(600)


if __name__ == "__main__":
    {"each": each, "forever": forever, "holding": holding}[sys.argv[1]](Path(sys.argv[2]))
