"""Compute statistics of a series over a stretch of time, which prose quotes, and format them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from assay.lang.checked_package import CheckedPackage
from assay.lang.model.series import Series
from assay.lang.units import get_package_library
from assay.number_styles.cell_text import convert_text, print_number
from assay.number_styles.exact_decimal import format_rounded_fraction, to_fraction
from assay.number_styles.registry import Style

Row = Mapping[str, object]

#: the values of a row of digits that a table of series prints
DIGITS = 9
MAX, MIN, MEAN = "max", "min", "mean"
EXPECTED = "`max`, `min`, `mean`, `share below 2500`, `share above 2500` or `share between 1000 and 2500`"
_NUMBER = r"-?\d{1,18}(?:\.\d{1,18})?"
_SHARE = re.compile(rf"share (?:(below|above) ({_NUMBER})|between ({_NUMBER}) and ({_NUMBER}))")


@dataclass(frozen=True, slots=True)
class SeriesStatistic:
    """A statistic of the values of a series: its name as it is written.

    A share is that of the values of all lines and steps, in percent: `low` and `high` bound them.
    `includes_bounds` is set for `between`.
    """

    name: str
    low: float = -math.inf
    high: float = math.inf
    includes_bounds: bool = False

    @property
    def is_share(self) -> bool:
        """Whether it is a share."""
        return self.low > -math.inf or self.high < math.inf

    def compute(self, rows: Sequence[Row]) -> Fraction | None:
        """Return the statistic of some rows, exact to their decimal texts; None without a finite value."""
        if self.name == MEAN:
            mean = compute_mean_over_time(rows)
            return None if mean is None else to_fraction(mean)
        values = [float(str(row["value"])) for row in rows if is_finite(row)]
        if not values:
            return None
        if self.is_share:
            return Fraction(100 * sum(map(self._is_within, values)), len(values))
        return to_fraction(max(values) if self.name == MAX else min(values))

    def _is_within(self, value: float) -> bool:
        return self.low <= value <= self.high if self.includes_bounds else self.low < value < self.high


def parse_statistic(name: str) -> SeriesStatistic | None:
    """Return the statistic of this name; None if there is none."""
    if name in (MAX, MIN, MEAN):
        return SeriesStatistic(name)
    match = _SHARE.fullmatch(name)
    if not match:
        return None
    if match[1]:
        bound = float(match[2])
        return SeriesStatistic(name, high=bound) if match[1] == "below" else SeriesStatistic(name, low=bound)
    return SeriesStatistic(name, float(match[3]), float(match[4]), includes_bounds=True)


def is_finite(row: Row) -> bool:
    """Return whether a row of a series has a value that can be drawn."""
    return math.isfinite(float(str(row["value"])))


def compute_mean_over_time(rows: Sequence[Row]) -> float | None:
    """Compute the mean over all steps of the mean over lines; values that are not finite are left out."""
    values_by_time: dict[object, list[float]] = {}
    for row in rows:
        if is_finite(row):
            values_by_time.setdefault(row["t_ns"], []).append(float(str(row["value"])))
    means = [math.fsum(values) / len(values) for values in values_by_time.values()]
    return math.fsum(means) / len(means) if means else None


def select_rows_within(rows: Sequence[Row], time_range: tuple[int, int] | None) -> Sequence[Row]:
    """Return the rows from the first to the last instant (ns)."""
    return (
        rows if time_range is None else [row for row in rows if time_range[0] <= int(str(row["t_ns"])) <= time_range[1]]
    )


def select_lines(rows: Sequence[Row], where: Sequence[tuple[str, object]]) -> Sequence[Row]:
    """Return the rows of the lines whose labels have these values."""
    return [row for row in rows if all(str(row[name]) == str(value) for name, value in where)] if where else rows


def compute_unit_factor(checked: CheckedPackage, series: Series, unit: str) -> Fraction:
    """Return the factor from the unit of a series to another. Raises UnknownUnitError, UnitError."""
    if unit in ("", series.unit.symbol):
        return Fraction(1)
    library = get_package_library(checked.package)
    return library.compute_factor(series.unit.name, unit)


def format_statistic(
    checked: CheckedPackage,
    number_style: Style,
    series: Series,
    statistic: SeriesStatistic,
    value: Fraction,
    decimals: int | None,
    unit: str = "",
) -> str:
    """Return a statistic with its unit: as tables print averages of series, or with `decimals`."""
    symbol = choose_statistic_unit(statistic, series, unit)
    number = value if statistic.is_share else value * compute_unit_factor(checked, series, unit)
    if decimals is None:
        text = number_style.format_table_row([float(number)], DIGITS).cells[0]
    else:
        text = print_number(format_rounded_fraction(number, decimals))
    return add_unit_to_text(text, symbol)


def choose_statistic_unit(statistic: SeriesStatistic | None, series: Series, unit: str = "") -> str:
    """Return the symbol of the unit of a statistic: percent of a share, else the chosen unit or that of the series."""
    return "%" if statistic and statistic.is_share else unit or series.unit.symbol


def add_unit_to_text(text: str, symbol: str) -> str:
    """Return the text of a number with its unit behind it."""
    return convert_text(text, lambda number: f"{number} {symbol}") if symbol else text
