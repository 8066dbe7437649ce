"""Test that a part shows its blocks in the order of the specs, on every form of the page."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import run_assay
from tests.support.mixed import create_mixed_workspace

FORMS = ("--to", "pdf", "--to", "html", "--to", "md")
#: figures and prose after a table, and the second text quotes a value
BLOCKS = """\
B.listings [ B.listing "Steps" g.step [ c.step, c.users ] [ m.cpu ] ]
              # B.timelines [ B.lines "Queue" s.queue "instance" ]
              # B.prose "prose/steps.md"
              # B.sections [ R.section "Times" times ]
              # B.prose "prose/after.md"
          }
"""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """Return a workspace with a build of a report whose first part mixes prose, figures and tables."""
    folder = create_mixed_workspace(tmp_path_factory.mktemp("order") / "shop")
    reports = folder / "specs" / "mix" / "reports.dhall"
    text = reports.read_text(encoding="utf-8")
    changed = re.sub(r'B\.prose "prose/steps\.md".*?\n +\}\n', lambda _: BLOCKS, text, count=1, flags=re.S)
    assert changed != text
    reports.write_text(changed, encoding="utf-8")
    after = "The second step took {{ step_cpu(step = 1, decimals = 1) }}.\n"
    (folder / "specs" / "mix" / "prose" / "after.md").write_text(after, encoding="utf-8")
    built = run_assay("--cache", cache, "build", "mix/story", "--run", "runs/v1", "-o", "out", *FORMS, cwd=folder)
    assert built.status == 0, built.err
    return folder


def read_galleries(shop: Path) -> list[dict[str, Any]]:
    document = json.loads((shop / "out" / "document.json").read_text(encoding="utf-8"))
    return [item for item in document["parts"] if item["title"] == "Steps"]


def test_part_is_divided_where_its_blocks_cannot_share_a_gallery(shop: Path) -> None:
    galleries = read_galleries(shop)
    assert [(len(item["plots"]), len(item["tables"]), item.get("continues", False)) for item in galleries] == [
        (0, 1, False),
        (1, 0, True),
        (0, 1, True),
        (0, 0, True),
    ]
    assert galleries[2]["text"][0].startswith("The first step took")


@pytest.mark.parametrize("form", ["md", "html", "pdf"])
def test_pages_have_one_heading_and_the_order_of_the_specs(shop: Path, form: str) -> None:
    if form == "pdf":
        pages = read_pdf(shop / "out" / "report.pdf")
    else:
        pages = re.sub(r"<script.*?</script>|<nav.*?</nav>", "", read_text(shop / "out" / f"report.{form}"), flags=re.S)
    places = [pages.index(words) for words in ("The first step took", "The second step took")]
    assert places == sorted(places)
    assert pages.index("Queue") < places[0] < pages.index("Times") < places[1]
    if form != "pdf":
        assert len(re.findall(r"^## .*Steps$|<h2[^>]*>Steps</h2>", pages, re.M)) == 1


def test_cells_of_all_paragraphs_have_names(shop: Path, cache: Path) -> None:
    paragraphs = [text for gallery in read_galleries(shop) for text in gallery["text"]]
    (number,) = (n for n, text in enumerate(paragraphs, start=1) if text.startswith("The second step"))
    traced = run_assay("--cache", cache, "trace", "out", f"Steps/paragraph {number}/2.5 ms", cwd=shop)
    assert traced.status == 0, traced.err
    assert "step_cpu" in traced.out


def read_text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def read_pdf(path: Path) -> str:
    import pypdf

    return "\n".join(page.extract_text() for page in pypdf.PdfReader(path).pages)
