"""`results.json`: the contract between computing and showing, and the machine-readable product."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence

from assay.lang.checked_package import CheckedPackage
from assay.lang.formula import format_formula, is_formula
from assay.lang.model.package import Metric
from assay.lang.model.report import Report
from assay.lang.time_format import format_instant
from assay.number_styles.row import Centile, Distribution, FormulaResult
from assay.quality.finding import build_quality_data
from assay.report.first_page.answer import Answer
from assay.report.run_results import (
    LABEL_AND_ID,
    Choices,
    RunFigures,
    format_chart_points,
    get_average,
    has_result,
    list_full_labels,
    make_labels_unique,
)
from assay.report.versions import Version, combine_runs
from assay.util.escape import escape_json


def build_results_data(
    checked: CheckedPackage, report: Report, metrics: Sequence[str], runs: Sequence[RunFigures], choices: Choices
) -> dict[str, object]:
    """Return all results of a report as plain data.

    For each metric and run: size, average (by the chosen summary), averages (by each summary), median, stddev, min,
    max, centiles `[c, value]` (over hosts `[c, median, lowest, highest]`) and points (the texts of chart points); for
    a formula only average and averages. Without samples, numbers are null and there are no centiles. With several
    runs of a version, `versions` has the versions, and for each metric the mean of the averages of their runs.
    """
    constants = list_full_labels(report.label, runs)
    run_labels = make_labels_unique(constants, runs, LABEL_AND_ID)
    versions = combine_runs(runs, constants, run_labels) if any(run.version for run in runs) else ()
    return {
        "report": f"{checked.package.system}/{report.name}",
        "summary": choices.summary,
        "filters": list(choices.filters),
        "runs": [
            {
                "id": run.id,
                "label": label,
                **_build_time_data(run),
                **({"version": run.version} if run.version else {}),
                **build_phase_data(run),
            }
            for run, label in zip(runs, run_labels, strict=True)
        ],
        **({"versions": [_build_version_data(item) for item in versions]} if versions else {}),
        "metrics": {name: _build_metric_data(checked, name, runs, choices, versions) for name in sorted(metrics)},
        "quality": {run.id: build_quality_data(run.quality) for run in runs},
        "manifest": {run.id: _build_manifest_data(report, run, choices) for run in runs},
        "filtered": {
            run.id: [_build_filter_data(run, index) for index in range(len(run.results.filters))] for run in runs
        },
    }


def _build_time_data(run: RunFigures) -> dict[str, str]:
    """Return the last day of a run, the instants of its first and last record; empty for phases and without times."""
    if run.start is None or run.end is None or run.phase:
        return {}
    return {"day": run.day, "start": format_instant(run.start), "end": format_instant(run.end)}


def build_calibration_data(
    metrics: Sequence[Metric], runs: Sequence[RunFigures], choices: Choices
) -> dict[str, object]:
    """Return the averages of metrics in calibration runs as the member `calibration`; empty without such runs."""
    averages = {
        run.id: {metric.id: _encode_mean(get_average(run, metric, choices.summary)) for metric in metrics}
        for run in runs
    }
    return {"calibration": averages} if averages else {}


def build_caution_data(answers: Sequence[Answer], runs: Sequence[RunFigures]) -> dict[str, object]:
    """Return why comparisons are suspect, causes of changes, and the numbers of hosts of each run, by version."""
    hosts: dict[str, list[int]] = {}
    for run in runs:
        hosts.setdefault(run.version or run.id, []).append(run.hosts)
    versions = list(hosts)[1:]  # ids of runs in answers are escaped
    causes = {name: list(item.causes) for name, item in zip(versions, answers, strict=True) if item.causes}
    cautions = dict(zip(versions, (item.caution for item in answers), strict=True))
    return {"cautions": cautions, **({"causes": causes} if causes else {}), "hosts": hosts}


def _build_version_data(version: Version) -> dict[str, object]:
    return {"id": version.id, "label": version.label, "runs": list(version.runs)}


def _encode_mean(value: float | None) -> float | str | None:
    return None if value is None else _encode_number(value)


def build_phase_data(run: RunFigures) -> dict[str, object]:
    """Return the run and bounds of a phase: `since_ns` to just before `until_ns` (null: open); empty for whole runs."""
    phase = run.phase
    if phase is None:
        return {}
    return {"run": phase.run, "phase": phase.name, "since_ns": phase.since, "until_ns": phase.until}


def _build_metric_data(
    checked: CheckedPackage, name: str, runs: Sequence[RunFigures], choices: Choices, versions: Sequence[Version]
) -> dict[str, object]:
    metric = checked.get_metric(name)
    runs = [run for run in runs if has_result(run, metric)]
    means = {item.id: _encode_mean(get_average(item.figures, metric, choices.summary)) for item in versions}
    if is_formula(metric):
        return {
            "name": metric.name,
            "unit": metric.unit.symbol,
            "definition": checked.definitions[name],
            "formula": format_formula(metric.measure),
            "runs": {run.id: build_formula_data(run.results.formulas[name], choices.summary) for run in runs},
            **({"versions": means} if versions else {}),
        }
    distributions = {run.id: run.results.metrics[name] for run in runs}
    return {
        "name": metric.name,
        "unit": metric.unit.symbol,
        "definition": checked.definitions[name],
        "runs": {
            run: {
                **build_distribution_data(item, choices.summary),
                "points": format_chart_points(checked, metric, item, choices.summary),
            }
            for run, item in distributions.items()
        },
        **({"versions": means} if versions else {}),
    }


def build_distribution_data(distribution: Distribution, summary: str) -> dict[str, object]:
    """Return a distribution as plain data, in the metric's unit; without samples no number and no centile."""
    encode = _encode_number if distribution.size else _omit_number
    return {
        "size": distribution.size,
        "average": encode(distribution.averages[summary]),
        "averages": {name: encode(value) for name, value in sorted(distribution.averages.items())},
        "median": encode(distribution.median),
        "stddev": encode(distribution.stddevs[summary]),
        "min": encode(distribution.least),
        "max": encode(distribution.greatest),
        "centiles": [_build_centile_data(distribution, item) for item in distribution.centiles if distribution.size],
    }


def build_formula_data(result: FormulaResult, summary: str) -> dict[str, object]:
    """Return the result of a formula as plain data, in its unit; null where it has no value."""
    return {"average": result.averages[summary], "averages": dict(sorted(result.averages.items()))}


def _build_centile_data(distribution: Distribution, item: Centile) -> list[float | str]:
    values = [item.value] if item.low is None or item.high is None else [item.value, item.low, item.high]
    return [item.centile, *(_encode_number(distribution.scale_value(value)) for value in values)]


def _encode_number(value: float) -> float | str:
    """Return a number, or its Prometheus text if it is not finite, which JSON cannot express."""
    return value if math.isfinite(value) else "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"


def _omit_number(_: float) -> None:
    """Return null for a number of a distribution without samples."""


def _build_manifest_data(report: Report, run: RunFigures, choices: Choices) -> dict[str, object]:
    facts: dict[str, object] = {}
    for row in report.manifest:
        if row.constant:
            facts[row.id] = run.constants[row.constant]
        elif row.relation:
            facts[row.id] = run.results.relations[row.relation][row.column]
        else:
            facts[row.id] = choices.date if row.built == "analysis date" else len(choices.filters)
    return facts


def _build_filter_data(run: RunFigures, index: int) -> dict[str, object]:
    item = run.results.filters[index]
    return {
        "filter": item.filter,
        "argument": item.argument,
        "grain": item.grain,
        "rejected": item.rejected,
        "rows": item.rows,
    }


def dump_json_by_member(value: Mapping[str, object]) -> str:
    """Return plain data as JSON text with one line for each nested member, so that results can be compared by line."""
    parts = [f"{json.dumps(key, ensure_ascii=False)}: {_dump_member(item)}" for key, item in value.items()]
    return escape_json("{\n" + ",\n".join(parts) + "\n}\n")


def _dump_member(value: object) -> str:
    if not isinstance(value, dict) or not value:
        return _dump_value(value)
    parts = [f" {json.dumps(key)}: {_dump_value(item)}" for key, item in value.items()]
    return "{\n" + ",\n".join(parts) + "\n}"


def _dump_value(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
