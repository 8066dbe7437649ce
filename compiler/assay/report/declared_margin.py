"""Convert declared margins into the unit of a metric."""

from __future__ import annotations

from assay.judgement.verdict import Direction, Margin
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Metric
from assay.lang.model.vocabulary import Judgement as DeclaredJudgement
from assay.lang.model.vocabulary import Margin as DeclaredMargin
from assay.lang.units import get_package_library

PERCENT = "percent"  # the name of its unit
DEFAULT_MARGIN = Margin(percent=2)


def choose_margin(checked: CheckedPackage, metric: Metric, rules: DeclaredJudgement | None) -> Margin:
    """Return the margin of a metric: its own, that of the rules of a report, or else the default one."""
    declared = metric.margin or (rules.margin if rules else None)
    return convert_margin(checked, metric, declared) if declared else DEFAULT_MARGIN


def convert_margin(checked: CheckedPackage, metric: Metric, declared: DeclaredMargin) -> Margin:
    """Return a margin with its amount in the unit of the metric.

    One that the metric does not declare itself is of the rest to 100 % if the metric is a share that is better higher.
    """
    percent, amount = (float(text or "0") for text in (declared.percent, declared.amount))
    if amount and declared.unit.name != metric.unit.name:
        factor = get_package_library(checked.package).compute_factor(declared.unit.name, metric.unit.name)
        amount = amount * factor.numerator / factor.denominator
    is_success = metric.better == Direction.HIGHER and metric.margin is None
    return Margin(percent, amount, get_whole_of_share(metric) if is_success else 0.0)


def get_whole_of_share(metric: Metric) -> float:
    """Return the value of a metric in percent that nothing lacks; 0 for another metric."""
    return 100.0 if metric.unit.name == PERCENT else 0.0
