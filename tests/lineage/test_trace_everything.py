"""Everything printed can be traced: every metric and series by its SQL, cells of every report by its runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from sqlglot import exp

from assay.app import trace
from assay.app.subject import SampleRequest, Subject, list_subjects
from assay.engine.compiled_plan import compile_plan
from assay.engine.dry_run import dry_run
from assay.engine.graph import nodes
from assay.lang.checked_package import CheckedPackage
from assay.lineage.row_provenance import add_provenance
from assay.lineage.sample_query import VALUE
from assay.plan.planner import AppliedFilter
from assay.report.cell_links import FACT, FILTER, WORDS
from assay.sql import dialect
from assay.sql.codegen import Statement
from tests.support.commands import assay
from tests.support.deep import is_deep, turn
from tests.support.laboratory import ROOT, Laboratory

RUNS = {
    "antelope/endurance": ("cometbft/run",),
    "antelope/harness": ("antelope/harness",),
    "antelope/upgrade": ("antelope/upgrade/run",),
    "cometbft/published": ("cometbft/published/v034", "cometbft/published/v1"),
}
CELLS = 2  # of a report by default, or a few more: each takes about a second


def groups(checked: CheckedPackage) -> Iterator[tuple[tuple[AppliedFilter, ...], list[Subject]]]:
    """Yield metrics and series by the filters of their reports; formulas are traced by their inputs."""
    by_filters: dict[tuple[AppliedFilter, ...], list[Subject]] = {}
    for subject in list_subjects(checked):
        if not subject.formula_text:
            by_filters.setdefault(subject.select_filters((), False), []).append(subject)
    yield from by_filters.items()


def problems(
    checked: CheckedPackage, items: Sequence[Subject], applied: tuple[AppliedFilter, ...], *, cut: bool
) -> list[str]:
    """Return the problems of the statements by which subjects are traced, on empty tables."""
    metrics = [metric for item in items for metric in item.metrics]
    compiled = compile_plan(checked, metrics, applied, series=[name for item in items for name in item.series], cut=cut)
    statements = list(compiled.statements)
    every = dialect.select()
    for number, item in enumerate(items):
        query = item.sample_query(SampleRequest(compiled))
        statements.append(Statement("table", f"samples_{number}", query.query))
        every = every.select(exp.alias_(dialect.column(VALUE, f"samples_{number}"), f"value_{number}"))
        table = dialect.table(f"samples_{number}")
        every = every.join(table, join_type="cross") if number else every.from_(table)
    traced = add_provenance(statements, every, [f"value_{number}" for number in range(len(items))])
    constants = [one for source in checked.package.sources for one in source.constants]
    diagnostics = dry_run(nodes([*traced.statements, Statement("table", "samples", traced.query)]), constants)
    return [
        item.message for item in diagnostics if item.code == "sql"
    ]  # that relations yield more columns is the point


@pytest.mark.parametrize("system", ["antelope", "cardano", "cometbft"])
def test_the_engine_takes_what_every_metric_is_traced_by(lab: Laboratory, system: str) -> None:
    checked = lab.session.package(system)
    phases = any(report.phases for report in (*checked.package.reports, *checked.package.articles))
    count = 0
    for applied, items in groups(checked):
        count += len(items)
        for cut in (False, True) if phases else (False,):
            assert problems(checked, items, applied, cut=cut) == []
    assert count > 30


def test_no_report_over_runs_is_forgotten(lab: Laboratory) -> None:
    systems = {name: lab.session.package(name).package for name in lab.session.workspace.systems()}
    reports = {f"{name}/{item.name}" for name, of in systems.items() for item in (*of.reports, *of.articles)}
    assert {"cardano/comparison", "cometbft/qa", *RUNS} == reports


@pytest.fixture(params=["cardano/comparison", "cometbft/qa", *RUNS])
def folder(request: pytest.FixtureRequest, tmp_path: Path, cache: Path) -> Path:
    """A folder that a report was built into."""
    if request.param not in RUNS:
        built: Path = request.getfixturevalue({"cardano/comparison": "two", "cometbft/qa": "qa"}[request.param])
        return built
    options = [text for run in RUNS[request.param] for text in ("--run", ROOT / "golden" / run)]
    command = ("build", request.param, *options, "--date", "2026-11-21", "--to", "md")
    done = assay(*command, "-o", tmp_path / "out", "--cache", cache)
    assert done.status == 0, done.err
    return tmp_path / "out"


def test_cells_lead_to_samples(lab: Laboratory, folder: Path) -> None:
    listed = trace.cells_of(lab.session, folder)
    cells = [item for item in listed if item.of and item.prints not in (FACT, FILTER, WORDS)]
    step = 1 if is_deep() else max(1, len(cells) // CELLS)
    chosen = cells[turn() % step :: step]
    assert chosen
    for cell in chosen:
        result = trace.trace(lab.session, folder, cell.name)
        assert result.cell == cell
        assert result.runs
