"""Split metrics by dimensions: `by` of a section, and `--by kind` or `--by kind,region`.

The values are in the data. So the runs are computed twice: first the numbers of rows of all values, which decide on the
rows of a table, then the segments of the metrics.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from assay.app.compute.computation import Computation
from assay.app.compute.grouping import group_metrics, suggest_columns
from assay.lang import formula
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Metric, Package
from assay.lang.model.parts import Part, get_group_name
from assay.lang.model.report import Chart, Report, Section, is_section
from assay.lang.report_shorthand import DISTRIBUTIONS
from assay.lang.segments import (
    MOST_DIMENSIONS,
    OTHER,
    Split,
    Value,
    Values,
    add_segments,
    get_whole,
    is_segment,
    list_dimensions,
    number_pooled,
    parse_segment,
)
from assay.plan.value_request import ValueRequest
from assay.report.statistic_names import split_names
from assay.util.diagnostics import USAGE, fail
from assay.util.numbers import differ_in_numbers, split_numbers

MOST_VALUES = 10
"""How many values `--by` lists; the rows of others are pooled."""
MOST_HOSTS = 64
"""How many hosts `--by host` lists: as many as a figure draws."""
HOST = "host"

CountValues = Callable[[Sequence[ValueRequest]], Computation]


@dataclass(frozen=True, slots=True)
class SplitReport:
    """A report whose sections list segments, with the package that has these, and the splits of sections by name.

    `column` is that of `--by`, if it is not a dimension.
    """

    checked: CheckedPackage
    report: Report
    splits: Mapping[str, Split]
    column: str = ""


def parse_dimensions(package: Package, metrics: Sequence[Metric], text: str) -> tuple[str, ...]:
    """Return the dimensions of `--by`; empty if it names a column that no grain of the metrics has as a dimension.

    Raises AssayError (usage) for an unknown one among several, and for too many.
    """
    names = split_names(text)
    dimensions = tuple(dict.fromkeys(name for metric in metrics for name in list_dimensions(package, metric)))
    if len(names) == 1 and names[0] not in dimensions:
        return ()
    for name in names:
        if name not in dimensions:
            raise fail(
                "unknown-dimension",
                f"unknown dimension `{name}` in --by",
                expected=", ".join(dimensions) or "a column; these metrics have no dimensions",
                hint=suggest_columns(name, dimensions, package.system) if dimensions else "",
                status=USAGE,
            )
    if len(names) > MOST_DIMENSIONS:
        expected = f"one dimension, or {MOST_DIMENSIONS}"
        raise fail("dimensions", "--by names too many dimensions", expected=expected, found=text, status=USAGE)
    return names


def split_sections(checked: CheckedPackage, report: Report, by: Sequence[str]) -> Report:
    """Return the report with a split section after each other one with metrics that have all of these dimensions.

    Metrics of a section that the report already splits by these are left out. After a section that is a part of its
    own, the split section is one, too.
    """
    if not by:
        return report
    sections = dict(report.metric_sections)
    covered_metrics = {name for item in sections.values() if item.by == tuple(by) for name in item.metrics}
    suffix = f" by {' and '.join(by)}"

    def add_split(name: str, section: Section) -> Iterator[Section]:
        yield section
        metrics = select_splittable(checked, (name for name in section.metrics if name not in covered_metrics), by)
        if metrics and not section.by:
            title = f"{section.title}{suffix}{': other metrics' if name + suffix in sections else ''}"
            yield replace(section, title=title, doc="", metrics=metrics, by=tuple(by), limit=MOST_VALUES)

    def iter_parts(part: Part) -> Iterator[Part]:
        if not is_section(part):
            yield from replace(report, parts=(part,)).replace_sections(add_split).parts
            return
        (section,) = part.select(Section)
        yield from (replace(part, title=item.title, blocks=(item,)) for item in add_split(section.title, section))

    return replace(report, parts=tuple(item for part in report.parts for item in iter_parts(part)))


def select_splittable(checked: CheckedPackage, names: Iterable[str], by: Sequence[str]) -> tuple[str, ...]:
    """Return those of some metrics that have all of these dimensions, without segments."""
    whole = (name for name in names if not is_segment(name))
    return tuple(name for name in whole if {*by} <= {*list_dimensions(checked.package, checked.get_metric(name))})


def split_metrics(
    checked: CheckedPackage,
    metrics: Sequence[Metric],
    by: tuple[str, ...],
    count_values: CountValues,
    candidates: Sequence[str] | None = None,
    report: Report | None = None,
) -> tuple[CheckedPackage, tuple[Metric, ...]]:
    """Return the package with the segments of metrics, and the metrics, each before its segments if it has any.

    `candidates` are the metrics that may have some; None: all. As many values have segments as a section of `report`
    has that is split by the same dimensions, if these are more than by default. Raises AssayError (usage) if no metric
    has all of these dimensions.
    """
    names = select_splittable(checked, (metric.id for metric in metrics) if candidates is None else candidates, by)
    if not names:
        raise fail("dimensions", f"none of the metrics has the dimensions {' and '.join(by)}", status=USAGE)
    limits = [section.limit for _, section in report.metric_sections if section.by == by] if report else []
    split_package, split = _split_values(checked, names, by, count_values, max(limits, default=0))
    rows = (
        item
        for metric in metrics
        for item in (metric.id, *(split.list_segments(metric.id) if metric.id in names else ()))
    )
    return split_package, tuple(map(split_package.get_metric, rows))


def split_by_columns(
    checked: CheckedPackage,
    metrics: Sequence[Metric],
    by: str,
    count_values: CountValues,
    report: Report | None,
) -> tuple[CheckedPackage, tuple[Metric, ...]]:
    """Return the package with segments, and the metrics, each before its segments by dimensions or by another column.

    The limits of `report` apply. Raises AssayError (usage) if no metric has them.
    """
    if dimensions := parse_dimensions(checked.package, metrics, by):
        return split_metrics(checked, metrics, dimensions, count_values, report=report)
    names = [metric.id for metric in group_metrics(checked, metrics, by)]
    return split_metrics(_add_dimension(checked, names, by), metrics, (by,), count_values, names)


def split_like_report(
    checked: CheckedPackage, report: Report, metrics: Set[str], count_values: CountValues
) -> tuple[CheckedPackage, tuple[Metric, ...]]:
    """Return the package with the segments that the split sections of a report have of some metrics, and these."""

    def select_metrics(_name: str, section: Section) -> Iterator[Section]:
        if section.by and not metrics.isdisjoint(section.metrics):
            yield replace(section, metrics=tuple(name for name in section.metrics if name in metrics))

    only_split = replace(report.replace_sections(select_metrics).replace_charts(lambda *_: ()), judgement=None)
    split = split_report(checked, only_split, count_values, "")
    sections = (section for _, section in split.report.metric_sections)
    names = dict.fromkeys(name for section in sections for name in section.metrics if is_segment(name))
    return split.checked, tuple(map(split.checked.get_metric, names))


def split_groups(
    checked: CheckedPackage, metrics: Sequence[Metric], column: str, count_values: CountValues
) -> tuple[CheckedPackage, Split]:
    """Return the package with the segments of metrics by a column that is no dimension, and the split into these."""
    names = tuple(metric.id for metric in metrics)
    return _split_values(_add_dimension(checked, names, column), names, (column,), count_values)


def _split_values(
    checked: CheckedPackage, names: Sequence[str], by: tuple[str, ...], count_values: CountValues, limit: int = 0
) -> tuple[CheckedPackage, Split]:
    """Return the package with the segments of metrics by dimensions, and the split into these.

    The most frequent values have segments: as many as by default, or up to `limit`.
    """
    section = Section("", "", tuple(names), by=by, limit=max(limit, MOST_HOSTS if by == (HOST,) else MOST_VALUES))
    split = choose_values(checked, section, count_values(request_values(checked, section)))
    return add_segments(checked, [split]), split


def _add_dimension(checked: CheckedPackage, names: Iterable[str], column: str) -> CheckedPackage:
    """Return the package with a column as a dimension of the grains of some metrics."""
    chosen = {
        metric.grain
        for metric in formula.list_measured(formula.index_metrics(checked.package), map(checked.get_metric, names))
    }
    grains = tuple(
        replace(grain, dimensions=(*grain.dimensions, column)) if grain.name in chosen else grain
        for grain in checked.package.grains
    )
    return replace(checked, package=replace(checked.package, grains=grains))


def split_report(checked: CheckedPackage, report: Report, count_values: CountValues, column: str) -> SplitReport:
    """Add segments to split sections and charts; `count_values` counts the rows of their values."""
    sections = {name: section for name, section in report.metric_sections if section.by}
    sections |= {
        name: _create_section(checked, chart)
        for part, chart in report.metric_charts
        if chart.by
        for name in [_name_chart(checked, part, chart)]
    }
    if not sections:
        return SplitReport(*add_gated_segments(checked, report), {}, column)
    computation = count_values([item for section in sections.values() for item in request_values(checked, section)])
    group_by_name = {block.locate(part.title)[0]: part.group for part in report.parts for block in part.blocks}
    group_by_name |= {
        _name_chart(checked, part.title, chart): part.group for part in report.parts for chart in part.select(Chart)
    }
    chosen = number_pooled(
        choose_values(checked, section, computation, group_by_name.get(name, "")) for name, section in sections.items()
    )
    splits = dict(zip(sections, chosen, strict=True))

    def draw(part: str, chart: Chart) -> Iterator[Chart]:
        split = splits.get(_name_chart(checked, part, chart)) if chart.by else None
        yield replace(chart, lines=split.list_segments(chart.metric)) if split else chart

    shown_report = _show_all_segments(report, splits).replace_charts(draw)
    split_package = add_segments(checked, splits.values())
    return SplitReport(*add_gated_segments(split_package, shown_report), splits, column)


def add_gated_segments(checked: CheckedPackage, report: Report) -> tuple[CheckedPackage, Report]:
    """Return the package with the segments that the gate of a report names, and the report with these in its results.

    The gate of this report has the ids of the segments, however the specs write them.
    """
    rules = report.judgement
    if rules is None or not any(map(is_segment, rules.gate)):
        return checked, report
    splits = {name: _parse_id(checked, name) for name in rules.gate if is_segment(name)}
    ids = {name: split.list_segments(get_whole(name))[0] for name, split in splits.items()}
    gate = tuple(dict.fromkeys(ids.get(name, name) for name in rules.gate))
    gated_report = replace(report, also=(*report.also, *ids.values()), judgement=replace(rules, gate=gate))
    return add_segments(checked, splits.values()), gated_report


def _parse_id(checked: CheckedPackage, name: str) -> Split:
    """Return the split into the segment of an id, which the check of the package has accepted."""
    whole, _, text = name[:-1].partition("[")
    return parse_segment(checked.package, checked.get_metric(whole), text)


def _name_chart(checked: CheckedPackage, part: str, chart: Chart) -> str:
    """Return the name of the split of a chart in a part (empty, or the one with the charts of a report: none)."""
    title = f"Figure: {checked.get_metric(chart.metric).name} ({chart.metric}) by {' and '.join(chart.by)}"
    return title if part in ("", DISTRIBUTIONS) else f"{part}/{title}"


def _create_section(checked: CheckedPackage, chart: Chart) -> Section:
    """Return a section with the metric and values of a chart."""
    return Section(_name_chart(checked, "", chart), "", (chart.metric,), by=chart.by, limit=chart.limit)


def _show_all_segments(report: Report, splits: Mapping[str, Split]) -> Report:
    """Return the report with the segments of its split sections, by their names."""

    def show(name: str, section: Section) -> Iterator[Section]:
        yield _show_segments(section, splits[name]) if section.by and name in splits else section

    return report.replace_sections(show)


def _show_segments(section: Section, split: Split) -> Section:
    """Return a section with the segments of its metrics, and a text that says which there are."""
    order = ", those with most samples in the whole table first"
    if split.by == (HOST,):
        order = ", in the order of their names"
    elif _has_order_of_numbers(split.by, split.values):
        order = ""
    texts = [f"Below each metric are its rows by {' and '.join(split.by)}{order}."]
    if split.pooled:
        count = sum(any(item is not None for item in values) for values in split.values)
        texts.append(
            f"The {count} of {count + split.pooled} values with most samples have rows, {OTHER} pools the rest."
        )
    doc = " ".join((f"{section.doc.rstrip('.')}.", *texts) if section.doc else texts)
    return replace(section, metrics=tuple(_list_rows(split)), doc=doc)


def _list_rows(split: Split) -> Iterator[str]:
    """Yield the metrics of a split, each before its segments."""
    for metric in split.metrics:
        yield metric
        yield from split.list_segments(metric)


def request_values(checked: CheckedPackage, section: Section) -> tuple[ValueRequest, ...]:
    """Return the requests for the values by which a section splits its metrics."""
    metrics = map(checked.get_metric, section.metrics)
    measured = formula.list_measured(formula.index_metrics(checked.package), metrics)
    return tuple(ValueRequest(metric, section.by) for metric in measured)


def choose_values(checked: CheckedPackage, section: Section, computation: Computation, group: str = "") -> Split:
    """Choose the combinations of values with most rows, of all metrics of a section in all its runs.

    Those with as many rows are in the order of their values. The runs are those of a `group`, or all.

    Rows without any value are never pooled, nor is a single value: it has the row of others to itself. Hosts, and
    values that differ only in numbers, such as sizes, are in the order of these instead.
    """
    counts: Counter[Values] = Counter()
    for request in request_values(checked, section):
        for run in (item for item in computation.columns if group in ("", get_group_name(item.id))):
            for row in run.results.rows[request.name]:
                counts[read_values(row, section.by)] += int(str(row[request.count_name]))
    ordered = sorted(counts, key=lambda values: (-counts[values], *map(_rank_value, values)))
    valued = [values for values in ordered if any(item is not None for item in values)]
    limit = section.limit + 1 if len(valued) == section.limit + 1 else section.limit
    listed = {*valued[:limit]} | ({*ordered} - {*valued})
    values = tuple(item for item in ordered if item in listed)
    if _has_order_of_numbers(section.by, values):
        values = tuple(sorted(values, key=lambda items: tuple(map(_rank_value, items))))
    return Split(section.metrics, section.by, values, len(ordered) - len(values))


def _has_order_of_numbers(by: Sequence[str], values: Sequence[Values]) -> bool:
    """Return whether values are hosts, or differ only in numbers, so that their frequency is not their order."""
    columns = [{item for item in column if item is not None} for column in zip(*values, strict=True)]
    return by == (HOST,) or bool(columns and all(map(_are_numbers, columns)))


def _are_numbers(values: Collection[str | int]) -> bool:
    if all(isinstance(item, int) for item in values):
        return not any(isinstance(item, bool) for item in values)
    return differ_in_numbers({str(item) for item in values})


def _rank_value(value: Value) -> tuple[bool, tuple[tuple[int, Fraction | int, str], ...]]:
    if isinstance(value, str):
        return False, split_numbers(value)
    return value is None, ((1, value or 0, ""),)


def read_values(row: Mapping[str, object], by: Sequence[str]) -> Values:
    """Return the values of dimensions in a row of a statement that counts them."""
    return tuple(_read_value(row[name]) for name in by)


def _read_value(value: object) -> Value:
    assert value is None or isinstance(value, (str, int))
    return value


def build_split_data(splits: Mapping[str, Split]) -> dict[str, object]:
    """Return the splits of sections as plain data, for `results.json`."""
    return {
        title: {
            "by": list(split.by),
            "values": [list(values) for values in split.values],
            "pooled": split.pooled,
            "other": split.other,
            "metrics": {metric: list(split.list_segments(metric)) for metric in split.metrics},
        }
        for title, split in splits.items()
    }


def restore_splits(
    checked: CheckedPackage, report: Report, results: Mapping[str, Any]
) -> tuple[CheckedPackage, Report]:
    """Return the package with the segments of a build, and the report with the sections in which the build shows them.

    Sections of `--by` come last.
    """
    splits = dict(zip(results.get("splits", {}), read_splits(results), strict=True))
    names = {name for name, _ in report.metric_sections}
    names |= {_name_chart(checked, part, chart) for part, chart in report.metric_charts if chart.by}
    further = (Section(name, "", tuple(_list_rows(split))) for name, split in splits.items() if name not in names)
    shown_report = _show_all_segments(report, splits)
    parts = (*shown_report.parts, *(Part(section.title, (section,)) for section in further))
    return add_segments(checked, splits.values()), replace(shown_report, parts=parts)


def read_splits(results: Mapping[str, Any]) -> tuple[Split, ...]:
    """Return the splits in the results of a build."""
    return tuple(
        Split(
            tuple(item["metrics"]), tuple(item["by"]), tuple(map(tuple, item["values"])), item["pooled"], item["other"]
        )
        for item in results.get("splits", {}).values()
    )
