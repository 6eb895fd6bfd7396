"""A conversation is cut between exchanges only."""

from hypothesis import given
from hypothesis import strategies as st

from headway.history.exchanges import cuts, is_words, size_of, tail_within
from headway.messages import Document, Image, Message, Text, Thinking, ToolCall, ToolResult, assistant, user
from support.histories import broken_histories, sound_histories


def call(*ids):
    return Message("assistant", tuple(ToolCall(one, "read", "{}") for one in ids))


def result(one, text="ok"):
    return Message("user", (ToolResult(one, (Text(text),)),))


def test_a_cut_falls_before_words_and_before_replies():
    messages = (user("do"), call("a"), result("a"), call("b"), result("b"), assistant("done"), user("more"))
    assert cuts(messages) == (1, 3, 5, 6)


def test_results_stay_with_their_calls_whatever_stands_between():
    messages = (user("do"), call("a", "b"), result("b"), user("hurry"), result("a"), assistant("done"))
    assert cuts(messages) == (1, 5)


def test_a_reply_in_several_messages_stays_together():
    thinking = Message("assistant", (Thinking("hm", "responses", sealed="x"),))
    assert cuts((user("do"), thinking, call("a"), result("a"), assistant("done"))) == (1, 4)


def test_a_call_without_a_result_and_a_result_without_a_call_join_nothing_else():
    assert cuts((call("lost"), user("a"), result("nobody"), user("b"))) == (1, 3)


@given(sound_histories)
def test_no_call_is_ever_parted_from_its_result(messages):
    for place in cuts(messages):
        called = {one.id for message in messages[:place] for one in message.calls}
        answered = {one.call_id for message in messages[:place] for one in message.results}
        assert called == answered


@given(broken_histories, st.integers(0, 100))
def test_the_tail_is_as_long_as_it_may_be(messages, most):
    at = tail_within(messages, most)
    places = (0, *cuts(messages))
    assert at in places
    assert at == places[-1] or size_of(messages[at:]) <= most
    longer = [place for place in places if place < at]
    assert not longer or size_of(messages[longer[-1] :]) > most


def test_pictures_weigh_something_and_words_are_the_users():
    picture = Message("user", (Image(url="https://x/a.png"), Text("look")))
    assert size_of((picture,)) > 1_000
    assert size_of((Message("user", (Document(text="12345"),)),)) == 5
    assert is_words(picture)
    assert not is_words(result("a"))
    assert not is_words(assistant("hi"))
