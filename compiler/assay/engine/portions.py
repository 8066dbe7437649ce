"""Distributions of the samples of large tables, worked out for some of their values at a time.

The engine sorts the samples of a statement in memory, those of all hosts at once; only what else it does is spilled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sqlglot import exp

from assay.spec.model import Metric
from assay.spec.normal_form import Checked
from assay.sql import dialect
from assay.sql.dialect import column
from assay.sql.distributions import domain_of, of_some

MOST = 2_000_000  # rows whose samples are sorted at a time, unless one value has more

Ask = Callable[[str], Sequence[Sequence[object]]]
Portion = tuple[object, ...]


class Portions:
    """The values of which distributions of a run are asked at a time."""

    def __init__(self, checked: Checked) -> None:
        self._domains = {grain.name: domain_of(grain) for grain in checked.package.grains}
        self._known: dict[tuple[str, str], tuple[Portion, ...]] = {}

    def texts(self, metric: Metric, query: exp.Expr, text: str, ask: Ask) -> list[str]:
        """The texts that yield a metric's distributions one after the other: its own, or one for each portion."""
        found = self._of(metric, ask) if metric.per else ()
        return [dialect.text(of_some(query, metric.per, values)) for values in found] or [text]

    def _of(self, metric: Metric, ask: Ask) -> tuple[Portion, ...]:
        """The portions of a metric; none where its table is small."""
        key = (metric.grain, metric.per)
        if key not in self._known:
            self._known[key] = tuple(portions(self._rows(metric, ask), MOST)) if _is_large(metric.grain, ask) else ()
        return self._known[key]

    def _rows(self, metric: Metric, ask: Ask) -> list[tuple[object, int]]:
        """The values that a metric has distributions of, in order, and how many rows of its table each has."""
        per = column(metric.per)
        counts = dialect.select(per, exp.Count(this=exp.Star())).from_(metric.grain).group_by(per)
        found = {value: int(str(rows)) for value, rows in ask(dialect.text(counts))}
        there = exp.Not(this=exp.Is(this=per.copy(), expression=exp.Null()))
        domain = dialect.select(per.copy()).distinct().from_(self._domains[metric.grain]).where(there)
        values = ask(dialect.text(domain.order_by(per.copy())))
        return [(value, found.get(value, 0)) for (value,) in values]


def portions(rows: Sequence[tuple[object, int]], most: int) -> Iterator[Portion]:
    """Values in their order, cut where their rows would be more than `most`; one value at least."""
    values: list[object] = []
    held = 0
    for value, count in rows:
        if values and held + count > most:
            yield tuple(values)
            values, held = [], 0
        values.append(value)
        held += count
    if values:
        yield tuple(values)


def _is_large(table: str, ask: Ask) -> bool:
    ((rows,),) = ask(dialect.text(dialect.select(exp.Count(this=exp.Star())).from_(table)))
    return int(str(rows)) > MOST
