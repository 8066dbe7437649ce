"""What stands above the SQL of a metric as a reader is shown it: units, and which columns its figures come out of."""

from __future__ import annotations

from collections.abc import Iterator

from assay.engine.results import MEDIAN
from assay.lang import formula
from assay.lang.model.package import Metric
from assay.lang.model.summary import Summary
from assay.lang.normal_form import CheckedPackage
from assay.sql.distributions import CENTILES
from assay.util.escape import visible

#: columns that hold values, in the unit that is measured
VALUES = "mean, stddev and centiles"


def headed(checked: CheckedPackage, metric: Metric, text: str) -> str:
    """The text of a metric's statement below comments for its reader; what is asked of the engine is the same."""
    return "".join(f"-- {visible(line)}\n" for line in _head(checked, metric)) + text


def _head(checked: CheckedPackage, metric: Metric) -> Iterator[str]:
    of = f" ({metric.unit.symbol})" if metric.unit.symbol else ""
    if formula.is_formula(metric):
        yield f"value is the average of {metric.id} in {metric.unit.name}{of}; the other columns are the averages of"
        yield "the metrics that it is over, each in the unit of that one"
        return
    found = checked.measured[metric.id]
    if found.factor == 1:
        yield f"{VALUES} are in {metric.unit.name}{of}, the unit of {metric.id}"
    else:
        yield f"{VALUES} are in {found.unit}: times {found.factor} they are in {metric.unit.name}{of}, the unit of"
        yield f"{metric.id}"
    yield f"{len(CENTILES)} centiles: {CENTILES[0]} (the least), {CENTILES[1]}, ... {CENTILES[-1]} (the greatest)"
    places = (f"centiles[{number}]" for number in (MEDIAN + 1, 1, len(CENTILES)))
    yield from (_over_rows if metric.per else _of_one_row)(checked, metric, *places)


def _of_one_row(_checked: CheckedPackage, _metric: Metric, median: str, least: str, greatest: str) -> Iterator[str]:
    yield f"average = mean, median = {median}, min = {least}, max = {greatest}"


def _over_rows(checked: CheckedPackage, metric: Metric, median: str, least: str, greatest: str) -> Iterator[str]:
    """The figures of a metric that has a distribution for each value of a column."""
    over = "those n rows that have samples" if metric.sampled_only else "the n rows, with 0 where a row has no samples"
    yield f"a row for each {metric.per}; over {over}:"
    yield "size = the sum of size"
    yield f"median = {median} of the row at place floor(n / 2) + 1 when they ascend by it"
    yield f"min = the least {least}, max = the greatest {greatest}"
    for summary in checked.package.summaries:
        yield f"by summary {summary.name}: average = {_average(summary)}, stddev = {_deviation(summary)}"


def _average(summary: Summary) -> str:
    return f"the average of the {summary.lowest} least mean" if summary.lowest else "the average of mean"


def _deviation(summary: Summary) -> str:
    return "the greatest stddev" if summary.deviation == "greatest" else "the average of stddev"
