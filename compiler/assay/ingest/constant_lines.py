"""Read constants of a run from lines of its text files."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sqlglot import exp

from assay.ingest import sql_trees
from assay.ingest.decompress import COMPRESSED
from assay.ingest.discovery import find_files
from assay.ingest.plain_copies import number_first_lines
from assay.lang.line_pattern import VALUE, parse_pattern
from assay.lang.model.package import Constant
from assay.sql import dialect
from assay.sql.dialect import build_column
from assay.util.diagnostics import Span, format_excerpt
from assay.util.numbers import parse_decimal

SEARCHED_LINES = 10_000  # of each file, from its beginning
LINES_PER_QUERY = 500
"""Lines that the engine matches at once; few, since each may have the maximal length."""


@dataclass(frozen=True, slots=True)
class ConstantLine:
    """The first line that matches the pattern of a constant, with the text of its value."""

    file: Path
    number: int
    line: str
    text: str

    def locate(self) -> tuple[Span, str]:
        """Return the position of the value, and an excerpt."""
        is_unique = self.line.count(self.text) == 1
        column, length = (self.line.index(self.text) + 1, len(self.text)) if is_unique else (1, len(self.line))
        lines = [*itertools.repeat("", self.number - 1), self.line]
        return Span(str(self.file), self.number, column, length), format_excerpt(lines, self.number, column, length)


def list_line_files(constant: Constant, directory: Path) -> list[Path]:
    """Return the files of a run in which the line of a constant is searched: by glob, then by name."""
    paths: dict[Path, None] = {}
    for glob in constant.files:
        matching = (path for end in ("", *COMPRESSED) for path in find_files(directory, glob + end))
        paths |= dict.fromkeys(sorted(matching))
    return list(paths)


def find_line(constant: Constant, directory: Path) -> ConstantLine | None:
    """Return the first line in the files of a run that matches the pattern of a constant, or None.

    Only the first `SEARCHED_LINES` of each file are searched. Raises AssayError if a file cannot be read.
    """
    import duckdb

    query = _build_query(constant)
    with duckdb.connect() as connection:
        for file in list_line_files(constant, directory):
            for numbers, lines in _iter_line_batches(file):
                if row := connection.execute(query, {"lines": lines}).fetchone():
                    return ConstantLine(file, numbers[row[0] - 1], lines[row[0] - 1], row[1])
    return None


def _iter_line_batches(file: Path) -> Iterator[tuple[list[int], list[str]]]:
    numbered_lines = number_first_lines(file, SEARCHED_LINES)
    while batch := list(itertools.islice(numbered_lines, LINES_PER_QUERY)):
        yield (
            [number for number, _ in batch],
            [line.decode("utf-8", errors="replace").rstrip(" \t\r") for _, line in batch],
        )


def _build_query(constant: Constant) -> str:
    """Return the query for number and value of the first matching line among those in the parameter `lines`."""
    expression = sql_trees.build_text(parse_pattern(constant.line).build_expression((VALUE,)))
    line = sql_trees.build_alias(exp.Explode(this=sql_trees.build_list_parameter("lines", "TEXT")), "line")
    number = sql_trees.call(
        "generate_subscripts", sql_trees.build_list_parameter("lines", "TEXT"), dialect.build_integer(1)
    )
    value = sql_trees.call("regexp_extract", build_column("line"), expression, dialect.build_integer(1))
    query = sql_trees.set_source(dialect.select("number", sql_trees.build_alias(value, "value")), "lines")
    query = query.where(sql_trees.call("regexp_matches", build_column("line"), expression.copy()))
    lines = dialect.select(sql_trees.build_alias(number, "number"), line)
    return dialect.to_sql(dialect.add_stages(query.order_by("number").limit(1), [("lines", lines)]))


def parse_text(constant: Constant, text: str) -> object:
    """Return the text of a value as a JSON document would have it; the text itself if it is not of the type."""
    if constant.type == "boolean":
        return {"true": True, "false": False}.get(text, text)
    if constant.type in ("integer", "real", "duration"):
        number = parse_decimal(text)
        return text if number is None else number
    return text
