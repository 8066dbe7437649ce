"""Texts of samples with instants, a sample a line.

OpenMetrics text, such as `promtool tsdb dump-openmetrics` writes, has seconds, and ends in `# EOF`.  Texts without that
end have milliseconds: Prometheus's own exposition format, as its `/federate` shows it, and what `promtool tsdb dump`
writes, where the name of a series stands among its labels.  Instants tell them from OpenMetrics that is cut off.  Names
of any characters are quoted: that of a series stands then in the braces, and has no value there.

A server marks the end of a line by a sample that is a NaN of its own.  Dumps have it as `NaN`, as one that was
measured: there it is a sample without a value.  What federates shows no such marks.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from assay.ingest import lines, sample_store, strange, strange_sql, tree
from assay.ingest.plain import TOO_LONG, may_scan, mended
from assay.ingest.sample_store import NAME, add_samples, add_series, counted, drop, first_of, make, run
from assay.spec.diagnostics import fail
from assay.spec.file_errors import is_full
from assay.sql import dialect
from assay.sql.dialect import column

if TYPE_CHECKING:
    import duckdb

END = "# EOF"
#: whole milliseconds since 1970: fewer digits are seconds of a text that is cut off
MILLISECONDS = "^[0-9]{12,16}$"
#: a label: name, quoted name, equals sign, value; or the quoted name of the series, which has none of the last two
LABEL = r'(?:([a-zA-Z_][a-zA-Z0-9_]*)|"((?:[^"\\]|\\.)*)")(?:\s*(=)\s*"((?:[^"\\]|\\.)*)")?'
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_LABEL = rf"(?:[a-zA-Z_][a-zA-Z0-9_]*\s*=\s*{_QUOTED}|{_QUOTED}(?:\s*=\s*{_QUOTED})?)"
#: how a text begins whose first sample has a quoted name; in a JSON object a colon follows it
BEGINS = rf"\{{\s*{_QUOTED}\s*[,=}}]"
#: name, labels, value, seconds; an exemplar may follow
LINE = (
    r"^([a-zA-Z_:][a-zA-Z0-9_:]*)?"
    rf"(?:\{{(\s*(?:{_LABEL}\s*(?:,\s*{_LABEL}\s*)*,?\s*)?)\}})?"
    r"[ \t]+([^ \t#]+)(?:[ \t]+([^ \t#]+))?[ \t]*(?:#.*)?$"
)
PARTS = ("name", "said", "value", "seconds")
UNREAD = "no sample: expected a name, labels, a value and an instant"
DOUBLED = "a label, or the name, stands twice"
UNNAMED = "no name"


def load(connection: duckdb.DuckDBPyConnection, path: Path, plain: Path, file: int, folder: Path) -> None:
    """Add the samples of a text, whose uncompressed content is `plain`; `folder` is for scratch.

    Raises AssayError when the text has no end and its instants are no milliseconds, or it has no instant at all.
    """
    import duckdb

    try:
        long = _scanned(connection, plain, file, folder)
    except duckdb.Error as error:
        if is_full(error):
            raise
        raise sample_store.unreadable(path, first_of(error)) from None
    make(connection, "parsed", _parsed())
    seconds = _ends(connection)
    if not seconds:
        _judge(connection, path, plain)
    make(connection, "said_series", _series())
    called = tree.named(column("called"), "name")
    add_series(connection, file, tree.of(dialect.select("place", called, "labels"), "said_series"))
    make(connection, "pairs", _pairs(sample_store.instant if seconds else _of_milliseconds), long=long)
    stale = exp.true() if seconds else exp.EQ(this=column("named"), expression=tree.text(""))
    add_samples(connection, file, "pairs", ended=exp.and_(stale, tree.call("isnan", column("value"))))
    drop(connection, "written", "parsed", "said_series", "pairs")


def _scanned(connection: duckdb.DuckDBPyConnection, plain: Path, file: int, folder: Path) -> Sequence[int]:
    """The table `written`, out of the file or, when the scan refuses that, of a mended copy; the numbers of lines that
    are too long."""
    if may_scan(plain):
        with contextlib.suppress(*lines.refusals()):
            _scan(connection, plain)
            return ()
    copy, long = mended(plain, folder, f"{file}.mended")
    _scan(connection, copy)
    _set_aside(connection, file, long)
    return tuple(long)


def _set_aside(connection: duckdb.DuckDBPyConnection, file: int, long: Sequence[int]) -> None:
    """Make broken the samples whose lines have bytes that are no UTF-8, since two names or labels may differ by these
    alone; but for lines that are too long, whose beginning has been read."""
    held = tree.call("contains", column("line"), strange_sql.sign())
    known = tree.call("list_contains", tree.given_list("long", "BIGINT"), column("number"))
    bad = exp.and_(held, exp.not_(tree.starts(column("line"), "#")), exp.not_(known))
    text = tree.call("replace", column("line"), strange_sql.sign(), tree.text(strange.READABLE))
    found = dialect.select(dialect.integer(file), "number", tree.text(strange.NOT_UTF8), text)
    query = tree.of(found, "written").where(bad, copy=False)
    sample_store.add(connection, "found_broken", query, long=list(long))
    run(connection, exp.Delete(this=exp.to_table("written"), where=exp.Where(this=bad.copy())), long=list(long))


def _scan(connection: duckdb.DuckDBPyConnection, plain: Path) -> None:
    """The table `written`: number and text of each line."""
    run(connection, exp.Drop(tables=[exp.to_table("written")], kind="TABLE", exists=True))
    query = tree.of(dialect.select(tree.named(counted(), "number"), "line"), lines.scan().subquery("l"))
    make(connection, "written", query, **lines.scanned([plain]))


def _blank() -> exp.Expr:
    return exp.EQ(this=tree.call("trim", column("line")), expression=tree.text(""))


def _last(connection: duckdb.DuckDBPyConnection) -> tuple[str, int]:
    """The last line that is not blank, and its number (0: there is none)."""
    last = exp.ArgMax(this=column("line"), expression=column("number"))
    query = tree.of(dialect.select(last, exp.Max(this=column("number"))), "written")
    ((text, number),) = run(connection, query.where(exp.Not(this=_blank()), copy=False))
    return text or "", number or 0


def _ends(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether the last line is that of OpenMetrics."""
    return _last(connection)[0].rstrip() == END


def _judge(connection: duckdb.DuckDBPyConnection, path: Path, plain: Path) -> None:
    """AssayError unless all instants of a text without an end are milliseconds, and its last line is whole."""
    timed = exp.NEQ(this=column("seconds"), expression=tree.text(""))
    odd = exp.Not(this=tree.call("regexp_matches", column("seconds"), tree.text(MILLISECONDS)))
    counts = [exp.CountIf(this=item) for item in (_is_sample(), timed, exp.and_(timed.copy(), odd))]
    ((samples, instants, others),) = run(connection, tree.of(dialect.select(*counts), "parsed"))
    if samples and not instants:
        raise fail(
            "not-samples",
            f"the samples of the text have no instants: {path}",
            expected="OpenMetrics text, or a text whose samples end in milliseconds since 1970",
            found=_first_sample(connection),
            hint="a page `/metrics` tells of one moment, and not of which; `assay fetch prometheus` asks the server "
            "that scrapes it",
        )
    if others or not samples or not _line_ends(plain):
        text, number = _last(connection)
        raise fail(
            "broken-file",
            f"the OpenMetrics text has no end: {path}",
            expected=f"`{END}` as its last line",
            found=f"line {number}: {text[:80]}" if number else "nothing",
            hint="is the file cut off?",
        )


def _is_sample() -> exp.Expr:
    return exp.NEQ(this=column("value"), expression=tree.text(""))


def _first_sample(connection: duckdb.DuckDBPyConnection) -> str:
    query = tree.of(dialect.select("number", "line"), "parsed").where(_is_sample(), copy=False)
    ((number, line),) = run(connection, query.order_by("number").limit(1))
    return f"line {number}: {line[:80]}"


def _line_ends(plain: Path) -> bool:
    """Whether the last line of a file has its end."""
    with plain.open("rb") as stream:
        stream.seek(-1, os.SEEK_END)
        return stream.read(1) == b"\n"


def _of_milliseconds(text: exp.Expr) -> exp.Expr:
    """Milliseconds since 1970, in ns; null when they are none."""
    exact = exp.Mul(
        this=tree.try_cast(text, "DECIMAL(20, 0)"), expression=tree.cast(dialect.integer(10**6), "DECIMAL(8, 0)")
    )
    return tree.try_cast(exact, "BIGINT")


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
    """Each series as it is written: place, name, said, called, quoted, labels (none: one, or the name, stands twice).

    `called` is its name, which may stand among the labels; `quoted` tells that it is no label's value there.
    """
    place = tree.named(counted(), "place")
    each = tree.of(dialect.select("name", "said"), "parsed").group_by("name", "said").subquery("g")
    quoted = tree.named(tree.call("list_contains", _parts(3), tree.text("")), "quoted")
    twice = exp.and_(quoted.this.copy(), exp.NEQ(this=column("name"), expression=tree.text("")))
    labels = tree.named(tree.when(exp.not_(twice), _labels()), "labels")
    query = tree.of(dialect.select(place, "name", "said", quoted, labels), each).subquery("l")
    label = tree.first_of([tree.call("map_extract_value", column("labels"), tree.text(NAME)), tree.text("")])
    called = tree.when(exp.NEQ(this=column("name"), expression=tree.text("")), column("name"), label)
    return tree.of(dialect.select("place", "name", "said", tree.named(called, "called"), "quoted", "labels"), query)


def _parts(group: int) -> exp.Expr:
    """What stands in a place of `LABEL`, label by label; empty texts where nothing does."""
    found = tree.call("regexp_extract_all", column("said"), tree.text(LABEL), dialect.integer(group))
    return dialect.transformed(found, "p", tree.first_of([column("p"), tree.text("")]))


def _labels() -> exp.Expr:
    """The labels as a map, the quoted name of the series among them; null where one stands twice."""
    plain, quoted, equals, value = (
        tree.call("struct_extract", column("l"), dialect.integer(place)) for place in range(1, 5)
    )
    listed = tree.call("list_zip", *(_parts(group) for group in range(1, 5)))
    named = exp.EQ(this=equals, expression=tree.text(""))
    name = tree.when(exp.NEQ(this=plain, expression=tree.text("")), plain.copy(), _unescaped(quoted))
    names = dialect.transformed(listed, "l", tree.when(named, tree.text(NAME), name))
    values = dialect.transformed(
        listed.copy(), "l", tree.when(named.copy(), _unescaped(quoted.copy()), _unescaped(value))
    )
    return tree.tried(tree.call("map", names, values))


def _unescaped(value: exp.Expr) -> exp.Expr:
    """A label's value: escapes of OpenMetrics are those of JSON."""
    quoted = tree.call("concat", tree.text('"'), value, tree.text('"'))
    read = tree.tried(tree.call("json_extract_string", quoted, tree.text("$")))
    escaped = tree.call("contains", value.copy(), tree.text("\\"))
    return tree.when(escaped, tree.first_of([read, value.copy()]), value.copy())


def _fault() -> exp.Expr:
    """Why a line is no sample, but for its instant and its value; null where it may be one."""
    long = tree.call("list_contains", tree.given_list("long", "BIGINT"), column("number"))
    faults = {
        TOO_LONG: long,
        UNREAD: exp.not_(_is_sample()),
        DOUBLED: tree.missing(column("labels")),
        UNNAMED: exp.EQ(this=column("called"), expression=tree.text("")),
    }
    ifs = [exp.If(this=condition, true=tree.text(said)) for said, condition in faults.items()]
    return tree.named(exp.Case(ifs=ifs), "fault")


def _pairs(instant: Callable[[exp.Expr], exp.Expr]) -> exp.Select:
    """The samples: place, number (of the line), t_ns, value, fault, text, named (the name, if it is no label's value).

    The parameter `$long` has the numbers of lines that are too long."""
    known = exp.and_(exp.NEQ(this=column("called"), expression=tree.text("")), tree.given(column("labels")))
    seconds = tree.when(known, column("seconds"))
    t_ns = tree.named(instant(seconds), "t_ns")
    value = tree.named(sample_store.number(column("value")), "value")
    nul = tree.call("chr", dialect.integer(0))
    text = tree.named(tree.call("ltrim", column("line"), nul), "text")  # the line begins behind such bytes
    named = tree.named(tree.when(column("quoted"), column("called"), column("name")), "named")
    query = tree.of(dialect.select("place", "number", t_ns, value, _fault(), text, named), "parsed")
    return query.join("said_series", using=["name", "said"], copy=False)
