"""How to point a client at a gateway by hand: lines for a shell, and what to write where those are not enough."""

from shlex import quote
from string import Template

from headway.clients.client import Client
from headway.clients.pointing import Doorway, changed, pointed

FILE_PATH = "./headway.mjs"


def by_hand(client: Client, base: str, key: str) -> str:
    """Return what to do: lines for a shell, or what to write into a file that the first comment names."""
    lines = [f"# {client.title}, through Headway at {base}"]
    if client.refused:
        return "\n".join((*lines, f"# It cannot be: {client.refused}."))
    doorways = [Doorway(door, base, key) for door in client.doors]
    if client.by_hand:
        lines += Template(client.by_hand).safe_substitute(base=base, key=key).rstrip().splitlines()
    else:
        after = pointed(client, doorways, {}, FILE_PATH)
        lines += [f"unset {name}" for name in dict.fromkeys(name for door in client.doors for name in door.clears)]
        lines += [f"export {name}={_quoted(value)}" for name, value in changed({}, after.environment).items()]
    lines += [f"# {note}" for note in client.notes]
    return "\n".join(lines)


def _quoted(value: str) -> str:
    """Quote a value; one that stands in a variable is still to be looked up by the shell."""
    return f'"{value}"' if value.startswith("$") else quote(value)
