"""Derive the fonts of the web page from those of the PDF: subset, renamed and compressed.

    python tools/web_fonts.py          write templates/html/fonts/
    python tools/web_fonts.py --check  exit status 1 if a committed font differs

A page embeds its fonts, so they contain only characters that are usual in reports; for others a browser falls back to
its own fonts. The SIL Open Font License reserves the family names, so modified fonts are named after their use.
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
#: IDs of name records: those that name the font are replaced; copyright, licence and licence URL are preserved
REPLACED = (1, 2, 3, 4, 6, 16, 17, 21, 22)
PRESERVED = (0, 13, 14)


def derive_font(source: Path, family: str, style: str) -> bytes:
    """Derive a web font (WOFF2) from a font of the PDF."""
    options = subset.Options(
        layout_features=list(FEATURES), flavor="woff2", hinting=False, desubroutinize=True, notdef_outline=True,
        name_IDs=[*PRESERVED, *REPLACED], recalc_timestamp=False,
    )  # fmt: skip
    font = TTFont(source, recalcTimestamp=False)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=[code for first, last in CHARACTERS for code in range(first, last + 1)])
    subsetter.subset(font)
    _rename(font, family, style)
    out = io.BytesIO()
    font.flavor = "woff2"
    font.save(out)
    return out.getvalue()


def _rename(font: TTFont, family: str, style: str) -> None:
    post_script = f"{family}-{style}".replace(" ", "")
    texts = {1: f"{family} {style}", 2: "Regular", 3: post_script, 4: f"{family} {style}", 6: post_script, 16: family,
             17: style}  # fmt: skip
    names = font["name"]
    names.names = [item for item in names.names if item.nameID in PRESERVED]
    for name, text in texts.items():
        names.setName(text, name, 3, 1, 0x409)
    if "CFF " in font:
        cff = font["CFF "].cff
        cff.fontNames[0] = post_script
        top = cff.topDictIndex[0]
        for key, text in (("FullName", f"{family} {style}"), ("FamilyName", family)):
            top.rawDict[key] = text


def derive_fonts() -> dict[str, bytes]:
    """Derive all fonts of the web page; return them by file name."""
    return {
        f"{family.replace(' ', '')}-{style}.woff2": derive_font(TEMPLATES / "fonts" / f"{source}.otf", family, style)
        for source, (family, style) in FONTS.items()
    }


def main() -> int:
    """Write the fonts, or with `--check` compare them; return the exit status."""
    folder = TEMPLATES / "html" / "fonts"
    fonts = derive_fonts()
    if "--check" in sys.argv[1:]:
        return int(any((folder / name).read_bytes() != content for name, content in fonts.items()))
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in fonts.items():
        (folder / name).write_bytes(content)
        print(f"{name}: {len(content)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
