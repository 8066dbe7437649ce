"""Draft observations on built reports (`assay draft`), and check edited ones (`assay check-prose`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.app.build.author_texts import read_texts
from assay.app.build.observations import (
    can_be_gated,
    check_cell_quotes,
    draft_conclusion,
    list_groups,
    parse_observations,
    read_text,
)
from assay.app.build.regenerate import read_published_report
from assay.app.judge.judged_results import RESULTS, JudgedResults, read_judged_results, read_results_data
from assay.app.session.prose import OBSERVATIONS
from assay.app.session.session import Session
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.observation import ObservationRules
from assay.lang.model.report import Report
from assay.provenance.read import get_build_folder, read_provenance
from assay.report.document import Document
from assay.report.document_json import parse_document
from assay.report.observations.cell_quotes import OTHER_QUOTE, render_cells
from assay.report.observations.check_prose import check_sentences
from assay.report.observations.draft import draft_prose, place_groups
from assay.report.observations.printed_changes import Changes, list_changes
from assay.report.observations.sentences import ProseWriter
from assay.report.observations.statements import draft_groups
from assay.report.observations.unquoted import MESSAGE, UnquotedFinder
from assay.report.unquoted import MESSAGE as NUMBER_MESSAGE
from assay.report.unquoted import NumberFinder, find_unquoted
from assay.util.diagnostics import DIFFERENCE, USAGE, Diagnostic, Span, fail, raise_all

_SUFFIX = ".json"  # of publication files
_FOLDER_HINT = "to check texts on parts, pass their folder"
_DRAFTED = "<!-- Drafted from the tables by rules. Edit it, and build with --texts. -->"
_EMPTY = "<!-- The texts of parts say it: the report has no part Observations. -->"


@dataclass(frozen=True, slots=True)
class BuiltReports:
    """Built reports of one definition, by their names, and the verdicts of those that a gate decides on."""

    checked: CheckedPackage
    report: Report
    documents: Mapping[str, Document]
    judged: Mapping[str, JudgedResults]


@dataclass(frozen=True, slots=True)
class ObservedReports:
    """Built reports of one definition: its rules, the changes that the reports print, a conclusion from verdicts."""

    checked: CheckedPackage
    rules: ObservationRules
    changes: Changes
    conclusion: str = ""


def read_built_reports(session: Session, places: Sequence[str]) -> BuiltReports:
    """Read reports, `[NAME=]PLACE` each: the folder of a build, or a publication file. Names tell several apart.

    Raises AssayError, also if the reports have several definitions.
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
    checked, report = next(iter(definitions.values()))
    return BuiltReports(checked, report, documents, judged)


def observe_reports(reports: BuiltReports, hint: str = "add `observations` to it") -> ObservedReports:
    """Return what rules read of reports. Raises AssayError (usage): their definition has none."""
    checked, report, documents = reports.checked, reports.report, reports.documents
    if report.observations is None:
        message = f"the report `{checked.package.system}/{report.name}` has no observations"
        raise fail("no-observations", message, hint=hint, status=USAGE)
    changes = list_changes(documents, report.observations, list_groups(report))
    return ObservedReports(checked, report.observations, changes, draft_conclusion(reports.judged, documents))


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
    reports = observe_reports(read_built_reports(session, places))
    return draft_prose(reports.checked, reports.rules, reports.changes, reports.conclusion)


def draft_texts(session: Session, places: Sequence[str], folder: Path) -> tuple[Path, ...]:
    """Write drafted texts on the parts of a report into a new folder; return its files.

    Raises AssayError, also (usage) if the folder has files, or there are several reports.
    """
    if len(places) > 1:
        raise fail("texts", "texts on parts are of one report", found=", ".join(places),
                   hint="draft those of each build, or leave out -o", status=USAGE)  # fmt: skip
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise fail("texts", f"the folder has files: {folder}", expected="a new folder", hint="name another folder",
                   status=USAGE)  # fmt: skip
    reports = read_built_reports(session, places)
    observed = observe_reports(reports)
    groups = draft_groups(observed.checked, observed.rules, observed.changes)
    (document,) = reports.documents.values()
    writer = ProseWriter(observed.rules, observed.changes)
    texts = {
        name: writer.write_groups(items, has_titles=len(items) > 1 or name == OBSERVATIONS)
        for name, items in place_groups(groups, document, reports.report).items()
    }
    texts[OBSERVATIONS] = "\n\n".join(filter(None, (texts.get(OBSERVATIONS), observed.conclusion.strip())))
    files = tuple(folder / name for name in texts)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in zip(files, texts.values(), strict=True):
            file.write_text(f"{_DRAFTED}\n\n{text}\n" if text else f"{_EMPTY}\n", encoding="utf-8")
    except OSError as error:
        raise fail("texts", f"the texts cannot be written: {error.strerror or error}", span=Span(str(folder)),
                   status=USAGE) from None  # fmt: skip
    return files


def check_prose(session: Session, place: Path, places: Sequence[str]) -> tuple[int, tuple[Diagnostic, ...]]:
    """Check the text of a file of observations, or of a folder of texts, on reports.

    Returns the number of quotes in it, and what quotes no cell. Raises AssayError with every sentence that disagrees
    with its cells, and with wrong quotes.
    """
    reports = read_built_reports(session, places)
    if not place.is_dir():
        return _check_observations(observe_reports(reports, _FOLDER_HINT), str(place), read_text(place))
    checked, report = reports.checked, reports.report
    report, texts = read_texts(session.workspace, checked, report, str(place))
    for document in reports.documents.values():
        check_cell_quotes(checked, report, document, texts)
    labels = {name for document in reports.documents.values() for name in document.manifest.header}
    finder = NumberFinder([*(metric.name for metric in checked.package.metrics), *labels])
    count, unquoted = 0, list[Diagnostic]()
    for name, text in texts.items():
        if name == OBSERVATIONS:
            further_count, further = _check_observations(observe_reports(reports), str(text.path), text.text)
        elif text.is_authors:
            rendered = text.render(lambda _: OTHER_QUOTE)
            further = find_unquoted(text.text, str(text.path), rendered, finder, NUMBER_MESSAGE)
            further_count = len(text.quotes)
        else:
            continue
        count += further_count
        unquoted += further
    return count, tuple(unquoted)


def _check_observations(reports: ObservedReports, name: str, text: str) -> tuple[int, tuple[Diagnostic, ...]]:
    """Check edited observations on reports; return the number of quotes in them, and what quotes no cell."""
    prose = parse_observations(name, text, reports.changes)
    raise_all(check_sentences(reports.checked, reports.rules, prose, reports.changes), DIFFERENCE)
    finder = UnquotedFinder(reports.rules, reports.changes, reports.conclusion)
    rendered = render_cells(prose, reports.changes)
    return len(prose.quotes), find_unquoted(prose.text, prose.name, rendered, finder, MESSAGE)
