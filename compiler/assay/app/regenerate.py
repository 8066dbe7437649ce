"""`assay regenerate`: a published report made again from its printed values and the specs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.app.options import reports
from assay.app.outputs import refuse_sources, replacing, write_specs
from assay.app.rendering import rendered
from assay.app.session import Session
from assay.lang import normal_form
from assay.lang.model.report import Edition, Report
from assay.lang.normal_form import CheckedPackage
from assay.provenance.read import content_hash
from assay.provenance.record import in_forms, of_publications, versions
from assay.publication.document import document
from assay.publication.edition import chosen, matched
from assay.publication.model import Publication
from assay.publication.reader import Shape, points_file, read
from assay.report.output_forms import USUAL
from assay.report.render.pdf import warm_up
from assay.report.results_json import lines_json
from assay.styles.registry import style
from assay.util.diagnostics import USAGE, fail


@dataclass(frozen=True, slots=True)
class Regenerated:
    """A report made again: it in each of its forms, its edition, and where it differs from what was printed."""

    reports: tuple[Path, ...]
    edition: str
    warnings: tuple[str, ...]


def regenerate(
    session: Session, file: Path, out: Path, report: str | None, edition: str | None, forms: Sequence[str] = USUAL
) -> Regenerated:
    """Make the report of a publication file again, into `out`.

    Writes the report in some forms, charts/, document.json, provenance.json, specs.json; all or nothing.  `report` is
    `system/report` (by default the only one that has editions), `edition` the name of one (by default that of the
    publication's day).  Raises AssayError.
    """
    refuse_sources(session, out)
    publication = read(file)
    checked, shown, name = _report(session, report)
    form = chosen(shown, publication.day, edition)
    rows = matched(publication, checked, shown, form, Shape(file, file.read_text(encoding="utf-8")).span)
    with replacing(out, session.waits_for(out)) as fresh:
        if publication.points:
            warm_up(session.templates())
        made = _provenance(checked, name, form, file, session.templates())
        found = document(publication, rows, checked, form, _printed(made, publication, form, checked))
        (fresh / "provenance.json").write_text(lines_json(in_forms(made, forms)), "utf-8")
        write_specs(checked, fresh, session.store.folder)
        warnings = rendered(found, fresh, session, forms)
    return Regenerated(reports(out, forms), form.name, warnings)


def _report(session: Session, name: str | None) -> tuple[CheckedPackage, Report, str]:
    if name is None:
        name = _only([found for found, report in _reports(session) if report.editions])
    return (*session.report(name), name)


def _reports(session: Session) -> list[tuple[str, Report]]:
    return [
        (f"{system}/{report.name}", report)
        for system in session.workspace.systems()
        for report in session.package(system).package.reports
    ]


def _only(names: Sequence[str]) -> str:
    if len(names) != 1:
        said = f"there are {', '.join(names)}" if names else "there is none"
        raise fail(
            "which-report", "no single report has editions", found=said, hint="name it with --report", status=USAGE
        )
    return names[0]


def _provenance(
    checked: CheckedPackage, report: str, edition: Edition, file: Path, templates: Path
) -> dict[str, object]:
    files = [file, *([points_file(file)] if points_file(file).is_file() else [])]
    shape = content_hash(normal_form.to_plain_data(edition))
    return of_publications(
        report, edition.name, {}, [(item, edition.name) for item in files], checked.sources, shape, templates
    )


def _printed(
    made: dict[str, object], publication: Publication, edition: Edition, checked: CheckedPackage
) -> dict[str, str]:
    """What the report prints of its provenance."""
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
        "Provenance": str(made["hash"]),
        "Specs": checked.sources,
        "Assay": tools.pop("assay"),
        **tools,
    }
