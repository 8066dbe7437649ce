"""Editions of reports over runs: a build prints what a publication with the same values prints."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from assay.app.build.build_runs import assemble_runs
from assay.app.build.regenerate import PublishedReport, read_published_report
from assay.app.compute import report_request
from assay.app.compute.computation import Computation, RunResult
from assay.app.session.options import Options
from assay.engine.results import Distribution
from assay.lang.editions import apply_edition, find_edition
from assay.lang.model.report import Cell, ManifestRow
from assay.number_styles.registry import get_style
from assay.publication.edition import choose_edition
from assay.publication.reader import read_publication
from assay.report.charts.line_strokes import list_line_names
from assay.report.charts.render import load_template
from assay.report.charts.vega_spec import build_chart_spec
from assay.report.document import Document
from assay.report.document_json import parse_document
from assay.report.render.html import build_web_specs
from assay.report.sections import DELTA
from assay.report.tables import MetricTable
from assay.runs.model import NamedRun
from tests.compare_reference import CARDANO, PUBLISHED, load_json
from tests.support.commands import run_assay
from tests.support.documents import list_sections
from tests.support.laboratory import ROOT, Laboratory

SUMMARY = "published"
NANOSECONDS = 10**9
PARSERS: dict[str, Callable[[str], object]] = {
    "text": str,
    "unsuffixed": str,
    "integer": int,
    "real": float,
    "spread": lambda text: round(float(text) * NANOSECONDS),
}
#: what the results of a run do not have: the day and the filters of the build, and what is not computed from logs
OTHER_ROWS = ("analysis date", "filters applied", "former row")
#: a publication of each edition, oldest first
NAMES = (
    "8.7.1_8.1.2_8.7.0-pre_8.7.1-pre.plutus",
    "release-8.9.0.value-only",
    "release-9.2.0.plutus",
    "release-10.2.1.plutus",
    "release-10.4.1.plutus",
    "release-10.5.4.plutus",
)
FIRST = "2023-12"


def parse_count(text: str) -> int:
    """Return a number of samples that is printed like this: `(52)`, or `(291>)` for 29100."""
    digits = text.strip("()")
    return int(digits.removesuffix(">")) * 100 if digits.endswith(">") else int(digits)


def parse_value(text: str, cell: Cell) -> object:
    """Return the value of a run parameter; a number that is cut after a 0 has further digits."""
    if text == "—":
        return None
    is_cut = cell.kind in ("real", "spread") and len(text) == cell.cut and text.endswith("0")
    return PARSERS[cell.kind](f"{text}1" if is_cut else text)


class PublishedValues:
    """The values of the runs of a publication, in place of those of other runs with the same metrics."""

    def __init__(self, read: PublishedReport) -> None:
        self.read = read
        self.rows = {row.label: row for row in apply_edition(read.report, read.edition).manifest}

    def replace(self, run: RunResult, column: int) -> RunResult:
        """Return the results of a run with the values of a column of the publication."""
        constants, relations = self._read_manifest(column)
        results = dataclasses.replace(
            run.results,
            metrics={**run.results.metrics, **dict(self._iter_metrics(run.results.metrics, column))},
            relations={name: {**row, **relations.get(name, {})} for name, row in run.results.relations.items()},
        )
        ingested_run = dataclasses.replace(run.ingested_run, constants={**run.ingested_run.constants, **constants})
        return dataclasses.replace(run, ingested_run=ingested_run, results=results)

    def _iter_metrics(self, measured: Mapping[str, Distribution], column: int) -> Iterator[tuple[str, Distribution]]:
        for rows, counts in zip(self.read.rows.sections, self.read.rows.counts, strict=True):
            size = parse_count(counts[column]) if counts else 1
            for name, row in rows:
                average = float(row.values[column])
                yield name, dataclasses.replace(measured[name], size=size, averages={SUMMARY: average})

    def _read_manifest(self, column: int) -> tuple[dict[str, object], dict[str, dict[str, object]]]:
        constants: dict[str, object] = {}
        relations: dict[str, dict[str, object]] = {}
        texts = {facts.label: facts.values[column] for facts in self.read.rows.manifest}
        for label, text in texts.items():
            row = self.rows[label]
            if row.constant and row.cell.kind in PARSERS:
                constants[row.constant] = parse_value(text, row.cell)
            elif row.relation:
                relations.setdefault(row.relation, {})[row.column] = parse_value(text, row.cell)
        start = f"{texts['Cluster system start date']}T{texts['Cluster system start time']}"
        constants[self.rows["Cluster system start date"].constant] = (
            int(datetime.fromisoformat(start).replace(tzinfo=UTC).timestamp()) * NANOSECONDS
        )
        return constants, relations


def build_edition(lab: Laboratory, read: PublishedReport, monkeypatch: pytest.MonkeyPatch) -> Document:
    """Build the edition of a publication over runs with its values."""
    compute, values, labels = report_request.compute, PublishedValues(read), read.publication.runs

    def compute_published(*arguments: Any) -> Computation:
        computation = compute(*arguments)
        runs = tuple(values.replace(run, labels.index(run.id)) for run in computation.runs)
        return dataclasses.replace(computation, runs=runs)

    monkeypatch.setattr(report_request, "compute", compute_published)
    runs = [NamedRun(label, CARDANO / "baseline" / "run", is_named=True) for label in labels]
    options = Options(edition=read.edition.name)
    return assemble_runs(lab.session, "cardano/comparison", runs, options).document


def list_cells(table: MetricTable, has_differences: bool) -> list[list[str]]:
    """Return the cells of a table: without its differences unless they follow from the printed values."""
    columns = [x for x, title in enumerate(table.header) if has_differences or title not in DELTA]
    return [[row[x] for x in columns] for row in table.rows]


def describe_contents(document: Document, rows: Mapping[str, ManifestRow], has_differences: bool) -> dict[str, Any]:
    """Return what an edition defines of a document; of run parameters the values that runs have."""
    parameters = [row for row in document.manifest.rows if rows[row[0]].built not in OTHER_ROWS]
    return {
        "style": document.style,
        "runs": document.manifest.header,
        "labels": [row[0] for row in document.manifest.rows],
        "parameters": parameters,
        "sections": [
            (item.title, item.header, item.units, list_cells(item, has_differences)) for item in document.metric_tables
        ],
        "dictionary": [
            (group.title, [(item.id, item.name, item.unit, item.description) for item in group.entries])
            for group in document.dictionary
        ],
    }


@pytest.mark.parametrize("name", NAMES)
def test_build_over_the_values_of_a_publication_prints_its_cells(
    name: str, lab: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = read_published_report(lab.session, PUBLISHED / f"{name}.json", None, None)
    document, rows = build_edition(lab, read, monkeypatch), PublishedValues(read).rows
    has_differences = get_style(read.edition.style).follows_from_print
    built, expected = (describe_contents(item, rows, has_differences) for item in (document, read.build_document({})))
    for row in built["parameters"]:
        if row[0] == "Plutus script":  # typesetters print three hyphens as a dash
            built["parameters"][built["parameters"].index(row)] = tuple(cell.replace("---", "—") for cell in row)
    assert built == expected
    assert [
        (chart.figure, chart.id, chart.caption.removesuffix(f" ({chart.id})"), chart.template, chart.scale)
        for chart in document.distributions
    ] == [
        (figure.number, figure.metric, figure.caption, chart.template, chart.scale)
        for figure, chart in zip(read.publication.figures, read.edition.charts, strict=True)
    ]
    assert not document.answers


def test_each_edition_has_a_publication(lab: Laboratory) -> None:
    _, report = lab.session.find_report("cardano/comparison")
    days = [read_publication(PUBLISHED / f"{name}.json").day for name in NAMES]
    assert [choose_edition(report, day, None) for day in days] == list(report.editions)


def test_axes_of_the_first_edition_are_those_of_the_reference(lab: Laboratory) -> None:
    _, report = lab.session.find_report("cardano/comparison")
    reference = load_json(CARDANO / "reports" / "two.json")["dictionary"]
    is_logarithmic = {
        name: entry["deLogScale"] == "true"
        for group in ("dBlockProp", "dClusterPerf")
        for name, entry in reference[group].items()
    }
    charts = find_edition(report, FIRST).charts
    assert len(charts) == 30
    assert {chart.template for chart in charts} == {"percentiles"}
    assert {chart.metric: chart.scale == "log" for chart in charts} == {
        chart.metric: is_logarithmic[chart.metric] for chart in charts
    }


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """Build the first edition over the logs of two runs, which `2023` names."""
    out = tmp_path_factory.mktemp("edition") / "out"
    runs = [argument for name in ("baseline", "candidate") for argument in ("--run", CARDANO / name / "run")]
    result = run_assay(
        "build", "cardano/comparison", *runs, "--edition", "2023", "-o", out, "--to", "md", "--cache", cache
    )
    assert (result.status, result.out) == (0, f"{out}/report.md\n")
    assert result.err.startswith(
        "warning: Edition 2023-12 has run parameters that are not computed from logs: Log text lines emitted per host; "
        "Perf analysis start spread, s; Perf analysis stop spread, s.\n"
    )
    return out


def test_built_edition_says_which_it_is_and_names_rows_without_a_value(built: Path) -> None:
    document = load_json(built / "document.json")
    assert dict(document["provenance"])["Edition"] == f"{FIRST}: Without filesystem rows"
    assert load_json(built / "provenance.json")["content"]["options"]["edition"] == FIRST
    rows = {row[0]: row[1:] for row in document["manifest"]["rows"]}
    assert rows["Perf analysis start spread, s"] == ["—", "—"]
    section, *_ = list_sections(document)
    assert section["title"] == "Resource Usage"
    assert section["header"] == ["", "10.5-sim", "10.6-sim", "Δ", "Δ%"]
    assert "The report has no" not in (built / "report.md").read_text(encoding="utf-8")


def test_page_draws_values_over_shares_like_the_print(built: Path) -> None:
    document = parse_document((built / "document.json").read_text(encoding="utf-8"))
    chart = next(item for item in document.distributions if item.id == "cdfForgerTicked")
    template = load_template(ROOT / "templates", chart.template)
    printed = build_chart_spec(chart, template)
    page = build_web_specs([chart], ROOT / "templates", list_line_names(document))[chart.id]
    for spec in (printed, page):
        assert [spec["encoding"][axis]["field"] for axis in ("x", "y")] == ["centile", "x"]
        assert spec["encoding"]["y"]["scale"]["type"] == "log"
        assert spec["encoding"]["y"]["axis"]["title"][0] == "Ledger ticking, s"


def test_built_edition_can_be_verified_gated_and_traced(built: Path, cache: Path) -> None:
    result = run_assay("verify", built, "--cache", cache)
    assert result.status == 0, result.out + result.err
    result = run_assay("gate", built, "--once")
    assert (result.status, "Process CPU usage" in result.out) == (4, True), result.out + result.err
    result = run_assay("trace", built, "Resource Usage/Kernel RSS, MB/10.6-sim", "--cache", cache)
    assert (result.status, "Metric     RSS: Kernel RSS, MB\n" in result.out) == (0, True), result.out + result.err
