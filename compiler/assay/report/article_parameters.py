"""Build the table of run parameters of an article."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from assay.lang.blocks.fact import Fact
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.article import Article
from assay.report.cell_links import link_facts
from assay.report.document import Table
from assay.report.glossary import SINCE, UNTIL, get_constant_id
from assay.report.run_groups import are_article_runs_renamed
from assay.report.run_results import OWN_NAME, RunFigures, add_unit, format_constant, list_phase_rows


def build_article_manifest(
    checked: CheckedPackage,
    article: Article,
    columns: Sequence[RunFigures],
    run_labels: Sequence[str],
    source_names: Collection[str],
) -> Table:
    """Return the table of run parameters: constants of each run or phase, and the bounds of each phase.

    Constants are those of the sources that the article shows, or of all if `source_names` is empty.

    Leave out constants that blocks of facts show, those that no run has, and the label constant unless the user calls
    a run otherwise.
    """
    is_renamed = are_article_runs_renamed(article, columns)
    constants = {
        item.name: item
        for source in checked.package.sources
        for item in source.constants
        if source.name in source_names or not source_names or item.name == article.label
    }
    omitted_constants = {item.constant for part in article.parts for item in part.select(Fact)}
    omitted_constants |= set() if is_renamed else {article.label}
    rows_by_constant = {
        name: (
            OWN_NAME if name == article.label else add_unit(item.doc, item.unit.symbol),
            *(format_constant(item, run.constants[name]) for run in columns),
        )
        for name, item in constants.items()
        if item.type in ("integer", "real", "text", "boolean")
        and name not in omitted_constants
        and any(run.constants[name] not in ("", None) for run in columns)
    }
    phases = list_phase_rows(columns)
    entry_ids = (*map(get_constant_id, rows_by_constant), *((SINCE, UNTIL) if phases else ()))
    links = tuple(link_facts(entry_ids, [run.id for run in columns]))
    return Table(
        "Phases" if phases else "Runs",
        ("", *run_labels),
        (*rows_by_constant.values(), *phases),
        of_rows=entry_ids,
        leads=links,
    )
