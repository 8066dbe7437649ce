"""Test the note on the columns of a table: it explains only the columns that are there."""

from __future__ import annotations

import pytest

from assay.report.percentiles import describe_columns

P95 = "At most 95 % of the samples are less than p95; it is itself a sample."
P99_9 = "At most 99.9 % of the samples are less than p99.9; it is itself a sample."
HOSTS = "Where each host has a distribution of its own, "
MEDIAN = "The median is a sample, too: of two in the middle, the greater."
OF_HOSTS, OF_ALL = "percentiles are medians over the hosts", "min and max are those of all samples"


@pytest.mark.parametrize(
    ("names", "note"),
    [
        ({"count"}, ""),
        ({"mean", "stddev"}, ""),
        ({"p50", "p95", "p99", "min", "max"}, f"{P95} {HOSTS}{OF_HOSTS}, {OF_ALL}."),
        ({"median", "p95"}, f"{P95} {MEDIAN} {HOSTS}{OF_HOSTS}."),
        ({"p50", "p99.9"}, f"{P99_9} {HOSTS}{OF_HOSTS}."),
        ({"count", "min", "max"}, f"{HOSTS}{OF_ALL}."),
        ({"median", "max"}, f"{MEDIAN} {HOSTS}medians are medians over the hosts, max is that of all samples."),
    ],
)
def test_note_explains_the_columns_of_the_table(names: set[str], note: str) -> None:
    assert describe_columns(names) == note
