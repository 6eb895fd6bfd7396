"""Thinking goes back as it came, in its order and with its signatures, or not at all."""

from itertools import pairwise

import pytest

from headway.agent.happenings import Done
from headway.messages import Text, Thinking, ToolCall, user
from headway.sim.script import Call, Final, Say, Script, Think, WriteFile
from headway.sim.seals import seal
from support.lab import asked, in_lab
from support.past import TRUNCATED, call, is_accepted, result, said, texts_in, told
from support.rows import row
from support.turns import TALK, WORDS, broken, next_turn_works, refusals, with_history


def _blocks(messages):
    return [block for one in messages for block in one["content"] if isinstance(block, dict)]


THINKS = Script(
    prompt="Do it.",
    steps=(
        Think("First thought."),
        Say("I begin."),
        WriteFile("a.txt", "hello\n"),
        Think("Second thought."),
        Call("read_file", {"path": "a.txt"}),
        Think("Third thought."),
        Final("It is done."),
    ),
)


def thoughts_in(body):
    """Return the thinking of a request on the Messages wire, in order, and the kind of block behind each."""
    blocks = [block for message in body["messages"] if message["role"] == "assistant" for block in message["content"]]
    return [
        (block["thinking"], block["signature"], after["type"])
        for block, after in pairwise(blocks)
        if block["type"] == "thinking"
    ]


@row(39)
def test_thinking_comes_back_in_its_order_with_its_signatures(tmp_path):
    async def work(lab):
        endpoint = await lab.provider(THINKS, "anthropic")
        assert await asked(lab, THINKS, endpoint) == Done("It is done.")
        await next_turn_works(lab, endpoint)
        assert refusals(lab) == []
        assert thoughts_in(lab.sims[0].log[-1].body) == [
            ("First thought.", seal("First thought."), "text"),
            ("Second thought.", seal("Second thought."), "tool_use"),
            ("Third thought.", seal("Third thought."), "text"),
        ]

    in_lab(tmp_path, work)


@row(39)
def test_two_thoughts_in_one_reply_keep_their_order_and_an_edited_one_is_never_sent(tmp_path):
    def thought(text, signature=None):
        return Thinking(text, "anthropic", seal(text) if signature is None else signature)

    history = (
        user("Do it."),
        said(thought("One."), thought("Two."), Text("A."), call(1)),
        told(result(1, "R 1")),
        said(thought("Three."), thought("Unsigned.", ""), Text("B.")),
        user("Go on."),
        said(Thinking("Foreign.", "chat"), Text("C.")),
    )

    async def work(lab):
        endpoint = await lab.provider(TALK, "anthropic")
        agent = await with_history(lab, history, endpoint)
        assert await agent.ask("And now?") == Done(WORDS)
        assert refusals(lab) == []
        sent = lab.sims[0].log[0].body["messages"]
        thoughts = [one["thinking"] for one in _blocks(sent) if one["type"] == "thinking"]
        assert thoughts == ["One.", "Two."]
        spoken = [texts_in(one["content"]) for one in sent if one["role"] == "assistant"]
        assert [[text for text in texts if text in {"A.", "B.", "C."}] for texts in spoken] == [["A."], ["B."], ["C."]]
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(39)
def test_thinking_goes_when_the_turn_it_led_to_has_changed(tmp_path):
    """A signature vouches for a whole reply; with a call of it dropped, the thinking would be refused."""
    history = (
        user("Do it."),
        said(Thinking("Kept.", "anthropic", seal("Kept.")), call(1)),
        told(result(1, "R 1")),
        said(Thinking("Gone.", "anthropic", seal("Gone.")), call(2), ToolCall("call_bad", "write_file", TRUNCATED)),
        told(result(2, "R 2"), result("bad", "BAD")),
    )

    async def work(lab):
        body = await is_accepted(lab, "anthropic", history)
        assert "Kept." in body
        assert "Gone." not in body
        assert "R 2" in body

    in_lab(tmp_path, work)


@row(39)
@pytest.mark.parametrize("fault", ["rst at=text+4", "rst at='call 50%'", "fin at=thinking+6", "output_limit at=text+4"])
def test_a_reply_that_breaks_after_thinking_leaves_a_history_that_is_accepted(tmp_path, fault):
    async def work(lab):
        endpoint = await lab.provider(broken(THINKS, f"{fault} first=1"), "anthropic")
        assert await asked(lab, THINKS, endpoint) == Done("It is done.")
        await next_turn_works(lab, endpoint)
        assert refusals(lab) == []
        assert all(signature == seal(text) for text, signature, _ in thoughts_in(lab.sims[0].log[-1].body))

    in_lab(tmp_path, work)
