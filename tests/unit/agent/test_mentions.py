"""`@path` in the words of a user: what is attached, what stays a word, and what is not given away."""

import asyncio
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.agent.approval import Approvals, Mode, rules_of
from headway.agent.context.images import MOST_BYTES, image_of
from headway.agent.context.mentions import MOST_CHARACTERS, MOST_MENTIONS, attach
from headway.agent.context.naming import named_in, without_code
from headway.agent.redaction import Redactor
from headway.agent.tools.tool import ToolContext
from headway.agent.workspace import Workspace
from headway.cli.chat.completing import suggestions
from headway.history.exchanges import size_of
from headway.messages import Image, Message, Text, user

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20
PICTURES = {
    "image/png": PNG,
    "image/jpeg": b"\xff\xd8\xff\xe0 rest",
    "image/gif": b"GIF89a rest",
    "image/webp": b"RIFF\0\0\0\0WEBP rest",
}


def attached(root, words, *, images=True, hidden=(), **given):
    context = ToolContext(Workspace(root, hidden=hidden), environment={}, **given)
    message = user(words) if isinstance(words, str) else words
    return asyncio.run(attach(message, context, images=images))


def texts(found):
    return [part.text for part in found.message.parts[1:] if isinstance(part, Text)]


def test_the_text_of_a_file_is_attached_with_its_name_and_hash(root):
    (root / "a.py").write_text("print(1)\n")
    found = attached(root, "Explain @a.py, please.")
    assert found.message.parts[0] == Text("Explain @a.py, please."), "the words stay as they are"
    (text,) = texts(found)
    assert "`@a.py`" in text
    assert "[a.py: lines 1-1 of 1; hash " in text
    assert text.endswith("print(1)")
    assert found.notices == ("attached a.py (1 line)",)


@pytest.mark.parametrize(
    "words",
    [
        "Mail me@a.py or a@b.c",
        "@property and @app.route('/a.py')",
        "install @types/node and @scope/a.py",
        "@ a.py, @@a.py, \\@a.py",
        "nothing at all",
        "@pytest.fixture, @app.get and @john.doe",
        "@media and @Override, @latest or @v1.2",
        "import x from '@/components/Button.vue'",
        "@" + "x" * 5_000,
        "@a\0b @\u202egnp.exe",
    ],
)
def test_what_is_no_path_stays_words(root, words):
    (root / "a.py").write_text("print(1)\n")
    found = attached(root, words)
    assert found.message == user(words)
    assert found.notices == ()


@pytest.mark.parametrize(
    "words",
    ["(@a.py)", "@a.py.", "see @a.py: it", "**@a.py**"[2:], '"@a.py"', "x\n@a.py\ny", "@./a.py", "compare @a.py,@a.py"],
)
def test_signs_around_a_path_are_no_part_of_it(root, words):
    (root / "a.py").write_text("print(1)\n")
    assert len(texts(attached(root, words))) == 1


@pytest.mark.parametrize("words", ['@"my notes.md"', "@'my notes.md'", "@my\\ notes.md"])
def test_quotes_hold_what_has_spaces(root, words):
    (root / "my notes.md").write_text("Remember.")
    assert "Remember." in texts(attached(root, f"Read {words} now"))[0]


def test_a_name_that_ends_in_a_sign_is_found_if_it_is_there(root):
    (root / "what?").write_text("a question")
    (root / "what").write_text("a thing")
    assert "a question" in texts(attached(root, "@what?"))[0]


def test_a_folder_is_listed(root):
    (root / "src").mkdir()
    (root / "src" / "one.py").write_text("")
    found = attached(root, "What is in @src/ ?")
    assert "src/one.py" in texts(found)[0]
    assert found.notices == ("attached src/ (1 entry)",)
    (root / "src" / "one.py").unlink()
    assert attached(root, "What is in @src/ ?").notices == ("attached src/ (empty)",)


NEAR = {
    "@raedme.md": "README.md",
    "@readme": "README.md",
    "see @readme.md, please": "README.md",
    "@srcc/main.py": "src/main.py",
    "@src/mian.py": "src/main.py",
    "@src/main.py:12": "src/main.py",
    "@SRC/main.py": "src/main.py",
    "@Makefle": "Makefile",
    "@my-note.md": '"my note.md"',
}


@pytest.fixture
def busy_root(root):
    (root / "README.md").write_text("words")
    (root / "my note.md").write_text("words")
    (root / "Makefile").write_text("words")
    (root / ".github").mkdir()
    (root / "tests").mkdir()
    (root / "src").mkdir()
    (root / "src" / "main.py").write_text("words")
    return root


@pytest.mark.parametrize("words", NEAR)
def test_a_mistyped_path_is_told_with_the_one_that_was_probably_meant(busy_root, words):
    found = attached(busy_root, words)
    assert found.message == user(words)
    (notice,) = found.notices
    assert notice.endswith(f" was not found (did you mean @{NEAR[words]}?)")


@pytest.mark.parametrize("path", ["nowhere.txt", "src/nothing", "./nothing", "~/notes", "docs.adoc", "/etc/nowhere"])
def test_what_is_written_as_a_path_is_told_if_nothing_is_there(busy_root, path):
    assert attached(busy_root, f"Read @{path}.").notices == (f"@{path} was not found",)


@pytest.mark.parametrize(
    "words",
    [
        "ask me@README.mdd",
        "@types/node, @github/copilot and @babel/preset-env",
        "@type/node@18.0.0",
        "@app.route('/readme.md')",
        "fix this:\n@readme\ndef f(): ...",
        "fix this:\n```\n@nowhere.txt\n```\nand `@raedme.md`",
        "@Test, @src2 and @me",
    ],
)
def test_what_is_evidently_no_path_is_not_nagged_about(busy_root, words):
    found = attached(busy_root, words)
    assert found.message == user(words)
    assert found.notices == ()


def test_one_line_has_what_was_attached_and_what_was_not_found(busy_root):
    found = attached(busy_root, "Compare @README.md, @src/main.py and @src/mian.py with @nowhere.txt.")
    (notice,) = found.notices
    there, *missing = notice.split("; ")
    assert there == "attached README.md (1 line), src/main.py (1 line)"
    assert missing == ["@src/mian.py was not found (did you mean @src/main.py?)", "@nowhere.txt was not found"]


def test_of_many_that_are_missing_only_some_are_told(busy_root):
    (notice,) = attached(busy_root, " ".join(f"@x{number}.txt" for number in range(500))).notices
    assert notice.count("was not found") == 6


def test_a_long_file_is_cut_and_says_how_many_lines_it_has(root):
    (root / "long").write_text("line\n" * 5_000)
    (text,) = texts(attached(root, "@long"))
    assert "lines 1-2,000 of 5,000" in text
    assert "go on with offset=2001" in text
    assert attached(root, "@long").notices == ("attached long (the first 2,000 of 5,000 lines)",)


def test_many_mentions_stay_within_bounds_and_that_is_said(root):
    for number in range(MOST_MENTIONS + 5):
        (root / f"f{number}").write_text("x" * 1_900 + "\n")
    found = attached(root, " ".join(f"@f{number}" for number in range(MOST_MENTIONS + 5)))
    assert len(texts(found)) == MOST_MENTIONS
    assert found.notices[0].endswith(f", f5 (1 line), and {MOST_MENTIONS - 6} more")
    assert "too much" in found.notices[1]
    for number in range(12):
        (root / f"l{number}").write_text("some words\n" * 4_000)
    found = attached(root, " ".join(f"@l{number}" for number in range(12)))
    assert size_of((found.message,)) < MOST_CHARACTERS + 60_000
    assert "too much" in found.notices[1]


@pytest.mark.parametrize(("media_type", "data"), PICTURES.items())
def test_a_picture_is_known_by_its_bytes_and_attached_as_one(root, media_type, data):
    (root / "shot.txt").write_bytes(data)
    found = attached(root, "What is on @shot.txt?")
    (image,) = [part for part in found.message.parts if isinstance(part, Image)]
    assert image.media_type == media_type
    assert found.notices == (f"attached shot.txt (a picture of {len(data)} bytes)",)


def test_a_model_that_takes_no_pictures_and_the_user_are_told_so(root):
    (root / "shot.png").write_bytes(PNG)
    found = attached(root, "What is on @shot.png?", images=False)
    assert not any(isinstance(part, Image) for part in found.message.parts)
    assert "does not take pictures" in found.notices[0]
    assert "does not take pictures" in texts(found)[0]


def test_a_picture_that_is_too_large_is_not_attached(root):
    (root / "shot.png").write_bytes(PNG + b"\0" * MOST_BYTES)
    found = attached(root, "@shot.png")
    assert found.message == user("@shot.png")
    assert "no more than" in found.notices[0]


def test_pictures_together_stay_within_what_a_request_may_have(root):
    for number in range(6):
        (root / f"{number}.png").write_bytes(PNG + b"\0" * (MOST_BYTES - len(PNG)))
    found = attached(root, " ".join(f"@{number}.png" for number in range(6)))
    assert len([part for part in found.message.parts if isinstance(part, Image)]) == 4
    assert "too much" in found.notices[1]


def test_what_is_no_picture_is_none():
    assert image_of(b"BM not a picture for models", "x") is None
    assert image_of(b"RIFF\0\0\0\0WAVE", "x") is None
    assert image_of(b"", "x") is None


@pytest.mark.parametrize("path", ["../outside/secret.txt", "link", "{outside}/secret.txt"])
def test_what_is_outside_of_the_workspace_is_not_attached_and_that_is_said(root, outside, path):
    (root / "link").symlink_to(outside / "secret.txt")
    found = attached(root, f"@{path.format(outside=outside)}")
    assert len(found.message.parts) == 1
    assert "outside the workspace" in found.notices[0]


def test_a_hidden_place_is_asked_about_and_nobody_answers(root):
    (root / ".env").write_text("KEY=1")
    found = attached(root, "@.env", hidden=[root / ".env"])
    assert len(found.message.parts) == 1
    assert found.notices == (
        "@.env was not attached: `.env` is a place where secrets are kept, and it was not allowed",
    )


def test_a_rule_that_denies_reading_counts(root):
    (root / "private.txt").write_text("words")
    approvals = Approvals(Mode.AUTO, rules_of(deny=["read_file(private.txt)"]))
    found = attached(root, "@private.txt", approvals=approvals)
    assert len(found.message.parts) == 1
    assert found.notices == ("@private.txt was not attached: the rule `read_file(private.txt)` denies it",)


def test_secrets_are_taken_out(root):
    (root / "config").write_text("token = hunter2-hunter2-hunter2\n")
    found = attached(root, "@config", redactor=Redactor({"TOKEN": "hunter2-hunter2-hunter2"}))
    assert "hunter2" not in texts(found)[0]
    assert found.notices == ("attached config (1 line, 1 secret masked)",)


def test_the_user_is_told_what_a_file_for_secrets_gives_away(root):
    (root / ".env").write_text(f"KEY=ghp_{'a1' * 20}\nDEBUG=1\n")
    (root / "prod.pem").write_text("nothing that has the shape of a key\n")
    (root / "marks.txt").write_text("[hidden: a key] stands here for show\n")
    found = attached(root, "@.env @prod.pem @marks.txt")
    assert "ghp_" not in str(found.message)
    (notice,) = found.notices
    assert ".env (2 lines, 1 secret masked, the rest is sent as it is)," in notice
    assert "prod.pem (1 line, no secret was recognised, all of it is sent), marks.txt (1 line)" in notice


def test_what_cannot_be_shown_is_said(root):
    (root / "data").write_bytes(b"\0\1\2")
    os.mkfifo(root / "pipe")
    found = attached(root, "@data @pipe")
    assert found.message == user("@data @pipe")
    assert "binary data" in found.notices[0]
    assert "named pipe" in found.notices[1]


def test_only_the_users_own_words_mention_anything(root):
    """What is piped in, a diff for example, is quoted."""
    (root / "a.py").write_text("print(1)\n")
    message = Message("user", (Text("Review this"), Text("@a.py"), Image("image/png", "AA==")))
    assert attached(root, message).message == message


@given(st.text(alphabet="@a./\\ \"'`()\n") | st.text())
def test_whatever_is_said_is_looked_through(text):
    assert all(readings and all(readings) for readings in named_in(text))
    without_code(text)


def test_what_the_chat_suggests_is_what_is_read(root):
    (root / "my notes").mkdir()
    (root / "my notes" / "a b.md").write_text("Remember.")
    (folder,) = suggestions("see @", root, list)
    assert folder.text == '@"my notes/'
    (file,) = suggestions(f"see {folder.text}", root, list)
    assert file.replaced == len(folder.text)
    assert "Remember." in texts(attached(root, f"see {file.text} now"))[0]


def test_a_pasted_log_full_of_signs_is_looked_through_only_so_far(root):
    (root / "last").write_text("words")
    found = attached(root, " ".join(f"@x{number}" for number in range(5_000)) + " @last")
    assert len(found.message.parts) == 1
