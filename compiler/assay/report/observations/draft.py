"""Build the part of a report with observations: drafted by rules, or edited by an author."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lang.checked_package import CheckedPackage
from assay.lang.model.observation import ObservationRules
from assay.report.cell_links import QuotedValue
from assay.report.document import Part
from assay.report.formatted_text import list_leaves
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
from assay.report.observations.statements import draft_groups
from assay.report.prose import QuoteSpan, RenderedProse
from assay.util.diagnostics import Diagnostic, raise_all

ID = "observations"
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


def build_observations(rendered: RenderedProse[CellQuote], changes: Changes, title: str = TITLE) -> Part:
    """Return the part with the observations of a text; its quotes are printed cells."""
    quoted = tuple(
        value
        for index, spans in enumerate(rendered.quote_spans)
        for span in spans
        for value in _list_quoted_values(index, span, changes)
    )
    text = tuple(leaf.text for leaf in list_leaves(rendered.blocks))
    return Part(ID, title, text, (), (), quoted=quoted, formatted=rendered.blocks)


def _list_quoted_values(paragraph: int, span: QuoteSpan[CellQuote], changes: Changes) -> Iterator[QuotedValue]:
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
