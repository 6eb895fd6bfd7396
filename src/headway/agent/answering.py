"""Who answers, told once for each change: people may have chosen the first of a chain for a reason."""

from collections.abc import Sequence

from headway.agent.happenings import AnsweredBy
from headway.providers.changes import Bypassed, Change
from headway.turn.crew import Crew
from headway.turn.endpoint import Endpoint


class Answering:
    """Remembers what was told."""

    def __init__(self) -> None:
        """Start with nothing told."""
        self._answers = ""
        self._passed_over: tuple[str, str] | None = None

    def news(self, changes: Sequence[Change]) -> list[Change]:
        """Return what has not been told: that the first is passed over is so before every reply, and told once."""
        passed_over = next(((one.upstream, one.instead) for one in changes if isinstance(one, Bypassed)), None)
        told, self._passed_over = self._passed_over, passed_over
        return [one for one in changes if not isinstance(one, Bypassed) or passed_over != told]

    def after(self, crew: Crew, endpoint: Endpoint) -> tuple[AnsweredBy, ...]:
        """Return who answered, if it is another than before; at first the first choice is expected."""
        before = self._answers or crew.first or crew.endpoints[0].name
        self._answers = endpoint.name
        return (AnsweredBy(endpoint.name, endpoint.model, before),) if endpoint.name != before else ()
