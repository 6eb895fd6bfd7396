"""Calls that are all there, written in the ways that some servers have."""

from typing import Any, ClassVar, Literal

from msgspec.structs import replace

from headway.events import CallArguments, CallOpened
from headway.messages import WireName
from headway.sim.fault import Fault
from headway.sim.frames import Change, changed
from headway.sim.play import Beat, Play, event_of
from headway.sim.scene import Scene
from headway.wire.json_text import BadJson, strict_object

_ODD = "functions.{name}:{call}|with odd characters and more than sixty-four of them in all"


class _OddCalls(Fault, frozen=True, kw_only=True):
    """Something about the frames of calls is odd."""

    needs_stream: ClassVar[bool] = True

    def strike(self, scene: Scene) -> Play | None:
        """Change every frame that tells of a call; there must be one."""
        if not any(isinstance(event_of(beat), CallOpened) for beat in scene.play):
            return None
        return self.retell(scene)

    def retell(self, scene: Scene) -> Play | None:
        """Return the play with its calls told in another way; here, as they were."""
        return scene.play


class MissingIds(_OddCalls, frozen=True, kw_only=True):
    """Leave out the ids of calls."""

    def retell(self, scene: Scene) -> Play | None:
        """Take the ids out of all frames."""
        return _all_changed(scene.play, _without_ids)


class WrongIds(_OddCalls, frozen=True, kw_only=True):
    """Give all calls the `same` id, `odd` ids (characters, length) or, where items have ids, `changing` ones."""

    how: Literal["same", "odd", "changing"] = "same"

    def retell(self, scene: Scene) -> Play | None:
        """Give other ids."""
        if self.how != "changing":
            return [_renamed(beat, _ODD if self.how == "odd" else "call_same") for beat in scene.play]
        if scene.wire != "responses":
            return None
        return [changed(beat, _numbered(i)) for i, beat in enumerate(scene.play)]


class ReusedIndexes(_OddCalls, frozen=True, kw_only=True):
    """Give everything index 0, or no index at all with `how = "missing"`."""

    how: Literal["zero", "missing"] = "zero"

    def retell(self, scene: Scene) -> Play | None:
        """Change the indexes of all frames."""
        return _all_changed(scene.play, _indexed(0 if self.how == "zero" else None))


class NameTwice(_OddCalls, frozen=True, kw_only=True):
    """Say the id and the name of a call again with every piece of its arguments."""

    wires: ClassVar[frozenset[WireName]] = frozenset({"chat"})

    def retell(self, scene: Scene) -> Play | None:
        """Add the names to the pieces."""
        calls = {e.call: e for beat in scene.play if isinstance(e := event_of(beat), CallOpened)}
        return [
            changed(beat, _named(calls[e.call])) if isinstance(e := event_of(beat), CallArguments) else beat
            for beat in scene.play
        ]


class ArgumentsAsObject(_OddCalls, frozen=True, kw_only=True):
    """Send the arguments as an object and at once, not as text in pieces."""

    wires: ClassVar[frozenset[WireName]] = frozenset({"chat", "anthropic"})

    def retell(self, scene: Scene) -> Play | None:
        """Gather the arguments of each call and put them where the wire's servers do."""
        gathered: dict[int, str] = {}
        for beat in scene.play:
            if isinstance(event := event_of(beat), CallArguments):
                gathered[event.call] = gathered.get(event.call, "") + event.text
        try:
            told = [self._told(beat, gathered) for beat in scene.play]
        except BadJson:
            return None  # half a call is no object
        return [beat for beats in told for beat in beats]

    def _told(self, beat: Beat, gathered: dict[int, str]) -> list[Beat]:
        event = event_of(beat)
        match event:
            case CallArguments():
                return []
            case CallOpened(call=call) if call in gathered:
                value = strict_object(gathered[call])
                piece = changed(CallArguments(call, gathered[call]), _in_function(arguments=value))
                return [changed(beat, _with_input(value)), piece]
            case _:
                return [beat]


def _all_changed(play: Play, change: Change) -> Play:
    return [changed(beat, change) for beat in play]


def _renamed(beat: Beat, pattern: str) -> Beat:
    event = event_of(beat)
    if not isinstance(event, CallOpened):
        return beat
    return replace(event, id=pattern.format(name=event.name, call=event.call))


def _without_ids(value: Any) -> Any:
    """Leave out what names a call, however deep it stands."""
    if isinstance(value, list):
        return [_without_ids(one) for one in value]
    if not isinstance(value, dict):
        return value
    is_call = value.get("type") in ("function", "function_call", "tool_use", "custom_tool_call")
    names = {"call_id", "item_id", *(("id",) if is_call else ())}
    return {key: _without_ids(one) for key, one in value.items() if key not in names}


def _numbered(number: int) -> Change:
    """Return a change that gives the items of one frame ids of their own."""

    def change(value: dict[str, Any]) -> dict[str, Any]:
        item = value.get("item")
        fresh = f"item_{number}"
        named = {"item_id": fresh} if "item_id" in value else {}
        return {**value, **named, **({"item": {**item, "id": fresh}} if isinstance(item, dict) else {})}

    return change


def _indexed(index: int | None) -> Change:
    """Return a change that sets every index, or takes it out."""

    def put(value: dict[str, Any], key: str) -> dict[str, Any]:
        rest = {name: one for name, one in value.items() if name != key}
        return value if key not in value else rest if index is None else {**value, key: index}

    def change(value: dict[str, Any]) -> dict[str, Any]:
        value = put(put(value, "index"), "output_index")
        for choice in value.get("choices", ()):
            calls = choice["delta"].get("tool_calls")
            if calls:
                choice["delta"]["tool_calls"] = [put(call, "index") for call in calls]
        return value

    return change


def _named(opened: CallOpened) -> Change:
    """Return a change that says again which call a piece belongs to."""

    def change(value: dict[str, Any]) -> dict[str, Any]:
        for call in value["choices"][0]["delta"]["tool_calls"]:
            call["id"] = opened.id
            call["function"]["name"] = opened.name
        return value

    return change


def _in_function(**fields: Any) -> Change:
    """Return a change that puts fields into the function of a call; a wire that has none has no such frame."""

    def change(value: dict[str, Any]) -> dict[str, Any] | None:
        for choice in value.get("choices", ()):
            for call in choice["delta"].get("tool_calls", ()):
                call["function"].update(fields)
        return value if "choices" in value else None

    return change


def _with_input(arguments: dict[str, Any]) -> Change:
    """Return a change that puts the arguments into the block that opens a call."""

    def change(value: dict[str, Any]) -> dict[str, Any]:
        block = value.get("content_block")
        return {**value, "content_block": {**block, "input": arguments}} if isinstance(block, dict) else value

    return change
