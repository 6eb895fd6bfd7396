"""Agent Skills: found near and far, told by name, read when needed, and never a way out of their folders."""

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.agent.context.front_matter import BadFrontMatter, front_matter
from headway.agent.context.ground import ground_of
from headway.agent.context.skills import LONGEST_DESCRIPTION, MOST_SKILLS, MOST_WORDS, find_skills, skill_tool
from headway.agent.running import run_calls
from headway.agent.tools.tool import ToolContext
from headway.agent.workspace import Workspace
from headway.messages import Image, ToolCall

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20


def put(shelf, name, description="What it is for.", body="Do it well.", folder=None):
    place = shelf / (folder or name)
    place.mkdir(parents=True)
    (place / "SKILL.md").write_text(f"---\nname: {name}\ndescription: {description}\n---\n\n{body}\n")
    return place


@pytest.fixture
def work(tmp_path):
    folder = tmp_path / "repository" / "work"
    folder.mkdir(parents=True)
    (folder.parent / ".git").mkdir()
    return folder


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def found(work, home=None, config=None, hidden=()):
    return find_skills(ground_of(Workspace(work, hidden=hidden)), config, home)


def read(work, skills, **arguments):
    call = ToolCall("c", "skill", json.dumps(arguments))
    (result,) = asyncio.run(run_calls((call,), (skill_tool(skills.skills),), ToolContext(Workspace(work))))
    return result


def test_skills_are_found_in_every_shelf_near_and_far(work, home, tmp_path):
    put(work / ".headway" / "skills", "a")
    put(work / ".agents" / "skills", "b")
    put(work / ".claude" / "skills", "c")
    put(work.parent / ".agents" / "skills", "d")
    put(home / ".claude" / "skills", "e")
    put(tmp_path / "config" / "skills", "f")
    skills = found(work, home, tmp_path / "config")
    assert sorted(skill.name for skill in skills.skills) == list("abcdef")
    assert "- a: What it is for." in skills.words
    assert "Do it well." not in skills.words, "only names and descriptions are told"
    assert skills.notices == ()


def test_of_two_of_a_name_the_nearer_counts(work, home):
    put(work / ".agents" / "skills", "pdf", "near")
    put(work.parent / ".agents" / "skills", "pdf", "farther")
    put(home / ".agents" / "skills", "pdf", "far")
    assert [skill.description for skill in found(work, home).skills] == ["near"]


def test_without_skills_nothing_is_told(work, home):
    assert found(work, home).words == ""


def test_the_body_and_other_files_are_read_by_the_tool_outside_of_the_workspace_too(work, home):
    place = put(home / ".agents" / "skills", "pdf", body="See forms.md.")
    (place / "forms.md").write_text("Fill them in.")
    (place / "shot.png").write_bytes(PNG)
    skills = found(work, home)
    body = read(work, skills, name="pdf")
    assert "See forms.md." in body.text
    assert str(place) in body.text, "scripts in it can be run by their paths"
    assert "Fill them in." in read(work, skills, name="pdf", file="forms.md").text
    assert isinstance(read(work, skills, name="pdf", file="shot.png").parts[1], Image)


@pytest.mark.parametrize("file", ["../../../secret", "/etc/hostname", "link", "../other/SKILL.md", "."])
def test_no_file_of_a_skill_leads_out_of_its_folder(work, home, file):
    for shelf in (work / ".agents" / "skills", home / ".agents" / "skills"):
        place = put(shelf, f"s{len(str(shelf))}")
        put(shelf, f"o{len(str(shelf))}", folder="other")
        (place / "link").symlink_to("../other/SKILL.md")
        (shelf.parent.parent / "secret").write_text("the secret")
    skills = found(work, home)
    assert len(skills.skills) == 4
    for skill in skills.skills:
        if skill.name.startswith("s"):
            assert read(work, skills, name=skill.name, file=file).is_error


def test_an_unknown_skill_is_refused_with_those_there_are(work):
    put(work / ".agents" / "skills", "pdf")
    assert "There is pdf" in read(work, found(work), name="pfd").text


def test_a_folder_of_the_users_own_may_be_a_link_but_one_of_a_repository_may_not_lead_out(work, home, tmp_path):
    real = put(tmp_path / "dotfiles", "mine")
    (home / ".agents" / "skills").mkdir(parents=True)
    (home / ".agents" / "skills" / "mine").symlink_to(real)
    (work / ".agents" / "skills").mkdir(parents=True)
    (work / ".agents" / "skills" / "stolen").symlink_to(real)
    (work / ".claude").mkdir()
    (work / ".claude" / "skills").symlink_to(tmp_path / "dotfiles")
    skills = found(work, home)
    assert [skill.name for skill in skills.skills] == ["mine"]
    assert len(skills.notices) == 2
    assert all("outside" in notice for notice in skills.notices)


def test_a_skill_that_is_swapped_for_a_link_after_it_was_found_does_not_lead_out(work, tmp_path):
    place = put(work / ".agents" / "skills", "pdf")
    skills = found(work)
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys" / "id").write_text("the secret")
    place.rename(work / "moved")
    place.symlink_to(tmp_path / "keys")
    assert read(work, skills, name="pdf", file="id").is_error


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no front matter", "does not begin"),
        ("---\nname: x\ndescription: y\n", "no second line"),
        ("---\nname: x\n---\n", "no description"),
        ("---\ndescription: y\n---\n", "no name"),
        ("---\nname: ../x y\ndescription: y\n---\n", "is not of letters"),
        ("---\nname: x\nname: y\ndescription: z\n---\n", "twice"),
        ("---\n: what\n---\n", "line 2"),
        ('---\nname: x\ndescription: "y\n---\n', "quotes"),
        ("", "does not begin"),
        ("\0", "binary"),
    ],
)
def test_bad_front_matter_is_said_and_the_others_work(work, text, said):
    put(work / ".agents" / "skills", "good")
    bad = work / ".agents" / "skills" / "bad"
    bad.mkdir()
    (bad / "SKILL.md").write_text(text)
    skills = found(work)
    assert [skill.name for skill in skills.skills] == ["good"]
    assert said in skills.notices[0]
    assert str(bad.name) in skills.notices[0]


def test_many_long_descriptions_stay_within_bounds(work):
    for number in range(MOST_SKILLS + 3):
        put(work / ".agents" / "skills", f"s{number:03}", "word " * 1_000)
    skills = found(work)
    assert len(skills.skills) == MOST_SKILLS
    assert len(skills.notices) == 3
    assert all(len(skill.description) < LONGEST_DESCRIPTION + 100 for skill in skills.skills)
    assert len(skills.words) < MOST_WORDS + MOST_SKILLS * 20


@pytest.mark.parametrize(
    ("lines", "value"),
    [
        ("description: Use it: always # a note", "Use it: always"),
        ('description: "With \\"quotes\\" and # more"  # note', 'With "quotes" and # more'),
        ("description: 'it''s'", "it's"),
        ("description: >-\n  one\n  two\n\n  three", "one two three"),
        ("description: |\n  one\n  two", "one\ntwo"),
        ("description: one\n  two", "one two"),
        ("description:\n  one\n  two", "one two"),
        ("metadata:\n  author: me\n  description: no\ndescription: yes", "yes"),
        ("allowed-tools:\n- Read\n- Bash(git *)\ndescription: yes", "yes"),
    ],
)
def test_front_matter_is_read_as_people_write_it(lines, value):
    assert front_matter(f"\ufeff---\nname: x\n{lines}\n---\nBody: no\n")["description"] == value


@given(st.text(alphabet="-:>|'\"# \n\tab\\") | st.text())
def test_whatever_stands_there_it_is_read_or_refused(text):
    for whole in (text, f"---\n{text}\n---\n"):
        try:
            front_matter(whole)
        except BadFrontMatter:
            continue
