"""Laid-out reports, kept by the hash of the document, the templates and the versions of the tools."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

from assay.audit.provenance import versions
from assay.build.session import Session
from assay.report.document import Document, to_json
from assay.report.pdf import render


def rendered(document: Document, out: Path, session: Session) -> None:
    """Write the files of a document into `out`: from the cache when the very same was laid out before."""
    templates = session.workspace.templates
    key = _key(document, templates)
    place = session.store.place("rendered", key)
    if not place.is_dir():
        with session.store.filling("rendered", key) as fresh:
            render(document, fresh, templates, session.progress, kept=session.store.folder / "drawings")
    shutil.copytree(place, out, dirs_exist_ok=True, copy_function=shutil.copyfile)


def _key(document: Document, templates: Path) -> str:
    digest = hashlib.sha256(to_json(document).encode())
    digest.update(json.dumps(versions(), sort_keys=True).encode())
    for folder in (templates, Path(__file__).parent.parent / "report"):
        for file in sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"):
            digest.update(file.relative_to(folder).as_posix().encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()
