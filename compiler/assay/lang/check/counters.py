"""Refuse metrics of numbers that are no results: totals and averages since a start, thresholds, ids.

The average of a total says how long a run is; a threshold and an id say nothing about what was done. Fields declare
what they are: `E.counter`, `E.averageSoFar`, `E.threshold`, `E.id`.
"""

from __future__ import annotations

from assay.lang import formula
from assay.lang.check.checker import Checker
from assay.lang.model.package import CENTILE, Field, Metric
from assay.lang.number_kinds import (
    AVERAGE,
    COUNTER,
    FIELD_KINDS,
    ID,
    THRESHOLD,
    list_fields,
    list_measured_fields,
)
from assay.lang.units import VALUE

_NUMBER = "count"  # reduction to the number of samples
#: reductions and readings that add up or average
_MIXING = ("", "sum", CENTILE)
_MIXED_READINGS = ("sum", "mean")
_NO_RESULTS = (THRESHOLD, ID)
_WORDS = {
    COUNTER: "a total since a start",
    AVERAGE: "an average since a start",
    THRESHOLD: "a threshold",
    ID: "an id",
}
_HINTS = {
    COUNTER: "measure its increase by a series with the reading `increase` or `rate`; `M.greatest` is the last total",
    AVERAGE: "measure the numbers that it averages",
    THRESHOLD: "measure what it limits, or the share of rows beyond it with `M.share`; it is never judged itself",
    ID: "use it as a key or a dimension, or count records with `M.number`; it is never judged itself",
}


def check_counters(checker: Checker) -> None:
    """Check the kinds of fields, and that metrics and series read none that is no result."""
    fields = list_fields(checker.package.events)
    for (event, _), field in fields.items():
        if field.kind not in FIELD_KINDS:
            message = f"unknown kind of field `{field.name}` of event `{event}`"
            checker.report("unknown-word", message, field.kind or field.name, expected=", ".join(FIELD_KINDS),
                           found=field.kind or "nothing", within=(field.name,))  # fmt: skip
    grains = {grain.name: grain for grain in checker.package.grains}
    relations = {relation.name: relation for relation in checker.package.relations}
    for metric in checker.package.metrics:
        if formula.is_formula(metric) or metric.grain not in grains:
            continue
        refused = _list_refused(metric)
        measured = list_measured_fields(metric, grains[metric.grain], fields, relations) if refused else ()
        if wrong := next((field for field in measured if field.kind in refused), None):
            verb = "measures" if wrong.kind in _NO_RESULTS else "averages"
            _report(checker, f"metric `{metric.id}` {verb}", wrong, metric.id)
    for series in checker.package.series:
        read = series.value.name if series.value and series.value.op == "field" else "" if series.value else VALUE
        kinds = tuple(_HINTS) if series.reading in _MIXED_READINGS else _NO_RESULTS
        for sampled in series.samples:
            sampled_field = fields.get((sampled.event, read))
            if sampled_field is not None and sampled_field.kind in kinds:
                _report(checker, f"series `{series.name}` has the {series.reading} of", sampled_field, series.name)


def _list_refused(metric: Metric) -> tuple[str, ...]:
    """Return the kinds of numbers of which a metric with this reduction means nothing."""
    reduction = metric.reduction.kind if metric.reduction else ""
    return () if reduction == _NUMBER else tuple(_HINTS) if reduction in _MIXING else _NO_RESULTS


def _report(checker: Checker, subject: str, field: Field, owner: str) -> None:
    is_no_result = field.kind in _NO_RESULTS
    checker.report(
        field.kind,
        f"{subject} `{field.name}`, which is {_WORDS[field.kind]}",
        owner,
        expected="a number that says how much or how many"
        if is_no_result
        else "a number that each record has for itself",
        found=_WORDS[field.kind],
        hint=_HINTS[field.kind],
        field="measure",
    )
