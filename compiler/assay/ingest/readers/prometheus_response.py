"""Read saved responses of the Prometheus HTTP API: JSON documents with a matrix of series.

`warnings` is part of the API of Prometheus, for responses without some of its stores; `isPartial` of compatible
servers. The first value of a duplicate key counts.
"""

from __future__ import annotations

import glob
import json
import re
import shutil
from codecs import BOM_UTF8
from collections.abc import Collection, Iterable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from assay.ingest import builder
from assay.ingest.decompress import iter_decompressed
from assay.ingest.readers import sample_store
from assay.ingest.readers.json_record_positions import find_item_spans, find_list_start, find_value_start
from assay.ingest.readers.sample_store import (
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
from assay.util.diagnostics import AssayError, Span, fail
from assay.util.json_text import parse_json
from assay.util.os_errors import is_disk_full_error

if TYPE_CHECKING:
    import duckdb


PIECE = 16 * 2**20  # bytes
#: beginning of a series, as servers write it; within a string, its quotes would be escaped
BEGIN = b'{"metric":'
_HEAD, TAIL = b'{"status":"success","data":{"resultType":"matrix","result":[', b"]}}"


def split_response(plain: Path, folder: Path, size: int) -> Iterator[Path]:
    """Yield the document itself if it has at most `size` bytes or another layout, else pieces of it, one file at a
    time.

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
    """Yield the pieces of a document of about `size` bytes, each with the difference of offsets to the document."""
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

    Nothing if Python does not read the document like the engine.
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


def _iter_sample_offsets(answer: bytes) -> Iterator[int]:
    """Yield the offsets of the samples of a response."""
    text = answer.decode("latin-1")  # one character per byte; the content of names and labels does not matter
    for series, _ in find_item_spans(text, find_list_start(text, RESULT)):
        yield from (place for place, _ in find_item_spans(text, find_value_start(text, series, "values")))


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
#: a sample, `[1795231211.714,"250"]`. No string in a document resembles one, since within its quotes is only a number
SAMPLE = r'\[\s*([-+0-9.eE]+)\s*,\s*"([-+0-9.eEInfNa]*)"\s*\]'
#: prefix of samples that were turned into strings, `"1795231211.714 250"`, to avoid a conversion to doubles; a string
#: in place of a sample has no such prefix
MARK = "\x7f"
SHAPE = '{"data":{"result":[{"metric":"MAP(VARCHAR, VARCHAR)","values":["VARCHAR"],"histograms":"JSON"}]}}'


def load(connection: duckdb.DuckDBPyConnection, path: Path, plain: Path, file: int, folder: Path) -> tuple[str, ...]:
    """Add the samples of a response; return the warnings of the server.

    `plain` is the uncompressed content of `path`; `folder` is for temporary files.

    Raises AssayError if it is not JSON, an error of the server, or another result than a matrix, and for histograms.
    """
    import duckdb

    texts: list[str] = []
    plain = _remove_byte_order_mark(plain, folder)
    try:
        series_count = sample_count = 0
        for index, piece in enumerate(split_response(plain, folder, PIECE)):
            if not index:
                _check_response(path, _read_head(connection, piece))
            text = piece.read_bytes()
            texts += find_warnings(text)
            _create_answer_table(connection, piece, series_count)
            _check_series(connection, path)
            count = _count_rows(connection, "answer")
            series_count += count
            sample_count += _add_answer(connection, file, sample_count)
    except duckdb.Error as error:
        if is_disk_full_error(error):
            raise
        if isinstance(error, duckdb.OutOfMemoryException):
            raise _build_too_large_error(path, get_first_line(error)) from None
        raise _build_malformed_error(path, plain, get_first_line(error)) from None
    return tuple(texts)


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
    hint = "`assay fetch prometheus` gets samples in parts, from the server itself"
    return fail("too-large", f"the response is too large: {path}", found=cause, hint=hint)


def _add_answer(connection: duckdb.DuckDBPyConnection, file: int, earlier_count: int) -> int:
    """Add the samples of the table `answer` after `earlier_count` samples of the file; return their number."""
    name = exp.Coalesce(this=_build_label(sample_store.NAME), expressions=[builder.build_text("")])
    add_series(
        connection,
        file,
        builder.set_source(dialect.select("place", builder.build_alias(name, "name"), "labels"), "answer"),
    )
    create_table(connection, "pairs", _build_pairs_query(earlier_count))
    execute_statement(connection, _build_label_update())
    add_samples(connection, file, "pairs")
    count = _count_rows(connection, "pairs")
    drop_tables(connection, "answer", "pairs")
    return count


def _count_rows(connection: duckdb.DuckDBPyConnection, table: str) -> int:
    ((number,),) = execute_statement(connection, builder.set_source(dialect.select(exp.Count(this=exp.Star())), table))
    return int(number)


def _build_row_number(earlier_count: int) -> exp.Expr:
    """Return row numbers after a number of earlier rows."""
    return exp.Add(this=build_row_number(), expression=dialect.build_integer(earlier_count))


def _build_document_parameters(plain: Path) -> dict[str, object]:
    return {"file": glob.escape(str(plain))}


def _build_content() -> exp.Expr:
    return builder.call("read_text", exp.Placeholder(this="file"))


def _read_head(connection: duckdb.DuckDBPyConnection, plain: Path) -> list[str | None]:
    """Return the values of a document at the paths of `HEAD`; of the result only its JSON type."""
    texts_at_head = builder.call(
        "json_extract_string",
        build_column("content"),
        exp.Array(expressions=[builder.build_text(pointer) for pointer in HEAD[:3]]),
    )
    kind = builder.call("json_type", build_column("content"), builder.build_text(HEAD[3]))
    ((texts, result),) = execute_statement(
        connection,
        builder.set_source(dialect.select(texts_at_head, kind), _build_content()),
        **_build_document_parameters(plain),
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
        raise fail(
            "not-samples",
            f"the response has no series of samples: {path}",
            expected="a result of type matrix",
            found=f"a result of type {kind}" if kind != "matrix" else f"a result that is {result or 'not there'}",
            hint="ask for a selector with a range, such as `up[1h]`, or use `assay fetch prometheus`",
        )


def _create_answer_table(connection: duckdb.DuckDBPyConnection, plain: Path, earlier_count: int) -> None:
    """Create the table `answer`, one row per series: place, labels, pairs (instant and value as text), histograms."""
    quoted = builder.build_text(rf'"{MARK}\1 \2"')
    content = builder.call(
        "regexp_replace", build_column("content"), builder.build_text(SAMPLE), quoted, builder.build_text("g")
    )
    document = builder.call("from_json", content, builder.build_text(SHAPE))
    result = builder.call(
        "struct_extract",
        builder.call("struct_extract", document, builder.build_text("data")),
        builder.build_text("result"),
    )
    items = builder.set_source(
        dialect.select(builder.build_alias(exp.Explode(this=result), "item")), _build_content()
    ).subquery("items")
    parts = {"metric": "labels", "values": "pairs", "histograms": "histograms"}
    columns = [
        builder.build_alias(builder.call("struct_extract", build_column("item"), builder.build_text(key)), name)
        for key, name in parts.items()
    ]
    place = builder.build_alias(_build_row_number(earlier_count), "place")
    create_table(connection, "answer", builder.set_source(dialect.select(place, *columns), items),
         **_build_document_parameters(plain))  # fmt: skip


def _build_label(name: str) -> exp.Expr:
    return builder.call("map_extract_value", build_column("labels"), builder.build_text(name))


def _check_series(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Check that each series has samples, no native histograms, and labels that form a map.

    Raises AssayError for the first series that does not.  A duplicate label makes the labels null.
    """
    name = exp.Coalesce(this=_build_label(sample_store.NAME), expressions=[builder.build_text("")])
    is_invalid = exp.or_(
        builder.is_null(build_column("pairs")),
        builder.is_not_null(build_column("histograms")),
        builder.is_null(build_column("labels")),
    )
    query = builder.set_source(
        dialect.select("place", name, builder.is_not_null(build_column("histograms"))), "answer"
    ).where(is_invalid, copy=False)
    rows = execute_statement(connection, query.order_by("place").limit(1))
    if rows:
        ((place, name_text, native),) = rows
        raise fail(
            "not-samples",
            f"series {place} of the response has no samples: {path}",
            expected="a metric with its labels, and values",
            found=f"native histograms of {name_text}" if native else name_text or "no metric",
        )


def _build_pairs_query(earlier_count: int) -> exp.Select:
    """Return the query for the samples of `answer`: place, number, t_ns, value, fault (null), text."""
    each = builder.set_source(
        dialect.select("place", builder.build_alias(exp.Explode(this=build_column("pairs")), "text")), "answer"
    )
    text = builder.call("ltrim", build_column("text"), builder.build_text(MARK))
    parts = [
        builder.call("split_part", text.copy(), builder.build_text(" "), dialect.build_integer(index))
        for index in (1, 2)
    ]
    # An item that is not a sample is still JSON, and its instant may be valid.
    is_odd = exp.Not(this=builder.build_starts_with(build_column("text"), MARK))
    instant = builder.build_try(
        builder.cast(builder.call("json_extract", build_column("text"), builder.build_text("$[0]")), "TEXT")
    )
    t_ns = builder.build_alias(sample_store.build_instant(builder.build_if(is_odd, instant, parts[0])), "t_ns")
    value = builder.build_alias(sample_store.build_number(builder.build_if(exp.not_(is_odd.copy()), parts[1])), "value")
    fault = builder.build_alias(builder.cast(exp.Null(), "TEXT"), "fault")
    number = builder.build_alias(_build_row_number(earlier_count), "number")
    return builder.set_source(
        dialect.select("place", number, t_ns, value, fault, builder.build_alias(text, "text")), each.subquery("e")
    )


def _build_label_update() -> exp.Update:
    """Return the statement that prefixes malformed samples with the labels of their series."""
    words = [
        builder.build_text(" "),
        builder.call("to_json", build_column("labels", "answer")),
        build_column("text", "p"),
    ]
    is_same = exp.EQ(this=build_column("place", "answer"), expression=build_column("place", "p"))
    line = builder.set_source(dialect.select(builder.call("concat_ws", *words)), "answer").where(is_same, copy=False)
    return exp.Update(
        this=exp.to_table("pairs", alias="p"),
        expressions=[exp.EQ(this=build_column("text"), expression=line.subquery())],
        where=exp.Where(this=exp.or_(builder.is_null(build_column("t_ns")), builder.is_null(build_column("value")))),
    )


def _build_malformed_error(path: Path, plain: Path, cause: str) -> AssayError:
    """Return the error for an invalid document, with a location if Python finds one; `cause` is that of the engine."""
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
