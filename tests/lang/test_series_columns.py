"""The columns that the SQL of series adds: no label can have their names."""

from __future__ import annotations

from pathlib import Path

from sqlglot import exp

from assay.lang.reserved_names import READINGS
from assay.lang.workspace import get_shipped_workspace, load_package
from assay.sql import series
from assay.sql.expressions import build_placeholders


def test_columns_of_series_are_reserved_label_names(cache: Path) -> None:
    """The shipped specs use every kind of reading."""
    names: set[str] = set()
    for system in ("antelope", "cometbft"):
        package = load_package(get_shipped_workspace(), system, cache).package
        keys = {relation.name: relation.key for relation in package.relations}
        constants = build_placeholders(item.name for source in package.sources for item in source.constants)
        for item in package.series:
            reserved_columns = {*keys[item.windows], *item.by, *(term.name for term in item.terms)}
            stages = series.compile_series(item, keys[item.windows], constants).find_all(exp.Select)
            names |= {column.alias_or_name for stage in stages for column in stage.selects} - reserved_columns
    assert names - {""} == READINGS
