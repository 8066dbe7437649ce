"""Combine the runs of each version into one column of a comparison: the means of their averages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from assay.lang.model.package import Metric
from assay.number_styles.row import Centile, Distribution, FormulaResult, RunResults
from assay.report.run_results import RunFigures, name_versions
from assay.report.tables import Table

VARYING = "varies from run to run"


@dataclass(frozen=True, slots=True)
class Version:
    """A column of a comparison: a run, a phase, or several runs of one version.

    `figures` are those of the run, or the means of the runs; `members` are the figures of each run. `counts` has the
    number of runs with a value for each metric whose mean is not of all runs.
    """

    figures: RunFigures
    label: str
    members: tuple[RunFigures, ...]
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The id of the run or phase, or the name of the version of several runs."""
        return self.figures.id

    @property
    def runs(self) -> tuple[str, ...]:
        """The ids of the runs."""
        return tuple(run.id for run in self.members)


def combine_runs(
    runs: Sequence[RunFigures], constants: Sequence[str], run_labels: Sequence[str]
) -> tuple[Version, ...]:
    """Return the versions of some runs in order.

    `constants` are the label constants of the runs, `run_labels` their labels in the report.
    """
    names = name_versions(constants, runs)
    groups: dict[str, list[RunFigures]] = {}
    for run in runs:
        groups.setdefault(run.version or run.id, []).append(run)
    labels_by_run = dict(zip((run.id for run in runs), run_labels, strict=True))
    return tuple(
        Version(_average_runs(group), names[name], tuple(group), dict(_iter_partial_counts(group)))
        if group[0].version
        else Version(group[0], labels_by_run[name], tuple(group))
        for name, group in groups.items()
    )


def list_mixed_versions(constants: Sequence[str], runs: Sequence[RunFigures]) -> Iterator[str]:
    """Yield a warning on each version whose runs have different label constants.

    If each run has one of its own, the constants name runs, not versions.
    """
    labels: dict[str, dict[str, None]] = {}
    for label, run in zip(constants, runs, strict=True):
        if run.version:
            labels.setdefault(run.version, {})[label] = None
    if len(set(constants)) < len(constants):
        for version, names in labels.items():
            if len(names) > 1:
                yield f"The runs of {version} call themselves differently: {', '.join(names)}. Are they of one version?"


def combine_columns(table: Table, versions: Sequence[Version], run_ids: Sequence[str]) -> Table:
    """Return a table of parameters, which has a column for each run, with one for each version.

    Where runs of a version differ, the cell says so. `run_ids` are those of the columns.
    """

    def combine_row(row: Sequence[str]) -> tuple[str, ...]:
        cells = dict(zip(run_ids, row[1:], strict=True))
        values = [{cells[run] for run in version.runs} for version in versions]
        return (row[0], *(min(item) if len(item) == 1 else VARYING for item in values))

    header = (table.header[0], *(version.label for version in versions))
    return Table(table.title, header, tuple(map(combine_row, table.rows)))


def list_mean_notes(versions: Sequence[Version], metrics: Sequence[Metric]) -> Iterator[str]:
    """Yield the notes below a table whose values are means of several runs: of how many."""
    counts = [f"{len(version.runs)} of {version.label}" for version in versions if version.figures.version]
    if counts:
        yield f"Values are means of the averages of runs: {', '.join(counts)}."
    for version in versions:
        for metric in metrics:
            if number := version.counts.get(metric.id):
                yield f"{metric.name}: only {number} of {len(version.runs)} runs of {version.label} have a value."


def _iter_partial_counts(runs: Sequence[RunFigures]) -> Iterator[tuple[str, int]]:
    """Yield each metric that has a value in some of the runs only, and their number."""
    first = runs[0].results
    has_value = {name: [bool(run.results.metrics[name].size) for run in runs] for name in first.metrics}
    has_value |= {
        name: [None not in run.results.formulas[name].averages.values() for run in runs] for name in first.formulas
    }
    return ((name, sum(items)) for name, items in has_value.items() if any(items) and not all(items))


def _average_runs(runs: Sequence[RunFigures]) -> RunFigures:
    """Return the means of several runs of a version; other facts are those of the first."""
    first = runs[0]
    results = RunResults(
        {name: _average_distributions([run.results.metrics[name] for run in runs]) for name in first.results.metrics},
        first.results.relations,
        (),
        (),
        formulas={
            name: FormulaResult(_average_formulas([run.results.formulas[name].averages for run in runs]))
            for name in first.results.formulas
        },
    )
    findings = tuple(finding for run in runs for finding in run.quality.findings)
    quality = replace(first.quality, findings=findings)
    return replace(first, id=first.version, results=results, notes=(), quality=quality)


def _average_distributions(distributions: Sequence[Distribution]) -> Distribution:
    """Return the means of averages, medians, deviations and centiles, and the total number of samples.

    Runs without samples are left out.
    """
    items = [item for item in distributions if item.size]
    if not items:
        return distributions[0]
    first = items[0]
    return Distribution(
        sum(item.size for item in items),
        {name: compute_mean([item.averages[name] for item in items]) for name in first.averages},
        compute_mean([item.median for item in items]),
        {name: compute_mean([item.stddevs[name] for item in items]) for name in first.stddevs},
        min(item.least for item in items),
        max(item.greatest for item in items),
        tuple(
            Centile(same[0].centile, compute_mean([item.value for item in same]), None, None, None)
            for same in zip(*(item.centiles for item in items), strict=True)
        ),
        first.factor,
        first.integral,
    )


def _average_formulas(averages: Sequence[Mapping[str, float | None]]) -> dict[str, float | None]:
    """Return the mean of the values of a formula for each summary; None if no run has one."""
    values = {name: [item for run in averages if (item := run[name]) is not None] for name in averages[0]}
    return {name: compute_mean(items) if items else None for name, items in values.items()}


def compute_mean(values: Sequence[float]) -> float:
    """Return the mean of numbers, rounded once; if one is not finite, their sum by the rules of doubles."""
    try:
        return float(sum(map(Fraction, values), Fraction(0)) / len(values))
    except (OverflowError, ValueError):
        return sum(values)
