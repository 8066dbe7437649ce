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
from assay.ingest.plain_copies import TOO_LONG, can_scan, create_repaired_copy
from assay.ingest.readers import lines, sample_store
from assay.ingest.readers.sample_store import (
    NAME,
    add_samples,
    add_series,
    build_row_number,
    create_table,
    drop_tables,
    execute_statement,
    get_first_line,
)
from assay.sql import dialect
from assay.sql.dialect import build_column
from assay.util.diagnostics import fail
from assay.util.os_errors import is_disk_full_error

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
UNREAD = "not a sample: expected a name, labels, a value and an instant"
DUPLICATE = "a duplicate label or name"
UNNAMED = "no name"


def load(connection: duckdb.DuckDBPyConnection, path: Path, plain: Path, file: int, folder: Path) -> None:
    """Add the samples of a text, whose uncompressed content is `plain`; `folder` is for temporary files.

    Raises AssayError if the text has no instants, or neither an end nor milliseconds.
    """
    import duckdb

    try:
        long_lines = _scan_file(connection, plain, file, folder)
    except duckdb.Error as error:
        if is_disk_full_error(error):
            raise
        raise sample_store.build_unreadable_error(path, get_first_line(error)) from None
    create_table(connection, "parsed", _build_parsed_query())
    seconds = _has_end(connection)
    if not seconds:
        _check_complete(connection, path, plain)
    create_table(connection, "said_series", _build_series_query())
    name = builder.build_alias(build_column("called"), "name")
    add_series(connection, file, builder.set_source(dialect.select("place", name, "labels"), "said_series"))
    create_table(
        connection,
        "pairs",
        _build_pairs_query(sample_store.build_instant if seconds else _build_millisecond_instant),
        long=long_lines,
    )
    is_stale = exp.true() if seconds else exp.EQ(this=build_column("named"), expression=builder.build_text(""))
    add_samples(connection, file, "pairs", is_end=exp.and_(is_stale, builder.call("isnan", build_column("value"))))
    drop_tables(connection, "written", "parsed", "said_series", "pairs")


def _scan_file(connection: duckdb.DuckDBPyConnection, plain: Path, file: int, folder: Path) -> Sequence[int]:
    """Fill the table `written` from the file, or from a mended copy if the scan rejects the file.

    Return the numbers of lines that are too long.
    """
    if can_scan(plain):
        with contextlib.suppress(*lines.list_scan_errors()):
            _scan_lines(connection, plain)
            return ()
    copy, long_lines = create_repaired_copy(plain, folder, f"{file}.repaired")
    _scan_lines(connection, copy)
    _move_invalid_samples(connection, file, long_lines)
    return tuple(long_lines)


def _move_invalid_samples(connection: duckdb.DuckDBPyConnection, file: int, long_lines: Sequence[int]) -> None:
    """Move samples with bytes that are not UTF-8 to the malformed ones, since names may differ by these alone.

    Lines that are too long stay, since only their beginning was read.
    """
    has_invalid = builder.call("contains", build_column("line"), invalid_text.build_substitute())
    is_long = builder.call("list_contains", builder.build_list_parameter("long", "BIGINT"), build_column("number"))
    is_malformed = exp.and_(
        has_invalid, exp.not_(builder.build_starts_with(build_column("line"), "#")), exp.not_(is_long)
    )
    text = builder.call(
        "replace", build_column("line"), invalid_text.build_substitute(), builder.build_text(invalid_text.READABLE)
    )
    columns = dialect.select(dialect.build_integer(file), "number", builder.build_text(invalid_text.NOT_UTF8), text)
    query = builder.set_source(columns, "written").where(is_malformed, copy=False)
    sample_store.insert_rows(connection, "found_broken", query, long=list(long_lines))
    execute_statement(
        connection,
        exp.Delete(this=exp.to_table("written"), where=exp.Where(this=is_malformed.copy())),
        long=list(long_lines),
    )


def _scan_lines(connection: duckdb.DuckDBPyConnection, plain: Path) -> None:
    """Fill the table `written`: number and text of each line."""
    execute_statement(connection, exp.Drop(tables=[exp.to_table("written")], kind="TABLE", exists=True))
    query = builder.set_source(
        dialect.select(builder.build_alias(build_row_number(), "number"), "line"),
        lines.build_scan_query().subquery("l"),
    )
    create_table(connection, "written", query, **lines.build_scan_parameters([plain]))


def _is_blank() -> exp.Expr:
    return exp.EQ(this=builder.call("trim", build_column("line")), expression=builder.build_text(""))


def _find_last_line(connection: duckdb.DuckDBPyConnection) -> tuple[str, int]:
    """Return the last line that is not blank and its number, 0 if there is none."""
    last = exp.ArgMax(this=build_column("line"), expression=build_column("number"))
    query = builder.set_source(dialect.select(last, exp.Max(this=build_column("number"))), "written")
    ((text, number),) = execute_statement(connection, query.where(exp.Not(this=_is_blank()), copy=False))
    return text or "", number or 0


def _has_end(connection: duckdb.DuckDBPyConnection) -> bool:
    """Return whether the last line is the end of OpenMetrics."""
    return _find_last_line(connection)[0].rstrip() == END


def _check_complete(connection: duckdb.DuckDBPyConnection, path: Path, plain: Path) -> None:
    """Check that a text without an end has only milliseconds and a complete last line. Raises AssayError."""
    has_time = exp.NEQ(this=build_column("seconds"), expression=builder.build_text(""))
    is_invalid = exp.Not(this=builder.call("regexp_matches", build_column("seconds"), builder.build_text(MILLISECONDS)))
    counts = [exp.CountIf(this=item) for item in (_is_sample(), has_time, exp.and_(has_time.copy(), is_invalid))]
    ((samples, instants, invalid),) = execute_statement(
        connection, builder.set_source(dialect.select(*counts), "parsed")
    )
    if samples and not instants:
        raise fail(
            "not-samples",
            f"the samples of the text have no instants: {path}",
            expected="OpenMetrics text, or a text whose samples end in milliseconds since 1970",
            found=_format_first_sample(connection),
            hint="a page `/metrics` tells of one moment, and not of which; `assay fetch prometheus` asks the server "
            "that scrapes it",
        )
    if invalid or not samples or not _ends_with_newline(plain):
        text, number = _find_last_line(connection)
        raise fail(
            "broken-file",
            f"the OpenMetrics text has no end: {path}",
            expected=f"`{END}` as its last line",
            found=f"line {number}: {text[:80]}" if number else "nothing",
            hint="is the file cut off?",
        )


def _is_sample() -> exp.Expr:
    return exp.NEQ(this=build_column("value"), expression=builder.build_text(""))


def _format_first_sample(connection: duckdb.DuckDBPyConnection) -> str:
    query = builder.set_source(dialect.select("number", "line"), "parsed").where(_is_sample(), copy=False)
    ((number, line),) = execute_statement(connection, query.order_by("number").limit(1))
    return f"line {number}: {line[:80]}"


def _ends_with_newline(plain: Path) -> bool:
    """Return whether the last line of a file has its end."""
    with plain.open("rb") as stream:
        stream.seek(-1, os.SEEK_END)
        return stream.read(1) == b"\n"


def _build_millisecond_instant(text: exp.Expr) -> exp.Expr:
    """Return milliseconds since 1970 in ns; null if the text is not a number."""
    exact = exp.Mul(
        this=builder.try_cast(text, "DECIMAL(20, 0)"),
        expression=builder.cast(dialect.build_integer(10**6), "DECIMAL(8, 0)"),
    )
    return builder.try_cast(exact, "BIGINT")


def _build_parsed_query() -> exp.Select:
    """Return the query for lines without comments: number, line, and the parts of a sample, empty if it is none."""
    names = exp.Array(expressions=[builder.build_text(name) for name in PARTS])
    parts = builder.build_alias(
        builder.call("regexp_extract", build_column("line"), builder.build_text(LINE), names), "parts"
    )
    has_sample = exp.not_(exp.or_(builder.build_starts_with(build_column("line"), "#"), _is_blank()))
    rows = builder.set_source(dialect.select("number", "line", parts), "written").where(has_sample, copy=False)
    values = [
        builder.build_alias(builder.call("struct_extract", build_column("parts"), builder.build_text(name)), name)
        for name in PARTS
    ]
    return builder.set_source(dialect.select("number", "line", *values), rows.subquery("r"))


def _build_series_query() -> exp.Select:
    """Return the query for each series as it is written: place, name, said, called, quoted, labels.

    `said` is the text of the labels, `called` the name, which may be among the labels; `quoted` is true if it has no
    label name there. `labels` is null if a label or the name is duplicate.
    """
    place = builder.build_alias(build_row_number(), "place")
    each = builder.set_source(dialect.select("name", "said"), "parsed").group_by("name", "said").subquery("g")
    quoted = builder.build_alias(builder.call("list_contains", _build_label_parts(3), builder.build_text("")), "quoted")
    has_two_names = exp.and_(quoted.this.copy(), exp.NEQ(this=build_column("name"), expression=builder.build_text("")))
    labels = builder.build_alias(builder.build_if(exp.not_(has_two_names), _build_labels()), "labels")
    query = builder.set_source(dialect.select(place, "name", "said", quoted, labels), each).subquery("l")
    label = builder.build_coalesce(
        [builder.call("map_extract_value", build_column("labels"), builder.build_text(NAME)), builder.build_text("")]
    )
    called = builder.build_if(
        exp.NEQ(this=build_column("name"), expression=builder.build_text("")), build_column("name"), label
    )
    return builder.set_source(
        dialect.select("place", "name", "said", builder.build_alias(called, "called"), "quoted", "labels"), query
    )


def _build_label_parts(group: int) -> exp.Expr:
    """Return a group of `LABEL` for each label; empty texts where it is absent."""
    texts = builder.call(
        "regexp_extract_all", build_column("said"), builder.build_text(LABEL), dialect.build_integer(group)
    )
    return dialect.build_list_transform(texts, "p", builder.build_coalesce([build_column("p"), builder.build_text("")]))


def _build_labels() -> exp.Expr:
    """Return the labels as a map, including a quoted name of the series; null for a duplicate label."""
    plain, quoted, equals, value = (
        builder.call("struct_extract", build_column("l"), dialect.build_integer(place)) for place in range(1, 5)
    )
    listed = builder.call("list_zip", *(_build_label_parts(group) for group in range(1, 5)))
    is_name = exp.EQ(this=equals, expression=builder.build_text(""))
    name = builder.build_if(
        exp.NEQ(this=plain, expression=builder.build_text("")), plain.copy(), _build_unescaped(quoted)
    )
    names = dialect.build_list_transform(listed, "l", builder.build_if(is_name, builder.build_text(NAME), name))
    values = dialect.build_list_transform(
        listed.copy(), "l", builder.build_if(is_name.copy(), _build_unescaped(quoted.copy()), _build_unescaped(value))
    )
    return builder.build_try(builder.call("map", names, values))


def _build_unescaped(value: exp.Expr) -> exp.Expr:
    """Return the value of a label; the escapes of OpenMetrics are those of JSON."""
    quoted = builder.call("concat", builder.build_text('"'), value, builder.build_text('"'))
    unescaped = builder.build_try(builder.call("json_extract_string", quoted, builder.build_text("$")))
    is_escaped = builder.call("contains", value.copy(), builder.build_text("\\"))
    return builder.build_if(is_escaped, builder.build_coalesce([unescaped, value.copy()]), value.copy())


def _build_fault() -> exp.Expr:
    """Return why a line is not a sample, apart from its instant and its value; null if it may be one."""
    is_long = builder.call("list_contains", builder.build_list_parameter("long", "BIGINT"), build_column("number"))
    faults = {
        TOO_LONG: is_long,
        UNREAD: exp.not_(_is_sample()),
        DUPLICATE: builder.is_null(build_column("labels")),
        UNNAMED: exp.EQ(this=build_column("called"), expression=builder.build_text("")),
    }
    ifs = [exp.If(this=condition, true=builder.build_text(reason)) for reason, condition in faults.items()]
    return builder.build_alias(exp.Case(ifs=ifs), "fault")


def _build_pairs_query(build_instant: Callable[[exp.Expr], exp.Expr]) -> exp.Select:
    """Return the query for samples: place, number (of the line), t_ns, value, fault, text, named.

    `named` is the name unless it is the value of a label. The parameter `$long` has the numbers of lines that are too
    long.
    """
    is_series = exp.and_(
        exp.NEQ(this=build_column("called"), expression=builder.build_text("")),
        builder.is_not_null(build_column("labels")),
    )
    seconds = builder.build_if(is_series, build_column("seconds"))
    t_ns = builder.build_alias(build_instant(seconds), "t_ns")
    value = builder.build_alias(sample_store.build_number(build_column("value")), "value")
    nul = builder.call("chr", dialect.build_integer(0))
    text = builder.build_alias(
        builder.call("ltrim", build_column("line"), nul), "text"
    )  # NUL bytes before a line are not part of it
    named = builder.build_alias(
        builder.build_if(build_column("quoted"), build_column("called"), build_column("name")), "named"
    )
    query = builder.set_source(dialect.select("place", "number", t_ns, value, _build_fault(), text, named), "parsed")
    return query.join("said_series", using=["name", "said"], copy=False)
