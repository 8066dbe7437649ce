"""The columns that the SQL of series adds: no label can have their names."""

from __future__ import annotations

from pathlib import Path

from sqlglot import exp

from assay.lang.reserved_names import READINGS
from assay.lang.workspace import load, shipped
from assay.sql import series
from assay.sql.expressions import places


def test_columns_of_series_are_those_that_labels_cannot_be(cache: Path) -> None:
    """The shipped specs use every kind of reading."""
    names: set[str] = set()
    for system in ("antelope", "cometbft"):
        package = load(shipped(), system, cache).package
        keys = {relation.name: relation.key for relation in package.relations}
        constants = places(item.name for source in package.sources for item in source.constants)
        for item in package.series:
            own = {*keys[item.windows], *item.by, *(term.name for term in item.terms)}
            stages = series.table(item, keys[item.windows], constants).find_all(exp.Select)
            names |= {column.alias_or_name for stage in stages for column in stage.selects} - own
    assert names - {""} == READINGS
