"""The library without `async`: real threads, real signals, real processes; nothing is left and nothing hangs."""

import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from contextvars import ContextVar
from textwrap import dedent

import pytest

from headway import Misused, SyncHeadway, TextDelta, tool
from headway.sim import Call, Final, Pace, serving
from headway.sim.exchange import Ending
from support.embedding import WORDS, provider_at, script

ENDLESS = script(pace=Pace(seconds=0.05))
SILENT = script(faults=("stall at=100",))


def ended(sim):
    """Wait until the latest exchange has ended, and return how."""
    for _ in range(400):
        if sim.log and sim.log[-1].ended_at is not None:
            return sim.log[-1].ending
        threading.Event().wait(0.01)
    raise AssertionError("the connection is still open")


@contextmanager
def asking(played, **more):
    """Give a client and its provider; no thread may be left."""
    before = threading.active_count()
    with serving(played) as sim:
        with SyncHeadway(provider_at(sim, "chat"), **more) as hw:
            yield hw, sim
        assert threading.active_count() == before + 1, "only the simulator's own thread is left"
    assert sim.open_connections == 0


@pytest.mark.parametrize("how", ["words", "items", "block"])
def test_leaving_a_loop_closes_the_connection_at_once(how):
    with asking(ENDLESS) as (hw, sim):
        if how == "words":
            for piece in hw.stream_text("Tell me."):
                assert piece
                break
        elif how == "items":
            for item in hw.turn("Tell me."):
                if isinstance(item, TextDelta):
                    break
        else:
            with hw.turn("Tell me.") as turn:
                items = iter(turn)
                while not isinstance(next(items), TextDelta):
                    pass
            with pytest.raises(Misused, match="closed before it was over"):
                next(items)
        assert ended(sim) is Ending.CLIENT_LEFT


def test_a_turn_can_be_waited_for_and_has_its_reply():
    with asking(script()) as (hw, sim):
        turn = hw.turn("Tell me.")
        assert turn.wait().text == turn.reply.text == turn.text == WORDS
        again = hw.turn("Tell me.", after=turn)
        assert again.wait().text == WORDS
        assert len(sim.log) == 2


def test_after_the_end_it_says_that_it_is_closed():
    with asking(script()) as (hw, sim):
        turn, agent, words = hw.turn("x"), hw.agent(), hw.stream_text("x")
        hw.close()
        hw.close()
        for use in (lambda: hw.text("x"), lambda: next(words), lambda: next(iter(turn)), lambda: agent.ask("x")):
            with pytest.raises(Misused, match="it is closed"):
                use()
        agent.close()
        turn.close()
        assert sim.log == []
        assert "closed" in repr(hw)


def test_closing_it_from_another_thread_tells_whoever_waits():
    struck = threading.Event()
    with serving(SILENT, watch=lambda _: struck.set()) as sim, SyncHeadway(provider_at(sim, "chat")) as hw:
        other = threading.Thread(target=lambda: struck.wait() and hw.close())
        other.start()
        with pytest.raises(Misused, match="closed"):
            hw.text("Tell me.")
        other.join()
        assert ended(sim) is Ending.CLIENT_LEFT


def test_threads_may_share_it():
    with asking(script(faults=("rst at=500 first=3",))) as (hw, _):
        texts = []
        threads = [threading.Thread(target=lambda: texts.append(hw.text("Tell me."))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert texts == [WORDS] * 8


def test_a_plain_tool_may_use_it_and_a_coroutine_is_told_why_it_may_not():
    with asking(script(Call("ask_another", {}), Final("Done."))) as (hw, sim):

        @tool
        def ask_another() -> str:
            """Ask another model."""
            sim.use(script(Final("I am another.")))
            return hw.text("Who are you?")

        assert hw.agent(tools=[ask_another]).ask("Ask around.").text == "I am another."

        @tool
        async def ask_itself() -> str:
            """Ask in the wrong way."""
            return hw.text("Who are you?")

        sim.use(script(Call("ask_itself", {}), Final("Done.")))
        agent = hw.agent(tools=[ask_itself])
        agent.ask("Ask around.")
        assert "would wait for itself" in agent.history[2].results[0].text


def test_context_variables_go_along():
    who = ContextVar("who", default="nobody")
    seen = []

    @tool
    def look() -> str:
        """Look."""
        seen.append(who.get())
        return "Seen."

    with asking(script(Call("look", {}), Final("Done."))) as (hw, _):
        who.set("Ada")
        hw.agent(tools=[look]).ask("Look.")
        assert seen == ["Ada"]


@contextmanager
def program(sim, body):
    """Start a process that embeds Headway; it does not outlive the block."""
    base_url = f"{sim.url}/v1"
    code = f"""
import sys, threading
import headway
main = headway.Provider("main", wire="chat", base_url={base_url!r}, model="m", key="k")
hw = headway.SyncHeadway(main)
{dedent(body)}
"""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", code], **pipes) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize(
    "body",
    [
        """
        for piece in hw.stream_text("Tell me."):
            pass
        """,
        """
        for item in hw.agent().turn("Tell me."):
            pass
        """,
        """
        try:
            hw.text("Tell me.")
        except KeyboardInterrupt:
            hw.close()
            assert [t.name for t in threading.enumerate()] == ["MainThread"], threading.enumerate()
            raise
        """,
    ],
    ids=["words", "agent", "waiting"],
)
def test_ctrl_c_ends_the_wait_and_closes_the_connection(body):
    struck = threading.Event()
    with serving(SILENT, watch=lambda _: struck.set()) as sim, program(sim, body) as process:
        if not struck.wait(20):
            process.kill()
            pytest.fail(f"it never asked: {process.communicate()[1]}")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=10)
        assert process.returncode == -signal.SIGINT, errors
        assert errors.rstrip().endswith("KeyboardInterrupt")
        assert ended(sim) is Ending.CLIENT_LEFT


def test_a_program_that_ends_in_the_middle_of_a_task_has_kept_what_had_come(tmp_path):
    store = f"sqlite:{tmp_path / 'agents.db'}"
    body = f"""
    kept = headway.SyncHeadway(main, store={store!r})
    agent = kept.agent()
    items = iter(agent.turn("Tell me."))
    for piece in range(20):
        next(items)
    print(agent.session)
    """
    with serving(ENDLESS) as sim, program(sim, body) as process:
        session, errors = process.communicate(timeout=20)
        assert (process.returncode, errors) == (0, "")
        sim.use(script(Final("Hello.")))
        with SyncHeadway(provider_at(sim, "chat"), store=store) as hw:
            agent = hw.agent(session=session.strip())
            agent.ask("Are you there?")
            assert [message.role for message in agent.history] == ["user", "assistant", "user", "assistant"]
            assert agent.history[1].text.startswith("Sentence 0")


@pytest.mark.parametrize(
    "body", ["print(len(hw.text('Tell me.')))", "words = hw.stream_text('Tell me.'); print(len(next(words)) * 0)"]
)
def test_a_program_that_forgets_to_close_ends_all_the_same(body):
    played = script() if "text('" in body and "words" not in body else ENDLESS
    with serving(played) as sim, program(sim, body) as process:
        output, errors = process.communicate(timeout=10)
        assert (process.returncode, errors) == (0, "")
        assert output.strip() == (str(len(WORDS)) if played is not ENDLESS else "0")
