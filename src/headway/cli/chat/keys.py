"""What the keys do. Everything else is what prompt_toolkit does with a line of text, as in every shell."""

from collections.abc import Callable, Iterable

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyBindingsBase, KeyPressEvent, merge_key_bindings
from prompt_toolkit.keys import Keys

from headway.cli.chat.completing import Suggestion
from headway.cli.chat.recalling import Recalled
from headway.cli.chat.talk import Talk


class Completing(Completer):
    """Hands on what the conversation suggests."""

    def __init__(self, suggest: Callable[[str], list[Suggestion]]) -> None:
        """Ask `suggest` about the text before the cursor."""
        self._suggest = suggest

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:  # noqa: ARG002  # as it is called
        """Return what could stand here."""
        for one in self._suggest(document.text_before_cursor):
            yield Completion(one.text, -one.replaced, display_meta=one.about)


def input_buffer(recalled: Recalled, suggest: Callable[[str], list[Suggestion]]) -> Buffer:
    """Return what is typed into."""
    history = InMemoryHistory(recalled.entries)
    return Buffer(multiline=True, history=history, completer=Completing(suggest), complete_while_typing=True)


def _editing(talk: Talk) -> KeyBindings:
    """Return the keys that change what is typed."""
    table = KeyBindings()
    buffer = talk.screen.buffer
    suggests = Condition(lambda: buffer.complete_state is not None and bool(buffer.complete_state.completions))

    @table.add("tab", filter=suggests)
    def _(_: KeyPressEvent) -> None:
        buffer.complete_next()
        state = buffer.complete_state
        if state is not None and len(state.completions) == 1:
            buffer.complete_state = None

    @table.add("tab", filter=~suggests)
    def _(_: KeyPressEvent) -> None:
        buffer.start_completion(insert_common_part=True)

    @table.add("backspace")
    def _(_: KeyPressEvent) -> None:
        label = talk.pastes.label_before(buffer.document.text_before_cursor)
        buffer.delete_before_cursor(max(1, len(label)))

    @table.add(Keys.BracketedPaste)
    def _(event: KeyPressEvent) -> None:
        buffer.insert_text(talk.pastes.fold(event.data))

    return table


def _sending(talk: Talk, recalled: Recalled) -> KeyBindings:
    """Return the keys that send what is typed, take it back, or switch the mode that it is sent in."""
    table = KeyBindings()
    buffer = talk.screen.buffer

    def submit() -> None:
        typed = buffer.text
        if typed.strip() and not talk.question():
            recalled.add(talk.pastes.unfold(typed))
            buffer.append_to_history()
        buffer.reset()
        talk.submit(typed)

    @table.add("enter")
    @table.add("c-j")  # an Enter that was typed before we began to listen
    def _(_: KeyPressEvent) -> None:
        state = buffer.complete_state
        if state is not None and state.current_completion is not None:
            buffer.complete_state = None  # the choice is made; the next Enter sends it
            if not buffer.text.startswith("/"):
                return
        if buffer.document.text_before_cursor.endswith("\\"):
            buffer.delete_before_cursor()
            buffer.insert_text("\n")
            return
        submit()

    @table.add("escape", "enter")
    @table.add("escape", "c-j")
    def _(_: KeyPressEvent) -> None:
        buffer.insert_text("\n")

    @table.add("s-tab")
    def _(_: KeyPressEvent) -> None:
        talk.next_mode()

    @table.add("up", filter=Condition(lambda: not buffer.text and len(talk.waiting) > 0))
    def _(_: KeyPressEvent) -> None:
        buffer.insert_text(talk.take_back())

    return table


def _stopping(talk: Talk) -> KeyBindings:
    """Return the keys that stop a turn, leave, or step aside."""
    table = KeyBindings()
    buffer = talk.screen.buffer

    def clear() -> None:
        """Take a line away that was not sent; it can be had back with the arrow up."""
        buffer.append_to_history()
        buffer.reset()

    @table.add("escape")
    def _(_: KeyPressEvent) -> None:
        if buffer.complete_state is not None:
            buffer.cancel_completion()
        elif buffer.text and not talk.is_busy:
            clear()
        else:
            talk.stop()

    @table.add("c-c")
    @table.add("<sigint>")
    def _(_: KeyPressEvent) -> None:
        if buffer.text and not talk.is_busy:
            clear()
        else:
            talk.stop()

    @table.add("c-d", filter=Condition(lambda: not buffer.text))
    def _(_: KeyPressEvent) -> None:
        talk.leave()

    @table.add("c-z")
    def _(_: KeyPressEvent) -> None:
        talk.screen.suspend()

    return table


def keys(talk: Talk, recalled: Recalled) -> KeyBindingsBase:
    """Return the keys of a talk."""
    return merge_key_bindings([_editing(talk), _sending(talk, recalled), _stopping(talk)])
