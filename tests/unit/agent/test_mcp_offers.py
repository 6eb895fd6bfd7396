"""Names, schemas and results of servers: whatever they say, what comes out is what every wire takes."""

import json
import re
from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.agent.approval import Kind, Mode, Rules, judge, rules_of
from headway.agent.mcp import rpc
from headway.agent.mcp.offers import LARGEST_SCHEMA, LONGEST_DESCRIPTION, offers_of, tool_name
from headway.agent.mcp.results import MOST_IMAGES, MOST_PARTS, content_of
from headway.agent.mcp.spec import ServerSpec
from headway.agent.tools.refusals import ToolError
from headway.messages import Image, Text, ToolCall

LEGAL = re.compile(r"[a-zA-Z0-9_-]{1,64}")
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)
SERVER = st.from_regex(r"[a-zA-Z0-9]([a-zA-Z0-9-]|_[a-zA-Z0-9-]){0,15}", fullmatch=True)


@given(st.lists(st.tuples(SERVER, st.text(min_size=1, max_size=90)), unique=True, max_size=8))
def test_names_are_legal_and_no_two_tools_share_one(pairs):
    names = [tool_name(server, own) for server, own in pairs]
    assert all(LEGAL.fullmatch(name) for name in names)
    assert len(set(names)) == len(names)


def test_a_legal_name_stays_as_it_is():
    assert tool_name("github", "search_issues") == "github__search_issues"


@given(
    st.lists(st.dictionaries(st.sampled_from(["name", "title", "description", "inputSchema", "annotations"]), ANY_JSON))
)
def test_whatever_a_list_holds_gives_tools_that_can_be_sent(entries):
    for offer in offers_of(ServerSpec("s"), entries).tools:
        assert LEGAL.fullmatch(offer.spec.name)
        assert offer.spec.parameters["type"] == "object"
        assert isinstance(offer.spec.parameters["properties"], dict)
        assert 0 < len(offer.spec.description) <= LONGEST_DESCRIPTION
        json.dumps(offer.spec.parameters)


def test_a_schema_is_passed_on_without_what_endpoints_refuse_at_its_root():
    schema = {"$schema": "x", "oneOf": [], "properties": {"a": {"oneOf": [{"type": "string"}]}}, "required": ["a"]}
    (offer,) = offers_of(ServerSpec("s"), [{"name": "t", "inputSchema": schema}]).tools
    assert offer.spec.parameters == {"type": "object", "properties": schema["properties"], "required": ["a"]}


def test_what_is_too_large_is_left_out_and_told():
    huge = {"type": "object", "description": "x" * LARGEST_SCHEMA}
    offers = offers_of(ServerSpec("s"), [{"name": "huge", "inputSchema": huge}, {"name": "fine"}])
    assert [offer.own_name for offer in offers.tools] == ["fine"]
    assert offers.notices == ("huge is left out: its schema is too large or cannot be read",)


def test_a_tool_that_settings_name_and_the_server_lacks_is_told():
    offers = offers_of(ServerSpec("s", tools=("a*", "nope")), [{"name": "ab"}, {"name": "b"}])
    assert [offer.own_name for offer in offers.tools] == ["ab"]
    assert offers.notices == ("it has no tool nope",)


@pytest.mark.parametrize(
    ("rules", "name", "kind", "verdict"),
    [
        (rules_of(deny=["github__delete_*"]), "github__delete_repo", Kind.READS, "Deny"),
        (rules_of(deny=["github__delete_*"]), "github__search", Kind.RUNS, "Ask"),
        (rules_of(allow=["github__*"]), "github__search", Kind.RUNS, "Allow"),
        (Rules(), "github__search", Kind.RUNS, "Ask"),
    ],
)
def test_rules_speak_of_tools_by_their_whole_names(rules, name, kind, verdict):
    assert type(judge(Mode.ASK, kind, rules, ToolCall("c", name, "{}"))).__name__ == verdict


@given(st.dictionaries(st.sampled_from(["content", "structuredContent", "isError", "resultType"]), ANY_JSON))
def test_whatever_a_call_gives_is_content_or_an_error_in_words(result):
    try:
        content = content_of("s__t", result)
    except ToolError as error:
        assert str(error)
    else:
        assert content
        assert isinstance(content, str) or all(isinstance(part, Text | Image) for part in content)


def test_each_kind_of_content_is_shown_as_a_model_can_take_it():
    blocks = [
        {"type": "text", "text": "words"},
        {"type": "image", "data": b64encode(b"no picture").decode(), "mimeType": "image/png"},
        {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
        {"type": "resource", "resource": {"uri": "file:///a", "text": "inside"}},
        {"type": "resource", "resource": {"uri": "file:///b", "blob": "AAAA"}},
        {"type": "resource_link", "uri": "file:///c", "name": "c.txt"},
    ]
    assert [part.text for part in content_of("t", {"content": blocks})] == [
        "words",
        "[left out: image, which models do not take]",
        "[left out: audio, which models do not take]",
        "file:///a:\ninside",
        "[left out: file:///b, 3 bytes of no text]",
        "file:///c c.txt",
    ]


def test_parts_and_pictures_are_bounded():
    png = b64encode(b"\x89PNG\r\n\x1a\n").decode()
    many = content_of("t", {"content": [{"type": "image", "data": png}] * (MOST_PARTS + 5)})
    assert sum(isinstance(part, Image) for part in many) == MOST_IMAGES
    assert many[-1].text == "[left out: 5 more parts]"


@given(st.binary(max_size=200) | ANY_JSON.map(lambda value: json.dumps(value).encode()))
def test_whatever_comes_is_read_without_raising(data):
    assert all(isinstance(one, rpc.Reply | rpc.Refused | rpc.Asked | rpc.Told | rpc.Noise) for one in rpc.read(data))


def test_messages_are_read_for_what_they_are():
    assert list(rpc.read(b'{"id": 1, "result": {}}')) == [rpc.Reply(1, {})]
    assert list(rpc.read(b'{"id": 1, "error": {"code": -1, "message": "no"}}')) == [rpc.Refused(1, -1, "no")]
    assert list(rpc.read(b'[{"method": "a"}, {"id": "x", "method": "b"}]')) == [rpc.Told("a"), rpc.Asked("x", "b")]
    assert list(rpc.read(b'{"id": true, "result": {}}')) == [rpc.Noise('{"id": true, "result": {}}')]
