"""The lines of a Claude Code session as records that know their parent. What no conversation needs is not held."""

from collections.abc import Iterable
from itertools import islice
from typing import Any

from msgspec import Struct

from headway.foreign.session import Account
from headway.wire.json_text import excerpt

SPOKEN = ("user", "assistant")
TITLE = 80
"""How many characters of the first words are a title, where there is no other."""
_TITLES = {"custom-title": "customTitle", "ai-title": "aiTitle"}
"""Lines that name the session, those that count more first."""


_ABOUT = ("cwd", "sessionId", "timestamp")
"""What a line tells about the session; the first to tell it counts."""


class Record(Struct, frozen=True):
    """A line that is part of the tree: what it says, and what it follows on."""

    at: int
    """Its place among the records."""
    uuid: str
    parent: str
    kind: str
    message: dict[str, Any] | None = None
    """What goes to the model, and nothing beside it: role and content."""
    message_id: str = ""
    """The reply that it is a block of."""
    is_side: bool = False
    """Of a sub-agent, which has a conversation of its own."""
    is_theirs: bool = False
    """Words of the user, and not of the client in the user's name."""
    is_client: bool = False
    """Words that the client put into the model's mouth: errors, mostly."""
    is_boundary: bool = False
    """Is everything before it summed up by what follows?"""
    kept_from: str = ""
    kept_to: str = ""
    kept_behind: str = ""
    """At a boundary: the first and the last record that were not summed up, and the one that they now follow on."""
    answers: frozenset[str] = frozenset()
    """The calls that it has the results of."""


class Transcript(Struct, frozen=True):
    """All of a file."""

    records: tuple[Record, ...]
    title: str
    folder: str
    id: str
    began: Any


def read_records(lines: Iterable[dict[str, Any]], account: Account) -> Transcript:
    """Read the lines of a file."""
    records: dict[str, Record] = {}
    titles: dict[str, str] = {}
    summaries: list[tuple[str, str]] = []
    about: dict[str, Any] = {}
    for line in lines:
        kind, uuid = _text(line.get("type")), _text(line.get("uuid"))
        if kind in _TITLES:
            titles[kind] = _text(line.get(_TITLES[kind]))
        elif kind == "summary":
            summaries.append((_text(line.get("leafUuid")), _text(line.get("summary"))))
        elif not uuid:
            account.leave("line", "lines", "the other agent's own bookkeeping")
        elif uuid in records:
            account.leave("line", "lines", "there twice")
        else:
            records[uuid] = _record(line, len(records), uuid, kind)
            about = {**{key: line[key] for key in _ABOUT if line.get(key)}, **about}
    named = [titles[kind] for kind in _TITLES if titles.get(kind)]
    # Summaries of other sessions stand in some files, too: only those that name a line of this one are about it.
    summed_up = [words for leaf, words in summaries if leaf in records and words]
    spoken = (one.message["content"] for one in records.values() if one.is_theirs and one.message and not one.is_side)
    first_words = [excerpt(" ".join(words[: TITLE * 8].split()), TITLE) for words in islice(spoken, 1)]
    return Transcript(
        tuple(records.values()),
        (named or summed_up[-1:] or first_words or [""])[0],
        _text(about.get("cwd")),
        _text(about.get("sessionId")),
        about.get("timestamp"),
    )


def _record(line: dict[str, Any], at: int, uuid: str, kind: str) -> Record:
    boundary = kind == "system" and line.get("subtype") == "compact_boundary"
    first, last, behind = _kept(line.get("compactMetadata")) if boundary else ("", "", "")
    message = line.get("message")
    if kind not in SPOKEN or not isinstance(message, dict):
        return Record(
            at,
            uuid,
            _text(line.get("parentUuid")),
            kind,
            is_side=line.get("isSidechain") is True,
            is_boundary=boundary,
            kept_from=first,
            kept_to=last,
            kept_behind=behind,
        )
    content = _content(message.get("content"))
    return Record(
        at,
        uuid,
        _text(line.get("parentUuid")),
        kind,
        {"role": kind, "content": content},
        _text(message.get("id")) if kind == "assistant" else "",
        is_side=line.get("isSidechain") is True,
        is_theirs=_is_theirs(line, kind, content),
        is_client=line.get("isApiErrorMessage") is True or message.get("model") == "<synthetic>",
        answers=_answers(content),
    )


def _kept(metadata: Any) -> tuple[str, str, str]:
    """Return the ends of what a summary does not stand for, and what it follows on; blank if it stands for all."""
    if not isinstance(metadata, dict):
        return "", "", ""
    segment, several = metadata.get("preservedSegment"), metadata.get("preservedMessages")
    if isinstance(segment, dict):
        return _text(segment.get("headUuid")), _text(segment.get("tailUuid")), _text(segment.get("anchorUuid"))
    uuids = several.get("uuids") if isinstance(several, dict) else None
    if isinstance(several, dict) and isinstance(uuids, list) and uuids:
        return _text(uuids[0]), _text(uuids[-1]), _text(several.get("anchorUuid"))
    return "", "", ""


def _content(content: Any) -> str | list[Any]:
    if isinstance(content, str):
        return content
    return [one for one in content if isinstance(one, dict | str)] if isinstance(content, list) else []


def _is_theirs(line: dict[str, Any], kind: str, content: str | list[Any]) -> bool:
    """Say whether somebody typed it: commands and their output begin with a tag."""
    injected = line.get("isMeta") is True or line.get("isCompactSummary") is True
    return kind == "user" and not injected and isinstance(content, str) and not content.lstrip().startswith("<")


def _answers(content: str | list[Any]) -> frozenset[str]:
    blocks = [one for one in content if isinstance(one, dict)] if isinstance(content, list) else []
    return frozenset(_text(one.get("tool_use_id")) for one in blocks if one.get("type") == "tool_result")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
