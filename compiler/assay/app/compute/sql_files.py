"""Write the SQL of a build to files, with headers that explain units and columns."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path

from assay.app.compute.computation import Computation
from assay.engine.graph import Node
from assay.engine.results import MEDIAN
from assay.lang import formula
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Metric
from assay.lang.model.vocabulary import Summary
from assay.lang.segments import name_file
from assay.sql import dialect
from assay.util.centiles import CENTILES
from assay.util.diagnostics import fail
from assay.util.escape import dump_escaped_json, escape_lines, escape_text
from assay.util.os_errors import is_below

#: The columns with values in the measured unit.
VALUES = "mean, stddev and centiles"


def add_header(checked: CheckedPackage, metric: Metric, text: str) -> str:
    """Return a metric's statement with comments above it that explain units and columns."""
    return "".join(f"-- {escape_text(line)}\n" for line in _iter_header_lines(checked, metric)) + text


def _iter_header_lines(checked: CheckedPackage, metric: Metric) -> Iterator[str]:
    unit = f" ({metric.unit.symbol})" if metric.unit.symbol else ""
    if formula.is_formula(metric):
        yield f"value is the average of {metric.id} in {metric.unit.name}{unit}; the other columns are the averages of"
        yield "the metrics that it is over, each in the unit of that one"
        return
    scale = checked.measured[metric.id]
    if scale.factor == 1:
        yield f"{VALUES} are in {metric.unit.name}{unit}, the unit of {metric.id}"
    else:
        yield f"{VALUES} are in {scale.unit}: times {scale.factor} they are in {metric.unit.name}{unit}, the unit of"
        yield f"{metric.id}"
    yield f"{len(CENTILES)} centiles: {CENTILES[0]} (the least), {CENTILES[1]}, ... {CENTILES[-1]} (the greatest)"
    places = (f"centiles[{number}]" for number in (MEDIAN + 1, 1, len(CENTILES)))
    yield from (_explain_rows if metric.per else _explain_one_row)(checked, metric, *places)


def _explain_one_row(
    _checked: CheckedPackage, _metric: Metric, median: str, least: str, greatest: str
) -> Iterator[str]:
    yield f"average = mean, median = {median}, min = {least}, max = {greatest}"


def _explain_rows(checked: CheckedPackage, metric: Metric, median: str, least: str, greatest: str) -> Iterator[str]:
    """Explain the figures of a metric with a distribution for each value of a column."""
    scope = "those n rows that have samples" if metric.sampled_only else "the n rows, with 0 where a row has no samples"
    yield f"a row for each {metric.per}; over {scope}:"
    yield "size = the sum of size"
    yield f"median = {median} of the row at place floor(n / 2) + 1 when they ascend by it"
    yield f"min = the least {least}, max = the greatest {greatest}"
    for summary in checked.package.summaries:
        yield (
            f"by summary {summary.name}: average = {_describe_average(summary)}, stddev = "
            f"{_describe_deviation(summary)}"
        )


def _describe_average(summary: Summary) -> str:
    return f"the average of the {summary.lowest} least mean" if summary.lowest else "the average of mean"


def _describe_deviation(summary: Summary) -> str:
    return "the greatest stddev" if summary.deviation == "greatest" else "the average of stddev"


HEAD = "-- `$name` stands for a constant of the run; constants.json has the values.\n"
PHASES = "phases"
ROWS = "rows"
TABLES = "tables"
#: The folder of each kind of statement.
FOLDERS = {
    "table": TABLES,
    "view": TABLES,
    "check": "checks",
    "rows": ROWS,
    "count": "completeness",
    "metric": "metrics",
}


def write_sql(folder: Path, computation: Computation) -> None:
    """Write `tables/NN-name.sql` in order of creation, `checks/`, `metrics/`, and the constants of each run.

    The statements of phases are in a folder of their own; the bounds of phases are among the constants.
    """
    write_texts(folder, render_sql_files(computation.graph))
    write_texts(folder / PHASES, render_sql_files(computation.phase_graph))
    constants = {run.ingested_run.run.id: dict(sorted(run.ingested_run.constants.items())) for run in computation.runs}
    for view in computation.views:
        bounds = view.phase.parameters if view.phase else {}
        constants[view.id] = dict(sorted({**view.ingested_run.constants, **bounds}.items()))
    text = dump_escaped_json(constants)
    folder.mkdir(parents=True, exist_ok=True)  # a report may have no statements
    (folder / "constants.json").write_text(text + "\n", encoding="utf-8")


def write_texts(folder: Path, texts: Mapping[str, str]) -> None:
    """Write texts to files of a folder. Raises AssayError if a name leads out of the folder."""
    created_folders: set[Path] = set()
    for name, text in texts.items():
        if not is_below(name):
            raise fail("sql-file", f"invalid name of an SQL file: `{name}`", expected="a path below its folder")
        path = folder / name
        if path.parent not in created_folders:
            path.parent.mkdir(parents=True, exist_ok=True)
            created_folders.add(path.parent)
        path.write_text(_escape_sql(text), encoding="utf-8")


@functools.lru_cache(maxsize=4096)  # `assay watch` writes the same texts again
def _escape_sql(text: str) -> str:
    return escape_lines(dialect.escape_statement(text))


def render_sql_files(graph: tuple[Node, ...]) -> Mapping[str, str]:
    """Return the text of every statement by file name; names of tables begin with their place among the tables."""
    texts: dict[str, str] = {}
    numbers = itertools.count(1)
    for name, text in render_statements(graph).items():
        folder, _, file = name.partition("/")
        texts[f"{folder}/{next(numbers):02}-{file}" if folder == TABLES else name] = text
    return texts


def render_statements(graph: tuple[Node, ...]) -> Mapping[str, str]:
    """Return the text of every statement by `get_sql_file_name`, in the order in which they run."""
    return {get_sql_file_name(node): f"{HEAD if node.placeholders else ''}{node.text};\n" for node in graph}


def get_sql_file_name(node: Node) -> str:
    """Return the file name of a statement, which says what it defines."""
    kind = node.statement.kind
    return get_file_name(FOLDERS[kind], node.name.removeprefix(f"{kind} "))


def get_file_name(folder: str, statement: str) -> str:
    """Return the file name of a statement in a folder."""
    return f"{folder}/{name_file(statement).replace(' ', '-')}.sql"
