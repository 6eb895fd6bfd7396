"""Settings to what an agent is told and allowed: its brief, with where instructions and skills are looked for."""

from headway.agent.context.guidance import Guide
from headway.agent.loop import Brief
from headway.settings.loading import Loaded
from headway.settings.planning import Plan
from headway.settings.safety import Safety


def brief_for(loaded: Loaded, plan: Plan, safety: Safety, system: str) -> Brief:
    """Return the brief of an agent that a person talks to: `@path` in what it is asked is attached."""
    settings, around = loaded.settings.agent, loaded.around
    guide = Guide(
        safety.workspace,
        around.config_folder,
        around.home,
        instructions=settings.instructions,
        skills=settings.skills,
        clean=safety.redactor.clean,
    )
    return Brief(
        f"{system} {safety.words}",
        plan.policy,
        route=plan.route,
        steps=settings.steps,
        guide=guide if settings.instructions or settings.skills else None,
        mentions=True,
        images=takes_images(plan),
        compact_at=settings.compact_at,
    )


def takes_images(plan: Plan) -> bool:
    """Say whether anybody of a chain takes pictures; for the others, a note stands in for them."""
    return any(link.dialect.images for link in plan.chain)
