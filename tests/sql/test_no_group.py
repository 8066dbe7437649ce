"""Metrics with a distribution for each value of a column: rows that have no value in it are of no distribution."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import duckdb

from assay.lang.model.expression import Expression
from assay.lang.workspace import load, shipped
from assay.sql import dialect
from assay.sql.distributions import distribution, domain_of


def test_rows_without_a_group_are_in_no_distribution(cache: Path) -> None:
    package = load(shipped(), "cardano", cache).package
    metric = next(item for item in package.metrics if item.per and item.reduction is None)
    grain = next(item for item in package.grains if item.name == metric.grain)
    metric = replace(metric, per="grp", measure=Expression("column", (), name="n"), where=None)
    query = dialect.text(distribution(metric, domain_of(replace(grain, runs=None)), True, {}))
    with duckdb.connect() as connection:
        rows = "('g', 1), ('g', 2), (NULL, 7), ('h', NULL), (NULL, NULL)"
        connection.execute(
            f"CREATE TABLE {grain.name} AS SELECT *, true AS accepted FROM (VALUES {rows}) AS t (grp, n)"
        )
        cursor = connection.execute(query)
        names = [str(item[0]) for item in cursor.description or ()]
        sizes = {row[names.index("per")]: row[names.index("size")] for row in cursor.fetchall()}
    assert sizes == {"g": 2, "h": None}
