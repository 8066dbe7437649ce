"""Write the rows behind the points of figures as Parquet beside `results.json`, which names the files."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from assay.app.compute.computation import Computation
from assay.engine.connection import open_shared_cursor
from assay.engine.point_rows import DECIMAL, PointRows
from assay.ingest import sql_trees
from assay.ingest.small_tables import build_create_statement
from assay.lang.checked_package import CheckedPackage
from assay.plan.request import RowRequest
from assay.report.blocks.scatter import format_file_name
from assay.sql import dialect
from assay.sql.template import fill_expression

if TYPE_CHECKING:
    import duckdb

    from assay.report.blocks.rows import Row

#: the folder of the files in that of a build
FOLDER = "rows"
#: rows that are handed to the engine at a time
BATCH = 5000
MAX_INTEGER = 2**63 - 1
TABLE = "points"

PointFiles = Mapping[tuple[str, str], str]
"""Id of a run and name of a statement -> the file in the folder of the report."""


def name_point_files(computation: Computation) -> PointFiles:
    """Return a file for each statement of a run whose rows are points: `rows/RUN/STATEMENT.parquet`."""
    folders = _list_folder_names([run.ingested_run.run.id for run in computation.runs])
    return {
        (run.ingested_run.run.id, name): f"{FOLDER}/{folder}/{name.removeprefix('rows ').replace(' ', '-')}.parquet"
        for run, folder in zip(computation.runs, folders, strict=True)
        for name in sorted(computation.compiled_plan.plan.point_names)
        if name in run.results.rows
    }


def _list_folder_names(run_ids: Sequence[str]) -> Iterator[str]:
    """Yield a name for the folder of each run; names that are equal without the characters of paths get numbers."""
    used_names: set[str] = set()
    for run_id in run_ids:
        name = format_file_name(run_id).lstrip(".") or "run"
        names = itertools.chain([name], (f"{name}-{number}" for number in itertools.count(2)))
        unique_name = next(item for item in names if item.casefold() not in used_names)
        used_names.add(unique_name.casefold())
        yield unique_name


def write_point_files(folder: Path, computation: Computation) -> None:
    """Write the files of `name_point_files` into the folder of a report, and those of listings as CSV, too."""
    requests = {item.name: item for item in computation.compiled_plan.plan.row_requests}
    rows_by_run = {run.ingested_run.run.id: run.results.rows for run in computation.runs}
    for (run_id, name), file in name_point_files(computation).items():
        rows = rows_by_run[run_id][name]
        target = folder / file
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(rows, PointRows):
            shutil.copyfile(rows.file, target)
        else:  # formulas on rows are not computed by the engine
            with open_shared_cursor() as connection:
                write_rows(connection, target, requests[name].columns, rows)
        if name in requests and requests[name].listing:
            _write_csv(target, requests[name], computation.compiled_plan.checked)


def _write_csv(file: Path, request: RowRequest, checked: CheckedPackage) -> None:
    """Write the rows of a Parquet file beside it as CSV, with values in the units of their metrics."""
    factors = {metric.id: checked.measured[metric.id].factor for metric in request.metrics}
    columns = [
        fill_expression(
            f"$column::DOUBLE * {factors[name].numerator} / {factors[name].denominator}",
            column=dialect.build_column(name),
        )
        if factors.get(name, 1) != 1
        else dialect.build_column(name)
        for name in request.columns
    ]
    named_columns = [
        exp.alias_(column, name, quoted=True) for column, name in zip(columns, request.columns, strict=True)
    ]
    query = dialect.select(*named_columns).from_(dialect.build_scan(str(file.absolute())))
    with open_shared_cursor() as connection:
        connection.execute(dialect.build_copy_to_csv(str(file.with_suffix(".csv").absolute()), query))


def write_rows(connection: duckdb.DuckDBPyConnection, target: Path, names: Sequence[str], rows: Sequence[Row]) -> None:
    """Write rows of numbers, texts and truth values as Parquet; a column without values is one of texts."""
    types = {f"c{index}": _choose_type([row[name] for row in rows]) for index, name in enumerate(names)}
    connection.execute(build_create_statement(TABLE, types))
    lists = [exp.Explode(this=sql_trees.build_list_parameter(name, kind)) for name, kind in types.items()]
    insertion = exp.Insert(this=exp.to_table(TABLE), expression=dialect.select(*lists)).sql(dialect=dialect.DIALECT)
    for start in range(0, len(rows), BATCH):
        batch = rows[start : start + BATCH]
        connection.execute(insertion, {f"c{index}": [row[name] for row in batch] for index, name in enumerate(names)})
    columns = [exp.alias_(exp.column(f"c{index}"), name, quoted=True) for index, name in enumerate(names)]
    connection.execute(dialect.build_copy_to(str(target.absolute()), dialect.select(*columns).from_(TABLE)))
    connection.execute(f"DROP TABLE {TABLE}")


def _choose_type(values: Sequence[Any]) -> str:
    """Return the type of a column of Parquet that holds some values."""
    present_values = [value for value in values if value is not None]
    kinds = {type(value) for value in present_values}
    if kinds == {bool}:
        return "BOOLEAN"
    if kinds == {int}:
        return "BIGINT" if all(abs(value) <= MAX_INTEGER for value in present_values) else DECIMAL
    return "DOUBLE" if kinds and kinds <= {int, float} else "VARCHAR"
