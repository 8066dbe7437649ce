"""Build the part of a report with observations: drafted by rules, or edited by an author."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from assay.lang.checked_package import CheckedPackage
from assay.lang.model.observation import ObservationRules
from assay.lang.model.report import Report
from assay.report.cell_links import QuotedValue
from assay.report.document import Document, Part
from assay.report.formatted_text import list_leaves, name_anchor
from assay.report.observations.cell_quotes import (
    RANGE,
    CellQuote,
    find_cells,
    find_ends,
    parse_prose,
    render_cells,
)
from assay.report.observations.printed_changes import Changes
from assay.report.observations.sentences import ProseWriter
from assay.report.observations.statements import DraftedGroup, Silence, Statement, draft_groups
from assay.report.rendered_prose import QuoteSpan, RenderedProse
from assay.report.tables import MetricTable
from assay.util.diagnostics import Diagnostic, raise_all

ID, SUFFIX = "observations", ".md"
TITLE = "Observations"
DRAFTED_TITLE = "Drafted observations"
NOTICE = "Drafted from the tables by rules; no one has read this."
#: follows the notice in a report without verdicts
NOT_JUDGED = "The report judges no differences: the sentences are on the sizes of printed changes only."


def draft_prose(checked: CheckedPackage, rules: ObservationRules, changes: Changes, conclusion: str = "") -> str:
    """Return what the rules say of printed changes, as prose with quotes of cells; empty if they say nothing.

    `conclusion` is prose that follows.
    """
    groups = draft_groups(checked, rules, changes)
    text = ProseWriter(rules, changes).write_groups(groups) + "\n" if groups else ""
    return "\n".join(filter(None, (text, conclusion)))


def build_draft(
    checked: CheckedPackage, rules: ObservationRules, changes: Changes, conclusion: str = ""
) -> Part | None:
    """Return the part with what the rules draft; None if they say nothing."""
    text = draft_prose(checked, rules, changes, conclusion)
    if not text:
        return None
    problems: list[Diagnostic] = []
    is_judged = any(item.verdict for items in changes.values() for item in items.values())
    notice = NOTICE if is_judged else f"{NOTICE} {NOT_JUDGED}"
    prose = parse_prose(f"{notice}\n\n{text}", "the draft", changes, problems)
    raise_all(problems)
    return build_observations(render_cells(prose, changes), changes, DRAFTED_TITLE)


def place_groups(groups: Iterable[DraftedGroup], document: Document, report: Report) -> dict[str, list[DraftedGroup]]:
    """Return drafted groups by the names of files for them: each sentence is about the part that shows its metric.

    A sentence on several groups of runs, or on a metric that no part of the report shows, is among the observations.
    """
    parts = {part.title: (f"{name_anchor(part.title)}{SUFFIX}", part.group) for part in report.parts}
    places: dict[tuple[str, str], str] = {}
    for part in document.parts:
        file, group_name = parts.get(part.title, ("", ""))
        for metric in _list_metrics(part) if file else ():
            places.setdefault((metric, group_name), file)

    def find_file(metric: str, item: Statement | Silence) -> str:
        cases = {place.case for place in item.places}
        keys = [(metric, case) for case in (*cases, "")] if len(cases) == 1 else []
        return next((places[key] for key in keys if key in places), f"{ID}{SUFFIX}")

    placed: dict[str, list[DraftedGroup]] = {}
    for group in groups:
        of_files: dict[str, DraftedGroup] = {}
        for statement in group.statements:
            file = find_file(statement.metrics[0], statement)
            first = of_files.setdefault(file, replace(group, statements=(), silences=()))
            of_files[file] = replace(first, statements=(*first.statements, statement))
        for silence in group.silences:
            files = {metric: find_file(metric, silence) for metric in silence.metrics}
            for file in dict.fromkeys(files.values()):
                metrics = tuple(metric for metric in silence.metrics if files[metric] == file)
                first = of_files.setdefault(file, replace(group, statements=(), silences=()))
                of_files[file] = replace(first, silences=(*first.silences, replace(silence, metrics=metrics)))
        for file, item in of_files.items():
            placed.setdefault(file, []).append(item)
    return placed


def _list_metrics(part: Part) -> Iterator[str]:
    """Yield the metrics of the tables of a part."""
    for table in part.tables:
        if isinstance(table, MetricTable):
            yield from filter(None, table.metrics)
        else:
            yield from (source.entry for link in table.leads for source in link.of)


def build_observations(rendered: RenderedProse[CellQuote], changes: Changes, title: str = TITLE) -> Part:
    """Return the part with the observations of a text; its quotes are printed cells."""
    quoted = tuple(
        value
        for index, spans in enumerate(rendered.quote_spans)
        for span in spans
        for value in list_quoted_cells(index, span, changes)
    )
    text = tuple(leaf.text for leaf in list_leaves(rendered.blocks))
    return Part(ID, title, text, (), (), quoted=quoted, formatted=rendered.blocks)


def list_quoted_cells(paragraph: int, span: QuoteSpan[CellQuote], changes: Changes) -> Iterator[QuotedValue]:
    """Yield the cells that a quote prints, each with its position."""
    begin, _end, quote = span
    for item in find_ends(find_cells(quote, changes)):
        end = begin + len(item.text)
        run, cell = item.change.place.run, item.cell
        description = f"{item.change.name}; {cell.column}"
        yield QuotedValue(
            paragraph,
            begin,
            end,
            item.change.metric,
            description,
            run,
            prints=cell.cell.prints,
            number=cell.cell.value,
            symbol=item.unit,
            sources=cell.cell.sources,
        )
        begin = end + len(RANGE)
