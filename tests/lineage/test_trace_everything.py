"""Everything printed can be traced: every metric and series by its SQL, cells of every report by its runs."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from sqlglot import exp

from assay.app.audit import trace
from assay.app.compute.subject import SampleRequest, Subject, list_subjects
from assay.engine.compiled_plan import compile_plan
from assay.engine.dry_run import run_on_empty_tables
from assay.engine.graph import build_nodes
from assay.lang.checked_package import CheckedPackage
from assay.lineage.row_provenance import add_provenance
from assay.lineage.sample_query import VALUE
from assay.plan.planner import AppliedFilter
from assay.report.cell_links import FACT, FILTER, WORDS
from assay.sql import dialect
from assay.sql.codegen import Statement
from tests.support.commands import run_assay
from tests.support.deep import get_turn, is_deep
from tests.support.laboratory import ROOT, Laboratory

RUNS = {
    "cardano/performance": ("cardano/baseline/run",),
    "antelope/endurance": ("cometbft/run",),
    "antelope/harness": ("antelope/harness",),
    "antelope/upgrade": ("antelope/upgrade/run",),
    "cardano/host-activity": ("cardano/list-ns/run",),
    "cometbft/published": ("cometbft/published/v034", "cometbft/published/v1"),
}
CELLS = 2  # cells of a report by default, or a few more: each takes about a second


def group_by_filters(checked: CheckedPackage) -> Iterator[tuple[tuple[AppliedFilter, ...], list[Subject]]]:
    """Yield metrics and series by the filters of their reports; formulas are traced by their inputs."""
    subjects_by_filters: dict[tuple[AppliedFilter, ...], list[Subject]] = {}
    for subject in list_subjects(checked):
        if not subject.formula_text:
            subjects_by_filters.setdefault(subject.select_filters((), False), []).append(subject)
    yield from subjects_by_filters.items()


def list_problems(
    checked: CheckedPackage, items: Sequence[Subject], applied_filters: tuple[AppliedFilter, ...], *, cut: bool
) -> list[str]:
    """Return the problems of the statements by which subjects are traced, on empty tables."""
    request = functools.reduce(operator.or_, (item.request for item in items))
    compiled = compile_plan(checked, request, applied_filters, cut=cut)
    statements = list(compiled.statements)
    all_samples = dialect.select()
    for number, item in enumerate(items):
        query = item.build_sample_query(SampleRequest(compiled))
        statements.append(Statement("table", f"samples_{number}", query.query))
        all_samples = all_samples.select(
            exp.alias_(dialect.build_column(VALUE, f"samples_{number}"), f"value_{number}")
        )
        table = dialect.build_table(f"samples_{number}")
        all_samples = all_samples.join(table, join_type="cross") if number else all_samples.from_(table)
    traced_statements = add_provenance(statements, all_samples, [f"value_{number}" for number in range(len(items))])
    constants = [constant for source in checked.package.sources for constant in source.constants]
    diagnostics = run_on_empty_tables(
        build_nodes([*traced_statements.statements, Statement("table", "samples", traced_statements.query)]), constants
    )
    return [item.message for item in diagnostics if item.code == "sql"]  # relations yield more columns on purpose


@pytest.mark.parametrize("system", ["antelope", "cardano", "cometbft"])
def test_trace_query_of_every_metric_is_valid(lab: Laboratory, system: str) -> None:
    checked = lab.session.load_package(system)
    phases = any(report.phases for report in checked.package.reports)
    count = 0
    for applied_filters, items in group_by_filters(checked):
        count += len(items)
        for cut in (False, True) if phases else (False,):
            assert list_problems(checked, items, applied_filters, cut=cut) == []
    assert count > 30


def test_no_report_over_runs_is_forgotten(lab: Laboratory) -> None:
    systems = {name: lab.session.load_package(name).package for name in lab.session.workspace.list_systems()}
    reports = {f"{name}/{item.name}" for name, package in systems.items() for item in package.reports_over_runs}
    # The parts of the report on testnets are those of `cometbft/qa`, those on workloads of `cardano/comparison`.
    others = {"cardano/host-timelines", "cardano/workloads", "cometbft/testnets"}
    assert {"cardano/comparison", "cometbft/qa", *RUNS} | others == reports


@pytest.fixture(params=["cardano/comparison", "cometbft/qa", *RUNS])
def folder(request: pytest.FixtureRequest, tmp_path: Path, cache: Path) -> Path:
    """Return a folder with a built report."""
    if request.param not in RUNS:
        build_folder: Path = request.getfixturevalue({"cardano/comparison": "two", "cometbft/qa": "qa"}[request.param])
        return build_folder
    options = [text for run in RUNS[request.param] for text in ("--run", ROOT / "golden" / run)]
    command = ("build", request.param, *options, "--date", "2026-11-21", "--to", "md")
    result = run_assay(*command, "-o", tmp_path / "out", "--cache", cache)
    assert result.status == 0, result.err
    return tmp_path / "out"


def test_cells_lead_to_samples(lab: Laboratory, folder: Path) -> None:
    listed_cells = trace.list_cells(lab.session, folder)
    cells = [item for item in listed_cells if item.sources and item.prints not in (FACT, FILTER, WORDS)]
    step = 1 if is_deep() else max(1, len(cells) // CELLS)
    chosen_cells = cells[get_turn() % step :: step]
    assert chosen_cells
    for cell in chosen_cells:
        result = trace.trace_cell(lab.session, folder, cell.name)
        assert result.cell == cell
        assert result.runs
