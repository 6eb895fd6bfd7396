"""What is summed up and what stays, when a conversation has outgrown its model."""

from hypothesis import given
from hypothesis import strategies as st

from headway.agent.compaction import part, record_of, room_for
from headway.failure import Failure, FailureKind, Plan, Scope
from headway.history.exchanges import cuts, size_of
from headway.messages import Image, Message, ModelRequest, Text, Thinking, ToolCall, ToolResult, assistant, user
from support.histories import broken_histories, sound_histories

TASK = user("Please port the parser to Rust.")


def read(number, size=1_000):
    called = Message("assistant", (Thinking("hm", "chat"), ToolCall(f"c{number}", "read", f'{{"path":"f{number}"}}')))
    return called, Message("user", (ToolResult(f"c{number}", (Text(f"<{number}>" + "x" * size),)),))


def history(count, size=1_000):
    return (TASK, *(one for number in range(count) for one in read(number, size)))


def test_the_latest_exchanges_stay_and_the_task_stays():
    messages = history(20)
    parting = part(messages, size_of(messages))
    assert parting is not None
    assert parting.words == (TASK,)
    assert parting.old == messages[: parting.at]
    assert size_of(messages[parting.at :]) <= size_of(messages) * 0.25
    assert parting.at in cuts(messages)


def test_a_conversation_with_nothing_old_in_it_is_not_parted():
    assert part((TASK,), 10) is None
    assert part(history(1), 2_000) is None
    assert part((), 0) is None


def test_the_newest_words_stay_and_those_between_as_far_as_there_is_room():
    messages = (TASK, assistant("ok " * 500), user("b" * 900), *history(10)[1:], user("Use nom."), *history(20)[1:])
    parting = part(messages, size_of(messages) // 8)
    assert parting is not None
    assert parting.words == (TASK, user("Use nom."))


def test_a_task_that_is_itself_too_long_is_cut_and_not_lost():
    long = Message("user", (Text("Read this: " + "z" * 50_000), Image(url="https://x/a.png")))
    parting = part((long, *history(30)[1:]), 20_000)
    assert parting is not None
    assert parting.words[0].text.startswith("Read this: ")
    assert size_of(parting.words) < 3_000


def test_a_summary_is_not_kept_as_if_the_user_had_said_it():
    messages = (TASK, user("This is your own summary: …"), *history(20)[1:])
    parting = part(messages, size_of(messages), summary_at=1)
    assert parting is not None
    assert parting.words == (TASK,)


@given(sound_histories, st.integers(0, 400))
def test_no_call_is_parted_from_its_result(messages, room):
    parting = part(messages, room)
    if parting is not None:
        called = {one.id for message in parting.old for one in message.calls}
        assert called == {one.call_id for message in parting.old for one in message.results}


def test_a_record_tells_who_said_what_and_what_came_of_it():
    failed = Message("user", (ToolResult("c", (Text("no such file"),), is_error=True),))
    record = record_of((TASK, *read(1, 5), assistant("Done."), failed), 10_000)
    assert record.splitlines()[::2] == [
        "I said: Please port the parser to Rust.",
        'You called `read`: {"path":"f1"}',
        "It gave: <1>xxxxx",
        "You said: Done.",
        "It failed: no such file",
    ]


@given(broken_histories, st.integers(0, 2_000))
def test_a_record_is_never_much_longer_than_it_may_be(messages, most):
    assert len(record_of(messages, most)) <= most + 60


def test_long_pieces_are_cut_before_the_middle_is_left_out():
    record = record_of(history(10, 20_000), 20_000)
    assert all(f"<{number}>" in record for number in range(10))
    assert "left out" in record


def test_the_room_is_what_the_provider_named_or_less_than_there_was():
    request = ModelRequest("m", history(10))
    full = Failure(FailureKind.CONTEXT_FULL, Scope.REQUEST, Plan.COMPRESS_CONTEXT, "too long")
    assert room_for(request, full) == size_of(request.messages)
    named = Failure(FailureKind.CONTEXT_FULL, Scope.REQUEST, Plan.COMPRESS_CONTEXT, "too long", limit_tokens=1_000)
    assert room_for(request, named) == 3_000, "few characters a token, as long as nobody has counted"
    assert room_for(request, named, 4.5) == 4_500
