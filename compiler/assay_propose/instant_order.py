"""Order records by their instants, since a log may write a record at its end with the instant of its start."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from assay_propose.model import Record
from assay_propose.sources import Group
from assay_propose.timed_steps import read_instant


def order_records(group: Group) -> Mapping[str, Sequence[Record]]:
    """Return the records of each event with positions in the order of instants, if each has one and some are earlier.

    Those of one instant are in the order of their lines.
    """
    if not group.source.time:
        return group.records
    by_host: dict[str, list[tuple[float, int]]] = defaultdict(list)
    for record in itertools.chain.from_iterable(group.records.values()):
        seconds = read_instant(group, record)
        if seconds is None:
            return group.records
        by_host[record.host].append((seconds, record.position))
    ranks = {
        (host, position): rank for host, items in by_host.items() for rank, (_, position) in enumerate(sorted(items))
    }
    return {
        event: [replace(record, position=ranks[record.host, record.position]) for record in records]
        for event, records in group.records.items()
    }
