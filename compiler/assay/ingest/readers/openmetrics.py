"""Read texts with one sample per line, with instants.

OpenMetrics text, as `promtool tsdb dump-openmetrics` writes it, has seconds and ends in `# EOF`. Texts without this end
have milliseconds: the exposition format of Prometheus, as on its page `/federate`, and the output of `promtool tsdb
dump`, where the name of a series is among its labels. Milliseconds distinguish them from truncated OpenMetrics. A name
of a series with special characters is quoted, and is within the braces, without a value.

A server marks the end of a line by a sample with a special NaN. Dumps write it as `NaN`, like a measured NaN; in dumps,
a NaN is a sample without a value. Federated pages have no such marks.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from assay.ingest.invalid_text import NOT_UTF8, NUL, READABLE, REASONS, SUBSTITUTE
from assay.ingest.plain_copies import TOO_LONG, can_scan, create_repaired_copy, read_last_byte
from assay.ingest.readers import lines, sample_store
from assay.ingest.readers.native_histograms import HistogramSample, is_dumped, parse_dumped
from assay.ingest.readers.sample_store import NAME, add_samples, add_series, drop_tables, execute, get_first_line
from assay.sql import dialect
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
#: value of a native histogram, as `promtool tsdb dump` writes it
_HISTOGRAM = r"\{count:[^{}]*\}"
#: name, labels, value, seconds; an exemplar may follow
LINE = (
    r"^([a-zA-Z_:][a-zA-Z0-9_:]*)?"
    rf"(?:\{{(\s*(?:{_LABEL}\s*(?:,\s*{_LABEL}\s*)*,?\s*)?)\}})?"
    rf"[ \t]+({_HISTOGRAM}|[^ \t#]+)(?:[ \t]+([^ \t#]+))?[ \t]*(?:#.*)?$"
)
NOT_A_SAMPLE = "not a sample: expected a name, labels, a value and an instant"
DUPLICATE = "a duplicate label or name"
UNNAMED = "no name"
HISTOGRAM = "a native histogram, which is not a number"

#: macros for the labels of a series:
#:
#: * `label_groups` returns a group of `LABEL` for each label in a text, empty where a label does not have it.
#: * `unescape` returns the value of a label. The escapes of OpenMetrics are those of JSON.
#: * `label_map` returns the labels in a text as a map, with a quoted name of the series; null for a duplicate label.
_MACROS = rf"""
CREATE OR REPLACE MACRO label_groups(text, number) AS
    list_transform(regexp_extract_all(text, '{LABEL}', number), lambda part: coalesce(part, ''));

CREATE OR REPLACE MACRO unescape(value) AS CASE WHEN contains(value, '\')
    THEN coalesce(TRY(json_extract_string(concat('"', value, '"'), '$')), value) ELSE value END;

CREATE OR REPLACE MACRO label_map(text) AS TRY(map(
    list_transform(
        list_zip(label_groups(text, 1), label_groups(text, 2), label_groups(text, 3)),
        lambda l: CASE WHEN l[3] = '' THEN '{NAME}' WHEN l[1] <> '' THEN l[1] ELSE unescape(l[2]) END
    ),
    list_transform(
        list_zip(label_groups(text, 2), label_groups(text, 3), label_groups(text, 4)),
        lambda l: unescape(CASE WHEN l[2] = '' THEN l[1] ELSE l[3] END)
    )
));
"""

#: lines without comments, with the parts of a sample, which are empty if the line is not a sample
_PARSED = f"""
CREATE TABLE parsed AS
SELECT number, line, parts.name, parts.label_text, parts.value, parts.seconds
FROM (
    SELECT number, line, regexp_extract(line, '{LINE}', ['name', 'label_text', 'value', 'seconds']) AS parts
    FROM text_lines
    WHERE NOT starts_with(line, '#') AND trim(line) <> ''
)
"""

#: each series as the text writes it. `series_name` is its name, which may be among the labels. `is_quoted` is true if
#: the name is within the braces without a label name. `labels` is null if a label or the name is duplicate.
_SERIES = f"""
CREATE TABLE text_series AS
SELECT
    place,
    name,
    label_text,
    CASE WHEN name <> '' THEN name ELSE coalesce(map_extract_value(labels, '{NAME}'), '') END AS series_name,
    is_quoted,
    labels
FROM (
    SELECT
        row_number() OVER () AS place,
        name,
        label_text,
        list_contains(label_groups(label_text, 3), '') AS is_quoted,
        CASE WHEN NOT (list_contains(label_groups(label_text, 3), '') AND name <> '') THEN label_map(label_text) END
            AS labels
    FROM (SELECT name, label_text FROM parsed GROUP BY name, label_text)
)
"""

#: samples of the text. `written_name` is the name of the series unless it is the value of a label. `$long` has the
#: numbers of lines that are too long. NUL bytes before a line are not part of it. Native histograms are passed over,
#: except those of the series `$read`.
_SAMPLES = f"""
CREATE TABLE text_samples AS
SELECT
    place,
    number,
    {{instant}} AS t_ns,
    text_to_double(value) AS value,
    CASE
        WHEN list_contains(CAST($long AS BIGINT[]), number) THEN '{TOO_LONG}'
        WHEN value = '' THEN '{NOT_A_SAMPLE}'
        WHEN labels IS NULL THEN '{DUPLICATE}'
        WHEN series_name = '' THEN '{UNNAMED}'
        WHEN is_histogram THEN '{HISTOGRAM}'
    END AS fault,
    ltrim(line, chr(0)) AS text,
    CASE WHEN is_quoted THEN series_name ELSE name END AS written_name
FROM (
    SELECT
        *,
        CASE WHEN series_name <> '' AND labels IS NOT NULL THEN seconds END AS time,
        starts_with(value, '{{{{') AS is_histogram
    FROM parsed JOIN text_series USING (name, label_text)
)
WHERE NOT (is_histogram AND NOT list_contains(CAST($read AS VARCHAR[]), series_name))
"""
_HISTOGRAMS = """
SELECT CAST(to_json(labels) AS VARCHAR), series_name, {instant}, value
FROM (SELECT *, seconds AS time FROM parsed JOIN text_series USING (name, label_text))
WHERE starts_with(value, '{{') AND labels IS NOT NULL AND series_name <> ''
ORDER BY number
"""
_SECONDS_TO_NS = "seconds_to_ns(time)"
_MILLISECONDS_TO_NS = "TRY_CAST(TRY_CAST(time AS DECIMAL(20, 0)) * CAST(1000000 AS DECIMAL(8, 0)) AS BIGINT)"


def load(
    connection: duckdb.DuckDBPyConnection,
    path: Path,
    plain: Path,
    file: int,
    folder: Path,
    read_names: Collection[str] | None = None,
) -> list[HistogramSample]:
    """Add the samples of a text, whose uncompressed content is `plain`; return its native histograms.

    `folder` is for temporary files. Native histograms of the series `read_names` are malformed samples, too.

    Raises AssayError if the text has no instants, or neither an end nor milliseconds.
    """
    import duckdb

    try:
        long_lines = _scan_file(connection, plain, file, folder)
        _move_invalid_samples(connection, file, long_lines)
    except duckdb.Error as error:
        if is_disk_full_error(error):
            raise
        raise sample_store.build_unreadable_error(path, get_first_line(error)) from None
    connection.execute(_MACROS)
    connection.execute(_PARSED)
    has_end = _find_last_line(connection)[0].rstrip() == END
    if not has_end:
        _check_complete(connection, path, plain)
    connection.execute(_SERIES)
    add_series(connection, file, "SELECT place, series_name AS name, labels FROM text_series")
    instant = _SECONDS_TO_NS if has_end else _MILLISECONDS_TO_NS
    read = list(read_names or ())
    histograms = [
        HistogramSample(file, {**json.loads(labels), NAME: name}, t_ns, parse_dumped(value))
        for labels, name, t_ns, value in execute(connection, _HISTOGRAMS.format(instant=instant))
        if t_ns is not None and is_dumped(value)
    ]
    execute(connection, _SAMPLES.format(instant=instant), long=list(long_lines), read=read)
    add_samples(connection, file, "text_samples", "isnan(value)" if has_end else "isnan(value) AND written_name = ''")
    drop_tables(connection, "text_lines", "parsed", "text_series", "text_samples")
    return histograms


def _scan_file(connection: duckdb.DuckDBPyConnection, plain: Path, file: int, folder: Path) -> Sequence[int]:
    """Fill the table `text_lines` from the file, or from a repaired copy if the scan rejects the file.

    Return the numbers of lines that are too long.
    """
    if can_scan(plain):
        with contextlib.suppress(*lines.list_scan_errors()):
            _scan_lines(connection, plain)
            return ()
    copy, long_lines = create_repaired_copy(plain, folder, f"{file}.repaired")
    _scan_lines(connection, copy)
    return long_lines


def _scan_lines(connection: duckdb.DuckDBPyConnection, plain: Path) -> None:
    """Fill the table `text_lines`: number and text of each line."""
    scan = dialect.to_sql(lines.build_scan_query())
    execute(
        connection,
        f"CREATE OR REPLACE TABLE text_lines AS SELECT row_number() OVER () AS number, line FROM ({scan})",
        **lines.build_scan_parameters([plain]),
    )


def _move_invalid_samples(connection: duckdb.DuckDBPyConnection, file: int, long_lines: Sequence[int]) -> None:
    """Move samples with invalid text to the malformed ones, since names may differ only in these bytes.

    Lines that are too long stay, since only their beginning was read.
    """
    is_invalid = """
        (contains(line, $substitute) OR contains(ltrim(line, chr(0)), chr(0))) AND NOT starts_with(line, '#')
        AND NOT list_contains(CAST($long AS BIGINT[]), number)
    """
    parameters = {"substitute": SUBSTITUTE, "long": list(long_lines)}
    execute(
        connection,
        f"""
        INSERT INTO malformed_samples
        SELECT
            $file,
            number,
            CASE WHEN contains(line, $substitute) THEN '{NOT_UTF8}' ELSE '{REASONS[NUL]}' END,
            replace(line, $substitute, '{READABLE}')
        FROM text_lines
        WHERE {is_invalid}
        """,
        file=file,
        **parameters,
    )
    execute(connection, f"DELETE FROM text_lines WHERE {is_invalid}", **parameters)


def _find_last_line(connection: duckdb.DuckDBPyConnection) -> tuple[str, int]:
    """Return the last line that is not blank and its number, 0 if there is none."""
    query = "SELECT arg_max(line, number), max(number) FROM text_lines WHERE trim(line) <> ''"
    ((text, number),) = execute(connection, query)
    return text or "", number or 0


def _check_complete(connection: duckdb.DuckDBPyConnection, path: Path, plain: Path) -> None:
    """Check that a text without an end has only milliseconds and a complete last line. Raises AssayError."""
    ((samples, instants, invalid),) = execute(
        connection,
        f"""
        SELECT
            count_if(value <> ''),
            count_if(seconds <> ''),
            count_if(seconds <> '' AND NOT regexp_matches(seconds, '{MILLISECONDS}'))
        FROM parsed
        """,
    )
    if samples and not instants:
        raise fail(
            "not-samples",
            f"the samples of the text have no instants: {path}",
            expected="OpenMetrics text, or a text whose samples end in milliseconds since 1970",
            found=_format_first_sample(connection),
            hint="a page `/metrics` has values of one moment, without its instant; fetch samples from the server that "
            "reads the page with `assay fetch prometheus`",
        )
    if invalid or not samples or read_last_byte(plain) != b"\n":
        text, number = _find_last_line(connection)
        raise fail(
            "broken-file",
            f"the OpenMetrics text has no end: {path}",
            expected=f"`{END}` as its last line",
            found=f"line {number}: {text[:80]}" if number else "nothing",
            hint="is the file cut off?",
        )


def _format_first_sample(connection: duckdb.DuckDBPyConnection) -> str:
    query = "SELECT number, line FROM parsed WHERE value <> '' ORDER BY number LIMIT 1"
    ((number, line),) = execute(connection, query)
    return f"line {number}: {line[:80]}"
