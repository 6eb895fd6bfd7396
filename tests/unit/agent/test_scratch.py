"""The folder that commands take for a temporary one goes with its session, and nothing around it is touched."""

import os
import shutil
from pathlib import Path

import pytest

from headway.agent.sandbox import scratch


@pytest.fixture
def around(tmp_path, monkeypatch):
    """Return the folder that stands for the system's temporary one."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    tmp_path.chmod(0o1777)
    return tmp_path


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o7777


def test_it_is_removed_with_all_that_a_command_has_closed_in_it(around):
    held = scratch.HeldScratch()
    closed = held.scratch.stands_for(Path("/tmp")) / "a" / "b"
    closed.mkdir(parents=True)
    (closed / "file").touch()
    closed.chmod(0)
    closed.parent.chmod(0)
    held.close()
    assert list(around.iterdir()) == []


def test_what_is_around_it_keeps_its_rights_even_if_it_cannot_be_removed(around, monkeypatch):
    held = scratch.HeldScratch()
    real = os.rmdir

    def refuses(path, **given):
        if Path(path).parent == around:
            raise PermissionError(path)
        real(path, **given)

    monkeypatch.setattr(os, "rmdir", refuses)
    held.close()
    assert mode(around) == 0o1777
    monkeypatch.undo()
    shutil.rmtree(around)


def test_what_a_killed_process_has_left_is_swept_and_what_is_in_use_stays(around):
    left = around / f"{scratch.PREFIX}left"
    left.mkdir()
    (left / "lock").touch()
    held = scratch.HeldScratch()
    scratch.sweep()
    assert not left.exists()
    assert held.scratch.folder.exists()
    held.close()
    assert mode(around) == 0o1777
