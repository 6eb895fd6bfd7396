"""`write_file`: whole or not at all, whatever happens in between."""

import os
import random
import signal
import stat
import subprocess
import sys
import time

import pytest

from headway.agent.tools import files
from headway.agent.tools.files import TEMPORARY, content_hash, look, replace
from headway.agent.tools.refusals import ToolError
from headway.agent.workspace import Workspace


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_files_are_made_replaced_and_added_to(hand, root):
    assert "Made `a/b/c.txt`: 4 bytes, 1 lines" in hand.does("write_file", path="a/b/c.txt", content="one\n")
    assert "Replaced" in hand.does("write_file", path="a/b/c.txt", content="two\n")
    answer = hand.does("write_file", path="a/b/c.txt", content="three", append=True)
    assert "Added to `a/b/c.txt`: 9 bytes, 2 lines" in answer
    assert content_hash(b"two\nthree") in answer
    assert (root / "a/b/c.txt").read_bytes() == b"two\nthree"
    assert names_in(root / "a" / "b") == ["c.txt"]


def test_a_file_in_pieces_is_the_file(hand, root):
    text = "".join(f"{number}: é🎉\r\n" for number in range(2_000))
    hand.does("write_file", path="long.txt", content=text[:7_000])
    for at in range(7_000, len(text), 7_000):
        hand.does("write_file", path="long.txt", content=text[at : at + 7_000], append=True)
    assert (root / "long.txt").read_bytes() == text.encode()


def test_adding_to_nothing_makes_the_file(hand, root):
    hand.does("write_file", path="new.txt", content="x", append=True)
    assert (root / "new.txt").read_text() == "x"


def test_the_mode_is_kept_and_a_new_file_gets_the_usual_one(hand, root):
    script = root / "run.sh"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o751)
    hand.does("write_file", path="run.sh", content="#!/bin/sh\nexit 1\n")
    hand.does("edit_file", path="run.sh", old="exit 1", new="exit 2")
    assert stat.S_IMODE(script.stat().st_mode) == 0o751
    umask = os.umask(0o027)
    try:
        hand.does("write_file", path="new.txt", content="x")
    finally:
        os.umask(umask)
    assert stat.S_IMODE((root / "new.txt").stat().st_mode) == 0o640


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_the_owner_is_kept(hand, root):
    (root / "theirs").write_text("x")
    os.chown(root / "theirs", 1234, 1235)
    hand.does("write_file", path="theirs", content="y")
    assert ((root / "theirs").stat().st_uid, (root / "theirs").stat().st_gid) == (1234, 1235)


def test_what_is_read_only_or_a_directory_is_left_alone(hand, root):
    (root / "locked").write_text("old")
    (root / "locked").chmod(0o444)
    (root / "folder").mkdir()
    assert "read-only" in hand.fails("write_file", path="locked", content="new")
    assert "is a directory" in hand.fails("write_file", path="folder", content="new")
    assert "directory" in hand.fails("write_file", path=".", content="new")
    assert "not a directory" in hand.fails("write_file", path="locked/x", content="new")
    assert (root / "locked").read_text() == "old"


def test_a_full_disk_leaves_the_old_file_and_nothing_else(hand, root, monkeypatch):
    (root / "a").write_text("old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    assert "disk is full; `a` is unchanged" in hand.fails("write_file", path="a", content="new")
    assert names_in(root) == ["a"]
    assert (root / "a").read_text() == "old"


def test_a_file_that_changes_meanwhile_is_left_alone(root):
    (root / "a").write_text("old")
    with Workspace(root).spot("a") as spot:
        mark = look(spot)
        (root / "a").write_text("by somebody else")
        with pytest.raises(ToolError, match="changed while it was being written"):
            replace(spot, b"ours", mark)
    with Workspace(root).spot("b") as spot:
        (root / "b").write_text("by somebody else")
        with pytest.raises(ToolError, match="changed while"):
            replace(spot, b"ours", None)
    assert (root / "a").read_text() == (root / "b").read_text() == "by somebody else"
    assert names_in(root) == ["a", "b"]


def test_what_a_killed_writer_left_is_swept_when_it_is_old(hand, root):
    stale, fresh = root / f"{TEMPORARY}1-a.tmp", root / f"{TEMPORARY}2-b.tmp"
    stale.write_text("half")
    fresh.write_text("half")
    long_ago = time.time() - 2 * files.STALE_SECONDS
    os.utime(stale, (long_ago, long_ago))
    hand.does("write_file", path="a", content="x")
    assert names_in(root) == sorted([fresh.name, "a"])
    assert TEMPORARY not in hand.does("list_files")


WRITER = """
import sys
from headway.agent.tools.files import look, replace
from headway.agent.workspace import Workspace
workspace = Workspace(sys.argv[1])
for letter in "bcdefghijklmnopqrstuvwxyz" * 1000:
    with workspace.spot("page") as spot:
        replace(spot, letter.encode() * 2_000_000, look(spot))
    print("written", flush=True)
"""


def test_killed_in_the_middle_the_file_is_the_old_or_the_new_one_whole(root):
    (root / "page").write_text("a" * 2_000_000)
    chance = random.Random(7)
    for _ in range(6):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(root)], stdout=subprocess.PIPE)
        with writer:
            assert writer.stdout.readline() == b"written\n"
            time.sleep(chance.uniform(0, 0.05))  # the moment of the kill is the point
            writer.send_signal(signal.SIGKILL)
        content = (root / "page").read_text()
        assert len(content) == 2_000_000
        assert len(set(content)) == 1
        assert content[0] != "a"
