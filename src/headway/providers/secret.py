"""A secret that cannot be shown by accident: not printed, not formatted, not encoded, not pickled."""

from hmac import compare_digest
from typing import Never

MASK = "••••"


class Secret:
    """A key. `name` says where it came from and may be shown; the value leaves only by `reveal`."""

    __slots__ = ("_value", "name")

    def __init__(self, value: str, name: str = "") -> None:
        """Hold a value that came from `name`."""
        self._value, self.name = value, name

    def reveal(self) -> str:
        """Return the value, for the header it belongs in and nowhere else."""
        return self._value

    def matches(self, given: str) -> bool:
        """Say whether this is the same value, in a time that does not tell how much of it is right."""
        return compare_digest(self._value.encode(), given.encode("utf-8", "surrogateescape"))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self.matches(other.reveal())

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"Secret({self.name or MASK})"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)

    def __reduce__(self) -> Never:
        raise TypeError("a secret is not written down")
