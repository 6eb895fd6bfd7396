"""What is said about a sandbox: to people what it cannot deny, to the model what it denies, and after a refusal why."""

import re

from headway.agent.sandbox.confinement import Confinement, Walls
from headway.agent.sandbox.sandbox import Means

_REFUSED = re.compile(
    r"Read-only file system|Permission denied|Operation not permitted|Network is unreachable|Could not resolve|"
    r"Name or service not known|[Tt]emporary failure in name resolution|Cannot assign requested address|"
    r"EROFS|EACCES|EPERM|ENETUNREACH|EAI_AGAIN|ENOTFOUND",
)


def lacks(means: Means, confinement: Confinement) -> tuple[str, ...]:
    """Return what these walls cannot deny, each in a few words."""
    if means.walls is not Walls.LANDLOCK:
        return ()
    said = ["sockets of other programs, such as docker's", "permissions and owners of your own files"]
    if not confinement.network:
        said.append("UDP" if means.landlock >= 4 else "the network")
    if means.landlock < 3:
        said.append("emptying files")
    if means.landlock < 6:
        said.append("signals to your other processes")
    return tuple(said)


def for_people(means: Means, confinement: Confinement) -> str:
    """Return what somebody should know before commands are run; empty if there is nothing to say."""
    missing = lacks(means, confinement)
    if not missing:
        return ""
    listed = ", ".join(missing[:-1]) + f" and {missing[-1]}" if len(missing) > 1 else missing[0]
    return f"commands are held by Landlock alone, which cannot deny {listed}; with bubblewrap installed, all is denied"


def without(reasons: tuple[str, ...]) -> str:
    """Return what to say when there are no walls at all."""
    why = "; ".join(reasons)
    return (
        f"commands run without a sandbox ({why}): they can do what you can. Install bubblewrap, or allow only reading"
    )


def for_model(confinement: Confinement) -> str:
    """Return what the model is told before it starts."""
    others = "".join(f", `{path}`" for path in confinement.writable)
    network = "The network can be reached." if confinement.network else "There is no network."
    return (
        f"Shell commands run in a sandbox: they can write to the workspace{others} and to `$TMPDIR`, and to nothing "
        f"else; `/tmp` is not the user's own. {network} Files with secrets are hidden. When a command fails for that, "
        "do not try to get around it; do the task in another way, or say what you would need."
    )


FOR_MODEL_WITHOUT = "Shell commands are not in a sandbox: take care that they change nothing outside the workspace."


def after_refusal(output: str, confinement: Confinement) -> str:
    """Return a hint for the model, if the output of a command that failed looks like a refusal; empty if not."""
    if _REFUSED.search(output) is None:
        return ""
    network = "" if confinement.network else " and has no network"
    return f"[the sandbox lets a command write only to the workspace and $TMPDIR, hides secrets{network}]"
