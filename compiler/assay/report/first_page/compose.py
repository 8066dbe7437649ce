"""Compose the first page of a comparison from its judgements: headline, counts, key changes, forest plot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from assay.judgement.report_judgements import ReportJudgements
from assay.judgement.verdict import Direction, Verdict
from assay.quality.finding import UNMEASURED, describe_findings, list_names
from assay.report.causes import list_all_causes
from assay.report.comparison_caution import describe_caution, list_unequal_parameters
from assay.report.first_page.answer import Answer, JudgedGroup, JudgedRow, KeyChange
from assay.report.first_page.candidates import Candidate, list_candidates, list_gated_segments
from assay.report.first_page.forest_axis import choose_axis
from assay.report.judged_cells import (
    describe_few_units,
    explain_short_reasons,
)
from assay.report.mixes import describe_mixes, name_other_values
from assay.report.run_results import RunFigures
from assay.report.sections import SectionContext
from assay.report.tables import Table
from assay.report.verdicts.headline import SegmentVerdicts, compose_counts, compose_headline
from assay.report.verdicts.paired_sentences import describe_paired, find_paired_change
from assay.report.verdicts.recorded_change import RecordedChange
from assay.report.verdicts.sentences import (
    count_by_verdict,
    describe_quantile_verdicts,
    describe_unjudged_changes,
    explain_by_itself,
    name_lost_data,
    name_unjudged_changes,
)
from assay.util.escape import escape_text, shorten_middle
from assay.util.numbers import format_count

LINES = 43  # lines of a page for key changes, rows of the plot, conditions and differing parameters
LEAST_ROWS = 12
MOST_CONDITIONS = 6
MOST_KEY_CHANGES = 5
MOST_LETTERS = 40  # of a segment or metric in the headline
MOST_DIFFERING = 12  # parameters that the PDF prints, two in a line
_MOST_UNNAMED = 3
_LINES_OF_CAUSES = 2  # of sentences on the steps that changes come from
_LINES_OF_SENTENCES = 3  # of those on segments that are not judged each, and of those on quantiles
_DECIDED = (Verdict.WORSE, Verdict.BETTER, Verdict.CHANGED)


def compose_answers(context: SectionContext, judgements: ReportJudgements, manifest: Table) -> tuple[Answer, ...]:
    """Return the answer of each version but the first, which is the base. `manifest` has a column for each version."""
    checked, versions = context.checked, context.versions
    level = f"{100 * judgements.level:g} %"
    answers = []
    base = versions[0]
    for column, version in enumerate(versions[1:], start=2):
        figures = base.figures, version.figures
        candidates = tuple(list_candidates(context, judgements, figures))
        gated_segments = tuple(list_gated_segments(context, judgements, figures))
        labels = base.label, version.label
        differing = [(row[0], row[1], row[column]) for row in manifest.rows if row[1] != row[column]]
        # The labels of the runs are in the headline: rows that repeat them say nothing.
        differing = [item for item in differing if item[1:] != labels]
        notes = tuple(filter(None, _list_notes(judgements, figures, labels, [item.change for item in candidates])))
        unequal = list_unequal_parameters(context.report, (base.members, version.members), (base.label, version.label))
        answers.append(
            compose_answer(
                ComparedPair(
                    labels,
                    version.id,
                    level,
                    tuple(differing),
                    notes,
                    unequal,
                    list_all_causes(checked, judgements, version.id),
                    are_single_runs=judgements.are_single_runs and not version.figures.phase,
                ),
                candidates,
                gated_segments,
            )
        )
    return tuple(answers)


@dataclass(frozen=True, slots=True)
class ComparedPair:
    """The base and the run that a first page compares: their labels, the id of the run, the level of intervals.

    `differing` are the parameters in which they differ, `unequal` those that should not differ. `causes` are sentences
    on the steps that changes come from.
    """

    labels: tuple[str, str]
    run_id: str
    level: str
    differing: tuple[tuple[str, str, str], ...] = ()
    notes: tuple[str, ...] = ()
    unequal: tuple[str, ...] = ()
    causes: tuple[str, ...] = ()
    are_single_runs: bool = False


def compose_answer(
    pair: ComparedPair, candidates: Sequence[Candidate], gated_segments: Sequence[Candidate] = ()
) -> Answer:
    """Return the answer of a run whose metrics have these changes; its rows are those that fit on a page.

    `gated_segments` are among the key changes only.
    """
    labels, differing = pair.labels, pair.differing
    directed = [item for item in candidates if item.change.has_direction]
    conditions = [item for item in candidates if not item.change.has_direction]
    changes = [item.change for item in candidates]
    key_changes = _choose_key_changes([*directed, *gated_segments])
    printed_conditions = _choose_rows(conditions, MOST_CONDITIONS)
    sentences = _list_sentences(labels, changes)
    lines = LINES - len(key_changes) - len(printed_conditions) - (min(len(differing), MOST_DIFFERING) + 1) // 2
    lines -= _LINES_OF_SENTENCES * len(sentences) + _LINES_OF_CAUSES * len(pair.causes)
    printed = _choose_printed(directed, max(lines, LEAST_ROWS))
    printed_ids = {item.row.metric for item in (*printed, *printed_conditions)}
    segments = SegmentVerdicts(_count_segments(directed), _name_largest_segment(directed))
    headline = compose_headline(labels, changes, segments, are_single_runs=pair.are_single_runs)
    # Metrics without a direction are conditions of the others: without others, their changes are the outcome.
    suspects = [item.row.label for item in conditions if directed and item.change.is_other_condition]
    return Answer(
        *labels,
        pair.run_id,
        pair.level,
        headline + _name_exceptions(labels, changes),
        " ".join([compose_counts(changes, segments), *sentences]),
        tuple(_describe_key_change(item) for item in key_changes),
        tuple(_group_by_section(printed)),
        choose_axis([item.row for item in (*printed, *printed_conditions)], *_name_sides(printed)),
        tuple(item.row for item in printed_conditions),
        describe_caution([*pair.unequal, *suspects]),
        differing,
        _describe_omitted([item.change for item in candidates if item.row.metric not in printed_ids]),
        pair.notes,
        pair.causes,
    )


def _name_exceptions(labels: tuple[str, str], changes: Sequence[RecordedChange]) -> str:
    """Return how a headline goes on: data that are lost, changes without an interval, samples of other things."""
    lost = [item.name for item in changes if item.verdict == Verdict.DATA_LOST]
    mixes = [item.mix for item in changes if item.mix]
    unjudged = "" if find_paired_change(changes) else name_unjudged_changes(changes)
    return f"{name_lost_data(lost)}{unjudged}{name_other_values(mixes, labels)}"


def _list_sentences(labels: tuple[str, str], changes: Sequence[RecordedChange]) -> list[str]:
    """Return what follows the counts of verdicts: what they do not hold, and of what samples are."""
    paired = find_paired_change(changes)
    sentences = (
        describe_paired(paired) if paired else "",
        describe_quantile_verdicts(changes),
        describe_unjudged_changes(changes),
        explain_by_itself([item.name for item in changes if item.is_by_itself]),
        describe_mixes([(item.name, item.mix) for item in changes if item.mix], labels),
    )
    return list(filter(None, sentences))


def _count_segments(candidates: Sequence[Candidate]) -> Counter[Verdict]:
    """Return how many segments of metrics have each verdict, without those that have no interval."""
    verdicts = (verdict for item in candidates for verdict in item.segment_verdicts)
    return Counter(verdict for verdict in verdicts if verdict not in (Verdict.NO_INTERVAL, Verdict.DATA_LOST))


def _group_by_section(candidates: Sequence[Candidate]) -> Iterator[JudgedGroup]:
    """Yield the rows of each section under its title, in their order."""
    for title in dict.fromkeys(item.change.section for item in candidates):
        yield JudgedGroup(title, tuple(item.row for item in candidates if item.change.section == title))


def _name_largest_segment(directed: Sequence[Candidate]) -> str:
    """Return the segment that certainly got worse by most, or better if none is worse: `write of Wait (+31 %)`."""
    listed = [(size, item.row.label, segment) for item in directed for size, segment in item.segments]
    worse = [item for item in listed if item[2].verdict == Verdict.WORSE.value]
    if not listed:
        return ""
    _, label, segment = max(worse or listed, key=lambda item: item[0])
    parts = (shorten_middle(escape_text(text), MOST_LETTERS) for text in (segment.label, label))
    return f"{' of '.join(parts)} ({segment.percent})"


def _choose_key_changes(directed: Sequence[Candidate]) -> list[Candidate]:
    """Return the metrics that the gate names, and the largest changes if it names none that changed.

    If it names none at all, the main result, the first of the report, is among these if it changed.
    """
    ascending = sorted(directed, key=lambda item: replace(item, is_key=False).relevance)
    named = [item for item in ascending if item.is_key][:MOST_KEY_CHANGES]
    if any(item.change.is_certain for item in named):
        return named
    others = [item for item in ascending if item.change.is_certain and not item.is_key]
    count = min(_MOST_UNNAMED, MOST_KEY_CHANGES - len(named))
    if not named and any(item is directed[0] for item in others[count:]):
        return [*others[: count - 1], directed[0]]
    return [*named, *others[:count]]


def _describe_key_change(item: Candidate) -> KeyChange:
    row = item.row
    text = describe_change(row) + (f", mostly {escape_text(item.explained_by)}" if item.explained_by else "")
    return KeyChange(row.metric, row.label, text, row.verdict, row.arrow, row.is_by_itself)


def describe_change(row: JudgedRow) -> str:
    """Return a change in words: `200 → 229 ms, +14 % (+8 … +21)`; values that share a unit have it once.

    A change from 0 has no percentage: `0 → 3.12 % (Δ +2.5 … +3.8 %)`.
    """
    number, _, unit = row.base.partition(" ")
    base = number if unit and row.value.endswith(f" {unit}") else row.base
    interval = f" ({row.interval})" if row.interval else ""
    reason = f" ({row.reason})" if row.reason else ""
    if row.interval and row.change is None:
        return f"{base} → {row.value}{interval}{reason}"
    return f"{base} → {row.value}, {row.percent}{interval}{reason}"


def _choose_rows(candidates: Sequence[Candidate], count: int) -> list[Candidate]:
    """Return the most relevant metrics, in the order of the report."""
    chosen_ids = {item.row.metric for item in sorted(candidates, key=lambda item: item.relevance)[:count]}
    return [item for item in candidates if item.row.metric in chosen_ids]


def _choose_printed(directed: Sequence[Candidate], lines: int) -> list[Candidate]:
    """Return as many of the most relevant metrics as fit into so many lines, with a line for each section.

    A metric with segments takes two lines.
    """
    for count in range(min(len(directed), lines), 0, -1):
        printed = _choose_rows(directed, count)
        with_segments = sum(bool(item.row.segments) for item in printed)
        if count + with_segments + len({item.change.section for item in printed}) <= lines:
            return printed
    return []


def _name_sides(printed: Sequence[Candidate]) -> tuple[str, str]:
    directions = {item.change.better for item in printed if item.change.has_interval}
    if directions == {Direction.LOWER}:
        return "better", "worse"
    return ("worse", "better") if directions == {Direction.HIGHER} else ("less", "more")


def _describe_omitted(omitted: Sequence[RecordedChange]) -> str:
    if not omitted:
        return ""
    counts = count_by_verdict(omitted)
    parts = [f"{counts[verdict]} of them {verdict.value}" for verdict in _DECIDED if counts[verdict]]
    decided = ", ".join(parts) or ("none of them worse or better" if len(omitted) > 1 else "neither worse nor better")
    return f"{format_count(len(omitted), 'more metric')}, {decided}: see the tables."


def _list_notes(
    judgements: ReportJudgements,
    runs: tuple[RunFigures, RunFigures],
    labels: tuple[str, str],
    changes: Sequence[RecordedChange],
) -> Iterator[str]:
    """Yield sentences on noise, few units of time and data; some may be empty."""
    yield judgements.noise
    judged = [(item.name, judgements.changes[item.metric, runs[1].id]) for item in changes]
    yield describe_few_units((name, item.judgement) for name, item in judged)
    yield explain_short_reasons(judged)
    yield explain_undecided(changes)
    measured = [(label, run.quality) for run, label in zip(runs, labels, strict=True) if run.quality is not UNMEASURED]
    yield describe_findings({label: item.codes for label, item in measured})
    # The page has the number of all warnings, beside the link to them.
    if measured and not any(item.findings for _, item in measured) and not any(run.warnings for run in runs):
        yield "Data: no findings in both runs."


def explain_undecided(changes: Iterable[RecordedChange]) -> str:
    """Return why metrics cannot tell though their intervals lie beyond their margins; empty without such metrics."""
    names_by_reason: dict[str, list[str]] = {}
    for change in changes:
        ends, least = change.judged_ends, change.least_margin or 0.0
        is_beyond = ends is not None and (ends[0] > least or ends[1] < -least)
        if change.verdict == Verdict.CANNOT_TELL and is_beyond and change.reason:
            names_by_reason.setdefault(change.reason, []).append(change.name)
    parts = [f"{list_names(names)} ({reason})" for reason, names in names_by_reason.items()]
    return f"Cannot tell, though the interval lies beyond the margin: {'; '.join(parts)}." if parts else ""
