"""Draft observations on built reports (`assay draft`), and check edited ones (`assay check-prose`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.app.build.observations import can_be_gated, draft_conclusion, list_groups, parse_observations, read_text
from assay.app.build.regenerate import read_published_report
from assay.app.judge.judged_results import RESULTS, JudgedResults, read_judged_results, read_results_data
from assay.app.session.session import Session
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.observation import ObservationRules
from assay.lang.model.report import Report
from assay.provenance.read import get_build_folder, read_provenance
from assay.report.document import Document
from assay.report.document_json import parse_document
from assay.report.observations.cell_quotes import render_cells
from assay.report.observations.check_prose import check_sentences
from assay.report.observations.draft import draft_prose
from assay.report.observations.printed_changes import Changes, list_changes
from assay.report.observations.unquoted import MESSAGE, UnquotedFinder
from assay.report.unquoted import find_unquoted
from assay.util.diagnostics import DIFFERENCE, USAGE, Diagnostic, fail, raise_all

_SUFFIX = ".json"  # of publication files


@dataclass(frozen=True, slots=True)
class ObservedReports:
    """Built reports of one definition: its rules, the changes that the reports print, a conclusion from verdicts."""

    checked: CheckedPackage
    rules: ObservationRules
    changes: Changes
    conclusion: str = ""


def read_observed_reports(session: Session, places: Sequence[str]) -> ObservedReports:
    """Read reports, `[NAME=]PLACE` each: the folder of a build, or a publication file. Names tell several apart.

    Raises AssayError, also if the reports have several definitions, or one without observations.
    """
    documents: dict[str, Document] = {}
    judged: dict[str, JudgedResults] = {}
    definitions: dict[str, tuple[CheckedPackage, Report]] = {}
    for place in places:
        name, path = _split_place(place, is_single=len(places) == 1)
        if name in documents:
            raise fail("draft-names", f"two reports have the name `{name}`", hint="name them: NAME=BUILD", status=USAGE)
        if path.suffix == _SUFFIX and path.is_file():
            published = read_published_report(session, path, None, None)
            documents[name], full_name = published.build_document({}), published.name
        else:
            folder = get_build_folder(path)
            full_name = read_provenance(folder).content.report
            documents[name] = _read_document(folder)
            if documents[name].answers and can_be_gated(read_results_data(folder / RESULTS)):
                judged[name] = read_judged_results(folder)
        definitions[full_name] = session.find_report_of_runs(full_name)
    if len(definitions) > 1:
        message = "the builds are of different reports"
        raise fail("draft-reports", message, found=", ".join(definitions), status=USAGE)
    (full_name, (checked, report)) = next(iter(definitions.items()))
    if report.observations is None:
        message, hint = f"the report `{full_name}` has no observations", "add `observations` to it"
        raise fail("no-observations", message, hint=hint, status=USAGE)
    changes = list_changes(documents, report.observations, list_groups(report))
    return ObservedReports(checked, report.observations, changes, draft_conclusion(judged, documents))


def _split_place(place: str, *, is_single: bool) -> tuple[str, Path]:
    """Return the name of a report (empty for a single one) and its path."""
    name, separator, path = place.partition("=")
    if separator and not Path(place).exists():
        return ("" if is_single else name), Path(path)
    return ("" if is_single else Path(place).name), Path(place)


def _read_document(folder: Path) -> Document:
    """Return the document of a build. Raises AssayError: it cannot be read, or its cells have no values."""
    try:
        document = parse_document((folder / "document.json").read_text(encoding="utf-8"))
    except OSError as error:
        raise fail("no-document", f"the document of the build cannot be read: {error}", status=USAGE) from None
    tables = document.metric_tables
    if any(table.metrics for table in tables) and not any(table.values for table in tables):
        raise fail("no-document", f"the document of the build has no values of cells: {folder / 'document.json'}",
                   hint="it was built by an earlier version: build the report again", status=USAGE)  # fmt: skip
    return document


def draft_observations(session: Session, places: Sequence[str]) -> str:
    """Return drafted observations on reports as prose with quotes of cells. Raises AssayError."""
    reports = read_observed_reports(session, places)
    return draft_prose(reports.checked, reports.rules, reports.changes, reports.conclusion)


def check_observations(session: Session, file: Path, places: Sequence[str]) -> tuple[int, tuple[Diagnostic, ...]]:
    """Check edited observations on reports; return the number of quotes in them, and what quotes no cell.

    Raises AssayError with every sentence that disagrees with its cells, and with wrong quotes.
    """
    reports = read_observed_reports(session, places)
    prose = parse_observations(str(file), read_text(file), reports.changes)
    raise_all(check_sentences(reports.checked, reports.rules, prose, reports.changes), DIFFERENCE)
    finder = UnquotedFinder(reports.rules, reports.changes, reports.conclusion)
    rendered = render_cells(prose, reports.changes)
    return len(prose.quotes), find_unquoted(prose.text, prose.name, rendered, finder, MESSAGE)
