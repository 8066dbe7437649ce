"""Render prose: the text of a file with the results that it quotes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.lang.blocks.prose import Prose as ProseBlock
from assay.number_styles.cell_text import get_value
from assay.report.blocks import rows as block_rows
from assay.report.blocks.context import RenderContext, RenderedBlocks, register_renderer
from assay.report.blocks.section import create_section_context
from assay.report.cell_links import AVERAGE, DIFFERENCE, FACT, PERCENT, VERDICT, CellSource, QuotedValue
from assay.report.cells import Cell
from assay.report.glossary import get_constant_id
from assay.report.judged_cells import NO_VALUE, format_verdict, get_word
from assay.report.observations.cell_quotes import (
    CellQuote,
    create_cell_quote,
    find_cells,
    find_problems,
    format_cells,
)
from assay.report.observations.draft import list_quoted_cells
from assay.report.observations.printed_changes import Changes
from assay.report.prose import BASE, Prose, Quote, list_constants
from assay.report.rendered_prose import RenderedProse
from assay.report.row_units import choose_row_unit
from assay.report.run_results import RunFigures, format_constant, get_average, list_own_names
from assay.report.sections import compare_values
from assay.report.series_statistic import add_unit_to_text, choose_statistic_unit, parse_statistic
from assay.report.unquoted import NumberFinder, add_note, mark_unquoted
from assay.report.versions import Version
from assay.util.diagnostics import Diagnostic, fail, raise_all, suggest_nearest


@register_renderer(ProseBlock)
def render(context: RenderContext, items: Sequence[ProseBlock]) -> RenderedBlocks:
    """Render the texts of files, one after the other.

    Raises AssayError: prose quotes an unknown run.
    """
    texts = [_mark_numbers(context, item.file, render_prose(context, context.prose[item.file])) for item in items]
    prose = RenderedProse(
        tuple(block for text in texts for block in text.blocks),
        tuple(spans for text in texts for spans in text.quote_spans),
    )
    return RenderedBlocks(prose=prose.blocks, quoted=tuple(_list_quoted_values(context, prose)))


def _mark_numbers(context: RenderContext, file: str, rendered: RenderedProse[Quote]) -> RenderedProse[Quote]:
    """Return prose with a mark behind each number of an author, and a note behind the first text with one."""
    if not context.prose[file].is_authors:
        return rendered
    metrics = [metric.name for metric in context.checked.package.metrics]
    runs = [name for item in context.all_runs for name in (item.run.id, item.label, item.run.version)]
    finder = NumberFinder([*metrics, *runs, *(version.label for version in context.versions)])
    marked, count = mark_unquoted(rendered, finder)
    note = next(context.mark_notes, "") if count else ""
    return add_note(marked, note) if note else marked


def render_prose(context: RenderContext, prose: Prose) -> RenderedProse[Quote]:
    """Return the prose of a part, without the paragraphs that quote what is not there.

    That is a choice which has no row in the quoted run, or a group without runs.
    """

    return prose.render(lambda quote: _render_quote(context, quote))


def _render_quote(context: RenderContext, quote: Quote) -> str | None:
    """Return the text of a quote, with its number; None if its group has no runs, or its choice no row."""
    group = context.find_group(quote.group)
    if group is None:
        return None
    if quote.of_cells:
        changes = context.changes
        return NO_VALUE if changes is None else format_cells(find_cells(_create_cell_quote(quote, changes), changes))
    if quote.prints:
        return _render_cell(group, quote).text
    run = _find_quoted_run(group, quote)
    if quote.is_constant:
        return _render_constant(group, quote, run)
    row = group.find_row(quote.choice, run)
    if quote.choice and row is None:
        return None
    if quote.statistic:
        time_range = group.find_time_range(quote.choice, run) if quote.choice else None
        return block_rows.format_series_quote(context.checked, context.number_style, quote, run, time_range)
    return block_rows.format_quote(context.checked, context.number_style, quote, run, row)


def _create_cell_quote(quote: Quote, changes: Changes) -> CellQuote:
    """Return a quote as observations have them. Raises AssayError: tables do not have what it names."""
    cell_quote = create_cell_quote(quote.metric, dict(quote.of_cells), quote.span, quote.excerpt)
    raise_all([cell_quote] if isinstance(cell_quote, Diagnostic) else find_problems(cell_quote, changes))
    assert isinstance(cell_quote, CellQuote)
    return cell_quote


def _render_constant(context: RenderContext, quote: Quote, run: RunFigures) -> str:
    """Return the text of a constant of a run, with its unit. Raises AssayError: the run has none."""
    constant = list_constants(context.checked)[quote.metric]
    value = run.constants.get(constant.name)
    if value in (None, ""):
        raise fail("quote", f"prose quotes constant `{quote.metric}`, which run {run.id} does not have",
                   span=quote.span, excerpt=quote.excerpt, hint="name another run, or omit the sentence")  # fmt: skip
    symbol = "s" if constant.type == "duration" else constant.unit.symbol
    return add_unit_to_text(format_constant(constant, value), symbol)


def _render_cell(context: RenderContext, quote: Quote) -> Cell:
    """Return the cell of a table that a quote prints, as text with its unit.

    Raises AssayError: the report has no such version, or the quote is of the change of the base.
    """
    base, version = context.versions[0], _find_quoted_version(context, quote)
    if version is base and quote.prints not in (AVERAGE, BASE):
        raise fail("quote", f"prose quotes the {quote.prints} of `{quote.metric}` in the base", span=quote.span,
                   excerpt=quote.excerpt, expected=f"run = {_list_labels(context.versions[1:])}")  # fmt: skip
    sections, metric = create_section_context(context, context.versions), context.checked.get_metric(quote.metric)
    averages = [get_average(item.figures, metric, context.choices.summary) for item in (base, version)]
    factor, symbol = choose_row_unit(metric, (), sections.units, context.choices)
    _, base_text, text, difference, percent = compare_values(
        context.number_style, metric, averages, unit=(factor, symbol)
    )
    if quote.prints == VERDICT:
        change = sections.judgements.changes[metric.id, version.id] if sections.judgements else None
        return Cell(format_verdict("", get_word(change), change.is_by_itself) if change else NO_VALUE)
    if quote.prints == PERCENT and get_value(percent) is not None:
        return Cell(f"{percent} %", get_value(percent), "%")
    if quote.prints == PERCENT:  # the base is 0, or a version has no average
        return Cell(_describe_change_from_zero(add_unit_to_text(difference, symbol), averages))
    printed = {AVERAGE: text, BASE: base_text, DIFFERENCE: difference}[quote.prints]
    return Cell(add_unit_to_text(printed, symbol), get_value(printed), symbol)


def _describe_change_from_zero(difference: str, averages: Sequence[float | None]) -> str:
    """Return a change of which there is no percentage: `+3 ms from 0`, `no change`, or a dash without an average."""
    if None in averages:
        return NO_VALUE
    return f"{difference} from 0" if averages[0] != averages[1] else "no change"


def _find_quoted_version(context: RenderContext, quote: Quote) -> Version:
    """Return the version that a quote names by id, label or one of its runs; the last one when it names none."""
    for version in context.versions if quote.run else context.versions[-1:]:
        if not quote.run or quote.run in (version.id, version.label, *version.runs):
            return version
    labels = [item.label for item in context.versions]
    raise fail("unknown-run", f"prose quotes `{quote.metric}` of an unknown run `{quote.run}`", span=quote.span,
               excerpt=quote.excerpt, expected=", ".join(labels), hint=suggest_nearest(quote.run, labels))  # fmt: skip


def _list_labels(versions: Sequence[Version]) -> str:
    return " or ".join(f'"{item.label}"' for item in versions)


def _link_cell(context: RenderContext, quote: Quote, place: tuple[int, int, int]) -> QuotedValue:
    """Return a quoted cell of a table, with its place in the text and the values that it shows."""
    base, version = context.versions[0], _find_quoted_version(context, quote)
    versions = {AVERAGE: (version,), BASE: (base,)}.get(quote.prints, (base, version))
    cell = _render_cell(context, quote)
    prints = AVERAGE if quote.prints == BASE else quote.prints
    sources = tuple(CellSource(quote.metric, run) for item in versions for run in item.runs)
    label = base.label if quote.prints == BASE else version.label
    return QuotedValue(
        *place, quote.metric, f"{quote.prints}; {label}", versions[-1].id, prints=prints, sources=sources,
        number=cell.value, symbol=cell.unit,
    )  # fmt: skip


def _list_quoted_values(context: RenderContext, prose: RenderedProse[Quote]) -> Iterator[QuotedValue]:
    """Yield the quoted values of prose, each with its position, run and row."""
    for index, quote_spans in enumerate(prose.quote_spans):
        for begin, end, quote in quote_spans:
            group = context.find_group(quote.group) or context
            if quote.of_cells:
                changes = context.changes or {}
                span = (begin, end, _create_cell_quote(quote, changes)) if changes else None
                yield from list_quoted_cells(index, span, changes) if span else ()
                continue
            if quote.prints:
                yield _link_cell(group, quote, (index, begin, end))
                continue
            run = _find_quoted_run(group, quote)
            label = next(shown_run.label for shown_run in group.all_runs if shown_run.run is run)
            label = f"{quote.group}: {label}" if quote.group else label
            if quote.is_constant:
                name = get_constant_id(quote.metric)
                value = get_value(_render_constant(group, quote, run))
                symbol = list_constants(context.checked)[quote.metric].unit.symbol
                yield QuotedValue(index, begin, end, name, label, run.id, prints=FACT,
                                  sources=(CellSource(name, run.id),), number=value, symbol=symbol)  # fmt: skip
                continue
            row = [f"{name.replace('_', ' ')} {value}" for name, value in quote.where]
            choice = [group.report.get_choice(quote.choice).title] if quote.choice else []
            statistic = [quote.statistic] if quote.statistic else []
            description = "; ".join([", ".join([*statistic, *choice, *row]), label]).lstrip("; ")
            if quote.statistic:
                where = tuple((name, str(value)) for name, value in quote.where)
                since, until = (quote.choice and group.find_time_range(quote.choice, run)) or (None, None)
                source = CellSource(quote.metric, run.id, where, since, until, quote.statistic)
            else:
                row_values = block_rows.list_quote_keys(context.checked, quote, group.find_row(quote.choice, run))
                where = tuple((name, str(value)) for name, value in row_values.items())
                source = CellSource(quote.metric, run.id, where)
            yield QuotedValue(
                index, begin, end, source.entry, description, run.id, source.where, source.since, source.until,
                source.statistic, number=get_value(_render_quote(context, quote) or ""),
                symbol=_get_unit(context, quote),
            )  # fmt: skip


def _get_unit(context: RenderContext, quote: Quote) -> str:
    """Return the symbol of the unit that a quote prints."""
    if not quote.statistic:
        return context.checked.get_metric(quote.metric).unit.symbol
    series = next(item for item in context.checked.package.series if item.name == quote.metric)
    return choose_statistic_unit(parse_statistic(quote.statistic), series, quote.unit)


def _find_quoted_run(context: RenderContext, quote: Quote) -> RunFigures:
    """Return the run that a quote names by id, label or label constant; the last run when it names none."""
    if not quote.run:
        return context.runs[-1].run
    for shown_run in context.all_runs:
        if shown_run.run.id == quote.run:
            return shown_run.run
    runs_by_label = [shown_run.run for shown_run in context.all_runs if shown_run.label == quote.run]
    runs = [shown_run.run for shown_run in context.all_runs]
    own_names = list_own_names(context.report.label, runs)
    runs_by_label += [run for run, name in zip(runs, own_names, strict=True) if name == quote.run]
    if not runs_by_label:
        run_names = list(
            dict.fromkeys(name for shown_run in context.all_runs for name in (shown_run.run.id, shown_run.label))
        )
        raise fail(
            "unknown-run",
            f"prose quotes `{quote.metric}` of an unknown run `{quote.run}`",
            span=quote.span,
            excerpt=quote.excerpt,
            expected=", ".join(run_names),
            hint=suggest_nearest(quote.run, run_names),
        )
    return runs_by_label[0]
