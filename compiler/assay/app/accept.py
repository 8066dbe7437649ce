"""What `assay check --accept` writes: compiled SQL and the normal form under `golden/`."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from assay.app.outputs import replacing
from assay.app.session import Session
from assay.app.sql_files import write_texts
from assay.lang import normal_form
from assay.lang.normal_form import CheckedPackage
from assay.util.diagnostics import Span, fail

Texts = Mapping[str, Mapping[str, str]]


def accept(session: Session, checked: CheckedPackage, texts: Texts) -> None:
    """Write the SQL of every report (`texts`) and the normal form, each as a whole.

    The normal form comes last: where it is that of the specs, the SQL is, too.
    AssayError: `accept` where a link leads out of the workspace, `output` where nothing can be written.
    """
    place = session.workspace.normal_form(checked.package.system)
    sql = session.workspace.root / "golden" / "sql" / checked.package.system
    for item in (place, sql):
        if not session.workspace.holds(item):
            raise fail("accept", "a link leads out of the workspace", span=Span(str(item)))
    if texts:
        with _fresh(session, sql.parent) as folder:
            (folder / sql.name).mkdir()
            for name, found in texts.items():
                write_texts(folder / sql.name / name, found)
    else:
        shutil.rmtree(sql, ignore_errors=True)
    with _fresh(session, place.parent) as folder:
        (folder / place.name).write_text(normal_form.dump(checked), encoding="utf-8")


@contextmanager
def _fresh(session: Session, within: Path) -> Iterator[Path]:
    """A folder whose entries take their places in another."""
    with replacing(within, session.waits_for(within), hint="is the workspace yours to write into?") as folder:
        yield folder
