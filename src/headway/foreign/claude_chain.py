"""Which records of a Claude Code file are the conversation as it stands: from its latest leaf up to the first root.

The file only grows. What was rewound stays in it, on a branch; what was summed up stays in it, before a boundary; and
the calls of one reply may hang beside each other, of which the chain passes through one.
"""

from collections.abc import Sequence

from msgspec import Struct

from headway.foreign.claude_records import SPOKEN, Record
from headway.foreign.session import Account


class Chain(Struct, frozen=True):
    """The conversation, in order, and where it begins anew with a summary, if it does."""

    records: tuple[Record, ...]
    boundary: Record | None = None


def chain_of(records: Sequence[Record], account: Account) -> Chain:
    """Return the records of the conversation that the file ends with."""
    leaf = next((one for one in reversed(records) if one.message is not None), None)
    if leaf is None:
        return Chain(())
    links = _Links(records)
    found: list[Record] = []
    seen: set[str] = set()
    at: Record | None = leaf
    while at is not None and at.uuid not in seen:
        seen.add(at.uuid)
        found.append(at)
        at = links.before(at, seen, account)
    found.reverse()
    boundary = next((one for one in reversed(found) if one.is_boundary), None)
    return Chain(tuple(_with_siblings(found, records)), boundary)


class _Links:
    """What each record follows on, after summaries have put some of them in another place."""

    def __init__(self, records: Sequence[Record]) -> None:
        self._records = records
        self._by_uuid = {one.uuid: one for one in records}
        self._moved: dict[str, str] = {}
        self._instead: dict[str, tuple[str, int]] = {}
        for one in records:
            if one.is_boundary and {one.kept_from, one.kept_to, one.kept_behind} <= self._by_uuid.keys():
                self._moved[one.kept_from] = one.kept_behind
                self._instead[one.kept_behind] = (one.kept_to, one.at)

    def before(self, record: Record, seen: set[str], account: Account) -> Record | None:
        """Return what a record follows on."""
        if record.uuid in self._moved:
            return self._by_uuid[self._moved[record.uuid]]
        if record.parent in self._instead:
            tail, boundary_at = self._instead[record.parent]
            # What was said after the summary follows on what it left standing.
            if record.at > boundary_at and tail not in seen and record.uuid != tail:
                return self._by_uuid[tail]
        if not record.parent:
            return None
        if record.parent not in self._by_uuid:
            return self._nearest(record, account)
        return self._by_uuid[record.parent]

    def _nearest(self, record: Record, account: Account) -> Record | None:
        """Return what stands before a record whose parent is lost."""
        found = next((one for one in reversed(self._records[: record.at]) if one.kind in SPOKEN), None)
        if found is not None:
            account.mend("a line is lost in the middle: what follows was joined to what stands before")
        return found


def _with_siblings(chain: list[Record], records: Sequence[Record]) -> list[Record]:
    """Put all blocks of a reply where its first one is, with the results of those calls that the chain passes by."""
    here = {one.uuid for one in chain}
    replies: dict[str, list[Record]] = {one.message_id: [] for one in chain if one.message_id}
    beside: dict[str, str] = {}
    for one in records:
        if one.message_id in replies:
            replies[one.message_id].append(one)
            if one.uuid not in here:
                beside[one.uuid] = one.message_id
    answered = frozenset[str]().union(*(one.answers for one in chain))
    for one in records:
        if one.parent in beside and one.answers - answered and one.uuid not in here:
            replies[beside[one.parent]].append(one)
    whole: list[Record] = []
    for one in chain:
        # A reply is taken when its first block is met; its other blocks are there by then.
        whole += replies.pop(one.message_id, ()) if one.message_id else (one,)
    return whole
