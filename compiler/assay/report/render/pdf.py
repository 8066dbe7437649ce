"""Render a report as PDF with Typst.

Characters that no font of the report has are replaced by escapes. Typst chooses among the fonts, so it finds these
characters itself, by setting a page with one of each.
"""

from __future__ import annotations

import datetime
import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from assay.report.charts.converter import hash_fonts, start_converters
from assay.report.charts.line_strokes import list_line_names
from assay.report.charts.render import draw
from assay.report.document import Document, parse_date
from assay.report.document_json import to_json
from assay.report.document_texts import map_texts
from assay.util.diagnostics import AssayError, fail
from assay.util.escape import escape
from assay.util.progress import Progress, ignore

if TYPE_CHECKING:
    import typst


MISSING_GLYPHS = Path("report") / "lacking.json"
#: the document and its drawings with escapes; those without are next to `report/`
DOCUMENT_FILE = Path("report") / "document.json"
CHARTS_DIR = Path("report") / "charts"
MAX_CHARACTERS = 8
_NOT_DISPLAYED = re.compile(r'the text `"((?:[^"\\]|\\.)*)"` could not be displayed')
_DEBUG = re.compile(r'\\u\{([0-9a-f]+)\}|\\(["\\])')
PROBE = """\
#set document(title: "probe")
#set text(lang: "en", font: sys.inputs.families.split("\n"))
#for letter in sys.inputs.letters.codepoints() [a#letter ]
"""
_NO_DAY = datetime.date(2000, 1, 1)  # in metadata only, where PDF/A demands a date


def list_missing_characters(diagnostic: str) -> set[str]:
    """Return the characters that a message of Typst says could not be displayed."""
    texts = (_DEBUG.sub(_unescape, match[1]) for match in _NOT_DISPLAYED.finditer(diagnostic))
    return {letter for text in texts for letter in text if not letter.isascii()}


def _unescape(match: re.Match[str]) -> str:
    return chr(int(match[1], 16)) if match[1] else match[2]


def replace_characters(text: str, letters: Iterable[str]) -> str:
    """Replace these characters of a text by escapes."""
    return text.translate({ord(letter): escape(letter) for letter in letters})


def write_missing_glyphs(out: Path, letters: Sequence[str], drawings: Sequence[str] = ()) -> None:
    """Write which characters are replaced, and which charts have drawings with escapes, for the layout in `out`."""
    content = {"characters": {letter: escape(letter) for letter in letters}, "charts": list(drawings)}
    (out / MISSING_GLYPHS).write_bytes((json.dumps(content, indent=1) + "\n").encode())


def list_missing_glyph_warnings(out: Path) -> tuple[str, ...]:
    """Return warnings about the PDF in `out`."""
    try:
        letters = list(json.loads((out / MISSING_GLYPHS).read_bytes())["characters"])
    except FileNotFoundError:
        return ()
    if not letters:
        return ()
    first = ", ".join(f"{letter} ({escape(letter)})" for letter in letters[:MAX_CHARACTERS])
    more = f" and {len(letters) - MAX_CHARACTERS} more" if len(letters) > MAX_CHARACTERS else ""
    return (
        f"No font of the report has {first}{more}: report.pdf has escapes instead. Add a font with these characters to "
        "`templates/fonts/` of the workspace.",
    )


NO_PACKAGES = "packages"  # a folder that does not exist
PROXIES = ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")
UNREACHABLE_PROXY = "http://127.0.0.1:9"
STANDARDS: list[typst.PDFStandard] = ["a-3a", "ua-1"]
"""Archivable with attached data, and accessible: Typst rejects documents that violate either standard."""


def render(
    document: Document,
    out: Path,
    templates: Path,
    progress: Progress | None = None,
    *,
    cache_folder: Path | None = None,
) -> None:
    """Write the files of a report as PDF into `out`: those of `write_data`, then those of `lay_out`."""
    write_data(document, out, templates, progress, cache_folder=cache_folder)
    lay_out(document, out, templates, progress)


def write_data(
    document: Document,
    out: Path,
    templates: Path,
    progress: Progress | None = None,
    *,
    cache_folder: Path | None = None,
    document_json: str = "",
) -> None:
    """Write the files that every output form needs.

    These are `document.json`, and `charts/<id>.vl.json` and `charts/<id>.svg` of each figure with samples.

    `out` is created; it should be fresh, since files of an earlier report stay. `templates` holds `charts/` and
    `fonts/`; system fonts are never used. `cache_folder` is a folder that caches drawings between builds. The same
    document and templates give the same bytes. `document_json` is the document as JSON, if it is already known. Raises
    the errors of `assay.report.charts.render.draw`.
    """
    report = progress or ignore
    (out / "charts").mkdir(parents=True, exist_ok=True)
    _write(out / "document.json", document_json or to_json(document))
    drawings = draw(document.drawn_figures, templates, list_line_names(document), cache_folder)
    for count, drawing in enumerate(drawings, start=1):
        _write(out / "charts" / f"{drawing.id}.vl.json", drawing.spec)
        _write(out / "charts" / f"{drawing.id}.svg", drawing.svg)
        report("charts", count, len(document.drawn_figures))


def lay_out(document: Document, out: Path, templates: Path, progress: Progress | None = None) -> None:
    """Typeset what `write_data` wrote into `out`: `report.typ` with its parts in `report/`, and `report.pdf`.

    Characters that no font has are replaced by escapes; `report/lacking.json` lists them. `templates` holds
    `report.typ`, `report/` and `fonts/`. Raises `typesetting`: Typst reports an error or a warning.
    """
    report = progress or ignore
    report("typesetting", 0, 1)
    _copy_layout(templates, out)
    fonts = templates / "fonts"
    write_missing_glyphs(out, ())
    try:
        pdf = typeset_pdf(out, fonts, document.date)
    except AssayError:
        letters = _find_missing_characters(fonts, to_json(document))
        if not letters:
            raise
        _write_replaced(document, letters, out, templates)
        pdf = typeset_pdf(out, fonts, document.date)
    (out / "report.pdf").write_bytes(pdf)
    report("typesetting", 1, 1)


def warm_up_converters(templates: Path) -> None:
    """Start the chart converters, which a first report waits for longest, in the background."""
    start_converters(templates / "fonts")


def typeset_pdf(folder: Path, fonts: Path, date: str) -> bytes:
    """Return the PDF of `folder/report.typ`, dated `date` unless it is empty.

    Raises `typesetting` on an error or warning of Typst.
    """
    import typst  # slow to load, and only this function needs it

    day = parse_date(date) if date else _NO_DAY
    moment = datetime.datetime.combine(day, datetime.time(), datetime.UTC)
    try:
        with _disable_network():
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
        raise _build_error(error, fonts) from None
    if warnings:
        raise _build_error(warnings[0], fonts)
    return pdf


def _write_replaced(document: Document, letters: list[str], out: Path, templates: Path) -> None:
    """Write the document with escapes for these characters, and the drawings that change by this, for the layout."""
    replaced: Document = map_texts(document, lambda text: replace_characters(text, letters))
    _write(out / DOCUMENT_FILE, to_json(replaced))
    changed = [new for new, old in zip(replaced.drawn_figures, document.drawn_figures, strict=True) if new is not old]
    (out / CHARTS_DIR).mkdir()
    for drawing in draw(changed, templates, list_line_names(replaced)):
        _write(out / CHARTS_DIR / f"{drawing.id}.svg", drawing.svg)
    write_missing_glyphs(out, letters, [item.id for item in changed])


def _find_missing_characters(fonts: Path, text: str) -> list[str]:
    """Return the sorted characters of a text that no font has."""
    import typst

    book = _load_fonts(fonts)
    candidates, missing = {letter for letter in text if not letter.isascii()}, set[str]()
    while candidates:
        try:
            typst.compile_with_warnings(
                PROBE.encode(),
                font_paths=book,
                ignore_system_fonts=True,
                pdf_standards=STANDARDS,
                timestamp=datetime.datetime.combine(_NO_DAY, datetime.time(), datetime.UTC),
                sys_inputs={"families": "\n".join(book.families()), "letters": "".join(sorted(candidates))},
            )
            break
        except typst.TypstError as error:
            new = list_missing_characters(error.diagnostic) & candidates
            if not new:
                break
            missing, candidates = missing | new, candidates - new
    return sorted(missing)


@contextmanager
def _disable_network() -> Iterator[None]:
    """Set proxies that lead nowhere, since Typst would download packages that a template imports."""
    before = {name: os.environ.get(name) for name in PROXIES}
    os.environ.update(dict.fromkeys(PROXIES, UNREACHABLE_PROXY))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _build_error(problem: typst.TypstError | typst.TypstWarning, fonts: Path) -> Exception:
    hint = "; ".join(problem.hints)
    if "could not be displayed" in problem.message:
        hint = f"put a font with these characters into {fonts}"
    message = f"Typst cannot typeset the report: {problem.message}"
    if "package" in problem.message:
        message = "Typst cannot typeset the report: a template imports a package"
        hint = "copy the files of the package into the templates"
    return fail("typesetting", message, excerpt=problem.diagnostic.rstrip(), hint=hint)


def _load_fonts(folder: Path) -> typst.Fonts:
    """Return the fonts of a folder and no others; Typst has embedded ones."""
    return _load_fonts_once(folder, hash_fonts(folder))


@lru_cache(maxsize=2)
def _load_fonts_once(folder: Path, _state: str) -> typst.Fonts:
    """Load the fonts of a folder; cached by their hash, so they are read once per process."""
    import typst

    return typst.Fonts(include_system_fonts=False, include_embedded_fonts=False, font_paths=[str(folder)])


def _copy_layout(templates: Path, out: Path) -> None:
    """Copy the Typst sources next to the data, so that the folder compiles by itself."""
    shutil.copyfile(templates / "report.typ", out / "report.typ")
    shutil.copytree(
        templates / "report", out / "report", dirs_exist_ok=True, copy_function=shutil.copyfile,
        ignore=shutil.ignore_patterns(".*"),  # hidden files of editors and systems
    )  # fmt: skip


def _write(path: Path, text: str) -> None:
    path.write_bytes(text.encode("utf-8"))
