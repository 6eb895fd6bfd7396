"""What a file that came with a folder may not decide by itself: that the agent is held less tightly.

Whoever clones a repository has not read its `headway.toml`. It may name providers and routes, and forbid; what it
permits counts once somebody has said that they trust it, by a digest: a file that changes is asked about again.
`--config FILE`, and HEADWAY_CONFIG, are somebody's word already.
"""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import msgspec

from headway.failure import InvalidInput
from headway.settings.layers import KeyPath, Layer, dotted
from headway.settings.places import FILE_NAME, Surroundings

TRUSTED: Final = "trusted.json"
"""Digests of what somebody has said to trust, beside the sessions."""
_MOST_KEPT: Final = 1_000
_PERMITS: Final[dict[KeyPath, Callable[[Any], bool]]] = {
    ("agent", "approve"): lambda value: value not in ("ask", "plan"),
    ("agent", "allow"): bool,
    ("agent", "sandbox"): lambda value: value == "off",
    ("agent", "network"): bool,
    ("agent", "writable"): bool,
    ("store", "url"): bool,
}


def is_strange(path: Path, around: Surroundings) -> bool:
    """Say whether a file came with the folder that is worked in, and nobody has said that they trust it as it is."""
    return is_of_folder(path, around) and _digest(path) not in trusted(around)


def held_back(layer: Layer) -> tuple[Layer, tuple[str, ...]]:
    """Return what counts of a strange file, and the keys of it that do not."""
    tables = {section: values for section, values in layer.table.items() if isinstance(values, dict)}
    found = [key for key, permits in _PERMITS.items() if _is_said(tables, key) and permits(tables[key[0]][key[1]])]
    held = {
        section: {name: value for name, value in values.items() if (section, name) not in found}
        for section, values in tables.items()
    }
    return Layer(layer.origin, layer.table | held, layer.folder), tuple(map(dotted, found))


def _is_said(tables: dict[str, dict[str, Any]], key: KeyPath) -> bool:
    return key[0] in tables and key[1] in tables[key[0]]


def is_of_folder(path: Path, around: Surroundings) -> bool:
    """Say whether a file comes with the folder that is worked in, and is not the user's own."""
    own = around.config_folder / FILE_NAME
    with suppress(OSError):
        if path.samefile(own):
            return False
    return path == around.folder / FILE_NAME


def trust_file(path: Path, around: Surroundings) -> None:
    """Keep that a file is trusted as it is now."""
    keep_trusted([_digest(path)], around)


def untrust_file(path: Path, around: Surroundings) -> bool:
    """Forget that a file is trusted as it is now; say whether it was."""
    return bool(forget_trusted([_digest(path)], around))


def trusted(around: Surroundings) -> frozenset[str]:
    """Return the digests of all that is trusted."""
    try:
        return frozenset(msgspec.json.decode((around.data_folder / TRUSTED).read_bytes(), type=list[str]))
    except (OSError, msgspec.MsgspecError):
        return frozenset()


def keep_trusted(digests: Iterable[str], around: Surroundings) -> None:
    """Keep that these are trusted, too."""
    _write(list(dict.fromkeys((*trusted(around), *digests)))[-_MOST_KEPT:], around)


def forget_trusted(digests: Iterable[str], around: Surroundings) -> frozenset[str]:
    """Trust these no longer; return those that were trusted."""
    known = trusted(around)
    if gone := known.intersection(digests):
        _write(sorted(known - gone), around)
    return gone


def _write(digests: list[str], around: Surroundings) -> None:
    place = around.data_folder / TRUSTED
    part = place.with_suffix(f".{os.getpid()}")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(msgspec.json.encode(digests))
        part.replace(place)
    except OSError as error:
        with suppress(OSError):
            part.unlink()
        why = f"it cannot be written: {error.strerror or type(error).__name__}"
        raise InvalidInput(
            str(place), why, "What is trusted is as it was. Make room there, and let it be written."
        ) from None


def _digest(path: Path) -> str:
    """Return what stands for a file, at its place, with what it says now."""
    return sha256(str(path.resolve()).encode() + b"\0" + path.read_bytes()).hexdigest()
