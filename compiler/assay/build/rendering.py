"""Reports in their forms, kept by the hash of the document, the templates and the versions of the tools."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Sequence
from pathlib import Path

from assay.audit.provenance import form_tools, versions
from assay.build.session import Session
from assay.report.document import Document, to_json
from assay.report.forms import FILES, MARKDOWN, PDF, USUAL
from assay.report.markdown import markdown
from assay.report.pdf import lay_out, write_data


def reports(folder: Path, forms: Sequence[str]) -> tuple[Path, ...]:
    """The file that a reader opens, of each form."""
    return tuple(folder / FILES[form][0] for form in forms)


def rendered(document: Document, out: Path, session: Session, forms: Sequence[str] = USUAL) -> None:
    """Write a document with its charts, in some forms, into `out`: from the cache when the very same was made before."""
    key = _key(document, session.workspace.templates, forms)
    place = session.store.place("rendered", key)
    if not place.is_dir():
        with session.store.filling("rendered", key) as fresh:
            _render(document, fresh, session, forms)
    shutil.copytree(place, out, dirs_exist_ok=True, copy_function=shutil.copyfile)


def _render(document: Document, out: Path, session: Session, forms: Sequence[str]) -> None:
    templates = session.workspace.templates
    write_data(document, out, templates, session.progress, kept=session.store.folder / "drawings")
    if MARKDOWN in forms:
        (out / "report.md").write_bytes(markdown(document).encode())
    if PDF in forms:
        lay_out(document, out, templates, session.progress)


def _key(document: Document, templates: Path, forms: Sequence[str]) -> str:
    digest = hashlib.sha256(to_json(document).encode())
    tools = {form: form_tools(form) for form in forms}
    digest.update(json.dumps([versions(), tools], sort_keys=True).encode())
    for folder in (templates, Path(__file__).parent.parent / "report"):
        for file in sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"):
            digest.update(file.relative_to(folder).as_posix().encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()
