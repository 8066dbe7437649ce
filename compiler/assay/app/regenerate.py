"""Rebuild a published report from its printed values and the specs (`assay regenerate`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.app.options import reports
from assay.app.outputs import refuse_sources, replacing
from assay.app.rendering import Assembled, write_report
from assay.app.session import Session
from assay.lang import plain_data
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.report import Edition, Report
from assay.provenance.read import content_hash
from assay.provenance.record import of_publications, versions
from assay.publication.document import document
from assay.publication.edition import chosen, matched
from assay.publication.model import Publication
from assay.publication.reader import Shape, points_file, read
from assay.report.output_forms import USUAL
from assay.report.render.pdf import warm_up
from assay.styles.registry import style
from assay.util.diagnostics import USAGE, fail


@dataclass(frozen=True, slots=True)
class Regenerated:
    """A rebuilt published report: its files, its edition, and differences from the printed values as warnings."""

    reports: tuple[Path, ...]
    edition: str
    warnings: tuple[str, ...]


def regenerate(
    session: Session, file: Path, out: Path, report: str | None, edition: str | None, forms: Sequence[str] = USUAL
) -> Regenerated:
    """Rebuild the report of a publication file, into `out`.

    Writes the report in its forms, charts/, document.json, provenance.json and specs.json, atomically. `report` is
    `system/report`, by default the only one with editions; `edition` is by default that of the publication's day.
    Raises AssayError.
    """
    refuse_sources(session, out)
    publication = read(file)
    checked, report_definition, name = _report(session, report)
    form = chosen(report_definition, publication.day, edition)
    rows = matched(publication, checked, report_definition, form, Shape(file, file.read_text(encoding="utf-8")).span)
    with replacing(out, session.waits_for(out)) as fresh:
        if publication.points:
            warm_up(session.templates())
        provenance = _provenance(checked, name, form, file, session.templates())
        report_document = document(publication, rows, checked, form, _printed(provenance, publication, form, checked))
        warnings = write_report(session, Assembled(checked, report_document, provenance), fresh, forms)
    return Regenerated(reports(out, forms), form.name, warnings)


def _report(session: Session, name: str | None) -> tuple[CheckedPackage, Report, str]:
    if name is None:
        name = _only([full_name for full_name, report in _reports(session) if report.editions])
    return (*session.report(name), name)


def _reports(session: Session) -> list[tuple[str, Report]]:
    return [
        (f"{system}/{report.name}", report)
        for system in session.workspace.systems()
        for report in session.package(system).package.reports
    ]


def _only(names: Sequence[str]) -> str:
    if len(names) != 1:
        candidates = f"there are {', '.join(names)}" if names else "there is none"
        raise fail(
            "which-report",
            "no single report has editions",
            found=candidates,
            hint="name it with --report",
            status=USAGE,
        )
    return names[0]


def _provenance(
    checked: CheckedPackage, report: str, edition: Edition, file: Path, templates: Path
) -> dict[str, object]:
    files = [file, *([points_file(file)] if points_file(file).is_file() else [])]
    shape = content_hash(plain_data.to_plain_data(edition))
    return of_publications(
        report, edition.name, {}, [(item, edition.name) for item in files], checked.sources, shape, templates
    )


def _printed(
    provenance: dict[str, object], publication: Publication, edition: Edition, checked: CheckedPackage
) -> dict[str, str]:
    """Return the lines of provenance that the report prints."""
    follows = style(edition.style).follows_from_print
    tools = versions()
    return {
        "Publication": publication.source,
        "Published": publication.date,
        "Workload": publication.workload,
        "Values": "as published",
        "Δ and Δ%": "worked out from the published values" if follows else "as published; seen to fit the values",
        "Edition": f"{edition.name}: {edition.doc}" if edition.doc else edition.name,
        "Number style": edition.style,
        "Provenance": str(provenance["hash"]),
        "Specs": checked.sources,
        "Assay": tools.pop("assay"),
        **tools,
    }
