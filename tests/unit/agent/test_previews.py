"""What a person sees of a call before it runs; looking changes nothing."""

import asyncio
import json

import pytest

from headway.agent.previews import MOST_COMPARED_LINES, MOST_DIFF_LINES, CommandLine, Doubtful, FileChange, preview
from headway.agent.workspace import Workspace
from headway.messages import ToolCall


@pytest.fixture
def look(root):
    def look(name, /, **arguments):
        before = {path.name: path.read_bytes() for path in root.rglob("*") if path.is_file()}
        seen = asyncio.run(preview(ToolCall("c1", name, json.dumps(arguments)), Workspace(root)))
        assert {path.name: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before
        return seen

    return look


def test_a_new_file_is_its_size(look):
    assert look("write_file", path="deep/new.txt", content="a\nb\n") == FileChange("deep/new.txt", None, 4, 2)


def test_a_replaced_file_is_a_difference(look, root):
    (root / "a.txt").write_text("one\ntwo\nthree\n")
    seen = look("write_file", path="a.txt", content="one\n2\nthree\n")
    assert seen == FileChange("a.txt", 14, 12, 3, ("@@ -1,3 +1,3 @@", " one", "-two", "+2", " three"))
    added = look("write_file", path="a.txt", content="four\n", append=True)
    assert added.diff[-1] == "+four"
    assert added.after == 19


def test_an_edit_is_a_difference_at_every_place(look, root):
    (root / "a.txt").write_text("x\n" * 3)
    seen = look("edit_file", path="a.txt", old="x", new="y", all=True)
    assert sorted(line[0] for line in seen.diff) == ["+", "+", "+", "-", "-", "-", "@"]


def test_a_long_difference_is_bounded_and_a_huge_one_is_sizes_only(look, root):
    (root / "a.txt").write_text("x\n" * 1_000)
    seen = look("write_file", path="a.txt", content="y\n" * 1_000)
    assert len(seen.diff) == MOST_DIFF_LINES
    assert seen.left_out == 2_001 - MOST_DIFF_LINES
    huge = look("write_file", path="a.txt", content="y\n" * (MOST_COMPARED_LINES + 1))
    assert (huge.diff, huge.left_out) == ((), 0)


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("edit_file", {"path": "none.txt", "old": "a", "new": "b"}, "does not exist"),
        ("edit_file", {"path": "there.txt", "old": "absent", "new": "b"}, "does not stand in"),
        ("write_file", {"path": "../outside/secret.txt", "content": "x"}, "outside the workspace"),
        ("write_file", {"path": "binary", "content": "x"}, "binary data"),
    ],
)
def test_what_would_fail_is_said_beforehand(look, root, name, arguments, words):
    (root / "there.txt").write_text("text")
    (root / "binary").write_bytes(b"\0\1")
    seen = look(name, **arguments)
    assert isinstance(seen, Doubtful)
    assert words in seen.why


def test_a_command_is_shown_as_it_is(look):
    assert look("shell", command="rm -rf build", timeout_seconds=5) == CommandLine("rm -rf build", 5)


def test_of_other_calls_nothing_is_known(look, root):
    assert look("deploy", target="moon") is None
    assert look("write_file", path=5, content=6) is None
    assert asyncio.run(preview(ToolCall("c1", "shell", "{broken"), Workspace(root))) is None
