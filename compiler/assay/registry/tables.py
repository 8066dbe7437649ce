"""Recorded results as tables: Parquet, CSV, JSON and OpenMetrics text.

A row is a metric in a run, or in a group of a run: for one value of `column`, such as a host. Numbers are in the unit
of the metric, unrounded, and null without samples.
"""

from __future__ import annotations

import csv
import errno
import io
import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.lang.segments import get_whole
from assay.registry.history import find_day
from assay.registry.model import NUMBERS_BY_TEXT, Figures, Group, RecordedResults, RegisteredRun
from assay.util.os_errors import build_write_error

if TYPE_CHECKING:
    import duckdb

Row = dict[str, Any]
NO_BREAKS: Mapping[str, Mapping[str, Sequence[str]]] = {}
NO_SHIFTS: Mapping[tuple[str, str], Row] = {}

#: Columns of the tables with their types in Parquet.
COLUMNS = {
    "run": "VARCHAR",
    "version": "VARCHAR",
    "day": "DATE",
    "system": "VARCHAR",
    "report": "VARCHAR",
    "metric": "VARCHAR",
    "name": "VARCHAR",
    "unit": "VARCHAR",
    "definition": "VARCHAR",
    "summary": "VARCHAR",
    "filters": "VARCHAR[]",
    "column": "VARCHAR",
    "group": "VARCHAR",
    "size": "BIGINT",
    "average": "DOUBLE",
    "median": "DOUBLE",
    "stddev": "DOUBLE",
    "min": "DOUBLE",
    "max": "DOUBLE",
    "p95": "DOUBLE",
    "p99": "DOUBLE",
    "centiles": "STRUCT(centile DOUBLE, value DOUBLE)[]",
    "assay": "VARCHAR",
    "data": "VARCHAR",
    "id": "VARCHAR",
    "tags": "VARCHAR[]",
    "commit": "VARCHAR",
    "since_break": "DATE",
    "shift": "VARCHAR",
    "shift_percent": "DOUBLE",
    "shift_low": "DOUBLE",
    "shift_high": "DOUBLE",
    "shift_state": "VARCHAR",
    "state": "VARCHAR",
}
#: Those of the level shift that begins with the run, and of the metric after its last run.
OF_SHIFTS = ("shift", "shift_percent", "shift_low", "shift_high", "shift_state", "state")
#: Those of the registered run, of the specs and of other runs, which may change: no file of results has them.
VARIABLE = ("tags", "commit", "since_break", *OF_SHIFTS)
STATISTICS = ("average", "median", "stddev", "min", "max")
#: Gauges of OpenMetrics text: name, column, what it is.
GAUGES = (
    ("assay_average", "average", "Average of a metric in a run, in its unit, by the summary of the report."),
    ("assay_median", "median", "Median of the samples of a metric in a run."),
    ("assay_p95", "p95", "95th percentile of the samples of a metric in a run."),
    ("assay_p99", "p99", "99th percentile of the samples of a metric in a run."),
    ("assay_min", "min", "Least sample of a metric in a run."),
    ("assay_max", "max", "Greatest sample of a metric in a run."),
    ("assay_stddev", "stddev", "Standard deviation of the samples of a metric in a run."),
    ("assay_samples", "size", "Number of samples of a metric in a run."),
)
#: Gauges of a metric after its last run, and of a level shift, with labels of their own.
SHIFT_GAUGES = (
    ("assay_shift_percent", "shift_percent", "Change in percent at the level shift that begins with a run."),
    ("assay_shift_low", "shift_low", "Lower end of the 95 % interval of the change at a level shift, in percent."),
    ("assay_shift_high", "shift_high", "Upper end of the 95 % interval of the change at a level shift, in percent."),
)
STATE_GAUGE = "assay_state"
LABELS = ("run", "version", "day", "report", "metric", "unit", "summary", "filters", "definition", "column", "group",
          "tags", "commit", "id", "since_break")  # fmt: skip


def build_rows(
    recorded: Iterable[RecordedResults],
    runs: Iterable[RegisteredRun] = (),
    breaks: Mapping[str, Mapping[str, Sequence[str]]] = NO_BREAKS,
    shifts: Mapping[tuple[str, str], Row] = NO_SHIFTS,
) -> Iterator[Row]:
    """Yield the rows of recorded results, in their order, with the members of `COLUMNS`.

    The day of a registered run counts rather than that of its last record. `breaks` are days, by system and metric,
    `shifts` members of rows, by the id of results and metric.
    """
    runs_by_name = {run.name: run for run in runs}
    for results in recorded:
        run = runs_by_name.get(results.name)
        run_day = find_day(results, runs_by_name)
        registered = {
            "day": run_day or None,
            "tags": list(run.tags) if run else [],
            "commit": run.commit or None if run else None,
        }
        for metric, figures in sorted(results.content.metrics.items()):
            days = breaks.get(results.system, {}).get(get_whole(metric), ())
            since = max((day for day in days if day <= run_day), default=None)
            for group in (None, *figures.groups):
                of_shifts = shifts.get((results.id, metric), {}) if group is None else {}
                row = {**_build_row(results, metric, figures, group), **registered, "since_break": since}
                yield {**row, **dict.fromkeys(OF_SHIFTS), **of_shifts}


def _build_row(results: RecordedResults, metric: str, figures: Figures, group: Group | None) -> Row:
    content, source = results.content, group or figures
    pairs = source.quantiles if isinstance(source, Group) else source.centiles
    row = {
        "run": content.run,
        "version": content.version or None,
        "day": content.day or None,
        "system": results.system,
        "report": content.report,
        "metric": metric,
        "name": figures.name,
        "unit": figures.unit,
        "definition": figures.definition,
        "summary": content.summary,
        "filters": list(content.filters),
        "column": content.column if group else None,
        "group": group.name if group else None,
        **build_statistics(source.size, {name: getattr(source, name) for name in STATISTICS}, pairs),
        "assay": content.assay,
        "data": content.data,
        "id": results.id,
    }
    assert row.keys() == COLUMNS.keys() - VARIABLE
    return row


def build_statistics(
    size: int | None, numbers: Mapping[str, float | str | None], pairs: Iterable[Sequence[float | str]]
) -> Row:
    """Return the statistics of a row: `numbers` and centiles (`pairs` of share and value), none without samples."""
    has_samples = size != 0
    values = {float(pair[0]): _read_number(pair[1]) for pair in pairs} if has_samples else {}
    return {
        "size": size,
        **{name: _read_number(numbers.get(name)) if has_samples else None for name in STATISTICS},
        "p95": values.get(0.95),
        "p99": values.get(0.99),
        "centiles": [{"centile": share, "value": value} for share, value in values.items()],
    }


def _read_number(value: float | str | None) -> float | None:
    return NUMBERS_BY_TEXT[value] if isinstance(value, str) else value


def _encode_number(value: Any) -> Any:
    """Return a value for JSON; numbers that are not finite become texts."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {key: _encode_number(item) for key, item in value.items()}
    return [_encode_number(item) for item in value] if isinstance(value, list) else value


def write_parquet(rows: Iterable[Row], file: Path, excluded: Collection[str] = ()) -> None:
    """Write rows of results as Parquet without some columns; the bytes depend on these and the version of DuckDB only.

    Raises OSError.
    """
    import duckdb

    try:
        relation = load_relation(rows)
        columns = [duckdb.ColumnExpression(name) for name in relation.columns if name not in excluded]
        relation.select(*columns).write_parquet(str(file), compression="zstd")
    except duckdb.IOException as error:
        raise OSError(errno.EIO, str(error), str(file)) from None


def write_table_file(rows: Iterable[Row], form: str, file: Path) -> None:
    """Write rows of results to a file as `csv`, `json`, `openmetrics` or `parquet`. Raises AssayError `output`."""
    try:
        if form == "parquet":
            write_parquet(rows, file)
        else:
            file.write_text(format_table(rows, form), encoding="utf-8")
    except OSError as error:
        raise build_write_error("output", "file", file, error, "choose another file with -o") from None


def find_centile(figures: Figures | Group, share: float) -> float | None:
    """Return the sample at a centile; None without samples, and for a formula."""
    pairs = figures.quantiles if isinstance(figures, Group) else figures.centiles
    return next((_read_number(pair[1]) for pair in pairs if pair[0] == share and figures.size != 0), None)


def load_relation(rows: Iterable[Row]) -> duckdb.DuckDBPyRelation:
    """Return rows of results as a relation of DuckDB."""
    from assay.engine.connection import open_shared_cursor

    kinds = json.dumps([COLUMNS]).replace('"STRUCT(centile DOUBLE, value DOUBLE)[]"',
                                          '[{"centile": "DOUBLE", "value": "DOUBLE"}]')  # fmt: skip
    kinds = kinds.replace('"VARCHAR[]"', '["VARCHAR"]')
    text = json.dumps([_encode_number(row) for row in rows])
    statement = "SELECT unnest(from_json($rows, $kinds), max_depth := 2)"
    return open_shared_cursor().sql(statement, params={"rows": text, "kinds": kinds})


def format_table(rows: Iterable[Row], form: str) -> str:
    """Return rows of results as `csv`, `json` or `openmetrics`."""
    rows = list(rows)
    if form == "openmetrics":
        return format_openmetrics(rows)
    if form == "json":
        return "[\n" + ",\n".join(json.dumps(_encode_number(row)) for row in rows) + "\n]\n"
    return format_csv(rows)


def format_csv(rows: Sequence[Row]) -> str:
    """Return rows as CSV, without the lists of centiles; a row has its filters as one text."""
    names = [name for name in COLUMNS if name != "centiles"]
    out = io.StringIO()
    writer = csv.DictWriter(out, names, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows({**row, **{name: ", ".join(row[name] or ()) for name in ("filters", "tags")}} for row in rows)
    return out.getvalue()


def format_openmetrics(rows: Sequence[Row]) -> str:
    """Return rows as OpenMetrics text, which is Prometheus text, too: a gauge for each statistic, no timestamps.

    The metric is a label, since ids of metrics are no names of OpenMetrics.
    """
    lines = []
    for name, column, text in GAUGES:
        lines += [f"# HELP {name} {text}", f"# TYPE {name} gauge"]
        lines += [f"{name}{{{_format_labels(row)}}} {_format_number(row[column])}"
                  for row in rows if row[column] is not None]  # fmt: skip
    for name, column, text in SHIFT_GAUGES:
        labels = (*LABELS, "shift", "shift_state")
        samples = [f"{name}{{{_format_labels(row, labels)}}} {_format_number(row[column])}"
                   for row in rows if row.get(column) is not None]  # fmt: skip
        lines += [f"# HELP {name} {text}", f"# TYPE {name} gauge", *samples] if samples else []
    states = [f"{STATE_GAUGE}{{{_format_labels(row, ('system', 'metric', 'name', 'state'))}}} 1"
              for row in rows if row.get("state")]  # fmt: skip
    text = "1 with the state of a metric after its last run."
    lines += [f"# HELP {STATE_GAUGE} {text}", f"# TYPE {STATE_GAUGE} gauge", *states] if states else []
    return "\n".join([*lines, "# EOF\n"])


def _format_labels(row: Row, labels: Sequence[str] = LABELS) -> str:
    texts = {label: ", ".join(value) if isinstance(value := row[label], list) else value for label in labels}
    return ",".join(f'{label}="{_escape_label(str(text))}"' for label, text in texts.items() if text)


def _escape_label(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _format_number(value: float) -> str:
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
    return repr(value)
