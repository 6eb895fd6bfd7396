"""Changes can be looked at and taken back, also after a crash and a resume; and nobody's own work is lost by it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from headway.agent.checkpoints import INDEX, CannotUndo, Checkpoints, copy_all, forget
from headway.agent.workspace import Workspace


@pytest.fixture
def store(tmp_path):
    return tmp_path / "data" / "checkpoints" / "20250101-abcd"


@pytest.fixture
def kept(hand, store):
    hand.context = replace(hand.context, checkpoints=Checkpoints(store))
    return hand.context.checkpoints


@pytest.fixture
def undo(root, store):
    """Take back as another process would, which knows only what is on the disk."""
    return lambda number=None: Checkpoints(store).undo(Workspace(root), number)


def test_the_last_change_is_taken_back_then_the_one_before(hand, root, kept, undo):
    (root / "a.txt").write_text("one\n")
    hand.does("edit_file", path="a.txt", old="one", new="two")
    hand.does("write_file", path="a.txt", content="three\n")
    hand.does("write_file", path="a.txt", content="more\n", append=True)
    for text in ("three\n", "two\n", "one\n"):
        undo()
        assert (root / "a.txt").read_text() == text
    with pytest.raises(CannotUndo, match="nothing to take back"):
        undo()


def test_a_file_that_was_made_is_removed_and_comes_back(hand, root, kept, undo):
    hand.does("write_file", path="new/a.txt", content="made\n")
    change = undo()
    assert change.before is None
    assert not (root / "new" / "a.txt").exists()
    undo(change.number + 1)  # to take back a taking back
    assert (root / "new" / "a.txt").read_text() == "made\n"
    assert [one.number for one in Checkpoints(kept._folder).open_changes()] == [change.number]


def test_a_removal_is_taken_back(root, kept, undo):
    (root / "d").mkdir()
    (root / "d" / "a.txt").write_bytes(b"\x00binary\xff")
    with Workspace(root).spot("d/a.txt") as spot:
        kept.keep(spot, b"\x00binary\xff", None, call="c1")
    (root / "d" / "a.txt").unlink()
    (root / "d").rmdir()
    undo()
    assert (root / "d" / "a.txt").read_bytes() == b"\x00binary\xff"


def test_a_file_that_somebody_changed_since_is_left_alone(hand, root, kept, undo):
    hand.does("write_file", path="a.txt", content="agent\n")
    (root / "a.txt").write_text("mine\n")
    with pytest.raises(CannotUndo, match="somebody else has changed it"):
        undo()
    assert (root / "a.txt").read_text() == "mine\n"
    (root / "a.txt").unlink()
    with pytest.raises(CannotUndo, match="nothing was done"):  # it was not there before, either
        undo()
    (root / "a.txt").mkdir()
    with pytest.raises(Exception, match="is a directory"):
        undo()


def test_an_earlier_change_waits_for_the_later_ones(hand, root, kept, undo):
    for text in ("one", "two", "three"):
        hand.does("write_file", path="a.txt", content=text)
    hand.does("write_file", path="b.txt", content="other")
    with pytest.raises(CannotUndo, match="take back 3, 2 first"):
        undo(1)
    undo(3)
    undo(2)
    undo(1)
    assert not (root / "a.txt").exists()
    assert (root / "b.txt").exists(), "other files stay"
    with pytest.raises(CannotUndo, match="There is no change 99"):
        undo(99)


def test_a_change_that_was_written_down_and_never_made_is_no_trouble(root, kept, undo):
    """The process died between the two."""
    (root / "a.txt").write_text("old")
    with Workspace(root).spot("a.txt") as spot:
        kept.keep(spot, b"old", b"new")
    with pytest.raises(CannotUndo, match="nothing was done"):
        undo()
    assert (root / "a.txt").read_text() == "old"


def test_half_a_line_at_the_end_of_the_index_is_passed_over(hand, root, kept, store, undo):
    hand.does("write_file", path="a.txt", content="one")
    with (store / INDEX).open("ab") as file:
        file.write(b'{"number":2,"path":"/x')
    hand.context = replace(hand.context, checkpoints=Checkpoints(store))
    hand.does("write_file", path="a.txt", content="two")
    assert [change.number for change in Checkpoints(store).changes()] == [1, 2]
    undo()
    assert (root / "a.txt").read_text() == "one"


def test_a_damaged_content_is_not_put_back(hand, root, kept, store, undo):
    (root / "a.txt").write_text("precious")
    hand.does("write_file", path="a.txt", content="new")
    (store / kept.changes()[0].before).write_bytes(b"garbage")
    with pytest.raises(CannotUndo, match="damaged"):
        undo()
    assert (root / "a.txt").read_text() == "new"


def test_what_is_kept_is_bounded_and_the_latest_change_can_always_be_taken_back(hand, root, store, undo):
    hand.context = replace(hand.context, checkpoints=Checkpoints(store, most_bytes=50_000))
    for number in range(20):
        hand.does("write_file", path="a.txt", content=f"{number}" * 6_000)
    held = sum(path.stat().st_size for path in store.iterdir() if path.name != INDEX)
    assert held <= 50_000
    undo()
    assert (root / "a.txt").read_text() == "18" * 6_000
    with pytest.raises(CannotUndo, match="not kept any more"):
        undo(2)


def test_a_disk_that_takes_no_checkpoints_does_not_stop_the_work(hand, root, store):
    store.parent.mkdir(parents=True)
    store.write_text("a file is in the way")
    hand.context = replace(hand.context, checkpoints=Checkpoints(store))
    assert "This cannot be undone: what was there could not be kept" in hand.does("write_file", path="a", content="x")
    assert (root / "a").read_text() == "x"


def test_what_is_kept_is_for_its_owner_alone(hand, kept, store):
    hand.does("write_file", path="a.txt", content="x")
    assert store.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in store.iterdir()} == {0o600}


def test_a_refused_edit_leaves_no_change(hand, root, kept):
    (root / "a.txt").write_text("x")
    hand.fails("edit_file", path="a.txt", old="nowhere", new="y")
    hand.fails("write_file", path=".git/hooks/pre-commit", content="y")
    assert kept.changes() == ()


def test_permissions_survive(hand, root, kept, undo):
    (root / "run.sh").write_text("one")
    (root / "run.sh").chmod(0o755)
    hand.does("write_file", path="run.sh", content="two")
    undo()
    assert (root / "run.sh").stat().st_mode & 0o777 == 0o755


def test_changes_are_shown_as_diffs(hand, root, kept, store):
    (root / "a.txt").write_text("one\ntwo\n")
    (root / "b.bin").write_bytes(b"x")
    hand.does("edit_file", path="a.txt", old="two", new="three")
    hand.does("edit_file", path="a.txt", old="one", new="zero")
    hand.does("write_file", path="new.txt", content="no newline")
    first = Checkpoints(store).diff(1)
    assert "-two\n+three\n" in first
    assert "zero" not in first
    whole = Checkpoints(store).diff_all(Workspace(root))
    assert "-one\n-two\n+zero\n+three\n" in whole
    assert "--- /dev/null" in whole
    assert "+no newline\n\\ No newline at end of file" in whole


def test_a_link_out_of_the_workspace_is_not_followed(hand, root, kept, outside, undo):
    hand.does("write_file", path="d/a.txt", content="x")
    (root / "d" / "a.txt").unlink()
    (root / "d").rmdir()
    (root / "d").symlink_to(outside)
    (outside / "a.txt").write_text("x")
    with pytest.raises(Exception, match="outside the workspace"):
        undo()
    assert (outside / "a.txt").read_text() == "x"


def test_a_session_that_is_removed_is_forgotten(hand, kept, store):
    hand.does("write_file", path="a.txt", content="x")
    forget(store)
    assert not store.exists()
    forget(store)


steps = st.lists(
    st.one_of(st.tuples(st.sampled_from(["a", "b"]), st.binary(max_size=6)), st.just("undo"), st.just("mine")),
    max_size=12,
)


@given(steps)
def test_taking_everything_back_leads_to_where_it_began(tmp_path_factory, plan):
    """Unless somebody else wrote meanwhile; then nothing of theirs is lost."""
    base = tmp_path_factory.mktemp("undo")
    root = base / "work"
    root.mkdir()
    (root / "a").write_bytes(b"start")
    workspace, kept = Workspace(root), Checkpoints(base / "kept")
    mine: dict[str, bytes] = {}
    for step in plan:
        if step == "undo":
            _undo(kept, workspace)
        elif step == "mine":
            (root / "b").write_bytes(b"mine")
            mine["b"] = b"mine"
        else:
            name, data = step
            path = root / name
            with workspace.spot(name) as spot:
                kept.keep(spot, path.read_bytes() if path.exists() else None, data)
            path.write_bytes(data)
            mine.pop(name, None)
    while _undo(kept, workspace):
        pass
    assert (root / "a").read_bytes() == b"start"
    assert mine.get("b") is None or (root / "b").read_bytes() == b"mine"
    if not any(step == "mine" for step in plan):
        assert [path.name for path in root.iterdir()] == ["a"]


def _undo(kept: Checkpoints, workspace: Workspace) -> bool:
    """Take back the last change that can be; say whether there was one."""
    for change in reversed(kept.open_changes()):
        try:
            kept.undo(workspace, change.number)
        except CannotUndo:
            continue
        return True
    return False


def test_a_copy_of_a_session_can_take_back_what_was_changed_before(hand, root, kept, store):
    (root / "a.txt").write_text("one\n")
    hand.does("edit_file", path="a.txt", old="one", new="two")
    copy = store.with_name("copied")
    copy_all(store, copy)
    hand.does("write_file", path="b.txt", content="later\n")
    forget(store)
    copied = Checkpoints(copy)
    assert [change.path for change in copied.changes()] == [str(root / "a.txt")]
    copied.undo(Workspace(root))
    assert (root / "a.txt").read_text() == "one\n"


def test_a_session_without_changes_has_nothing_to_copy(store):
    copy_all(store, store.with_name("copied"))
    assert not store.with_name("copied").exists()
