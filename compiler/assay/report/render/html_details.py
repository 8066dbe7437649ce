"""What stands behind a metric of a report, for a reader who asks: its samples, source events, constants and SQL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Detail:
    """What a build knows of a metric beside its entry in the dictionary.

    `samples` are rows of finished cells, a row a run, under a `header` (none: that of all); `events` and `constants`
    (of the runs) are names with descriptions; `file` is where the SQL stands in the folder of the report.
    """

    samples: tuple[tuple[str, ...], ...] = ()
    events: tuple[tuple[str, str], ...] = ()
    file: str = ""
    sql: str = ""
    constants: tuple[tuple[str, str], ...] = ()
    header: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Behind:
    """What stands behind a report: details by the ids of metrics and other entries."""

    header: tuple[str, ...] = ()
    details: Mapping[str, Detail] = field(default_factory=dict)


NOTHING = Behind()
