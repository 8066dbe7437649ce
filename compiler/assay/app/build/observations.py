"""Add observations to a report: drafted by rules, or edited by an author and checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from assay.app.compare.gate import list_gated_changes, require_decision
from assay.app.judge.judged_results import ComparedRun, JudgedResults, parse_judged_results
from assay.app.session.prose import KEPT, OBSERVATIONS, read_stored_texts
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.observation import ObservationRules
from assay.lang.model.report import Report
from assay.quality.finding import list_names
from assay.report.document import Document
from assay.report.observations.cell_quotes import (
    CellQuote,
    EditedProse,
    create_cell_quote,
    find_problems,
    parse_prose,
    render_cells,
)
from assay.report.observations.check_prose import check_sentences
from assay.report.observations.draft import build_draft, build_observations
from assay.report.observations.printed_changes import Changes, list_changes
from assay.report.observations.sentences import describe_outcomes, escape_markup
from assay.report.observations.unquoted import NOTE, UnquotedFinder, describe_unquoted
from assay.report.prose import NOT_WORSE, Prose, Quote
from assay.report.prose_markup import COMMENTS
from assay.report.unquoted import MARK, add_note, mark_unquoted
from assay.util.diagnostics import DIFFERENCE, USAGE, AssayError, Diagnostic, Span, fail, raise_all

TITLE = "Conclusion"
_GATE = "the gate does not decide: "
_UP = ("rises", "rise", "rose", "increases", "increase", "grows", "grow", "higher", "longer", "slower", "more")
_DOWN = ("falls", "fall", "fell", "decreases", "decrease", "shrinks", "shrink", "lower", "shorter", "faster", "less")
#: of a report without rules: words have directions, none a size
_NO_RULES = ObservationRules((), (), "", _UP, _DOWN, "", "", "", (), "", "all", "most")


def choose_observations(file: str, texts: Mapping[str, Prose]) -> dict[str, Prose]:
    """Return the text of edited observations: that of a file, or that among the texts of a folder.

    Raises AssayError if the file cannot be read, or (usage) there are both.
    """
    if file and Path(file).name != KEPT and OBSERVATIONS in texts:
        places = f"{file}, {texts[OBSERVATIONS].path}"
        raise fail("texts", "the observations are in --observations and in --texts", found=places,
                   hint="leave out one of them", status=USAGE)  # fmt: skip
    return _read_observations(file) or {name: texts[name] for name in (OBSERVATIONS,) if name in texts}


def _read_observations(file: str) -> dict[str, Prose]:
    """Return the text of edited observations by the name that a build gives it; nothing without a file.

    The file may be the stored prose of a build. Quotes are parsed once the tables are known. Raises AssayError if the
    file cannot be read.
    """
    path = Path(file)
    if path.name == KEPT:
        text = (read_stored_texts(path.parent) or {}).get(OBSERVATIONS)
        return {} if text is None else {OBSERVATIONS: Prose(path, text, ())}
    return {OBSERVATIONS: Prose(path, read_text(path), ())} if file else {}


def read_text(file: Path) -> str:
    """Return the text of a file of observations. Raises AssayError (usage) if it cannot be read."""
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = (error.strerror if isinstance(error, OSError) else "") or error
        raise fail("prose", f"the prose cannot be read: {reason}", span=Span(str(file)), status=USAGE) from None


def parse_observations(name: str, text: str, changes: Changes) -> EditedProse:
    """Parse edited observations. Raises AssayError with the problems of their quotes and of their markup."""
    problems: list[Diagnostic] = []
    prose = parse_prose(text, name, changes, problems)
    raise_all(problems)
    return prose


def list_groups(report: Report) -> tuple[str, ...]:
    """Return the names of the groups of runs of a report."""
    return tuple(group.name for group in report.groups)


def add_observations(
    checked: CheckedPackage,
    report: Report,
    document: Document,
    prose_by_file: Mapping[str, Prose],
    results: Mapping[str, Any] = MappingProxyType({}),
) -> Document:
    """Return a document with observations: edited ones if there are some, else drafted ones, if rules are declared.

    From the judgements in `results`, which are those of a comparison, a conclusion is drafted.

    Raises AssayError if an edited sentence disagrees with its cells.
    """
    rules = report.observations
    changes = list_changes({"": document}, rules, list_groups(report)) if rules else {}
    if prose_by_file and not COMMENTS.sub("", prose_by_file[OBSERVATIONS].text).strip():
        return document  # the texts of parts say it
    if rules is None or not changes:
        if prose_by_file:
            message, hint = "there are no changes to observe", "the report needs `observations`, and a second run"
            raise fail("no-observations", message, hint=hint, status=USAGE)
        return document
    judged = {"": parse_judged_results(results)} if can_be_gated(results) else {}
    conclusion = draft_conclusion(judged, {"": document})
    if not prose_by_file:
        return replace(document, observations=build_draft(checked, rules, changes, conclusion))
    prose = parse_observations(str(prose_by_file[OBSERVATIONS].path), prose_by_file[OBSERVATIONS].text, changes)
    raise_all(check_sentences(checked, rules, prose, changes), DIFFERENCE)
    finder = UnquotedFinder(rules, changes, conclusion)
    rendered, count = mark_unquoted(render_cells(prose, changes), finder)
    rendered = add_note(rendered, NOTE) if count else rendered
    note = f"The observations have {describe_unquoted(count)} without a quote of a cell, marked {MARK}."
    warnings = (*document.warnings, *([note] if count else []))
    return replace(document, observations=build_observations(rendered, changes), warnings=warnings)


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


def can_be_gated(results: Mapping[str, Any]) -> bool:
    """Return whether a gate decides on results: it does on runs, not on phases or groups of runs."""
    return "judgement" in results and not any("phase" in run for run in results["runs"])


def draft_conclusion(results: Mapping[str, JudgedResults], documents: Mapping[str, Document]) -> str:
    """Return the conclusion as prose; empty without verdicts. Results and documents are named by their case.

    "No regression" is only said of runs whose gate decides and is open.
    """
    sentences = [
        f"{escape_markup(case)}: {sentence}" if len(documents) > 1 else sentence
        for case, document in documents.items()
        for sentence in (
            *(_list_sentences(results[case], case if len(documents) > 1 else "") if case in results else ()),
            *describe_outcomes(document),
        )
    ]
    return f"**{TITLE}**\n\n" + "".join(f"* {sentence}\n" for sentence in sentences) if sentences else ""


def _list_sentences(judged: JudgedResults, case: str) -> Iterator[str]:
    try:
        require_decision(judged)
    except AssayError as error:
        reason = error.diagnostics[0].message.removeprefix(_GATE)
        yield f"It is not decided whether there is a regression: {escape_markup(reason)}."
        return
    for run in judged.runs:
        yield _describe_run(judged, run, case)


def _describe_run(judged: JudgedResults, run: ComparedRun, case: str) -> str:
    """Return a sentence on the metrics of the gate in a run; it quotes their verdicts if none is worse."""
    gated = list_gated_changes(run)
    closing = [change for change in gated if change.is_closing]
    where = f" in {escape_markup(run.label)}" if len(judged.runs) > 1 else ""
    names = escape_markup(list_names([change.name for change in closing or gated]))
    if closing:
        verb, margin = ("is", "its margin") if len(closing) == 1 else ("are", "their margins")
        return f"{names} {verb} worse than in {escape_markup(judged.base)} by more than {margin}{where}."
    quote = CellQuote(tuple(change.metric for change in gated), (run.label,), (case,) if case else (), NOT_WORSE)
    sentence = f"No regression{where}: none of the metrics of the gate is worse by more than its margin ({names})."
    return sentence + quote.source
