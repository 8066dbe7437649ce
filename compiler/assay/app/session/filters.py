"""Parse filters as the user writes them: `NAME`, `NAME=ARGUMENT`, `@FILE`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from assay.app.session.filter_files import format_use, read_filter_files
from assay.app.session.selection import is_file
from assay.lang.model.filters import Filter, FilterSource
from assay.lang.model.package import Package
from assay.lang.model.report import Report
from assay.plan.planner import AppliedFilter
from assay.util.diagnostics import USAGE, AssayError, fail, suggest_names
from assay.util.numbers import NUMBER, parse_decimal

SHOWN = 80  # characters of an argument in a message


def parse_filters(
    package: Package, report: Report | None, filter_texts: Sequence[str], no_filters: bool
) -> tuple[AppliedFilter, ...]:
    """Return the filters to apply: those in `filter_texts`, or else (unless `no_filters`) those of the report.

    Raises AssayError (usage) for an invalid filter.
    """
    if no_filters and filter_texts:
        raise fail("filters", "--no-filters excludes --filter and --filter-file", status=USAGE)
    if no_filters:
        return ()
    texts = list(_iter_filters(package, filter_texts))
    if not filter_texts and report:
        texts = list(map(format_use, report.filters))
    return tuple({item.label: item for item in (_parse_filter(package, text) for text in texts)}.values())


def _iter_filters(package: Package, texts: Sequence[str]) -> Iterator[str]:
    """Yield the filters of texts; those of files (`@FILE`) in place of the first of these."""
    sources = list_filter_sources(package, texts)
    for text in texts:
        if not is_file(text):
            yield text
            continue
        for source in sources:
            yield from source.filters
        sources = ()


def list_filter_sources(package: Package, texts: Sequence[str]) -> tuple[FilterSource, ...]:
    """Return the files among texts of filters, with the filters that they have.  Raises AssayError."""
    return read_filter_files(package, texts, partial(_parse_filter, package))


def _parse_filter(package: Package, text: str) -> AppliedFilter:
    name, equals, argument = text.partition("=")
    filters_by_name = {item.name: item for item in package.filters}
    if name not in filters_by_name:
        raise fail(
            "unknown-filter", f"there is no filter `{name}`", hint=suggest_names(name, filters_by_name), status=USAGE
        )
    item = filters_by_name[name]
    if item.parameter is None:
        if equals:
            raise fail("filter-argument", f"filter `{name}` takes no argument", found=text, status=USAGE)
        return AppliedFilter(item, None)
    if not argument:
        raise _create_argument_error(item, text, f"filter `{name}` needs an argument")
    return AppliedFilter(item, _parse_number(item, argument, text))


def _parse_number(item: Filter, argument: str, text: str) -> str:
    assert item.parameter is not None
    number = parse_decimal(argument)
    if number is None:
        problem = "out of range" if NUMBER.fullmatch(argument) else "not a number"
        raise _create_argument_error(item, text[:SHOWN], f"the argument of filter `{item.name}` is {problem}")
    if item.parameter.type == "integer" and number != number.to_integral_value():
        raise _create_argument_error(item, text, f"the argument of filter `{item.name}` is not a whole number")
    return str(int(number)) if item.parameter.type == "integer" else f"{number:f}"


def _create_argument_error(item: Filter, text: str, message: str) -> AssayError:
    assert item.parameter is not None
    kind = "a whole number" if item.parameter.type == "integer" else "a number"
    return fail(
        "filter-argument",
        message,
        expected=f"{item.name}={item.parameter.name.upper()}, {kind}",
        found=text,
        hint=item.doc,
        status=USAGE,
    )
