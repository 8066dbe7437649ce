"""Parts that are the place of the first page, the run parameters, the data dictionary or the data quality."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from assay.report.document import DATA_QUALITY, DICTIONARY, FIRST_PAGE, PARAMETERS, Document, Part
from assay.report.document_json import parse_document, to_json
from assay.report.render.markdown import list_contents, render_markdown
from tests.report.test_html import load_pinned_document, parse_page, render_page
from tests.support.commands import run_assay
from tests.support.words import FOLDER

ANCHORS = {FIRST_PAGE: "answer-1", PARAMETERS: "manifest", DICTIONARY: "dictionary", DATA_QUALITY: "appendix-1"}


def place(*contents: str) -> Document:
    """Return a report whose first parts are the places of these."""
    document = load_pinned_document("two")
    parts = tuple(Part(f"place-{number}", "Place", (), (), (), content=name) for number, name in enumerate(contents))
    return replace(document, parts=(*parts, *document.parts))


@pytest.mark.parametrize("content", ANCHORS)
def test_a_part_is_the_place_of_a_section(content: str) -> None:
    document, anchor = place(content), ANCHORS[content]
    in_markdown = re.findall(r'^## <a id="([^"]*)"', render_markdown(document), flags=re.MULTILINE)
    result = parse_page(render_page(document))
    on_page = [str(item["id"]) for name, item in result.elements if name == "h2" and item.get("id")]
    before = load_pinned_document("two").parts[0].id
    for anchors in (in_markdown, on_page, [item for _, item in list_contents(document)]):
        assert anchors.count(anchor) == 1
        assert anchors.index(anchor) < anchors.index(f"section-{before}")
        assert not [item for item in anchors if item.startswith("section-place")]


def test_without_a_place_sections_are_where_they_were() -> None:
    document = load_pinned_document("two")
    anchors = [item for _, item in list_contents(document)]
    parts = [anchors.index(item) for item in anchors if item.startswith("section-")]
    placed = [item for item in anchors if item in ANCHORS.values()]
    assert placed == ["answer-1", "dictionary", "manifest", "appendix-1"]
    assert anchors.index("answer-1") < min(parts)
    assert max(parts) < anchors.index("dictionary")
    assert document.placed == frozenset()


def test_places_are_read_from_json() -> None:
    document = place(DICTIONARY, PARAMETERS)
    assert parse_document(to_json(document)) == document
    assert document.placed == {DICTIONARY, PARAMETERS}


def test_a_part_goes_on_after_a_section(tmp_path: Path, cache: Path) -> None:
    folder = tmp_path / "words"
    shutil.copytree(FOLDER, folder)
    file = folder / "specs" / "words" / "blocks.dhall"
    text = file.read_text(encoding="utf-8").replace("B.parameters # B.dictionary # B.dataQuality", "B.dataQuality")
    blocks = 'B.prose "trials.md" # B.dictionary # B.prose "trials.md"'
    file.write_text(text.replace('blocks = B.prose "trials.md"', f"blocks = {blocks}"), encoding="utf-8")
    runs = [item for name in ("before", "after") for item in ("--run", folder / "runs" / name)]
    out = tmp_path / "out"
    result = run_assay("--cache", cache, "build", "words/tables", *runs, "-o", out, "--to", "md", cwd=folder)
    assert result.status == 0, result.err
    report = (out / "report.md").read_text(encoding="utf-8")
    anchors = re.findall(r'^## <a id="([^"]*)"', report, flags=re.MULTILINE)
    assert anchors[anchors.index("section-words") + 1] == "dictionary"
    before, after = report.partition('<a id="dictionary"')[::2]
    words = (folder / "specs" / "words" / "trials.md").read_text(encoding="utf-8").split("{{")[0].strip()
    assert words in before
    assert words in after.partition("\n## ")[0]
