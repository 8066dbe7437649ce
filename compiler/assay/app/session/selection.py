"""Define what a command computes, as its user selects it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

MARK = "@"  # before the path of a file among texts of filters


def is_file(text: str) -> bool:
    """Return whether a text of a filter names a file: `@FILE`."""
    return text.startswith(MARK)


@dataclass(frozen=True, slots=True)
class Selection:
    """What to compute, as the user selects it; empty values select what the report or the specs say.

    `metrics` are ids or names of metrics; `report` is `system/name`; `by` are dimensions with commas between them, or
    another column of text; `phases` and `at` are phases and instants as written on the command line.
    """

    metrics: tuple[str, ...] = ()
    report: str = ""
    system: str | None = None
    filters: Sequence[str] = ()
    no_filters: bool = False
    summary: str = ""
    by: str = ""
    phases: Sequence[str] = ()
    at: Sequence[str] = ()

    def to_options(self) -> dict[str, Any]:
        """Return what is selected besides metrics, by name."""
        options = {item.name: (getattr(self, item.name), item.default) for item in fields(self)}
        return {name: value for name, (value, default) in options.items() if name != "metrics" and value != default}


#: what is selected without options
EVERYTHING = Selection()
