"""kill -9 at every step of `headway run`, and in the middle of its stream: the next run goes on, and nothing is lost.

One rich task: words, a command with an effect, a page whose call is cut and continued, two reads at once, last words.
The command writes down which process ran it, so that an effect that happens twice is seen.
"""

import json
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from itertools import count
from pathlib import Path

import pytest

from headway.history.wording import NOT_EXECUTED
from headway.messages import Text
from headway.recovery.drafts import open_text, worth_continuing
from headway.sim.catalog import read_fault
from headway.sim.script import Call, Final, Say, Script, WriteFile
from headway.sim.thread import serving
from headway.store.records import ReplyReceived, ToolFinished, ToolIntended
from headway.wire.json_text import encode_text
from support.desk import Desk
from support.nursery import Death, Nursery
from support.rows import row

PAGE = "".join(f'<p id="p{number}">“Line” {number} — é 😀 \\ back\\slash "quoted"</p>\n' for number in range(150))
ARGUMENTS = encode_text({"path": "page.html", "content": PAGE})
TASK = "Please count once, then write page.html, then look at it."
SAID = "I count first, with a command that must not run twice, and say so in a sentence long enough to be cut. "
LAST = "All is done."
COUNT = 'echo "$PPID" >> ran.txt; echo counted'
DIES = 'echo "$PPID" >> ran.txt; echo counted; [ -e dead ] || { touch dead; kill -9 "$PPID"; }'
CUT = read_fault("rst at=call+4000 first=1 over=4000")
STEPS = (
    ("session_opened", 1),
    ("user_said", 1),
    ("reply_received", 1),
    ("tool_intended", 1),
    ("tool_finished", 1),
    ("draft_kept", 1),
    ("reply_received", 2),
    ("tool_intended", 2),
    ("tool_finished", 2),
    ("reply_received", 3),
    ("tool_intended", 3),
    ("tool_intended", 4),
    ("tool_finished", 3),
    ("tool_finished", 4),
    ("reply_received", 4),
    ("turn_ended", 1),
)
"""Every append that must be secured, by a record in it, in order."""
UNKNOWN = "unknown outcome: the process died while it ran; it may or may not have taken effect"


def script(*faults, command=COUNT):
    return Script(
        prompt=TASK,
        steps=(
            Say(SAID),
            Call("shell", {"command": command}),
            WriteFile("page.html", PAGE),
            Call("list_files", {}),
            Call("read_file", {"path": "page.html", "limit": 3}, parallel=True),
            Final(LAST),
        ),
        faults=(*map(read_fault, faults), CUT),
    )


@pytest.fixture(scope="module")
def sim():
    with serving(script()) as server:
        yield server


@pytest.fixture(scope="module")
def nursery():
    with tempfile.TemporaryDirectory() as name:
        nursery = Nursery(Path(name))
        yield nursery
        nursery.close()


@pytest.fixture
def home():
    """A home in memory where there is one: a killed process does not care, and syncing is not what is tested here."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as name:
        yield Path(name)


@pytest.fixture
def desk(home, sim, nursery, request):
    sim.use(script())
    return Desk(home, sim, nursery, getattr(request, "param", "chat"))


ON_EVERY_WIRE = pytest.mark.parametrize("desk", ["chat", "responses", "anthropic"], indirect=True)


def test_the_steps_are_all_there_are(desk):
    assert desk.run(TASK).status == 0
    assert desk.file("page.html") == PAGE
    kinds = Counter()
    steps = []
    for record in desk.records():
        kind = str(record.__struct_config__.tag)
        kinds[kind] += 1
        steps.append((kind, kinds[kind]))
    beside = {"turn_began", "text_received", "arguments_received", "attempt_broken", "ledger_closed"}
    assert sorted(step for step in steps if step[0] not in beside) == sorted(STEPS)
    assert beside <= set(kinds), "each of these goes with one of the steps, or is tried by itself below"


@row(42)
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("step", STEPS, ids=lambda step: f"{step[0]}-{step[1]}")
def test_a_run_that_is_killed_at_a_step_goes_on(desk, step, when):
    judge_death_at(desk, step, when)


@row(42)
@ON_EVERY_WIRE
@pytest.mark.parametrize(
    "point", [("after", "tool_intended", 1), ("before", "tool_finished", 1), ("after", "draft_kept", 1)], ids=str
)
def test_a_run_that_is_killed_at_a_step_goes_on_on_every_wire(desk, point):
    when, *step = point
    judge_death_at(desk, tuple(step), when)


def judge_death_at(desk, step, when):
    dead = desk.killed(TASK, dies=Death(when, *step))
    done = set(STEPS[: STEPS.index(step) + (when == "after")])
    if ("user_said", 1) not in done:
        assert desk.has_nothing_to_go_on_with()
        return
    counts = Counter(str(record.__struct_config__.tag) for record in desk.records())
    assert {kind: counts[kind] for kind, _ in STEPS} == {kind: sum(one == kind for one, _ in done) for kind, _ in STEPS}
    assert desk.file("page.html") in ({None, PAGE} if ("tool_intended", 2) in done else {None})
    was_run = ("tool_finished", 1) in done or step == ("tool_finished", 1)
    assert desk.ran() == [dead.pid] * was_run
    alive = judge_that_it_goes_on(desk)
    again = ("tool_finished", 1) not in done
    assert desk.ran() == [dead.pid] * was_run + [alive.pid] * again, "only the model asks again, Headway does not"
    assert desk.file("page.html") == PAGE


def judge_that_it_goes_on(desk):
    """Go on after a death, and compare what the model is told with what had been written down."""
    records, left = desk.records(), desk.state()
    alive = desk.goes_on()
    told = desk.told
    users = [
        part.text
        for message in told.messages
        if message.role == "user"
        for part in message.parts
        if isinstance(part, Text)
    ]
    assert [words for words in users if words in (TASK, "go on")] == [TASK] * left.turn + ["go on"]
    assert {
        result.call_id: result.text.removeprefix("Error:\n") for message in told.messages for result in message.results
    } == {
        call_id: _with_what_happened(call_id, records)
        for record in records
        if isinstance(record, ReplyReceived)
        for call_id in (call.id for call in record.message.calls)
    }
    said = "".join(message.text for message in told.messages if message.role == "assistant")
    assert said == "".join(message.text for message in left.history if message.role == "assistant")
    if (draft := left.salvage.draft) is not None and worth_continuing(draft, tool_refuses=draft.tool == "shell"):
        assert "continue_draft" in [tool.name for tool in told.tools]
        assert open_text(draft) in users[-1]
    assert desk.every_intent_is_of_another_call()
    return alive


def _with_what_happened(call_id, records):
    """Return what is to be told about a call: its result, that nobody knows, or that it was not run."""
    finished = {record.result.call_id: record.result.text for record in records if isinstance(record, ToolFinished)}
    intended = {record.call.id for record in records if isinstance(record, ToolIntended)}
    return finished.get(call_id) or (UNKNOWN if call_id in intended else NOT_EXECUTED)


@row(42)
@ON_EVERY_WIRE
@pytest.mark.parametrize("place", [1, 20, 57, len(SAID) - 1])
def test_words_that_had_come_when_the_process_was_killed_are_there(desk, place):
    desk.sim.use(script(f"stall at=text+{place} first=1"))
    desk.killed(TASK, dies=Death("after", "text_received", place))
    assert desk.state().partial == SAID[:place]
    alive = judge_that_it_goes_on(desk)
    assert desk.ran() == [alive.pid]
    assert desk.file("page.html") == PAGE


@row(42)
@ON_EVERY_WIRE
@pytest.mark.parametrize("place", [1, 40, 700, 3999])
def test_a_call_that_was_arriving_when_the_process_was_killed_is_a_draft(desk, place):
    desk.sim.use(script(f"stall at=call+{place} first=1 tool=write_file"))
    desk.killed(TASK, dies=Death("after", "arguments_received write_file", place))
    draft = desk.state().salvage.draft
    came = len(draft.arguments) if draft is not None else 0
    assert place - 12 < came <= place, "all of it, but for half an escape"
    assert draft is None or ARGUMENTS.startswith(draft.arguments)
    before = desk.sim.generated
    judge_that_it_goes_on(desk)
    assert len(desk.ran()) == 1
    assert desk.file("page.html") == PAGE
    if place > 400:
        assert desk.sim.generated - before < len(ARGUMENTS) - came + 500, "only the rest was written"


@row(42)
@ON_EVERY_WIRE
@pytest.mark.parametrize("place", [300, 2000, 4500])
def test_the_continuation_of_a_draft_that_was_arriving_when_the_process_was_killed_is_kept(desk, place):
    desk.sim.use(script(f"stall at=call+{place} first=1 tool=continue_draft"))
    held = desk.killed(TASK, dies=Death("after", "arguments_received continue_draft", place))
    assert "as draft" in held.err
    draft = desk.state().salvage.draft
    assert len(draft.arguments) > 3900 + place - 150, "what the cut call brought, and what came since"
    assert ARGUMENTS.startswith(draft.arguments)
    before = desk.sim.generated
    judge_that_it_goes_on(desk)
    assert desk.file("page.html") == PAGE
    assert desk.sim.generated - before < len(ARGUMENTS) - len(draft.arguments) + 500, "only the rest was written"


@row(42)
def test_half_a_command_that_was_arriving_when_the_process_was_killed_is_never_run(desk):
    desk.sim.use(script("stall at=call+30 first=1 tool=shell"))
    desk.killed(TASK, dies=Death("after", "arguments_received shell", 30))
    assert desk.ran() == []
    alive = judge_that_it_goes_on(desk)
    assert desk.ran() == [alive.pid]


@row(42)
@ON_EVERY_WIRE
def test_a_command_that_was_running_when_the_process_was_killed_is_of_unknown_outcome_and_not_run_again(desk):
    desk.sim.use(script(command=DIES))
    dead = desk.killed(TASK)
    assert desk.ran() == [dead.pid]
    desk.sim.use(Script(steps=(Final("I leave it at that."),)))
    judge_that_it_goes_on(desk)
    assert [result.text.removeprefix("Error:\n") for message in desk.told.messages for result in message.results] == [
        UNKNOWN
    ]
    assert desk.ran() == [dead.pid], "a model that does not ask for it again gets nothing run again"


@row(42)
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("old", [None, "What was there before.\n"])
def test_a_file_is_the_old_or_the_new_one_whenever_the_process_is_killed(desk, when, old):
    if old is not None:
        (desk.work / "page.html").write_text(old, encoding="utf-8")
    desk.killed(TASK, dies=Death(when, "replace"))
    assert desk.file("page.html") == (old if when == "before" else PAGE)
    judge_that_it_goes_on(desk)
    assert desk.file("page.html") == PAGE


@row(42)
def test_a_second_death_while_going_on_changes_nothing(desk):
    first = desk.killed(TASK, dies=Death("before", "tool_finished"))
    for step in ("turn_ended", "user_said", "reply_received", "tool_intended"):
        desk.killed("--continue", "go on", dies=Death("after", step))
    assert desk.ran() == [first.pid]
    alive = desk.goes_on()
    assert desk.ran() == [first.pid, alive.pid]
    assert desk.file("page.html") == PAGE
    assert desk.every_intent_is_of_another_call()


@row(42)
def test_a_run_that_is_killed_in_the_middle_of_a_write_to_the_database_goes_on(home, sim, nursery):
    killed = began = 0
    for number in count(2, 7):
        place = home / str(number)
        place.mkdir()
        sim.use(script())
        desk = Desk(place, sim, nursery)
        ended = desk.run(TASK, dies=Death("", "pwrite", number))
        if ended.status == 0:
            break
        assert ended.status == -signal.SIGKILL
        killed += 1
        ran = desk.ran()
        again = desk.run("--continue", "go on")
        if again.status == 2:
            assert "no session" in again.last_line
            assert not began, "a session that was there is there for ever"
            continue
        began += 1
        assert again.status == 0, again.err
        assert desk.file("page.html") == PAGE
        assert desk.every_intent_is_of_another_call()
        assert len(desk.ran()) <= len(ran) + 1
    assert began > 5
    assert killed > began


@row(42)
@pytest.mark.parametrize("sign", ["text", "tool_began", "draft_held", "draft_grows", "tool_ended"])
def test_a_run_that_is_killed_from_outside_goes_on(desk, sign):
    """No part of it is changed: `python -m headway run`, and somebody's `kill -9` when this comes out of it."""
    process = subprocess.Popen(
        [sys.executable, "-m", "headway", *desk.arguments("--json", TASK)],
        env={"PATH": "/usr/bin:/bin", "HEADWAY_HOME": str(desk.home)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert any(json.loads(line)["type"] == sign for line in process.stdout)
        process.kill()
    ran = desk.ran()
    assert desk.file("page.html") in {None, PAGE}
    assert any(words.startswith(desk.state().partial) for words in (SAID, LAST))
    alive = judge_that_it_goes_on(desk)
    assert desk.ran().count(process.pid) <= 1
    assert desk.ran()[len(ran) :].count(alive.pid) <= 1
    assert desk.file("page.html") == PAGE
