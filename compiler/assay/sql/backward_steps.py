"""Find the files of logs in which the instants of records go back and stay behind."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from assay.sql.dialect import build_integer
from assay.sql.template import fill_query

#: columns of the answer: a block of consecutive records, its number, and their number, least and greatest instant
HOST, FILE, BLOCK, RECORDS, FIRST, LAST = "host", "file", "block", "records", "first_ns", "last_ns"

#: consecutive records of a block; also lines, of which those of a block are multiples
BLOCK_RECORDS = 16

_PORTIONS = """
    SELECT host, seq // $step AS file, (seq % $step) // $size AS portion, t_ns FROM $event WHERE t_ns IS NOT NULL
"""
_QUERY = """
    WITH portions AS (
      SELECT host, file, portion, count(*) AS records, min(t_ns) AS first_ns, max(t_ns) AS last_ns
      FROM $lines AS lines GROUP BY host, file, portion
    ), numbered AS (
      SELECT *, (sum(records) OVER (PARTITION BY host, file ORDER BY portion) - 1) // $size AS block FROM portions
    ), blocks AS (
      SELECT host, file, block, sum(records) AS records, min(first_ns) AS first_ns, max(last_ns) AS last_ns
      FROM numbered GROUP BY host, file, block
    ), compared AS (
      SELECT *, first_ns > $least + lead(last_ns, 2) OVER (PARTITION BY host, file ORDER BY block) AS is_ahead
      FROM blocks
    ), counted AS (
      SELECT *, count_if(is_ahead) OVER (PARTITION BY host, file) AS ahead FROM compared
    )
    SELECT host, file, block::BIGINT AS block, records::BIGINT AS records, first_ns, last_ns FROM counted
    WHERE ahead > 0 AND ahead <= $most ORDER BY host, file, block
"""


def select_blocks(events: Sequence[str], file_step: int, least_ns: int, most: int) -> exp.Select:
    """Return a query for the blocks of the files in which 1 to `most` blocks lie after the next but one.

    `events` are those of a source, whose `seq` is `file_step` greater in each file. A block lies after another if all
    its records do, by more than `least_ns`. A file in which more blocks do is out of order as a rule: nothing can be
    seen in it.
    """
    size, step = build_integer(BLOCK_RECORDS), build_integer(file_step)
    queries = [fill_query(_PORTIONS, event=name, size=size, step=step) for name in events]
    lines = exp.union(*queries, distinct=False) if len(queries) > 1 else queries[0]
    return fill_query(_QUERY, lines=lines, size=size, least=build_integer(least_ns), most=build_integer(most))
