"""Who is told how far work has come."""

from __future__ import annotations

from collections.abc import Callable

#: told what is being done, how much of it is done, how much there is (bytes, or steps)
Progress = Callable[[str, int, int], None]
#: told how many bytes of one thing are done, of how many
Bytes = Callable[[int, int], None]
#: told what a user should know meanwhile
Notice = Callable[[str], None]


def silent(_what: str, _done: int, _total: int) -> None:
    """Progress that nobody watches."""


def unwatched(_done: int, _total: int) -> None:
    """Bytes that nobody watches."""


def unheard(_said: str) -> None:
    """A notice that nobody reads."""
