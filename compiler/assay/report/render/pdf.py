"""Render a report as PDF with Typst.

Which these are Typst says, for it chooses among the fonts: of a page with one of each.
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

from assay.report.charts.converter import fonts_hash, start
from assay.report.charts.render import draw
from assay.report.document import Document, mapped, parse_date, to_json
from assay.util.diagnostics import AssayError, fail
from assay.util.escape import escape
from assay.util.progress import Progress, ignore_progress

if TYPE_CHECKING:
    import typst


MISSING_GLYPHS = Path("report") / "lacking.json"
#: the document, and drawings of it, with escapes; what pages show of it stands beside `report/`
DOCUMENT_FILE = Path("report") / "document.json"
CHARTS_DIR = Path("report") / "charts"
MAX_CHARACTERS = 8
_UNSHOWN = re.compile(r'the text `"((?:[^"\\]|\\.)*)"` could not be displayed')
_DEBUG = re.compile(r'\\u\{([0-9a-f]+)\}|\\(["\\])')
PROBE = """\
#set document(title: "probe")
#set text(lang: "en", font: sys.inputs.families.split("\n"))
#for letter in sys.inputs.letters.codepoints() [a#letter ]
"""


def list_missing_characters(diagnostic: str) -> set[str]:
    """The characters that a message of Typst says could not be displayed."""
    texts = (_DEBUG.sub(_plain, found[1]) for found in _UNSHOWN.finditer(diagnostic))
    return {letter for text in texts for letter in text if not letter.isascii()}


def _plain(found: re.Match[str]) -> str:
    return chr(int(found[1], 16)) if found[1] else found[2]


def replace_characters(text: str, letters: Iterable[str]) -> str:
    """A text with escapes for these characters."""
    return text.translate({ord(letter): escape(letter) for letter in letters})


def write_missing_glyphs(out: Path, letters: Sequence[str], drawings: Sequence[str] = ()) -> None:
    """Tell the layout in `out` which characters are replaced, and of which charts there are drawings for that."""
    said = {"characters": {letter: escape(letter) for letter in letters}, "charts": list(drawings)}
    (out / MISSING_GLYPHS).write_bytes((json.dumps(said, indent=1) + "\n").encode())


def missing_glyph_warnings(out: Path) -> tuple[str, ...]:
    """What the user should know of the PDF in `out`."""
    try:
        letters = list(json.loads((out / MISSING_GLYPHS).read_bytes())["characters"])
    except FileNotFoundError:
        return ()
    if not letters:
        return ()
    named = ", ".join(f"{letter} ({escape(letter)})" for letter in letters[:MAX_CHARACTERS])
    more = f" and {len(letters) - MAX_CHARACTERS} more" if len(letters) > MAX_CHARACTERS else ""
    return (
        f"No font of the report has {named}{more}: in report.pdf escapes stand for them. A workspace with `templates/` "
        "of its own can have fonts for them in `templates/fonts/`.",
    )


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
    tell = progress or ignore_progress
    (out / "charts").mkdir(parents=True, exist_ok=True)
    _write(out / "document.json", text or to_json(document))
    drawings = draw(document.drawn, templates, document.manifest.header[1:], kept)
    for done, drawing in enumerate(drawings, start=1):
        _write(out / "charts" / f"{drawing.id}.vl.json", drawing.spec)
        _write(out / "charts" / f"{drawing.id}.svg", drawing.svg)
        tell("charts", done, len(document.drawn))


def lay_out(document: Document, out: Path, templates: Path, progress: Progress | None = None) -> None:
    """Set what `write_data` wrote into `out`: `report.typ` with its parts in `report/`, and `report.pdf`.

    Escapes stand for characters that no font has; `report/lacking.json` tells which.
    `templates` holds `report.typ`, `report/` and `fonts/`.  Raises `typesetting` when Typst has an error or a warning.
    """
    tell = progress or ignore_progress
    tell("typesetting", 0, 1)
    _copy_layout(templates, out)
    fonts = templates / "fonts"
    write_missing_glyphs(out, ())
    try:
        pdf = typeset(out, fonts, document.date)
    except AssayError:
        letters = _not_in(fonts, to_json(document))
        if not letters:
            raise
        _write_replaced(document, letters, out, templates)
        pdf = typeset(out, fonts, document.date)
    (out / "report.pdf").write_bytes(pdf)
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


def _write_replaced(document: Document, letters: list[str], out: Path, templates: Path) -> None:
    """Write the document with escapes for these characters, and the drawings that this makes others, for the layout."""
    written: Document = mapped(document, lambda text: replace_characters(text, letters))
    _write(out / DOCUMENT_FILE, to_json(written))
    changed = [new for new, old in zip(written.drawn, document.drawn, strict=True) if new is not old]
    (out / CHARTS_DIR).mkdir()
    for drawing in draw(changed, templates, written.manifest.header[1:]):
        _write(out / CHARTS_DIR / f"{drawing.id}.svg", drawing.svg)
    write_missing_glyphs(out, letters, [item.id for item in changed])


def _not_in(fonts: Path, text: str) -> list[str]:
    """The characters of a text that no font has, in their order."""
    import typst

    book = _load_fonts(fonts)
    left, found = {letter for letter in text if not letter.isascii()}, set[str]()
    while left:
        try:
            typst.compile_with_warnings(
                PROBE.encode(),
                font_paths=book,
                ignore_system_fonts=True,
                pdf_standards=STANDARDS,
                timestamp=datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC),
                sys_inputs={"families": "\n".join(book.families()), "letters": "".join(sorted(left))},
            )
            break
        except typst.TypstError as error:
            more = list_missing_characters(error.diagnostic) & left
            if not more:
                break
            found, left = found | more, left - more
    return sorted(found)


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


def _load_fonts(folder: Path) -> typst.Fonts:
    """The fonts of a folder and no others (Typst carries some of its own)."""
    return _loaded(folder, fonts_hash(folder))


@lru_cache(maxsize=2)
def _loaded(folder: Path, _state: str) -> typst.Fonts:
    """Those that it now has; they are read once a process."""
    import typst

    return typst.Fonts(include_system_fonts=False, include_embedded_fonts=False, font_paths=[str(folder)])


def _copy_layout(templates: Path, out: Path) -> None:
    """The Typst text beside the data, so that the folder compiles by itself."""
    shutil.copyfile(templates / "report.typ", out / "report.typ")
    shutil.copytree(
        templates / "report", out / "report", dirs_exist_ok=True, copy_function=shutil.copyfile,
        ignore=shutil.ignore_patterns(".*"),  # what editors and systems keep beside files
    )  # fmt: skip


def _write(path: Path, text: str) -> None:
    path.write_bytes(text.encode("utf-8"))
