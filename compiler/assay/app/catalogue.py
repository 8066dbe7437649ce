"""`assay catalogue`: all that specs say, as a folder of linked pages that asks nothing of a network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.app import filters
from assay.app.catalogue_history import Histories, histories
from assay.app.catalogue_site import Page, Site, write
from assay.app.catalogue_things import things
from assay.app.catalogue_values import Printed, golden_documents, printed
from assay.app.check_and_query import all_systems, report_of, standing_alone
from assay.app.compute import compiled
from assay.app.explain import describe
from assay.app.explain_view import describe_headings
from assay.app.lineage import planned
from assay.app.outputs import refuse_sources, replacing
from assay.app.session import Session
from assay.app.sql_head import headed
from assay.explain.facts import Facts
from assay.lang.model.package import Metric, Series
from assay.lang.model.report import Report
from assay.lang.normal_form import CheckedPackage
from assay.lineage.diagram import Picture, picture
from assay.lineage.metric_lineage import ROLES
from assay.lineage.tree import tree
from assay.provenance.read import NAME
from assay.sql import dialect
from assay.sql.codegen import Statement
from assay.util.diagnostics import USAGE, AssayError, fail

TREE = 140  # columns of a line of the lineage as text


@dataclass(frozen=True, slots=True)
class Entry:
    """All that the page of a metric or series shows."""

    facts: Facts
    symbol: str
    said: tuple[tuple[str, tuple[str, ...]], ...]
    sql: str
    no_sql: str
    direct: Picture
    whole: Picture
    tree: str
    history: Histories
    printed: tuple[Printed, ...]


def catalogue(session: Session, out: Path, system: str | None = None) -> Path:
    """Write the catalogue of a workspace, or of one system of it, into a folder; returns its first page.

    Raises AssayError: those of specs, `output` when the folder cannot be written, or holds a built report or a run.
    """
    refuse_sources(session, out)
    if (out / NAME).is_file():
        raise fail("output", f"the folder holds a built report: {out}", hint="choose another folder with -o")
    names = all_systems(session, system)
    packages = [session.package(name) for name in session.workspace.systems()]
    _refuse_run(out, packages)
    values = printed(golden_documents(session.workspace.root), packages)
    pages: list[Page] = []
    found = [session.package(name) for name in names]
    for checked in found:
        pages += _pages(session, checked, values)
    with replacing(out, session.waits_for(out)) as fresh:
        write(Site(tuple(checked.package for checked in found), tuple(pages)), fresh)
    return out / "index.html"


def _refuse_run(out: Path, packages: Sequence[CheckedPackage]) -> None:
    """AssayError `output` (usage) for a folder with documents of a run, whose pages would be taken for its hosts'."""
    told = (item for checked in packages for source in checked.package.sources for item in source.constants)
    for name in dict.fromkeys(name for item in told for name in item.files):
        if (out / name).is_file():
            hint = "choose another folder with -o"
            raise fail("output", f"the output folder is a run, it holds {name}: {out}", hint=hint, status=USAGE)


def _pages(
    session: Session, checked: CheckedPackage, values: Mapping[tuple[str, str], Sequence[Printed]]
) -> list[Page]:
    package = checked.package
    system, history = package.system, histories(session.workspace, checked)
    items: tuple[Metric | Series, ...] = (*package.metrics, *package.series)
    pages, facts = [], {}
    for done, item in enumerate(items):
        session.progress(f"catalogue of {system}", done, len(items))
        entry = _entry(checked, item, history, values.get((system, _id(item)), ()))
        kind = "metrics" if isinstance(item, Metric) else "series"
        facts[kind, _id(item)] = entry.facts
        pages.append(
            Page(system, kind, _id(item), entry.facts.label, item.doc, "metric.html.j2", {"entry": entry, "item": item})
        )
    for thing in things(checked, facts):
        pages.append(Page(system, thing.kind, thing.name, thing.title, thing.doc, "thing.html.j2", {"thing": thing}))
    return pages


def _id(item: Metric | Series) -> str:
    return item.id if isinstance(item, Metric) else item.name


def _entry(checked: CheckedPackage, item: Metric | Series, history: Histories, values: Sequence[Printed]) -> Entry:
    package = checked.package
    report = report_of(package, item) if isinstance(item, Metric) else None
    applied = filters.applied(package, report, (), False) if isinstance(item, Metric) else ()
    statements = compiled(checked, planned(checked, item, applied))
    explained, traced = describe(checked, item, report, applied, statements)
    sql, no_sql = _sql(checked, item, report, statements)
    cells = traced.cells
    return Entry(
        explained.facts,
        item.unit.symbol,
        tuple((head, tuple(texts)) for head, texts in describe_headings(explained) if texts),
        sql,
        no_sql,
        picture(traced.found, package, cells),
        picture(traced.found, package, cells, ROLES),
        "\n".join(tree(traced.found, package, traced.titles, traced.filterable, TREE)),
        history,
        tuple(values),
    )


def _sql(
    checked: CheckedPackage, item: Metric | Series, report: Report | None, statements: Sequence[Statement]
) -> tuple[str, str]:
    """The SQL of a metric as one statement, or why there is none."""
    if isinstance(item, Series):
        return "", "A series is worked out beside the samples that it reads; it has no statement that stands alone."
    try:
        text = dialect.text(standing_alone(checked, item, report, statements)) + ";"
        return headed(checked, item, text), ""
    except AssayError as error:
        return "", error.diagnostics[0].message
