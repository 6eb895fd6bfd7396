"""Asked for pieces, the model keeps to the size, for files and for drafts alike."""

import json

import pytest

from headway.messages import CallFragment, Message, ModelRequest, Text, ToolCall, ToolResult, ToolSpec, user
from headway.recovery import drafts, prompts
from headway.recovery.joining import Joined, StillOpen, join_call
from headway.recovery.ledger import Break
from headway.sim import Final, Habits, Script, WriteFile
from headway.sim.filler import text_of
from headway.sim.model import think_up
from headway.sim.voice import Calling

PAGE = text_of(64_000, "page.html")
STEPS = (WriteFile("page.html", PAGE), Final("It is written."))
TASK = user("Write the page.")
TOOLS = (ToolSpec("write_file", parameters={"type": "object"}), drafts.CONTINUE_DRAFT)


def the_call(*messages, **habits) -> Calling | None:
    request = ModelRequest("sim-1", messages, tools=TOOLS, stream=True)
    speech = think_up(request, Script(steps=STEPS, habits=Habits(**habits)))
    return next((part for part in speech if isinstance(part, Calling)), None)


def done(number: int, call: Calling) -> tuple[Message, Message]:
    made = ToolCall(f"call_{number}", call.tool, json.dumps(call.arguments))
    return Message("assistant", (made,)), Message("user", (ToolResult(made.id, (Text("written"),)),))


@pytest.mark.parametrize("size", [1_000, 1_875, 6_000])
def test_pieces_of_a_file_do_not_become_smaller_and_smaller(size):
    history = [TASK]
    asked = user(prompts.smaller_pieces(("write_file",), Break.NETWORK, size))
    sizes = []
    while call := the_call(*history, *([asked] if not sizes else [])):
        sizes.append(len(call.arguments["content"]))
        history += done(len(sizes), call)
    assert sum(sizes) == len(PAGE)
    assert max(sizes) <= size
    assert all(piece > size // 2 for piece in sizes[:-1])


def test_a_draft_is_sent_in_pieces_when_asked_for_and_the_last_one_ends_it():
    arguments = json.dumps({"path": "page.html", "content": PAGE}, ensure_ascii=False)
    draft = drafts.draft_of(CallFragment("call_1", "write_file", arguments[:2_500]))
    pieces = 0
    while True:
        prompt = user(prompts.continue_draft(draft, Break.NETWORK, piece_size=2_000))
        call = the_call(TASK, prompt)
        assert len(call.arguments["rest"]) <= 2_000
        joined = join_call(draft, ToolCall("c", call.tool, json.dumps(call.arguments)))
        pieces += 1
        if isinstance(joined, Joined):
            break
        assert isinstance(joined, StillOpen)
        draft = joined.draft
    assert json.loads(joined.arguments) == {"path": "page.html", "content": PAGE}
    assert 34 <= pieces <= 48


def test_a_model_that_does_not_obey_sizes_sends_all_of_the_rest():
    draft = drafts.draft_of(CallFragment("call_1", "write_file", json.dumps({"content": PAGE})[:2_500]))
    prompt = user(prompts.continue_draft(draft, Break.NETWORK, piece_size=2_000))
    assert the_call(TASK, prompt, obeys_sizes=False).arguments["rest"] == PAGE[draft.offset :]
