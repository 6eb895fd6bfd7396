"""Two clocks in virtual time: what is healthy lives for hours, what is not is noticed to the second, once."""

import asyncio

import pytest

from headway.transport import Gaps, Limits, Patience, Stage, Stall, Watchdog
from support.peers import virtual_time

LONG = Limits(turn_seconds=100_000)


def watch(limits: Limits = LONG, **kwargs) -> tuple[Watchdog, list[tuple[float, Stall]]]:
    loop = asyncio.get_running_loop()
    stalls: list[tuple[float, Stall]] = []
    return Watchdog(limits, loop, lambda stall: stalls.append((loop.time(), stall)), **kwargs), stalls


async def forever() -> None:
    await asyncio.sleep(50_000)


@virtual_time
async def test_a_connection_that_is_not_made_is_given_up_after_ten_seconds():
    _, stalls = watch()
    await forever()
    assert stalls == [(10, Stall(Patience.CONNECT, 10, 10))]


@virtual_time
async def test_no_byte_at_all_is_given_up_after_a_minute():
    watchdog, stalls = watch()
    await asyncio.sleep(5)
    watchdog.connected()
    await forever()
    assert stalls == [(65, Stall(Patience.FIRST_BYTE, 60, 60))]


@virtual_time
async def test_thinking_under_pings_lives_until_the_limit_for_first_content():
    watchdog, stalls = watch()
    watchdog.connected()
    for _ in range(40):
        await asyncio.sleep(15)
        watchdog.saw_bytes()
    assert stalls == [(180, Stall(Patience.FIRST_CONTENT, 180, 180))]


@virtual_time
async def test_a_stream_of_comments_is_given_up_at_the_limit_for_silence():
    watchdog, stalls = watch()
    watchdog.connected()
    await asyncio.sleep(2)
    watchdog.saw_content(4)
    for _ in range(40):
        await asyncio.sleep(15)
        watchdog.saw_bytes()
    assert stalls == [(92, Stall(Patience.SILENCE, 90, 90))]


@virtual_time
async def test_a_peer_that_died_is_noticed_sooner_than_one_that_is_silent():
    watchdog, stalls = watch()
    watchdog.connected()
    await asyncio.sleep(2)
    watchdog.saw_content(4)
    await asyncio.sleep(7)
    watchdog.saw_bytes()
    await forever()
    assert stalls == [(69, Stall(Patience.DEAD, 60, 60))]


@virtual_time
async def test_one_token_every_thirty_seconds_lives_for_two_hours():
    watchdog, stalls = watch()
    watchdog.connected()
    for _ in range(240):
        await asyncio.sleep(30)
        watchdog.saw_bytes()
        watchdog.saw_content(4)
    assert stalls == []
    assert asyncio.get_running_loop().time() == 7200
    watchdog.stop()


@virtual_time
async def test_one_character_a_minute_is_a_drip():
    watchdog, stalls = watch(Limits(dead_seconds=70, turn_seconds=10_000))
    watchdog.connected()
    watchdog.saw_content(1)
    for _ in range(20):
        await asyncio.sleep(60)
        watchdog.saw_content(1)
    assert stalls == [(300, Stall(Patience.DRIP, 0.05, 300))]


@virtual_time
async def test_a_stream_that_turns_into_a_drip_is_noticed_in_the_next_window():
    watchdog, stalls = watch()
    watchdog.connected()
    for _ in range(100):
        await asyncio.sleep(1)
        watchdog.saw_content(50)
    for _ in range(100):
        await asyncio.sleep(40)
        watchdog.saw_content(1)
    assert [(round(at), stall.patience) for at, stall in stalls] == [(601, Patience.DRIP)]


@virtual_time
async def test_the_turn_has_an_end_whatever_the_stream_says():
    watchdog, stalls = watch(Limits(turn_seconds=100))
    watchdog.connected()
    for _ in range(300):
        await asyncio.sleep(1)
        watchdog.saw_content(80)
    assert stalls == [(100, Stall(Patience.TURN, 100, 100))]


@virtual_time
async def test_the_turn_may_have_begun_before_the_stream():
    await asyncio.sleep(1000)
    watchdog, stalls = watch(Limits(turn_seconds=1020), turn_ends_at=1020)
    watchdog.connected()
    await forever()
    assert stalls == [(1020, Stall(Patience.TURN, 1020, 1020))]


@virtual_time
async def test_limits_that_get_shorter_with_the_stage_are_kept_to_the_second():
    watchdog, stalls = watch(Limits(first_byte_seconds=900, first_content_seconds=900, dead_seconds=900))
    watchdog.connected()
    await asyncio.sleep(1)
    watchdog.saw_content(1)
    await forever()
    assert stalls == [(91, Stall(Patience.SILENCE, 90, 90))]


@virtual_time
async def test_nothing_is_called_after_stop():
    watchdog, stalls = watch()
    watchdog.stop()
    watchdog.stop()
    await forever()
    assert stalls == []
    assert watchdog.stage is Stage.OVER


@virtual_time
async def test_the_readers_own_slowness_is_not_the_peers():
    watchdog, stalls = watch()
    watchdog.connected()
    await asyncio.sleep(1)
    watchdog.hand_over()
    watchdog.saw_content(5)
    await asyncio.sleep(3600)
    watchdog.wait()
    await asyncio.sleep(59)
    assert stalls == []
    await asyncio.sleep(1)
    assert stalls == [(3661, Stall(Patience.DEAD, 60, 60))]


@virtual_time
async def test_silence_before_and_after_the_reader_was_away_adds_up():
    watchdog, stalls = watch()
    watchdog.connected()
    watchdog.saw_content(5)
    await asyncio.sleep(50)
    watchdog.hand_over()  # a ping
    await asyncio.sleep(500)
    watchdog.wait()
    await asyncio.sleep(30)
    watchdog.saw_bytes()
    await forever()
    assert stalls == [(590, Stall(Patience.SILENCE, 90, 90))]


@virtual_time
async def test_the_turn_ends_even_while_the_reader_is_away():
    watchdog, stalls = watch(Limits(turn_seconds=100))
    watchdog.connected()
    watchdog.hand_over()
    await forever()
    assert [stall.patience for _, stall in stalls] == [Patience.TURN]


@virtual_time
async def test_a_machine_that_slept_causes_no_false_kill():
    loop = asyncio.get_running_loop()
    watchdog, stalls = watch()
    watchdog.connected()
    watchdog.saw_content(5)
    await asyncio.sleep(10)
    loop.skip(8 * 3600)
    await asyncio.sleep(50)
    assert stalls == []
    watchdog.saw_content(5)
    await asyncio.sleep(59)
    assert stalls == []
    watchdog.stop()


@virtual_time
async def test_a_machine_that_slept_causes_no_missed_kill():
    loop = asyncio.get_running_loop()
    watchdog, stalls = watch()
    watchdog.connected()
    watchdog.saw_content(5)
    await asyncio.sleep(10)
    loop.skip(8 * 3600)
    await forever()
    assert [(at - 8 * 3600, stall.patience) for at, stall in stalls] == [(70, Patience.DEAD)]


@virtual_time
async def test_sleep_is_forgiven_once_and_again_only_after_progress():
    loop = asyncio.get_running_loop()
    watchdog, stalls = watch()
    watchdog.connected()
    watchdog.saw_content(5)
    for _ in range(2):
        await asyncio.sleep(10)
        loop.skip(3600)
    await asyncio.sleep(1)
    assert len(stalls) == 1


@virtual_time
async def test_it_tells_a_status_line_how_long_it_has_been_quiet_and_how_long_it_may_be():
    watchdog, _ = watch()
    await asyncio.sleep(3)
    assert watchdog.quiet().content_seconds == 3
    assert watchdog.quiet().content_limit_seconds == 10
    watchdog.connected()
    await asyncio.sleep(4)
    watchdog.saw_content(1)
    await asyncio.sleep(12)
    watchdog.saw_bytes()
    await asyncio.sleep(2)
    quiet = watchdog.quiet()
    assert (quiet.stage, quiet.content_seconds, quiet.content_limit_seconds) == (Stage.SPEAKING, 14, 90)
    assert (quiet.byte_seconds, quiet.byte_limit_seconds) == (2, 60)
    watchdog.stop()


@virtual_time
async def test_it_remembers_the_longest_gaps_that_ended():
    watchdog, _ = watch()
    await asyncio.sleep(1)
    watchdog.connected()
    await asyncio.sleep(20)
    watchdog.saw_bytes()
    await asyncio.sleep(11)
    watchdog.saw_bytes()
    watchdog.saw_content(1)
    for seconds in (3, 45, 7):
        await asyncio.sleep(seconds)
        watchdog.saw_bytes()
        watchdog.saw_content(1)
    await asyncio.sleep(50)
    watchdog.stop()
    assert watchdog.gaps == Gaps(20, 45, 31, 45)


@pytest.mark.parametrize("spoken", [False, True])
@virtual_time
async def test_a_busy_stream_sets_few_timers(spoken):
    loop = asyncio.get_running_loop()
    armed = []
    plain, loop.call_at = loop.call_at, lambda *args, **kwargs: armed.append(args[0]) or plain(*args, **kwargs)
    watchdog, stalls = watch()
    watchdog.connected()
    if spoken:
        watchdog.saw_content(1)
    armed.clear()
    for _ in range(10_000):
        watchdog.hand_over()
        if spoken:
            watchdog.saw_content(1)
        watchdog.wait()
    assert armed == []
    assert stalls == []
    watchdog.stop()
