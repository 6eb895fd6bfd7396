"""Streams that end oddly or cannot be read: taken for whole only when they are, asked for again but not for ever."""

from typing import ClassVar

import pytest

from headway.agent.happenings import Done, GaveUp
from headway.events import StreamEnded
from headway.failure import FailureKind
from headway.recovery.decisions import Why
from headway.sim.fault import Fault
from headway.sim.frames import split_frames
from headway.sim.play import Play, altered, event_of
from headway.sim.scene import Scene
from headway.sim.script import Final, Script, WriteFile
from headway.turn import notices
from support.lab import asked, in_lab
from support.rows import row
from support.turns import TALK, WIRES, WORDS, broken, effects, heard, kinds, next_turn_works, requests

PAGE = "".join(f"<p>Line {number}: “quoted” \\ é 😀</p>\n" for number in range(120))
WRITES = Script(prompt="Write page.html.", steps=(WriteFile("page.html", PAGE), Final("The page is ready.")))


class _MarkAlone(Fault, frozen=True, kw_only=True):
    """Close every block and send the wire's last mark, without the frame that says why the reply stopped."""

    needs_stream: ClassVar[bool] = True

    def strike(self, scene: Scene) -> Play | None:
        ends = (isinstance(event_of(beat), StreamEnded) for beat in scene.play)
        return [altered(beat, _without_reason) if end else beat for beat, end in zip(scene.play, ends, strict=True)]


def _without_reason(data: bytes) -> bytes:
    return b"".join(frame for frame in split_frames(data) if b'"type":"message_delta"' not in frame)


UNMARKED: list[tuple[str, str | Fault]] = [
    ("chat", "done_without_finish"),
    ("chat", "missing_finish"),
    ("chat", "finish_before_usage"),
    ("chat", "early_finish"),
    ("chat", "no_usage"),
    ("anthropic", "finish_before_usage"),
    ("anthropic", _MarkAlone()),
    ("anthropic", "no_usage"),
    ("responses", "no_usage"),
]
EACH_UNMARKED = pytest.mark.parametrize(
    ("wire", "fault"),
    [pytest.param(wire, f, id=f"{wire}-{f if isinstance(f, str) else 'mark_alone'}") for wire, f in UNMARKED],
)


@row(27)
@EACH_UNMARKED
def test_an_end_without_a_finish_reason_but_with_the_last_mark_is_the_end(tmp_path, wire, fault):
    async def work(lab):
        endpoint = await lab.provider(broken(TALK, fault), wire)
        assert await asked(lab, TALK, endpoint) == Done(WORDS)
        assert lab.sims[0].log[0].faults, "the fault did strike"
        assert not lab.told(notices.Broke)
        assert requests(lab) == [1]
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(27)
@EACH_UNMARKED
def test_a_whole_call_without_a_finish_reason_runs_once(tmp_path, wire, fault):
    async def work(lab):
        endpoint = await lab.provider(broken(WRITES, fault), wire)
        assert await asked(lab, WRITES, endpoint) == Done("The page is ready.")
        assert lab.file("page.html") == PAGE
        assert effects(lab) == ["write_file"]
        assert requests(lab) == [2]
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(27)
@pytest.mark.parametrize("fault", ["done_without_finish", "missing_finish"])
def test_the_last_mark_does_not_make_half_a_call_whole(tmp_path, fault):
    """`[DONE]` or a usage chunk behind half of the arguments: the producer died, whatever was sent after it."""

    async def work(lab):
        endpoint = await lab.provider(broken(WRITES, "false_finish at=call+2000 first=1", f"{fault} first=1"), "chat")
        assert await asked(lab, WRITES, endpoint) == Done("The page is ready.")
        assert kinds(lab) == ["call_cut"]
        assert lab.file("page.html") == PAGE
        assert effects(lab) == ["write_file"]
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(27)
@pytest.mark.parametrize("wire", ["responses", "anthropic"])
def test_a_mark_of_another_wire_proves_nothing_and_half_a_text_is_gone_on_with(tmp_path, wire):
    foreign = "garbage_frame at=1000 first=1 text='data: [DONE]\n\n'"

    async def work(lab):
        endpoint = await lab.provider(broken(TALK, "fin at=1000 first=1", foreign), wire)
        assert await asked(lab, TALK, endpoint) == Done(WORDS)
        assert kinds(lab) == ["stream_cut"]
        assert heard(lab) == WORDS
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


UNREADABLE = [
    "fin at=headers",
    "fin at=opened",
    "garbage_frame",
    "broken_json",
    "bad_utf8",
    "cut_utf8 at=50%",
    "truncated_chunk",
    "html_instead",
    "garbage_frame text='\x00\x01\x02data\x00: {{{\n\n'",
    "garbage_frame text='event: \xff\ndata: [\n\n'",
]
EACH_UNREADABLE = pytest.mark.parametrize("fault", UNREADABLE)


@row(28)
@WIRES
@EACH_UNREADABLE
def test_a_stream_that_is_empty_or_cannot_be_read_is_asked_for_again(tmp_path, wire, fault):
    async def work(lab):
        endpoint = await lab.provider(broken(TALK, f"{fault} first=1"), wire)
        assert await asked(lab, TALK, endpoint) == Done(WORDS)
        assert heard(lab) == WORDS, "nothing is lost and nothing is said twice"
        assert len(kinds(lab)) <= 1
        assert requests(lab) == [1 + len(kinds(lab))]
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(28)
@WIRES
@EACH_UNREADABLE
def test_a_call_in_a_stream_that_cannot_be_read_runs_once_and_whole(tmp_path, wire, fault):
    async def work(lab):
        endpoint = await lab.provider(broken(WRITES, f"{fault} first=1"), wire)
        assert await asked(lab, WRITES, endpoint) == Done("The page is ready.")
        assert lab.file("page.html") == PAGE
        assert effects(lab) == ["write_file"]
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(28)
@WIRES
@pytest.mark.parametrize("fault", ["fin at=headers", "fin at=opened", "garbage_frame at=opened", "html_instead"])
def test_a_stream_that_can_never_be_read_is_a_typed_failure_after_three_requests(tmp_path, wire, fault):
    async def work(lab):
        endpoint = await lab.provider(broken(TALK, fault), wire)
        ending = await asked(lab, TALK, endpoint)
        assert isinstance(ending, GaveUp)
        assert ending.failure.kind in {FailureKind.STREAM_CUT, FailureKind.NOT_A_STREAM}
        assert ending.failure.reason
        assert ending.why is Why.ATTEMPTS
        assert requests(lab) == [3]
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(28)
@WIRES
@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_frames_and_characters_split_anywhere_are_read_as_if_they_came_whole(tmp_path, wire, size):
    async def work(lab):
        endpoint = await lab.provider(broken(WRITES, f"fragments bytes={size}"), wire)
        assert await asked(lab, WRITES, endpoint) == Done("The page is ready.")
        assert not lab.told(notices.Broke)
        assert lab.file("page.html") == PAGE
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)
