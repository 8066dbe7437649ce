"""Keys of caches that compare by `repr`."""

from __future__ import annotations

from typing import Generic, TypeVar

T = TypeVar("T")


class ReprKey(Generic[T]):
    """A value that equals another only if both have the same `repr`.

    1 and 1.0, or 1.0 and 1.00, are equal numbers, but their SQL differs.
    """

    __slots__ = ("text", "value")

    def __init__(self, value: T) -> None:
        self.value = value
        self.text = repr(value)

    def __hash__(self) -> int:
        return hash(self.text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ReprKey) and self.text == other.text
