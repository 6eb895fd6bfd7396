"""`headway sessions`: what was talked about is found, read, copied, carried elsewhere and back, and removed."""

import asyncio
import io
import json
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from headway.cli.chat.paint import Paint
from headway.cli.main import main
from headway.cli.sessions.listing import listed
from headway.cli.sessions.overview import CutCall, Overview
from headway.cli.sessions.page import Page
from headway.cli.terminal import cells
from headway.messages import CallFragment, Message, Text, ToolCall, ToolResult, assistant, user
from headway.recovery.drafts import draft_of
from headway.settings import load
from headway.settings.places import Surroundings
from headway.settings.safety import CHECKPOINTS
from headway.store import Sessions, SessionState, open_store
from headway.store import records as r
from support.foreign import FILES, exported, lines_of, oc, replied, said, spoken, text
from support.screen import Seat

NOW = 1_780_000_000.0
CALL = ToolCall("c1", "shell", '{"command":"npm run deploy"}')
TALK = (
    r.UserSaid(user("Where is the parser?")),
    r.TurnBegan(1),
    r.ReplyReceived(1, assistant("In src.")),
    r.TurnEnded(1, r.How.ANSWERED),
    r.UserSaid(user("Thanks.")),
    r.TurnBegan(2),
    r.ReplyReceived(2, assistant("You are welcome.")),
    r.TurnEnded(2, r.How.ANSWERED),
)
CUT = (
    r.UserSaid(user("Write a page.")),
    r.TurnBegan(1),
    r.DraftKept(1, draft_of(CallFragment("c9", "write_file", '{"path":"index.html","content":"' + "page " * 300))),
    r.TurnEnded(1, r.How.FAILED),
)
DIED = (
    r.UserSaid(user("Deploy.")),
    r.TurnBegan(1),
    r.ReplyReceived(1, Message("assistant", (CALL,))),
    r.ToolIntended(1, CALL),
)


class House:
    """A home with a store, a folder to be in, and the command."""

    def __init__(self, home, monkeypatch, capsys) -> None:
        self.home, self.work, self.capsys, self.patch = home, home / "work", capsys, monkeypatch
        self.work.mkdir()
        monkeypatch.chdir(self.work)
        for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("HEADWAY_HOME", str(home))
        monkeypatch.setenv("HOME", str(home))

    @property
    def database(self):
        return self.home / "headway.db"

    def store(self):
        return Sessions(open_store(f"sqlite:{self.database}"))

    def session(self, *records, folder=None, title=""):
        async def make():
            store = self.store()
            session = await store.create(str(folder or self.work), title)
            await session.commit(*records)
            await session.close()
            store.close()
            return session.id

        return asyncio.run(make())

    def state(self, session) -> SessionState:
        store = self.store()
        try:
            return store.state(session)
        finally:
            store.close()

    def __call__(self, *arguments):
        status = main(["sessions", *map(str, arguments)])
        out, err = self.capsys.readouterr()
        assert "Traceback" not in err
        return SimpleNamespace(status=status, out=out, err=err)


@pytest.fixture
def house(tmp_path, monkeypatch, capsys):
    return House(tmp_path, monkeypatch, capsys)


# List


def test_the_name_alone_lists_the_sessions_of_this_folder(house):
    house.session(*TALK, folder="/elsewhere")
    here = house.session(*TALK)
    done = house()
    assert done.status == 0
    assert done.out.splitlines()[0] == "~/work"
    assert here in done.out
    assert "2 turns  Where is the parser?" in done.out
    assert "/elsewhere" not in done.out
    assert house("list").out == done.out
    assert "/elsewhere" in house("--all").out


def test_what_is_open_in_a_session_is_said(house):
    house.session(*CUT)
    house.session(*DIED)
    out = house().out
    assert "▸ a cut call is kept: 1.5 KB of index.html" in out
    assert "▸ shell had begun: what it did is not known" in out


def test_a_session_that_somebody_has_open_is_not_called_broken(house):
    async def look():
        store = house.store()
        session = await store.create(str(house.work))
        await session.commit(*DIED)
        out = house().out
        await session.close()
        store.close()
        return out

    out = asyncio.run(look())
    assert f"▸ open in process {os.getpid()}" in out
    assert "not known" not in out
    assert "not known" in house().out


def test_programs_get_a_session_a_line(house):
    cut, died = house.session(*CUT), house.session(*DIED, title="Half \ud83d a character")
    found = {one["id"]: one for one in map(json.loads, house("--json").out.splitlines())}
    assert found[cut]["draft"] == {"tool": "write_file", "about": "index.html", "characters": 1532}
    assert (found[died]["unknown"], found[died]["is_under_way"], found[died]["turns"]) == (["shell"], True, 1)
    assert found[cut]["folder"] == str(house.work)


def test_where_nothing_was_ever_said_nothing_is_made(house):
    done = house()
    assert (done.status, done.out) == (0, "")
    assert "no session of" in done.err
    assert not house.database.exists()


def test_a_chat_that_ended_before_a_word_was_said_is_no_session(house):
    earlier = house.session(*TALK)
    environment = {"HEADWAY_HOME": str(house.home), "HOME": str(house.home), "PATH": os.environ["PATH"]}
    command = [sys.executable, "-m", "headway", "chat"]
    refused = subprocess.run(command, input=b"hi\n", env=environment, capture_output=True, check=False, timeout=60)
    assert refused.returncode == 2, refused.stderr
    assert b"nobody to ask" in refused.stderr
    assert [one["id"] for one in map(json.loads, house("--all", "--json").out.splitlines())] == [earlier]
    assert "Where is the parser?" in house("show").out, "the latest is the one in which something was said"


def test_only_the_latest_are_shown_and_the_others_are_counted(house):
    for _ in range(4):
        house.session(*TALK)
    done = house("--last", 3)
    assert done.out.count("Where is") == 3
    assert "1 older one not shown (--last 4 shows all)" in done.err


HOSTILE = Overview(
    "1n8k3xq-7f2m",
    "A \x1b[31mred\x1b[0m title \u202e with 橋 wide ones, " + "and more words " * 20,
    "/a/folder/" + "of/many/" * 20,
    1234,
    NOW - 40 * 86_400,
    NOW - 20 * 86_400,
    9,
    draft=CutCall("write_file", "\x1b]0;title\x07" + "long " * 40, 123_456),
    unknown=("shell\r\n",),
)


@pytest.mark.parametrize("width", [40, 60, 71, 72, 100, 200])
def test_no_line_is_wider_than_the_terminal_and_nothing_acts_on_it(tmp_path, width):
    plain = list(listed([HOSTILE], tmp_path, NOW, width, Paint(colours=False)))
    state = SessionState(messages=(user("\x1b[2J" + "word " * 100), *_exchange()))
    page = list(Page(width, Paint(colours=False)).lines(HOSTILE, state, tmp_path, NOW))
    for line in (*plain, *page):
        assert cells(line) <= width
        assert line.isprintable()
    painted = list(listed([HOSTILE], tmp_path, NOW, width, Paint(colours=True)))
    assert len(painted) == len(plain)


def _exchange():
    call = ToolCall("c", "read_file\x1b[31m", '{"path":"' + "a/" * 100 + '"}')
    return Message("assistant", (Text("Look.\ttab"), call)), Message("user", (ToolResult("c", (Text("x\n" * 40),)),))


# Show


def test_a_session_is_shown_with_what_was_done_and_what_is_open(house):
    result = ToolResult("c1", (Text("line\n" * 30),))
    session = house.session(*DIED, r.ToolFinished(1, result), r.ReplyReceived(1, assistant("Deployed.")))
    out = house("show", session[:9]).out
    assert out.startswith(f"Deploy.\n{session} · ~/work · 1 turn · just now")
    assert "  ▸ shell npm run deploy\n    line\n" in out
    assert "… 26 more lines" in out
    assert "Deployed." in out
    assert f"headway chat --resume {session}" in out
    assert house("show", "--full").out.count("line\n") == 30, "without an id it is the latest of the folder"
    assert json.loads(house("show", "--json").out)["messages"][0]["parts"][0]["text"] == "Deploy."


NUDGE = "You are going round in circles."
NUDGED = (
    *DIED,
    r.ToolFinished(1, ToolResult("c1", (Text("the same"),))),
    r.UserSaid(user(NUDGE)),
    r.ReplyReceived(1, assistant("I stop.")),
    r.TurnEnded(1, r.How.ANSWERED),
    *TALK[4:],
)


def test_what_headway_told_the_model_is_not_put_into_the_users_mouth(house):
    house.session(*NUDGED)
    out = house("show").out
    assert f"\nHeadway\n  {NUDGE}\n\nAssistant\n  I stop.\n\nYou\n  Thanks.\n" in out
    assert out.count("\nYou\n") == 2
    told = json.loads(house("show", "--json").out)
    assert [told["messages"][at]["parts"][0]["text"] for at in told["nudges"]] == [NUDGE]
    assert f"## Headway\n\n{NUDGE}\n\n## Assistant\n\nI stop.\n\n## You" in house("export", "--format", "markdown").out
    file = house.home / "s.jsonl"
    house("export", "-o", file)
    assert "taken over 2 turns" in house("import", file, "--dry-run").err


def test_of_a_long_session_the_end_is_shown(tmp_path):
    said = [message for at in range(50) for message in (user(f"Question {at}."), assistant("x" * 1_000))]
    state = SessionState(messages=tuple(said))
    page = list(Page(60, Paint(colours=False)).lines(HOSTILE, state, tmp_path, NOW))
    assert "… 20 earlier turns (--full shows all)" in page
    assert "  Question 20." in page
    assert "  Question 19." not in page
    assert len(page) < 30 * 20
    full = list(Page(60, Paint(colours=False), full=True).lines(HOSTILE, state, tmp_path, NOW))
    assert sum(line.count("x") for line in full[4:] if "title" not in line) >= 50_000


# Names


def test_a_session_is_meant_by_the_beginning_of_its_id(house):
    one = house.session(*TALK)
    assert house("show", one[:11].upper()).status == 0
    unknown = house("show", "zzzz")
    assert unknown.status == 2
    assert "there is no such session. `headway sessions --all` lists them" in unknown.err
    other = house.session(*TALK)
    both = house("show", one[:4])
    assert one[:4] == other[:4], "names begin with the time"
    assert both.status == 2
    assert "2 sessions begin so" in both.err


@pytest.mark.parametrize("name", ["", "  "])
@pytest.mark.parametrize("command", ["show", "export", "fork", "rename", "delete"])
def test_an_empty_name_means_no_session_and_not_the_latest(house, command, name):
    """So says a script whose variable is not set."""
    session = house.session(*TALK)
    more = {"rename": ["Another"], "delete": ["--yes"]}.get(command, [])
    refused = house(command, name, *more)
    assert (refused.status, refused.out) == (2, "")
    assert "the name of the session: it is empty" in refused.err
    assert [one["id"] for one in map(json.loads, house("--json").out.splitlines())] == [session]


@pytest.mark.parametrize("command", [["run", "--resume", "", "Go on."], ["chat", "--resume", "", "Go on."]])
def test_to_resume_an_empty_name_is_to_resume_nothing(house, command):
    house.session(*TALK)
    house.patch.setenv("OPENAI_API_KEY", "sk-nobody")
    house.patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
    assert main(command) == 2
    assert "--resume: it names no session" in house.capsys.readouterr().err


# Rename, fork


def test_a_session_gets_another_title(house):
    session = house.session(*TALK)
    assert house("rename", session, "The  parser\n").status == 0
    assert "The parser" in house().out
    assert house("rename", session, " ").status == 2


def test_a_copy_goes_its_own_way(house):
    session = house.session(*TALK)
    kept = house.home / CHECKPOINTS / session
    kept.mkdir(parents=True)
    (kept / "changes.jsonl").write_text("")
    copy = house("fork", session).out.strip()
    assert house.state(copy).history == house.state(session).history
    assert house.state(copy).origin == session
    assert (house.home / CHECKPOINTS / copy / "changes.jsonl").exists()
    early = house("fork", session, "--turn", 1).out.strip()
    assert [message.text for message in house.state(early).history] == ["Where is the parser?", "In src."]
    assert "there is no such turn" in house("fork", session, "--turn", 7).err


# Export


def test_an_export_comes_back_as_it_was(house):
    session = house.session(*CUT, *DIED[:2])
    before = house.state(session)
    file = house.home / "session.jsonl"
    assert house("export", session, "-o", file).status == 0
    assert file.stat().st_mode & 0o777 == 0o600
    assert house("export", session).out == file.read_text(encoding="utf-8")
    assert house("delete", session, "--yes").status == 0
    back = house("import", file)
    assert back.out.strip() == session
    assert house.state(session) == before
    assert "headway (its lines are records of a session)" in back.err


def test_a_file_that_is_there_is_not_written_over(house):
    session = house.session(*TALK)
    file = house.home / "notes.md"
    file.write_text("mine")
    refused = house("export", session, "-o", file)
    assert refused.status == 2
    assert "it is there already" in refused.err
    assert file.read_text() == "mine"
    assert house("export", session, "-o", file, "--force").status == 0
    assert file.read_text(encoding="utf-8").startswith("# Session")
    assert house("export", session, "--format", "markdown").out == file.read_text(encoding="utf-8")


def test_an_export_that_cannot_be_written_is_told_by_the_name_that_was_asked_for(house):
    house.session(*TALK)
    nowhere = house.home / "nowhere" / "out.jsonl"
    failed = house("export", "-o", nowhere)
    assert failed.status == 1
    assert failed.err.startswith(f"headway: {nowhere} could not be written: No such file or directory. Nothing was")


def test_an_export_to_a_full_disk_is_told_by_the_name_that_was_asked_for_and_leaves_nothing(house):
    house.session(*TALK)
    file = house.home / "out.jsonl"
    file.write_text("before")
    script = (
        "import resource, sys; from headway.cli.main import main\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))\n"
        f"sys.exit(main(['sessions', 'export', '--force', '-o', {str(file)!r}]))"
    )
    environment = {"HEADWAY_HOME": str(house.home), "HOME": str(house.home), "PATH": os.environ["PATH"]}
    command = [sys.executable, "-B", "-c", script]  # no half of a compiled file may be left, either
    failed = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert failed.returncode == 1
    assert failed.stderr.startswith(f"headway: {file} could not be written: File too large. Nothing was written")
    assert file.read_text() == "before"
    assert [path.name for path in house.home.glob("*out.jsonl*")] == ["out.jsonl"]


def test_an_export_that_was_cut_off_anywhere_is_a_session_that_goes_on(house):
    session = house.session(*NUDGED)
    whole = house("export", session).out.encode()
    rows = [json.loads(line)["record"] for line in whole.splitlines()]
    file = house.home / "cut.jsonl"
    ends = [at for at, byte in enumerate(whole) if byte == ord("\n")]
    for cut in sorted({end + by for end in ends for by in (-20, -1, 0, 1, 20) if end + by >= ends[0]}):
        file.write_bytes(whole[:cut])
        house("delete", session, "--yes")
        done = house("import", file)
        assert (done.status, done.out.strip()) == (0, session), done.err
        there = [json.loads(line)["record"] for line in house("export", session).out.splitlines()]
        kept = sum(end <= cut for end in ends)
        assert there == rows[:kept]
        is_torn = not {cut, cut - 1, cut - 20} & {*ends} or (cut - 20 in ends and cut < len(whole))
        assert ("1 line: the file ends in the middle of it" in done.err) is is_torn


# Delete


def test_a_deleted_session_is_gone_with_its_checkpoints(house):
    session, other = house.session(*TALK), house.session(*TALK)
    kept = house.home / CHECKPOINTS / session
    kept.mkdir(parents=True)
    (kept / "changes.jsonl").write_text("")
    assert house("delete", session, "--yes").status == 0
    assert not kept.exists()
    assert [one["id"] for one in map(json.loads, house("--json").out.splitlines())] == [other]
    assert b"Where is the parser?" in house.database.read_bytes(), "the other one is still there"


def test_without_a_terminal_delete_wants_to_be_told(house):
    session = house.session(*TALK)
    done = house("delete", session)
    assert done.status == 2
    assert "Add --yes" in done.err
    assert session in house().out


def test_a_session_that_somebody_holds_is_not_deleted(house):
    async def attempt():
        store = house.store()
        session = await store.create(str(house.work))
        await session.commit(*TALK)
        done = house("delete", session.id, "--yes")
        await session.close()
        store.close()
        return session.id, done

    session, done = asyncio.run(attempt())
    assert done.status == 1
    assert f"this session is open already (session {session}, process {os.getpid()}" in done.err
    assert "Nothing was changed" in done.err
    assert session in house().out


def test_at_a_terminal_it_asks_first(house):
    session = house.session(*TALK)
    command = [sys.executable, "-m", "headway", "sessions", "delete", session]
    environment = {"HEADWAY_HOME": str(house.home), "HOME": str(house.home), "PATH": os.environ["PATH"]}
    for answer, status, there in (("n", 1, True), ("y", 0, False)):
        with Seat(command, environment, columns=60) as seat:
            seat.sees(r"Delete this session for good\? \[y/N\]")
            assert "Where is the parser?" in seat.screen.text, "what would go is shown"
            seat.type(f"{answer}\n")
            assert seat.ends() == status
        assert (session in house().out) is there


def test_a_damaged_store_is_told_in_a_sentence(house):
    house.session(*TALK)
    with house.database.open("r+b") as file:
        file.truncate(house.database.stat().st_size - 100)
    for arguments in ((), ("show", "1"), ("export", "1"), ("delete", "1", "--yes"), ("import", FILES["codex"])):
        done = house(*arguments)
        assert done.status == 1
        assert "is damaged (its end is missing)" in done.err
        assert "To start with an empty store and keep this one, run:" in done.err


# Import


@pytest.mark.parametrize("source", FILES)
def test_an_import_prints_the_id_and_gives_an_account(house, source):
    done = house("import", FILES[source])
    assert done.status == 0
    state = house.state(done.out.strip())
    assert state.turn == sum(message.role == "user" and not message.results for message in state.messages)
    assert f"read as    {source} (" in done.err
    assert "  repaired   " in done.err
    assert "  left out   " in done.err
    assert f'headway run --resume {done.out.strip()} "continue"' in done.err
    assert done.out.strip() in house().out, "its folder is not on this machine: it belongs to this one"


def test_a_session_in_order_needs_no_repair(house):
    path = house.home / "s.jsonl"
    path.write_bytes(b"".join(lines_of(said("u", None, "Go."), replied("a", "u", text("Done.")))))
    assert "nothing had to be" in house("import", path).err


def test_a_look_changes_nothing(house):
    done = house("import", FILES["codex"], "--dry-run", "--json")
    account = json.loads(done.out)
    assert (account["session"], account["format"], account["turns"]) == ("", "codex", 3)
    assert account["left_out"][0].keys() == {"count", "one", "several", "why"}
    assert not house.database.exists()


def test_the_folder_of_the_session_is_kept_if_it_is_here(house):
    there = house.home / "site"
    there.mkdir()
    path = house.home / "s.jsonl"
    path.write_bytes(b"".join(lines_of(said("u", None, "Go.", cwd=str(there)), replied("a", "u", text("Done.")))))
    assert house.state(house("import", path).out.strip()).workspace == str(there)
    assert house.state(house("import", path, "--workspace", ".").out.strip()).workspace == str(house.work)
    assert house.state(house("import", path, "--title", "Mine").out.strip()).title == "Mine"


def test_what_cannot_be_read_is_told_and_the_others_are_taken(house):
    (house.home / "empty.json").write_text("")
    (house.home / "words.txt").write_text("These are words.")
    (house.home / "opencode.db").write_bytes(b"SQLite format 3\x00" + bytes(100))
    (house.home / "number.json").write_text("7")
    (house.home / "nothing.json").write_text('{"messages": []}')
    (house.home / "role.json").write_text('[{"role": "wizard", "content": "x"}]')
    for name, words in {
        "empty.json": "it is empty",
        "words.txt": "it is not JSON",
        "opencode.db": "opencode export",
        "number.json": "it is a JSON int",
        "nothing.json": "read as openai-chat: messages: it is missing, empty or not a list",
        "role.json": "the role 'wizard' is unknown",
        "missing.json": "there is no such file",
    }.items():
        done = house("import", house.home / name)
        assert (done.status, done.out) == (2, ""), name
        assert words in done.err
    done = house("import", house.home / "words.txt", FILES["codex"])
    assert done.status == 2
    assert len(done.out.split()) == 1


def test_one_may_say_what_it_is(house):
    path = house.home / "plain.json"
    path.write_text(json.dumps([{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}]))
    assert "read as    openai-chat (nothing in it belongs to one wire alone)" in house("import", path).err
    assert "read as    anthropic (it was said to be one)" in house("import", path, "--from", "anthropic").err


def test_a_history_may_be_piped_in_a_message_a_line(house):
    lines = b"".join(lines_of({"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}))
    house.patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(lines + b'{"role": "us')))
    done = house("import", "-")
    assert [message.text for message in house.state(done.out.strip()).messages] == ["Hi.", "Hello."]
    assert "1 line: the file ends in the middle of it" in done.err


def test_the_latest_session_of_an_agent_in_this_folder_is_found(house):
    name = "".join(one if one.isalnum() else "-" for one in str(house.work))
    claude = house.home / ".claude" / "projects" / name
    claude.mkdir(parents=True)
    (claude / "a.jsonl").write_bytes(b"".join(lines_of(said("u", None, "Old."))))
    (claude / "b.jsonl").write_bytes(b"".join(lines_of(said("u", None, "Of Claude."))))
    (claude / "agent-c.jsonl").write_bytes(b"".join(lines_of(said("u", None, "A sub-agent."))))
    os.utime(claude / "a.jsonl", (1, 1))
    codex = house.home / ".codex" / "sessions" / "2026" / "03" / "01"
    codex.mkdir(parents=True)
    for number, folder in ((1, house.work), (2, house.home)):
        meta = {"type": "session_meta", "payload": {"id": "t", "cwd": str(folder)}}
        rollout = codex / f"rollout-2026-03-01T10-00-0{number}-t.jsonl"
        rollout.write_bytes(b"".join(lines_of(meta, spoken("user", f"Of Codex {number}."))))
    _opencode_folders(house.home / ".local" / "share" / "opencode", house.work)
    for source, words in {"claude-code": "Of Claude.", "codex": "Of Codex 1.", "opencode": "Of opencode."}.items():
        done = house("import", "--from", source)
        assert done.status == 0, done.err
        assert house.state(done.out.strip()).messages[0].text == words
    assert house("import").status == 2
    house.patch.setenv("CODEX_HOME", str(house.home / "none"))
    assert "no session of" in house("import", "--from", "codex").err


def _opencode_folders(root, folder):
    """Write sessions as opencode keeps them: a file each for session, message and part."""
    storage = root / "storage"
    for at, where in ((1, "/elsewhere"), (2, str(folder))):
        value = exported(
            oc(f"msg_{at}1", "user", text("Of opencode.")), oc(f"msg_{at}2", "assistant", text("Yes.")), directory=where
        )
        session = f"ses_{at}"
        _put(storage / "session" / "global" / f"{session}.json", {**value["info"], "id": session})
        for message in value["messages"]:
            _put(storage / "message" / session / f"{message['info']['id']}.json", message["info"])
            for part in message["parts"]:
                _put(storage / "part" / message["info"]["id"] / f"{part['id']}.json", part)
    (storage / "part" / "msg_22" / "prt_half.json").write_text('{"type": "te')


def _put(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))


def test_a_folder_of_opencode_is_put_together(house):
    root = house.home / "opencode"
    _opencode_folders(root, house.work)
    done = house("import", root)
    assert [message.text for message in house.state(done.out.strip()).messages] == ["Of opencode.", "Yes."]
    assert "1 file: no JSON stands there" in done.err
    one = house("import", root / "storage" / "session" / "global" / "ses_1.json")
    assert house.state(one.out.strip()).history


def test_an_imported_session_is_called_by_its_first_words(house):
    path = house.home / "history.json"
    path.write_text(
        json.dumps([{"role": "assistant", "content": "Hello."}, {"role": "user", "content": "About bridges."}])
    )
    house("import", path)
    assert "1 turn  About bridges." in house().out


def test_settings_may_be_elsewhere(house):
    (house.home / "other.toml").write_text(f'[store]\nurl = "sqlite:{house.home}/other.db"\n')
    done = house("import", FILES["codex"], "--config", house.home / "other.toml")
    assert done.status == 0
    assert done.out.strip() in house("--config", house.home / "other.toml").out
    around = Surroundings({"HEADWAY_HOME": str(house.home)}, house.work, house.home)
    assert load(None, around=around).store_url != f"sqlite:{house.home}/other.db"
    assert not house.database.exists()
