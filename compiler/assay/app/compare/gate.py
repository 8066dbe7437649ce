"""Decide from the `results.json` of a build whether its gate passes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction

from assay.app.judge.judged_results import ComparedRun, JudgedResults, RecordedFinding
from assay.app.session.session import Session
from assay.judgement.change import compute_log
from assay.judgement.gate import adjust_by_holm, has_enough_repeats
from assay.judgement.interval import Reason
from assay.judgement.noise import count_runs_to_narrow
from assay.judgement.verdict import Verdict
from assay.lang import workspace
from assay.lang.segments import get_whole
from assay.quality.finding import RENAMED, TITLE, list_names
from assay.report.mixes import describe_mix
from assay.report.verdicts.recorded_change import RecordedChange, decide_change
from assay.util.diagnostics import AssayError, Span, fail
from assay.util.numbers import format_count, format_range

MOST_MISSING = 4  # missing data that a text lists
MOST_EXACT = 100  # required runs that are not rounded
PERCENT_SIGN = "%"
_UNJUDGED = (Verdict.DATA_LOST, Verdict.NO_INTERVAL)
MOST_DATA_TEXT = 200  # characters on findings, so that a comment stays short


def gate_segments(results: JudgedResults) -> JudgedResults:
    """Return results whose gate has all judged segments with a better direction, too.

    Their p are adjusted for the number of segments of their metric in all runs. Those without an interval are left
    out: too few samples of a segment are no missing data.
    """
    families: dict[str, list[tuple[str, RecordedChange]]] = defaultdict(list)
    for run in results.runs:
        for change in run.all_segments:
            if change.p is None and change.is_gateable:
                families[get_whole(change.metric)].append((run.id, change))
    decided = {
        (run, change.metric): decide_change(change, p, results.level)
        for family in families.values()
        for (run, change), p in zip(family, adjust_by_holm([item.p_margin or 0.0 for _, item in family]), strict=True)
    }
    runs = []
    for run in results.runs:
        segments = tuple(decided.get((run.id, item.metric), item) for item in run.all_segments)
        added = (item for item in segments if (run.id, item.metric) in decided)
        runs.append(replace(run, changes=(*run.changes, *added), all_segments=segments))
    return replace(results, runs=tuple(runs))


def require_decision(
    results: JudgedResults, *, is_once: bool = False, allows_missing: bool = False, allows_no_interval: bool = False
) -> None:
    """Raise AssayError if the gate of a comparison does not decide.

    That is if there are too few repeats and it is not `is_once`, if data are missing and it does not `allow` that, if
    no metric is gated or none of them has an interval, or if none is worse, but some without an interval changed by
    more than their margin and it does not `allow` that. A metric that is worse closes the gate although another lacks
    samples, but not if the numbers of hosts differ, or if data that it reads are missing from some runs: these may be
    the cause.
    """
    if not has_repeats(results) and not is_once:
        counts = ", ".join(map(str, results.repeats))
        demanded = results.repeats_demanded
        raise fail(
            "too-few-repeats",
            "the gate does not decide: too few runs show how much runs of one version differ",
            expected=f"{demanded} runs of each version, or {demanded} calibration runs",
            found=f"{counts} runs, {results.calibration_runs} calibration runs",
            hint="`--once` decides by what varies within the runs, `--baseline median:5` by recorded runs",
        )
    gated = list_all_gated(results)
    differing_hosts = list_differing_hosts(results)
    missing = list_missing_data(results)
    if not allows_missing and (differing_hosts or (missing and not has_sound_regression(results))):
        raise fail(
            "gate-lacks-data",
            "the gate does not decide: data are missing",
            expected="all records that gated metrics read, and the same number of hosts in all runs",
            found=_list_some(missing),
            notes=tuple(
                filter(
                    None,
                    [
                        *list_cautions(results),
                        describe_data(results),
                        describe_closing(results),
                        describe_unjudged(results),
                    ],
                )
            ),
            hint="Data quality in the report says what is missing; `--allow-missing` decides by the rest",
        )
    _require_judged(results, gated)
    if not allows_no_interval:
        _require_verdicts(results, gated)


def _require_judged(results: JudgedResults, gated: Sequence[RecordedChange]) -> None:
    """Raise AssayError if no metric is in the gate, or none of those in it has an interval."""
    if not gated:
        raise fail(
            "nothing-gated",
            "the gate does not decide: no metric of the comparison is in it",
            expected="at least one metric that is better in a direction",
            found="no such metric",
            notes=tuple(filter(None, [*list_cautions(results), describe_data(results)])),
            hint='write `better = "lower"` or `better = "higher"` in the metrics that a change may make worse',
        )
    if not any(change.has_interval for change in gated):
        reasons = dict.fromkeys(change.reason or "for no known reason" for change in gated)
        raise fail(
            "nothing-judged",
            "the gate does not decide: none of its metrics has an interval",
            expected="at least one gated metric with an interval",
            found="; ".join(reasons),
            notes=tuple(filter(None, [*list_cautions(results), describe_data(results)])),
            hint="the Verdict column of the report has the reason for each metric",
        )


def _require_verdicts(results: JudgedResults, gated: Sequence[RecordedChange]) -> None:
    """Raise AssayError if no gated metric is worse, but some without an interval changed by more than their margin."""
    moved = [change for change in gated if change.is_moved]
    if moved and is_open(results):
        raise fail(
            "gate-no-interval",
            "the gate does not decide: gated metrics without an interval changed by more than their margin",
            expected="an interval of each gated metric that changed by more than its margin",
            found=_list_some([f"{change.name}: {change.reason}" for change in moved]),
            notes=tuple(filter(None, [*list_cautions(results), describe_data(results)])),
            hint=_advise_on_intervals(moved),
        )


def _advise_on_intervals(changes: Sequence[RecordedChange]) -> str:
    """Return what gives these changes an interval."""
    exact = "declare `exact = True` in metrics that are equal in all runs of a version, or " * any(
        change.reason == Reason.CONSTANT for change in changes
    )
    return f"{exact}record three runs of each version; `--allow-no-interval` decides by the other metrics"


def _list_some(texts: list[str]) -> str:
    more = f"; {len(texts) - MOST_MISSING} more" if len(texts) > MOST_MISSING else ""
    return "; ".join(texts[:MOST_MISSING]) + more


def list_missing_data(results: JudgedResults) -> list[str]:
    """Return in words which versions have another number of hosts, and which data of gated metrics are missing."""
    return [
        *list_differing_hosts(results),
        *list_lacking_samples(results),
        *list_other_values(results),
        *list_incomplete_data(results),
    ]


def list_differing_hosts(results: JudgedResults) -> list[str]:
    """Return in words which versions have another number of hosts than the base."""
    texts: dict[str, None] = {}
    for run in results.runs:
        base, compared = run.hosts
        if base and compared and len({*base, *compared}) > 1:
            numbers = [f"{format_range(min(item), max(item))} in {label}"
                       for label, item in ((results.base, base), (run.label, compared))]  # fmt: skip
            texts[f"hosts: {', '.join(numbers)}"] = None
    return list(texts)


def list_lacking_samples(results: JudgedResults) -> list[str]:
    """Return in words which gated metrics lack samples."""
    names = {run.label: [item.name for item in list_gated_changes(run) if item.lacks_samples] for run in results.runs}
    return [f"no samples to compare {label} with {results.base}: {list_names(items)}"
            for label, items in names.items() if items]  # fmt: skip


def list_other_values(results: JudgedResults) -> list[str]:
    """Return in words which gated metrics have samples of values that only one version has, or other outcomes.

    Other shares of values that both have are no missing data: these are compared with equal shares. Nor are other
    outcomes if a gated share, such as that of failures, is judged.
    """
    texts: dict[str, list[str]] = {}
    for run in results.runs:
        gated = list_gated_changes(run)
        has_share = any(item.unit == PERCENT_SIGN and item.has_interval and not item.mix for item in gated)
        for change in gated:
            mix = change.mix
            if mix and (not has_share if mix["is_outcome"] else mix["base_only"] or mix["other_only"]):
                text = describe_mix(mix, (results.base, run.label)).partition("; ")[0]
                texts.setdefault(text, []).append(change.name)
    return [f"{list_names(names)}: {text}" for text, names in texts.items()]


def list_incomplete_data(results: JudgedResults) -> list[str]:
    """Return the findings on data that gated metrics with samples read, each after the labels of its runs.

    A name that resembles a known one shows no missing record.
    """
    changes = list_all_gated(results)
    gated = {get_whole(item.metric) for item in changes} - {
        get_whole(item.metric) for item in changes if item.lacks_samples
    }
    return [
        f"{labels}: {message}"
        for message, labels in _group_findings(
            results, lambda finding: finding.code != RENAMED and bool(gated & finding.metrics)
        )
    ]


def _group_findings(
    results: JudgedResults, is_listed: Callable[[RecordedFinding], bool] = lambda _: True
) -> list[tuple[str, str]]:
    """Return each message of findings with the labels of its runs, those of most runs first."""
    labels: dict[str, list[str]] = {}
    for label, findings in results.findings.items():
        for message in dict.fromkeys(item.message.removesuffix(".") for item in findings or () if is_listed(item)):
            labels.setdefault(message, []).append(label)
    count = len(results.findings)
    return [
        (message, f"all {count} runs" if 2 < len(listed) == count else list_names(listed))
        for message, listed in sorted(labels.items(), key=lambda item: -len(item[1]))
    ]


def _join_findings(findings: Sequence[tuple[str, str]]) -> str:
    """Return messages with the labels of their runs in a line; those of the same runs have the labels once."""
    messages: dict[str, list[str]] = {}
    for message, labels in findings:
        messages.setdefault(labels, []).append(message)
    return "; ".join(f"{labels}: {', '.join(listed)}" for labels, listed in messages.items())


def describe_lacking_samples(results: JudgedResults) -> str:
    """Return a sentence on gated metrics that lack samples; empty if none does."""
    texts = list_lacking_samples(results)
    return f"Data are missing: {'; '.join(texts)}." if texts else ""


def describe_closing(results: JudgedResults) -> str:
    """Return a sentence on metrics that are worse though the gate does not decide; empty if none is."""
    names = list(dict.fromkeys(change.name for change in results.changes if change.is_closing))
    return f"Worse by more than their margin all the same: {list_names(names)}." if names else ""


def describe_data(results: JudgedResults) -> str:
    """Return a sentence on the findings on the data of the runs of a build: those of most runs, as many as fit.

    Empty if they are not known, or if there are none but data are missing.
    """
    findings = _group_findings(results)
    if findings:
        count = next(
            (size for size in range(min(MOST_MISSING, len(findings)), 0, -1)
             if len(_join_findings(findings[:size])) <= MOST_DATA_TEXT), 0,
        )  # fmt: skip
        rest = len(findings) - count
        parts = [
            *([_join_findings(findings[:count])] if count else []),
            *([format_count(rest, "further finding" if count else "finding")] if rest else []),
        ]
        return f"Data: {'; '.join(parts)}, under {TITLE}."
    if not results.findings or None in results.findings.values() or list_missing_data(results):
        return ""
    return "Data: no findings."


def list_cautions(results: JudgedResults) -> list[str]:
    """Return why comparisons are suspect, each after the label of its version if several are compared.

    First come runs with raw files of others.
    """
    is_single = len(results.runs) == 1
    cautions = [run.caution if is_single else f"{run.label}: {run.caution}" for run in results.runs if run.caution]
    return [*results.shared_files, *cautions]


def describe_unjudged(results: JudgedResults) -> str:
    """Return sentences on gated metrics that lost data or have no interval, with each reason once; may be empty."""
    names: dict[tuple[str, str], dict[str, None]] = {}
    for run in results.runs:
        for change in list_gated_changes(run):
            if change.verdict in _UNJUDGED:
                names.setdefault((change.verdict, change.reason or "for no known reason"), {})[change.name] = None
    sentences = []
    for verdict in _UNJUDGED:
        reasons = [f"{', '.join(listed)} ({reason})" for (name, reason), listed in names.items() if name == verdict]
        sentences += [f"{verdict.capitalize()}: {'; '.join(reasons)}."] if reasons else []
    return " ".join(sentences)


def has_repeats(results: JudgedResults) -> bool:
    """Return whether there are as many runs of each version as the report demands."""
    return has_enough_repeats(results.repeats_demanded, results.repeats, results.calibration_runs)


def is_open(results: JudgedResults) -> bool:
    """Return whether no gated metric is worse by more than its margin."""
    return not any(change.is_closing for change in results.changes)


def has_sound_regression(results: JudgedResults) -> bool:
    """Return whether a gated metric is worse by more than its margin, and no finding on its data explains that.

    A finding that all runs have is no explanation.
    """
    runs = [
        {(item.code, metric) for item in findings or () for metric in item.metrics}
        for findings in results.findings.values()
    ]
    uneven = {metric for run in runs for other in runs for _, metric in run - other}
    return any(change.is_closing and get_whole(change.metric) not in uneven for change in results.changes)


def list_gated_changes(run: ComparedRun) -> tuple[RecordedChange, ...]:
    """Return the changes of the metrics of the gate, in the order of their p."""
    gated = ((change.p, change.metric, change) for change in run.changes if change.p is not None)
    return tuple(change for _, _, change in sorted(gated, key=lambda item: item[:2]))


def list_all_gated(results: JudgedResults) -> list[RecordedChange]:
    """Return the changes of the metrics of the gate in all runs."""
    return [change for run in results.runs for change in list_gated_changes(run)]


def count_runs_to_decide(results: JudgedResults, change: RecordedChange) -> int | None:
    """Return how many runs of each version make half the interval of an undecided change as wide as its margin.

    More than 100 are rounded up to tens.
    None if it is already, if that is more than 1000, or not known: without a margin, from a base of 0, and against
    recorded runs.
    """
    low, high, margin, df = change.low, change.high, change.least_margin, change.df
    if low is None or high is None or not margin or not df:
        return None
    if len(results.repeats) <= len(results.runs) or not all(results.repeats):
        return None
    if low > -100:  # the interval of a ratio
        width = compute_log(Fraction(100 + high) / Fraction(100 + low)) / 2
        target = compute_log(Fraction(100 + margin) / 100)
    else:
        width, target = (high - low) / 2, margin
    runs = 2 / (1 / results.repeats[0] + 1 / min(results.repeats[1:]))
    number = count_runs_to_narrow(width / target, runs, df, results.level) if width > target else None
    return -(-number // 10) * 10 if number and number > MOST_EXACT else number


def find_definitions(session: Session, results: JudgedResults, metrics: Iterable[str]) -> dict[str, Span]:
    """Return where the workspace defines metrics of a build.

    Leaves out metrics that it does not define; returns nothing if its specs are wrong or of other systems.
    """
    system = results.report.partition("/")[0]
    positions = workspace.get_positions(session.workspace, system)
    try:
        spans = {metric: positions(get_whole(metric))[0] for metric in metrics}
    except AssayError:
        return {}
    return {metric: span for metric, span in spans.items() if span}
