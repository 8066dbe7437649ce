"""Rebuild a published report from its printed values and the specs (`assay regenerate`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.app.build.rendering import AssembledReport, write_report
from assay.app.session.options import list_report_files
from assay.app.session.outputs import refuse_sources, replace_folder
from assay.app.session.session import Session
from assay.lang import plain_data
from assay.lang.checked_package import CheckedPackage
from assay.lang.editions import describe_edition
from assay.lang.model.report import Edition, Report
from assay.number_styles.registry import get_style
from assay.provenance.read import hash_content
from assay.provenance.record import build_publications_provenance
from assay.provenance.versions import get_versions
from assay.publication.edition import MatchedRows, choose_edition, match_rows
from assay.publication.model import Publication
from assay.publication.publication_document import build_publication_document
from assay.publication.reader import StructureChecker, get_points_path, read_publication
from assay.report.document import Document
from assay.report.output_forms import DEFAULT_FORMS
from assay.report.render.pdf import warm_up_converters
from assay.util.diagnostics import USAGE, fail


@dataclass(frozen=True, slots=True)
class RegeneratedReport:
    """A rebuilt published report: its files, its edition, and differences from the printed values as warnings."""

    reports: tuple[Path, ...]
    edition: str
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EditionChoice:
    """The report `system/report` of a publication and its edition: by default the only one, and that of its day."""

    report: str | None = None
    edition: str | None = None


def regenerate_report(
    session: Session, file: Path, out: Path, choice: EditionChoice, forms: Sequence[str] = DEFAULT_FORMS
) -> RegeneratedReport:
    """Rebuild the report of a publication file, into `out`.

    Writes the report in its forms, charts/, document.json, provenance.json and specs.json, atomically. Raises
    AssayError.
    """
    refuse_sources(session, out)
    read = read_published_report(session, file, choice.report, choice.edition)
    checked, publication, form = read.checked, read.publication, read.edition
    with replace_folder(out, session.get_wait_notice(out)) as new_folder:
        if publication.points:
            warm_up_converters(session.get_templates())
        provenance = _record_provenance(checked, read.name, form, file, session.get_templates())
        report_document = read.build_document(_format_provenance(provenance, publication, form, checked))
        warnings = write_report(session, AssembledReport(checked, report_document, provenance), new_folder, forms)
    return RegeneratedReport(list_report_files(out, forms), form.name, warnings)


@dataclass(frozen=True, slots=True)
class PublishedReport:
    """A publication file as it was read: with the report `name` whose edition it has, and its rows."""

    checked: CheckedPackage
    report: Report
    name: str
    publication: Publication
    edition: Edition
    rows: MatchedRows

    def build_document(self, provenance: Mapping[str, str]) -> Document:
        """Return the document of the publication."""
        return build_publication_document(self.publication, self.rows, self.checked, self.edition, provenance)


def read_published_report(session: Session, file: Path, report: str | None, edition: str | None) -> PublishedReport:
    """Read a publication file; `report` and `edition` are as in `regenerate_report`. Raises AssayError."""
    publication = read_publication(file)
    checked, report_definition, name = _find_report(session, report)
    form = choose_edition(report_definition, publication.day, edition)
    locate = StructureChecker(file, file.read_text(encoding="utf-8")).find_span
    rows = match_rows(publication, checked, report_definition, form, locate)
    return PublishedReport(checked, report_definition, name, publication, form, rows)


def _find_report(session: Session, name: str | None) -> tuple[CheckedPackage, Report, str]:
    if name is None:
        name = _get_single_name([full_name for full_name, report in _list_reports(session) if report.editions])
    return (*session.find_report_of_runs(name), name)


def _list_reports(session: Session) -> list[tuple[str, Report]]:
    return [
        (f"{system}/{report.name}", report)
        for system in session.workspace.list_systems()
        for report in session.load_package(system).package.reports
    ]


def _get_single_name(names: Sequence[str]) -> str:
    if len(names) != 1:
        message = f"several reports have editions: {', '.join(names)}" if names else "no report has editions"
        raise fail(
            "which-report",
            message,
            hint="pass --report SYSTEM/REPORT",
            status=USAGE,
        )
    return names[0]


def _record_provenance(
    checked: CheckedPackage, report: str, edition: Edition, file: Path, templates: Path
) -> dict[str, object]:
    files = [file, *([get_points_path(file)] if get_points_path(file).is_file() else [])]
    shape = hash_content(plain_data.to_plain_data(edition))
    return build_publications_provenance(
        report, edition.name, {}, [(item, edition.name) for item in files], checked.sources, shape, templates
    )


def _format_provenance(
    provenance: dict[str, object], publication: Publication, edition: Edition, checked: CheckedPackage
) -> dict[str, str]:
    """Return the lines of provenance that the report prints."""
    follows_print = get_style(edition.style).follows_from_print
    tools = get_versions()
    return {
        "Publication": publication.source,
        "Published": publication.date,
        "Workload": publication.workload,
        "Values": "as published",
        "Δ and Δ%": "computed from the published values" if follows_print else "as published; they fit the values",
        "Edition": describe_edition(edition),
        "Number style": edition.style,
        "Provenance": str(provenance["hash"]),
        "Specs": checked.sources,
        "Assay": tools.pop("assay"),
        **tools,
    }
