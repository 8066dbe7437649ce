"""Find the events that supply the value of each metric, by the lineage of its measure.

Not counted are columns that only choose rows or decide which rows exist, conditions of CASE, and row counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from assay.lang.model.expression import Expression
from assay.lang.model.package import Grain, Metric
from assay.lang.reserved_names import INSTANT, SAMPLE_KEYS
from assay.lineage.column_lineage import ROWS, Origin
from assay.lineage.metric_lineage import build_origin_lookup
from assay.plan.planner import EventStep, RelationStep
from assay.sql.codegen import Statement
from assay.sql.completeness import drop_conditions, drop_sql_fallbacks
from assay.sql.relations import can_expand


class ValueEvents:
    """Finds the events that supply values of a plan's metrics, and relations that fall back to numbers."""

    def __init__(self, statements: Sequence[Statement]) -> None:
        tables = [item for item in statements if item.kind in ("table", "view")]
        self._origins = build_origin_lookup(
            [replace(item, query=drop_conditions(item.query)) if item.kind == "table" else item for item in tables]
        )
        self._events = {item.name for item in tables if isinstance(item.step, EventStep)}
        self._with_fallbacks = {
            item.name
            for item in tables
            if isinstance(item.step, RelationStep) and drop_sql_fallbacks(item.query) is not None
        }
        self._expanded = {
            item.name for item in tables if isinstance(item.step, RelationStep) and can_expand(item.query)
        }

    def list_events(self, metric: Metric) -> frozenset[str]:
        """Return the events that a metric's values come from."""
        origins = self._list_origins(metric)
        return frozenset(item.table for item in origins if item.table in self._events and item.column != ROWS)

    def list_timed_events(self, metric: Metric) -> frozenset[str]:
        """Return the events whose instants a metric's values come from."""
        origins = self._list_origins(metric)
        return frozenset(item.table for item in origins if item.table in self._events and item.column == INSTANT)

    def list_fields(self, metric: Metric) -> frozenset[tuple[str, str]]:
        """Return the fields of events, other than host, place and instant, that a metric's values come from."""
        origins = self._list_origins(metric)
        standard_columns = (*SAMPLE_KEYS, ROWS)
        return frozenset(
            (origin.table, origin.column)
            for origin in origins
            if origin.table in self._events and origin.column not in standard_columns
        )

    def list_deciding_events(self, grain: Grain) -> frozenset[str]:
        """Return the events of the values that split rows into runs; none for a grain without runs."""
        if not grain.runs:
            return frozenset()
        columns = (Origin(grain.runs.of, name) for name in _list_columns(grain.runs.holds))
        origins = frozenset[Origin]().union(*map(self._origins, columns))
        return frozenset(item.table for item in origins if item.table in self._events and item.column != ROWS)

    def has_fallbacks(self, metric: Metric) -> bool:
        """Return whether a relation that a metric's values come from falls back to numbers."""
        return any(item.table in self._with_fallbacks for item in self._list_origins(metric))

    def has_lists(self, metric: Metric) -> bool:
        """Return whether a relation that a metric's values come from has several rows of a record, from its lists."""
        return any(item.table in self._expanded for item in self._list_origins(metric))

    def _list_origins(self, metric: Metric) -> frozenset[Origin]:
        columns = (Origin(metric.grain, name) for name in _list_columns(metric.measure))
        return frozenset().union(*map(self._origins, columns))


def _list_columns(measure: Expression) -> tuple[str, ...]:
    """List the columns of the grain's table that a measure reads."""
    column_names = (
        f"{node.text}_{node.name}" if node.op == "taken" else node.name
        for node in measure.walk()
        if node.op in ("column", "instant", "taken")
    )
    return tuple(dict.fromkeys(column_names))
