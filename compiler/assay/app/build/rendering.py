"""Write reports, and render them in each output form, cached by content."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from assay.app.compute.computation import Computation
from assay.app.compute.point_files import write_point_files
from assay.app.compute.sql_files import write_sql
from assay.app.session.outputs import write_specs
from assay.app.session.prose import write_prose_texts
from assay.app.session.session import Session
from assay.app.session.stages import log_stage
from assay.engine.pruning import mark_used
from assay.lang.checked_package import CheckedPackage
from assay.provenance.record import add_forms, hash_templates
from assay.provenance.versions import get_form_tools, get_versions
from assay.report.document import Document
from assay.report.document_json import to_json
from assay.report.output_forms import FILES, HTML, MARKDOWN, MARKDOWN_SINGLE, PDF
from assay.report.prose import Prose
from assay.report.render import pdf
from assay.report.render.html import NO_DETAILS, ReportDetails
from assay.report.render.pdf import lay_out, write_data
from assay.report.results_json import dump_json_by_member
from assay.util import checksums


@dataclass(frozen=True, slots=True)
class AssembledReport:
    """A report before it is laid out: its document, provenance, and details on its numbers.

    Reports over runs have `results` as plain data and their `computation`; reports have their `prose` by file.
    `findings` are warnings about gaps in the data of runs.
    """

    checked: CheckedPackage
    document: Document
    provenance: Mapping[str, object]
    results: Mapping[str, object] | None = None
    computation: Computation | None = None
    details: ReportDetails = NO_DETAILS
    prose: Mapping[str, Prose] | None = None
    findings: tuple[str, ...] = ()


def write_report(session: Session, report: AssembledReport, folder: Path, forms: Sequence[str]) -> tuple[str, ...]:
    """Write all files of a report of any kind into a folder; return warnings."""

    def write_data_files() -> None:
        """Write all files that do not depend on the output forms."""
        if report.results is not None:
            (folder / "results.json").write_text(dump_json_by_member(report.results), "utf-8")
        (folder / "provenance.json").write_text(dump_json_by_member(add_forms(report.provenance, forms)), "utf-8")
        write_specs(report.checked, folder, session.store.folder)
        if report.prose is not None:
            write_prose_texts(report.prose, folder)
        if report.computation:
            write_sql(folder / "sql", report.computation)
            write_point_files(folder, report.computation)

    warnings = _render_document(session, report, folder, forms, write_data_files)
    return (*warnings, *report.findings)


def _render_document(
    session: Session, report: AssembledReport, out: Path, forms: Sequence[str], write_others: Callable[[], None]
) -> tuple[str, ...]:
    """Write a document with its charts, in some forms, into `out`, from the cache if it was rendered before.

    Returns the warnings of the document and those about missing glyphs. Only the HTML form shows details.
    `write_others` writes the other files; it runs concurrently with charts and PDF, which use other processes.
    """
    document, details = report.document, report.details
    text = to_json(document)
    key = _compute_key(text, session.get_templates(), forms, details if HTML in forms else NO_DETAILS)
    place = session.store.get_path("rendered", key)
    is_cached = session.store.has("rendered", key)
    with ThreadPoolExecutor(max_workers=1) as pool, log_stage("report", forms=",".join(forms), cached=is_cached):
        write_future = pool.submit(write_others)
        if session.deferred_work is None and not is_cached:  # `assay watch` rarely renders the same again
            with session.store.fill_entry("rendered", key) as new_folder:
                _render_forms(session, report, text, new_folder, forms)
            is_cached = True
        if not (is_cached and _copy_rendered(place, out)):
            _render_forms(session, report, text, out, forms)
        write_future.result()
    return (*document.warnings, *pdf.list_missing_glyph_warnings(out))


def _copy_rendered(place: Path, out: Path) -> bool:
    """Copy a rendered report from the cache into `out`; return whether all of it was still there.

    Errors of writing into `out` occur again when the caller renders into it, and are reported then.
    """
    mark_used(place)
    ignore_checksums = shutil.ignore_patterns(checksums.FILE)
    try:
        shutil.copytree(place, out, dirs_exist_ok=True, copy_function=shutil.copyfile, ignore=ignore_checksums)
    except OSError:
        return False
    return checksums.is_copied(place, out)


def _render_forms(session: Session, report: AssembledReport, text: str, out: Path, forms: Sequence[str]) -> None:
    """Write the forms of a report into `out`; `text` is its document as JSON."""
    document = report.document
    templates = session.get_templates()
    with log_stage("charts", charts=len(document.distributions)):
        write_data(
            document,
            out,
            templates,
            session.progress,
            cache_folder=session.store.folder / "drawings",
            document_json=text,
        )
    if MARKDOWN in forms or MARKDOWN_SINGLE in forms:
        from assay.report.render.markdown import read_pictures, render_markdown

        with log_stage("markdown"):
            if MARKDOWN in forms:
                (out / FILES[MARKDOWN][0]).write_bytes(render_markdown(document).encode())
            if MARKDOWN_SINGLE in forms:
                text = render_markdown(document, read_pictures(document, out))
                (out / FILES[MARKDOWN_SINGLE][0]).write_bytes(text.encode())
    if HTML in forms:
        from assay.report.render.chart_images import build_stills
        from assay.report.render.html import build_chart_bundle, build_page

        with log_stage("html"):
            drawings = session.store.folder / "drawings"
            stills = build_stills(document.drawn_figures, out / "charts", templates / "fonts", drawings)
            html_text = build_page(document, templates, build_chart_bundle(drawings), report.details, stills)
            (out / "report.html").write_bytes(html_text.encode())
    if PDF in forms:
        with log_stage("pdf"):
            lay_out(document, out, templates, session.progress)


def _compute_key(document: str, templates: Path, forms: Sequence[str], details: ReportDetails) -> str:
    digest = hashlib.sha256(document.encode())
    tools = {form: get_form_tools(form) for form in forms}
    details_data = dataclasses.asdict(details)
    digest.update(json.dumps([get_versions(), tools, details_data], sort_keys=True).encode())
    digest.update(hash_templates(templates).encode())
    digest.update(hash_renderers())
    return digest.hexdigest()


@functools.cache
def hash_renderers() -> bytes:
    """Return the hash of the source files of the renderers, read once, as this process has loaded them."""
    digest = hashlib.sha256()
    folder = Path(__file__).parents[2] / "report"
    for file in sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"):
        digest.update(file.relative_to(folder).as_posix().encode())
        digest.update(file.read_bytes())
    return digest.digest()
