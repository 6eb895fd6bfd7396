"""Sessions of Claude Code: one JSON object a line, each naming the line it follows on."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from headway.foreign.claude_chain import chain_of
from headway.foreign.claude_records import Record, read_records
from headway.foreign.detached import detached
from headway.foreign.lines import objects_of
from headway.foreign.moments import seconds_of
from headway.foreign.session import Account, ForeignSession
from headway.wire.table import wire_named

NAME = "claude-code"
WIRE = "anthropic"


def read_claude_code(lines: Iterable[bytes | None]) -> ForeignSession:
    """Read a session file; it never fails, and what it cannot use it tells."""
    account = Account()
    transcript = read_records(objects_of(lines, account), account)
    records = _of_the_main_agent(transcript.records, account)
    chain = chain_of(records, account)
    used = {one.uuid for one in chain.records}
    begins = chain.boundary.at if chain.boundary is not None else 0
    for one in records:
        if one.message is not None and one.uuid not in used:
            if one.at < begins:
                account.leave("message", "messages", "part of a summary, which was taken over")
            else:
                account.leave("message", "messages", "taken back before the end")
    values = list(_messages([one for one in chain.records if one.message is not None], account))
    messages = detached(wire_named(WIRE).parse_messages(values).messages, account)
    return ForeignSession(
        NAME,
        WIRE,
        messages,
        transcript.id,
        transcript.title,
        transcript.folder,
        seconds_of(transcript.began),
        account.left_out,
        account.mended,
    )


def _of_the_main_agent(records: Sequence[Record], account: Account) -> list[Record]:
    """Return what is not of sub-agents; in the file of a sub-agent, everything is."""
    main = [one for one in records if not one.is_side]
    if not any(one.message is not None for one in main):
        return list(records)
    side = sum(one.message is not None for one in records if one.is_side)
    account.leave("message", "messages", "of a sub-agent, whose result is in the conversation", side)
    return main


def _messages(records: Iterable[Record], account: Account) -> Iterator[dict[str, Any]]:
    """Give the messages, the blocks of one reply together again."""
    open_reply, blocks = "", list[Any]()
    for one in records:
        assert one.message is not None
        if one.is_client:
            account.leave("message", "messages", "an error that the other agent wrote in the model's name")
            continue
        if open_reply and one.message_id != open_reply:
            yield {"role": "assistant", "content": blocks}
            open_reply, blocks = "", []
        content = one.message["content"]
        if one.message_id:
            open_reply = one.message_id
            blocks += [content] if isinstance(content, str) else content
        else:
            yield one.message
    if open_reply:
        yield {"role": "assistant", "content": blocks}
