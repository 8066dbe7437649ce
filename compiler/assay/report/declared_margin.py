"""Convert declared margins into the unit of a metric."""

from __future__ import annotations

from assay.judgement.verdict import Margin
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Metric
from assay.lang.model.vocabulary import Margin as DeclaredMargin
from assay.lang.units import get_package_library


def convert_margin(checked: CheckedPackage, metric: Metric, declared: DeclaredMargin) -> Margin:
    """Return a margin with its amount in the unit of the metric."""
    percent, amount = (float(text or "0") for text in (declared.percent, declared.amount))
    if amount and declared.unit.name != metric.unit.name:
        factor = get_package_library(checked.package).compute_factor(declared.unit.name, metric.unit.name)
        amount = amount * factor.numerator / factor.denominator
    return Margin(percent, amount)
