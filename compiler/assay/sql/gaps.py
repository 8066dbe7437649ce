"""Measure the time that the records of each host cover, and the longest time without one."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from assay.sql.template import fill_query

#: columns of the answer, next to the host
RECORDS, DURATION, BEGIN, GAP = "records", "duration_ns", "begin_ns", "gap_ns"
FIRST, LAST, OUTSIDE = "first_ns", "last_ns", "outside"

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


_EXTENTS = """
    WITH times AS ($records), ends AS (
      SELECT host, count(t_ns) AS records, min(t_ns) AS first_ns, max(t_ns) AS last_ns,
        arg_min(t_ns, seq) AS begin_ns, arg_max(t_ns, seq) AS end_ns
      FROM times GROUP BY host
    )
    SELECT ends.host, any_value(records) AS records, any_value(first_ns) AS first_ns, any_value(last_ns) AS last_ns,
      count_if(t_ns < least(begin_ns, end_ns) OR t_ns > greatest(begin_ns, end_ns)) AS outside
    FROM times JOIN ends ON times.host = ends.host GROUP BY ends.host ORDER BY ends.host
"""


def measure_gaps(events: Sequence[str]) -> exp.Select:
    """Return a query for the longest time without a record of any of these events, on each host.

    Gaps below a hundredth of the time of a host may be missing: to group its records by hundredths is faster than to
    order all of them.
    """
    return fill_query(_QUERY, records=_select_records(events))


def measure_extents(events: Sequence[str]) -> exp.Select:
    """Return a query for the least and the greatest instant of the records of any of these events, on each host.

    `outside` counts the records that are not between the first and the last one of the host.
    """
    return fill_query(_EXTENTS, records=_select_records(events))


def _select_records(events: Sequence[str]) -> exp.Query:
    queries = [fill_query("SELECT host, seq, t_ns FROM $event", event=event) for event in events]
    return exp.union(*queries, distinct=False) if len(queries) > 1 else queries[0]
