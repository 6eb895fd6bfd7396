"""What a turn is told besides its task, on every wire: instructions, skills, mentioned files, and pictures."""

import asyncio
from base64 import b64encode
from contextlib import suppress

from msgspec.structs import replace

from headway.agent.approval import Approvals, Mode
from headway.agent.context.guidance import Guide
from headway.agent.happenings import Done, Noted, ToolEnded
from headway.agent.loop import Agent, Brief
from headway.agent.tools.tool import ToolContext
from headway.agent.workspace import Workspace
from headway.messages import Image
from headway.sim.script import Call, Final, Script
from headway.turn import notices
from headway.turn.crew import Crew
from support.lab import TOOLS, in_lab
from support.turns import WIRES, broken, next_turn_works, refusals

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(64))
DATA = b64encode(PNG).decode()
SHORT = Script(prompt="x", steps=(Final("Seen."), Final("Seen again.")))


async def told(lab, *endpoints, **brief):
    """Return an agent that looks things up, as the one of the command line does."""
    lab.session = await lab.sessions.create(str(lab.folder))
    return talking(lab, *endpoints, **brief)


def talking(lab, *endpoints, **brief):
    async def hear(items):
        lab.items += items

    workspace = Workspace(lab.folder)
    context = ToolContext(workspace, Approvals(Mode.AUTO))
    given = Brief("You are an agent.", guide=Guide(workspace, home=lab.folder / "home"), mentions=True, **brief)
    return Agent(lab.client, lambda: Crew(endpoints), lab.session, TOOLS, context, hear, given)


def system_of(exchange):
    """Return what an endpoint was told, on whatever wire."""
    body = exchange.body
    first = body.get("messages", [{}])[0]
    return str(body.get("system") or body.get("instructions") or (first.get("role") == "system" and first["content"]))


@WIRES
def test_instructions_go_into_the_system_part_and_edits_count_from_the_next_turn(tmp_path, wire):
    async def work(lab):
        (lab.folder / "AGENTS.md").write_text("Always use tabs.")
        endpoint = await lab.provider(SHORT, wire)
        agent = await told(lab, endpoint)
        assert await agent.ask("Begin.") == Done("Seen.")
        (lab.folder / "AGENTS.md").write_text("Always use spaces.")
        assert await agent.ask("Go on.") == Done("Seen again.")
        first, second = lab.sims[0].log
        assert "Always use tabs." in system_of(first)
        assert str(lab.folder / "AGENTS.md") in system_of(first)
        assert "Always use spaces." in system_of(second)
        assert "tabs" not in str(second.body)
        assert refusals(lab) == []

    in_lab(tmp_path, work)


@WIRES
def test_words_that_are_stopped_before_anybody_is_asked_are_kept(tmp_path, wire):
    async def work(lab):
        (lab.folder / "notes.txt").write_text("what they say")
        agent = await told(lab, await lab.provider(SHORT, wire))
        asking = asyncio.ensure_future(agent.ask("Look at @notes.txt, please."))
        await asyncio.sleep(0)  # it has begun to read, in a thread
        asking.cancel()
        with suppress(asyncio.CancelledError):
            await asking
        assert lab.sims[0].log == []
        assert [message.text for message in lab.session.state.messages] == ["Look at @notes.txt, please."]
        assert await agent.ask("Go on.") == Done("Seen.")
        assert "Look at @notes.txt, please." in str(lab.sims[0].log[0].body)

    in_lab(tmp_path, work)


@WIRES
def test_a_skill_is_told_by_name_and_read_when_it_is_needed(tmp_path, wire):
    script = Script(prompt="Fill in the form.", steps=(Call("skill", {"name": "forms"}), Final("Filled in.")))

    async def work(lab):
        place = lab.folder / "home" / ".agents" / "skills" / "forms"
        place.mkdir(parents=True)
        (place / "SKILL.md").write_text("---\nname: forms\ndescription: For forms of all kinds.\n---\nUse black ink.")
        bad = lab.folder / ".agents" / "skills" / "bad"
        bad.mkdir(parents=True)
        (bad / "SKILL.md").write_text("nothing")
        endpoint = await lab.provider(script, wire)
        agent = await told(lab, endpoint)
        assert await agent.ask(script.prompt) == Done("Filled in.")
        first, second = lab.sims[0].log
        assert "For forms of all kinds." in system_of(first)
        assert "black ink" not in str(first.body)
        assert "black ink" in str(second.body)
        (ended,) = lab.told(ToolEnded)
        assert not ended.result.is_error
        assert [one.words for one in lab.told(Noted) if "bad" in one.words]
        said = len(lab.told(Noted))
        await agent.ask("Once more.")
        assert len(lab.told(Noted)) == said, "what is wrong is told once"
        assert refusals(lab) == []

    in_lab(tmp_path, work)


@WIRES
def test_what_is_mentioned_is_attached_kept_and_there_after_a_restart(tmp_path, wire):
    async def work(lab):
        (lab.folder / "a.py").write_text("print('as it was')\n")
        endpoint = await lab.provider(SHORT, wire)
        agent = await told(lab, endpoint)
        assert await agent.ask("Explain @a.py and @b.py to me@example.com.") == Done("Seen.")
        assert "as it was" in str(lab.sims[0].log[0].body)
        (lab.folder / "a.py").write_text("print('as it is')\n")
        name = lab.session.id
        await lab.session.close()
        lab.session = await lab.sessions.resume(name)
        assert await talking(lab, endpoint).ask("And now?") == Done("Seen again.")
        assert "as it was" in str(lab.sims[0].log[1].body)
        assert lab.session.state.messages[0].parts[0].text == "Explain @a.py and @b.py to me@example.com."
        assert [one.words for one in lab.told(Noted)] == ["attached a.py (1 line); @b.py was not found"]
        assert refusals(lab) == []
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@WIRES
def test_a_picture_goes_out_as_one_and_survives_going_on_with_a_model_that_is_blind(tmp_path, wire):
    async def work(lab):
        (lab.folder / "shot.png").write_bytes(PNG)
        sees = await lab.provider(broken(SHORT, "wrong_status status=401 after=1"), wire)
        found = await lab.provider(SHORT, "chat")
        blind = replace(found, dialect=replace(found.dialect, images=False))
        agent = await told(lab, sees, blind)
        assert await agent.ask("What is on @shot.png?") == Done("Seen.")
        assert DATA in str(lab.sims[0].log[0].body)
        assert isinstance(await agent.ask("And now?"), Done)
        assert lab.told(notices.FailedOver)
        (asked,) = lab.sims[1].log
        assert DATA not in str(asked.body)
        assert "An image was here" in str(asked.body)
        images = [part for part in lab.session.state.messages[0].parts if isinstance(part, Image)]
        assert [image.data for image in images] == [DATA], "it is kept for whoever can see it"
        assert refusals(lab) == []

    in_lab(tmp_path, work)


@WIRES
def test_a_picture_that_a_tool_reads_is_seen_too(tmp_path, wire):
    script = Script(prompt="Look.", steps=(Call("read_file", {"path": "shot.png"}), Final("A line.")))

    async def work(lab):
        (lab.folder / "shot.png").write_bytes(PNG)
        endpoint = await lab.provider(script, wire)
        assert await (await told(lab, endpoint)).ask(script.prompt) == Done("A line.")
        assert DATA in str(lab.sims[0].log[1].body)
        assert refusals(lab) == []
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


def test_a_model_that_is_blind_is_told_in_words(tmp_path):
    async def work(lab):
        (lab.folder / "shot.png").write_bytes(PNG)
        endpoint = await lab.provider(SHORT, "chat")
        assert isinstance(await (await told(lab, endpoint, images=False)).ask("What is on @shot.png?"), Done)
        assert [one.words for one in lab.told(Noted)] == [
            "@shot.png is a picture, and the model does not take pictures"
        ]
        assert DATA not in str(lab.sims[0].log[0].body)

    in_lab(tmp_path, work)
