"""What a number style does not tell of numbers that it was not made for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from assay.lang.model.package import Metric
from assay.lang.model.report import Report
from assay.lang.normal_form import CheckedPackage
from assay.report import run_results
from assay.report.run_results import Choices, RunFigures
from assay.styles.registry import style
from assay.styles.row import misses, tells


def cut(checked: CheckedPackage, report: Report, runs: Sequence[RunFigures], choices: Choices) -> Iterable[str]:
    """Warnings of values whose digits before the point are cut."""
    look = style(choices.style)
    for metric, values in _averages(checked, report, runs, choices):
        cells = look.table_row(values, metric.width).cells
        off = [(cell, value) for cell, value in zip(cells, values, strict=True) if not tells(cell, value)]
        if off:
            said = ", ".join(f"{cell} for {value:.0f}" for cell, value in off)
            yield (
                f"The number style {choices.style} has no room for values of {metric.name} ({said}): its cells and "
                "differences do not tell them."
            )


def differences(checked: CheckedPackage, report: Report, runs: Sequence[RunFigures], choices: Choices) -> str:
    """Of which metrics the printed differences do not tell the change; empty: of none."""
    look = style(choices.style)
    names = []
    for metric, (base, *values) in _averages(checked, report, runs, choices):
        percents = look.table_row([base, *values], metric.width).percents
        if any(misses(percent, base, value) for percent, value in zip(percents, values, strict=True)):
            names.append(metric.name)
    if not names:
        return ""
    listed = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    return (
        f"The number style {choices.style} has too few decimals for differences of {listed}: their Δ and Δ% do not "
        "tell how much they changed."
    )


def _averages(
    checked: CheckedPackage, report: Report, runs: Sequence[RunFigures], choices: Choices
) -> Iterator[tuple[Metric, list[float | None]]]:
    """Each metric of the sections, and its average in each run."""
    shown = dict.fromkeys(name for section in report.sections for name in section.metrics)
    for metric in map(checked.metric, shown):
        yield metric, [run_results.average(run, metric, choices.summary) for run in runs]
