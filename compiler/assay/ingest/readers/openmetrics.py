"""Read texts with one sample per line, with instants.

OpenMetrics text, as `promtool tsdb dump-openmetrics` writes it, has seconds and ends in `# EOF`. Texts without this end
have milliseconds: the exposition format of Prometheus, as on its page `/federate`, and the output of `promtool tsdb
dump`, where the name of a series is among its labels. The instants distinguish them from truncated OpenMetrics. Names
with special characters are quoted; then the name of a series is within the braces, without a value.

A server marks the end of a line by a sample with a special NaN. Dumps write it as `NaN`, like a measured one; there it
is a sample without a value. Federated pages have no such marks.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from assay.ingest import builder, invalid_text
from assay.ingest.plain_copies import TOO_LONG, may_scan, mended
from assay.ingest.readers import lines, sample_store
from assay.ingest.readers.sample_store import NAME, add_samples, add_series, counted, drop, first_of, make, run
from assay.sql import dialect
from assay.sql.dialect import column
from assay.util.diagnostics import fail
from assay.util.os_errors import is_full

if TYPE_CHECKING:
    import duckdb

END = "# EOF"
#: milliseconds since 1970; fewer digits are the seconds of a truncated OpenMetrics text
MILLISECONDS = "^[0-9]{12,16}$"
#: a label: name, quoted name, equals sign, value; or the quoted name of the series, without the last two
LABEL = r'(?:([a-zA-Z_][a-zA-Z0-9_]*)|"((?:[^"\\]|\\.)*)")(?:\s*(=)\s*"((?:[^"\\]|\\.)*)")?'
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_LABEL = rf"(?:[a-zA-Z_][a-zA-Z0-9_]*\s*=\s*{_QUOTED}|{_QUOTED}(?:\s*=\s*{_QUOTED})?)"
#: beginning of a text whose first sample has a quoted name; in JSON, a colon would follow the name
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
    """Add the samples of a text, whose uncompressed content is `plain`; `folder` is for temporary files.

    Raises AssayError if the text has no instants, or neither an end nor milliseconds.
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
    called = builder.alias(column("called"), "name")
    add_series(connection, file, builder.from_source(dialect.select("place", called, "labels"), "said_series"))
    make(connection, "pairs", _pairs(sample_store.instant if seconds else _of_milliseconds), long=long)
    stale = exp.true() if seconds else exp.EQ(this=column("named"), expression=builder.text(""))
    add_samples(connection, file, "pairs", ended=exp.and_(stale, builder.call("isnan", column("value"))))
    drop(connection, "written", "parsed", "said_series", "pairs")


def _scanned(connection: duckdb.DuckDBPyConnection, plain: Path, file: int, folder: Path) -> Sequence[int]:
    """Fill the table `written` from the file, or from a mended copy if the scan rejects the file.

    Return the numbers of lines that are too long.
    """
    if may_scan(plain):
        with contextlib.suppress(*lines.refusals()):
            _scan(connection, plain)
            return ()
    copy, long = mended(plain, folder, f"{file}.mended")
    _scan(connection, copy)
    _set_aside(connection, file, long)
    return tuple(long)


def _set_aside(connection: duckdb.DuckDBPyConnection, file: int, long: Sequence[int]) -> None:
    """Move samples with bytes that are not UTF-8 to the malformed ones, since names may differ by these alone.

    Lines that are too long stay, since only their beginning was read.
    """
    has_invalid = builder.call("contains", column("line"), invalid_text.invalid_sign())
    is_long = builder.call("list_contains", builder.given_list("long", "BIGINT"), column("number"))
    is_malformed = exp.and_(has_invalid, exp.not_(builder.starts(column("line"), "#")), exp.not_(is_long))
    text = builder.call("replace", column("line"), invalid_text.invalid_sign(), builder.text(invalid_text.READABLE))
    columns = dialect.select(dialect.integer(file), "number", builder.text(invalid_text.NOT_UTF8), text)
    query = builder.from_source(columns, "written").where(is_malformed, copy=False)
    sample_store.add(connection, "found_broken", query, long=list(long))
    run(
        connection, exp.Delete(this=exp.to_table("written"), where=exp.Where(this=is_malformed.copy())), long=list(long)
    )


def _scan(connection: duckdb.DuckDBPyConnection, plain: Path) -> None:
    """Fill the table `written`: number and text of each line."""
    run(connection, exp.Drop(tables=[exp.to_table("written")], kind="TABLE", exists=True))
    query = builder.from_source(dialect.select(builder.alias(counted(), "number"), "line"), lines.scan().subquery("l"))
    make(connection, "written", query, **lines.scanned([plain]))


def _blank() -> exp.Expr:
    return exp.EQ(this=builder.call("trim", column("line")), expression=builder.text(""))


def _last(connection: duckdb.DuckDBPyConnection) -> tuple[str, int]:
    """Return the last line that is not blank and its number, 0 if there is none."""
    last = exp.ArgMax(this=column("line"), expression=column("number"))
    query = builder.from_source(dialect.select(last, exp.Max(this=column("number"))), "written")
    ((text, number),) = run(connection, query.where(exp.Not(this=_blank()), copy=False))
    return text or "", number or 0


def _ends(connection: duckdb.DuckDBPyConnection) -> bool:
    """Return whether the last line is the end of OpenMetrics."""
    return _last(connection)[0].rstrip() == END


def _judge(connection: duckdb.DuckDBPyConnection, path: Path, plain: Path) -> None:
    """Check that a text without an end has only milliseconds and a complete last line. Raises AssayError."""
    timed = exp.NEQ(this=column("seconds"), expression=builder.text(""))
    odd = exp.Not(this=builder.call("regexp_matches", column("seconds"), builder.text(MILLISECONDS)))
    counts = [exp.CountIf(this=item) for item in (_is_sample(), timed, exp.and_(timed.copy(), odd))]
    ((samples, instants, invalid),) = run(connection, builder.from_source(dialect.select(*counts), "parsed"))
    if samples and not instants:
        raise fail(
            "not-samples",
            f"the samples of the text have no instants: {path}",
            expected="OpenMetrics text, or a text whose samples end in milliseconds since 1970",
            found=_first_sample(connection),
            hint="a page `/metrics` tells of one moment, and not of which; `assay fetch prometheus` asks the server "
            "that scrapes it",
        )
    if invalid or not samples or not _line_ends(plain):
        text, number = _last(connection)
        raise fail(
            "broken-file",
            f"the OpenMetrics text has no end: {path}",
            expected=f"`{END}` as its last line",
            found=f"line {number}: {text[:80]}" if number else "nothing",
            hint="is the file cut off?",
        )


def _is_sample() -> exp.Expr:
    return exp.NEQ(this=column("value"), expression=builder.text(""))


def _first_sample(connection: duckdb.DuckDBPyConnection) -> str:
    query = builder.from_source(dialect.select("number", "line"), "parsed").where(_is_sample(), copy=False)
    ((number, line),) = run(connection, query.order_by("number").limit(1))
    return f"line {number}: {line[:80]}"


def _line_ends(plain: Path) -> bool:
    """Return whether the last line of a file has its end."""
    with plain.open("rb") as stream:
        stream.seek(-1, os.SEEK_END)
        return stream.read(1) == b"\n"


def _of_milliseconds(text: exp.Expr) -> exp.Expr:
    """Return milliseconds since 1970 in ns; null if the text is not a number."""
    exact = exp.Mul(
        this=builder.try_cast(text, "DECIMAL(20, 0)"),
        expression=builder.cast(dialect.integer(10**6), "DECIMAL(8, 0)"),
    )
    return builder.try_cast(exact, "BIGINT")


def _parsed() -> exp.Select:
    """Return the query for lines without comments: number, line, and the parts of a sample, empty if it is none."""
    names = exp.Array(expressions=[builder.text(name) for name in PARTS])
    parts = builder.alias(builder.call("regexp_extract", column("line"), builder.text(LINE), names), "parts")
    has_sample = exp.not_(exp.or_(builder.starts(column("line"), "#"), _blank()))
    rows = builder.from_source(dialect.select("number", "line", parts), "written").where(has_sample, copy=False)
    values = [
        builder.alias(builder.call("struct_extract", column("parts"), builder.text(name)), name) for name in PARTS
    ]  # fmt: skip
    return builder.from_source(dialect.select("number", "line", *values), rows.subquery("r"))


def _series() -> exp.Select:
    """Return the query for each series as it is written: place, name, said, called, quoted, labels.

    `said` is the text of the labels, `called` the name, which may be among the labels; `quoted` is true if it has no
    label name there. `labels` is null if a label or the name is duplicate.
    """
    place = builder.alias(counted(), "place")
    each = builder.from_source(dialect.select("name", "said"), "parsed").group_by("name", "said").subquery("g")
    quoted = builder.alias(builder.call("list_contains", _parts(3), builder.text("")), "quoted")
    has_two_names = exp.and_(quoted.this.copy(), exp.NEQ(this=column("name"), expression=builder.text("")))
    labels = builder.alias(builder.when(exp.not_(has_two_names), _labels()), "labels")
    query = builder.from_source(dialect.select(place, "name", "said", quoted, labels), each).subquery("l")
    label = builder.first_of(
        [builder.call("map_extract_value", column("labels"), builder.text(NAME)), builder.text("")]
    )
    called = builder.when(exp.NEQ(this=column("name"), expression=builder.text("")), column("name"), label)
    return builder.from_source(
        dialect.select("place", "name", "said", builder.alias(called, "called"), "quoted", "labels"), query
    )


def _parts(group: int) -> exp.Expr:
    """Return a group of `LABEL` for each label; empty texts where it is absent."""
    texts = builder.call("regexp_extract_all", column("said"), builder.text(LABEL), dialect.integer(group))
    return dialect.transformed(texts, "p", builder.first_of([column("p"), builder.text("")]))


def _labels() -> exp.Expr:
    """Return the labels as a map, including a quoted name of the series; null for a duplicate label."""
    plain, quoted, equals, value = (
        builder.call("struct_extract", column("l"), dialect.integer(place)) for place in range(1, 5)
    )
    listed = builder.call("list_zip", *(_parts(group) for group in range(1, 5)))
    is_name = exp.EQ(this=equals, expression=builder.text(""))
    name = builder.when(exp.NEQ(this=plain, expression=builder.text("")), plain.copy(), _unescaped(quoted))
    names = dialect.transformed(listed, "l", builder.when(is_name, builder.text(NAME), name))
    values = dialect.transformed(
        listed.copy(), "l", builder.when(is_name.copy(), _unescaped(quoted.copy()), _unescaped(value))
    )
    return builder.tried(builder.call("map", names, values))


def _unescaped(value: exp.Expr) -> exp.Expr:
    """Return the value of a label; the escapes of OpenMetrics are those of JSON."""
    quoted = builder.call("concat", builder.text('"'), value, builder.text('"'))
    read = builder.tried(builder.call("json_extract_string", quoted, builder.text("$")))
    escaped = builder.call("contains", value.copy(), builder.text("\\"))
    return builder.when(escaped, builder.first_of([read, value.copy()]), value.copy())


def _fault() -> exp.Expr:
    """Return why a line is not a sample, apart from its instant and its value; null if it may be one."""
    long = builder.call("list_contains", builder.given_list("long", "BIGINT"), column("number"))
    faults = {
        TOO_LONG: long,
        UNREAD: exp.not_(_is_sample()),
        DOUBLED: builder.is_null(column("labels")),
        UNNAMED: exp.EQ(this=column("called"), expression=builder.text("")),
    }
    ifs = [exp.If(this=condition, true=builder.text(reason)) for reason, condition in faults.items()]
    return builder.alias(exp.Case(ifs=ifs), "fault")


def _pairs(instant: Callable[[exp.Expr], exp.Expr]) -> exp.Select:
    """Return the query for samples: place, number (of the line), t_ns, value, fault, text, named.

    `named` is the name unless it is the value of a label. The parameter `$long` has the numbers of lines that are too
    long.
    """
    is_series = exp.and_(
        exp.NEQ(this=column("called"), expression=builder.text("")), builder.is_not_null(column("labels"))
    )
    seconds = builder.when(is_series, column("seconds"))
    t_ns = builder.alias(instant(seconds), "t_ns")
    value = builder.alias(sample_store.number(column("value")), "value")
    nul = builder.call("chr", dialect.integer(0))
    text = builder.alias(
        builder.call("ltrim", column("line"), nul), "text"
    )  # NUL bytes before a line are not part of it
    named = builder.alias(builder.when(column("quoted"), column("called"), column("name")), "named")
    query = builder.from_source(dialect.select("place", "number", t_ns, value, _fault(), text, named), "parsed")
    return query.join("said_series", using=["name", "said"], copy=False)
