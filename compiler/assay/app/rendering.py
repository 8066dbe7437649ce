"""Reports in their forms, kept by the hash of the document, the templates and the versions of the tools."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from assay.app.session import Session
from assay.app.stages import stage
from assay.engine.pruning import used
from assay.provenance.record import templates_hash
from assay.provenance.versions import form_tools, versions
from assay.report import missing_glyphs
from assay.report.document import Document, to_json
from assay.report.output_forms import HTML, MARKDOWN, PDF, USUAL
from assay.report.render.html_details import NOTHING, Behind
from assay.report.render.pdf import lay_out, write_data
from assay.util import checksums


def rendered(
    document: Document,
    out: Path,
    session: Session,
    forms: Sequence[str] = USUAL,
    behind: Behind = NOTHING,
    write_others: Callable[[], None] = lambda: None,
) -> tuple[str, ...]:
    """Write a document with its charts, in some forms, into `out`: from the cache when the very same was made before.

    Returns what is to be known of it: the document's warnings, and what a form cannot show.  `behind` is what forms
    that are read on a screen tell of the metrics beside the document.  `write_others` writes what is no form; it runs
    beside the charts and the PDF, which other processes and Typst are busy with.
    """
    text = to_json(document)
    key = _key(text, session.templates(), forms, behind if HTML in forms else NOTHING)
    place = session.store.place("rendered", key)
    known = session.store.has("rendered", key)
    with ThreadPoolExecutor(max_workers=1) as pool, stage("report", forms=",".join(forms), cached=known):
        writing = pool.submit(write_others)
        if session.later is None and not known:  # what is edited is not asked for again
            with session.store.filling("rendered", key) as fresh:
                _render(document, text, fresh, session, forms, behind)
            known = True
        if known:
            used(place)
            without = shutil.ignore_patterns(checksums.FILE)
            shutil.copytree(place, out, dirs_exist_ok=True, copy_function=shutil.copyfile, ignore=without)
        else:
            _render(document, text, out, session, forms, behind)
        writing.result()
    return (*document.warnings, *missing_glyphs.missing_glyph_warnings(out))


def _render(document: Document, text: str, out: Path, session: Session, forms: Sequence[str], behind: Behind) -> None:
    templates = session.templates()
    with stage("charts", charts=len(document.charts)):
        write_data(document, out, templates, session.progress, kept=session.store.folder / "drawings", text=text)
    if MARKDOWN in forms:
        from assay.report.render.markdown import markdown

        with stage("markdown"):
            (out / "report.md").write_bytes(markdown(document).encode())
    if HTML in forms:
        from assay.report.render.html import page
        from assay.report.render.html_bundle import bundle

        with stage("html"):
            shown = page(document, templates, bundle(session.store.folder / "drawings"), behind)
            (out / "report.html").write_bytes(shown.encode())
    if PDF in forms:
        with stage("pdf"):
            lay_out(document, out, templates, session.progress)


def _key(document: str, templates: Path, forms: Sequence[str], behind: Behind) -> str:
    digest = hashlib.sha256(document.encode())
    tools = {form: form_tools(form) for form in forms}
    told = dataclasses.asdict(behind)
    digest.update(json.dumps([versions(), tools, told], sort_keys=True).encode())
    digest.update(templates_hash(templates).encode())
    digest.update(hash_renderers())
    return digest.hexdigest()


@functools.cache
def hash_renderers() -> bytes:
    """The hash of what draws and lays out here: that which this process has loaded, whatever becomes of the files."""
    digest = hashlib.sha256()
    folder = Path(__file__).parent.parent / "report"
    for file in sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"):
        digest.update(file.relative_to(folder).as_posix().encode())
        digest.update(file.read_bytes())
    return digest.digest()
