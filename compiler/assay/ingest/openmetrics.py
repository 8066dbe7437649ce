"""OpenMetrics text with instants, such as `promtool tsdb dump-openmetrics` writes: a sample a line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from assay.ingest import lines, sample_store, tree
from assay.ingest.plain import mended
from assay.ingest.sample_store import add_samples, add_series, counted, drop, first_of, make, run
from assay.spec.diagnostics import fail
from assay.sql import dialect
from assay.sql.dialect import column

if TYPE_CHECKING:
    import duckdb

END = "# EOF"
LABEL = r'([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"((?:[^"\\]|\\.)*)"'
_LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*\s*=\s*"(?:[^"\\]|\\.)*"'
#: name, labels, value, seconds; an exemplar may follow
LINE = (
    r"^([a-zA-Z_:][a-zA-Z0-9_:]*)"
    rf"(?:\{{(\s*(?:{_LABEL}\s*(?:,\s*{_LABEL}\s*)*,?\s*)?)\}})?"
    r"[ \t]+([^ \t#]+)(?:[ \t]+([^ \t#]+))?[ \t]*(?:#.*)?$"
)
PARTS = ("name", "said", "value", "seconds")


def load(connection: duckdb.DuckDBPyConnection, path: Path, plain: Path, file: int, folder: Path) -> None:
    """Add the samples of a text, whose uncompressed content is `plain`; `folder` is for scratch.

    Raises AssayError when the text has no end.
    """
    import duckdb

    try:
        _scan(connection, plain)
    except duckdb.Error:
        try:
            _scan(connection, mended(plain, folder, f"{file}.mended"))
        except duckdb.Error as error:
            raise sample_store.unreadable(path, first_of(error)) from None
    _ends(connection, path)
    make(connection, "parsed", _parsed())
    make(connection, "said_series", _series())
    add_series(connection, file, tree.of(dialect.select("place", "name", "labels"), "said_series"))
    make(connection, "pairs", _pairs())
    add_samples(connection, file, "pairs")
    drop(connection, "written", "parsed", "said_series", "pairs")


def _scan(connection: duckdb.DuckDBPyConnection, plain: Path) -> None:
    """The table `written`: number and text of each line."""
    run(connection, exp.Drop(tables=[exp.to_table("written")], kind="TABLE", exists=True))
    query = tree.of(dialect.select(tree.named(counted(), "number"), "line"), lines.scan().subquery("l"))
    make(connection, "written", query, **lines.scanned([plain]))


def _blank() -> exp.Expr:
    return exp.EQ(this=tree.call("trim", column("line")), expression=tree.text(""))


def _ends(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """AssayError when the last line is not the one that a text must end with."""
    last = exp.ArgMax(this=column("line"), expression=column("number"))
    query = tree.of(dialect.select(last, exp.Max(this=column("number"))), "written")
    ((text, number),) = run(connection, query.where(exp.Not(this=_blank()), copy=False))
    if (text or "").rstrip() != END:
        raise fail(
            "broken-file",
            f"the OpenMetrics text has no end: {path}",
            expected=f"`{END}` as its last line",
            found=f"line {number}: {(text or '')[:80]}" if number else "nothing",
            hint="is the file cut off?",
        )


def _parsed() -> exp.Select:
    """The lines that are no comments: number, line, and the parts of a sample (empty where it is none)."""
    names = exp.Array(expressions=[tree.text(name) for name in PARTS])
    parts = tree.named(tree.call("regexp_extract", column("line"), tree.text(LINE), names), "parts")
    kept = exp.not_(exp.or_(tree.starts(column("line"), "#"), _blank()))
    rows = tree.of(dialect.select("number", "line", parts), "written").where(kept, copy=False)
    values = [
        tree.named(tree.call("struct_extract", column("parts"), tree.text(name)), name) for name in PARTS
    ]  # fmt: skip
    return tree.of(dialect.select("number", "line", *values), rows.subquery("r"))


def _series() -> exp.Select:
    """Each series as it is written: place, name, said, labels (none: a label stands twice)."""
    place = tree.named(counted(), "place")
    each = tree.of(dialect.select("name", "said"), "parsed").group_by("name", "said").subquery("g")
    names, values = (
        tree.call("regexp_extract_all", column("said"), tree.text(LABEL), dialect.integer(group)) for group in (1, 2)
    )
    labels = tree.tried(tree.call("map", names, dialect.transformed(values, "v", _unescaped(column("v")))))
    return tree.of(dialect.select(place, "name", "said", tree.named(labels, "labels")), each)


def _unescaped(value: exp.Expr) -> exp.Expr:
    """A label's value: escapes of OpenMetrics are those of JSON."""
    quoted = tree.call("concat", tree.text('"'), value, tree.text('"'))
    read = tree.tried(tree.call("json_extract_string", quoted, tree.text("$")))
    escaped = tree.call("contains", value.copy(), tree.text("\\"))
    return tree.when(escaped, tree.first_of([read, value.copy()]), value.copy())


def _pairs() -> exp.Select:
    """The samples: place, number (of the line), t_ns, value, text."""
    known = exp.and_(exp.NEQ(this=column("name"), expression=tree.text("")), tree.given(column("labels")))
    seconds = tree.when(known, column("seconds"))
    t_ns = tree.named(sample_store.instant(seconds), "t_ns")
    value = tree.named(tree.try_cast(column("value"), "DOUBLE"), "value")
    query = tree.of(dialect.select("place", "number", t_ns, value, tree.named(column("line"), "text")), "parsed")
    return query.join("said_series", using=["name", "said"], copy=False)
