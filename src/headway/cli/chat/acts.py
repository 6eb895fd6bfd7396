"""What slash commands do: small functions that read or change the conversation and say what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway.agent.approval import Mode
from headway.agent.tools.threads import in_thread
from headway.cli.chat.session_acts import turns_of
from headway.cli.chat.story import about_draft
from headway.cli.terminal import fit, size
from headway.failure import InvalidInput
from headway.history.exchanges import size_of

if TYPE_CHECKING:
    from headway.cli.chat.commands import Surface

MEANS = {
    Mode.ASK: "asks before it changes files or runs commands",
    Mode.EDITS: "changes files without asking, asks before it runs commands",
    Mode.PLAN: "only reads",
    Mode.AUTO: "does everything without asking",
}


async def model(surface: Surface, name: str) -> None:
    """Say who is asked, or ask another."""
    if name:
        surface.conversation.go_by(name)
    view, plan = surface.view, surface.conversation.plan
    for number, link in enumerate(plan.chain):
        facts = link.facts
        about = f"{facts.context // 1000}k context"
        if facts.prices:
            about += f", ${facts.prices[0].input:g} in, ${facts.prices[0].output:g} out a million"
        view.say(f"  {'asked first' if not number else 'then':<12} {link.name}  ({about})", hang=15)
    for notice in plan.notices:
        view.say(f"  {notice}", "warn")


async def route(surface: Surface, name: str) -> None:
    """List the routes, or take another."""
    if name:
        surface.conversation.go_by(name)
    for known, entry in surface.conversation.loaded.settings.routes.items():
        mark = "▸" if known == surface.conversation.plan.route else " "
        surface.view.say(f"{mark} {known:<12} {' → '.join(entry.chain)}")
    if surface.conversation.plan.route not in surface.conversation.loaded.settings.routes:
        surface.view.say(f"▸ {surface.conversation.plan.route}")


async def mode(surface: Surface, name: str) -> None:
    """Say the mode, or switch to one."""
    if name:
        try:
            surface.set_mode(Mode(name))
        except ValueError:
            raise InvalidInput(name, "is no mode", f"There is: {', '.join(one.value for one in Mode)}") from None
    for one in Mode:
        mark = "▸" if one is surface.conversation.mode else " "
        surface.view.say(f"{mark} {one.value:<6} {MEANS[one]}", hang=9)


async def compact(surface: Surface, _: str) -> None:
    """Have the older part summed up."""
    if not await surface.conversation.compact():
        surface.view.say("nothing was changed", "dim")
    surface.view.gap()


async def cost(surface: Surface, _: str) -> None:
    """Say what was spent."""
    tally = surface.conversation.tally
    for name, spent in (("last turn", tally.turn), ("session", tally.session)):
        requests = f"{spent.requests} request{'' if spent.requests == 1 else 's'}"
        surface.view.say(f"  {name:<10} {requests} · {spent.words()}", hang=13)
    if tally.session.unpriced:
        surface.view.say("  prices of some of these are not known; set input_price and output_price", "dim")


async def undo(surface: Surface, which: str) -> None:
    """Take a change of a file back."""
    conversation = surface.conversation
    change = await in_thread(conversation.checkpoints.undo, conversation.workspace, int(which) if which else None)
    left = len(await in_thread(conversation.checkpoints.open_changes))
    did = "removed again" if change.before is None else "as it was before"
    surface.view.say(f"change {change.number} is taken back: {change.path} is {did}; {left} left", "warn")


async def diff(surface: Surface, which: str) -> None:
    """Show what was changed."""
    kept = surface.conversation.checkpoints
    if which:
        text = await in_thread(kept.diff, int(which))
    else:
        text = await in_thread(kept.diff_all, surface.conversation.workspace)
        for change in await in_thread(kept.open_changes):
            surface.view.say(f"  change {change.number}  {change.path}", "dim")
    surface.view.differences(text)
    if not text:
        surface.view.say("  no file is other than it was", "dim")


async def show(surface: Surface, which: str) -> None:
    """Show a result in full."""
    outcomes = surface.view.calls.outcomes
    number = int(which) if which else 1
    if not 1 <= number <= len(outcomes):
        known = f"there are {len(outcomes)} results to show" if outcomes else "there is no result to show yet"
        raise InvalidInput("/show", known, "The latest has the number 1" if outcomes else "")
    outcome = outcomes[-number]
    surface.view.say(outcome.title, "bold")
    surface.view.paper.print(*(f"  {line}" for line in outcome.lines))


async def queue(surface: Surface, what: str) -> None:
    """Show the messages that wait, or forget them."""
    if what:
        surface.waiting.clear()
    for words in surface.waiting.lines():
        surface.view.say(f"  ▸ {fit(words, 200)}")
    if not surface.waiting:
        surface.view.say("  nothing waits", "dim")


async def drafts(surface: Surface, _: str) -> None:
    """Show the draft that is open."""
    draft = surface.conversation.session.state.salvage.draft
    if draft is None:
        surface.view.say("  no cut call is kept", "dim")
        return
    surface.view.say(f"  {draft.tool} {about_draft(draft)}: {size(len(draft.arguments))} came, nothing of it was run")
    surface.view.say(f"  it ends with: …{fit(draft.arguments[-160:], 160)}", "dim")
    surface.view.say("  say “continue”: the model goes on from there", "dim")


async def status(surface: Surface, _: str) -> None:
    """Say how things are."""
    conversation, say = surface.conversation, surface.view.say
    state, limits = conversation.session.state, conversation.plan.policy
    kept = "kept" if conversation.held.trouble is None else f"not kept: {conversation.held.trouble.happened}"
    say(f"  session   {state.id} ({kept}), {turns_of(state.turn)}, {size(size_of(state.messages))}", hang=12)
    say(f"  context   {conversation.fullness()}", hang=12)
    say(f"  folder    {conversation.folder}", hang=12)
    say(f"  mode      {conversation.mode.value}: {MEANS[conversation.mode]}", hang=12)
    say(f"  sandbox   {await conversation.safety.walls()}", hang=12)
    say(f"  route     {conversation.plan.route}: {' → '.join(link.name for link in conversation.plan.chain)}", hang=12)
    say(f"  limits    {limits.attempts} attempts without headway, {limits.turn_seconds:.0f} s a turn", hang=12)
    if (quiet := conversation.quiet()) is not None:
        say(
            f"  stream    {quiet.stage.value}; no content for {quiet.content_seconds:.0f} s "
            f"(limit {quiet.content_limit_seconds:.0f} s), no bytes for {quiet.byte_seconds:.0f} s "
            f"(limit {quiet.byte_limit_seconds:.0f} s)",
            hang=12,
        )
    if state.salvage.draft is not None:
        say(
            f"  draft     {size(len(state.salvage.draft.arguments))} of {about_draft(state.salvage.draft)} (/drafts)",
            hang=12,
        )
    say(f"  spent     {conversation.tally.session.words()}", hang=12)


async def leave(surface: Surface, _: str) -> None:
    """End the talk."""
    surface.leave()
