"""Checked packages: what passed all checks, with conversion factors and definition hashes."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from assay.lang.model.package import Metric, Package

REAL_DECIMALS = 9
"""So many decimals of a real sample in the unit of its metric count in judgements."""


@dataclass(frozen=True, slots=True)
class MeasureResult:
    """The result of a metric's measure: type (integer, unsigned, real), unit, and factor to the metric's unit."""

    type: str
    unit: str
    factor: Fraction

    @property
    def integral(self) -> bool:
        """Return whether samples are exact integers."""
        return self.type != "real"

    @property
    def decimals(self) -> int:
        """Return how many decimals of a sample count in judgements: 0 if samples are exact integers.

        Samples are in the unit of the measure, as tx/ns, of which one may be 10^9 of the metric's, as tx/s.
        """
        if self.integral:
            return 0
        return REAL_DECIMALS + next(digits for digits in itertools.count() if 10**digits >= self.factor)


@dataclass(frozen=True, slots=True)
class CheckedPackage:
    """A package that passed all checks, with conversion factors written into its expressions.

    `measured` and `definitions` (hashes) are by id of the metric; `sources` is the hash of the Dhall sources.
    """

    package: Package
    measured: Mapping[str, MeasureResult]
    definitions: Mapping[str, str]
    sources: str

    def get_metric(self, name: str) -> Metric:
        """Return the metric with an id.  Raises KeyError."""
        return {metric.id: metric for metric in self.package.metrics}[name]
