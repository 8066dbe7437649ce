"""A document laid out: its data and drawings written into a fresh folder, then the PDF that is made of them."""

from __future__ import annotations

import datetime
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from assay.report.charts import draw
from assay.report.converter import start
from assay.report.document import Document, parse_date, to_json
from assay.spec.diagnostics import fail
from assay.storage.progress import Progress, silent

if TYPE_CHECKING:
    import typst

NO_PACKAGES = "packages"  # a folder that is not there
PROXIES = ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")
NOWHERE = "http://127.0.0.1:9"
STANDARDS: list[typst.PDFStandard] = ["a-3a", "ua-1"]
"""Archivable with the data attached, and accessible: Typst refuses what breaks a rule of either."""


def render(
    document: Document,
    out: Path,
    templates: Path,
    progress: Progress | None = None,
    *,
    kept: Path | None = None,
) -> None:
    """Write the files of a report as PDF into `out`: those of `write_data`, then those of `lay_out`."""
    write_data(document, out, templates, progress, kept=kept)
    lay_out(document, out, templates, progress)


def write_data(
    document: Document,
    out: Path,
    templates: Path,
    progress: Progress | None = None,
    *,
    kept: Path | None = None,
    text: str = "",
) -> None:
    """Write what every form of a report is made of: `document.json`, and of each figure that has anything to draw
    `charts/<id>.vl.json` and `charts/<id>.svg`.

    `out` is created; it should be fresh, for files of an earlier report stay.  `templates` holds `charts/` and
    `fonts/`; system fonts are never used.  `kept` is a folder in which drawings are kept between builds.  The same
    document and templates give the same bytes.  `text` is the document as JSON, where that is known.  Raises the
    errors of `charts.draw`.
    """
    tell = progress or silent
    (out / "charts").mkdir(parents=True, exist_ok=True)
    _write(out / "document.json", text or to_json(document))
    drawings = draw(document.drawn, templates, document.manifest.header[1:], kept)
    for done, drawing in enumerate(drawings, start=1):
        _write(out / "charts" / f"{drawing.id}.vl.json", drawing.spec)
        _write(out / "charts" / f"{drawing.id}.svg", drawing.svg)
        tell("charts", done, len(document.drawn))


def lay_out(document: Document, out: Path, templates: Path, progress: Progress | None = None) -> None:
    """Set what `write_data` wrote into `out`: `report.typ` with its parts in `report/`, and `report.pdf`.

    `templates` holds `report.typ`, `report/` and `fonts/`.  Raises `typesetting` when Typst has an error or a warning.
    """
    tell = progress or silent
    tell("typesetting", 0, 1)
    _copy_layout(templates, out)
    (out / "report.pdf").write_bytes(typeset(out, templates / "fonts", document.date))
    tell("typesetting", 1, 1)


def warm_up(templates: Path) -> None:
    """Start what a first report waits for longest, the chart converters; they get ready beside other work."""
    start(templates / "fonts")


def typeset(folder: Path, fonts: Path, date: str) -> bytes:
    """The PDF of `folder/report.typ`, dated `date`; raises `typesetting` on an error or warning of Typst."""
    import typst  # slow to load, and only this function needs it

    moment = datetime.datetime.combine(parse_date(date), datetime.time(), datetime.UTC)
    try:
        with _offline():
            pdf, warnings = typst.compile_with_warnings(
                str(folder / "report.typ"),
                root=str(folder),
                font_paths=_load_fonts(fonts),
                ignore_system_fonts=True,
                pdf_standards=STANDARDS,
                package_path=str(folder / NO_PACKAGES),
                package_cache_path=str(folder / NO_PACKAGES),
                timestamp=moment,
            )
    except typst.TypstError as error:
        raise _typesetting(error, fonts) from None
    if warnings:
        raise _typesetting(warnings[0], fonts)
    return pdf


@contextmanager
def _offline() -> Iterator[None]:
    """Packages of Typst come from the network, which no template may ask: its way there leads nowhere meanwhile."""
    before = {name: os.environ.get(name) for name in PROXIES}
    os.environ.update(dict.fromkeys(PROXIES, NOWHERE))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _typesetting(problem: typst.TypstError | typst.TypstWarning, fonts: Path) -> Exception:
    hint = "; ".join(problem.hints)
    if "could not be displayed" in problem.message:
        hint = f"a font that has these characters can be put into {fonts}"
    message = f"the report cannot be set: {problem.message}"
    if "package" in problem.message:
        message = "the report cannot be set: a template imports a package"
        hint = "copy what it needs into the templates"
    return fail("typesetting", message, excerpt=problem.diagnostic.rstrip(), hint=hint)


@cache
def _load_fonts(folder: Path) -> typst.Fonts:
    """The shipped fonts and no others (Typst carries some of its own), read once a process and folder."""
    import typst

    return typst.Fonts(include_system_fonts=False, include_embedded_fonts=False, font_paths=[str(folder)])


def _copy_layout(templates: Path, out: Path) -> None:
    """The Typst text beside the data, so that the folder compiles by itself."""
    shutil.copyfile(templates / "report.typ", out / "report.typ")
    shutil.copytree(templates / "report", out / "report", dirs_exist_ok=True, copy_function=shutil.copyfile)


def _write(path: Path, text: str) -> None:
    path.write_bytes(text.encode("utf-8"))
