"""`list_files` and `search`: what is there and where it stands, bounded in every direction."""

import asyncio
import os
import time
from pathlib import Path

import pytest

from headway.agent.tools import searching, walking
from headway.agent.workspace import Workspace


@pytest.fixture
def project(root):
    for path, text in {
        "README.md": "# Title\n",
        ".gitignore": "*.log\n/build/\n!keep.log\n",
        "src/app.py": "import os\nTOKEN = 'x'\n",
        "src/web/page.tsx": "export const Page = 1\n",
        "src/web/.gitignore": "generated\n",
        "src/web/generated/x.ts": "const token = 2\n",
        "build/out.js": "token\n",
        "src/build/kept.js": "kept token\n",
        "noise.log": "token\n",
        "keep.log": "token kept\n",
        ".git/config": "token\n",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    (root / "src" / "blob").write_bytes(b"token\0token")
    return root


def test_files_are_listed_nearest_first_without_what_is_ignored(hand, project):
    assert hand.does("list_files").split("\n") == [
        ".gitignore",
        "README.md",
        "keep.log",
        "src/",
        "src/app.py",
        "src/blob",
        "src/build/",
        "src/web/",
        "src/build/kept.js",
        "src/web/.gitignore",
        "src/web/page.tsx",
    ]
    assert "build/out.js" in hand.does("list_files", ignored=True)
    assert hand.does("list_files", path="build") == "build/out.js"


def test_patterns_choose_by_name_or_by_path(hand, project):
    assert hand.does("list_files", pattern="*.{py,tsx}") == "src/app.py\nsrc/web/page.tsx"
    assert hand.does("list_files", pattern="src/*.py") == "src/app.py"
    assert hand.does("list_files", path="src/web", pattern="**/page.*") == "src/web/page.tsx"
    assert hand.does("list_files", path="src", pattern="web/*.tsx") == "src/web/page.tsx"
    assert hand.does("list_files", pattern="*.rs") == "[no file fits]"
    assert hand.does("list_files", path="src/web", pattern="generated") == "[no file fits]"


def test_links_are_shown_and_not_followed(hand, project, outside):
    (project / "src" / "door").symlink_to(outside)
    assert "src/door@" in hand.does("list_files", path="src")
    assert "secret" not in hand.does("list_files", pattern="*secret*")
    assert "secret" not in hand.does("search", pattern="the secret")


def test_a_directory_of_any_size_is_listed_within_bounds(hand, root, monkeypatch):
    hand.limits(listed=10)
    for number in range(30):
        (root / f"{number:02}").write_text("x")
    lines = hand.does("list_files").split("\n")
    assert lines[:10] == [f"{number:02}" for number in range(10)]
    assert lines[10:] == ["[more than 10: name a directory further down, or a narrower pattern]"]
    monkeypatch.setattr(walking, "MOST_ENTRIES", 20)
    assert "more than can be looked through" in hand.does("list_files", pattern="nothing")
    assert "more files than can be looked through" in hand.does("search", pattern="nothing")
    assert "no line" not in hand.does("search", pattern="nothing")


def test_an_empty_directory_says_so(hand, root):
    assert hand.does("list_files") == "[empty]"


def test_another_root_is_shown_by_its_whole_path(root, outside, hand):
    hand.context = type(hand.context)(Workspace(root, [outside]), hand.context.approvals)
    assert hand.does("list_files", path=str(outside)) == f"{outside}/secret.txt"
    assert hand.does("search", path=str(outside), pattern="secret") == f"{outside}/secret.txt:1: the secret"


def test_search_finds_lines_by_expression_text_and_case(hand, project):
    assert hand.does("search", pattern="tok[e]n") == "keep.log:1: token kept\nsrc/build/kept.js:1: kept token"
    assert hand.does("search", pattern="token", ignore_case=True, glob="*.py") == "src/app.py:2: TOKEN = 'x'"
    assert hand.does("search", pattern="x'", literal=True, path="src/app.py") == "src/app.py:2: TOKEN = 'x'"
    assert hand.does("search", pattern="^import os$", path="src") == "src/app.py:1: import os"
    assert hand.does("search", pattern="nowhere") == "[no line matches]"
    assert "Did you mean `src`" in hand.fails("search", pattern="x", path="srv")


def test_a_pattern_that_cannot_be_read_is_explained(hand, project):
    told = hand.fails("search", pattern="foo(")
    assert "cannot be read" in told
    assert "literal" in told
    assert hand.does("search", pattern="foo(", literal=True) == "[no line matches]"
    assert "cannot be read" in hand.fails("search", pattern="(" * 500 + ")" * 500)


def test_a_pattern_that_would_run_for_ever_is_stopped(hand, root):
    hand.limits(search_seconds=0.5)
    (root / "a.txt").write_text("the needle\n")
    (root / "b.txt").write_text("a" * 60 + "!\n")
    began = time.monotonic()
    answer = hand.does("search", pattern="(a+)+$|needle")
    assert time.monotonic() - began < 2
    assert "stopped after 0.5 s" in answer


def test_a_search_that_breaks_off_does_not_claim_that_nothing_matches(hand, root, monkeypatch):
    (root / "worker.py").write_text("import os; os.kill(os.getpid(), 9)")
    monkeypatch.setattr(searching.search_worker, "__file__", str(root / "worker.py"))
    assert hand.does("search", pattern="x").startswith("[the search broke off")


def test_a_cancelled_search_leaves_no_process(hand, root):
    (root / "b.txt").write_text("a" * 60 + "!\n")

    async def scenario():
        task = asyncio.create_task(hand.call("search", pattern="(a+)+$"))
        await asyncio.sleep(0.2)
        began = time.monotonic()
        task.cancel()
        await asyncio.wait({task})
        assert task.cancelled()
        return time.monotonic() - began

    assert asyncio.run(scenario()) < 0.5
    mine = f"/proc/{os.getpid()}/task/{os.getpid()}/children"
    assert Path(mine).read_text().split() == []


def test_search_is_bounded_in_lines_and_in_their_length(hand, root):
    hand.limits(found=5)
    (root / "a.txt").write_text("".join(f"match {number}\n" for number in range(9)))
    lines = hand.does("search", pattern="match").split("\n")
    assert len(lines) == 6
    assert "more than 5 lines match" in lines[-1]
    (root / "a.txt").write_text("x" * 1_000 + "needle" + "y" * 100_000)
    found = hand.does("search", pattern="needle")
    assert "xneedley" in found
    assert len(found) < 400


def test_files_that_cannot_be_searched_are_named(hand, root, monkeypatch):
    monkeypatch.setattr(searching, "MOST_FILE_BYTES", 100)
    for name in ("a", "b"):
        (root / name).write_text("needle " * 100)
    answer = hand.does("search", pattern="needle")
    assert "not searched: `a` is larger than 100 bytes" in answer
    assert "And 1 others" in answer


def test_many_files_are_searched_in_batches(hand, root, monkeypatch):
    monkeypatch.setattr(searching, "BATCH_BYTES", 5_000)
    for number in range(600):
        (root / f"{number:03}.txt").write_text(f"filler\r\nnumber {number}\r\nfiller\n" * 5)
    assert hand.does("search", pattern="^number 5(55)?$").count("555.txt:") == 5
