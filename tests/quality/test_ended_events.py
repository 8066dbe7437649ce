"""Events whose records end long before their run does, unlike in another run."""

from __future__ import annotations

import pytest

from assay.quality.ended_events import EventExtent, find_ended_event, find_longest
from assay.quality.extents import LogExtent, RunExtent

SECOND = 10**9

#: case -> records, seconds to the last one, and seconds of the run, in a run and in that with most; the finding or ""
CASES: dict[str, tuple[tuple[int, int, int], tuple[int, int, int], str]] = {
    "alike": ((1000, 600, 600), (1000, 600, 600), ""),
    "ends early": (
        (200, 100, 600), (1000, 600, 600), "the `wrote` records end 500 s before the run (200, base 1000) (wait).",
    ),
    "ends early in both": ((200, 100, 600), (1000, 100, 600), ""),
    "rare to the end": ((200, 600, 600), (1000, 600, 600), ""),
    "shorter by a third": ((700, 400, 600), (1000, 600, 600), ""),
    "few records": ((10, 100, 600), (1000, 600, 600), ""),
}  # fmt: skip


def create_extent(label: str, records: int, last: int, duration: int) -> EventExtent:
    run = RunExtent(label, "log", (LogExtent("h", 0, duration * SECOND, 2 * records),))
    return EventExtent(run, records, last * SECOND)


@pytest.mark.parametrize("case", CASES)
def test_events_that_end_early(case: str) -> None:
    extent, longest, expected = CASES[case]
    findings = find_ended_event("wrote", create_extent("other", *extent), create_extent("base", *longest), ["wait"])
    assert [(item.code, item.message) for item in findings] == ([("short-run", expected)] if expected else [])


def test_only_events_with_far_fewer_records_are_examined() -> None:
    assert find_longest([1000, 700]) is None
    assert find_longest([400, 1000, 900]) == 1
    assert find_longest([0, 1000]) is None
    assert find_longest([]) is None
