"""Read saved responses of the Prometheus HTTP API: JSON documents with a matrix of series.

The API of Prometheus has `warnings`, if some of its stores did not respond; that of compatible servers has `isPartial`.
The first value of a duplicate key counts.
"""

from __future__ import annotations

import glob
import json
import re
import shutil
from codecs import BOM_UTF8
from collections.abc import Collection, Iterable, Iterator
from decimal import Decimal
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.ingest.decompress import iter_decompressed
from assay.ingest.readers import sample_store
from assay.ingest.readers.json_record_positions import find_item_spans, find_list_start, find_value_start
from assay.ingest.readers.native_histograms import HistogramSample, list_series_names, parse_answered
from assay.ingest.readers.sample_store import (
    NAME,
    add_samples,
    add_series,
    count_rows,
    drop_tables,
    execute,
    get_first_line,
)
from assay.util.diagnostics import AssayError, Span, fail
from assay.util.json_text import parse_json
from assay.util.os_errors import is_disk_full_error
from assay.util.time_units import SECOND

if TYPE_CHECKING:
    import duckdb


PIECE = 16 * 2**20  # bytes
#: beginning of a series, as servers write it; within a string, its quotes would be escaped
BEGIN = b'{"metric":'
_HEAD, TAIL = b'{"status":"success","data":{"resultType":"matrix","result":[', b"]}}"


def split_response(plain: Path, folder: Path, size: int) -> Iterator[Path]:
    """Yield the document itself if it has at most `size` bytes or another layout, else its pieces, one file at a time.

    Members of the document before its series are in the first piece, members after them in the last.
    """
    if plain.stat().st_size <= size:
        yield plain
        return
    place = folder / f"{plain.name}.piece"
    with plain.open("rb") as stream:
        for _, text in split_text(iter(partial(stream.read, size), b""), size):
            place.write_bytes(text)
            yield place
    place.unlink(missing_ok=True)


def split_text(chunks: Iterable[bytes], size: int) -> Iterator[tuple[int, bytes]]:
    """Yield pieces of a document of about `size` bytes, each with the number to add to its offsets."""
    pending, head, begin = b"", b"", 0
    for chunk in chunks:
        pending += chunk
        cut = pending.rfind(BEGIN) if len(pending) >= size else -1
        before = pending[:cut].rstrip() if cut > 0 else b""
        if before.endswith(b","):
            yield begin - len(head), head + before[:-1] + TAIL
            pending, head, begin = pending[cut:], _HEAD, begin + cut
    yield begin - len(head), head + pending


RESULT = ("data", "result")


def locate_samples(path: Path, numbers: Collection[int]) -> dict[int, int]:
    """Return the byte offsets of samples in the uncompressed content by their numbers, from 1.

    Return no offsets if Python does not read the document like the engine.
    """
    offsets: dict[int, int] = {}
    count = 0
    chunks = iter_decompressed(path)
    first = next(chunks, b"")
    bare = first.removeprefix(BOM_UTF8)
    try:
        for before, text in split_text(chain([bare], chunks), PIECE):
            before += len(first) - len(bare)
            for place in _iter_sample_offsets(text):
                count += 1
                if count in numbers:
                    offsets[count] = before + place
            if len(offsets) == len(numbers):
                break
    except (ValueError, IndexError, RecursionError):
        offsets.clear()
    return offsets


def _iter_sample_offsets(response: bytes) -> Iterator[int]:
    """Yield the offsets of the samples of a response."""
    text = response.decode("latin-1")  # one character per byte; the content of names and labels does not matter
    for series, _ in find_item_spans(text, find_list_start(text, RESULT)):
        begin = find_value_start(text, series, "values")
        if text[begin] == "[":  # native histograms have no values
            yield from (place for place, _ in find_item_spans(text, begin))


#: within a string, the quotes would be escaped; labels have only string values
_WARNING = re.compile(rb'"warnings"\s*:\s*(?=\[)|"isPartial"\s*:\s*true')
_LONGEST = 2**16  # bytes of warnings that are read
PARTIAL = "it is partial"


def find_warnings(text: bytes) -> tuple[str, ...]:
    """Return the warnings in the text of a response, or of a piece of one."""
    texts: list[str] = []
    for match in _WARNING.finditer(text):
        if b"warnings" in match.group():
            texts += _parse_warnings(text[match.end() : match.end() + _LONGEST])
        else:
            texts.append(PARTIAL)
    return tuple(dict.fromkeys(texts))


def _parse_warnings(text: bytes) -> list[str]:
    try:
        items, _ = json.JSONDecoder().raw_decode(text.decode("utf-8", "replace"))
    except ValueError:
        return ["warnings that cannot be read"]
    return [item for item in items if isinstance(item, str) and item]


HEAD = ("/status", "/error", "/data/resultType", "/data/result")
#: a sample, `[1795231211.714,"250"]`. No string of a document contains one, since it would have to escape the quotes
SAMPLE = r'\[\s*([-+0-9.eE]+)\s*,\s*"([-+0-9.eEInfNa]*)"\s*\]'
#: prefix of samples that were turned into strings, `"1795231211.714 250"`, to avoid a conversion to doubles; a string
#: in place of a sample has no such prefix
MARK = "\x7f"
SHAPE = '{"data":{"result":[{"metric":"MAP(VARCHAR, VARCHAR)","values":["VARCHAR"],"histograms":"JSON"}]}}'

_NAME = f"coalesce(map_extract_value(labels, '{NAME}'), '')"
_RESPONSE = rf"""
CREATE TABLE response AS
SELECT
    row_number() OVER () + $earlier_count AS place,
    item.metric AS labels,
    item.values AS samples,
    item.histograms AS histograms
FROM (
    SELECT unnest(from_json(regexp_replace(content, '{SAMPLE}', '"{MARK}\1 \2"', 'g'), '{SHAPE}').data.result) AS item
    FROM read_text($file)
)
"""
#: samples of the table `response`. An item that is not a sample is still JSON, and its instant may be valid.
_SAMPLES = f"""
CREATE TABLE response_samples AS
SELECT
    place,
    row_number() OVER () + $earlier_count AS number,
    seconds_to_ns(
        CASE WHEN starts_with(item, '{MARK}') THEN split_part(text, ' ', 1)
            ELSE TRY(CAST(json_extract(item, '$[0]') AS VARCHAR)) END
    ) AS t_ns,
    text_to_double(CASE WHEN starts_with(item, '{MARK}') THEN split_part(text, ' ', 2) END) AS value,
    CAST(NULL AS VARCHAR) AS fault,
    text
FROM (SELECT place, item, ltrim(item, '{MARK}') AS text FROM (SELECT place, unnest(samples) AS item FROM response))
"""
#: adds the labels of their series to the texts of malformed samples
_ADD_LABELS = """
UPDATE response_samples AS sample
SET text = (
    SELECT concat_ws(' ', to_json(response.labels), sample.text) FROM response WHERE response.place = sample.place
)
WHERE t_ns IS NULL OR value IS NULL
"""


def load(
    connection: duckdb.DuckDBPyConnection,
    path: Path,
    plain: Path,
    file: int,
    folder: Path,
    read_names: Collection[str] | None = None,
) -> tuple[tuple[str, ...], list[HistogramSample]]:
    """Add the samples of a response; return the warnings of the server and native histograms.

    `plain` is the uncompressed content of `path`; `folder` is for temporary files.

    Raises AssayError if it is not JSON, an error of the server, or another result than a matrix, and for series
    with native histograms that `read_names` name as if they had numbers.
    """
    import duckdb

    texts: list[str] = []
    histograms: list[HistogramSample] = []
    plain = _remove_byte_order_mark(plain, folder)
    try:
        series_count = sample_count = 0
        for index, piece in enumerate(split_response(plain, folder, PIECE)):
            if not index:
                _check_response(path, _read_head(connection, piece))
            text = piece.read_bytes()
            texts += find_warnings(text)
            _create_response_table(connection, piece, series_count)
            _check_series(connection, path, read_names)
            series_count += count_rows(connection, "response")
            histograms += _read_histograms(connection, file, read_names or ())
            sample_count += _add_response(connection, file, sample_count)
    except duckdb.Error as error:
        if is_disk_full_error(error):
            raise
        if isinstance(error, duckdb.OutOfMemoryException):
            raise _build_too_large_error(path, get_first_line(error)) from None
        raise _build_malformed_error(path, plain, get_first_line(error)) from None
    return tuple(texts), histograms


def _read_histograms(
    connection: duckdb.DuckDBPyConnection, file: int, read_names: Collection[str]
) -> list[HistogramSample]:
    """Return the native histograms of the table `response`; note malformed ones whose series are read."""
    rows = execute(connection, "SELECT CAST(to_json(labels) AS VARCHAR), histograms FROM response "
                               "WHERE histograms IS NOT NULL AND labels IS NOT NULL ORDER BY place")  # fmt: skip
    result = []
    for text, items in rows:
        labels = json.loads(text)
        is_read = not {*read_names}.isdisjoint(list_series_names(labels.get(NAME, "")))
        for item in json.loads(items) if NAME in labels else ():
            try:
                at, value = item
                t_ns = int(Decimal(str(at)) * SECOND)
                result.append(HistogramSample(file, labels, t_ns, parse_answered(value)))
            except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError):
                if is_read:
                    execute(connection, "INSERT INTO malformed_samples VALUES ($file, 0, $reason, $text)", file=file,
                            reason=NO_HISTOGRAM, text=f"{text} {json.dumps(item)}")  # fmt: skip
    return result


def _remove_byte_order_mark(plain: Path, folder: Path) -> Path:
    """Return the document, or a copy of it without its byte order mark."""
    with plain.open("rb") as stream:
        if stream.read(len(BOM_UTF8)) != BOM_UTF8:
            return plain
        copy = folder / f"{plain.name}.unmarked"
        with copy.open("wb") as target:
            shutil.copyfileobj(stream, target)
    return copy


def _build_too_large_error(path: Path, cause: str) -> AssayError:
    hint = "fetch the samples in parts with `assay fetch prometheus`"
    return fail("too-large", f"the response is too large: {path}", found=cause, hint=hint)


def _add_response(connection: duckdb.DuckDBPyConnection, file: int, earlier_count: int) -> int:
    """Add the samples of the table `response` after `earlier_count` samples of the file; return their number."""
    add_series(connection, file, f"SELECT place, {_NAME} AS name, labels FROM response")
    execute(connection, _SAMPLES, earlier_count=earlier_count)
    connection.execute(_ADD_LABELS)
    add_samples(connection, file, "response_samples")
    count = count_rows(connection, "response_samples")
    drop_tables(connection, "response", "response_samples")
    return count


def _read_head(connection: duckdb.DuckDBPyConnection, plain: Path) -> list[str | None]:
    """Return the values of a document at the paths of `HEAD`; of the result only its JSON type."""
    pointers = ", ".join(f"'{pointer}'" for pointer in HEAD[:3])
    ((texts, result),) = execute(
        connection,
        f"SELECT json_extract_string(content, [{pointers}]), json_type(content, '{HEAD[3]}') FROM read_text($file)",
        file=glob.escape(str(plain)),
    )
    return [*texts, result]


def _check_response(path: Path, head: list[str | None]) -> None:
    """Check that a document is a response with a matrix. Raises AssayError."""
    status, error, kind, result = head
    if status == "error":
        raise fail("answer-error", f"the saved response of the server is an error: {path}", found=error or "")
    if status != "success":
        raise fail(
            "not-samples",
            f"the JSON document is not a response of a Prometheus server: {path}",
            expected='`"status":"success"`',
            found="no status" if status is None else f"status {status}",
        )
    if kind != "matrix" or result != "ARRAY":
        actual = f"a result that is {result}" if result else "no result"
        raise fail(
            "not-samples",
            f"the response has no series of samples: {path}",
            expected="a result of type matrix",
            found=actual if kind == "matrix" else f"a result of type {kind}",
            hint="ask for a selector with a range, such as `up[1h]`, or use `assay fetch prometheus`",
        )


def _create_response_table(connection: duckdb.DuckDBPyConnection, plain: Path, earlier_count: int) -> None:
    """Create the table `response`, one row per series: place, labels, samples (as texts), histograms."""
    execute(connection, _RESPONSE, file=glob.escape(str(plain)), earlier_count=earlier_count)


#: what to do about a native histogram
_NATIVE = "read the samples of its buckets: `NAME_bucket`, with the label `le`"
#: why an item is malformed
NO_HISTOGRAM = "no native histogram: expected count, sum, buckets"


def _check_series(connection: duckdb.DuckDBPyConnection, path: Path, read_names: Collection[str] | None) -> None:
    """Check that each series has samples and labels that form a map, and that none of `read_names` has histograms.

    Raises AssayError for the first series that does not. A duplicate label makes the labels null.
    """
    rows = execute(
        connection,
        f"""
        SELECT place, {_NAME}, histograms IS NOT NULL
        FROM response
        WHERE
            labels IS NULL
            OR CASE WHEN histograms IS NULL THEN samples IS NULL
                ELSE list_contains(CAST($read AS VARCHAR[]), {_NAME}) END
        ORDER BY place
        LIMIT 1
        """,
        read=list(read_names or ()),
    )
    if rows:
        ((place, name, is_native),) = rows
        raise fail(
            "not-samples",
            f"series {place} of the response has no samples: {path}",
            expected="a metric with its labels, and values",
            found=f"native histograms of {name}" if is_native else name or "no metric",
            hint=_NATIVE if is_native else "",
        )


def _build_malformed_error(path: Path, plain: Path, cause: str) -> AssayError:
    """Return the error for an invalid document, with the location if Python finds it; `cause` is from the engine."""
    try:
        document: Any = parse_json(plain.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        return sample_store.build_unreadable_error(path, str(error))
    except json.JSONDecodeError as error:
        return fail(
            "not-json",
            f"the response is not JSON: {path}",
            span=Span(str(path), error.lineno, error.colno),
            found=error.msg,
            hint="is the file cut off?",
        )
    except (ValueError, RecursionError):  # Python rejects it, too, without a location
        return fail("not-json", f"the response is not JSON: {path}", found=cause)
    kind = type(document).__name__
    return fail(
        "not-samples", f"the JSON document is not a response of a Prometheus server: {path}", found=f"{kind}: {cause}"
    )
