"""Render facts: constants of the runs."""

from __future__ import annotations

from collections.abc import Sequence

from assay.lang.blocks.fact import Fact
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Constant
from assay.report.blocks.context import RenderContext, Rendered, renders
from assay.report.cell_links import facts as of_facts
from assay.report.document import Table
from assay.report.glossary import of_constant
from assay.report.run_results import RunFigures, fact, row_label


@renders(Fact, position=40)
def render(context: RenderContext, items: Sequence[Fact]) -> Rendered:
    """Render one table of all facts."""
    names, runs = [item.constant for item in items], context.runs
    table = facts(context.checked, names, [shown.run for shown in runs], [shown.label for shown in runs])
    return Rendered(tables=(table,))


def facts(checked: CheckedPackage, names: Sequence[str], runs: Sequence[RunFigures], named: Sequence[str]) -> Table:
    """Constants of the runs, a row each."""
    known = {item.name: item for source in checked.package.sources for item in source.constants}
    rows = tuple((_called(known[name]), *(fact(known[name], run.constants[name]) for run in runs)) for name in names)
    means = tuple(map(of_constant, names))
    leads = tuple(of_facts(means, [run.id for run in runs]))
    return Table("Facts", ("", *named), rows, of_rows=means, leads=leads)


def _called(constant: Constant) -> str:
    symbol = {"duration": "s", "instant": ""}.get(constant.type, constant.unit.symbol)
    return row_label(constant.doc, symbol)
