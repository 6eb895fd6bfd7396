"""What is decided after each kind of break, read as a table."""

import json

import pytest
from msgspec.structs import replace

from headway.failure import FailureKind as K
from headway.failure import Plan as P
from headway.failure import Scope, Where
from headway.messages import CallFragment, Text, Thinking, ToolCall
from headway.received import Received
from headway.recovery.decisions import Again, FailOver, Finish, GiveUp, RunTools, Why
from headway.recovery.ledger import Ask, Break, Policy, Strategy, Upstream, open_ledger
from headway.recovery.machine import Answered, decide
from support.outcomes import ANSWERS, EOF, LONG, SHAPES, broken, failure

ONE = (Upstream("a"),)
TWO = (Upstream("a"), Upstream("b"))
CUT = failure()
CALL_CUT = failure(K.CALL_CUT, P.ASK_SMALLER_CHUNKS, P.FAILOVER_NOW)
DOWN = failure(K.SERVER_FAULT, P.RETRY_SAME, scope=Scope.PROVIDER)


def run(ledger, *outcomes):
    decisions = []
    for outcome in outcomes:
        ledger, decision = decide(ledger, outcome)
        decisions.append(decision)
    return ledger, decisions


def text(words):
    return Received((Text(words),), EOF)


def cut_call(size, name="write_file"):
    return Received((CallFragment("c1", name, LONG[:size]),), EOF)


def test_an_answer_finishes_and_a_call_is_run():
    _, (decision,) = run(open_ledger(Policy(), ONE), Answered(ANSWERS["answer"]))
    assert decision == Finish()
    _, (decision,) = run(open_ledger(Policy(), ONE), Answered(ANSWERS["call"]))
    assert decision == RunTools(ANSWERS["call"].calls)


def test_a_cut_before_anything_was_said_is_retried_at_once_then_later_then_given_up():
    _, decisions = run(open_ledger(Policy(), ONE), broken(CUT), broken(CUT), broken(CUT))
    assert [type(d) for d in decisions] == [Again, Again, GiveUp]
    assert decisions[0] == Again(Strategy.RETRY_NOW)
    assert decisions[1].strategy is Strategy.RETRY_SOON
    assert 0.5 <= decisions[1].wait_seconds <= 1
    assert decisions[2].why is Why.ATTEMPTS


def test_text_is_continued_and_kept_exactly_once():
    ledger, decisions = run(open_ledger(Policy(), ONE), broken(CUT, text("one ")), broken(CUT, text("two ")))
    assert [d.strategy for d in decisions] == [Strategy.CONTINUE_TEXT, Strategy.CONTINUE_TEXT]
    ledger, decision = decide(ledger, Answered(Received((Thinking("hm", "x"), Text("three")))))
    assert decision == Finish()
    assert ledger.salvage.parts == (Text("one two three"),)


def test_a_continuation_that_gains_nothing_is_tried_differently_and_then_elsewhere():
    ledger, decisions = run(open_ledger(Policy(), TWO), broken(CUT, text("one ")), broken(CUT), broken(CUT))
    assert decisions[0].strategy is Strategy.CONTINUE_TEXT
    assert decisions[1] == FailOver("b", CUT), "cut twice at the same place: that is how a silent filter looks"
    assert ledger.ask is Ask.CONTINUE_TEXT, "what was saved goes along"


def test_an_output_limit_on_text_is_continued_and_the_model_is_told_the_true_cause():
    ledger, (decision,) = run(open_ledger(Policy(), ONE), broken(failure(K.OUTPUT_LIMIT, P.RESUME), text("one ")))
    assert decision == Again(Strategy.CONTINUE_TEXT)
    assert ledger.broke is Break.LIMIT


def test_a_long_cut_call_becomes_a_draft_and_is_continued():
    ledger, (decision,) = run(open_ledger(Policy(), ONE), broken(CALL_CUT, cut_call(1500)))
    assert decision == Again(Strategy.CONTINUE_DRAFT)
    assert ledger.salvage.draft is not None
    assert LONG.startswith(ledger.salvage.draft.arguments)


def test_the_same_call_cut_at_the_same_place_again_goes_to_the_next_provider_with_its_draft():
    ledger, decisions = run(
        open_ledger(Policy(), TWO), broken(CALL_CUT, cut_call(1500)), broken(CALL_CUT, cut_call(1500))
    )
    assert decisions[1] == FailOver("b", CALL_CUT)
    assert ledger.ask is Ask.CONTINUE_DRAFT
    assert ledger.salvage.draft is not None


def test_without_a_fallback_the_model_is_asked_for_smaller_pieces_instead():
    ledger, decisions = run(
        open_ledger(Policy(), ONE), broken(CALL_CUT, cut_call(1500)), broken(CALL_CUT, cut_call(1500))
    )
    assert decisions[1] == Again(Strategy.SMALLER_PIECES)
    assert ledger.ask is Ask.SMALLER_PIECES
    assert 0 < ledger.salvage.piece_size < 1500


@pytest.mark.parametrize("received", [SHAPES["shell call"], SHAPES["short call"]])
def test_half_a_shell_command_or_a_short_call_is_asked_for_again_never_continued(received):
    _, (decision,) = run(open_ledger(Policy(), ONE), broken(CALL_CUT, received))
    assert decision == Again(Strategy.SMALLER_PIECES)


def test_drafts_can_be_switched_off():
    policy = Policy(forbidden=frozenset({Strategy.CONTINUE_DRAFT}))
    _, (decision,) = run(open_ledger(policy, ONE), broken(CALL_CUT, cut_call(1500)))
    assert decision == Again(Strategy.SMALLER_PIECES)


def test_whole_calls_before_a_cut_are_run_once_and_the_cut_one_is_asked_for_after_their_results():
    ledger, (decision,) = run(open_ledger(Policy(), ONE), broken(CALL_CUT, SHAPES["whole call, cut call"]))
    assert decision == RunTools((ToolCall("c0", "read_file", "{}"),))
    following = open_ledger(Policy(), ONE, previous=ledger)
    assert following.ask is Ask.CONTINUE_DRAFT
    assert following.salvage.calls == (), "a call that ran is not run again"


def test_continue_after_giving_up_starts_with_the_draft_and_the_sizes():
    outcomes = [broken(CALL_CUT, cut_call(1500))] * 3 + [broken(CALL_CUT)] * 3
    ledger, decisions = run(open_ledger(Policy(), ONE), *outcomes)
    assert isinstance(decisions[-1], GiveUp)
    following = open_ledger(Policy(), ONE, previous=ledger)
    assert following.salvage.draft == ledger.salvage.draft
    assert following.salvage.piece_size == ledger.salvage.piece_size
    assert following.ask is not Ask.PLAIN


def test_a_filter_goes_to_the_next_provider_at_first_sight_and_without_one_ends_without_a_retry():
    filtered = failure(K.CONTENT_FILTERED, P.FAILOVER_NOW, scope=Scope.MODEL)
    ledger, (decision,) = run(open_ledger(Policy(), TWO), broken(filtered, text("some ")))
    assert decision == FailOver("b", filtered)
    assert ledger.ask is Ask.CONTINUE_TEXT
    _, (decision,) = run(open_ledger(Policy(), ONE), broken(filtered, text("some ")))
    assert decision == GiveUp(filtered, Why.SPENT)


def test_what_a_refusal_withdrew_is_not_carried_over():
    refused = failure(K.REFUSED, P.FAILOVER_NOW, scope=Scope.MODEL)
    ledger, (decision,) = run(open_ledger(Policy(), TWO), broken(refused, text("some ")))
    assert decision == FailOver("b", refused)
    assert (ledger.ask, ledger.salvage.text) == (Ask.PLAIN, "")


def test_everything_down_costs_at_most_three_requests_an_upstream():
    ledger, asked, requests = open_ledger(Policy(), TWO), [], 0
    decision = None
    while not isinstance(decision, GiveUp):
        asked.append(ledger.upstream.name)
        ledger, decision = decide(ledger, broken(DOWN))
        requests += 1
    assert (asked.count("a"), asked.count("b")) == (3, 3)
    assert ledger.tried == ("a", "b")


def test_a_bad_key_is_never_used_again_and_every_key_gets_its_try():
    bad = failure(K.BAD_KEY, P.ROTATE_CREDENTIAL, scope=Scope.KEY)
    keys = 9
    _, decisions = run(open_ledger(Policy(), (Upstream("a", keys=keys), Upstream("b"))), *[broken(bad)] * keys)
    assert decisions[:-1] == [Again(Strategy.ROTATE_KEY)] * (keys - 1)
    assert decisions[-1] == FailOver("b", bad)


def test_a_rate_limit_takes_the_next_key_first_then_waits_as_told():
    limited = failure(K.RATE_LIMITED, P.RETRY_SAME, scope=Scope.KEY, wait_seconds=7)
    _, decisions = run(open_ledger(Policy(), (Upstream("a", keys=2),)), broken(limited), broken(limited))
    assert decisions == [Again(Strategy.ROTATE_KEY), Again(Strategy.RETRY_SOON, 7.0)]


@pytest.mark.parametrize(("upstreams", "kind"), [(ONE, GiveUp), (TWO, FailOver)])
def test_a_wait_beyond_reason_is_not_waited_for(upstreams, kind):
    limited = failure(K.RATE_LIMITED, P.RETRY_SAME, scope=Scope.KEY, wait_seconds=86_400)
    _, (decision,) = run(open_ledger(Policy(), upstreams), broken(limited))
    assert isinstance(decision, kind)


def test_a_refused_history_is_healed_then_healed_harder_then_given_elsewhere():
    refused = failure(K.HISTORY_REFUSED, P.SANITISE_HISTORY, scope=Scope.HISTORY)
    _, decisions = run(open_ledger(Policy(), TWO), *[broken(refused)] * 3)
    assert [getattr(d, "strategy", None) for d in decisions] == [Strategy.HEAL, Strategy.HEAL_HARDER, None]
    assert isinstance(decisions[2], FailOver)


def test_only_a_real_overflow_compacts():
    full = failure(K.CONTEXT_FULL, P.COMPRESS_CONTEXT, scope=Scope.HISTORY)
    _, (decision,) = run(open_ledger(Policy(), ONE), broken(full))
    assert decision.strategy is Strategy.COMPACT
    _, (decision,) = run(open_ledger(Policy(), ONE), broken(CUT))
    assert decision.strategy is not Strategy.COMPACT


def test_a_limit_that_was_spent_on_thinking_is_nudged_not_repeated():
    thought = Received((Thinking("hm", "x"),))
    ledger, (decision,) = run(open_ledger(Policy(), ONE), broken(failure(K.OUTPUT_LIMIT, P.RESUME), thought))
    assert decision.strategy is Strategy.NUDGE
    assert (ledger.ask, ledger.broke) == (Ask.NUDGE, Break.LIMIT)


def test_a_limit_inside_a_call_that_may_not_be_continued_is_met_by_smaller_pieces():
    limit = failure(K.OUTPUT_LIMIT, P.ASK_SMALLER_CHUNKS)
    _, (decision,) = run(open_ledger(Policy(), ONE), broken(limit, cut_call(1500, "shell")))
    assert decision.strategy is Strategy.SMALLER_PIECES


def test_an_empty_reply_is_nudged_not_repeated():
    empty = failure(K.EMPTY_REPLY, P.RETRY_SAME, scope=Scope.MODEL)
    ledger, (decision,) = run(open_ledger(Policy(), ONE), broken(empty))
    assert decision.strategy is Strategy.NUDGE
    assert ledger.ask is Ask.NUDGE


def test_a_text_that_has_no_more_to_say_when_asked_twice_is_complete():
    empty = failure(K.EMPTY_REPLY, P.RETRY_SAME, scope=Scope.MODEL)
    ledger, decisions = run(open_ledger(Policy(), ONE), broken(CUT, text("all of it")), broken(empty), broken(empty))
    assert [getattr(d, "strategy", d) for d in decisions] == [Strategy.CONTINUE_TEXT, Strategy.RETRY_SOON, Finish()]
    assert ledger.salvage.text == "all of it"


def test_the_deadline_ends_the_turn_with_what_was_saved():
    ledger, (decision,) = run(open_ledger(Policy(turn_seconds=10), TWO), broken(CUT, text("some "), took_seconds=11))
    assert decision == GiveUp(CUT, Why.DEADLINE)
    assert ledger.salvage.text == "some "


def test_a_retry_while_continuing_goes_on_continuing():
    ledger, decisions = run(open_ledger(Policy(), ONE), broken(CUT, text("one ")), broken(DOWN))
    assert decisions[1].strategy is Strategy.RETRY_NOW
    assert ledger.ask is Ask.CONTINUE_TEXT
    assert ledger.salvage.text == "one "


def test_cancelled_is_an_end_whatever_is_left():
    cancelled = failure(K.CANCELLED, P.GIVE_UP, scope=Scope.REQUEST)
    _, (decision,) = run(open_ledger(Policy(), TWO), broken(cancelled, SHAPES["whole call, cut call"]))
    assert decision == GiveUp(cancelled, Why.CANCELLED)


def test_kinds_that_stay_home_do_not_fail_over():
    policy = Policy(stays_home=frozenset({K.CONTENT_FILTERED}))
    filtered = failure(K.CONTENT_FILTERED, P.FAILOVER_NOW, scope=Scope.MODEL)
    _, (decision,) = run(open_ledger(policy, TWO), broken(filtered))
    assert isinstance(decision, GiveUp)


def test_a_draft_that_grows_goes_on_beyond_the_attempts():
    ledger = open_ledger(Policy(attempts=2), ONE)
    for size in range(600, 1800, 100):
        ledger, decision = decide(ledger, broken(CALL_CUT, cut_call(size)))
        assert decision == Again(Strategy.CONTINUE_DRAFT), size


def test_a_share_of_the_time_is_kept_for_those_behind():
    policy = Policy(turn_seconds=90)
    _, decisions = run(open_ledger(policy, TWO), broken(DOWN, took_seconds=20), broken(DOWN, took_seconds=25))
    assert [type(d) for d in decisions] == [Again, FailOver], "half of the turn is spent"
    _, decisions = run(open_ledger(policy, ONE), broken(DOWN, took_seconds=20), broken(DOWN, took_seconds=25))
    assert [type(d) for d in decisions] == [Again, Again], "nobody is behind: all of it may be spent here"


def test_nobody_is_waited_for_in_the_time_of_those_behind():
    crowded = failure(K.RATE_LIMITED, P.RETRY_SAME, scope=Scope.PROVIDER, wait_seconds=40)
    _, (decision,) = run(open_ledger(Policy(turn_seconds=60), TWO), broken(crowded))
    assert isinstance(decision, FailOver)
    _, (decision,) = run(open_ledger(Policy(turn_seconds=60), ONE), broken(crowded))
    assert decision == Again(Strategy.RETRY_SOON, 40)


@pytest.mark.parametrize(("spent", "patience"), [(0, 30), (20, 10), (29, 1), (30, 20), (75, 5)])
def test_the_patience_with_one_upstream_leaves_time_for_the_others(spent, patience):
    """A third of the turn, as long as there is a third for each; then equal parts of what is left."""
    ledger = open_ledger(Policy(turn_seconds=90), (*TWO, Upstream("c")))
    assert replace(ledger, seconds_left=90.0 - spent).patience_seconds == patience


def test_who_is_on_trial_is_asked_once_if_there_is_somebody_else():
    trial = Upstream("a", on_trial=True)
    _, (decision,) = run(open_ledger(Policy(), (trial, Upstream("b"))), broken(DOWN))
    assert decision == FailOver("b", DOWN)
    _, (decision,) = run(open_ledger(Policy(), (trial,)), broken(DOWN))
    assert isinstance(decision, Again)


@pytest.mark.parametrize("kind", [K.PARAMETER_REFUSED, K.HISTORY_REFUSED, K.CONTEXT_FULL, K.BAD_KEY])
def test_what_is_saved_is_never_asked_for_again_from_the_beginning(kind):
    plan = {K.BAD_KEY: P.ROTATE_CREDENTIAL, K.CONTEXT_FULL: P.COMPRESS_CONTEXT}.get(kind, P.SANITISE_HISTORY)
    refused = failure(kind, plan, scope=Scope.KEY if kind is K.BAD_KEY else Scope.REQUEST)
    ledger = open_ledger(Policy(), (Upstream("a", keys=2, reattaches=True),))
    ledger, decision = decide(ledger, broken(CUT, replace(text("one "), id="resp_1")))
    assert (decision.strategy, ledger.ask) == (Strategy.REATTACH, Ask.PLAIN), "the server goes on by itself"
    ledger, decision = decide(ledger, broken(refused))
    assert isinstance(decision, Again)
    assert ledger.ask is Ask.CONTINUE_TEXT


@pytest.mark.parametrize("again", [LONG, LONG.replace(", ", ","), json.dumps(json.loads(LONG), indent=1)])
def test_a_draft_whose_call_came_whole_is_not_open_any_more_although_the_next_call_was_cut(again):
    ledger, _ = decide(open_ledger(Policy(), ONE), broken(CALL_CUT, cut_call(600)))
    whole, other = ToolCall("c2", "write_file", again), CallFragment("c3", "write_file", '{"path": "b')
    ledger, decision = decide(ledger, broken(CUT, Received((whole, other), EOF)))
    assert decision == RunTools((whole,))
    assert ledger.ask is not Ask.CONTINUE_DRAFT, "it would be run twice"


def test_a_draft_stays_open_beside_a_whole_call_that_is_another():
    ledger, _ = decide(open_ledger(Policy(), ONE), broken(CALL_CUT, cut_call(600)))
    other = ToolCall("c2", "write_file", '{"path": "index.html", "content": "<p>something else</p>"}')
    ledger, decision = decide(ledger, broken(CUT, Received((other, CallFragment("c3", "write_file", "{")), EOF)))
    assert decision == RunTools((other,))
    assert ledger.ask is Ask.CONTINUE_DRAFT


def test_a_draft_that_was_shown_in_vain_is_not_shown_again():
    ledger, _ = decide(open_ledger(Policy(), TWO), broken(CALL_CUT, cut_call(600)))
    for _ in range(3):
        ledger, decision = decide(ledger, broken(CALL_CUT, cut_call(500)))
        assert decision != Again(Strategy.CONTINUE_DRAFT)


def test_a_reply_that_ended_has_nothing_more_on_the_server():
    upstreams = (Upstream("a", reattaches=True),)
    received = replace(cut_call(600), id="resp_1")
    for where, strategy in ((Where.STREAM_EOF, Strategy.REATTACH), (Where.FINISH_REASON, Strategy.CONTINUE_DRAFT)):
        _, decision = decide(open_ledger(Policy(), upstreams), broken(replace(CALL_CUT, where=where), received))
        assert decision == Again(strategy)


@pytest.mark.parametrize("received", [text("some words "), cut_call(600)])
def test_nobody_is_waited_for_longer_than_the_turn_lasts_whatever_was_received(received):
    limited = failure(K.RATE_LIMITED, P.RETRY_SAME, scope=Scope.KEY, wait_seconds=100)
    _, (decision,) = run(open_ledger(Policy(turn_seconds=90), ONE), broken(limited, received))
    assert isinstance(decision, GiveUp)
    _, (decision,) = run(open_ledger(Policy(turn_seconds=90), TWO), broken(limited, received))
    assert isinstance(decision, FailOver)
    _, (decision,) = run(open_ledger(Policy(), ONE), broken(limited, received))
    assert decision.wait_seconds == 100
