"""Test regenerated publications: cells of the document, and the text of the PDF in order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pypdf
import pytest

from tests.compare_reference import load_json
from tests.support.commands import CommandResult, run_assay
from tests.support.documents import list_charts, list_sections
from tests.support.laboratory import ROOT

PUBLISHED = ROOT / "golden" / "published"
REPORTS = sorted(path.name.removesuffix(".json") for path in PUBLISHED.glob("*.json") if ".cdf." not in path.name)
PLAIN = "release-10.4.1.plutus"
WITH_POINTS = [name for name in REPORTS if (PUBLISHED / f"{name}.cdf.json").is_file()]


def regenerate(file: Path, out: Path, cache: Path, *options: str, root: Path = ROOT) -> CommandResult:
    return run_assay("regenerate", file, "-o", out, "--cache", cache, *options, cwd=root)


@pytest.fixture(scope="module", params=REPORTS)
def regenerated(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, cache: Path
) -> tuple[Any, Path]:
    """Regenerate a publication; return it and the folder of its report."""
    out = tmp_path_factory.mktemp("regenerated") / "out"
    result = regenerate(PUBLISHED / f"{request.param}.json", out, cache)
    assert (result.status, result.err) == (0, "")
    assert result.out == f"{out}/report.pdf\n"
    return load_json(PUBLISHED / f"{request.param}.json"), out


def test_there_are_31_publications_and_2_with_points() -> None:
    assert (len(REPORTS), len(WITH_POINTS)) == (31, 2)


def read_rows(section: dict[str, Any]) -> list[list[str]]:
    """Return the rows of a published table as printed."""
    rows = []
    for row in section["rows"]:
        triples = zip(row["values"][1:], row["deltas"], row["delta_pcts"], strict=True)
        label = f"{row['label']}, {row['unit']}" if row["unit"] else row["label"]
        rows.append([label, row["values"][0], *(cell for triple in triples for cell in triple)])
    if section["sample_count"]:
        first, *rest = section["sample_count"]
        rows.append(["Sample count", first, *(cell for count in rest for cell in (count, "", ""))])
    return rows


def test_every_cell_equals_the_publication(regenerated: tuple[Any, Path]) -> None:
    publication, out = regenerated
    document = load_json(out / "document.json")
    assert [document[key] for key in ("title", "subtitle", "author")] == [
        publication[key] for key in ("title", "subtitle", "author")
    ]
    assert document["intro"] == [publication["intro"]]
    assert document["date"] == publication["date"][:10]
    assert document["manifest"]["header"] == ["", *publication["runs"]]
    assert document["manifest"]["rows"] == [[row["label"], *row["values"]] for row in publication["manifest"]]
    assert [section["title"] for section in list_sections(document)] == [
        item["title"] for item in publication["sections"]
    ]
    for document_section, published_section in zip(list_sections(document), publication["sections"], strict=True):
        assert document_section["header"] == ["", *published_section["columns"]]
        assert document_section["rows"] == read_rows(published_section)
    assert document["warnings"] == []


def test_dictionary_equals_the_publication(regenerated: tuple[Any, Path]) -> None:
    publication, out = regenerated
    actual_dictionary = {
        group["title"]: [{key: entry[key] for key in ("id", "name", "description")} for entry in group["entries"]]
        for group in load_json(out / "document.json")["dictionary"]
    }
    assert list(actual_dictionary.items()) == list(publication["dictionary"].items())


def test_org_deltas_are_computed_and_others_copied(regenerated: tuple[Any, Path]) -> None:
    publication, out = regenerated
    provenance = dict(load_json(out / "document.json")["provenance"])
    is_computed = publication["generation"] == "org-latex"
    assert provenance["Δ and Δ%"].startswith("computed" if is_computed else "as published")


def test_charts_have_published_points_or_are_listed(regenerated: tuple[Any, Path]) -> None:
    publication, out = regenerated
    document = load_json(out / "document.json")
    chart_file = PUBLISHED / publication["source"].replace(".pdf", ".cdf.json")
    drawn_charts = [(chart["figure"], chart["id"], chart["title"]) for chart in list_charts(document)]
    listed_charts = [
        (int(row[0]), row[2], row[1])
        for part in document["appendices"]
        if part["title"] == "Charts without data"
        for row in part["rows"]
    ]
    assert sorted(drawn_charts + listed_charts) == [
        (chart["figure"], chart["id"], chart["caption"]) for chart in publication["charts"]
    ]
    assert bool(drawn_charts) == chart_file.is_file()
    points = load_json(chart_file) if drawn_charts else {}
    for chart in list_charts(document):
        lines = {line["run"]: [point[:2] for point in line["points"]] for line in chart["series"]}
        assert lines == points[chart["id"]]
        assert (out / "charts" / f"{chart['id']}.svg").is_file()


def squeeze(text: str) -> str:
    """Remove white space and line break opportunities."""
    return re.sub(r"[\s\u200b\u00ad\u2060]", "", text)


def iter_printed_texts(publication: dict[str, Any]) -> Iterator[str]:
    """Return every text of a publication in the order of its pages."""
    yield from (publication[key] for key in ("title", "subtitle", "intro"))
    for facts in publication["manifest"]:
        yield from (facts["label"], *facts["values"])
    for section in publication["sections"]:
        yield section["title"]
        for row in read_rows(section):
            yield from row
    for title, entries in publication["dictionary"].items():
        yield title
        for entry in entries:
            yield from (entry["name"], entry["id"], entry["description"])


def test_pdf_text_has_everything_in_order(regenerated: tuple[Any, Path]) -> None:
    publication, out = regenerated
    text = squeeze("".join(page.extract_text() for page in pypdf.PdfReader(out / "report.pdf").pages))
    assert squeeze(publication["author"]) in text
    place = 0
    for item in iter_printed_texts(publication):
        position = text.find(squeeze(item), place)
        assert position >= 0, f"`{item}` does not stand after `{text[max(0, place - 80) : place]}`"
        place = position + len(squeeze(item))
