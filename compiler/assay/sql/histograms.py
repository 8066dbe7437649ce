"""Compile centiles of histograms, whose samples are upper bounds of buckets with cumulative counts.

They are those of `histogram_quantile` of Prometheus, see `bucketQuantile` and `histogramQuantile` in promql/quantile.go
of its source: linear in the bucket that has the rank, or exponential for native histograms; the lowest bucket begins at
0 unless its bound is below, and counts never fall from bound to bound. In the bucket without an upper bound only the
greatest finite bound is known, which the centile is at least.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from assay.lang.model.package import EXPONENTIAL, Metric, Reduction
from assay.sql import dialect
from assay.sql.dialect import build_column
from assay.sql.expressions import Names, compile_expression
from assay.sql.template import Slot, fill_expression, fill_query

#: columns of the counts of groups
GROUPS, ABOVE = "groups", "above"

#: the names that the value of a centile is computed from, each from those before it
_STEPS = {
    "pairs": "list(struct_pack(bound := $bound, counted := $counts) ORDER BY $bound, $counts)",
    "bounds": "list_sort(list_distinct(list_transform(pairs, lambda p: p.bound)))",
    "sums": """list_transform(bounds, lambda b: list_aggregate(
        list_transform(list_filter(pairs, lambda p: p.bound = b), lambda p: p.counted), 'fsum'))""",
    "totals": "list_transform(sums, lambda s, i: list_max(list_slice(sums, 1, i)))",
    "rank": "$centile * list_extract(totals, -1)",
    # Sums of doubles of equal buckets may differ in their last digits: Prometheus lets them differ by as much.
    "place": "len(list_filter(totals, lambda t: t < rank * (1 - 1e-12))) + 1",
}

#: what precedes the lowest bucket has no bound and no count
_START = "coalesce(list_extract(bounds, place - 1), 0::DOUBLE)"
_BELOW = "coalesce(list_extract(totals, place - 1), 0::DOUBLE)"
#: no value if no bucket is unbounded, or without values
_IS_KNOWN = "len(bounds) > 1 AND isinf(list_extract(bounds, -1)) AND list_extract(totals, -1) > 0"
_IS_ABOVE = "place = len(bounds)"

_CENTILE = f"""
    CASE WHEN NOT ({_IS_KNOWN}) THEN NULL
      WHEN {_IS_ABOVE} OR (place = 1 AND list_extract(bounds, 1) <= 0)
      THEN list_extract(bounds, least(place, len(bounds) - 1))
      ELSE {_START} + (list_extract(bounds, place) - {_START})
        * ((rank - {_BELOW}) / nullif(list_extract(totals, place) - {_BELOW}, 0)) END
"""

_UPPER, _UP_TO, _ALL = "list_extract(bounds, place)", "list_extract(totals, place)", "list_extract(totals, -1)"
_SHARE = f"((rank - {_BELOW}) / nullif({_UP_TO} - {_BELOW}, 0))"
#: of native histograms, see `histogramQuantile` there: exponential in the bucket, but linear in that of zeros, which
#: has no negative values if no bucket below has any, and no positive ones if none above has
_EXPONENTIAL = f"""
    CASE WHEN NOT ({_IS_KNOWN}) THEN NULL
      WHEN {_IS_ABOVE} OR place = 1 THEN list_extract(bounds, least(place, len(bounds) - 1))
      WHEN {_START} > 0 THEN {_START} * pow({_UPPER} / {_START}, {_SHARE})
      WHEN {_UPPER} < 0 THEN {_UPPER} * pow({_START} / {_UPPER}, 1 - {_SHARE})
      WHEN {_BELOW} = 0 AND {_ALL} > {_UP_TO} THEN {_UPPER} * {_SHARE}
      WHEN {_BELOW} > 0 AND {_ALL} = {_UP_TO} THEN {_START} * (1 - {_SHARE})
      ELSE {_START} + ({_UPPER} - {_START}) * {_SHARE} END
"""

_COUNTS = f"""
    SELECT count(*) AS {GROUPS}, count_if({ABOVE}) AS {ABOVE}
    FROM (SELECT $is_above AS {ABOVE} FROM $grain WHERE $conditions AND NOT $bound IS NULL GROUP BY $keys HAVING $known)
"""


def build_histogram_centile(bound: exp.Expr, counts: exp.Expr, reduction: Reduction) -> exp.Expr:
    """Return the centile that is the reduction of the histogram of a group of rows, in the unit of `bound`.

    `bound` is the upper bound of a row's bucket, `counts` how many values are at most this. Rows with the same bound
    add up. The centile is null if no bucket has the bound infinity, and without values.
    """
    template = _EXPONENTIAL if reduction.kind == EXPONENTIAL else _CENTILE
    return _compute(template, bound, counts, reduction.centile)


def build_is_known(bound: exp.Expr, counts: exp.Expr) -> exp.Expr:
    """Return the condition that a group of rows has values, a bucket for all of them, and one with a finite bound."""
    return fill_expression(
        "count(DISTINCT $bound) > 1 AND isinf(max($bound)) AND max($counts) > 0", bound=bound, counts=counts
    )


def count_groups_above(metric: Metric, constants: Mapping[str, object]) -> exp.Select:
    """Count the groups of a metric of a histogram, and those whose centile lies above the greatest finite bound.

    Columns: `GROUPS` and `ABOVE`.
    """
    reduction, names = metric.reduction, Names(constants=constants)
    assert reduction is not None
    bound = compile_expression(metric.measure, names)
    conditions: list[exp.Expr] = [build_column("accepted")] if metric.accepted else []
    if metric.where:
        conditions.append(compile_expression(metric.where, names))
    slots: dict[str, Slot] = {"grain": metric.grain, "conditions": conditions, "bound": bound}
    slots["keys"] = tuple(dict.fromkeys((*([metric.per] if metric.per else []), *reduction.by)))
    counts = build_column(reduction.counts)
    is_above = _compute(_IS_ABOVE, bound, counts, reduction.centile)
    return fill_query(_COUNTS, is_above=is_above, known=build_is_known(bound, counts), **slots)


def _compute(template: str, bound: exp.Expr, counts: exp.Expr, centile: float) -> exp.Expr:
    """Return an expression over the names of `_STEPS`: SQL names a value by a list of one that is transformed."""
    value = fill_expression(template)
    slots = {"bound": bound, "counts": counts, "centile": dialect.build_real(repr(centile))}
    for name, step in reversed(list(_STEPS.items())):
        used = {key: slot for key, slot in slots.items() if f"${key}" in step}
        named = exp.Array(expressions=[fill_expression(step, **used)])
        transformed = dialect.build_list_transform(named, name, value)
        value = dialect.build_list_extract(transformed, dialect.build_integer(1))
    return value
