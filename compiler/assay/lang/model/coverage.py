"""What is known of which records a complete run has."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Coverage:
    """What is known of the records of the event `name`, or of an instant (`grain.instant`).

    `on_some_hosts`: a host without them, or a row without the instant, is no finding.  `dropped`: the field that names
    records which the log says were dropped (empty: it says nothing of the kind); `count`: the field with their number,
    or empty.
    """

    name: str
    on_some_hosts: bool = False
    dropped: str = ""
    count: str = ""
