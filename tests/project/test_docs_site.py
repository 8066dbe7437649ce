"""The site of the docs: all pages are in it, its links lead somewhere, and it needs no network."""

from __future__ import annotations

import posixpath
import re
import tomllib
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import pytest

from tools.docs_site import ROOT, build_site, map_pages, rewrite_links

pytestmark = pytest.mark.docs


class PageParser(HTMLParser):
    """Collect the ids, the links and the loaded files of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.ids.add(values.get("id", ""))
        if tag == "a":
            self.links.append(values.get("href", ""))
        elif tag == "link" and values.get("rel") != "canonical":
            self.loaded.append(values.get("href", ""))
        elif tag in ("img", "script", "iframe"):
            self.loaded.append(values.get("src", ""))


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, PageParser]:
    """Build the site; return its pages by path, and all other files with empty pages."""
    out = tmp_path_factory.mktemp("docs") / "site"
    build_site(ROOT, out)
    paths = {path.relative_to(out).as_posix(): path for path in out.rglob("*") if path.is_file()}
    return {
        name: PageParser(path.read_text(encoding="utf-8") if path.suffix == ".html" else "")
        for name, path in paths.items()
        if name != "404.html"  # its links are absolute
    }


def test_every_page_is_on_the_site(pages: dict[str, PageParser]) -> None:
    names = {place for place in map_pages(ROOT).values() if place.endswith(".md")}
    expected = {re.sub(r"(README|index)\.md$", "index.html", name).replace(".md", ".html") for name in names}
    assert len(expected) > 40
    assert expected - pages.keys() == set()


def test_links_lead_to_pages_and_headings(pages: dict[str, PageParser]) -> None:
    broken = []
    for name, page in pages.items():
        for link in {*page.links, *page.loaded}:
            target, _, anchor = link.partition("#")
            if re.match(r"[a-z]+:", target):
                continue
            path = posixpath.normpath(posixpath.join(posixpath.dirname(name), target)) if target else name
            path = {".": "index.html"}.get(path, path + "index.html" if path.endswith("/") else path)
            if path not in pages or (anchor and anchor not in pages[path].ids):
                broken.append(f"{name}: {link}")
    assert sorted(broken) == []


def test_nothing_is_loaded_from_the_network(pages: dict[str, PageParser]) -> None:
    loaded = {item for page in pages.values() for item in page.loaded}
    assert len(loaded) > 3
    assert [item for item in sorted(loaded) if re.match(r"(https?:)?//", item)] == []


def test_navigation_names_every_page_of_docs() -> None:
    def list_targets(item: Any) -> Iterator[str]:
        for inner in item.values() if isinstance(item, dict) else item if isinstance(item, list) else ():
            yield from list_targets(inner)
        if isinstance(item, str):
            yield item

    settings = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))
    expected = {place for place in map_pages(ROOT).values() if place.endswith(".md")}
    assert set(list_targets(settings["project"]["nav"])) == {name for name in expected if "examples/" not in name}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[a](docs/tutorial.md#x)", "[a](tutorial.md#x)"),
        ("![b](docs/images/report-page.png)", "![b](images/report-page.png)"),
        ("[c](specs/cardano/events.dhall)", "c"),
        ("[d](https://example.org/docs/tutorial.md)", "[d](https://example.org/docs/tutorial.md)"),
        ("```\n[e](docs/tutorial.md)\n```", "```\n[e](docs/tutorial.md)\n```"),
    ],
)
def test_links_become_those_of_the_site(text: str, expected: str) -> None:
    assert rewrite_links(text, "README.md", map_pages(ROOT), "") == expected


def test_links_to_code_lead_to_the_repository() -> None:
    page = rewrite_links(
        "[a](../compiler/assay/api.py)", "docs/python.md", map_pages(ROOT), "https://example.org/tree/"
    )
    assert page == "[a](https://example.org/tree/compiler/assay/api.py)"


def test_site_has_the_schemas_of_files(pages: dict[str, PageParser]) -> None:
    expected = {f"schemas/{name}.schema.json" for name in ("settings", "results", "runs")}
    assert {name for name in pages if name.endswith(".schema.json")} == expected
