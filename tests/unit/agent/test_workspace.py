"""Confinement: every way out of the workspace that a path can take, tried with reading and with writing."""

import os
import socket
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.agent import workspace as rooms
from headway.agent.tools import files
from headway.agent.tools.refusals import OutsideWorkspace, PathRefused, ToolError
from headway.agent.workspace import MOST_LINKS, Workspace
from headway.failure import InvalidInput


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def tries(hand, path):
    """Read, overwrite, add to, edit, list and search a path; return what each was told."""
    return [
        hand.fails("read_file", path=path),
        hand.fails("write_file", path=path, content="broken in"),
        hand.fails("write_file", path=path, content="broken in", append=True),
        hand.fails("edit_file", path=path, old="secret", new="broken in"),
        hand.fails("list_files", path=path),
        hand.fails("search", path=path, pattern="secret"),
    ]


def is_untouched(outside):
    return {path.name: path.read_text() for path in outside.iterdir()} == {"secret.txt": "the secret\n"}


@pytest.mark.parametrize(
    "path", ["../outside/secret.txt", "a/../../outside/secret.txt", "./.././outside/secret.txt", "../work/../outside"]
)
def test_dots_do_not_lead_out(hand, root, outside, path):
    (root / "a").mkdir()
    assert all("outside the workspace" in told for told in tries(hand, path))
    assert is_untouched(outside)


def test_absolute_paths_are_taken_inside_and_refused_outside(hand, root, outside):
    hand.does("write_file", path=str(root / "in.txt"), content="x")
    assert hand.does("read_file", path=str(root / "in.txt")).endswith("x")
    for path in (str(outside / "secret.txt"), "/etc/passwd", "/proc/self/environ", f"{root}-2/x", f"{root}/../outside"):
        assert all("outside the workspace" in told for told in tries(hand, path))
    assert is_untouched(outside)


def test_a_root_that_is_itself_behind_a_link_is_known_by_both_names(tmp_path, root):
    (tmp_path / "alias").symlink_to(root)
    (root / "x").write_text("x")
    workspace = Workspace(tmp_path / "alias")
    for path in (f"{tmp_path}/alias/x", f"{root}/x", "x"):
        with workspace.spot(path) as spot:
            assert spot.parts == ("x",)


@pytest.mark.parametrize("target", ["../outside/secret.txt", "{outside}/secret.txt", "/proc/self/environ"])
def test_links_to_files_outside_are_refused(hand, root, outside, target):
    (root / "link").symlink_to(target.format(outside=outside))
    assert all("outside the workspace" in told for told in tries(hand, "link"))
    assert is_untouched(outside)


def test_links_to_directories_outside_are_refused_anywhere_in_a_path(hand, root, outside):
    (root / "a").mkdir()
    (root / "a" / "door").symlink_to(outside)
    (root / "b").symlink_to("a/door")
    for path in ("a/door/secret.txt", "b/secret.txt", "b/new/secret.txt", "a/door/../outside/secret.txt"):
        assert all("outside the workspace" in told for told in tries(hand, path))
    assert is_untouched(outside)


def test_links_to_nothing_outside_make_nothing_outside(hand, root, outside):
    (root / "dangling").symlink_to(outside / "new.txt")
    (root / "folder").symlink_to(outside / "new")
    for path in ("dangling", "folder/x.txt"):
        assert "outside the workspace" in hand.fails("write_file", path=path, content="x")
    assert is_untouched(outside)


def test_links_that_stay_inside_are_followed_and_kept(hand, root):
    (root / "real").mkdir()
    (root / "real" / "x.txt").write_text("one\n")
    (root / "absolute").symlink_to(root / "real")
    (root / "relative").symlink_to("absolute/x.txt")
    (root / "dangling").symlink_to("real/later.txt")
    assert hand.does("read_file", path="relative").endswith("one")
    hand.does("edit_file", path="relative", old="one", new="two")
    hand.does("write_file", path="dangling", content="later")
    hand.does("write_file", path="absolute/../absolute/y.txt", content="y")
    assert (root / "real" / "x.txt").read_text() == "two\n"
    assert (root / "real" / "later.txt").read_text() == "later"
    assert (root / "real" / "y.txt").read_text() == "y"
    assert all((root / name).is_symlink() for name in ("absolute", "relative", "dangling"))


def test_a_link_that_leads_in_circles_ends(hand, root):
    (root / "a").symlink_to("b")
    (root / "b").symlink_to("a")
    assert f"more than {MOST_LINKS} symbolic links" in hand.fails("read_file", path="a")
    assert f"more than {MOST_LINKS} symbolic links" in hand.fails("write_file", path="a/x", content="x")


def test_a_link_that_appears_between_check_and_use_is_not_followed(root, outside, monkeypatch):
    """The attacker wins the race every time: each name becomes a link right after it was seen to be none."""
    (root / "door").mkdir()
    (root / "file").write_text("inside\n")
    seen = rooms._Way._link

    def swap(way, part):
        target = seen(way, part)
        place = root / part
        if part == "door" and target is None:
            place.rmdir()
            place.symlink_to(outside)
        return target

    monkeypatch.setattr(rooms._Way, "_link", swap)
    workspace = Workspace(root)
    with pytest.raises(ToolError, match=r"symbolic link|not a directory"), workspace.spot("door/secret.txt"):
        pytest.fail("the door was open")
    assert is_untouched(outside)


def test_a_file_that_becomes_a_link_is_neither_read_nor_written_through(root, outside, monkeypatch):
    """The same race at the last part of the path: the file is a link right after it was looked at."""
    seen = files.look

    def swap(spot):
        mark = seen(spot)
        (root / "file").unlink()
        (root / "file").symlink_to(outside / "secret.txt")
        return mark

    for act in (files.read, lambda spot: files.replace(spot, b"broken in", seen(spot))):
        (root / "file").unlink(missing_ok=True)
        (root / "file").write_text("inside")
        with Workspace(root).spot("file") as spot:
            monkeypatch.setattr(files, "look", swap)
            if act is files.read:
                with pytest.raises(OSError, match="symbolic links"):
                    act(spot)
            else:
                act(spot)
                assert (root / "file").read_text() == "broken in"
            monkeypatch.setattr(files, "look", seen)
    assert is_untouched(outside)


def test_a_racing_link_never_leaks_or_breaks_a_file_outside(hand, root, outside):
    """Somebody turns a link in and out as fast as they can while files are read and written through it."""
    (root / "real").mkdir()
    (root / "real" / "secret.txt").write_text("harmless\n")
    (root / "door").symlink_to("real")
    stop = threading.Event()

    def swap():
        while not stop.is_set():
            for target in (outside, "real"):
                (root / "next").symlink_to(target)
                (root / "next").rename(root / "door")

    racer = threading.Thread(target=swap)
    racer.start()
    try:
        for _ in range(40):
            assert "the secret" not in hand.result("read_file", path="door/secret.txt").text
            hand.result("write_file", path="door/secret.txt", content="harmless\n")
            hand.result("edit_file", path="door/secret.txt", old="s", new="$", all=True)
    finally:
        stop.set()
        racer.join()
    assert is_untouched(outside)


def test_a_hard_link_is_cut_not_written_through(hand, root, outside):
    os.link(outside / "secret.txt", root / "same.txt")
    hand.does("write_file", path="same.txt", content="more\n", append=True)
    assert (root / "same.txt").read_text() == "the secret\nmore\n"
    os.link(outside / "secret.txt", root / "also.txt")
    hand.does("edit_file", path="also.txt", old="secret", new="public")
    os.link(outside / "secret.txt", root / "third.txt")
    hand.does("write_file", path="third.txt", content="new")
    assert is_untouched(outside)


def test_special_files_are_refused_at_once(hand, root):
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind(str(root / "sock"))
    for name, kind in (("pipe", "a named pipe"), ("sock", "a socket")):
        for tool, arguments in (
            ("read_file", {}),
            ("write_file", {"content": "x"}),
            ("write_file", {"content": "x", "append": True}),
            ("edit_file", {"old": "a", "new": "b"}),
        ):
            assert kind in hand.fails(tool, path=name, **arguments)
        assert kind in hand.does("search", path=name, pattern="x")
    with Workspace("/").spot("dev/zero") as spot, pytest.raises(PathRefused, match="a device"):
        files.read(spot)


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("", "is empty"),
        ("  ", "is empty"),
        ("a\0b", "control characters"),
        ("a\nb", "control characters"),
        ("~", "not expanded"),
        ("~/x", "not expanded"),
        ("..\\outside", "write `/`"),
        ("‥/outside/secret.txt", "look like dots"),
        ("．．/outside/secret.txt", "look like dots"),
        ("a／b", "look like dots or slashes"),
        ("safe\u202etxt.exe", "reading direction"),
        ("x" * 256, "more than 255 bytes"),
        ("é" * 128, "more than 255 bytes"),
        ("/".join(["abcdefgh"] * 600), "longer than 4096 bytes"),
        ("/".join("a" * 101), "more than 100 parts"),
    ],
)
def test_paths_that_nobody_should_use_are_refused_in_words(hand, root, path, told):
    assert all(told in one for one in tries(hand, path))
    assert list(root.iterdir()) == []


@pytest.mark.parametrize(
    "name", ["é.txt", "e\u0301.txt", "名前.md", "🎉", "a b", "...", "-x", "~x", ".hidden", "x" * 255]
)
def test_unusual_names_that_are_no_trick_work(hand, root, name):
    hand.does("write_file", path=name, content="x")
    assert hand.does("read_file", path=name).endswith("x")
    assert names_in(root) == [name]


@pytest.mark.parametrize(
    "spelled", [".git", ".GIT", ".Git ", ".git.", ".g\u200cit", ".git::$INDEX_ALLOCATION", "git~1"]
)
def test_git_s_own_files_are_not_written_in_any_spelling(hand, root, spelled):
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("[core]\n")
    assert "git's own files" in hand.fails("write_file", path=f"{spelled}/hooks/pre-commit", content="evil")
    assert "git's own files" in hand.fails("write_file", path=f"sub/{spelled}", content="evil")
    assert names_in(root / ".git") == ["config"]


def test_git_s_own_files_are_not_written_through_a_link(hand, root):
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("[core]\n")
    (root / "g").symlink_to(".git")
    assert "git's own files" in hand.fails("edit_file", path="g/config", old="core", new="evil")
    assert "git's own files" in hand.fails("write_file", path="g/hooks/x", content="evil")
    assert names_in(root / ".git") == ["config"]
    hand.does("write_file", path=".gitignore", content="*.o\n")


def test_a_folder_that_was_allowed_is_open_and_its_neighbours_are_not(root, outside, tmp_path):
    workspace = Workspace(root).allowing(outside)
    (root / "door").symlink_to(outside)
    for path in (f"{outside}/secret.txt", "door/secret.txt"):
        with workspace.spot(path) as spot:
            assert (spot.root, spot.parts) == (outside, ("secret.txt",))
    with pytest.raises(OutsideWorkspace) as refused, workspace.spot(f"{tmp_path}/x"):
        pass
    assert refused.value.path == f"{tmp_path}/x"


def test_no_directory_is_left_open(hand, root, outside):
    (root / "a" / "b").mkdir(parents=True)
    (root / "a" / "link").symlink_to(outside)
    before = names_in(Path("/proc/self/fd"))
    for path in ("a/b/x", "a/link/x", "a/b/../b/x", "a/x/y", "nothing/x"):
        hand.result("read_file", path=path)
        hand.result("list_files", path=path)
    assert len(names_in(Path("/proc/self/fd"))) == len(before)


def test_a_workspace_that_is_no_directory_is_refused(root):
    with pytest.raises(InvalidInput, match="not a directory"):
        Workspace(root / "missing")


def test_without_open_directories_the_resolved_path_is_checked(hand, root, outside, monkeypatch):
    monkeypatch.setattr(rooms, "HOLDS_DIRECTORIES", False)
    hand.does("write_file", path="a/b/x.txt", content="one\n")
    hand.does("edit_file", path="a/b/x.txt", old="one", new="two")
    hand.does("write_file", path="a/b/x.txt", content="three\n", append=True)
    assert hand.does("read_file", path="a/b/x.txt").endswith("two\nthree")
    assert "a/b/x.txt" in hand.does("list_files")
    assert hand.does("search", pattern="th.ee") == "a/b/x.txt:2: three"
    assert names_in(root / "a" / "b") == ["x.txt"]
    (root / "door").symlink_to(outside)
    for path in ("../outside/secret.txt", str(outside / "secret.txt"), "door/secret.txt"):
        assert all("outside the workspace" in told for told in tries(hand, path))
    assert is_untouched(outside)


NAMES = st.sampled_from(["..", ".", "a", "b", "up", "out", "self", "nothing", "secret.txt"])


@pytest.fixture(scope="module")
def maze(tmp_path_factory):
    base = tmp_path_factory.mktemp("maze")
    root, outside = base / "root", base / "outside"
    for folder in (root / "a" / "b", root / "b", outside):
        folder.mkdir(parents=True)
    (outside / "secret.txt").write_text("the secret")
    (root / "a" / "secret.txt").write_text("harmless")
    (root / "a" / "up").symlink_to("..")
    (root / "up").symlink_to("..")
    (root / "b" / "out").symlink_to(outside)
    (root / "self").symlink_to(root)
    (root / "out").symlink_to("a/up/up/outside")
    return root


@given(st.lists(NAMES, min_size=1, max_size=8).map("/".join))
def test_no_path_through_a_maze_of_links_leads_out(maze, path):
    """Whatever is reached is what the system itself reaches, and lies inside."""
    try:
        with Workspace(maze).spot(path) as spot:
            reached = maze.joinpath(*spot.parts)
            assert not reached.is_symlink()
            assert reached.resolve().is_relative_to(maze)
            if (maze / path).exists():
                assert (maze / path).resolve() == reached.resolve()
    except ToolError:
        pass
