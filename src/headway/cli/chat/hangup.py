"""A terminal that goes away: how it is noticed, and how last words are said when nobody may be there to read them."""

import errno
import os
from contextlib import suppress
from typing import TextIO


def is_gone(stream: TextIO) -> bool:
    """Say whether a stream was a terminal that has hung up since."""
    import termios  # there is none on every platform, and no terminal that hangs up where it is not

    try:
        termios.tcgetattr(stream.fileno())
    except termios.error as error:
        return bool(error.args[0] == errno.EIO)
    except ValueError:  # it was closed
        return True
    return False


def say_last(stream: TextIO, words: str) -> None:
    """Write a line; where it cannot be written any more, let nobody try again when the process ends."""
    try:
        stream.write(f"{words}\n")
        stream.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        with suppress(OSError, ValueError):
            os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
