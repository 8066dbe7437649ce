"""Compile how much counters grow from sample to sample."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from assay.lang.model.series import Sampled, Series
from assay.lang.reserved_names import SERIES
from assay.lang.scopes import HOST
from assay.sql import series_ends
from assay.sql.template import fill_expression, fill_query

#: how much a counter grew since its sample before; after a restart it began at 0
_INCREASES = """
    SELECT $labels, t_ns, CASE WHEN value < before THEN value ELSE value - before END AS value
    FROM (SELECT $labels, t_ns, value, lag(value) OVER (PARTITION BY $line ORDER BY seq) AS before FROM $counted)
    WHERE NOT before IS NULL
"""


def select_increases(
    series: Series, sampled: Sampled, value: exp.Expr, constants: Mapping[str, object], is_logged: bool
) -> exp.Select:
    """Select the labels and instants of the samples of counters, and how much the `value` of each grew since the last.

    Each series of samples is a counter of its own, whatever labels it lacks; so are the records of a host with the same
    labels.  NaN is no value.
    """
    value = fill_expression("$value::DOUBLE", value=value)
    line = tuple(dict.fromkeys((*series.by, HOST))) if is_logged else (SERIES,)
    counted = fill_query(
        "SELECT $columns, $value AS value FROM $event WHERE NOT $value IS NULL AND NOT isnan($value)",
        columns=tuple(dict.fromkeys((*series.by, *line, "t_ns", "seq"))), value=value, event=sampled.event,
    )  # fmt: skip
    counted = series_ends.filter_rows(counted, sampled.where, constants)
    return fill_query(_INCREASES, labels=series.by, line=line, counted=counted)
