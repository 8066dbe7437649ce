"""Test `assay catalogue`: links have targets, the search finds metrics, texts are escaped, no page uses the network."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import Browser, expect

from assay.app.audit.explain import explain_subject
from assay.app.audit.explain_view import describe_headings
from assay.app.audit.lineage import find_lineage
from assay.app.session.selection import Selection
from assay.lineage.diagram import Picture, build_picture
from tests.support.browser import list_accessibility_problems, open_page
from tests.support.commands import run_assay
from tests.support.documents import list_sections
from tests.support.laboratory import ROOT, Laboratory
from tests.support.outcomes import read_contents

HOSTILE = "<script>alert(1)</script>\u202e & 'x' \""


@dataclass
class ParsedPage(HTMLParser):
    """A page: its ids, its addresses, its text, its elements."""

    ids: list[str] = field(default_factory=list)
    addresses: list[str] = field(default_factory=list)
    elements: list[str] = field(default_factory=list)
    text: str = ""

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.text += " " if tag in ("td", "th") else ""
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in ("href", "src"):
                self.addresses.append(value or "")

    def handle_data(self, data: str) -> None:
        self.text += data


def read_page(file: Path) -> ParsedPage:
    result = ParsedPage()
    result.feed(file.read_text(encoding="utf-8"))
    return result


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """Create a workspace with a repository: a definition, a change of it, hostile texts, and a golden report."""
    place = tmp_path_factory.mktemp("shop") / "workspace"
    assert run_assay("--cache", cache, "init", place).status == 0
    run_git(place, "init", "-q")
    commit(place, "Begin <b>")
    metrics = place / "specs/service/metrics.dhall"
    text = metrics.read_text(encoding="utf-8")
    work = "measure = request.between e.started e.sent"
    assert work in text
    metrics.write_text(text.replace(work, work.replace("e.started", "e.received")), encoding="utf-8")
    assert run_assay("--cache", cache, "check", "--accept", cwd=place).status == 0
    commit(place, "Work from the request on")
    changed_text = metrics.read_text(encoding="utf-8")
    hostile_json = json.dumps(HOSTILE).replace("$", "\\u0024")
    changed_text = changed_text.replace('"Working time"', hostile_json).replace(
        '"Time from the start by a worker to the response"', hostile_json
    )
    metrics.write_text(changed_text, encoding="utf-8")
    assert run_assay("--cache", cache, "check", "--accept", cwd=place).status == 0
    runs = ("--run", "runs/1.0", "--run", "runs/1.1")
    assert (
        run_assay("--cache", cache, "build", "service/comparison", *runs, "--to", "md", "-o", "built", cwd=place).status
        == 0
    )
    (place / "golden/reports").mkdir()
    shutil.copyfile(place / "built/document.json", place / "golden/reports/first.document.json")
    return place


def run_git(place: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    return subprocess.run(["git", *identity, *arguments], cwd=place, check=True, capture_output=True, text=True).stdout


def commit(place: Path, subject: str) -> None:
    run_git(place, "add", "specs", "golden")
    run_git(place, "commit", "-q", "-m", subject)


@pytest.fixture(scope="module")
def shop_site(shop: Path, cache: Path) -> Path:
    """Return the site of the workspace `shop`."""
    result = run_assay("--cache", cache, "catalogue", "-o", "site", cwd=shop)
    assert (result.status, result.err, result.out) == (0, "", "site/index.html\n")
    return shop / "site"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """Return the site of a system with metrics, series, articles and golden reports."""
    out = tmp_path_factory.mktemp("catalogue") / "site"
    result = run_assay("--cache", cache, "catalogue", "--system", "cometbft", "-o", out)
    assert (result.status, result.err, result.out) == (0, "", f"{out}/index.html\n")
    return out


# Links


def test_every_link_leads_somewhere_within_the_site(site: Path, shop_site: Path) -> None:
    for folder in (site, shop_site):
        pages = {file: read_page(file) for file in folder.rglob("*.html")}
        assert len(pages) > 10
        for file, page in pages.items():
            assert len(set(page.ids)) == len(page.ids), file
            for address in page.addresses:
                parts = urlsplit(address)
                assert address, file
                assert (parts.scheme, parts.netloc) == ("", ""), (file, address)
                target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
                assert target.is_file(), (file, address)
                assert target.is_relative_to(folder.resolve()), (file, address)
                assert not parts.fragment or parts.fragment in pages[target].ids, (file, address)


def test_all_things_have_a_page_that_an_index_leads_to(site: Path, lab: Laboratory) -> None:
    package = lab.session.load_package("cometbft").package
    listed_pages = {
        (site / "pages/cometbft" / item).resolve()
        for item in read_page(site / "pages/cometbft/index.html").addresses
        if not item.startswith(("#", "../"))
    }
    assert listed_pages == {file.resolve() for file in site.glob("pages/cometbft/*/*.html")}
    shown_names = [item.name for item in package.reports]
    names = {
        "metrics": [item.id for item in package.metrics], "series": [item.name for item in package.series],
        "events": [item.name for item in package.events], "grains": [item.name for item in package.grains],
        "filters": [item.name for item in package.filters], "reports": shown_names,
        "relations": [item.name for item in package.relations],
    }  # fmt: skip
    result = {kind: sorted(file.stem for file in (site / "pages/cometbft" / kind).glob("*.html")) for kind in names}
    assert result == {kind: sorted(items) for kind, items in names.items()}


def test_pages_are_linked_both_ways(shop_site: Path) -> None:
    metric, folder = shop_site / "pages/service/metrics/wait.html", shop_site / "pages/service"
    for kind in ("events", "grains", "reports"):
        linked_pages = [
            (metric.parent / item).resolve() for item in read_page(metric).addresses if f"../{kind}/" in item
        ]
        assert linked_pages, kind
        for other in linked_pages:
            backlinks = {
                (other.parent / item).resolve() for item in read_page(other).addresses if not item.startswith("#")
            }
            assert metric.resolve() in backlinks, other
    assert (folder / "relations/request_keys.html").is_file()


# The text of a page


def test_page_of_a_metric_has_every_fact_of_explain(site: Path, lab: Laboratory) -> None:
    text = " ".join(read_page(site / "pages/cometbft/metrics/latency_max.html").text.split())
    result = explain_subject(lab.session, "latency_max", Selection(system="cometbft"))
    assert result.facts.definition in text
    for head, lines in describe_headings(result):
        if head not in ("Events", "Shown in"):  # these are tables
            for line in lines:
                assert " ".join(re.sub(r"[`*]", "", line).split()) in text
    for event in result.facts.events:
        assert event.doc in text
        assert all(place in text for item in event.fields for place in item.places)
    assert all(place.label in text and place.section in text for place in result.facts.appearances)
    sql = run_assay("--cache", lab.session.store.folder, "sql", "latency_max", "--system", "cometbft").out
    assert " ".join(sql.split()) in text


def test_golden_values_equal_the_report(shop_site: Path, shop: Path, site: Path) -> None:
    document = json.loads((shop / "golden/reports/first.document.json").read_text(encoding="utf-8"))
    (section, index) = next(
        (part, part["metrics"].index("wait")) for part in list_sections(document) if "wait" in part["metrics"]
    )
    text = " ".join(read_page(shop_site / "pages/service/metrics/wait.html").text.split())
    printed_values = " ".join(
        f"{head} {value}" for head, value in zip(section["header"][1:], section["rows"][index][1:], strict=True)
    )
    assert printed_values.replace(" ", "") in text.replace(" ", "")
    assert "under another definition" not in text
    qa = json.loads((ROOT / "golden/reports/qa.document.json").read_text(encoding="utf-8"))
    table = next(item for part in qa["parts"] for item in part["tables"] if "Maximum latency, s" in item["header"])
    column = table["header"].index("Maximum latency, s")
    values = "".join(f"{row[0]}{row[column]}" for row in table["rows"])
    latency_page = read_page(site / "pages/cometbft/metrics/latency_max.html").text
    assert values in re.sub(r"\s", "", latency_page)


def test_history_comes_from_committed_normal_forms(shop_site: Path, shop: Path) -> None:
    commits = run_git(shop, "log", "--format=%H %cs", "--reverse").split()
    text = " ".join(read_page(shop_site / "pages/service/metrics/work.html").text.split())
    history = text[text.index("History of the definition Date") : text.index(" SQL One self-contained")]
    hashes = []
    for name in (commits[0], commits[2]):
        form = run_git(shop, "show", f"{name}:golden/specs/service.yaml")
        hashes.append(re.search(r"- id: work\n(?:    .*\n)*?    definition: (\w+)", form)[1])  # type: ignore[index]
    assert history == (
        f"History of the definition Date Commit Subject Definition {commits[3]} {commits[2][:10]} "
        f"Work from the request on {hashes[1]} {commits[1]} {commits[0][:10]} Begin <b> {hashes[0]}"
    )
    assert hashes[0] != hashes[1]
    wait = read_page(shop_site / "pages/service/metrics/wait.html").text
    assert "Begin <b>" in wait
    assert "Work from the request on" not in wait


def test_page_without_a_repository_states_the_missing_history(
    shop: Path, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    place = tmp_path / "copy"
    shutil.copytree(shop, place, ignore=shutil.ignore_patterns(".git", "site", "built"))
    assert run_assay("--cache", cache, "catalogue", "-o", "site", cwd=place).status == 0
    text = read_page(place / "site/pages/service/metrics/wait.html").text
    assert "None: the workspace is not a git repository, or has no commits." in text


def test_examples_are_shown(shop_site: Path) -> None:
    text = read_page(shop_site / "pages/service/metrics/wait.html").text
    assert "request.received" in text[text.index("Examples\n") :]


# Texts stay texts


def test_hostile_texts_are_shown_and_do_nothing(shop_site: Path, chromium: Browser) -> None:
    visible_text = HOSTILE.replace("\u202e", "\\u202e")
    for file in shop_site.rglob("*.html"):
        page = read_page(file)
        assert page.elements.count("script") == 1, file
        assert "\u202e" not in page.text, file
    with open_page(chromium, shop_site / "pages/service/metrics/work.html") as result:
        assert result.page.locator("h1").text_content() == f"{visible_text}, ms"
        assert result.page.locator(".lead").text_content() == visible_text
        assert result.messages == []
    with open_page(chromium, shop_site / "index.html") as result:
        result.page.locator("#query").fill("<script>")
        expect(result.page.locator("#index tbody tr:visible")).to_have_count(1)
        assert result.messages == []


# Reproducible, and written completely or not at all


def test_two_runs_give_the_same_bytes(shop_site: Path, shop: Path, cache: Path) -> None:
    before = read_contents(shop_site)
    (shop_site / "pages/old.html").write_text("left over", encoding="utf-8")
    assert run_assay("--cache", cache, "catalogue", "-o", "site", cwd=shop).status == 0
    assert read_contents(shop_site) == before
    assert str(shop) not in "".join(file.read_text(encoding="utf-8") for file in shop_site.rglob("*.html"))


def test_folder_with_a_report_stays_unchanged(shop: Path, cache: Path) -> None:
    before = read_contents(shop / "built")
    result = run_assay("--cache", cache, "catalogue", "-o", "built", cwd=shop)
    assert result.status == 2
    assert "error[output]: the output folder has files that no build wrote: built" in result.err
    assert "hint: choose another folder with -o" in result.err
    assert read_contents(shop / "built") == before


def test_broken_golden_report_is_reported(shop: Path, tmp_path: Path, cache: Path) -> None:
    place = tmp_path / "copy"
    shutil.copytree(shop, place, ignore=shutil.ignore_patterns(".git", "site", "built"))
    (place / "golden/reports/first.document.json").write_text("[", encoding="utf-8")
    result = run_assay("--cache", cache, "catalogue", "-o", "site", cwd=place)
    assert result.status == 1
    assert "error[golden-report]: the golden report cannot be read" in result.err
    assert not (place / "site").exists()


# The picture


@pytest.mark.parametrize("name", ["latency_max", "node_block_interval", "cdfForgerTicked"])
def test_boxes_of_a_picture_do_not_overlap_and_hold_every_column(lab: Laboratory, name: str) -> None:
    traced_metric = find_lineage(lab.session, name)
    for roles in (("value", "picks"), ("value", "picks", "rows", "check", "read")):
        drawn_picture = build_picture(
            traced_metric.column_lineage, traced_metric.checked.package, traced_metric.cells, roles
        )
        labels = {row.full.partition(" · ")[0] for box in drawn_picture.boxes for row in box.rows}
        wanted = {
            item.column
            for item, role in traced_metric.column_lineage.roles.items()
            if role in roles and item.column.isidentifier()
        }
        assert wanted <= labels
        _check_boxes_are_disjoint(drawn_picture)
        assert {line.role for line in drawn_picture.lines} <= set(roles)
        _check_lines_join_rows(drawn_picture)


def _check_lines_join_rows(drawing: Picture) -> None:
    """Check that a line leads from the right of a row to the left of one in another box, or round the left of a box."""
    lefts = {(box.x, row.y): box for box in drawing.boxes for row in box.rows}
    rights = {(box.x + box.width, row.y): box for box in drawing.boxes for row in box.rows}
    for line in drawing.lines:
        points = [point.strip("MC").split(",") for point in line.path.split(" ")]
        begin, *_, end = ((float(x), float(y)) for x, y in points)
        if begin in lefts:
            assert lefts[begin] == lefts[end]
        else:
            assert rights[begin] != lefts[end]


def _check_boxes_are_disjoint(drawing: Picture) -> None:
    for index, box in enumerate(drawing.boxes):
        assert box.x >= 0
        assert box.y >= 0
        assert box.x + box.width <= drawing.width
        assert box.y + box.height <= drawing.height
        for other in drawing.boxes[index + 1 :]:
            is_beside = box.x + box.width <= other.x or other.x + other.width <= box.x
            assert is_beside or box.y + box.height <= other.y or other.y + other.height <= box.y, (box.name, other.name)


# In a browser


def test_search_finds_and_leads_to_the_metric(site: Path, chromium: Browser) -> None:
    with open_page(chromium, site / "index.html") as result:
        rows = result.page.locator("#index tbody tr:visible")
        row_count = rows.count()
        result.page.keyboard.press("/")
        result.page.keyboard.type("maximum latency")
        assert "latency_max" in (rows.first.text_content() or "")
        assert 0 < rows.count() < row_count
        assert result.page.locator("#found").text_content() == f"{rows.count()} of {row_count} found"
        result.page.locator("#query").fill("committed state")  # a name in logs
        assert any("node_" in (text or "") for text in rows.all_text_contents())
        result.page.locator("#query").fill("nothing has this")
        expect(rows).to_have_count(0)
        result.page.keyboard.press("Escape")
        expect(rows).to_have_count(row_count)
        result.page.locator("#query").fill("latency_max")
        result.page.keyboard.press("Enter")
        result.page.wait_for_selector("h1:has-text('Maximum latency')")
        result.page.locator("svg a").first.click()
        result.page.wait_for_selector("h1")
        assert "/events/" in result.page.url
        result.page.locator(".trail a").first.click()
        result.page.wait_for_selector("#index")
        assert result.messages == []
        assert {url.partition(":")[0] for url in result.requests} <= {"file", "data"}
        assert all(url.startswith(("data:", site.as_uri())) for url in result.requests)


@pytest.mark.parametrize(("name", "scheme"), [
    ("index.html", "light"), ("pages/cometbft/events/committed.html", "light"),
    ("pages/cometbft/metrics/latency_max.html", "light"), ("pages/cometbft/metrics/latency_max.html", "dark"),
])  # fmt: skip
def test_pages_have_no_accessibility_problems(site: Path, chromium: Browser, name: str, scheme: str) -> None:
    with open_page(chromium, site / name, bypass_csp=True, color_scheme=scheme) as result:
        result.page.evaluate("document.querySelectorAll('details').forEach(item => { item.open = true; })")
        assert list_accessibility_problems(result.page) == []


#: number of index ids that take several lines, distance between the right edges of text and button, page width
LAYOUT_SCRIPT = """() => {
  const broken = [...document.querySelectorAll("#index td code")].filter(item => item.getClientRects().length > 1);
  const main = document.querySelector("main"), edge = main.getBoundingClientRect().right;
  const text = edge - parseFloat(getComputedStyle(main).paddingRight);
  const button = document.querySelector("#theme").getBoundingClientRect().right;
  return [broken.length, Math.round(text - button), document.documentElement.scrollWidth];
}"""


@pytest.mark.parametrize(("width", "is_broken"), [(1440, False), (1024, False), (700, False), (360, True)])
def test_ids_break_on_narrow_pages_only(site: Path, chromium: Browser, width: int, is_broken: bool) -> None:
    with open_page(chromium, site / "index.html", viewport={"width": width, "height": 800}) as result:
        ids, clipped, page_width = result.page.evaluate(LAYOUT_SCRIPT)
        assert (ids > 0, clipped, page_width) == (is_broken, 0, width)


def test_system_without_filters_has_no_sentence_about_them(shop_site: Path) -> None:
    """The page of a system without filters has no sentence about filters."""
    message = "Filters that can apply to it"
    assert message not in (shop_site / "pages/service/metrics/wait.html").read_text(encoding="utf-8")


def test_a_narrow_page_does_not_scroll_sideways(site: Path, chromium: Browser) -> None:
    with open_page(
        chromium, site / "pages/cometbft/metrics/latency_max.html", viewport={"width": 360, "height": 800}
    ) as result:
        assert result.page.evaluate("document.documentElement.scrollWidth") <= 360


def test_colours_are_kept_from_page_to_page(site: Path, chromium: Browser) -> None:
    with open_page(chromium, site / "index.html") as result:
        result.page.get_by_role("button", name="Dark colours").click()
        result.page.goto((site / "pages/cometbft/index.html").as_uri())
        expect(result.page.get_by_role("button", name="Light colours")).to_be_visible()
        assert (
            result.page.locator("body").evaluate("item => getComputedStyle(item).backgroundColor") == "rgb(20, 23, 27)"
        )


def test_page_without_scripts_is_complete(site: Path, chromium: Browser) -> None:
    with open_page(chromium, site / "index.html", java_script_enabled=False) as result:
        assert result.page.locator("#search").is_hidden()
        assert result.page.locator("#index tbody tr").count() == len(
            [*site.glob("pages/*/metrics/*.html"), *site.glob("pages/*/series/*.html")]
        )
