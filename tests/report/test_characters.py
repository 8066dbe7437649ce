"""Texts of logs and specs stay text in every file of a build: nothing acts, nothing is unseen, no letter is lost."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path

import pypdf
import pytest

from assay.report.render.pdf import MISSING_GLYPHS, list_missing_characters
from assay.util.escape import HIDDEN, escape_text
from tests.support.commands import CommandResult, run_assay

ACTING = "1.0\x1b[31m\x07\x7f\x9b\u202eabc<script>alert(1)</script>#eval(1)'; DROP TABLE x; --\u2066\u200b"
ABROAD = "1.0 中文 😀 א Ж λ"
UNSUPPORTED_CHARACTERS = "中文😀א"


def build_report(folder: Path, cache: Path, version: str, *options: str) -> CommandResult:
    """Build the report of a workspace of `assay init`; its first run has this version."""
    assert run_assay("init", folder).status == 0
    (folder / "runs" / "1.0" / "meta.json").write_text(json.dumps({"version": version}), encoding="utf-8")
    runs = ("--run", "runs/1.0", "--run", "runs/1.1")
    command = ("build", "service/comparison", *runs, "--to", "pdf", "--to", "html", "--to", "md", "-o", "out")
    return run_assay("--cache", cache, *command, *options, cwd=folder)


def read_pdf_text(place: Path) -> str:
    """Return the text of all pages, without blanks, because lines break anywhere."""
    return "".join("".join(page.extract_text().split()) for page in pypdf.PdfReader(place).pages)


def find_hidden_characters(text: str) -> set[str]:
    """Return the control characters and invisible ones, except line ends and tabs."""
    return {letter for letter in text if unicodedata.category(letter) in HIDDEN} - {"\n", "\t"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "w"


def test_control_characters_are_escaped_in_every_file(folder: Path, cache: Path) -> None:
    result = build_report(folder, cache, ACTING, "--author", "A \u202ertl", "--title", "T\x1b[1m")
    assert (result.status, result.err) == (0, "")
    files = [path for path in (folder / "out").rglob("*") if path.is_file() and path.suffix not in (".pdf", ".parquet")]
    assert {path.suffix for path in files} >= {".html", ".md", ".json", ".svg", ".sql", ".typ"}
    script_files = {"report.html"}  # the chart script has soft hyphens and similar characters in its own texts
    hidden_by_file = {
        path.name: find_hidden_characters(path.read_text(encoding="utf-8"))
        for path in files
        if path.name not in script_files
    }
    assert {name: letters for name, letters in hidden_by_file.items() if letters} == {}
    page = (folder / "out" / "report.html").read_text(encoding="utf-8")
    assert not find_hidden_characters(re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL))
    document = json.loads((folder / "out" / "document.json").read_text(encoding="utf-8"))
    assert document["manifest"]["header"] == ["", escape_text(ACTING), "1.1"]
    assert (document["title"], document["author"]) == (r"T\x1b[1m", r"A \u202ertl")
    text = read_pdf_text(folder / "out" / "report.pdf")
    assert escape_text(ACTING).replace(" ", "") in text


def test_results_and_constants_have_the_exact_text(folder: Path, cache: Path) -> None:
    """Files for programs have JSON escapes, so the exact text is read back."""
    build_report(folder, cache, ACTING)
    constants = json.loads((folder / "out" / "sql" / "constants.json").read_text(encoding="utf-8"))
    assert constants["1.0"]["version"] == ACTING


def test_characters_without_a_font_are_escaped_in_the_pdf(folder: Path, cache: Path) -> None:
    result = build_report(folder, cache, ABROAD)
    warning = (
        "No font of the report has \u2068א\u2069 "
        r"(\u05d0), 中 (\u4e2d), 文 (\u6587), 😀 (\U0001f600): report.pdf has escapes "
        "instead. Add a font with these characters to `templates/fonts/` of the workspace."
    )
    assert (result.status, result.err) == (0, f"warning: {warning}\n")
    out = folder / "out"
    text = read_pdf_text(out / "report.pdf")
    assert r"1.0\u4e2d\u6587\U0001f600\u05d0Жλ" in text
    assert not set(UNSUPPORTED_CHARACTERS) & set(text)
    for name in ("report.html", "report.md", "document.json", "charts/wait.svg"):
        plain = (out / name).read_text(encoding="utf-8").replace("\u2068", "").replace("\u2069", "")
        assert "1.0 中文 😀 א Ж λ" in plain, name
    drawn_svg = (out / "report" / "charts" / "wait.svg").read_text(encoding="utf-8")
    assert r"1.0 \u4e2d\u6587 \U0001f600 \u05d0 Ж λ" in drawn_svg
    assert not set(UNSUPPORTED_CHARACTERS) & set(drawn_svg)
    second_build = rebuild_report(folder, cache)
    assert second_build.err == result.err


def rebuild_report(folder: Path, cache: Path) -> CommandResult:
    """Build the same report from the cache."""
    runs = ("--run", "runs/1.0", "--run", "runs/1.1")
    forms = ("--to", "pdf", "--to", "html", "--to", "md")
    return run_assay("--cache", cache, "build", "service/comparison", *runs, *forms, "-o", "out", cwd=folder)


def test_report_lists_no_missing_letters(folder: Path, cache: Path) -> None:
    assert build_report(folder, cache, "1.0 Ж λ é").err == ""
    assert json.loads((folder / "out" / MISSING_GLYPHS).read_text(encoding="utf-8")) == {"characters": {}, "charts": []}
    assert not (folder / "out" / "report" / "document.json").exists()


def test_message_of_typst_lists_missing_characters() -> None:
    typst_message = (
        r'error: the text `"中\u{303}"` could not be displayed' + "\n" + r'the text `"\"\\א"` could not be displayed'
    )
    assert list_missing_characters(typst_message) == {"中", "\u0303", "א"}
