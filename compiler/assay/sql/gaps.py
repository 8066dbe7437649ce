"""Measure the longest time without a record on each host."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from assay.sql.template import fill_query

#: columns of the answer, next to the host
RECORDS, DURATION, BEGIN, GAP = "records", "duration_ns", "begin_ns", "gap_ns"

_QUERY = """
    WITH times AS ($records), extents AS (
      SELECT host, count(t_ns) AS records, min(t_ns) AS first_ns, max(t_ns) AS last_ns FROM times GROUP BY host
    ), parts AS (
      SELECT times.host,
        (times.t_ns - extents.first_ns) // greatest(1, (extents.last_ns - extents.first_ns) // 100) AS part,
        min(times.t_ns) AS begin_ns, max(times.t_ns) AS end_ns
      FROM times JOIN extents ON times.host = extents.host GROUP BY times.host, part
    ), steps AS (
      SELECT host, lag(end_ns) OVER (PARTITION BY host ORDER BY part) AS before_ns, begin_ns FROM parts
    )
    SELECT extents.host, any_value(records) AS records, any_value(last_ns - first_ns) AS duration_ns,
      arg_max(before_ns, begin_ns - before_ns) AS begin_ns, max(begin_ns - before_ns) AS gap_ns
    FROM extents JOIN steps ON extents.host = steps.host GROUP BY extents.host ORDER BY extents.host
"""


def measure_gaps(events: Sequence[str]) -> exp.Select:
    """Return a query for the longest time without a record of any of these events, on each host.

    Gaps below a hundredth of the time of a host may be missing: to group its records by hundredths is faster than to
    order all of them.
    """
    queries = [fill_query("SELECT host, t_ns FROM $event", event=event) for event in events]
    records = exp.union(*queries, distinct=False) if len(queries) > 1 else queries[0]
    return fill_query(_QUERY, records=records)
