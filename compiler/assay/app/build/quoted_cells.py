"""Check the texts of parts on the cells of tables that they quote as observations do."""

from __future__ import annotations

from collections.abc import Mapping

from assay.app.build.observations import list_groups
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.observation import ObservationRules
from assay.lang.model.report import Report
from assay.report.document import Document
from assay.report.observations.cell_quotes import CellQuote, EditedProse, create_cell_quote, find_problems
from assay.report.observations.check_prose import check_sentences
from assay.report.observations.printed_changes import Changes, list_changes
from assay.report.prose import Prose, Quote
from assay.util.diagnostics import DIFFERENCE, Diagnostic, raise_all

_UP = ("rises", "rise", "rose", "increases", "increase", "grows", "grow", "higher", "longer", "slower", "more")
_DOWN = ("falls", "fall", "fell", "decreases", "decrease", "shrinks", "shrink", "lower", "shorter", "faster", "less")
#: of a report without rules: words have directions, none a size
_NO_RULES = ObservationRules((), (), "", _UP, _DOWN, "", "", "", (), "", "all", "most")


def quotes_cells(report: Report, texts: Mapping[str, Prose]) -> bool:
    """Return whether a report has texts, by their names, that quote cells as observations do."""
    return bool(_select_texts(report, texts))


def _select_texts(report: Report, texts: Mapping[str, Prose]) -> list[Prose]:
    """Return the texts of a report that quote cells; parts that runs lack are not in it."""
    names = dict.fromkeys(name for part in report.parts for name in part.prose_files)
    return [texts[name] for name in names if any(quote.of_cells for quote in texts[name].quotes)]


def check_cell_quotes(
    checked: CheckedPackage, report: Report, document: Document, texts_by_name: Mapping[str, Prose]
) -> Changes:
    """Return what the tables of a document print, as far as texts may quote it.

    Raises AssayError: tables do not have what a text quotes, or a sentence disagrees with the cells that it quotes.
    """
    texts = _select_texts(report, texts_by_name)
    quoted = {name for text in texts for quote in text.quotes if quote.of_cells for name in _list_metrics(quote)}
    changes = list_changes({"": document}, report.observations, list_groups(report), quoted)
    problems: list[Diagnostic] = []
    edited = [_parse_text(text, changes, problems) for text in texts]
    raise_all(problems)
    rules = report.observations or _NO_RULES
    raise_all([item for text in edited for item in check_sentences(checked, rules, text, changes)], DIFFERENCE)
    return changes


def _list_metrics(quote: Quote) -> tuple[str, ...]:
    cell_quote = create_cell_quote(quote.metric, dict(quote.of_cells), quote.span, quote.excerpt)
    return cell_quote.metrics if isinstance(cell_quote, CellQuote) else ()


def _parse_text(text: Prose, changes: Changes, problems: list[Diagnostic]) -> EditedProse:
    """Return a text with its quotes of cells; add what is wrong with them to `problems`."""
    quotes: list[CellQuote | None] = []
    for quote in text.quotes:
        cell_quote = None
        if quote.of_cells:
            created = create_cell_quote(quote.metric, dict(quote.of_cells), quote.span, quote.excerpt)
            problems += [created] if isinstance(created, Diagnostic) else find_problems(created, changes)
            cell_quote = created if isinstance(created, CellQuote) else None
        quotes.append(cell_quote)
    return EditedProse(str(text.path), text.text, tuple(quotes))
