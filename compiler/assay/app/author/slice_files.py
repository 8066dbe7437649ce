"""Read and write slices: examples from real runs, each a folder with an expected sample and the lines behind it.

examples/NAME/example.json    system, filters, and the expected sample of a row of a metric
examples/NAME/run/...         some lines of the run, in the files that they come from
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.lang.checked_package import CheckedPackage
from assay.lang.formula import is_formula
from assay.lang.model.example import Example, Expectation
from assay.lang.model.package import Metric
from assay.lang.model.report import FilterUse
from assay.lang.workspace import Workspace
from assay.util.diagnostics import AssayError, Diagnostic, Span, fail, raise_all, read_excerpt, suggest_names
from assay.util.json_text import dump_indented, locate_value, parse_json
from assay.util.numbers import parse_decimal

FOLDER, FILE, RUN = "examples", "example.json", "run"
FORMAT = 1
_EXPECT = "expect"
#: members of the file and of each expected sample, with their types
_MEMBERS: dict[str, type] = {"format": int, "system": str, "filters": list, _EXPECT: list}
_EXPECTED_MEMBERS: dict[str, type] = {"metric": str, "unit": str, "row": dict, "value": str}


@dataclass(frozen=True, slots=True)
class RowExpectation(Expectation):
    """The expected sample of one row: `row` has the texts of the columns that identify it, `unit` is a symbol."""

    row: tuple[tuple[str, str], ...]
    unit: str


@dataclass(frozen=True, slots=True)
class Slice:
    """An example from a run: `span` is the position of its value in the file, `run` the folder with its lines."""

    example: Example
    span: Span
    run: Path


def describe_row(row: Sequence[tuple[str, str]]) -> str:
    """Return the columns and values that identify a row, without empty ones: `host web-1, request 1-000`."""
    return ", ".join(f"{name} {text}" for name, text in row if text)


def list_keys(checked: CheckedPackage, metric: Metric) -> tuple[str, ...]:
    """Return the columns that identify a sample of a metric."""
    grain = next(item for item in checked.package.grains if item.name == metric.grain)
    keys = grain.key if metric.reduction is None else metric.reduction.by
    return tuple(dict.fromkeys((*([metric.per] if metric.per else []), *keys)))


def format_example(system: str, filters: Sequence[str], expectation: RowExpectation, origin: dict[str, Any]) -> str:
    """Return the text of the file of a slice; `origin` says from which run and lines it is."""
    (value,) = expectation.samples
    expected = {
        "metric": expectation.metric,
        "unit": expectation.unit,
        "row": dict(expectation.row),
        "value": value,
    }
    data = {"format": FORMAT, "system": system, "filters": list(filters), _EXPECT: [expected], "origin": origin}
    return dump_indented(data) + "\n"


def list_slices(workspace: Workspace, checked: CheckedPackage) -> list[Slice]:
    """Return the slices of a system, by name. Raises AssayError with the problems of all files."""
    slices: list[Slice] = []
    problems: list[Diagnostic] = []
    for file in sorted(workspace.root.glob(f"{FOLDER}/*/{FILE}")):
        name = file.relative_to(workspace.root).as_posix()
        try:
            text, data = _read_file(file, name)
            _check_system(workspace, text, data, name)
        except AssayError as error:
            problems += error.diagnostics
            continue
        if data["system"] != checked.package.system:
            continue
        row_problems = list(_iter_problems(checked, text, data, name))
        problems += row_problems
        if not row_problems:
            slices.append(_create_slice(file.parent, text, data, name))
    raise_all(problems)
    return slices


def _read_file(file: Path, name: str) -> tuple[str, dict[str, Any]]:
    """Return the text of the file of a slice and its data. Raises AssayError if it has another form."""
    try:
        text = file.read_text(encoding="utf-8")
        data = parse_json(text)
    except json.JSONDecodeError as error:
        span = Span(name, error.lineno, error.colno)
        excerpt = read_excerpt(file, error.lineno, error.colno)
        raise fail("not-json", f"the example is not JSON: {error.msg}", span=span, excerpt=excerpt) from None
    except (OSError, ValueError, RecursionError) as error:
        raise fail("broken-file", "the example cannot be read", span=Span(name), found=str(error)) from None
    if isinstance(data, dict) and data.get("format", FORMAT) != FORMAT:
        raise fail("example", "the example has an unknown format", span=_locate(name, text, ["format"]),
                   expected=str(FORMAT), found=str(data["format"]))  # fmt: skip
    raise_all(_iter_form_problems(name, text, data, []))
    return text, data


def _iter_form_problems(name: str, text: str, data: Any, path: list[str | int]) -> Iterator[Diagnostic]:
    """Yield the missing and wrong members of an object of the file."""
    members = _EXPECTED_MEMBERS if path else _MEMBERS
    if not isinstance(data, dict):
        yield Diagnostic("example", "the example has a wrong form", _locate(name, text, path), expected="an object")
        return
    if data.get(_EXPECT) == []:
        yield Diagnostic("example", "the example expects no sample", _locate(name, text, [_EXPECT]))
    for member, kind in members.items():
        if not isinstance(data.get(member), kind):
            problem = "is missing" if member not in data else f"is not {_KINDS[kind]}"
            yield Diagnostic("example", f"`{member}` {problem}", _locate(name, text, [*path, member]))
        elif kind is list or kind is dict:
            items = data[member].values() if kind is dict else data[member]
            if member == _EXPECT:
                for index, item in enumerate(items):
                    yield from _iter_form_problems(name, text, item, [member, index])
            elif not all(isinstance(item, str) for item in items):
                yield Diagnostic("example", f"`{member}` has other values than texts",
                                 _locate(name, text, [*path, member]))  # fmt: skip


_KINDS = {int: "a number", str: "a text", list: "a list", dict: "an object"}


def _locate(name: str, text: str, path: Sequence[str | int]) -> Span:
    return Span(name, *locate_value(text, path))


def _check_system(workspace: Workspace, text: str, data: dict[str, Any], name: str) -> None:
    systems = workspace.list_systems()
    if data["system"] not in systems:
        raise fail("unknown-system", f"there is no system `{data['system']}`", span=_locate(name, text, ["system"]),
                   hint=suggest_names(data["system"], systems))  # fmt: skip


def _iter_problems(checked: CheckedPackage, text: str, data: dict[str, Any], name: str) -> Iterator[Diagnostic]:
    """Yield what the expected samples of a slice have in contradiction to the specs."""
    metrics = {metric.id: metric for metric in checked.package.metrics if not is_formula(metric)}
    for index, item in enumerate(data[_EXPECT]):
        metric = metrics.get(item["metric"])
        if metric is None:
            yield Diagnostic("unknown-metric", f"there is no metric `{item['metric']}` with samples",
                             _locate(name, text, [_EXPECT, index, "metric"]),
                             hint=suggest_names(item["metric"], metrics))  # fmt: skip
            continue
        if item["unit"] != metric.unit.symbol:
            yield Diagnostic("unit", f"the metric `{metric.id}` has another unit than the example",
                             _locate(name, text, [_EXPECT, index, "unit"]),
                             expected=metric.unit.symbol, found=item["unit"])  # fmt: skip
        keys = list_keys(checked, metric)
        if set(item["row"]) != set(keys):
            yield Diagnostic("example", f"the row does not have the columns that identify a sample of `{metric.id}`",
                             _locate(name, text, [_EXPECT, index, "row"]),
                             expected=", ".join(keys) or "none", found=", ".join(item["row"]) or "none")  # fmt: skip
        if parse_decimal(item["value"]) is None:
            yield Diagnostic("example", "the value is not a decimal number",
                             _locate(name, text, [_EXPECT, index, "value"]), found=item["value"])  # fmt: skip


def _create_slice(folder: Path, text: str, data: dict[str, Any], name: str) -> Slice:
    expected = tuple(
        RowExpectation(item["metric"], (item["value"],), tuple(item["row"].items()), item["unit"])
        for item in data[_EXPECT]
    )
    pairs = (item.partition("=") for item in data["filters"])
    filter_uses = tuple(FilterUse(filter_name, argument) for filter_name, _, argument in pairs)
    example = Example(folder.name, (), filter_uses, expected, "")
    return Slice(example, _locate(name, text, [_EXPECT, 0, "value"]), folder / RUN)
