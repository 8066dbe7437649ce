"""Render prose: the text of a file with the results that it quotes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.lang.blocks.prose import Prose as ProseBlock
from assay.number_styles.cell_text import get_value
from assay.report.blocks import rows as block_rows
from assay.report.blocks.context import RenderContext, RenderedBlocks, register_renderer
from assay.report.cell_links import CellSource, QuotedValue
from assay.report.prose import Prose, Quote, RenderedProse
from assay.report.run_results import RunFigures, list_own_names
from assay.report.series_statistic import choose_statistic_unit, parse_statistic
from assay.util.diagnostics import fail, suggest_nearest


@register_renderer(ProseBlock)
def render(context: RenderContext, items: Sequence[ProseBlock]) -> RenderedBlocks:
    """Render the texts of files, one after the other.

    Raises AssayError: prose quotes an unknown run.
    """
    texts = [render_prose(context, context.prose[item.file]) for item in items]
    prose = RenderedProse(
        tuple(block for text in texts for block in text.blocks),
        tuple(spans for text in texts for spans in text.quote_spans),
    )
    return RenderedBlocks(prose=prose.blocks, quoted=tuple(_list_quoted_values(context, prose)))


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
    run = _find_quoted_run(group, quote)
    row = group.find_row(quote.choice, run)
    if quote.choice and row is None:
        return None
    if quote.statistic:
        time_range = group.find_time_range(quote.choice, run) if quote.choice else None
        return block_rows.format_series_quote(context.checked, context.number_style, quote, run, time_range)
    return block_rows.format_quote(context.checked, context.number_style, quote, run, row)


def _list_quoted_values(context: RenderContext, prose: RenderedProse[Quote]) -> Iterator[QuotedValue]:
    """Yield the quoted values of prose, each with its position, run and row."""
    for index, quote_spans in enumerate(prose.quote_spans):
        for begin, end, quote in quote_spans:
            group = context.find_group(quote.group) or context
            run = _find_quoted_run(group, quote)
            label = next(shown_run.label for shown_run in group.all_runs if shown_run.run is run)
            label = f"{quote.group}: {label}" if quote.group else label
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
