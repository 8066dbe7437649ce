"""Characters that no font of a report has: in the PDF, which must not show a box for them, escapes stand for them.

Which these are Typst says, for it chooses among the fonts: of a page with one of each.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from assay.util.escape import escape

FILE = Path("report") / "lacking.json"
#: the document, and drawings of it, with escapes; what pages show of it stands beside `report/`
DOCUMENT = Path("report") / "document.json"
CHARTS = Path("report") / "charts"
SHOWN = 8
_UNSHOWN = re.compile(r'the text `"((?:[^"\\]|\\.)*)"` could not be displayed')
_DEBUG = re.compile(r'\\u\{([0-9a-f]+)\}|\\(["\\])')
PROBE = """\
#set document(title: "probe")
#set text(lang: "en", font: sys.inputs.families.split("\n"))
#for letter in sys.inputs.letters.codepoints() [a#letter ]
"""


def unshown(diagnostic: str) -> set[str]:
    """The characters that a message of Typst says could not be displayed."""
    texts = (_DEBUG.sub(_plain, found[1]) for found in _UNSHOWN.finditer(diagnostic))
    return {letter for text in texts for letter in text if not letter.isascii()}


def _plain(found: re.Match[str]) -> str:
    return chr(int(found[1], 16)) if found[1] else found[2]


def replaced(text: str, letters: Iterable[str]) -> str:
    """A text with escapes for these characters."""
    return text.translate({ord(letter): escape(letter) for letter in letters})


def write_lacking(out: Path, letters: Sequence[str], drawings: Sequence[str] = ()) -> None:
    """Tell the layout in `out` which characters are replaced, and of which charts there are drawings for that."""
    said = {"characters": {letter: escape(letter) for letter in letters}, "charts": list(drawings)}
    (out / FILE).write_bytes((json.dumps(said, indent=1) + "\n").encode())


def missing_glyph_warnings(out: Path) -> tuple[str, ...]:
    """What the user should know of the PDF in `out`."""
    try:
        letters = list(json.loads((out / FILE).read_bytes())["characters"])
    except FileNotFoundError:
        return ()
    if not letters:
        return ()
    named = ", ".join(f"{letter} ({escape(letter)})" for letter in letters[:SHOWN])
    more = f" and {len(letters) - SHOWN} more" if len(letters) > SHOWN else ""
    return (
        f"No font of the report has {named}{more}: in report.pdf escapes stand for them. A workspace with `templates/` "
        "of its own can have fonts for them in `templates/fonts/`.",
    )
