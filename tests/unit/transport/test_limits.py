"""Limits are numbers: what was set stands, the rest is stretched, and nothing is stretched for ever."""

import pytest
from msgspec.structs import replace

from headway.transport import GapMemory, Gaps, Limits, Overrides, RequestFacts, effective
from headway.transport.gaps import MODELS, STREAMS
from headway.transport.limits import is_local, within

HOSTED = RequestFacts(host="api.example.com")
LOCAL = RequestFacts(host="127.0.0.1")


def test_an_ordinary_request_gets_the_defaults():
    limits = effective(Overrides(), HOSTED)
    assert limits == Limits(10, 60, 60, 180, 90, 0.05, 300, 1800)


@pytest.mark.parametrize(
    ("tokens", "dead", "first_content", "silence"),
    [(0, 60, 180, 90), (50_000, 90, 270, 135), (100_000, 120, 360, 180), (200_000, 180, 540, 270)],
)
def test_patience_grows_with_the_size_of_the_request(tokens, dead, first_content, silence):
    limits = effective(Overrides(), replace(HOSTED, estimated_tokens=tokens))
    assert (limits.dead_seconds, limits.first_byte_seconds) == (dead, dead)
    assert (limits.first_content_seconds, limits.silence_seconds) == (first_content, silence)
    assert limits.connect_seconds == 10


def test_no_request_is_so_large_that_it_may_take_for_ever():
    huge = effective(Overrides(), replace(HOSTED, estimated_tokens=10**9))
    assert huge == effective(Overrides(), replace(HOSTED, estimated_tokens=200_000))


def test_a_model_that_thinks_gets_twice_the_patience_and_need_not_send_a_byte_before_it_speaks():
    limits = effective(Overrides(), replace(HOSTED, reasoning=True))
    assert (limits.first_content_seconds, limits.silence_seconds, limits.dead_seconds) == (360, 180, 120)
    assert limits.first_byte_seconds == limits.first_content_seconds


def test_a_local_server_gets_longer_but_finite_patience():
    limits = effective(Overrides(), LOCAL)
    assert (limits.first_content_seconds, limits.silence_seconds, limits.dead_seconds) == (720, 360, 240)
    worst = effective(Overrides(), RequestFacts(estimated_tokens=10**9, reasoning=True, host="localhost"))
    assert worst.first_content_seconds == worst.first_byte_seconds == 1800
    assert worst.turn_seconds == 1800


def test_hosted_patience_has_a_lower_ceiling():
    limits = effective(Overrides(), replace(HOSTED, estimated_tokens=10**9, reasoning=True))
    assert limits.first_content_seconds == 900


@pytest.mark.parametrize("name", Overrides.__struct_fields__)
def test_what_was_set_wins_over_every_stretching(name):
    facts = RequestFacts(estimated_tokens=10**6, reasoning=True, host="localhost")
    gaps = Gaps(500, 500, 500, 500)
    assert getattr(effective(Overrides(**{name: 3.5}), facts, gaps), name) == 3.5


def test_setting_how_long_no_bytes_may_come_means_the_first_byte_too():
    limits = effective(Overrides(dead_seconds=5), replace(HOSTED, reasoning=True))
    assert limits.first_byte_seconds == 5
    assert effective(Overrides(dead_seconds=5, first_byte_seconds=7), HOSTED).first_byte_seconds == 7


def test_a_silence_that_is_allowed_is_never_a_drip():
    limits = effective(Overrides(silence_seconds=400), HOSTED)
    assert limits.drip_window_seconds == 800


def test_limits_adapt_to_the_gaps_that_healthy_streams_had():
    memory = GapMemory().with_stream("main/slow", Gaps(70, 50, 200, 80)).with_stream("main/slow", Gaps(10, 60, 20, 40))
    limits = effective(Overrides(), HOSTED, memory.longest("main/slow"))
    assert (limits.first_byte_seconds, limits.dead_seconds) == (105, 90)
    assert (limits.first_content_seconds, limits.silence_seconds) == (300, 120)
    assert effective(Overrides(), HOSTED, memory.longest("main/other")) == Limits()


def test_gaps_only_ever_lengthen_and_only_to_the_ceiling():
    assert effective(Overrides(), HOSTED, Gaps(1, 1, 1, 1)) == Limits()
    assert effective(Overrides(), HOSTED, Gaps(content_seconds=5000)).silence_seconds == 900


def test_a_memory_is_bounded_and_forgets_the_oldest():
    memory = GapMemory().with_stream("m", Gaps(content_seconds=800))
    for _ in range(STREAMS):
        memory = memory.with_stream("m", Gaps(content_seconds=1))
    assert memory.longest("m").content_seconds == 1
    for number in range(MODELS + 5):
        memory = memory.with_stream(f"model {number}", Gaps())
    assert len(memory.streams) == MODELS
    assert "m" not in memory.streams


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("127.0.0.1", True),
        ("::1", True),
        ("[::1]", True),
        ("localhost", True),
        ("10.1.2.3", True),
        ("192.168.0.9", True),
        ("172.17.0.1", True),
        ("fe80::1%eth0", True),
        ("ollama", True),
        ("studio.local", True),
        ("host.docker.internal", True),
        ("api.example.com", False),
        ("8.8.8.8", False),
        ("", False),
    ],
)
def test_which_hosts_are_local(host, local):
    assert is_local(host) is local


def test_no_quiet_is_borne_longer_than_others_can_wait():
    limits = within(Limits(silence_seconds=10), 45)
    assert (limits.first_byte_seconds, limits.dead_seconds, limits.first_content_seconds) == (45, 45, 45)
    assert limits.silence_seconds == 10
    assert limits.turn_seconds == Limits().turn_seconds
