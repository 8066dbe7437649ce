r"""Store samples of time series from files of any format in two tables of the engine.

`file_series` (file, place, name, labels, key) and `file_samples` (file, place, number, t_ns, value) have the content of
files: `place` numbers the series of a file, `number` its samples in order. From these, `series` (id, name, labels, key)
has each series once, and `samples` (series, t_ns, value, file, number) each of its samples once. `malformed_samples`
(file, number, reason, text) has the malformed ones.

With one thread, the engine preserves the order of rows, so `row_number() OVER ()` numbers them in this order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.util import numbers
from assay.util.diagnostics import AssayError, fail
from assay.util.time_units import SECOND

if TYPE_CHECKING:
    import duckdb

LABELS = "MAP(VARCHAR, VARCHAR)"
NAME = "__name__"
MAX_LISTED = 3  # items that an error names

#: the tables for the content of files, and macros for the values of samples:
#:
#: * `is_plain` is false for `_` and `+-`, both of which the engine accepts in numbers.
#: * `seconds_to_ns` returns a decimal text of seconds since 1970 in ns, without finer digits; null if it is not a
#:   number. The text is never a double, since doubles do not have enough digits.
#: * `text_to_double` returns the double of a text, NaN and infinities by their names; null if it is not a number. The
#:   cast alone would accept what is not plain, turn too large numbers into infinity, and ignore text after `nan`.
#: * `sort_labels` orders labels by name, without the name of the series and without empty labels, which do not count.
_PREPARATION = rf"""
CREATE TABLE file_series (file INTEGER, place BIGINT, name VARCHAR, labels {LABELS}, key VARCHAR);
CREATE TABLE file_samples (file INTEGER, place BIGINT, number BIGINT, t_ns BIGINT, value DOUBLE);
CREATE TABLE malformed_samples (file INTEGER, number BIGINT, reason VARCHAR, text VARCHAR);

CREATE MACRO is_plain(number) AS NOT contains(number, '_') AND NOT contains(number, '+-');

CREATE MACRO seconds_to_ns(seconds) AS CASE WHEN is_plain(seconds) THEN
    TRY_CAST(
        TRY_CAST(
            CASE WHEN strlen(seconds) - strpos(seconds, '.') > 9
                THEN regexp_replace(seconds, '^([-+]?[0-9]*\.[0-9]{{9}})[0-9]+$', '\1')
                ELSE seconds END
            AS DECIMAL(28, 9)
        ) * CAST(1000000000 AS DECIMAL(10, 0))
        AS BIGINT
    ) END;

CREATE MACRO text_to_double(number) AS CASE WHEN
    CASE WHEN isfinite(TRY_CAST(number AS DOUBLE)) THEN is_plain(number)
        ELSE regexp_full_match(number, '(?i)[-+]?(?:inf|infinity|nan)') END
    THEN TRY_CAST(number AS DOUBLE) END;

CREATE MACRO sort_labels(labels) AS
    map_from_entries(list_sort(list_filter(map_entries(labels), lambda e: e.key <> '{NAME}' AND e.value <> '')));
"""


def prepare(connection: duckdb.DuckDBPyConnection) -> None:
    """Create the tables for the content of files, and the macros that add it."""
    connection.execute(_PREPARATION)


def execute(connection: duckdb.DuckDBPyConnection, statement: str, **parameters: object) -> list[tuple[Any, ...]]:
    """Execute a statement; return its rows."""
    return connection.execute(statement, parameters or None).fetchall()


def drop_tables(connection: duckdb.DuckDBPyConnection, *names: str) -> None:
    """Drop tables."""
    for name in names:
        connection.execute(f"DROP TABLE {name}")


def count_rows(connection: duckdb.DuckDBPyConnection, table: str) -> int:
    """Return the number of rows of a table."""
    ((number,),) = execute(connection, f"SELECT count(*) FROM {table}")
    return int(number)


def add_series(connection: duckdb.DuckDBPyConnection, file: int, query: str) -> None:
    """Add the series of a file from a query of place, name, labels. Series without labels are left out."""
    execute(
        connection,
        f"""
        INSERT INTO file_series
        SELECT $file, place, name, labels, CAST(to_json(labels) AS VARCHAR)
        FROM (SELECT place, name, sort_labels(labels) AS labels FROM ({query}))
        WHERE labels IS NOT NULL
        """,
        file=file,
    )


def add_samples(connection: duckdb.DuckDBPyConnection, file: int, table: str, is_end: str = "FALSE") -> None:
    """Add the samples of a file from a table of place, number, t_ns, value, fault, text; note malformed ones.

    `fault` is why a row is not a sample, null if only its instant or its value may be invalid. If the condition
    `is_end` is true, a sample marks the end of its line and has no value.
    """
    is_valid = "t_ns IS NOT NULL AND value IS NOT NULL AND fault IS NULL"
    execute(
        connection,
        f"""
        INSERT INTO file_samples
        SELECT $file, place, number, t_ns, CASE WHEN NOT ({is_end}) THEN value END FROM {table} WHERE {is_valid}
        """,
        file=file,
    )
    execute(
        connection,
        f"""
        INSERT INTO malformed_samples
        SELECT
            $file,
            number,
            coalesce(fault, CASE WHEN t_ns IS NULL THEN 'no time, or a bad one' ELSE 'no value, or a bad one' END),
            coalesce(text, '')
        FROM {table}
        WHERE NOT ({is_valid})
        """,
        file=file,
    )


@dataclass(frozen=True, slots=True)
class MergeResult:
    """Number of samples, of duplicates that were dropped, and of series that were not in order."""

    samples: int
    dropped: int
    unordered: int

    @property
    def notes(self) -> tuple[str, ...]:
        """Return warnings about them."""
        sentences = []
        if self.unordered:
            sentences.append(f"samples of {self.unordered} series were out of order, and are sorted")
        if self.dropped:
            sentences.append(_format_dropped(self.dropped))
        return tuple(sentences)


def _format_dropped(number: int) -> str:
    if number == 1:
        return "1 sample has a duplicate with an equal value, and is counted once"
    return f"{numbers.format_count(number, 'sample')} have duplicates with equal values, and are counted once"


def merge(connection: duckdb.DuckDBPyConnection, names: Mapping[int, str]) -> MergeResult:
    """Create `series` and `samples` from the content of files; `names` are the names of the files.

    Raises AssayError if a series has two values at an instant: it is unknown which is right, and to drop both would
    change rates silently.
    """
    connection.execute(
        """
        CREATE TABLE series AS
        SELECT row_number() OVER (ORDER BY name, key) AS id, name, labels, key
        FROM (SELECT name, key, any_value(labels) AS labels FROM file_series GROUP BY name, key)
        """
    )
    connection.execute(
        """
        CREATE TABLE all_samples AS
        SELECT id AS series, t_ns, value, file, number
        FROM file_samples
        JOIN (SELECT file, place, id FROM file_series JOIN series USING (name, key)) USING (file, place)
        """
    )
    drop_tables(connection, "file_samples", "file_series")
    unordered = _count_unordered_series(connection)
    total = count_rows(connection, "all_samples")
    if not execute(connection, "SELECT 1 FROM all_samples GROUP BY series, t_ns HAVING count(*) > 1 LIMIT 1"):
        connection.execute("ALTER TABLE all_samples RENAME TO samples")
        return MergeResult(total, 0, unordered)
    _check_conflicts(connection, names)
    connection.execute(
        """
        CREATE TABLE samples AS
        SELECT
            series,
            t_ns,
            arg_min(value, row(file, number)) AS value,
            arg_min(file, row(file, number)) AS file,
            arg_min(number, row(file, number)) AS number
        FROM all_samples
        GROUP BY series, t_ns
        """
    )
    drop_tables(connection, "all_samples")
    unique = count_rows(connection, "samples")
    return MergeResult(unique, total - unique, unordered)


def _count_unordered_series(connection: duckdb.DuckDBPyConnection) -> int:
    """Return the number of series with samples that are not in order within a file."""
    ((number,),) = execute(
        connection,
        """
        SELECT count(DISTINCT series)
        FROM (
            SELECT series, t_ns, lag(t_ns) OVER (PARTITION BY series, file ORDER BY number) AS previous FROM all_samples
            WHERE number > 0 -- those of native histograms have none
        )
        WHERE t_ns < previous
        """,
    )
    return int(number)


def _check_conflicts(connection: duckdb.DuckDBPyConnection, names: Mapping[int, str]) -> None:
    """Check that samples of a series at one instant are equal. Raises AssayError."""
    # The end of a line has no value; it compares as NaN, greater than all numbers.
    rows = execute(
        connection,
        f"""
        SELECT name, key, t_ns, low, high, low_file, high_file, count(*) OVER ()
        FROM (
            SELECT
                series,
                t_ns,
                min(coalesce(value, 'NaN'::DOUBLE)) AS low,
                max(coalesce(value, 'NaN'::DOUBLE)) AS high,
                arg_min(file, coalesce(value, 'NaN'::DOUBLE)) AS low_file,
                arg_max(file, coalesce(value, 'NaN'::DOUBLE)) AS high_file
            FROM all_samples
            GROUP BY series, t_ns
            HAVING low <> high
        )
        JOIN series ON series = id
        ORDER BY name, key, t_ns
        LIMIT {MAX_LISTED}
        """,
    )
    if rows:
        number = rows[0][-1]
        instants = numbers.format_count(number, "instant of a series has", "instants of series have")
        raise fail(
            "samples-differ",
            f"{instants} two samples that differ",
            expected="one value of a series at an instant",
            notes=tuple(
                f"{name}{key} at {Decimal(t_ns) / SECOND} s: {low!r} in {names[low_file]}, "
                f"{high!r} in {names[high_file]}"
                for name, key, t_ns, low, high, low_file, high_file, _ in rows
            ),
            hint="are these samples of two servers, or of two runs?",
        )


def build_unreadable_error(path: Path, cause: str) -> AssayError:
    """Return the error for a file of samples that cannot be read."""
    hint = "is the file cut off, or still being written?"
    return fail("broken-file", f"the samples cannot be read: {path}", found=cause, hint=hint)


def get_first_line(error: Exception) -> str:
    """Return the first line of an error message of the engine."""
    return str(error).split("\n")[0]


def format_names(names: Sequence[str]) -> str:
    """Return the first names as text, and how many more there are."""
    return ", ".join(names[:MAX_LISTED]) + (f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else "")
