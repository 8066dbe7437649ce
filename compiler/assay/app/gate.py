"""Decide from the `results.json` of a build whether its gate is open."""

from __future__ import annotations

from collections.abc import Iterable

from assay.app.judged_results import ComparedRun, JudgedResults, RecordedChange
from assay.app.session import Session
from assay.judgement.gate import has_enough_repeats
from assay.judgement.verdict import Verdict
from assay.lang import workspace
from assay.util.diagnostics import AssayError, Span, fail


def require_decision(results: JudgedResults, is_once: bool) -> None:
    """Raise AssayError if the gate of a comparison does not decide.

    That is if there are too few repeats and it is not `is_once`, or if none of the gated metrics is judged.
    """
    if not has_repeats(results) and not is_once:
        counts = ", ".join(map(str, results.repeats))
        demanded = results.repeats_demanded
        raise fail(
            "too-few-repeats",
            "the gate does not decide: too few runs show how much runs of one version differ",
            expected=f"{demanded} runs of each version, or {demanded} calibration runs",
            found=f"{counts} runs, {results.calibration_runs} calibration runs",
            hint="`--once` decides by what varies within the runs",
        )
    gated = [change for run in results.runs for change in list_gated_changes(run)]
    if gated and all(change.verdict == Verdict.NOT_JUDGED for change in gated):
        reasons = dict.fromkeys(change.reason or "for no known reason" for change in gated)
        raise fail(
            "nothing-judged",
            "the gate does not decide: none of its metrics is judged",
            expected="at least one gated metric with an interval",
            found="; ".join(reasons),
            hint="the Verdict column of the report has the reason for each metric",
        )


def has_repeats(results: JudgedResults) -> bool:
    """Return whether there are as many runs of each version as the report demands."""
    return has_enough_repeats(results.repeats_demanded, results.repeats, results.calibration_runs)


def is_open(results: JudgedResults) -> bool:
    """Return whether no gated metric is worse by more than its margin."""
    return not any(change.is_closing for change in results.changes)


def list_gated_changes(run: ComparedRun) -> tuple[RecordedChange, ...]:
    """Return the changes of the metrics of the gate, in the order of their p."""
    gated = ((change.p, change.metric, change) for change in run.changes if change.p is not None)
    return tuple(change for _, _, change in sorted(gated, key=lambda item: item[:2]))


def find_definitions(session: Session, results: JudgedResults, metrics: Iterable[str]) -> dict[str, Span]:
    """Return where the workspace defines metrics of a build.

    Leaves out metrics that it does not define; returns nothing if its specs are wrong or of other systems.
    """
    system = results.report.partition("/")[0]
    positions = workspace.get_positions(session.workspace, system)
    try:
        spans = {metric: positions(metric)[0] for metric in metrics}
    except AssayError:
        return {}
    return {metric: span for metric, span in spans.items() if span}
