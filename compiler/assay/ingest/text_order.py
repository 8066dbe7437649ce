"""What orders the files of a text log: the instant of the first line of each that has one."""

from __future__ import annotations

from pathlib import Path

from sqlglot import exp

from assay.ingest import instants, tree
from assay.ingest.plain import first_lines
from assay.spec.line_pattern import parse
from assay.spec.model import Source
from assay.sql import dialect
from assay.sql.dialect import column

LONGEST = 4096  # characters of a line that are looked at


def first_instant(source: Source, path: Path, count: int) -> str:
    """The instant as a text that sorts by time, out of so many lines at most; empty when none of them has one."""
    import duckdb

    lines = [line.decode("utf-8", errors="replace").rstrip()[:LONGEST] for line in first_lines(path, count)]
    with duckdb.connect() as connection:
        text = _query(source).sql(dialect=dialect.DIALECT)
        found = [t_ns for (t_ns,) in connection.execute(text, {"lines": lines}).fetchall()]
    first = next((t_ns for t_ns in found if t_ns is not None), None)
    return "" if first is None else f"{first + 2**64:021d}"


def _query(source: Source) -> exp.Select:
    """The instants of the lines `$lines`, in order; null for a line without one."""
    layout = parse(source.line)
    line = tree.named(exp.Explode(this=tree.given_list("lines", "TEXT")), "line")
    number = tree.named(
        tree.call("generate_subscripts", tree.given_list("lines", "TEXT"), dialect.integer(1)), "number"
    )
    said = tree.call(
        "regexp_extract", column("line"), tree.text(layout.expression((source.time[0],))), dialect.integer(1)
    )
    stages = [
        ("lines", dialect.select(number, line)),
        ("said", tree.of(dialect.select("number", tree.named(said, "said")), "lines")),
        (
            "parted",
            tree.of(dialect.select("number", tree.named(instants.taken(source, column("said")), "moment")), "said"),
        ),
    ]
    query = tree.of(dialect.select(tree.named(instants.instant(source, column("moment")), "t_ns")), "parted")
    return dialect.staged(query.order_by("number"), stages)
