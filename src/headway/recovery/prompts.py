"""Every word that Headway says to a model, in one place, in a plain user's voice.

Models distrust notices and obey people: no "system notice", no brackets, no capitals. Each text says what happened,
what was kept, and what to do, once. What failed is never echoed twice: a draft is shown in one message, which the
next one replaces.
"""

from headway.recovery.drafts import Draft, describe, open_text
from headway.recovery.ledger import Break

TAIL_SHOWN = 200
SMALLEST_TELLING_PIECE = 500
"""A call cut earlier than this says nothing about sizes; it was bad luck, not a limit."""
_AROUND_REST = 100
"""Characters of a continuation that are not its text: names, the draft's id, the offset."""

NUDGE = "Your last reply had nothing in it. Please go on with what I asked: answer, or call a tool."
NUDGE_AT_LIMIT = (
    "Your last reply reached its limit before it said anything. Please think less this time and go on with what I "
    "asked: answer, or call a tool."
)

_CAUSE = {
    Break.LIMIT: "Your answer reached the output limit and stopped in the middle.",
    Break.NETWORK: "The connection broke while I was receiving your answer, so it stopped in the middle.",
}
_CAUSE_OF_CALL = {
    Break.LIMIT: "ran into the output limit before it was complete",
    Break.NETWORK: "was cut off before all of it reached me",
}


def continue_text(kept: str, broke: Break) -> str:
    """Ask for the rest of an answer that stands, as far as it came, in the message before."""
    return (
        f"{_CAUSE[broke]} The last I have is:\n\n{_tail(kept)}\n\n"
        "Please go on from exactly there: begin with the very next character, repeat nothing, "
        "and say nothing about the interruption."
    )


def smaller_pieces(tools: tuple[str, ...], broke: Break, piece_size: int | None) -> str:
    """Ask again for calls that were cut and not run, in pieces that get through."""
    named = " and ".join(f"`{tool}`" for tool in dict.fromkeys(tools) if tool) or "the tool"
    telling = piece_size is not None and piece_size >= SMALLEST_TELLING_PIECE
    size = f" of at most about {piece_size:,} characters each" if telling else ""
    return (
        f"Your call to {named} {_CAUSE_OF_CALL[broke]}. I did not run it, and nothing of it took effect. "
        f"Please do the same work again, split into smaller pieces{size}: for example, first write the beginning, "
        "then add the rest with further calls. Do not send one call of the same size again."
    )


def continue_draft(draft: Draft, broke: Break, problem: str = "", piece_size: int | None = None) -> str:
    """Show what arrived of a call, once, and ask only for the rest of it, in pieces if longer calls are cut here.

    `problem` is about the last continuation, `piece_size` is how many characters of arguments get through.
    """
    facts = describe(draft)
    whole = "".join(f"\n`{name}` is complete: {value}" for name, value in facts.fields)
    if draft.path is None:
        have, ask = "", 'offset 0, `rest` "", and in `more` the fields that are still missing'
    else:
        field = f"`{draft.open_name}`" if draft.open_name else "its text"
        have = (
            f"\nOf {field} I have the first {draft.offset:,} characters. They stand between the two lines:\n"
            f"-----\n{open_text(draft)}\n-----"
        )
        ask = f"offset {draft.offset}, and as `rest` only what comes after that, beginning with the very next character"
    refused = f"Your last continuation did not complete the call. {problem}\n" if problem else ""
    return (
        f"{refused}Your call to `{draft.tool}` {_CAUSE_OF_CALL[broke]}. "
        f"I kept what came and have not run anything yet.{whole}"
        f'{have}\nPlease call `continue_draft` with draft "{draft.id}", {ask}. Do not send again what I already have.'
        f"{_in_pieces(draft, piece_size)}"
    )


def _in_pieces(draft: Draft, piece_size: int | None) -> str:
    """Say how much text a continuation may bring: of this text, as it stands in JSON, what came so far is a sample."""
    if piece_size is None or not draft.offset:
        return ""
    room = (piece_size - _AROUND_REST) * draft.offset // len(draft.arguments) // 100 * 100
    if room < SMALLEST_TELLING_PIECE:
        return ""
    return (
        f" Longer calls are cut off at the moment, so send it in pieces of at most about {room:,} characters: now the "
        "next one, with `last` false unless the text ends with it."
    )


def sum_up(record: str, most_words: int) -> str:
    """Ask for the summary of the older part of a conversation, of which the record is shown."""
    return (
        "Our conversation has grown too long to be read in one piece, so its older part must be summed up. Its record "
        "stands between the two lines: what I said, what you said, what you called and what came back. Do not act on "
        f"anything in it now.\n-----\n{record}\n-----\n"
        "Please write the summary that you will need to go on with the work when this record is gone: what I asked for "
        "and decided; what has been done, with the names of the files, commands and results that matter; what was "
        "found out, with exact names, numbers and messages; what failed and why; what is still to do, and what is "
        f"next. Write nothing but the summary, in at most {most_words:,} words."
    )


def summed_up(summary: str) -> str:
    """Give a model its own summary in the place of what it stands for."""
    return (
        f"The older part of our conversation was too long and is left out. This is your own summary of it:\n\n{summary}"
        "\n\nWhat follows is the latest part, as it was."
    )


def not_run(tool: str) -> str:
    """Say, in place of a result, that a call has not happened."""
    return f"not executed: the call to {tool or 'this tool'} was interrupted before it could run"


def _tail(text: str) -> str:
    """Return the end of a text, from the start of a line where one is near."""
    tail = text[-TAIL_SHOWN:]
    line = tail.find("\n")
    return tail[line + 1 :] if 0 <= line < TAIL_SHOWN // 2 and len(text) > TAIL_SHOWN else tail
