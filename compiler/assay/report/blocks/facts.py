"""Render facts: tables of constants of the runs."""

from __future__ import annotations

from collections.abc import Sequence

from assay.lang.blocks.facts import Facts
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Constant
from assay.report.blocks.context import RenderContext, RenderedBlocks, register_renderer
from assay.report.cell_links import link_facts as link_facts
from assay.report.glossary import get_constant_id
from assay.report.run_results import RunFigures, add_unit, format_constant
from assay.report.tables import Table


@register_renderer(Facts)
def render(context: RenderContext, items: Sequence[Facts]) -> RenderedBlocks:
    """Render one table of the constants of all items."""
    names, runs = [name for item in items for name in item.constants], context.runs
    table = build_facts_table(
        context.checked, names, [shown_run.run for shown_run in runs], [shown_run.label for shown_run in runs]
    )
    return RenderedBlocks(tables=(table,) if table.rows else ())


def build_facts_table(
    checked: CheckedPackage, names: Sequence[str], runs: Sequence[RunFigures], run_labels: Sequence[str]
) -> Table:
    """Build a table of constants with a column for each run, without those that no run has."""
    constants_by_name = {item.name: item for source in checked.package.sources for item in source.constants}
    names = [name for name in names if any(run.constants[name] not in ("", None) for run in runs)]
    rows = tuple(
        (
            _label_constant(constants_by_name[name]),
            *(format_constant(constants_by_name[name], run.constants[name]) for run in runs),
        )
        for name in names
    )
    entry_ids = tuple(map(get_constant_id, names))
    links = tuple(link_facts(entry_ids, [run.id for run in runs]))
    return Table("Facts", ("", *run_labels), rows, of_rows=entry_ids, leads=links)


def _label_constant(constant: Constant) -> str:
    symbol = {"duration": "s", "instant": ""}.get(constant.type, constant.unit.symbol)
    return add_unit(constant.doc, symbol)
