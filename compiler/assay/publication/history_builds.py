"""Read builds of a report as points of a history: `results.json` for the numbers, `document.json` for the day.

The values of a build are unrounded. Its runs are labelled as in the build; the first is the base of the others.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.lang.check.reports import is_day
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.report import Edition, Report
from assay.number_styles.prefixed import format_value
from assay.publication.history import Build, Issue, Notes
from assay.publication.model import MetricRow, Publication
from assay.util.diagnostics import Diagnostic, fail, raise_all
from assay.util.json_text import parse_json

if TYPE_CHECKING:
    from pydantic import TypeAdapter

RESULTS, DOCUMENT = "results.json", "document.json"
#: the form of builds: names and units of the specs
FORM = Edition("", "", "prefixed", (), (), (), (), (), "")


@dataclass(frozen=True, slots=True)
class BuildPlace:
    """The folder of a build, and the workload that it is a build of."""

    workload: str
    folder: Path


@dataclass(frozen=True, slots=True)
class _Run:
    id: str
    label: str
    phase: str = ""


@dataclass(frozen=True, slots=True)
class _Result:
    average: float | str | None
    size: int | None = None


@dataclass(frozen=True, slots=True)
class _Metric:
    unit: str
    definition: str
    runs: dict[str, _Result]


@dataclass(frozen=True, slots=True)
class _Change:
    difference_low: float | None
    difference_high: float | None


@dataclass(frozen=True, slots=True)
class _Judgement:
    metrics: dict[str, dict[str, _Change]]


@dataclass(frozen=True, slots=True)
class _Results:
    summary: str
    filters: list[str]
    runs: list[_Run]
    metrics: dict[str, _Metric]
    judgement: _Judgement = field(default_factory=lambda: _Judgement({}))


def read_builds(
    places: Sequence[BuildPlace], checked: CheckedPackage, report: Report, metric_ids: Collection[str]
) -> tuple[Issue, ...]:
    """Read builds of a report, in their order.

    Raises AssayError: `no-build` for a folder without results, `build` for files that no build writes, `other-report`
    for a build of another report, `other-unit` for metrics in other units, `same-build` for two builds of one content.
    """
    report_name = f"{checked.package.system}/{report.name}"
    folders_by_content: dict[bytes, Path] = {}
    for place in places:
        content = _read_file(place.folder / RESULTS, report_name)
        if content in folders_by_content:
            raise fail(
                "same-build",
                f"two builds have the same results: {place.folder}",
                notes=[f"the other one is {folders_by_content[content]}"],
                hint="leave one of them out",
            )
        folders_by_content[content] = place.folder
    return tuple(_read_build(place, checked, report_name, {*metric_ids}) for place in places)


def _read_file(path: Path, report: str) -> bytes:
    if not path.parent.is_dir():
        raise fail("no-build", f"the folder of a build does not exist: {path.parent}")
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise fail(
            "no-build",
            f"the folder has no {path.name}: {path.parent}",
            hint=f"a history reads builds: build `{report}` over a run with -o, and pass its output folder",
        ) from None
    except OSError as error:
        raise fail("no-build", f"the build cannot be read: {error.strerror}: {path}") from None


def _load_json(path: Path, report: str) -> dict[str, Any]:
    try:
        data = parse_json(_read_file(path, report).decode())
    except (ValueError, RecursionError) as error:
        raise _build_error(path, f"no JSON: {error}") from None
    if not isinstance(data, dict):
        raise _build_error(path, "no object")
    return data


def _read_build(place: BuildPlace, checked: CheckedPackage, report: str, metrics: set[str]) -> Issue:
    results_path, document_path = place.folder / RESULTS, place.folder / DOCUMENT
    data, document = _load_json(results_path, report), _load_json(document_path, report)
    if data.get("report") != report:
        raise fail(
            "other-report",
            f"the build is of another report: {place.folder}",
            expected=report,
            found=str(data.get("report", "no report")),
        )
    day = document.get("date")
    if not isinstance(day, str) or not is_day(day):
        raise _build_error(document_path, f"date: {json.dumps(day)[:40]}")
    results = _decode_results(results_path, data)
    if any(run.phase for run in results.runs):
        raise fail(
            "build-of-phases",
            f"the build compares phases of runs, not whole runs: {place.folder}",
            hint="build the report without --phase",
        )
    shown_metrics = {name: metric for name, metric in results.metrics.items() if name in metrics}
    raise_all(_find_other_units(place, checked, shown_metrics))
    values = {
        name: tuple(_get_value(metric.runs[run.id]) for run in results.runs) for name, metric in shown_metrics.items()
    }
    rows = {
        name: MetricRow(checked.get_metric(name).name, metric.unit, tuple(map(_format_cell, values[name])), (), ())
        for name, metric in shown_metrics.items()
    }
    build = Build(
        values,
        {name: tuple(_list_intervals(results, name, values[name])) for name in shown_metrics},
        {name: metric.definition for name, metric in shown_metrics.items()},
        results.summary,
        tuple(results.filters),
    )
    labels = tuple(run.label for run in results.runs)
    publication = Publication("", "", "", day, place.workload, "", "", labels, (), (), (), (), (), {})
    return Issue(results_path, publication, FORM, rows, build)


def _decode_results(path: Path, data: Mapping[str, object]) -> _Results:
    from pydantic import ValidationError  # slow to import, and only histories of builds need it

    try:
        results = _build_reader().validate_json(json.dumps(data), strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        raise _build_error(path, f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    ids = {run.id for run in results.runs}
    for name, metric in results.metrics.items():
        if metric.runs.keys() != ids:
            raise _build_error(path, f"metrics.{name}.runs: not the ids of the runs")
    if not ids:
        raise _build_error(path, "runs: empty")
    return results


@functools.cache
def _build_reader() -> TypeAdapter[_Results]:
    from pydantic import TypeAdapter

    return TypeAdapter(_Results)


def _build_error(path: Path, problem: str) -> Exception:
    return fail("build", f"the file was not written by a build of a report over runs: {path}", found=problem)


def _find_other_units(
    place: BuildPlace, checked: CheckedPackage, metrics: Mapping[str, _Metric]
) -> Iterator[Diagnostic]:
    for name, metric in metrics.items():
        symbol = checked.get_metric(name).unit.symbol
        if metric.unit != symbol:
            yield Diagnostic(
                "other-unit",
                f"metric `{name}` has another unit in the build {place.folder}",
                expected=symbol or "no unit",
                found=metric.unit or "no unit",
                hint="build the report again with these specs, or leave the build out",
            )


def _get_value(result: _Result) -> Decimal | None:
    """Return an average; None without samples, and for a number that is not finite."""
    if result.size == 0 or result.average is None or isinstance(result.average, str):
        return None
    return Decimal(repr(result.average))


def _format_cell(value: Decimal | None) -> str:
    return format_value(None if value is None else float(value))


def _list_intervals(
    results: _Results, metric: str, values: Sequence[Decimal | None]
) -> Iterator[tuple[float, float] | None]:
    """Yield the interval of each run's value: the base's value and the interval of the difference."""
    changes = results.judgement.metrics.get(metric, {})
    base = values[0]
    for run in results.runs:
        change = changes.get(run.id)
        if base is None or change is None or change.difference_low is None or change.difference_high is None:
            yield None
        else:
            yield float(base) + change.difference_low, float(base) + change.difference_high


def compare_builds(all_issues: Sequence[Issue]) -> Iterator[tuple[Issue, Notes]]:
    """Yield each build that measures otherwise than the build of its workload before, with what differs.

    Values are not comparable if the definition of a metric, the filters or the summary differ.
    """
    last_builds: dict[str, Build] = {}
    for issue in all_issues:
        if issue.build:
            old_build = last_builds.get(issue.publication.workload, issue.build)
            last_builds[issue.publication.workload] = issue.build
            if notes := tuple(_compare_choices(old_build, issue.build)):
                yield issue, notes


def _compare_choices(old: Build, new: Build) -> Iterator[tuple[tuple[str, ...], str]]:
    shared_metrics = tuple(name for name in new.definitions if name in old.definitions)
    redefined_metrics = tuple(name for name in shared_metrics if new.definitions[name] != old.definitions[name])
    if redefined_metrics:
        yield redefined_metrics, "The definition of the metric differs from that of the build before."
    if new.summary != old.summary:
        yield shared_metrics, f"The average is `{new.summary}` instead of `{old.summary}`."
    if new.filters != old.filters:
        yield (
            shared_metrics,
            f"The filters are {_quote(new.filters)} instead of {_quote(old.filters)}.",
        )


def _quote(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"
