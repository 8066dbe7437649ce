"""Collect the results of a report over runs as plain data: the members of `results.json`."""

from __future__ import annotations

from collections.abc import Sequence

from assay.app.build.computed_build import ComputedBuild
from assay.app.build.judged_build import JudgedBuild
from assay.app.build.prepared_report import PreparedReport
from assay.app.compute.computation import Computation
from assay.app.compute.raw_data_notes import iter_shared_file_notes
from assay.app.compute.row_results import build_row_data, build_run_group_data
from assay.app.compute.run_figures import create_run_figures
from assay.app.compute.splitting import build_split_data
from assay.app.judge.judging import build_judgement_data
from assay.judgement.report_judgements import ReportJudgements
from assay.lang.model.parts import get_group_name
from assay.lang.model.report import Report
from assay.report.blocks.claims import build_claims_data
from assay.report.first_page.answer import Answer
from assay.report.group_changes import build_group_changes_data
from assay.report.group_spreads import Spreads, build_groups_data
from assay.report.results_json import build_calibration_data, build_caution_data, build_results_data
from assay.report.run_results import Choices, RunFigures, label_runs


def build_data(computed: ComputedBuild, choices: Choices) -> dict[str, object]:
    """Return the members of the results that every report has."""
    names = [metric.id for metric in computed.metrics]
    return build_results_data(computed.checked, computed.report, names, computed.columns, choices)


def build_value_data(computed: ComputedBuild, spreads: Spreads, judged: JudgedBuild) -> dict[str, object]:
    """Return the metrics by the values of a column, and the splits by dimensions, as members of the results."""
    split, changes = computed.split, judged.by_value
    judgement = {"judgement": build_group_changes_data(changes)} if changes.versions else {}
    groups = {"by": build_groups_data(split.column, spreads) | judgement} if split.column else {}
    return {**groups, **({"splits": build_split_data(split.splits)} if split.splits else {})}


def build_judged_data(
    judgements: ReportJudgements,
    report: Report,
    answers: Sequence[Answer],
    figures: Sequence[RunFigures],
    computation: Computation,
) -> dict[str, object]:
    """Return the member `judgement` of the results, with the sections of the report and their metrics."""
    sections = [{"title": title, "metrics": list(names)} for title, names in report.metric_tables]
    data = build_judgement_data(judgements) | build_caution_data(answers, figures)
    run_labels = label_runs(report, list(map(create_run_figures, computation.runs)))
    notes = iter_shared_file_notes([run.ingested_run for run in computation.runs], run_labels)
    return {**data, "shared_files": list(notes), "sections": sections}


def build_further_data(
    prepared: PreparedReport, computed: ComputedBuild, judged: JudgedBuild, answers: Sequence[Answer], choices: Choices
) -> dict[str, object]:
    """Return the last members of the results: calibration runs, rows, groups of runs, claims."""
    data = build_calibration_data(computed.metrics, computed.calibration, choices)
    data |= build_row_data(computed.checked, computed.computation, computed.runs)
    data |= _build_group_data(prepared.report, computed, judged, answers)
    return data | ({"claims": build_claims_data(computed.claims)} if computed.claims else {})


def _build_group_data(
    report: Report, computed: ComputedBuild, judged: JudgedBuild, answers: Sequence[Answer]
) -> dict[str, object]:
    """Return the groups of a report with their judgements, in the form of those of a report without groups."""
    if not report.groups:
        return {}
    judged_data = {}
    for group in computed.computed.groups:
        name = group.inputs.name
        if judgements := judged.by_group.get(name):
            runs = [run for run in computed.main_runs if get_group_name(run.id) == name]
            group_answers = [answer for answer in answers if get_group_name(answer.run_id) == name]
            judged_data[name] = build_judged_data(judgements, group.report, group_answers, runs, group.computation)
    run_ids = [run.ingested_run.run.id for run in computed.computation.runs]
    return {"groups": build_run_group_data(report, run_ids, judged_data)}
