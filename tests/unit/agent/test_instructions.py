"""AGENTS.md and CLAUDE.md: which files count, in which order, what they may include, and what is said of the rest."""

import os

import pytest

from headway.agent.context.ground import ground_of
from headway.agent.context.guidance import Guide
from headway.agent.context.instructions import MOST_CHARACTERS, MOST_FILES, read_instructions
from headway.agent.workspace import Workspace


@pytest.fixture
def repository(tmp_path):
    top = tmp_path / "repository"
    (top / ".git").mkdir(parents=True)
    (top / "packages" / "web").mkdir(parents=True)
    return top


@pytest.fixture
def config(tmp_path):
    folder = tmp_path / "config"
    folder.mkdir()
    return folder


def read(workspace, config=None, hidden=()):
    home = workspace.parents[1] if config is None else config.parent
    return read_instructions(ground_of(Workspace(workspace, hidden=hidden)), config, home)


def test_from_the_user_over_the_repository_to_the_workspace_the_nearest_comes_last(repository, config):
    (config / "AGENTS.md").write_text("Be brief.")
    (repository / "AGENTS.md").write_text("Use tabs.")
    (repository / "packages" / "web" / "AGENTS.md").write_text("Use spaces.")
    found = read(repository / "packages" / "web", config)
    assert found.words.index("Be brief.") < found.words.index("Use tabs.") < found.words.index("Use spaces.")
    assert f'<instructions path="{repository}/AGENTS.md">\nUse tabs.\n</instructions>' in found.words
    assert found.notices == ()


def test_claude_md_counts_in_a_folder_without_agents_md(repository):
    (repository / "AGENTS.md").write_text("ours")
    (repository / "CLAUDE.md").write_text("not this one")
    (repository / "packages" / "CLAUDE.md").write_text("this one")
    found = read(repository / "packages")
    assert found.paths == (f"{repository}/AGENTS.md", f"{repository}/packages/CLAUDE.md")


def test_above_the_repository_nothing_is_read(repository):
    (repository.parent / "AGENTS.md").write_text("not ours")
    assert read(repository / "packages").words == ""


def test_outside_of_a_repository_only_the_workspace_counts(tmp_path):
    (tmp_path / "work").mkdir()
    (tmp_path / "AGENTS.md").write_text("above")
    (tmp_path / "work" / "AGENTS.md").write_text("here")
    assert read(tmp_path / "work").paths == (f"{tmp_path}/work/AGENTS.md",)


def test_includes_are_read_from_the_folder_of_the_file_and_each_file_once(repository):
    (repository / "docs").mkdir()
    (repository / "AGENTS.md").write_text("See @docs/style.md, and @README for more. Mail me@example.com or ask @team.")
    (repository / "docs" / "style.md").write_text("Style. @names.md @../AGENTS.md")
    (repository / "docs" / "names.md").write_text("Names explain.")
    (repository / "README").write_text("This is it.")
    found = read(repository)
    assert sorted(found.paths) == sorted(
        f"{repository}/{one}" for one in ("AGENTS.md", "README", "docs/style.md", "docs/names.md")
    )
    assert found.paths[-1] == f"{repository}/AGENTS.md", "what includes comes after what it includes"
    assert found.notices == ()


def test_what_stands_in_code_includes_nothing(repository):
    (repository / "a.md").write_text("never")
    (repository / "AGENTS.md").write_text("Write `@a.md`.\n\n```\n@a.md\n```\n~~~sh\n@a.md\n~~~\n")
    assert len(read(repository).paths) == 1


def test_includes_end_after_a_few_steps(repository):
    for number in range(20):
        (repository / f"f{number}.md").write_text(f"Step {number}. @f{number + 1}.md")
    (repository / "AGENTS.md").write_text("@f0.md")
    found = read(repository)
    assert "Step 4." in found.words
    assert "Step 5." not in found.words


@pytest.mark.parametrize("include", ["@../secret.md", "@/etc/passwd", "@link.md", "@~/secret.md"])
def test_an_include_that_leads_out_is_not_read_and_that_is_said(repository, include):
    (repository.parent / "secret.md").write_text("the secret")
    (repository.parents[1] / "secret.md").write_text("the secret")
    (repository / "link.md").symlink_to(repository.parent / "secret.md")
    (repository / "AGENTS.md").write_text(f"Read {include} first.")
    found = read(repository)
    assert "the secret" not in found.words
    assert len(found.paths) == 1
    assert "outside" in found.notices[0]


def test_what_only_looks_like_an_include_is_not_worth_a_word(repository):
    (repository / "AGENTS.md").write_text(
        "Import @/components/Button and @../nowhere, from @types/node, @~/nowhere, @."
    )
    assert read(repository).notices == ()


def test_a_file_that_includes_without_end_stays_within_bounds(repository):
    for number in range(300):
        (repository / f"i{number}.md").write_text(f"Included {number}.")
    (repository / "AGENTS.md").write_text(" ".join(f"@i{number}.md" for number in range(300)))
    found = read(repository)
    assert len(found.paths) == MOST_FILES
    assert len(found.notices) == 1


def test_the_users_own_markdown_can_be_included_and_nothing_else_of_that_folder(repository, config):
    (config / "mine.md").write_text("My way.")
    (config / "headway.toml").write_text("secret = 1")
    (repository / "AGENTS.md").write_text("@~/config/mine.md @~/config/headway.toml")
    found = read(repository, config)
    assert "My way." in found.words
    assert "secret" not in found.words
    assert len(found.notices) == 1


def test_instructions_behind_a_link_out_of_the_repository_are_not_read_and_that_is_said(repository):
    (repository.parent / "key").write_text("the secret")
    (repository / "AGENTS.md").symlink_to("../key")
    found = read(repository)
    assert found.words == ""
    assert "AGENTS.md" in found.notices[0]
    assert "outside" in found.notices[0]


def test_a_link_inside_of_the_repository_is_followed(repository):
    (repository / "AGENTS.md").write_text("One for all.")
    (repository / "packages" / "CLAUDE.md").symlink_to("../AGENTS.md")
    assert read(repository / "packages").words.count("One for all.") == 1


def test_a_hidden_place_is_not_read_through_a_link(repository):
    (repository / ".secrets").mkdir()
    (repository / ".secrets" / "key").write_text("the secret")
    (repository / "AGENTS.md").symlink_to(".secrets/key")
    found = read(repository, hidden=[repository / ".secrets"])
    assert found.words == ""
    assert "secrets are kept" in found.notices[0]


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"\0\1\2binary", "binary data"), (b"caf\xe9", "not UTF-8"), (b"x" * 1_000_001, "larger than")],
)
def test_what_cannot_be_read_is_said_and_the_others_count(repository, content, said):
    (repository / "AGENTS.md").write_bytes(content)
    (repository / "packages" / "AGENTS.md").write_text("Still here.")
    found = read(repository / "packages")
    assert "Still here." in found.words
    assert said in found.notices[0]


@pytest.mark.parametrize("make", [lambda path: path.mkdir(), os.mkfifo])
def test_what_is_no_file_is_said_and_waits_for_nobody(repository, make):
    make(repository / "AGENTS.md")
    found = read(repository)
    assert found.words == ""
    assert len(found.notices) == 1


def test_too_much_is_cut_the_farthest_first_and_that_is_said(repository):
    (repository / "AGENTS.md").write_text("far\n" * MOST_CHARACTERS)
    (repository / "packages" / "AGENTS.md").write_text("near")
    found = read(repository / "packages")
    assert len(found.words) < MOST_CHARACTERS + 1_000
    assert f"the file has {MOST_CHARACTERS:,} lines" in found.words
    assert found.words.rstrip().endswith("near\n</instructions>")
    assert "were cut" in found.notices[0]


def test_edits_count_from_the_next_look_and_secrets_are_taken_out(repository):
    (repository / "AGENTS.md").write_text("The key is hunter2hunter2.")
    guide = Guide(Workspace(repository), clean=lambda text: text.replace("hunter2hunter2", "[hidden]"))
    assert "The key is [hidden]." in guide().words
    (repository / "AGENTS.md").write_text("No key.")
    assert "No key." in guide().words
    assert Guide(Workspace(repository), instructions=False)().words == ""
