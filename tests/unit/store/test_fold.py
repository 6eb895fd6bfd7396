"""A journal may stop anywhere: what it comes to is a session that goes on, with everything that was received, once."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from headway.events import Usage
from headway.failure import FailureKind
from headway.history.edits import Repair, RepairKind
from headway.history.invariants import violations
from headway.history.project import project
from headway.messages import CallFragment, Message, ModelRequest, ToolCall, assistant, user
from headway.recovery.drafts import CONTINUE_DRAFT, draft_of
from headway.recovery.ledger import Ask, Break, Policy, Upstream, open_ledger
from headway.store import Folding, fold
from headway.store import records as r
from support.histories import EVERY_DIALECT, broken_histories
from support.journals import CALL, CUT, DRAFT, EVERY_KIND, OPENED, RESULT, USAGE, entries
from support.sessions import sessions

dialects = st.sampled_from(sorted(EVERY_DIALECT)).map(EVERY_DIALECT.get)
UPSTREAMS = (Upstream("main"),)
UNKNOWN = "unknown outcome: the process died while it ran; it may or may not have taken effect"


def state_of(*records):
    return fold(entries((OPENED, *records)))


def texts(messages):
    return [part.text for message in messages for part in (*message.parts,) if hasattr(part, "text")]


def marks(records):
    """Return the marks of everything that must be in the history: what was said, what was received, what came back."""
    for record in records:
        match record:
            case r.UserSaid(message=message):
                yield message.text
            case r.TextReceived(text=text):
                yield text
            case r.ToolFinished(result=result):
                yield result.text


@given(sessions())
def test_any_prefix_is_a_session_that_goes_on_with_everything_received_once(records):
    folding = Folding()
    for number, entry in enumerate(entries(records), 1):
        folding.add(entry)
        state, prefix = folding.state, records[:number]
        assert state == fold(entries(prefix)), "looking at the state changes nothing"
        said = "".join(texts(state.history))
        assert all(said.count(mark) == 1 for mark in marks(prefix))
        assert state.last == number


@given(sessions(), dialects)
def test_any_prefix_can_be_sent_to_anybody(records, dialect):
    for number in range(1, len(records) + 1):
        history = fold(entries(records[:number])).history
        assert not violations(project(ModelRequest("m", history), dialect).request, dialect)


@given(sessions())
def test_a_call_begun_without_a_result_is_unknown_and_answered_so_once(records):
    for number in range(1, len(records) + 1):
        begun, known = Counter(), Counter()
        for record in records[:number]:
            begun += Counter([record.call.arguments] if isinstance(record, r.ToolIntended) else [])
            known += Counter(["known"] if isinstance(record, r.ToolFinished) else [])
        state = fold(entries(records[:number]))
        unknown = [text for text in texts(state.history) if text.startswith("unknown outcome: ")]
        assert len(unknown) == begun.total() - known.total()
        assert not {call.arguments for call in state.waiting} & set(begun)


@given(sessions())
def test_the_ledger_after_any_prefix_offers_what_is_open(records):
    state = fold(entries(records))
    ledger = state.ledger(Policy(), UPSTREAMS)
    draft = state.salvage.draft
    assert ledger.salvage.draft == draft
    assert ledger.salvage.parts == ()
    if draft is None:
        assert ledger.ask is Ask.PLAIN
    else:
        assert ledger.ask is (Ask.SMALLER_PIECES if draft.tool == "shell" else Ask.CONTINUE_DRAFT)


def test_the_words_of_an_unfinished_reply_are_there_once():
    state = state_of(r.UserSaid(user("go")), r.TurnBegan(1), r.TextReceived(1, "Once "), r.TextReceived(1, "upon"))
    assert state.partial == "Once upon"
    assert state.is_open
    assert state.messages == (user("go"),)
    assert state.history == (user("go"), assistant("Once upon"))


def test_a_reply_takes_the_place_of_its_deltas():
    reply = r.ReplyReceived(1, assistant("Once upon a time"))
    state = state_of(r.TurnBegan(1), r.TextReceived(1, "Once upon"), reply, r.TurnEnded(1, r.How.ANSWERED))
    assert state.history == (assistant("Once upon a time"),)
    assert not state.is_open


def test_a_turn_that_failed_leaves_its_words_before_what_the_user_says_next():
    ended = r.TurnEnded(1, r.How.FAILED, CUT)
    state = state_of(r.TurnBegan(1), r.TextReceived(1, "Once"), ended, r.UserSaid(user("continue")))
    assert state.history == (assistant("Once"), user("continue"))
    assert state.ended == ended


def test_withdrawn_words_are_gone():
    state = state_of(r.TurnBegan(1), r.TextReceived(1, "I hate"), r.TextWithdrawn(1), r.TextReceived(1, "No."))
    assert state.partial == "No."


def test_a_call_found_begun_is_reported_and_not_waiting():
    reply = r.ReplyReceived(1, Message("assistant", (CALL, replace(CALL, id="call_2"))))
    state = state_of(r.TurnBegan(1), reply, r.ToolIntended(1, CALL))
    assert state.unknown == (CALL,)
    assert [call.id for call in state.waiting] == ["call_2"]
    assert state.history[-1].results[0].text == UNKNOWN
    assert state.history[-1].results[0].is_error
    settled = state_of(r.TurnBegan(1), reply, r.ToolIntended(1, CALL), r.ToolUnknown(1, "call_1"))
    assert settled.unknown == ()
    assert settled.history == state.history


def test_the_unknown_outcome_is_what_the_model_is_sent():
    reply = r.ReplyReceived(1, Message("assistant", (CALL,)))
    state = state_of(r.UserSaid(user("go")), r.TurnBegan(1), reply, r.ToolIntended(1, CALL))
    for dialect in EVERY_DIALECT.values():
        sent = project(ModelRequest("m", state.history), dialect).request.messages
        results = [result for message in sent for result in message.results]
        assert [(result.text, result.is_error) for result in results] == [(UNKNOWN, True)]


def test_a_call_that_was_never_begun_waits_until_the_user_wants_something_else():
    reply = r.ReplyReceived(1, Message("assistant", (CALL,)))
    died = r.TurnEnded(1, r.How.DIED)
    assert state_of(r.TurnBegan(1), reply, died).waiting == (CALL,)
    assert state_of(r.TurnBegan(1), reply, died, r.UserSaid(user("leave it"))).waiting == ()
    assert state_of(r.TurnBegan(1), reply, r.TurnEnded(1, r.How.CANCELLED)).waiting == ()


def test_ids_that_come_again_are_told_apart_by_their_order():
    again = ToolCall("call_1", "read", '{"path":"b"}')
    state = state_of(
        r.TurnBegan(1),
        r.ReplyReceived(1, Message("assistant", (CALL,))),
        r.ToolIntended(1, CALL),
        r.ToolFinished(1, RESULT),
        r.ReplyReceived(1, Message("assistant", (again,))),
        r.ToolIntended(1, again),
    )
    assert state.unknown == (again,)


def test_arguments_that_were_arriving_when_the_process_died_are_a_draft():
    text = DRAFT.arguments
    pieces = [r.ArgumentsReceived(1, 0, "call_d", "write_file", piece) for piece in (text[:100], text[100:])]
    state = state_of(r.TurnBegan(1), *pieces)
    assert state.salvage.draft == draft_of(CallFragment("call_d", "write_file", text))
    assert state.salvage.cut == (len(text),)
    assert state.ledger(Policy(), UPSTREAMS).ask is Ask.CONTINUE_DRAFT
    assert state_of(r.TurnBegan(1), *pieces, r.TurnEnded(1, r.How.DIED)).salvage == state.salvage


def test_a_continuation_that_was_arriving_when_the_process_died_extends_its_draft():
    rest = f'{{"draft":"{DRAFT.id}","offset":{DRAFT.offset},"rest":"and so on'
    arriving = r.ArgumentsReceived(2, 0, "call_e", CONTINUE_DRAFT.name, rest)
    draft = state_of(r.TurnBegan(1), r.DraftKept(1, DRAFT), r.TurnBegan(2), arriving).salvage.draft
    assert (draft.id, draft.offset) == (DRAFT.id, DRAFT.offset + len("and so on"))


def test_half_a_shell_command_is_asked_for_again_and_never_gone_on_from():
    arguments = '{"command":"' + "echo x; " * 100
    state = state_of(r.TurnBegan(1), r.ArgumentsReceived(1, 0, "call_s", "shell", arguments))
    assert state.ledger(Policy(), UPSTREAMS).ask is Ask.SMALLER_PIECES


def test_arguments_of_an_attempt_that_broke_are_a_draft_before_it_is_written_down_as_one():
    arriving = r.ArgumentsReceived(1, 0, "call_d", "write_file", DRAFT.arguments)
    draft = state_of(r.TurnBegan(1), arriving, r.AttemptBroken(1, "main", CUT)).salvage.draft
    assert draft == DRAFT
    again = r.ArgumentsReceived(1, 0, "call_e", "write_file", '{"path":"a')
    assert state_of(r.TurnBegan(1), arriving, r.AttemptBroken(1, "main", CUT), again).salvage.draft == DRAFT


def test_arguments_of_a_reply_that_is_taken_up_on_the_server_go_on_where_they_were():
    half = len(DRAFT.arguments) // 2
    first, rest = (
        r.ArgumentsReceived(1, 0, "call_d", "write_file", text)
        for text in (DRAFT.arguments[:half], DRAFT.arguments[half:])
    )
    draft = state_of(r.TurnBegan(1), first, r.AttemptBroken(1, "main", CUT, goes_on=True), rest).salvage.draft
    assert draft == DRAFT


def test_what_a_provider_took_back_leaves_no_draft():
    arriving = r.ArgumentsReceived(1, 0, "call_d", "write_file", DRAFT.arguments)
    refused = replace(CUT, kind=FailureKind.REFUSED)
    assert state_of(r.TurnBegan(1), arriving, r.AttemptBroken(1, "main", refused)).salvage.draft is None
    assert state_of(r.TurnBegan(1), r.DraftKept(1, DRAFT), r.TextWithdrawn(1)).salvage.draft is None


def test_continue_after_a_give_up_starts_with_the_draft_and_the_advice():
    earlier = replace(
        open_ledger(Policy(), UPSTREAMS),
        ask=Ask.CONTINUE_DRAFT,
        broke=Break.LIMIT,
        salvage=replace(open_ledger(Policy(), UPSTREAMS).salvage, draft=DRAFT, survived=(700,), cut=(1000,)),
    )
    state = state_of(r.TurnBegan(1), r.ledger_closed(1, earlier), r.TurnEnded(1, r.How.FAILED, CUT))
    assert state.ledger(Policy(), UPSTREAMS) == open_ledger(Policy(), UPSTREAMS, earlier)


def test_a_whole_reply_closes_a_draft_unless_its_ledger_says_otherwise():
    reply = r.ReplyReceived(1, Message("assistant", (CALL,)))
    assert state_of(r.DraftKept(1, DRAFT), reply).salvage.draft is None
    assert state_of(r.DraftKept(1, DRAFT), reply, r.LedgerClosed(1, draft=DRAFT)).salvage.draft == DRAFT


def test_what_was_spent_saved_and_wasted_adds_up():
    broken = r.AttemptBroken(1, "main", CUT, received=900, kept=850, usage=Usage(10, 5))
    state = state_of(
        broken, broken, r.ReplyReceived(1, assistant("a"), usage=USAGE), r.ReplyReceived(1, assistant("b"))
    )
    totals = state.totals
    assert (totals.replies, totals.usage) == (2, USAGE)
    assert (totals.broken, totals.broken_usage) == (2, Usage(20, 10))
    assert (totals.salvaged, totals.wasted) == (1700, 100)


def test_a_summary_stands_for_what_was_before_it_and_nothing_else():
    said = [r.UserSaid(user(f"{number}")) for number in range(5)]
    state = state_of(*said, r.Compacted(user("in short"), 4), r.UserSaid(user("5")))
    assert [message.text for message in state.history] == ["in short", "3", "4", "5"]
    again = state_of(*said, r.Compacted(user("in short"), 4), r.Compacted(user("shorter"), 5))
    assert [message.text for message in again.history] == ["shorter", "4"]


def test_a_summary_keeps_the_task_before_it_and_the_rest_of_a_record_behind_it():
    imported = r.Imported(tuple(user(f"{number}") for number in range(4)))
    compacted = r.Compacted(user("in short"), 2, (user("the task"),), (user("3"),), USAGE)
    state = state_of(imported, r.UserSaid(user("4")), compacted, r.UserSaid(user("5")))
    assert [message.text for message in state.history] == ["the task", "in short", "3", "4", "5"]
    assert state.places == (2, 2, 2, 3, 5)
    assert state.summary_at == 1
    assert state.totals.usage == USAGE, "what the summary cost is not forgotten"


def test_a_copy_knows_where_it_is_from_and_what_was_running_there():
    reply = r.ReplyReceived(1, Message("assistant", (CALL,)))
    copied = (r.TurnBegan(1), reply, r.ToolIntended(1, CALL), r.TextReceived(1, "half"))
    state = state_of(*copied, r.Forked("s2", "s1", 5))
    assert (state.id, state.origin, state.is_open) == ("s2", "s1", False)
    assert "was copied while it ran" in state.history[-2].results[0].text
    assert state.history[-1] == assistant("half")


def test_a_repair_is_reported_once():
    repair = Repair(RepairKind.CALL_DROPPED, 3, "call_1", "dropped the call")
    other = replace(repair, index=4)
    assert state_of().unreported((repair, repair)) == (repair,)
    assert state_of(r.Repaired((repair,))).unreported((repair, other)) == (other,)


def test_what_cannot_be_read_is_counted_and_passed_over():
    state = state_of(r.UserSaid(user("a")), r.Unreadable("telepathy", "{}"), r.UserSaid(user("b")))
    assert (len(state.history), state.unreadable) == (2, 1)


@pytest.mark.parametrize("record", EVERY_KIND, ids=lambda record: type(record).__name__)
def test_a_record_where_it_has_no_business_does_no_harm(record):
    state = fold(entries((record, record, OPENED)))
    for dialect in EVERY_DIALECT.values():
        assert not violations(project(ModelRequest("m", state.history), dialect).request, dialect)


@given(broken_histories, dialects)
def test_a_poisoned_history_loads_as_it_is_and_is_healed_in_what_is_sent(messages, dialect):
    state = state_of(r.Imported(messages), r.UserSaid(user("go on")))
    assert state.history == (*messages, user("go on"))
    assert not violations(project(ModelRequest("m", state.history), dialect).request, dialect)


def test_a_reply_of_no_words_is_no_message():
    received = (r.TurnBegan(1), r.TextReceived(1, ""))
    assert state_of(*received).history == state_of(*received, r.TurnEnded(1, r.How.FAILED)).history == ()
