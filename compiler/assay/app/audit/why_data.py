"""Write an explanation of a change as plain data (`assay why --format json`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.app.audit.change_explanation import CauseRows, Explanation
from assay.app.audit.explain_view import export_sample
from assay.app.compare.record_changes import RecordDifference
from assay.judgement.steps import StepChange, StepTable
from assay.report.focus_data import build_focus_data
from assay.report.step_sentences import compose_cause
from assay.report.verdicts.recorded_change import build_change_data


def export_explanation(explanation: Explanation) -> dict[str, Any]:
    """Return an explanation as plain data: averages in the unit of the metric, sums in whole nanoseconds."""
    return {
        "metric": explanation.metric,
        "name": explanation.name,
        "unit": explanation.unit,
        "report": explanation.report,
        "filters": list(explanation.filters),
        "summary": explanation.summary,
        "base": explanation.base,
        "level": explanation.level,
        "noise": explanation.noise,
        "no_steps": explanation.no_steps or None,
        "versions": [_export_version(explanation, version) for version in explanation.changes],
    }


def _export_version(explanation: Explanation, version: str) -> dict[str, Any]:
    change, table = explanation.changes[version], explanation.foci.get(version)
    tables = [_export_table(explanation, item) for item in explanation.tables if item.version == version]
    data = build_change_data(explanation.metric, change, explanation.level)
    return {
        "run": version,
        **(
            tables[0] if tables else {"total": {"id": explanation.metric, "name": explanation.name, **_drop_rest(data)}}
        ),
        "where": build_focus_data(table) if table else None,
        "sentences": list(explanation.sentences[version]),
        "records": [_export_records(item) for item in explanation.records.get(version, ())],
        "cause_rows": [_export_rows(item) for item in explanation.rows.get(version, ())],
    }


def _export_records(difference: RecordDifference) -> dict[str, Any]:
    change, first = difference.change, difference.first
    interval = change.judgement.interval if change.judgement else None
    return {
        "name": change.name,
        "presence": change.presence.value,
        "base_records": change.counts[0],
        "records": change.counts[1],
        "percent": None if change.ratio is None else 100 * (change.ratio - 1),
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "first": {"file": first.file, "line": first.line, "text": first.text} if first else None,
    }


def _export_rows(rows: CauseRows) -> dict[str, Any]:
    samples = {kind: export_sample(sample) for kind, sample in rows.samples.items()}
    return {"run": rows.run, "metric": rows.metric, "unit": rows.unit, **samples}


def _drop_rest(data: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if name not in ("gate", "tails")}


def _export_table(explanation: Explanation, table: StepTable) -> dict[str, Any]:
    cause = table.cause
    (base_rows, base_complete), (rows, complete) = table.rows
    return {
        "rows": {"base": base_rows, "value": rows, "base_complete": base_complete, "value_complete": complete},
        "total": _export_step(explanation, table, table.total),
        "steps": [_export_step(explanation, table, step) for step in table.steps],
        "incomplete": _export_averages(table, table.rest) if table.has_rest else None,
        "cause": cause.id if cause else None,
        "sentence": compose_cause(table, explanation.unit),
    }


def _export_step(explanation: Explanation, table: StepTable, step: StepChange) -> dict[str, Any]:
    return {
        "id": step.id,
        "name": step.name,
        "metric": step.metric or None,
        "from": step.ends[0],
        "to": step.ends[1],
        **_export_averages(table, step.averages),
        "base_sums": list(step.sums[0]),
        "value_sums": list(step.sums[1]),
        **{
            name: value
            for name, value in build_change_data(step.id, step.change, explanation.level).items()
            if name not in ("difference", "gate", "tails")
        },
    }


def _export_averages(table: StepTable, averages: tuple[Any, Any]) -> dict[str, Any]:
    share = table.compute_share(averages[1] - averages[0])
    return {
        "base_value": float(averages[0]),
        "value": float(averages[1]),
        "difference": float(averages[1] - averages[0]),
        "share": None if share is None else float(share),
    }
