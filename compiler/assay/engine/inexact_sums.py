"""Where a query adds up real numbers in no order.

Their sum depends in its last digits on which are added first, and that on the number of threads.  The engine tells the
types of all that a query works out, in its plan.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb

#: functions of a group that add or multiply on the way
_SUMS = frozenset(
    (
        "sum", "avg", "mean", "fsum", "sumkahan", "kahan_sum", "favg", "product", "geomean", "geometric_mean",
        "stddev", "stddev_samp", "stddev_pop", "variance", "var_samp", "var_pop", "sem", "skewness", "kurtosis",
        "kurtosis_pop", "entropy", "corr", "covar_samp", "covar_pop", "regr_avgx", "regr_avgy", "regr_intercept",
        "regr_r2", "regr_slope", "regr_sxx", "regr_sxy", "regr_syy",
    )
)  # fmt: skip
_REAL = ("DOUBLE", "FLOAT")
_AS_PLANNED = "SELECT json_serialize_plan(?, optimize := false)"
_WHOLE = ("UNBOUNDED_PRECEDING", "UNBOUNDED_FOLLOWING")


def inexact(connection: duckdb.DuckDBPyConnection, sql: str) -> Iterator[str]:
    """The functions of a query, without places, over tables of the connection, that add up real numbers in no order.

    Of lists they are not: these have one.  None of a query that the engine can plan and not write down.
    """
    row = connection.execute(_AS_PLANNED, [sql]).fetchone()
    assert row is not None
    yield from dict.fromkeys(name for item in _calls(json.loads(row[0])) if (name := _name(item)))


def _calls(plan: object) -> Iterator[Mapping[str, Any]]:
    """The functions of groups and of windows in a plan, but for those that lists are given to."""
    if isinstance(plan, list):
        for item in plan:
            yield from _calls(item)
    elif isinstance(plan, dict):
        if plan.get("expression_class") in ("BOUND_AGGREGATE", "BOUND_WINDOW"):
            yield plan
        for key, item in plan.items():
            if key != "function_data":
                yield from _calls(item)


def _name(call: Mapping[str, Any]) -> str:
    """What a call is to, where it adds up real numbers in no order; else empty."""
    name = str(call.get("qname", {}).get("path", [""])[-1])
    real = any(item["id"] in _REAL for item in call.get("arguments", ()))
    return name if name in _SUMS and real and not _ordered(call) else ""


def _ordered(call: Mapping[str, Any]) -> bool:
    """Whether a call is told which of its rows come first; of a window, also by that it is of the rows up to each."""
    if call["expression_class"] == "BOUND_AGGREGATE":
        return bool(call.get("order_bys"))
    return bool(call.get("arg_orders")) or bool(call.get("orders") and (call.get("start"), call.get("end")) != _WHOLE)
