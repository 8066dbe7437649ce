"""Read the samples of a metric, or the values of a series, from runs (`assay samples`)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from assay.app.compute.export_run import link_run_folders
from assay.app.compute.subject import FormulaSubject, MetricSubject, SampleRequest, SeriesSubject, find_subject
from assay.app.session.prepare import prepare
from assay.app.session.selection import EVERYTHING, Selection
from assay.app.session.session import Session
from assay.engine.connection import open_shared_cursor
from assay.engine.mount import list_raw_tables, resolve_scan_paths
from assay.lang.reserved_names import CONSTANTS
from assay.lineage.sample_query import VALUE
from assay.plan.planner import AppliedFilter
from assay.runs.model import NamedRun
from assay.sql import dialect
from assay.sql.codegen import Statement, build_standalone_query
from assay.sql.dialect import build_column
from assay.util.diagnostics import USAGE, fail

if TYPE_CHECKING:
    import duckdb

RUN = "run"
SAMPLES = "samples"


def read_samples(
    session: Session,
    name: str,
    runs: Sequence[NamedRun],
    selection: Selection = EVERYTHING,
) -> duckdb.DuckDBPyRelation:
    """Return the samples of a metric, or the values of a series, in runs: a row each, ordered by run and keys.

    The columns are `run`, the keys that identify a sample (instants as timestamps in UTC), and `value` in the unit of
    the metric. The filters are the selected ones, else those of the report that shows the metric. Raises AssayError.
    """
    subject = find_subject(session, name, selection.system)
    if isinstance(subject, FormulaSubject):
        raise fail("no-samples", f"`{subject.id}` is computed from other metrics, so it has no samples", status=USAGE,
                   hint=f"export those of {', '.join(f'`{item.id}`' for item in subject.inputs)}")  # fmt: skip
    applied_filters = subject.select_filters(selection.filters, selection.no_filters)
    queries = [
        f"(SELECT {_quote(run.id)} AS {RUN}, * FROM ({_compile_samples(session, subject, run, applied_filters)}))"
        for run in runs
    ]
    return open_shared_cursor().sql(" UNION ALL ".join(queries))


def _quote(text: str) -> str:
    return dialect.escape_statement(dialect.to_sql(exp.Literal.string(text)))


def _compile_samples(
    session: Session, subject: MetricSubject | SeriesSubject, run: NamedRun, applied_filters: Sequence[AppliedFilter]
) -> str:
    """Return the query of the samples in a run, which reads its ingested files."""
    compiled_plan = subject.compile(applied_filters)
    sample_query = subject.build_sample_query(SampleRequest(compiled_plan))
    keys = [
        exp.alias_(exp.func("make_timestamp_ns", build_column(name)), name)
        if name in sample_query.instants
        else build_column(name)
        for name in sample_query.keys
    ]
    numerator, denominator = map(dialect.build_integer, subject.factor.as_integer_ratio())
    product = exp.Mul(this=exp.cast(build_column(VALUE), "DOUBLE"), expression=numerator)
    value = exp.alias_(exp.Div(this=product, expression=denominator), VALUE)
    query = dialect.select(*keys, value).from_(sample_query.query.subquery(SAMPLES))
    query = query.order_by(*(build_column(name) for name in (*sample_query.keys, VALUE)))
    (ingested_run,) = prepare(session, subject.checked, [run], compiled_plan.plan.required_fields)
    statement = Statement("metric", SAMPLES, query)
    standalone = build_standalone_query((*compiled_plan.statements, statement), SAMPLES, list_raw_tables(), CONSTANTS)
    located = resolve_scan_paths(standalone, link_run_folders(session, ingested_run), is_confined=False)
    return dialect.escape_statement(dialect.to_sql(located))


def write_samples(samples: duckdb.DuckDBPyRelation, file: Path, form: str) -> None:
    """Write samples to a file as `csv`, `json` (an object a line) or `parquet`."""
    if form == "parquet":
        samples.write_parquet(str(file))
    elif form == "csv":
        samples.write_csv(str(file), header=True)
    else:
        samples.query(SAMPLES, f"COPY {SAMPLES} TO {_quote(str(file))} (FORMAT json)")
