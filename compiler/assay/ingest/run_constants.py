"""Read the constants of a run from JSON documents and lines of text files in its directory."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from assay.lang.line_pattern import VALUE
from assay.lang.model.package import Constant, Source
from assay.lang.units import count_nanoseconds
from assay.util.diagnostics import AssayError, Diagnostic, Span, read_excerpt
from assay.util.json_text import has_conflicting_key, parse_json
from assay.util.numbers import MAGNITUDE
from assay.util.paths import resolve_path
from assay.util.time_units import SECOND

NO_DOCUMENT = "no-document"
_SUBJECT = "the run has no "
MAX_LISTED = 3  # constants that a message lists
#: pattern of instants in documents, also printed by `assay schema`
INSTANT = "([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(?:[.]([0-9]+))?Z"


def read_constants(source: Source, directory: Path) -> Mapping[str, object]:
    """Return the values of all constants of the source; instants and durations are integer ns.

    An instant with an empty default is optional, and may be None.

    Raises AssayError with all problems of the documents of the run.
    """
    documents: dict[Path, Any] = {}
    values: dict[str, object] = {}
    problems: dict[str, Diagnostic] = {}
    by_message: dict[str, list[Constant]] = {}
    for constant in source.constants:
        try:
            values[constant.name] = _read_constant(constant, directory, documents)
        except AssayError as error:
            for item in error.diagnostics:
                problems.setdefault(item.message, item)
                by_message.setdefault(item.message, []).append(constant)
    if problems:
        raise AssayError(tuple(_add_constants(item, source, by_message[text]) for text, item in problems.items()))
    return values


def set_start(source: Source, constants: Mapping[str, object], run: str) -> Source:
    """Return a source with the instant from which its numbers count in a run, if it has one.

    `constants` are all constants of the run. Raises AssayError if the run has no value of an optional one.
    """
    if not source.start:
        return source
    start_ns = constants[source.start]
    if not isinstance(start_ns, int):
        raise _build_error(
            "missing-fact",
            f"run {run} has no value of the constant `{source.start}`, from which the instants of source "
            f"`{source.name}` count",
            expected=_EXPECTED["instant"],
        )
    return replace(source, start_ns=start_ns)


def locate_constant(constant: Constant, directory: Path) -> Constant | None:
    """Return a constant with the only place of its value in a run, None if the default applies.

    That is a file relative to the directory, with the path in a document, or with `:` and the number of a line.
    """
    if constant.line:
        from assay.ingest import constant_lines  # imports sqlglot, which a cached build does not need

        line = constant_lines.find_line(constant, directory)
        return (
            replace(constant, files=(f"{line.file.relative_to(directory).as_posix()}:{line.number}",)) if line else None
        )
    file = _find_file(constant, directory)
    path, value = _locate(_read_document(file), constant) if file else (constant.path, None)
    if file is None or value is None:
        return None
    return replace(constant, files=(file.relative_to(directory).as_posix(),), path=path, or_at=())


def find_constant_file(constant: Constant, directory: Path) -> Path | None:
    """Return the file of a run that a constant is read from, or None."""
    if constant.line:
        from assay.ingest import constant_lines  # imports sqlglot, which a cached build does not need

        line = constant_lines.find_line(constant, directory)
        return line.file if line else None
    return _find_file(constant, directory)


def list_duplicate_constant_warnings(source: Source, directory: Path) -> tuple[str, ...]:
    """Return a sentence for each constant with two values, in one document or in two.

    Expects a run whose constants `read_constants` can read.
    """
    documents: dict[Path, Any] = {}
    sentences = []
    for constant in source.constants:
        if constant.line or not (files := _list_files(constant, directory)):
            continue
        first, *others = files
        path, value = _locate(documents.setdefault(first, _read_document(first)), constant)
        dotted = f"`{'.'.join(path)}` ({constant.doc})"
        if has_conflicting_key(documents[first], path):
            sentences.append(f"{first.name} has two values of {dotted}; the first counts.")
        for other in others:
            other_value = _read_value(constant, other)
            if None not in (value, other_value) and other_value != _convert_value(constant, value, first):
                used, unused = (item.relative_to(directory).as_posix() for item in (first, other))
                raw = _locate(_read_document(other), constant)[1]
                sentences.append(
                    f"{dotted} is {_quote(value)} in {used}, but {_quote(raw)} in {unused}; {used} is used."
                )
    return tuple(dict.fromkeys(sentences))


def _read_value(constant: Constant, file: Path) -> object:
    """Return the value of a constant in a document that is not used, None if there is none or it is invalid."""
    try:
        path, value = _locate(_read_document(file), constant)
        return None if value is None else _convert_value(replace(constant, path=path), value, file)
    except AssayError:
        return None


def _add_constants(item: Diagnostic, source: Source, constants: Sequence[Constant]) -> Diagnostic:
    """Return a diagnostic; for a missing document, add the constants that are read from it."""
    if item.code != NO_DOCUMENT or item.span:
        return item
    named = ", ".join(f"`{constant.name}` ({constant.doc})" for constant in constants[:MAX_LISTED])
    more = f" and {len(constants) - MAX_LISTED} more" if len(constants) > MAX_LISTED else ""
    noun = "constant" if len(constants) == 1 else "constants"
    return replace(item, notes=(f"it has the {noun} {named}{more} of source `{source.name}`",))


def join_missing_documents(problems: Sequence[tuple[Path, Diagnostic]]) -> tuple[Diagnostic, ...]:
    """Return the problems of runs, each with the directory of its run: one for all runs that lack the same document."""
    directories: dict[Diagnostic, list[Path]] = {}
    for directory, item in problems:
        is_missing = item.code == NO_DOCUMENT and not item.span
        subject = item.message.removeprefix(_SUBJECT).removesuffix(f": {directory}") if is_missing else item.message
        directories.setdefault(replace(item, message=subject), []).append(directory)
    return tuple(
        replace(item, message=_describe_missing(item.message, *places))
        if item.code == NO_DOCUMENT and not item.span
        else item
        for item, places in directories.items()
    )


def _describe_missing(names: str, *directories: Path) -> str:
    subject = _SUBJECT if len(directories) == 1 else f"{len(directories)} runs have no "
    return f"{subject}{names}: {', '.join(map(str, directories))}"


def _build_error(code: str, message: str, **more: Any) -> AssayError:
    return AssayError((Diagnostic(code, message, **more),))


def _read_constant(constant: Constant, directory: Path, documents: dict[Path, Any]) -> object:
    if constant.line:
        return _read_line_constant(constant, directory)
    path = _find_file(constant, directory)
    if path is None:
        if constant.default is not None:
            return _convert_value(constant, _parse_default(constant), directory)
        hint = f"see its required content with `assay schema {constant.files[0]}`"
        raise _build_error(NO_DOCUMENT, _describe_missing(" or ".join(constant.files), directory), hint=hint)
    if path not in documents:
        documents[path] = _read_document(path)
    keys, value = _locate(documents[path], constant)
    if value is None:
        if constant.default is None:
            dotted = " or ".join(f"`{'.'.join(keys)}`" for keys in (constant.path, *constant.or_at))
            raise _build_error(
                "missing-fact", f"the run's {path.name} lacks {dotted} ({constant.doc})", span=Span(str(path))
            )
        return _convert_value(constant, _parse_default(constant), path)
    return _convert_value(replace(constant, path=keys), value, path)


def _read_line_constant(constant: Constant, directory: Path) -> object:
    from assay.ingest import constant_lines  # imports sqlglot, which a cached build does not need

    line = constant_lines.find_line(constant, directory)
    if line:
        value = constant_lines.parse_text(constant, line.text)
        try:
            return _parse_value(constant, value)
        except ValueError:
            place = f"line {line.number} of the run's {line.file.name}"
            raise _build_wrong_value_error(constant, value, f"`{{{VALUE}}}` in {place}", *line.locate()) from None
    if constant.default is not None:
        return _convert_value(constant, _parse_default(constant), directory)
    files, names = constant_lines.list_line_files(constant, directory), " or ".join(constant.files)
    if not files:
        hint = f"it must have a line of the pattern `{constant.line}`"
        raise _build_error(NO_DOCUMENT, _describe_missing(names, directory), hint=hint)
    raise _build_error(
        "missing-fact",
        f"the run's {names} has no line `{constant.line}` ({constant.doc})",
        span=Span(str(files[0])) if len(files) == 1 else None,
        expected=f"such a line among the first {constant_lines.SEARCHED_LINES} of a file",
        hint=_find_indented_line_hint(constant, directory),
    )


def _find_indented_line_hint(constant: Constant, directory: Path) -> str:
    """Return a hint if a line matches the pattern of a constant but for leading blanks; empty without such a line."""
    from assay.ingest import constant_lines  # imports sqlglot, which a cached build does not need

    line = constant_lines.find_line(replace(constant, line=f" {constant.line}"), directory)
    if not line:
        return ""
    place = f"line {line.number} of {line.file.relative_to(directory).as_posix()}"
    return f"{place} matches but for its leading blanks: begin the pattern with a blank"


def _list_files(constant: Constant, directory: Path) -> list[Path]:
    """Return the documents of a constant that a run has, in order."""
    return [directory / name for name in constant.files if resolve_path(directory / name).is_file()]


def _find_file(constant: Constant, directory: Path) -> Path | None:
    """Return the first document of a constant that a run has, or None."""
    return next(iter(_list_files(constant, directory)), None)


def _locate(document: Any, constant: Constant) -> tuple[tuple[str, ...], Any]:
    """Return the first path of a constant at which a document has a value, and that value.

    Without a value, return the first path of the constant and None. Objects and lists at other paths than the first are
    not values, since an older form of a document may have a text where a newer one has an object.
    """
    for path in (constant.path, *constant.or_at):
        value = document
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        if value is not None and (path == constant.path or not isinstance(value, (dict, list))):
            return path, value
    return constant.path, None


def _read_document(path: Path) -> Any:
    try:
        return parse_json(path.read_text(encoding="utf-8"), parse_float=Decimal)
    except json.JSONDecodeError as error:
        span = Span(str(path), error.lineno, error.colno)
        raise _build_error(
            "not-json",
            f"{path.name} is not JSON: {error.msg}",
            span=span,
            excerpt=read_excerpt(path, error.lineno, error.colno),
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise _build_error(NO_DOCUMENT, f"{path.name} cannot be read: {error}", span=Span(str(path))) from None
    except (ValueError, RecursionError) as error:
        cause = "it is nested too deep" if isinstance(error, RecursionError) else str(error)
        raise _build_error("not-json", f"{path.name} cannot be read as JSON: {cause}", span=Span(str(path))) from None


def _parse_default(constant: Constant) -> object:
    text = constant.default or ""
    if constant.type == "boolean":
        return {"true": True, "false": False}.get(text, text)
    return Decimal(text) if constant.type in ("integer", "real", "duration") else text


def _convert_value(constant: Constant, value: object, path: Path) -> object:
    """Return a value of a document as the type of the constant. Raises AssayError if it is not one."""
    try:
        return _parse_value(constant, value)
    except ValueError:
        name = f"`{'.'.join(constant.path)}` of the run's {path.name}"
        raise _build_wrong_value_error(constant, value, name, *_find_key(path, constant.path[-1])) from None


def _parse_value(constant: Constant, value: object) -> object:
    """Return a value as the type of the constant. Raises ValueError if it is not one."""
    kind = constant.type
    is_number = isinstance(value, (int, Decimal)) and not isinstance(value, bool)
    if kind == "text" and isinstance(value, str):
        return value
    if kind == "boolean" and isinstance(value, bool):
        return value
    if kind == "instant" and value == "" and constant.default == "":
        return None  # an optional instant
    if kind == "instant" and isinstance(value, str):
        return _parse_instant(value)
    if is_number and isinstance(value, (int, Decimal)):
        exact = Decimal(value)
        if not exact.is_finite() or exact.adjusted() > MAGNITUDE or (constant.positive and exact <= 0):
            raise ValueError(value)
        if kind == "real":
            return float(exact)
        if kind == "duration" and (nanoseconds := int(exact * count_nanoseconds(constant.unit.name))) >= 1:
            return nanoseconds
        if kind == "integer" and exact == exact.to_integral_value():
            return int(exact)
    raise ValueError(value)


def _parse_instant(text: str) -> int:
    """Return an instant in ns since 1970. Raises ValueError if the text is not one."""
    if not (match := re.fullmatch(INSTANT, text)):
        raise ValueError(text)
    instant = datetime.fromisoformat(match[1]).replace(tzinfo=UTC)
    seconds = int((instant - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds())
    return seconds * SECOND + int((match[2] or "")[:9].ljust(9, "0"))


_EXPECTED = {
    "text": "a text",
    "boolean": "true or false",
    "instant": "a time in UTC, such as 2026-02-05T18:52:16Z",
    "real": "a number",
    "duration": "a number above 0",
    "integer": "a whole number",
}


def _describe_expected(constant: Constant, value: object) -> str:
    """Return the expected value of a constant in words, instead of an invalid value."""
    if constant.type == "duration" and isinstance(value, Decimal) and value.is_finite() and 0 < value < 1:
        return "a nanosecond or more"
    return _EXPECTED[constant.type] + (" above 0" if constant.positive else "")


def _build_wrong_value_error(constant: Constant, value: object, name: str, span: Span, excerpt: str) -> AssayError:
    """Return the error for a value that is not of the type of its constant; `name` is the value in words."""
    return _build_error(
        "wrong-fact",
        f"{name} has a wrong value ({constant.doc})",
        span=span,
        excerpt=excerpt,
        expected=_describe_expected(constant, value),
        found=_quote(value),
    )


def _quote(value: object) -> str:
    """Return a value of a document as JSON, truncated to 200 characters."""
    text = str(value) if isinstance(value, Decimal) else json.dumps(value, default=str, ensure_ascii=False)
    return text[:200]


def _find_key(path: Path, key: str) -> tuple[Span, str]:
    """Return the first location of a key in a document, with an excerpt; only the path if there is none."""
    if not path.is_file():
        return Span(str(path)), ""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        column = line.find(f'"{key}"') + 1
        if column:
            return Span(str(path), number, column, len(key) + 2), read_excerpt(path, number, column, len(key) + 2)
    return Span(str(path)), ""
