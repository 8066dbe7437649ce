"""Build glossary entries: definitions of metrics, and of printed numbers that belong to no metric.

Tables name the entries of their cells by ids: those of metrics and series, or ids that functions of this module build.
`build_terms` builds the entries that the tables of a document name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.lang import formula
from assay.lang.checked_package import CheckedPackage
from assay.lang.editions import FORMER_ROW
from assay.lang.expression_wording import describe_expression
from assay.lang.model.package import Column, Constant, Grain, Metric, Worked
from assay.lang.model.report import Cell, ManifestRow, Report, RowLabel
from assay.lang.segments import describe_segment, is_segment
from assay.report.document import Entry, Group, Part
from assay.report.tables import Appendix, MetricTable, Table


def build_metric_entry(checked: CheckedPackage, name: str) -> Entry:
    """Return the entry of a metric."""
    metric = checked.get_metric(name)
    return Entry(
        metric.id, metric.name, metric.unit.symbol, "\n".join(_describe_metric(metric)), checked.definitions[name]
    )


def _describe_metric(metric: Metric) -> tuple[str, ...]:
    """Return the doc of a metric, or what it measures if it has none; for a formula also that, as lines."""
    if formula.is_formula(metric):
        return (*([metric.doc] if metric.doc else []), *_describe_formula(metric))
    return (metric.doc or _describe_measure(metric),)


def _describe_measure(metric: Metric) -> str:
    """Return the measure in words, without the marks of names."""
    text = re.sub(r"[`*]", "", describe_expression(metric.measure))
    return text[:1].upper() + text[1:]


def _describe_formula(metric: Metric) -> tuple[str, ...]:
    """Return formula and unit, conversions with their exact factors, and examples: a line each."""
    conversions = [f"1 {unit} = {factor} {base}" for unit, factor, base in formula.list_conversions(metric.measure)]
    return (
        f"Formula: {formula.format_formula(metric.measure)}, in {metric.unit.name}.",
        *([f"Conversions, exact: {'; '.join(conversions)}."] if conversions else []),
        *(f"Example: {_format_example(item)}." for item in metric.examples),
    )


def _format_example(example: Worked) -> str:
    input_values = ", ".join(
        f"{item.metric} = {formula.format_number(item.value)} {item.unit.symbol}".strip() for item in example.inputs
    )
    explanation = f" ({example.doc})" if example.doc else ""
    return f"{input_values} gives {example.shows} {example.unit.symbol}".strip() + explanation


SAMPLE_COUNT = "count.samples"
SINCE, UNTIL = "phase.from", "phase.to"
OVER_COLUMNS, OVER_METRICS = "Computed from columns", "Computed from metrics"
SLICES = "Metrics by dimensions"
#: kinds of ids, with the groups of their entries
GROUPS = {
    "row": "Run parameters", "constant": "Facts of runs", "phase": "Phases", "column": "Columns of tables",
    "count": "Counts", "filter": "Filters",
}  # fmt: skip
ORDER = (
    SLICES, "Run parameters", "Facts of runs", "Phases", "Columns of tables", OVER_COLUMNS, OVER_METRICS, "Counts",
    "Filters",
)  # fmt: skip
BUILT = {
    FORMER_ROW: "Only earlier editions of the report have this row: its value is not computed from logs.",
    "analysis date": "The date of the report: the day of the last record of all runs in UTC, unless the user sets "
    "another.",
    "filters applied": "The number of filters that are applied to samples. The table of filters lists them.",
}
PUBLISHED_NOTE = "As printed in the publication, not recomputed."


def get_row_id(row: ManifestRow | RowLabel) -> str:
    """Return the id of a row of a report's manifest, or of its label in an edition."""
    return f"row.{row.id}"


def get_constant_id(name: str) -> str:
    """Return the id of a constant of runs."""
    return f"constant.{name}"


def get_column_id(table: str, name: str) -> str:
    """Return the id of a column of a grain."""
    return f"column.{table}.{name}"


def get_filter_id(name: str) -> str:
    """Return the id of the counts of a filter."""
    return f"filter.{name}"


def build_terms(
    checked: CheckedPackage,
    report: Report,
    tables: Iterable[Table | Appendix],
    *,
    quoted: Iterable[str] = (),
    has_sample_counts: bool = False,
    is_published: bool = False,
    block_terms: Mapping[str, tuple[str, Entry]] | None = None,
) -> tuple[Group, ...]:
    """Return the entries that tables name, and those `quoted` in texts, except metrics and series, in groups.
    With `has_sample_counts`, add the entry of sample counts. If `is_published`, the numbers are those of a publication.
    `block_terms` are the entries that blocks define, by their ids, each with the title of its group.
    """
    explained_ids = {*(item.id for item in checked.package.metrics), *(item.name for item in checked.package.series)}
    named_ids = [name for table in tables for name in _list_named_entries(table)]
    entry_ids = dict.fromkeys([*named_ids, *quoted, *([SAMPLE_COUNT] if has_sample_counts else [])])
    report_numbers = _ReportNumbers(checked, report)
    groups: dict[str, list[Entry]] = {}
    for name in entry_ids:
        if name and name not in explained_ids:
            group, entry = (
                block_terms[name]
                if block_terms and name in block_terms
                else (GROUPS[name.partition(".")[0]], report_numbers.build_entry(name))
            )
            if is_published:
                entry = Entry(entry.id, entry.name, entry.unit, f"{entry.description}\n{PUBLISHED_NOTE}", "")
            groups.setdefault(group, []).append(entry)
    if segments := _list_segments(report):
        groups[SLICES] = [_build_segment_entry(checked, name) for name in segments]
    order = dict.fromkeys([*ORDER, *groups])
    return tuple(Group(title, tuple(groups[title])) for title in order if title in groups)


def _list_segments(report: Report) -> tuple[str, ...]:
    names = (name for _, section in report.metric_sections for name in section.metrics if is_segment(name))
    return tuple(dict.fromkeys(names))


def _build_segment_entry(checked: CheckedPackage, name: str) -> Entry:
    metric = checked.get_metric(name)
    description = f"{metric.doc or _describe_measure(metric)}\n{describe_segment(name)}".strip()
    return Entry(metric.id, metric.name, metric.unit.symbol, description, checked.definitions[name])


def _list_named_entries(table: Table | Appendix) -> tuple[str, ...]:
    if isinstance(table, Appendix):
        return table.of_columns
    return (*table.of_rows, *table.of_columns, table.of_headings)


def iter_tables(parts: Sequence[Part]) -> Iterator[Table]:
    """Yield the tables of the parts of a report, except tables of metrics."""
    return (table for part in parts for table in part.tables if isinstance(table, Table))


def iter_metric_tables(parts: Sequence[Part]) -> Iterator[MetricTable]:
    """Yield the tables of metrics in the parts of a report."""
    return (table for part in parts for table in part.tables if isinstance(table, MetricTable))


@dataclass(frozen=True, slots=True)
class _ReportNumbers:
    """The descriptions of a report's numbers."""

    checked: CheckedPackage
    report: Report

    def build_entry(self, name: str) -> Entry:
        """Return the entry of an id, by its kind."""
        kind, _, local_name = name.partition(".")
        describers: Mapping[str, Callable[[str], tuple[str, str, str]]] = {
            "row": self.describe_row,
            "constant": self.describe_constant,
            "phase": self.describe_phase,
            "column": self.describe_column,
            "count": self.describe_count,
            "filter": self.describe_filter,
        }
        label, unit, description = describers[kind](local_name)
        return Entry(name, label, unit, description, "")

    def describe_row(self, name: str) -> tuple[str, str, str]:
        """Return the label of a row of the manifest, its unit, and the source of its value."""
        row = next((item for item in self.report.manifest if item.id == name), None)
        if row is None:
            former_rows = (item for edition in self.report.editions for item in edition.manifest)
            return (
                next(item.label for item in former_rows if item.id == name),
                "",
                "Only earlier editions of the report have this row.",
            )
        if row.built:
            return row.label, "", BUILT[row.built]
        printed_form = _describe_printed_form(row.cell)
        if row.constant:
            constant = _find_constant(self.checked, row.constant)
            condition = f"Empty if the constant {row.needs} is empty." if row.needs else ""
            return (
                row.label,
                _get_symbol(constant.type, constant.unit.symbol),
                _join_lines(_describe_constant_source(constant), condition, printed_form),
            )
        relation = next(item for item in self.checked.package.relations if item.name == row.relation)
        column = next(item for item in relation.columns if item.name == row.column)
        source = (
            f"Column {column.name} of the relation {relation.name}, one row a run: {_format_sentence(relation.doc)}"
        )
        return (
            row.label,
            _get_symbol(column.type, column.unit.symbol),
            _join_lines(_format_sentence(column.doc), source, printed_form),
        )

    def describe_constant(self, name: str) -> tuple[str, str, str]:
        """Return the description of a constant, its unit and its source."""
        constant = _find_constant(self.checked, name)
        return constant.doc, _get_symbol(constant.type, constant.unit.symbol), _describe_constant_source(constant)

    def describe_phase(self, name: str) -> tuple[str, str, str]:
        """Return the name, unit and meaning of a bound of phases."""
        bound = {"from": "first instant of", "to": "instant after"}[name]
        description = (
            f"The {bound} the phase, excluding its margin. The user, a constant of the run, or a table of the run "
            "defines where the run is split into phases."
        )
        return name.capitalize(), "", description

    def describe_column(self, name: str) -> tuple[str, str, str]:
        """Return the name, unit and meaning of a column of a grain."""
        grain, column = self._find_column(*name.split("."))
        key_note = ", part of its key" if column.name in grain.key else ""
        source = f"Column {column.name} of the grain {grain.name}{key_note}: {_format_sentence(grain.doc)}"
        return name_column(column.name), column.unit.symbol, _join_lines(_format_sentence(column.doc), source)

    def describe_count(self, _name: str) -> tuple[str, str, str]:
        """Return the name, unit and meaning of sample counts."""
        description = "The number of samples of the first metric in the table, after filters, over all hosts."
        return "Sample count", "", description

    def describe_filter(self, name: str) -> tuple[str, str, str]:
        """Return the name, unit and meaning of the counts of a filter."""
        package_filter = next(item for item in self.checked.package.filters if item.name == name)
        counts_note = "Rejected: rows that do not satisfy its condition. Rows: all rows that it was applied to."
        return package_filter.name, "", _join_lines(_format_sentence(package_filter.doc), counts_note)

    def _find_column(self, table: str, name: str) -> tuple[Grain, Column]:
        grain = next(item for item in self.checked.package.grains if item.name == table)
        return grain, next(item for item in grain.columns if item.name == name)


def _find_constant(checked: CheckedPackage, name: str) -> Constant:
    return next(item for source in checked.package.sources for item in source.constants if item.name == name)


def _describe_constant_source(constant: Constant) -> str:
    """Return the meaning of a constant and where it is read from."""
    paths = (".".join(keys) for keys in (constant.path, *constant.or_at))
    place = f'the first line "{constant.line}"' if constant.line else " or ".join(paths)
    files = " or ".join(constant.files)
    default = "" if constant.default is None else f"; default: {constant.default or 'empty'}"
    return _join_lines(
        _format_sentence(constant.doc), f"Constant {constant.name} of the run: {place} in {files}{default}."
    )


def _describe_printed_form(cell: Cell) -> str:
    """Return how the format of a manifest cell changes the value; empty if it does not."""
    note = {
        "date": "Printed as the day in UTC.",
        "time": "Printed as the time of day in UTC, without fractions of a second.",
        "unsuffixed": "Printed without trailing letters s.", "spread": "Printed in seconds.",
    }.get(cell.kind, "")  # fmt: skip
    rounding_note = "" if cell.kind in ("text", "unsuffixed") else ", not rounded,"
    cut_note = f"Cut{rounding_note} to {cell.cut} characters." if cell.cut else ""
    return " ".join(part for part in (note, cut_note) if part)


def _get_symbol(kind: str, symbol: str) -> str:
    return {"duration": "s", "instant": ""}.get(kind, symbol)


def name_column(column: str) -> str:
    """Return the name of a column as it is printed: `start_time` becomes `Start time`."""
    return column.replace("_", " ").capitalize()


def _format_sentence(text: str) -> str:
    sentence = text[:1].upper() + text[1:]
    return sentence if not sentence or sentence.endswith(".") else f"{sentence}."


def _join_lines(*parts: str) -> str:
    return "\n".join(part for part in parts if part)
