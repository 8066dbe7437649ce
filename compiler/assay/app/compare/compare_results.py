"""Compare recorded results with the median of those of earlier runs: `assay compare median:5 RUN`, `assay gate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from assay.app.compare.cautions import MedianComparison, describe_cautions, list_hosts
from assay.app.compare.compared_metrics import (
    DEFAULT_RULES,
    ComparedMetric,
    ComparedVersion,
    RunComparison,
    choose_metrics,
    compare_metric,
    map_sections,
)
from assay.app.compare.recorded_breaks import are_comparable, describe_breaks, leave_out_replaced, set_days
from assay.app.compute.splitting import add_gated_segments, restore_splits
from assay.app.judge.judged_results import RESULTS, ComparedRun, JudgedResults, read_findings, read_results_data
from assay.app.judge.judging import list_gated, mark_changes_by_chance
from assay.app.session.selection import Selection
from assay.app.session.session import Session
from assay.judgement.gate import assess_gate
from assay.judgement.interval import Reason, Version, estimate_reach
from assay.judgement.median import compare_with_median, compute_median, count_equivalent_runs
from assay.judgement.repeats import pool_variances
from assay.judgement.report_judgements import JudgedChange, ReportJudgements
from assay.judgement.verdict import Direction, judge
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Metric
from assay.lang.model.report import Report
from assay.registry.baseline import ALL_RUNS, MedianBaseline, select_median_runs
from assay.registry.history import find_time, get_meaning
from assay.registry.model import RecordedResults
from assay.registry.store import list_runs, read_build, read_notes, read_results
from assay.report.declared_margin import convert_margin
from assay.report.judged_cells import list_judgement_notes
from assay.util.diagnostics import USAGE, fail, suggest_names
from assay.util.numbers import split_numbers


def compare_results(
    session: Session, folder: Path, baseline: MedianBaseline, names: Sequence[str], selection: Selection
) -> RunComparison:
    """Compare recorded runs with the median of the runs before each; no logs are read.

    The report is the selected one, or else the only one of the runs' results. Raises AssayError, also (usage): a run
    without results, results of several reports, options that would need logs.
    """
    if selection.filters or selection.no_filters or selection.summary or selection.by:
        message = f"filters, summaries and dimensions cannot be chosen for `{baseline}`, which reads recorded results"
        raise fail("baseline", message,
                   hint="build reports with them to record their results", status=USAGE)  # fmt: skip
    recorded = read_results(folder)
    versions = [_find_version(folder, recorded, name, selection.report) for name in names]
    reports = {results.content.report for version in versions for results in version}
    if len(reports) > 1:
        raise fail("results-of-several-reports", "the runs have results of several reports",
                   found=", ".join(sorted(reports)), hint="pass --report SYSTEM/NAME", status=USAGE)  # fmt: skip
    return _compare(session, folder, baseline, versions, selection, {})


def judge_build(session: Session, folder: Path, build: Path, baseline: MedianBaseline) -> JudgedResults:
    """Judge the runs of a build, except for its base, against the median of the recorded runs before each.

    Raises AssayError.
    """
    versions: dict[str, list[RecordedResults]] = {}
    for results in read_build(build):
        versions.setdefault(results.name, []).append(results)
    compared = list(versions.values())[len(versions) > 1 :]
    comparison = _compare(session, folder, baseline, compared, Selection(), read_results_data(build / RESULTS))
    return JudgedResults(
        comparison.report,
        comparison.level,
        comparison.base,
        tuple(map(_list_judged_changes, comparison.versions)),
        0,
        tuple(len(item) for item in compared),
        0,
        comparison.noise,
        read_findings(build),
    )  # fmt: skip


def _list_judged_changes(version: ComparedVersion) -> ComparedRun:
    """Return the changes of a version as those of a build, of segments those in the gate."""
    changes = [metric.change for metric in version.metrics]
    whole = tuple(change for change in changes if not change.is_segment or change.p is not None)
    segments = tuple(change for change in changes if change.is_segment)
    return ComparedRun(version.id, version.id, whole, version.caution, version.hosts, segments)


def _find_version(
    folder: Path, recorded: Sequence[RecordedResults], name: str, report: str
) -> tuple[RecordedResults, ...]:
    """Return the latest results of a run by a report, several for repeats. Raises AssayError (usage) without any."""
    runs = {run.name: run for run in list_runs(folder)}
    candidates = [item for item in recorded if name in (item.name, item.content.run)]
    candidates = [item for item in candidates if report in ("", item.content.report)]
    if not candidates:
        of_report = f" by the report `{report}`" if report else ""
        raise fail("no-results", f"no results of the run `{name}` are recorded{of_report}", status=USAGE,
                   hint=suggest_names(name, [item.name for item in recorded]))  # fmt: skip
    latest: dict[tuple[str, str], RecordedResults] = {}
    for item in sorted(
        candidates, key=lambda item: (find_time(item, runs), split_numbers(item.content.assay), item.id)
    ):
        latest[item.content.report, item.content.run] = item
    return tuple(latest.values())


def _compare(
    session: Session,
    folder: Path,
    baseline: MedianBaseline,
    versions: Sequence[Sequence[RecordedResults]],
    selection: Selection,
    build: Mapping[str, Any],
) -> RunComparison:
    """Compare versions, each with its baseline. `build` has the splits of sections, if the versions are of a build."""
    content = versions[0][0].content
    checked, report = add_gated_segments(*restore_splits(*session.find_report_of_runs(content.report), build))
    recorded, runs, notes = read_results(folder), list_runs(folder), read_notes(folder)
    bases = [set_days(select_median_runs(baseline, recorded, runs, version[0]), runs) for version in versions]
    all_bases = [set_days(select_median_runs(ALL_RUNS, recorded, runs, version[0]), runs) for version in versions]
    versions = [set_days(version, runs) for version in versions]
    titles = map_sections(report, choose_metrics(session, checked, report, selection))
    metrics = [checked.get_metric(name) for name in titles]
    parts = [
        leave_out_replaced(checked, report, metrics, MedianComparison(version, base, earlier, notes))
        for version, base, earlier in zip(versions, bases, all_bases, strict=True)
    ]
    bases = [base for base, _ in parts]
    judgements = _judge(checked, report, metrics, versions, bases)
    cautions = [
        describe_cautions(checked, judgements, metrics, MedianComparison(version, base, earlier, notes))
        for version, base, earlier in zip(versions, bases, all_bases, strict=True)
    ]
    return RunComparison(
        content.report,
        str(baseline),
        tuple(
            ComparedVersion(
                version[0].name,
                tuple(
                    _build_metric(checked, metric, titles[metric.id], judgements, MedianComparison(version, base))
                    for metric in metrics
                ),
                tuple(list_judgement_notes(judgements, metrics, version[0].name)),
                caution,
                (list_hosts(base), list_hosts(version)),
            )
            for version, base, caution in zip(versions, bases, cautions, strict=True)
        ),
        judgements.level,
        " ".join(filter(None, [judgements.noise, *dict.fromkeys(text for _, text in parts)])),
        tuple(content.filters),
        content.summary,
        (),
    )


def _judge(
    checked: CheckedPackage,
    report: Report,
    metrics: Sequence[Metric],
    versions: Sequence[Sequence[RecordedResults]],
    bases: Sequence[Sequence[RecordedResults]],
) -> ReportJudgements:
    """Judge the metrics of versions, each against the runs of its baseline."""
    rules = report.judgement or DEFAULT_RULES
    level = float(rules.level)
    changes = {}
    for version, base in zip(versions, bases, strict=True):
        for metric in metrics:
            margin = convert_margin(checked, metric, metric.margin or rules.margin)
            earlier, values = _list_values(checked, metric, version, base)
            comparison = compare_with_median(earlier, values, is_exact=metric.exact)
            if comparison is Reason.TOO_FEW_RUNS and not are_comparable(checked, metric, (*version, *base)):
                comparison = Reason.BREAK
            judgement = judge(comparison, margin, Direction(metric.better), level)
            averages = (float(compute_median(earlier)), _average(values)) if earlier and values else None
            changes[metric.id, version[0].name] = JudgedChange(judgement, margin, averages=averages)
    gated = list_gated(rules, metrics)
    gate = assess_gate({key: item.judgement for key, item in changes.items() if key[0] in gated}, level)
    changes |= {item.key: replace(changes[item.key], adjusted=item.adjusted) for item in gate}
    changes = mark_changes_by_chance(changes, level)
    noise = " ".join(
        _describe_base(checked, metrics, version, base) for version, base in zip(versions, bases, strict=True)
    )
    return ReportJudgements(level, (), 0, 0, f"{noise} Intervals hold what varies from run to run.", gated, changes)


def _describe_base(
    checked: CheckedPackage,
    metrics: Sequence[Metric],
    version: Sequence[RecordedResults],
    base: Sequence[RecordedResults],
) -> str:
    names = ", ".join(item.content.run for item in base)
    sentence = f"The base of {version[0].name} is the median of {len(base)} runs: {names}."
    return " ".join(filter(None, [sentence, describe_breaks(checked, metrics, version, base)]))


def _list_values(
    checked: CheckedPackage, metric: Metric, version: Sequence[RecordedResults], base: Sequence[RecordedResults]
) -> tuple[list[Fraction], list[Fraction]]:
    """Return the averages of a metric in the runs of a baseline that measure the same, and in those of a version."""
    measured = _list_measured(checked, metric, version, base)
    pairs = ([item.content.metrics[metric.id].value for item in items] for items in measured)
    earlier, values = ([Fraction(value) for value in items if value is not None] for items in pairs)
    return earlier, values


def _average(values: Sequence[Fraction]) -> float:
    return float(Version(tuple(values)).mean)


def _list_measured(
    checked: CheckedPackage, metric: Metric, version: Sequence[RecordedResults], base: Sequence[RecordedResults]
) -> tuple[list[RecordedResults], list[RecordedResults]]:
    """Return the runs of a baseline in which a metric means the same, and those of a version that have it.

    It means something else in runs on the other side of a break.
    """
    measured = [item for item in version if metric.id in item.content.metrics]
    comparable = [
        item
        for item in base
        if measured
        and metric.id in item.content.metrics
        and get_meaning(item, metric.id) == get_meaning(measured[0], metric.id)
        and are_comparable(checked, metric, [item, *measured])
    ]
    return comparable, measured


def _build_metric(
    checked: CheckedPackage,
    metric: Metric,
    section: str,
    judgements: ReportJudgements,
    compared: MedianComparison,
) -> ComparedMetric:
    """Return the change of a metric, with the half-widths of the intervals of both averages."""
    version, base = compared.version, compared.base
    earlier, values = _list_values(checked, metric, version, base)
    center = compute_median(earlier) if earlier else None
    mean = _average(values) if values else None
    noise = pool_variances([earlier, values])
    equivalent = Version((center,) * count_equivalent_runs(len(earlier))) if center is not None else Version(())
    reaches = tuple(estimate_reach(item, noise, judgements.level) for item in (equivalent, Version(tuple(values))))
    estimates = ((None if center is None else float(center), reaches[0]), (mean, reaches[1]))
    measured = _list_measured(checked, metric, version, base)
    sizes = [[item.content.metrics[metric.id].size or 0 for item in items] for items in measured]
    compared_metric = compare_metric(judgements, metric, version[0].name, section, estimates)
    return replace(compared_metric, sizes=(sum(sizes[0]), sum(sizes[1])))
