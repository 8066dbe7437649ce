"""Build the parts of a report: prose, figures and tables."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from assay.engine.point_rows import get_column
from assay.judgement.report_judgements import ReportJudgements
from assay.lang import dependencies, formula
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.parts import Choice
from assay.lang.model.parts import Part as PartSpec
from assay.lang.model.report import Report
from assay.lang.model.series import Series
from assay.lang.segments import is_segment
from assay.lang.series_wording import describe_series
from assay.number_styles.exact_decimal import format_exact
from assay.plan.request import name_rows_statement
from assay.report.blocks import rows as block_rows
from assay.report.blocks.chosen_rows import choose_rows, describe_chosen_row
from assay.report.blocks.context import RenderContext, RenderedBlocks, ShownRun, render_blocks
from assay.report.blocks.row_notes import describe_unshown_rows
from assay.report.document import Chart, Entry, Group, Part, Plot, name_table
from assay.report.formatted_text import is_plain, list_leaves, name_anchor, resolve_links
from assay.report.glossary import build_metric_entry
from assay.report.observations.printed_changes import Changes
from assay.report.placeholders import collect_placeholder_values, list_labels
from assay.report.prose import Prose
from assay.report.run_groups import ShownGroup, list_cases, list_main_runs
from assay.report.run_results import Choices, RunFigures, label_group_runs, list_version_labels
from assay.report.tables import Appendix, MetricTable
from assay.report.unquoted import NOTE
from assay.report.versions import Version, combine_runs


@dataclasses.dataclass(frozen=True, slots=True)
class ShownParts:
    """What the parts of a report show, by groups of runs.

    A report without groups has a single one, whose name is empty.

    `prose` maps file names to texts, `notes` titles of parts to notes on what they leave out. `claims` are the tables
    of the claims of documents, `judgements` those of averages by group. `files` are those with rows, by the id of a run
    and the name of a statement. `changes` are what tables print, if prose quotes it and they are known.
    """

    groups: Sequence[ShownGroup]
    prose: Mapping[str, Prose] = dataclasses.field(default_factory=dict)
    notes: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    claims: tuple[Appendix, ...] = ()
    judgements: Mapping[str, ReportJudgements] = dataclasses.field(default_factory=dict)
    files: Mapping[tuple[str, str], str] = dataclasses.field(default_factory=dict)
    changes: Changes | None = None


F = TypeVar("F", bound=Chart | Plot)


def build_parts(checked: CheckedPackage, report: Report, parts: ShownParts, choices: Choices) -> tuple[Part, ...]:
    """Return the parts of a report that have anything to show.

    Raises AssayError: prose quotes an unknown run or row, or the constants of a run choose a row that it lacks.
    """
    if not report.parts:
        return ()
    return _build_printed_parts(_create_contexts(checked, parts, choices), report, parts.notes)


def _create_contexts(checked: CheckedPackage, parts: ShownParts, choices: Choices) -> dict[str, RenderContext]:
    """Return the context of each group by name; contexts know each other and number figures in one order."""
    contexts: dict[str, RenderContext] = {}
    figure_numbers, mark_notes = itertools.count(1), iter([NOTE])
    for group in parts.groups:
        context = _create_context(checked, group, choices, figure_numbers, contexts)
        contexts[group.name] = dataclasses.replace(
            context, judgements=parts.judgements.get(group.name), prose=parts.prose, files=parts.files,
            changes=parts.changes, mark_notes=mark_notes,
        )  # fmt: skip
    return contexts


def _create_context(
    checked: CheckedPackage,
    group: ShownGroup,
    choices: Choices,
    figure_numbers: Iterator[int],
    contexts: Mapping[str, RenderContext],
) -> RenderContext:
    """Build the context that parts are rendered in: the runs of most parts, the cases of grids, and the chosen rows."""
    report, runs = group.report, group.runs
    case_by_run = list_cases(report, runs)
    shown_runs = _list_main_runs(group)
    cases = [
        ShownRun(run, case if case_by_run.count(case) == 1 else f"{case} ({run.id})", "")
        for run, case in zip(runs, case_by_run, strict=True)
        if case
    ]
    rows_by_choice = {
        **choose_rows(checked, report, [item.run for item in cases]),
        **choose_rows(checked, report, [item.run for item in shown_runs]),
    }
    return RenderContext(
        checked,
        report,
        choices,
        rows_by_choice,
        shown_runs,
        cases,
        _list_columns(group, shown_runs),
        group.cut.instants if group.cut else {},
        figure_numbers,
        groups=contexts,
    )


def _list_columns(group: ShownGroup, shown_runs: Sequence[ShownRun]) -> tuple[Version, ...]:
    """Return the columns of averages: the phases of a group, or its versions."""
    if not group.cut:
        return _list_versions(group, shown_runs)
    phases = group.cut.phases
    labels = label_group_runs(group.report, group.name, phases)
    return tuple(Version(phase, label, (phase,)) for phase, label in zip(phases, labels, strict=True))


def _list_versions(group: ShownGroup, shown_runs: Sequence[ShownRun]) -> tuple[Version, ...]:
    """Return the runs of a group, several runs of a version as one."""
    runs = [item.run for item in shown_runs]
    version_labels = list_version_labels(group.report, runs)
    prefix = f"{group.name}: "
    return combine_runs(
        runs, [label.removeprefix(prefix) for label in version_labels], [item.label for item in shown_runs]
    )


def list_part_metrics(report: Report, prose_texts: Iterable[Prose] = ()) -> tuple[str, ...]:
    """Return the metrics in the tables and figures of parts, then those that prose quotes, each once."""
    blocks = (name for block in report.blocks for name in block.read_metrics())
    quoted = (quote.metric for text in prose_texts for quote in text.quotes if quote.is_of_metric)
    return tuple(dict.fromkeys((*blocks, *quoted)))


def _list_main_runs(group: ShownGroup) -> list[ShownRun]:
    """Return the runs of a group that most blocks show: those that are no cases, unless all are."""
    run_labels = label_group_runs(group.report, group.name, group.runs)
    labels = {run.id: label for run, label in zip(group.runs, run_labels, strict=True)}
    runs = list_main_runs(group.report, group.runs)
    return [ShownRun(run, labels[run.id], labels[run.id] if len(runs) > 1 else "") for run in runs]


def collect_group_values(checked: CheckedPackage, groups: Sequence[ShownGroup]) -> dict[str, str]:
    """Return the values of placeholders: those of the first group, but with the labels of the runs of all groups."""
    versions = [_list_versions(group, _list_main_runs(group)) for group in groups]
    labels = [[item.label for item in group] for group in versions]
    first_values = collect_placeholder_values(checked, [item.figures for item in versions[0]], labels[0])
    others = [label for group in labels for label in group[1:]]
    return {
        **first_values,
        "base": list_labels(group[0] for group in labels),
        "others": list_labels(others or [group[0] for group in labels]),
    }


def _build_printed_parts(
    contexts: Mapping[str, RenderContext], report: Report, notes_by_part: Mapping[str, tuple[str, ...]]
) -> tuple[Part, ...]:
    """Render the parts that have anything to show."""
    first_context = next(iter(contexts.values()))  # for parts without a group, which depend on no single run
    rendered_parts = (
        printed_part
        for place, part in enumerate(report.parts, start=1)
        for printed_part in _build_part(
            dataclasses.replace(contexts.get(part.group, first_context), place=place), part,
            notes_by_part.get(part.title, ()),
        )
    )  # fmt: skip
    return finish_parts(rendered_parts)


def finish_parts(rendered_parts: Iterable[Part]) -> tuple[Part, ...]:
    """Return the parts that have anything to show, with ids, and links of prose resolved to their places."""
    printed = make_figure_ids_unique(_identify(list(filter(_has_content, rendered_parts))))
    addresses = {name_anchor(item.title): f"#section-{item.id}" for item in reversed(printed)}
    return tuple(dataclasses.replace(item, formatted=resolve_links(item.formatted, addresses)) for item in printed)


def _has_content(printed_part: Part) -> bool:
    is_empty = not (printed_part.text or printed_part.plots or printed_part.wide or printed_part.tables)
    return bool(printed_part.content) or not is_empty


def _identify(printed_parts: Sequence[Part]) -> Iterator[Part]:
    """Yield parts with ids, which are the anchors of their titles, and tables of metrics with those of their names.

    Ids are unique: another one of the same anchor has a number. A table with the title of its part has its id.
    """
    used_ids: set[str] = set()

    def claim(name: str) -> str:
        candidates = itertools.chain([name], (f"{name}-{number}" for number in itertools.count(2)))
        used_ids.add(identifier := next(item for item in candidates if item not in used_ids))
        return identifier

    ids_by_table = {
        (index, table.title): claim(name_anchor(name_table(printed_part, table)))
        for index, printed_part in enumerate(printed_parts)
        for table in printed_part.tables
        if isinstance(table, MetricTable) and table.title != printed_part.title
    }
    for index, printed_part in enumerate(printed_parts):
        part_id = claim(name_anchor(printed_part.title) or "part")
        tables = (
            dataclasses.replace(table, id=ids_by_table.get((index, table.title), part_id))
            if isinstance(table, MetricTable)
            else table
            for table in printed_part.tables
        )
        yield dataclasses.replace(printed_part, id=part_id, tables=tuple(tables))


def _build_part(context: RenderContext, part: PartSpec, notes: Sequence[str]) -> Iterator[Part]:
    """Yield what is printed of a part: one, or several if figures or prose follow tables."""
    named_choices: set[str] = set()
    printed_notes: set[str] = set()
    has_heading = False
    for divided in _divide_blocks(render_blocks(context, part)):
        blocks = [dataclasses.replace(block, notes=_omit(block.notes, printed_notes)) for block in divided]
        if content := next((block.content for block in blocks if block.content), ""):
            yield Part("", part.title, (), (), (), content=content)  # what is printed here has a heading of its own
            continue
        choices = dict.fromkeys(name for block in blocks for name in block.choices if name not in {"", *named_choices})
        named_choices |= {*choices}
        sentences = [
            sentence for name in choices for sentence in _describe_choice(context, context.report.get_choice(name))
        ]
        printed_notes.update(note for block in blocks for note in block.notes)
        plots = [plot for block in blocks for plot in block.plots]
        abreast = _count_abreast(
            1 if plots and all(isinstance(plot, Chart) for plot in plots) else len(context.runs),
            is_landscape=context.is_landscape,
        )
        printed_part = compose_part(part.title, blocks, sentences, () if has_heading else notes, abreast)
        yield dataclasses.replace(printed_part, continues=has_heading)
        has_heading = True


def _omit(notes: Iterable[str], printed_notes: Collection[str]) -> tuple[str, ...]:
    return tuple(note for note in notes if note not in printed_notes)


def compose_part(
    title: str,
    blocks: Sequence[RenderedBlocks],
    sentences: Iterable[str] = (),
    notes: Iterable[str] = (),
    abreast: int = 2,
) -> Part:
    """Return a part of rendered blocks; `sentences` follow its prose, `notes` those of its blocks."""
    prose = tuple(text_block for block in blocks for text_block in block.prose)
    text = (
        *(leaf.text for leaf in list_leaves(prose)),
        *sentences,
        *(note for block in blocks for note in block.notes),
        *notes,
        *(gap for block in blocks for gap in block.gaps),
    )
    return Part(
        "",
        title,
        text,
        tuple(plot for block in blocks for plot in block.plots),
        tuple(table for block in blocks for table in block.tables),
        abreast=abreast,
        wide=tuple(plot for block in blocks for plot in block.wide),
        quoted=tuple(item for block in blocks for item in block.quoted),
        formatted=() if is_plain(prose) else prose,
    )


def _divide_blocks(blocks: Iterable[RenderedBlocks]) -> list[list[RenderedBlocks]]:
    """Divide the output of blocks where it cannot follow in the same printed part: prose or figures after tables."""
    divided: list[list[RenderedBlocks]] = [[]]
    last_stage = 0
    for block in blocks:
        is_apart = bool(block.content) or any(item.content for item in divided[-1])
        is_later = block.stages and block.stages[0] < last_stage
        if divided[-1] and (is_apart or is_later or (block.prose and any(item.prose for item in divided[-1]))):
            divided.append([])
            last_stage = 0
        divided[-1].append(block)
        last_stage = max((last_stage, *block.stages))
    return divided


def make_figure_ids_unique(printed_parts: Iterable[Part]) -> tuple[Part, ...]:
    """Return the parts with unique figure ids: repeated ids get a number as suffix.

    Ids repeat when a series is drawn twice, a metric is drawn over two others, or two run names differ only in
    characters that file names cannot have.
    """
    used_ids: set[str] = set()

    def make_unique(plot: F) -> F:
        candidate_ids = itertools.chain([plot.id], (f"{plot.id}-{number}" for number in itertools.count(2)))
        unique_id = next(unique_id for unique_id in candidate_ids if unique_id.casefold() not in used_ids)
        used_ids.add(unique_id.casefold())
        return dataclasses.replace(plot, id=unique_id)

    return tuple(
        dataclasses.replace(
            printed_part,
            plots=tuple(plot and make_unique(plot) for plot in printed_part.plots),
            wide=tuple(make_unique(plot) for plot in printed_part.wide),
        )
        for printed_part in printed_parts
    )


def _count_abreast(run_count: int, *, is_landscape: bool) -> int:
    """Return the number of figures side by side; figures of one kind fill whole rows where possible."""
    if is_landscape:
        return 4 if run_count in (2, 4) else 3
    return 3 if run_count == 3 else 2


# The text of a part


def _describe_choice(context: RenderContext, choice: Choice) -> Iterator[str]:
    """Yield the sentences on a choice: the row that each run chooses, and the runs that have none."""
    rows = [(shown_run, context.find_row(choice.name, shown_run.run)) for shown_run in context.runs]
    row_labels = [
        f"{shown_run.title_label}{': ' if shown_run.title_label else ''}{describe_chosen_row(choice, row)}"
        for shown_run, row in rows
        if row
    ]
    if row_labels and choice.label:
        yield f"{choice.title}: {'; '.join(row_labels)}."
    yield from _describe_unshown_rows(context, choice)
    runs_without_row = [shown_run.label for shown_run, row in rows if row is None]
    if not choice.keys and runs_without_row:
        yield f"{_format_subject(runs_without_row)} {choice.absent}."
    elif rows[-1][1] is None:
        yield f"{rows[-1][0].label}{', which determines the choice,' if len(rows) > 1 else ''} has {choice.absent}."
    elif runs_without_row:
        row = rows[-1][1]
        key_values = ", ".join(f"{name.replace('_', ' ')} {row[name]}" for name in choice.keys)
        yield f"{_format_subject(runs_without_row)} no {choice.grain.replace('_', ' ')} with {key_values}."


def _describe_unshown_rows(context: RenderContext, choice: Choice) -> Iterator[str]:
    """Yield a sentence on rows beside the chosen ones: their repeats, and those that were as good."""
    for shown_run in context.runs:
        is_own = not choice.keys or shown_run is context.runs[-1]
        others = list(describe_unshown_rows(context, choice, shown_run.run, is_own=is_own))
        if others:
            label = f" of {shown_run.title_label}" if shown_run.title_label else ""
            yield f"{choice.title}{label}: {'; '.join(others)}. Figures over time and quotes show the chosen one only."


def _format_subject(labels: Sequence[str]) -> str:
    return f"{', '.join(labels)} {'has' if len(labels) == 1 else 'have'}"


def build_part_dictionary(checked: CheckedPackage, report: Report, prose_texts: Iterable[Prose]) -> tuple[Group, ...]:
    """Return the entries of the metrics and series of a report with parts, without those of its dictionary.

    Segments of metrics are among the terms.
    """
    prose_texts = tuple(prose_texts)
    explained = {name for group in report.dictionary for name in group.metrics}
    metric_ids = dict.fromkeys((*list_part_metrics(report, prose_texts), *report.compared_metrics))
    names = [name for name in metric_ids if name not in explained and not is_segment(name)]
    for name in names:  # the list grows: the inputs of a formula may be formulas, too
        names += [item for item in formula.list_inputs(checked.get_metric(name).measure) if item not in names]
    entries = tuple(build_metric_entry(checked, name) for name in names)
    series_names = block_rows.list_shown_series(report, prose_texts)
    series_entries = tuple(
        Entry(item.name, item.name, item.unit.symbol, f"{item.doc}. {describe_series(checked.package, item)}", "")
        for item in checked.package.series
        if item.name in series_names
    )
    groups = (Group("Metrics", entries), Group("Time series", series_entries))
    return tuple(group for group in groups if group.entries)


def list_shown_sources(checked: CheckedPackage, report: Report) -> set[str]:
    """Return the names of the sources that blocks of the report read from."""
    grain_names = [item.grain.name for item in block_rows.request_part_rows(checked, report)]
    compared = [checked.get_metric(name) for name in report.compared_metrics]
    metrics = formula.list_measured(formula.index_metrics(checked.package), compared)
    table_names = [*grain_names, *block_rows.list_shown_series(report), *(metric.grain for metric in metrics)]
    event_names = dependencies.collect_dependencies(checked.package, [], [], table_names).events
    return {event.source for event in checked.package.events if event.name in event_names}


# Series that are not drawn as a whole


def describe_undrawn_series(
    checked: CheckedPackage,
    report: Report,
    runs: Sequence[RunFigures],
    run_labels: Sequence[str],
    sample_counts: Sequence[Mapping[str, int]],
) -> tuple[str, ...]:
    """Return a sentence for each series of a run that is not drawn as a whole.

    `sample_counts` has the number of samples by event, for each run. Series without any samples are not mentioned: the
    parts that show them say so.
    """
    series_names = block_rows.list_shown_series(report)
    shown_series = [item for item in checked.package.series if item.name in series_names]
    return tuple(
        f"{label}: {item.name}{problem}"
        for label, run, counts_by_event in zip(run_labels, runs, sample_counts, strict=True)
        for item in shown_series
        if name_rows_statement(item.name) in run.results.rows
        for problem in describe_missing(item, run, counts_by_event)
    )


def describe_missing(item: Series, run: RunFigures, counts_by_event: Mapping[str, int]) -> Iterator[str]:
    """Yield why values of a series are not drawn, as the rest of a sentence that begins with its name."""
    rows = block_rows.get_rows(run, item)
    undrawn_rows = [
        rows[index] for index, value in enumerate(get_column(rows, "value")) if not math.isfinite(float(value))
    ]
    if undrawn_rows:
        lines = ", ".join(dict.fromkeys(" ".join(str(row[name]) for name in item.by) for row in undrawn_rows))
        verb = "is" if len(undrawn_rows) == 1 else "are"
        yield f": {len(undrawn_rows)} of {len(rows)} values {verb} not finite and not drawn ({lines})."
    # A warning already reports samples that are too far apart.
    elif (
        not rows
        and any(counts_by_event.get(sampled.event) for sampled in item.samples)
        and not any(warning.startswith(f"{item.name}: ") for warning in run.results.warnings)
    ):
        if item.has_intervals:
            yield " has no value: no record with a value is in any interval."
            return
        width = run.constants[item.window] if item.window else item.window_ns
        window = f"two samples within {format_exact(int(str(width)), 9)} s" if item.reading == "rate" else "a sample"
        yield f" has no value: no line has {window} of any step."
