"""Glossary entries: definitions of metrics, and of printed numbers that belong to no metric.

Tables name what their cells are values of by ids: of metrics and series, or such as the functions here make.  `terms`
writes the entries of those that a document's tables name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.lang import formula
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.article import Article
from assay.lang.model.package import Column, Constant, Grain, Metric, Worked
from assay.lang.model.report import Cell, ManifestRow, Report, RowLabel
from assay.report.document import Appendix, Entry, Gallery, Group, Table


def entry(checked: CheckedPackage, name: str) -> Entry:
    """The entry of a metric."""
    metric = checked.metric(name)
    told = (metric.doc, *(_worked(metric) if formula.is_formula(metric) else ()))
    return Entry(metric.id, metric.name, metric.unit.symbol, "\n".join(told), checked.definitions[name])


def _worked(metric: Metric) -> tuple[str, ...]:
    """Formula and unit, every conversion with its exact factor, worked examples: a line each."""
    conversions = [f"1 {unit} = {factor} {base}" for unit, factor, base in formula.list_conversions(metric.measure)]
    return (
        f"Formula: {formula.format_formula(metric.measure)}, in {metric.unit.name}.",
        *([f"Conversions, exact: {'; '.join(conversions)}."] if conversions else []),
        *(f"Example: {_example(item)}." for item in metric.examples),
    )


def _example(example: Worked) -> str:
    given = ", ".join(
        f"{item.metric} = {formula.format_number(item.value)} {item.unit.symbol}".strip() for item in example.given
    )
    why = f" ({example.doc})" if example.doc else ""
    return f"{given} gives {example.shows} {example.unit.symbol}".strip() + why


SAMPLE_COUNT = "count.samples"
SINCE, UNTIL = "phase.from", "phase.to"
OVER_COLUMNS, OVER_METRICS = "Worked out of columns", "Worked out of metrics"
#: kinds of ids, with the groups that their entries stand in
GROUPS = {
    "row": "Run parameters", "constant": "Facts of runs", "phase": "Phases", "column": "Columns of tables",
    "count": "Counts", "filter": "Filters",
}  # fmt: skip
ORDER = (
    "Run parameters", "Facts of runs", "Phases", "Columns of tables", OVER_COLUMNS, OVER_METRICS, "Counts", "Filters",
)  # fmt: skip
BUILT = {
    "analysis date": "The day that the report is dated by: that of the last record of all runs in UTC, unless another "
    "is given.",
    "filters applied": "How many filters decide which samples count. The table of filters names them.",
}
PRINTED = "As the publication prints it; it was not worked out here."


def of_row(row: ManifestRow | RowLabel) -> str:
    """The id of a row of a report's manifest, or of what an edition calls it."""
    return f"row.{row.id}"


def of_constant(name: str) -> str:
    """The id of a constant of runs."""
    return f"constant.{name}"


def of_column(table: str, name: str) -> str:
    """The id of a column of a grain."""
    return f"column.{table}.{name}"


def of_filter(name: str) -> str:
    """The id of what a filter counts."""
    return f"filter.{name}"


def terms(
    checked: CheckedPackage,
    shown: Report | Article,
    tables: Iterable[Table | Appendix],
    *,
    counts: bool = False,
    printed: bool = False,
    more: Mapping[str, tuple[str, Entry]] | None = None,
) -> tuple[Group, ...]:
    """The entries of all that tables name beside metrics and series; with `counts`, of sample counts, too.

    `printed` says that the numbers are those of a publication; `more` are entries that blocks define, by their ids,
    behind the titles of their groups.
    """
    known = {*(item.id for item in checked.package.metrics), *(item.name for item in checked.package.series)}
    named = [name for table in tables for name in _named(table)]
    names = dict.fromkeys([*named, *([SAMPLE_COUNT] if counts else [])])
    told = _ReportNumbers(checked, shown)
    groups: dict[str, list[Entry]] = {}
    for name in names:
        if name and name not in known:
            group, entry = more[name] if more and name in more else (GROUPS[name.partition(".")[0]], told.entry(name))
            if printed:
                entry = Entry(entry.id, entry.name, entry.unit, f"{entry.description}\n{PRINTED}", "")
            groups.setdefault(group, []).append(entry)
    order = dict.fromkeys([*ORDER, *groups])
    return tuple(Group(title, tuple(groups[title])) for title in order if title in groups)


def _named(table: Table | Appendix) -> tuple[str, ...]:
    if isinstance(table, Appendix):
        return table.of_columns
    return (*table.of_rows, *table.of_columns, table.of_headings)


def tables_of(galleries: Sequence[Gallery]) -> Iterator[Table]:
    """The tables of the parts of a report."""
    return (table for gallery in galleries for table in gallery.tables)


@dataclass(frozen=True, slots=True)
class _ReportNumbers:
    """What there is to say of a report's numbers."""

    checked: CheckedPackage
    shown: Report | Article

    def entry(self, name: str) -> Entry:
        """What is told of a name, by its kind."""
        kind, _, rest = name.partition(".")
        kinds: Mapping[str, Callable[[str], tuple[str, str, str]]] = {
            "row": self.row, "constant": self.constant, "phase": self.phase, "column": self.column,
            "count": self.count, "filter": self.filter,
        }  # fmt: skip
        label, unit, said = kinds[kind](rest)
        return Entry(name, label, unit, said, "")

    def row(self, name: str) -> tuple[str, str, str]:
        """Of a row of the manifest its label, unit, and where its value comes from."""
        assert isinstance(self.shown, Report)
        row = next((item for item in self.shown.manifest if item.id == name), None)
        if row is None:
            once = (item for edition in self.shown.editions for item in edition.manifest)
            return next(item.label for item in once if item.id == name), "", "The report does not tell it any more."
        if row.built:
            return row.label, "", BUILT[row.built]
        printed = _printed(row.cell)
        if row.constant:
            known = _constant(self.checked, row.constant)
            lacks = f"Empty where the constant {row.needs} is." if row.needs else ""
            return row.label, _symbol(known.type, known.unit.symbol), _lines(_fact(known), lacks, printed)
        relation = next(item for item in self.checked.package.relations if item.name == row.relation)
        column = next(item for item in relation.columns if item.name == row.column)
        said = f"Column {column.name} of the relation {relation.name}, one row a run: {_sentence(relation.doc)}"
        return row.label, _symbol(column.type, column.unit.symbol), _lines(_sentence(column.doc), said, printed)

    def constant(self, name: str) -> tuple[str, str, str]:
        known = _constant(self.checked, name)
        return known.doc, _symbol(known.type, known.unit.symbol), _fact(known)

    def phase(self, name: str) -> tuple[str, str, str]:
        word = {"from": "from which on", "to": "until which"}[name]
        said = (
            f"The instant {word} rows of a run are the phase's, its margin taken off. The user, a constant of the run, "
            "or a table of it tells at which instant the run is cut."
        )
        return name.capitalize(), "", said

    def column(self, name: str) -> tuple[str, str, str]:
        grain, column = self._column(*name.split("."))
        key = ", by which its rows are told apart" if column.name in grain.key else ""
        said = f"Column {column.name} of the grain {grain.name}{key}: {_sentence(grain.doc)}"
        return name_column(column.name), column.unit.symbol, _lines(_sentence(column.doc), said)

    def count(self, _name: str) -> tuple[str, str, str]:
        said = "How many samples the first metric of the table has, after filters; of all hosts together."
        return "Sample count", "", said

    def filter(self, name: str) -> tuple[str, str, str]:
        found = next(item for item in self.checked.package.filters if item.name == name)
        counted = "Rejected: rows for which its condition does not hold. Rows: all that it was asked of."
        return found.name, "", _lines(_sentence(found.doc), counted)

    def _column(self, table: str, name: str) -> tuple[Grain, Column]:
        grain = next(item for item in self.checked.package.grains if item.name == table)
        return grain, next(item for item in grain.columns if item.name == name)


def _constant(checked: CheckedPackage, name: str) -> Constant:
    return next(item for source in checked.package.sources for item in source.constants if item.name == name)


def _fact(known: Constant) -> str:
    """Where a constant is read from."""
    path = " or ".join(".".join(keys) for keys in (known.path, *known.or_at))
    files = " or ".join(known.files)
    default = "" if known.default is None else f"; {known.default or 'empty'} where it is not told"
    return _lines(_sentence(known.doc), f"Constant {known.name} of the run: {path} in {files}{default}.")


def _printed(cell: Cell) -> str:
    """How a cell of the manifest is written, where that changes what it says."""
    said = {
        "date": "Printed as the day in UTC.", "time": "Printed as the time of day in UTC, fractions of a second cut.",
        "unsuffixed": "Printed without the letters s at its end.", "spread": "Printed in seconds.",
    }.get(cell.kind, "")  # fmt: skip
    how = "" if cell.kind in ("text", "unsuffixed") else ", not rounded,"
    cut = f"Cut{how} to {cell.cut} characters." if cell.cut else ""
    return " ".join(part for part in (said, cut) if part)


def _symbol(kind: str, symbol: str) -> str:
    return {"duration": "s", "instant": ""}.get(kind, symbol)


def name_column(column: str) -> str:
    return column.replace("_", " ").capitalize()


def _sentence(text: str) -> str:
    said = text[:1].upper() + text[1:]
    return said if not said or said.endswith(".") else f"{said}."


def _lines(*parts: str) -> str:
    return "\n".join(part for part in parts if part)
