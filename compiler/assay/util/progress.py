"""Callbacks for progress and notices."""

from __future__ import annotations

from collections.abc import Callable

#: called with the activity, the amount done and the total (bytes or steps)
Progress = Callable[[str, int, int], None]
#: called with the bytes done and the total bytes of one transfer
ByteProgress = Callable[[int, int], None]
#: called with a notice for the user
Notice = Callable[[str], None]


def ignore(*_arguments: object) -> None:
    """Do nothing: the default of a callback."""
