"""Scan log files as whole lines."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from pathlib import Path

from sqlglot import exp

from assay.ingest import sql_trees
from assay.ingest.invalid_text import NO_CHARACTER
from assay.ingest.plain_copies import LONGEST
from assay.sql import dialect
from assay.sql.dialect import build_column


def build_scan_query(is_joined: bool = False) -> exp.Select:
    """Return the query for the lines of the files `$files` in order: index of the file, text.

    It fails for a file that is not UTF-8, mixes line ends, or has a line that is too long. If `is_joined`, the only
    file is from `plain_copies.join_small_files`.
    """
    columns = {"file": "SMALLINT", "line": "VARCHAR"} if is_joined else {"line": "VARCHAR"}
    options = {
        "columns": exp.Struct(
            expressions=[
                exp.PropertyEQ(this=exp.to_identifier(name), expression=exp.Literal.string(type_name))
                for name, type_name in columns.items()
            ]
        ),
        "delim": exp.Anonymous(this="chr", expressions=[dialect.build_integer(NO_CHARACTER)]),
        "quote": exp.Literal.string(""),
        "escape": exp.Literal.string(""),
        "header": exp.false(),
        "auto_detect": exp.false(),
        "compression": exp.Literal.string("none"),  # files are already decompressed, though their names may end in .gz
        "max_line_size": dialect.build_integer(LONGEST),
        "strict_mode": exp.true(),
    }
    pairs = [exp.EQ(this=build_column(name), expression=value) for name, value in options.items()]
    index = build_column("file") if is_joined else sql_trees.cast(build_column("file_index"), "SMALLINT")
    query = dialect.select(sql_trees.build_alias(index, "file"), "line")
    return sql_trees.set_source(query, exp.ReadCSV(this=exp.Placeholder(this="files"), expressions=pairs))


def build_aside_lines(view: str) -> exp.Select:
    """Return the query for the lines that the scanner set aside, with the columns of `build_scan_query`."""
    return sql_trees.set_source(dialect.select("file", sql_trees.build_alias(build_column("c1"), "line")), view)


def build_lines_without_nul(source: str) -> exp.Select:
    """Return the query for lines without NUL bytes before them; `padded` is true if there were some.

    NUL bytes occur if a log is truncated while a program writes it, or if a machine crashes.
    """
    line, nul = build_column("line"), sql_trees.call("chr", dialect.build_integer(0))
    padded = sql_trees.call("starts_with", line, nul)
    text = sql_trees.build_if(padded.copy(), sql_trees.call("ltrim", line.copy(), nul.copy()), line.copy())
    return sql_trees.set_source(
        dialect.select("file", sql_trees.build_alias(padded, "padded"), sql_trees.build_alias(text, "line")), source
    )


def list_scan_errors() -> tuple[type[Exception], ...]:
    """Return the errors with which a scan rejects the content of a file."""
    import duckdb

    return (
        duckdb.InvalidInputException,
        duckdb.ConversionException,
        duckdb.OutOfRangeException,
        duckdb.NotImplementedException,  # raised for a line that exceeds its buffers
        UnicodeDecodeError,  # raised if the message of one of these quotes a line up to the middle of a character
    )


def build_scan_parameters(files: Sequence[Path]) -> dict[str, object]:
    """Return the parameters of a scan."""
    return {"files": [glob.escape(str(path)) for path in files]}
