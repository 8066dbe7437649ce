"""`results.json`: the contract between computing and showing, and the machine-readable product."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence

from assay.lang.checked_package import CheckedPackage
from assay.lang.formula import format_formula, is_formula
from assay.lang.model.report import Report
from assay.report import data_quality
from assay.report.run_results import LABEL_AND_ID, Choices, RunFigures, chart_points, told_apart, whole_labels
from assay.styles.row import Centile, Distribution, FormulaResult
from assay.util.escape import escape_json


def results_json(
    checked: CheckedPackage, report: Report, metrics: Sequence[str], runs: Sequence[RunFigures], choices: Choices
) -> dict[str, object]:
    """All results of a report as plain data.

    Of each metric and run: size, average (by the chosen summary), averages (by each), median, stddev, min, max,
    centiles `[c, value]` (over hosts `[c, median, lowest, highest]`), points (the texts of chart points); of a formula
    average and averages alone.
    """
    named = told_apart(whole_labels(report.label, runs), runs, LABEL_AND_ID)
    return {
        "report": f"{checked.package.system}/{report.name}",
        "summary": choices.summary,
        "filters": list(choices.filters),
        "runs": [{"id": run.id, "label": label, **phase_json(run)} for run, label in zip(runs, named, strict=True)],
        "metrics": {name: _metric(checked, name, runs, choices) for name in sorted(metrics)},
        "quality": {run.id: data_quality.as_json(run.quality) for run in runs},
        "manifest": {run.id: _manifest(report, run, choices) for run in runs},
        "filtered": {run.id: [_filtered(run, index) for index in range(len(run.results.filters))] for run in runs},
    }


def phase_json(run: RunFigures) -> dict[str, object]:
    """Which phase of which run it is, when it is one: from `since_ns` to just before `until_ns` (null: open)."""
    found = run.phase
    if found is None:
        return {}
    return {"run": found.run, "phase": found.name, "since_ns": found.since, "until_ns": found.until}


def _metric(checked: CheckedPackage, name: str, runs: Sequence[RunFigures], choices: Choices) -> dict[str, object]:
    metric = checked.metric(name)
    if is_formula(metric):
        return {
            "name": metric.name,
            "unit": metric.unit.symbol,
            "definition": checked.definitions[name],
            "formula": format_formula(metric.measure),
            "runs": {run.id: of_formula(run.results.formulas[name], choices.summary) for run in runs},
        }
    found = {run.id: run.results.metrics[name] for run in runs}
    return {
        "name": metric.name,
        "unit": metric.unit.symbol,
        "definition": checked.definitions[name],
        "runs": {
            run: {
                **distribution(item, choices.summary),
                "points": chart_points(checked, metric, item, choices.summary),
            }
            for run, item in found.items()
        },
    }


def distribution(found: Distribution, summary: str) -> dict[str, object]:
    """A distribution as plain data, in the metric's unit; without samples its size is 0, and so is all else."""
    return {
        "size": found.size,
        "average": _number(found.averages[summary]),
        "averages": {name: _number(value) for name, value in sorted(found.averages.items())},
        "median": _number(found.median),
        "stddev": _number(found.stddevs[summary]),
        "min": _number(found.least),
        "max": _number(found.greatest),
        "centiles": [_centile(found, item) for item in found.centiles],
    }


def of_formula(found: FormulaResult, summary: str) -> dict[str, object]:
    """What a formula comes to as plain data, in its unit; null where it has no value."""
    return {"average": found.averages[summary], "averages": dict(sorted(found.averages.items()))}


def _centile(found: Distribution, item: Centile) -> list[float | str]:
    values = [item.value] if item.low is None or item.high is None else [item.value, item.low, item.high]
    return [item.centile, *(_number(found.scaled(value)) for value in values)]


def _number(value: float) -> float | str:
    """A number; JSON has none that are not finite, so these are the texts that Prometheus has for them."""
    return value if math.isfinite(value) else "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"


def _manifest(report: Report, run: RunFigures, choices: Choices) -> dict[str, object]:
    facts: dict[str, object] = {}
    for row in report.manifest:
        if row.constant:
            facts[row.id] = run.constants[row.constant]
        elif row.relation:
            facts[row.id] = run.results.relations[row.relation][row.column]
        else:
            facts[row.id] = choices.date if row.built == "analysis date" else len(choices.filters)
    return facts


def _filtered(run: RunFigures, index: int) -> dict[str, object]:
    item = run.results.filters[index]
    return {
        "filter": item.filter,
        "argument": item.argument,
        "grain": item.grain,
        "rejected": item.rejected,
        "rows": item.rows,
    }


def lines_json(value: Mapping[str, object]) -> str:
    """Plain data as JSON text: one line for each member of a member, so that two results can be compared by line."""
    parts = [f"{json.dumps(key, ensure_ascii=False)}: {_member(item)}" for key, item in value.items()]
    return escape_json("{\n" + ",\n".join(parts) + "\n}\n")


def _member(value: object) -> str:
    if not isinstance(value, dict) or not value:
        return _text(value)
    parts = [f" {json.dumps(key)}: {_text(item)}" for key, item in value.items()]
    return "{\n" + ",\n".join(parts) + "\n}"


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
