"""Every axis of every kind of chart has a title, with the unit of what it measures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from assay.report import heat_map
from assay.report.blocks.grid import Panel, _list_grid_rows
from assay.report.charts.render import build_figure_spec, get_template_path, load_template
from assay.report.document import Chart, Document, Plot
from assay.report.document_json import parse_document
from tests.compare_reference import CARDANO
from tests.report_sample import TEMPLATES
from tests.support.commands import build
from tests.support.laboratory import ROOT

FOLDERS = (TEMPLATES, TEMPLATES / "html")
#: folders of templates, of paper and of pages, and the names of the templates in them
KINDS = [
    (folder, path.name.removesuffix(".vl.json"))
    for folder in FOLDERS
    for path in sorted((folder / "charts").glob("*.vl.json"))
]
MARKED = "-marked"
#: titles of axes that measure no quantity with a unit
COUNTED = {"step", "centile", "share of samples", "difference of shares", "release", "host", "metric"}
TIMES = {f"time, {unit}" for unit in ("seconds", "minutes", "hours", "days", "% of the run")}


@dataclass(frozen=True)
class Titles:
    """The titles of the axes of a figure, and the symbols of the units of what it shows."""

    x: frozenset[str]
    y: frozenset[str]
    units: frozenset[str]


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> list[Document]:
    """Return the documents of all committed reports, and of one with details of metrics and figures by host."""
    out = tmp_path_factory.mktemp("axes") / "out"
    runs = [f"{name}={CARDANO / name / 'run'}" for name in ("baseline", "candidate")]
    options = ("--to", "md", "--by", "host", "--details", "mempoolTxs")
    result = build(runs, out, cache, *options, report="cardano/host-activity")
    assert result.status == 0, result.err
    files = [out / "document.json", *sorted((ROOT / "golden" / "reports").glob("*.document.json"))]
    return [parse_document(file.read_text(encoding="utf-8")) for file in files]


def iter_figures(documents: Sequence[Document], template: str) -> Iterator[tuple[Chart | Plot, set[str]]]:
    """Yield all figures of a kind, with the symbols of the units of what they show."""
    if template == "grid":
        panels = [Panel("Latency, s", "Time, s", ((0.0, 1.0),)), Panel("Peers", "time, seconds", ((0.0, 1.0),))]
        columns = ("case", "panel", "x", "y", "line", "mark", "text")
        rows = tuple(_list_grid_rows(panels, ["one", "two"]))
        names = tuple(panel.title for panel in panels)
        yield Plot("m", 1, "Grid", "", "A grid.", "grid", columns, rows, names, ("one", "two")), {"s"}
    if template == heat_map.TEMPLATE:
        cells = (("Latency", "web-1", "worse", 1.0, "+20 %"),)
        labels = {"x_label": "metric", "y_label": "host"}
        yield Plot("m", 1, "Changes", "", "Changes.", template, heat_map.COLUMNS, cells, ("Latency",), ("web-1",),
                   **labels), set()  # fmt: skip
    for document in documents:
        units = {entry.id: entry.unit for entry in document.entries}
        for figure in document.drawn_figures:
            entry_ids = (figure.shows if isinstance(figure, Plot) else ()) or (figure.id,)
            symbols = {figure.unit, *(units.get(name, "") for name in entry_ids)} - {""}
            if figure.template == template.removesuffix(MARKED) and isinstance(figure, Plot):
                yield replace(figure, template=template), symbols
            elif figure.template == template:
                yield figure, symbols
            elif (template, figure.template) == ("percentiles", "cdf"):  # of editions, with the same data
                yield replace(figure, template=template), symbols


def read_titles(figure: Chart | Plot, units: set[str], folder: Path = TEMPLATES) -> Titles:
    """Return the titles of the axes of a drawn figure; panels may have texts in their place."""
    path = get_template_path(folder, figure.template)
    spec = build_figure_spec(figure, load_template(folder, figure.template), path, ())
    titles: dict[str, set[str]] = {"x": set(), "y": set()}
    _collect_titles(spec, titles)
    is_titled = {"x": "'axis'" in str(spec), "y": figure.template == "grid" and "'panel'" in str(spec)}
    for row in spec.get("datasets", {}).get("rows", []):
        for channel, mark in (("x", "axis"), ("y", "panel")):
            if is_titled[channel] and row.get("mark") == mark:
                titles[channel] = {title for title in titles[channel] if title} | {row["text"]}
    return Titles(frozenset(titles["x"]), frozenset(titles["y"]), frozenset(units))


def _collect_titles(node: Any, titles: dict[str, set[str]]) -> None:
    """Collect the titles of axes that are drawn; an empty text for one that has no title."""
    for item in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        _collect_titles(item, titles)
    for channel in titles.keys() & (node.keys() if isinstance(node, dict) else ()):
        axis = node[channel].get("axis") if isinstance(node[channel], dict) else None
        if isinstance(axis, dict):
            title = axis.get("title")
            titles[channel].add(title[0] if isinstance(title, list) else title or "")


def has_unit(title: str, units: frozenset[str]) -> bool:
    """Check that a title names a unit, or that what it measures has none."""
    words = title.casefold().replace(",", " ").split()  # a series of rounds may have the title "Rounds"
    return title in COUNTED | TIMES or any(unit.casefold() in (title.casefold(), words[-1]) for unit in units)


@pytest.mark.parametrize(
    ("folder", "template"), [pytest.param(*kind, id=f"{kind[0].name}-{kind[1]}") for kind in KINDS]
)
def test_axes_have_titles_with_units(documents: list[Document], folder: Path, template: str) -> None:
    figures = list(iter_figures(documents, template))
    assert figures
    for figure, units in figures:
        titles = read_titles(figure, units, folder)
        assert titles.x, figure.id
        assert titles.y, figure.id
        assert "" not in titles.x | titles.y, figure.id
        if figure.unit:
            measured = titles.y if isinstance(figure, Plot) and not titles.y & COUNTED else titles.x | titles.y
            assert any(has_unit(title, frozenset({figure.unit})) for title in measured), (figure.id, titles)
        if template.startswith(("scatter", "timeline")):
            assert all(has_unit(title, titles.units | TIMES) for title in titles.x), (figure.id, titles)


def test_long_titles_keep_their_unit() -> None:
    columns, rows = ("line", "x", "y"), (("a", 0.0, 1.0), ("a", 1.0, 2.0))
    label = "Resident memory of all processes of the node, MiB"
    figure = Plot(
        "m", 1, "Memory", "MiB", "Memory.", "timeline", columns, rows, ("a",), x_label="time, seconds", y_label=label
    )
    (title,) = read_titles(figure, {"MiB"}).y
    assert title.endswith(", MiB")
    assert "…" in title
    assert len(title) <= 30
