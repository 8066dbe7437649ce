"""`assay build` of an article: from runs to a document of prose, figures and tables."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from assay.app.article_results import collect_units, export_comparison, export_groups, export_results
from assay.app.available_parts import Notes, divide_runs, drop_unavailable_parts
from assay.app.build_comparison import (
    collect_cut_runs,
    collect_inputs,
    create_run_figures,
    iter_findings,
    list_run_warnings,
)
from assay.app.compute import Computation, RunResult, compute, join_computations
from assay.app.filters import parse_filters
from assay.app.observations import add_observations, read_observations
from assay.app.options import BuildResult, Options, list_report_files
from assay.app.outputs import replace_folder
from assay.app.phases import PhaseSelection, check_runs, select_phases
from assay.app.point_files import name_point_files
from assay.app.prepare import UnrecognisedSourcesError
from assay.app.prose import get_texts, read_prose
from assay.app.rendering import AssembledReport, collect_article_details, write_report
from assay.app.repeats import refuse_repeats
from assay.app.report_check import check_reports
from assay.app.report_dates import get_report_date
from assay.app.run_groups import (
    GroupInputs,
    check_run_names,
    describe_absent_groups,
    divide_into_groups,
    join_articles,
    join_notes,
)
from assay.app.runs import NamedRun, fetch_runs
from assay.app.session import Session
from assay.lang import dependencies
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.article import Article
from assay.lang.model.package import Metric
from assay.plan.planner import AppliedFilter, RowRequest
from assay.provenance.record import build_provenance, format_provenance
from assay.report.article import (
    add_claims,
    assemble_article,
    describe_undrawn_series,
    list_article_metrics,
    list_compared_metrics,
)
from assay.report.blocks import claims
from assay.report.blocks.claims import CheckedClaim, File, check_claims
from assay.report.blocks.context import ComparisonColumns
from assay.report.blocks.rows import list_row_requests, list_shown_series
from assay.report.prose import Prose
from assay.report.render.pdf import warm_up_converters
from assay.report.run_groups import ShownGroup, label_article_runs, label_group_runs
from assay.report.run_results import Choices, RunFigures
from assay.util.diagnostics import USAGE, AssayError, Diagnostic, fail


def judge_claims(
    checked: CheckedPackage,
    article: Article,
    runs: Sequence[RunResult],
    figures: Sequence[RunFigures],
    run_labels: Sequence[str],
) -> tuple[CheckedClaim, ...]:
    """Check each claim of an article against the results of runs."""
    if not article.claims:
        return ()
    files = {
        (run.ingested_run.run.id, pivot.title): _list_grain_files(checked, run, pivot.grain)
        for run in runs
        for pivot in claims.find_pivots(article).values()
    }
    return check_claims(checked, article, figures, run_labels, files)


def _list_grain_files(checked: CheckedPackage, run: RunResult, grain: str) -> tuple[File, ...]:
    """Return name, size and SHA-256 of the raw files of a run that the rows of a grain are computed from."""
    events = dependencies.collect_dependencies(checked.package, [], [], [grain]).events
    sources = {event.source for event in checked.package.events if event.name in events}
    parts = [part for part in run.ingested_run.parts if part.source.name in sources]
    return tuple((item.name, item.size, item.sha256) for part in parts for item in part.hashes)


def build_article(session: Session, name: str, runs: Sequence[NamedRun], out: Path, options: Options) -> BuildResult:
    """Build the article `system/name` over runs (the first is the baseline) into the folder `out`.

    Writes either all files of the report or none. Raises AssayError.
    """
    with replace_folder(out, session.get_wait_notice(out), session.on_finished) as new_folder:
        warnings = write_report(
            session, assemble_article_report(session, name, runs, options), new_folder, options.forms
        )
    return BuildResult(out, list_report_files(out, options.forms), warnings)


def assemble_article_report(session: Session, name: str, runs: Sequence[NamedRun], options: Options) -> AssembledReport:
    """Compute the article `system/name` over runs, without drawing or writing anything. Raises AssayError."""
    checked, article = session.find_article(name)
    check_reports(session, checked.package)
    check_run_names(article, runs)
    _refuse_report_options(name, runs, options)
    phase_selection = select_phases(checked.package, article.phases, options.at, options.phases)
    if phase_selection:
        check_runs(phase_selection, (run.id for run in runs))
    texts = read_prose(session.workspace, checked, article)
    runs = fetch_runs(session, runs, checked.package.sources)
    inputs = divide_into_groups(article, texts, runs)
    point_names = _list_point_names(checked, article, texts)
    groups = [_compute_group(session, checked, item, phase_selection, point_names) for item in inputs]
    available = _join_groups(checked, article, groups, phase_selection)
    return _assemble_report(session, checked, article, texts, available, groups, options)


def _assemble_report(
    session: Session,
    checked: CheckedPackage,
    article: Article,
    texts: Mapping[str, Prose],
    available: _AvailableArticle,
    groups: Sequence[_ComputedGroup],
    options: Options,
) -> AssembledReport:
    computation = available.computation
    applied_filters = parse_filters(checked.package, article, (), False)
    all_prose = {**texts, **(observations := read_observations(options.observations))}
    prose = {part.prose: texts[part.prose] for part in available.article.parts if part.prose}
    choices = _create_choices(article, applied_filters, computation, options)
    shown_groups = [group.create_shown_group() for group in groups]
    figures = [run for group in shown_groups for run in group.runs]
    judged_claims = tuple(
        claim
        for group, shown_group in zip(groups, shown_groups, strict=True)
        for claim in _judge_group(checked, group, shown_group)
    )
    provenance_record = build_provenance(
        checked, article, list_article_metrics(article, texts.values()), choices, figures,
        [collect_inputs(checked, item) for item in computation.runs], session.get_templates(),
        get_texts(all_prose), collect_cut_runs(computation), claims.build_claims_data(judged_claims),
    )  # fmt: skip
    document = assemble_article(
        checked, available.article, shown_groups, choices, format_provenance(provenance_record, checked), prose,
        available.notes,
    )  # fmt: skip
    warnings = (
        *_list_group_warnings(checked, article, groups, shown_groups),
        *document.warnings,
        *_list_undrawn_series(checked, article, groups, shown_groups),
        *claims.list_claim_warnings(judged_claims),
    )
    document = add_claims(document, checked, available.article, claims.describe_claims(judged_claims))
    document = add_observations(checked, article, dataclasses.replace(document, warnings=warnings), observations)
    columns = [run for group in shown_groups for run in group.columns]
    results = _export(checked, article, available, figures, columns, judged_claims)
    figures_by_label = dict(zip(label_article_runs(article, figures), figures, strict=True))
    columns_by_label = dict(zip(label_article_runs(article, columns), columns, strict=True))
    details = collect_article_details(
        checked,
        available.rows,
        computation,
        figures_by_label,
        columns_by_label,
        checked.package.summaries[0].name,
        applied_filters,
    )
    labelled_figures = {**figures_by_label, **columns_by_label}
    data_findings = tuple(iter_findings(list(labelled_figures), list(labelled_figures.values())))
    return AssembledReport(
        checked, document, provenance_record, results, computation, details, all_prose, data_findings
    )


def _export(
    checked: CheckedPackage,
    article: Article,
    available: _AvailableArticle,
    figures: Sequence[RunFigures],
    columns: Sequence[RunFigures],
    judged_claims: Sequence[CheckedClaim],
) -> dict[str, object]:
    """Return the results behind an article as data."""
    results = export_results(
        checked,
        f"{checked.package.system}/{article.name}",
        figures,
        collect_units(checked, available.computation.compiled_plan.plan),
        name_point_files(available.computation),
    ) | export_comparison(checked, available.article, columns)
    results |= export_groups(article, figures)
    return results | ({"claims": claims.build_claims_data(judged_claims)} if judged_claims else {})


def _create_choices(
    article: Article, applied_filters: Sequence[AppliedFilter], computation: Computation, options: Options
) -> Choices:
    """Return the choices of an article, which has no summary."""
    return Choices(
        article.style,
        "",
        tuple(item.label for item in applied_filters),
        options.date or get_report_date(computation),
        options.title,
        options.author,
        options.at,
        options.phases,
    )


def _list_group_warnings(
    checked: CheckedPackage, article: Article, groups: Sequence[_ComputedGroup], shown_groups: Sequence[ShownGroup]
) -> Iterator[str]:
    """Yield which groups have no runs, and the warnings of groups and runs."""
    yield from describe_absent_groups(article, [group.inputs for group in groups])
    yield from (warning for group in groups for warning in group.warnings)
    yield from _list_run_warnings(checked, article, groups, shown_groups)


def _judge_group(checked: CheckedPackage, group: _ComputedGroup, shown_group: ShownGroup) -> tuple[CheckedClaim, ...]:
    """Check the claims about the pivots of a group."""
    run_labels = label_group_runs(group.inputs.article, shown_group.name, shown_group.runs)
    return judge_claims(checked, group.inputs.article, group.computation.runs, shown_group.runs, run_labels)


def _list_run_warnings(
    checked: CheckedPackage,
    article: Article,
    groups: Sequence[_ComputedGroup],
    shown_groups: Sequence[ShownGroup],
) -> Iterator[str]:
    """Yield the warnings about the runs of each group; several groups may have the same run."""
    for group, shown_group in zip(groups, shown_groups, strict=True):
        run_labels = label_article_runs(article, shown_group.runs)
        yield from list_run_warnings(checked.package, group.computation, run_labels)


def _list_undrawn_series(
    checked: CheckedPackage,
    article: Article,
    groups: Sequence[_ComputedGroup],
    shown_groups: Sequence[ShownGroup],
) -> Iterator[str]:
    """Yield a sentence on each series of a run that is not drawn as a whole."""
    for group, shown_group in zip(groups, shown_groups, strict=True):
        counts = [run.ingested_run.counts for run in group.computation.runs]
        run_labels = label_article_runs(article, shown_group.runs)
        yield from describe_undrawn_series(checked, group.article, shown_group.runs, run_labels, counts)


@dataclasses.dataclass(frozen=True, slots=True)
class _ComputedGroup:
    """A group of runs with what of an article they have the records for, and their results.

    `notes` say what was dropped, `warnings` which files have no event.
    """

    inputs: GroupInputs
    article: Article
    notes: Notes
    rows: tuple[RowRequest, ...]
    series: tuple[str, ...]
    computation: Computation
    warnings: tuple[str, ...]

    def create_shown_group(self) -> ShownGroup:
        """Return the group for a report."""
        runs = [create_run_figures(item) for item in self.computation.runs]
        return ShownGroup(self.inputs.name, self.article, runs, describe_phases(self.computation))


@dataclasses.dataclass(frozen=True, slots=True)
class _AvailableArticle:
    """What of an article its groups can show, with all rows that it shows and the results of all runs."""

    article: Article
    notes: Notes
    rows: tuple[RowRequest, ...]
    computation: Computation


def _join_groups(
    checked: CheckedPackage,
    article: Article,
    groups: Sequence[_ComputedGroup],
    phase_selection: PhaseSelection | None,
) -> _AvailableArticle:
    rows = tuple({item.name: item for group in groups for item in group.rows}.values())
    metrics = tuple(dict.fromkeys(item for group in groups for item in _list_metrics(checked, group.article)))
    series = tuple(dict.fromkeys(name for group in groups for name in group.series))
    computations = [group.computation for group in groups]
    return _AvailableArticle(
        join_articles(article, [group.inputs for group in groups], [group.article for group in groups]),
        join_notes([group.notes for group in groups]),
        rows,
        join_computations(
            checked,
            computations,
            metrics,
            rows,
            series,
            phase_selection,
            parse_filters(checked.package, article, (), False),
        ),
    )


def _list_point_names(checked: CheckedPackage, article: Article, texts: Mapping[str, Prose]) -> set[str]:
    """Return the names of the rows that are points in any group: they are points in all. Empty without groups."""
    if not article.groups:
        return set()
    return {item.name for item in list_row_requests(checked, article, texts.values()) if item.are_points}


def _compute_group(
    session: Session,
    checked: CheckedPackage,
    inputs: GroupInputs,
    phase_selection: PhaseSelection | None,
    point_names: Collection[str],
) -> _ComputedGroup:
    """Compute what the runs of a group have the records for.

    Files of a source without any event count as no files if other sources remain that the article shows. Rows whose
    names are among `point_names` are points.

    Raises AssayError: the problem of such files if nothing else remains.
    """
    unrecognised: dict[tuple[str, str], Diagnostic] = {}
    problem: AssayError | None = None
    runs, texts = inputs.runs, inputs.texts
    if phase_selection and inputs.name:
        phase_selection = phase_selection.select_runs([run.id for run in runs])
    while True:
        try:
            available, notes = drop_unavailable_parts(checked, inputs.article, texts, runs, unrecognised, inputs.name)
        except AssayError as error:
            raise problem or error from None
        prose_texts = [texts[part.prose] for part in available.parts if part.prose]
        rows = _list_rows(checked, available, prose_texts, point_names)
        series = list_shown_series(available, prose_texts)
        try:
            computations = []
            for alike in divide_runs(checked, available, runs, unrecognised):
                remaining, _ = drop_unavailable_parts(checked, available, texts, alike, unrecognised, inputs.name)
                computations.append(
                    _compute_runs(session, checked, remaining, texts, alike, phase_selection, point_names)
                )
        except UnrecognisedSourcesError as error:
            if error.problems.keys() <= unrecognised.keys():
                raise
            problem = error
            unrecognised |= error.problems
            continue
        metrics, applied = _list_metrics(checked, available), parse_filters(checked.package, available, (), False)
        computation = join_computations(checked, computations, metrics, rows, series, phase_selection, applied)
        warnings = tuple(_list_unrecognised(unrecognised))
        return _ComputedGroup(
            inputs, available, notes, rows, series, computation.sort_runs([run.id for run in runs]), warnings
        )


def _compute_runs(
    session: Session,
    checked: CheckedPackage,
    article: Article,
    texts: Mapping[str, Prose],
    runs: Sequence[NamedRun],
    phase_selection: PhaseSelection | None,
    point_names: Collection[str],
) -> Computation:
    """Compute what runs have the records for, all of them the same."""
    prose_texts = [texts[part.prose] for part in article.parts if part.prose]
    return compute(
        session, checked, runs, _list_metrics(checked, article), parse_filters(checked.package, article, (), False), [],
        lambda: warm_up_converters(session.get_templates()), _list_rows(checked, article, prose_texts, point_names),
        list_shown_series(article, prose_texts),
        phase_selection.select_runs([run.id for run in runs]) if phase_selection else None,
    )  # fmt: skip


def _list_rows(
    checked: CheckedPackage, article: Article, texts: Sequence[Prose], point_names: Collection[str]
) -> tuple[RowRequest, ...]:
    """Return the rows that an article shows; those whose names are among `point_names` are points."""
    return tuple(
        dataclasses.replace(item, are_points=item.are_points or item.name in point_names)
        for item in list_row_requests(checked, article, texts)
    )


def _list_unrecognised(unrecognised: Mapping[tuple[str, str], Diagnostic]) -> tuple[str, ...]:
    """Return a warning about each source of a run whose files have no event."""
    return tuple(
        f"{run}: {item.message.removeprefix(f'run {run}: ')} (source {source}), so what reads it is left out; "
        + "; ".join(item.notes)
        for (run, source), item in sorted(unrecognised.items())
    )


def _refuse_report_options(name: str, runs: Sequence[NamedRun], options: Options) -> None:
    """Raise AssayError (usage) for options of tables of metrics, which articles do not have."""
    if (
        options.filters
        or options.no_filters
        or options.summary
        or options.style
        or options.columns
        or options.details
        or options.by
    ):
        raise fail(
            "article-options",
            f"filters, summary, number style, columns, details and --by cannot be chosen for the article `{name}`",
            status=USAGE,
        )
    refuse_repeats(name, runs, options)


def _list_metrics(checked: CheckedPackage, article: Article) -> tuple[Metric, ...]:
    """Return the metrics that an article compares, and those whose averages it prints."""
    averaged_metrics = (checked.get_metric(name) for block in article.blocks for name in block.read_averages())
    return tuple(dict.fromkeys((*resolve_compared_metrics(checked, article), *averaged_metrics)))


def resolve_compared_metrics(checked: CheckedPackage, article: Article) -> tuple[Metric, ...]:
    """Return the metrics that an article compares between runs or phases, each once."""
    return tuple(map(checked.get_metric, list_compared_metrics(article)))


def describe_phases(computation: Computation) -> ComparisonColumns | None:
    """Return the results of the phases of runs, and the instants that bound them; None if runs are not cut."""
    if not computation.views:
        return None
    instants = {
        run.id: tuple((item.name, item.t_ns) for item in phases.instants)
        for run, phases in zip(computation.runs, computation.phases, strict=True)
    }
    return ComparisonColumns([create_run_figures(view) for view in computation.views], instants)
