"""Test regenerated publications: cells of the document, and the text of the PDF in order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pypdf
import pytest

from tests.compare_reference import load
from tests.support.commands import Done, assay
from tests.support.laboratory import ROOT

PUBLISHED = ROOT / "golden" / "published"
REPORTS = sorted(path.name.removesuffix(".json") for path in PUBLISHED.glob("*.json") if ".cdf." not in path.name)
PLAIN = "release-10.4.1.plutus"
WITH_POINTS = [name for name in REPORTS if (PUBLISHED / f"{name}.cdf.json").is_file()]


def regenerate(file: Path, out: Path, cache: Path, *more: str, within: Path = ROOT) -> Done:
    return assay("regenerate", file, "-o", out, "--cache", cache, *more, within=within)


@pytest.fixture(scope="module", params=REPORTS)
def regenerated(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, cache: Path
) -> tuple[Any, Path]:
    """Regenerate a publication; return it and the folder of its report."""
    out = tmp_path_factory.mktemp("regenerated") / "out"
    done = regenerate(PUBLISHED / f"{request.param}.json", out, cache)
    assert (done.status, done.err) == (0, "")
    assert done.out == f"{out}/report.pdf\n"
    return load(PUBLISHED / f"{request.param}.json"), out


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
    published, out = regenerated
    document = load(out / "document.json")
    assert [document[key] for key in ("title", "subtitle", "author")] == [
        published[key] for key in ("title", "subtitle", "author")
    ]
    assert document["intro"] == [published["intro"]]
    assert document["date"] == published["date"][:10]
    assert document["manifest"]["header"] == ["", *published["runs"]]
    assert document["manifest"]["rows"] == [[row["label"], *row["values"]] for row in published["manifest"]]
    assert [section["title"] for section in document["sections"]] == [item["title"] for item in published["sections"]]
    for ours, theirs in zip(document["sections"], published["sections"], strict=True):
        assert ours["header"] == ["", *theirs["columns"]]
        assert ours["rows"] == read_rows(theirs)
    assert document["warnings"] == []


def test_dictionary_equals_the_publication(regenerated: tuple[Any, Path]) -> None:
    published, out = regenerated
    ours = {
        group["title"]: [{key: entry[key] for key in ("id", "name", "description")} for entry in group["entries"]]
        for group in load(out / "document.json")["dictionary"]
    }
    assert list(ours.items()) == list(published["dictionary"].items())


def test_org_deltas_are_computed_and_others_copied(regenerated: tuple[Any, Path]) -> None:
    published, out = regenerated
    provenance = dict(load(out / "document.json")["provenance"])
    computed = published["generation"] == "org-latex"
    assert provenance["Δ and Δ%"].startswith("worked out" if computed else "as published")


def test_charts_have_published_points_or_are_listed(regenerated: tuple[Any, Path]) -> None:
    published, out = regenerated
    document = load(out / "document.json")
    beside = PUBLISHED / published["source"].replace(".pdf", ".cdf.json")
    drawn = [(chart["figure"], chart["id"], chart["title"]) for chart in document["charts"]]
    listed = [
        (int(row[0]), row[2], row[1])
        for part in document["appendices"]
        if part["title"] == "Charts without data"
        for row in part["rows"]
    ]
    assert sorted(drawn + listed) == [(chart["figure"], chart["id"], chart["caption"]) for chart in published["charts"]]
    assert bool(drawn) == beside.is_file()
    points = load(beside) if drawn else {}
    for chart in document["charts"]:
        lines = {line["run"]: [point[:2] for point in line["points"]] for line in chart["series"]}
        assert lines == points[chart["id"]]
        assert (out / "charts" / f"{chart['id']}.svg").is_file()


def squeeze(text: str) -> str:
    """Remove white space and line break opportunities."""
    return re.sub(r"[\s\u200b\u00ad\u2060]", "", text)


def printed_texts(published: dict[str, Any]) -> Iterator[str]:
    """Return every text of a publication in the order of its pages."""
    yield from (published[key] for key in ("title", "subtitle", "intro"))
    for facts in published["manifest"]:
        yield from (facts["label"], *facts["values"])
    for section in published["sections"]:
        yield section["title"]
        for row in read_rows(section):
            yield from row
    for title, entries in published["dictionary"].items():
        yield title
        for entry in entries:
            yield from (entry["name"], entry["id"], entry["description"])


def test_pdf_text_has_everything_in_order(regenerated: tuple[Any, Path]) -> None:
    published, out = regenerated
    text = squeeze("".join(page.extract_text() for page in pypdf.PdfReader(out / "report.pdf").pages))
    assert squeeze(published["author"]) in text
    place = 0
    for item in printed_texts(published):
        position = text.find(squeeze(item), place)
        assert position >= 0, f"`{item}` does not stand after `{text[max(0, place - 80) : place]}`"
        place = position + len(squeeze(item))
