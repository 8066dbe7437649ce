"""Makes the fonts of the web page out of those of the PDF: fewer characters, other names, compressed.

    python tools/web_fonts.py          writes templates/html/fonts/
    python tools/web_fonts.py --check  exit status 1 when what is there is not what would be written

A page carries its fonts, so they hold only the characters that reports are usually made of; a browser sets others in a
font of its own.  A changed font may not keep the reserved name of the family (SIL Open Font License), so they are
called after what they are for.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

TEMPLATES = Path(__file__).resolve().parent.parent / "templates"
FONTS = {
    "SourceSans3-Regular": ("Report Sans", "Regular"),
    "SourceSans3-Semibold": ("Report Sans", "Semibold"),
    "SourceSerif4-Regular": ("Report Serif", "Regular"),
    "SourceSerif4-Semibold": ("Report Serif", "Semibold"),
}
#: ASCII, Latin-1, Latin Extended-A, Greek, dashes and quotes, superscripts, arrows, signs, control pictures
CHARACTERS = (
    (0x20, 0x7E), (0xA0, 0x17F), (0x391, 0x3C9), (0x2010, 0x2027), (0x202F, 0x203A), (0x2070, 0x209C),
    (0x2190, 0x2199), (0x2200, 0x22FF), (0x20AC, 0x20AC), (0x2122, 0x2122), (0x25A0, 0x25CF), (0xFFFD, 0xFFFD),
)  # fmt: skip
FEATURES = ("kern", "liga", "tnum", "lnum", "mark", "mkmk", "ccmp", "locl")
#: name records: copyright, licence and its place stay; what names the font is written anew
NAMING = (1, 2, 3, 4, 6, 16, 17, 21, 22)
STAYING = (0, 13, 14)


def font(source: Path, family: str, style: str) -> bytes:
    """A font for the web, of one of those that PDFs are set in."""
    options = subset.Options(
        layout_features=list(FEATURES), flavor="woff2", hinting=False, desubroutinize=True, notdef_outline=True,
        name_IDs=[*STAYING, *NAMING], recalc_timestamp=False,
    )  # fmt: skip
    found = TTFont(source, recalcTimestamp=False)
    chosen = subset.Subsetter(options)
    chosen.populate(unicodes=[code for first, last in CHARACTERS for code in range(first, last + 1)])
    chosen.subset(found)
    _rename(found, family, style)
    out = io.BytesIO()
    found.flavor = "woff2"
    found.save(out)
    return out.getvalue()


def _rename(found: TTFont, family: str, style: str) -> None:
    post_script = f"{family}-{style}".replace(" ", "")
    said = {1: f"{family} {style}", 2: "Regular", 3: post_script, 4: f"{family} {style}", 6: post_script, 16: family,
            17: style}  # fmt: skip
    names = found["name"]
    names.names = [item for item in names.names if item.nameID in STAYING]
    for name, text in said.items():
        names.setName(text, name, 3, 1, 0x409)
    if "CFF " in found:
        cff = found["CFF "].cff
        cff.fontNames[0] = post_script
        top = cff.topDictIndex[0]
        for key, text in (("FullName", f"{family} {style}"), ("FamilyName", family)):
            top.rawDict[key] = text


def fonts() -> dict[str, bytes]:
    """The fonts of the web page by the names of their files."""
    return {
        f"{family.replace(' ', '')}-{style}.woff2": font(TEMPLATES / "fonts" / f"{source}.otf", family, style)
        for source, (family, style) in FONTS.items()
    }


def main() -> int:
    """Write the fonts, or compare them."""
    folder = TEMPLATES / "html" / "fonts"
    made = fonts()
    if "--check" in sys.argv[1:]:
        return int(any((folder / name).read_bytes() != content for name, content in made.items()))
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in made.items():
        (folder / name).write_bytes(content)
        print(f"{name}: {len(content)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
