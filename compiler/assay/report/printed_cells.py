"""Find the cells of a built report by their printed names: section, row and column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.judgement.verdict import Verdict
from assay.lang.model.package import Package
from assay.lang.segments import is_segment
from assay.number_styles.cell_text import CellValue
from assay.report.cell_links import (
    AVERAGE,
    CHANGE,
    COLUMN,
    COUNT,
    DIFFERENCE,
    INTERVAL,
    JUDGED,
    LINES,
    MEAN,
    PERCENT,
    REPEATS,
    ROW,
    SHARE,
    SHORT,
    SIZE,
    STATISTIC,
    VERDICT,
    CellLink,
    CellSource,
    CellVerdict,
)
from assay.report.cells import FALLS_SHORT
from assay.report.document import Document, Part, name_table
from assay.report.first_page.answer import Answer, JudgedRow
from assay.report.judged_cells import format_verdict
from assay.report.tables import Appendix, MetricTable, Table, list_linked_cells
from assay.util.diagnostics import USAGE, AssayError, fail, suggest_names

DELTAS = (DIFFERENCE, PERCENT, CHANGE, INTERVAL, VERDICT)
ROWS = (ROW, REPEATS)  # kinds of values that are measured on rows
ROW_PRINTS = (JUDGED, SHARE, SHORT, LINES, MEAN)  # kinds of values in columns that belong to no run


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: the names of its section, row and column, its text, its kind (`prints`), and the values that it shows.

    `row_aliases` are other names of its row, `column_aliases` of its column. `decided_by` are tables whose cells decide
    its value, or the names of cells that it counts; `entry` is the dictionary entry of its column. `verdict` is the one
    that it prints, if any; `value` is the number or the interval that it prints, `unit` the symbol of its unit. In a
    table of metrics, `version` is the id of the version that the column is about.
    """

    section: str
    row: str
    column: str
    text: str
    prints: str
    sources: tuple[CellSource, ...]
    row_aliases: tuple[str, ...] = ()
    column_aliases: tuple[str, ...] = ()
    decided_by: tuple[str, ...] = ()
    entry: str = ""
    verdict: CellVerdict | None = None
    value: CellValue = None
    unit: str = ""
    version: str = ""

    @property
    def name(self) -> str:
        """Return the printed name of the cell."""
        return f"{self.section}/{self.row}/{self.column}"

    @property
    def names(self) -> tuple[str, ...]:
        """Return all names of the cell."""
        rows, columns = (self.row, *self.row_aliases), (self.column, *self.column_aliases)
        names = (f"{self.section}/{row}/{column}" for row in rows for column in columns)
        return tuple(dict.fromkeys(names))


def list_document_cells(document: Document, package: Package) -> Iterator[Cell]:
    """Yield the cells of a document that have a source; `package` gives other names of metrics."""
    aliases: dict[str, tuple[str, ...]] = {metric.id: (metric.name, metric.id) for metric in package.metrics}
    aliases |= {series.name: (series.name,) for series in package.series}
    for answer in document.answers:
        yield from _list_answer_cells(document, answer, package, aliases)
    yield from _list_table_cells(document.manifest.title, document.manifest, aliases)
    if document.observations:
        yield from _list_quoted_cells(document.observations)
    names_by_id = {table.id: name for name, table in document.named_metric_tables.items()}
    paragraphs = 0  # of the part so far
    for part in document.parts:
        paragraphs = paragraphs if part.continues else 0
        yield from _list_quoted_cells(part, paragraphs)
        paragraphs += len(part.text)
        for table in part.tables:
            if isinstance(table, MetricTable):
                yield from _list_metric_cells(names_by_id[table.id], table, aliases)
            else:
                yield from _list_table_cells(name_table(part, table), table, aliases)
    for claim in document.claims:
        yield from _list_table_cells(claim.title, claim, aliases)
    yield from _list_table_cells(document.filters.title, document.filters, aliases)


Aliases = Mapping[str, tuple[str, ...]]
"""Id of a metric or series -> its other names."""
_JUDGED = (Verdict.WORSE, Verdict.BETTER, Verdict.SAME, Verdict.CANNOT_TELL)
_COUNTED = (*_JUDGED, Verdict.DATA_LOST, Verdict.NO_INTERVAL)
_COUNTS_ROW = "metrics"


def _list_answer_cells(document: Document, answer: Answer, package: Package, aliases: Aliases) -> Iterator[Cell]:
    """Yield the numbers of metrics on a first page, and the cells of its rows, which are also in tables."""
    title = document.name_answer(answer)
    yield from _count_verdicts(document, answer, title, package, aliases)
    tables = {metric: table for table in reversed(document.metric_tables) for metric in table.metrics}
    rows = [row for group in answer.groups for row in group.rows] + list(answer.conditions)
    labels = Counter(row.label for row in rows)
    for row in rows:
        label = row.label if labels[row.label] == 1 else f"{row.label} ({row.metric})"
        row_aliases = aliases.get(row.metric, (row.metric,))
        columns = _list_answer_columns(answer, row, tables[row.metric]) if row.metric in tables else ()
        for column, text, prints, runs in columns:
            if text:
                sources = tuple(CellSource(row.metric, run) for run in runs)
                yield Cell(title, label, column, text, prints, sources, row_aliases, (column.capitalize(),))


def _list_answer_columns(
    answer: Answer, row: JudgedRow, table: MetricTable
) -> Iterator[tuple[str, str, str, tuple[str, ...]]]:
    """Yield column, text, kind and runs of the cells of a row, which `table` shows, too."""
    base = table.printed[0].runs
    runs = {item.prints: item.runs for item in table.printed if (item.version or item.runs[-1]) == answer.run_id}
    yield answer.base, row.base, AVERAGE, base
    both = runs.get(PERCENT, ())
    yield answer.run, row.value, AVERAGE, runs.get(AVERAGE, ())
    yield "change", row.percent, PERCENT, both
    yield answer.level, row.interval, INTERVAL, both
    yield "verdict", format_verdict(row.arrow, row.verdict, row.is_by_itself), VERDICT, both
    yield "samples", row.sizes, SIZE, both


def _count_verdicts(
    document: Document, answer: Answer, title: str, package: Package, aliases: Aliases
) -> Iterator[Cell]:
    """Yield how many metrics that are better in a direction have an interval, each verdict, or one by itself."""
    directed = {metric.id for metric in package.metrics if metric.better != "neither"}
    cells: dict[str, Cell] = {}
    for name, table in document.named_metric_tables.items():
        for cell in _list_metric_cells(name, table, aliases):
            is_whole = cell.prints == VERDICT and not is_segment(cell.sources[0].entry)
            if is_whole and cell.version == answer.run_id:
                cells.setdefault(cell.sources[0].entry, cell)
    names_by_verdict: dict[str, list[str]] = {verdict: [] for verdict in _COUNTED}
    for metric, cell in cells.items():
        word = cell.verdict.word if cell.verdict else ""
        if metric in directed:
            names_by_verdict[word if word in _COUNTED else Verdict.NO_INTERVAL].append(cell.name)
    judged = [name for verdict in _JUDGED for name in names_by_verdict[verdict]]
    by_itself = [
        cell.name for metric, cell in cells.items() if metric in directed and cell.verdict and cell.verdict.is_by_itself
    ]
    for verdict, names in {"judged": judged, **names_by_verdict, "by itself": by_itself}.items():
        yield Cell(title, _COUNTS_ROW, verdict, str(len(names)), COUNT, (), decided_by=tuple(names))


def _list_metric_cells(title: str, table: MetricTable, aliases: Aliases) -> Iterator[Cell]:
    """Yield the cells of a table of metrics with the name `title`, then those of its further columns.

    A sample count belongs to the metric that was counted.
    """
    labels = Counter(row[0] for row in table.rows)
    for number, (row, metric) in enumerate(zip(table.rows, table.metrics, strict=True)):
        row_aliases = aliases.get(metric, (metric,)) if metric else ()
        label = row[0] if labels[row[0]] == 1 or not metric else f"{row[0]} ({metric})"
        run_column = ""
        for name, item, cell in zip(table.header[1:], table.printed, table.list_row_cells(number), strict=False):
            run_column = run_column if item.prints in DELTAS else name
            column = f"{run_column} {name}" if item.prints in DELTAS else name
            run = item.version or item.runs[-1]
            column_aliases = (f"{run} {name}" if item.prints in DELTAS else run,)
            if cell.text:
                yield Cell(title, label, column, cell.text, cell.prints, cell.sources, row_aliases, column_aliases,
                           verdict=cell.verdict, value=cell.value, unit=cell.unit, version=run)  # fmt: skip
    if table.percentiles:
        yield from _list_table_cells(title, table.percentiles, aliases)


def _list_table_cells(section: str, table: Table | Appendix, aliases: Aliases) -> Iterator[Cell]:
    """Yield the cells of a table; the columns before the first column with a source name the row."""
    key_width = max(1, min((lead.column for lead in table.leads if lead.prints != COLUMN), default=1))
    entries = table.of_rows if isinstance(table, Table) and key_width == 1 else ()
    labels = number_duplicates([", ".join(row[:key_width]) for row in table.rows])
    columns = _name_columns(table)
    first_cells = Counter(row[0] for row in table.rows)
    for lead, cell in list_linked_cells(table):
        row_aliases = aliases.get(entries[lead.row], ()) if entries else ()
        if key_width > 1 and first_cells[table.rows[lead.row][0]] == 1:
            row_aliases = (table.rows[lead.row][0],)
        column_aliases = _find_aliases(table, lead, columns[lead.column], aliases)
        yield Cell(
            section,
            labels[lead.row],
            columns[lead.column],
            cell.text.removesuffix(FALLS_SHORT),
            cell.prints,
            cell.sources,
            row_aliases,
            column_aliases,
            lead.decided_by,
            table.of_columns[lead.column] if table.of_columns else "",
            cell.verdict,
            cell.value,
            cell.unit,
        )


def _name_columns(table: Table | Appendix) -> list[str]:
    """Return the names of columns; differences that share a name are prefixed with the column of their run."""
    shared = {name for name, times in Counter(table.header).items() if times > 1}
    deltas = {lead.column for lead in table.leads if lead.prints in DELTAS}
    names, run_column = [], ""
    for index, name in enumerate(table.header):
        is_delta = index in deltas and (name in shared or table.header.count("Δ") > 0)
        run_column = run_column if is_delta else name
        names.append(f"{run_column} {name}" if is_delta else name)
    return number_duplicates(names)


def _find_aliases(table: Table | Appendix, lead: CellLink, column: str, aliases: Aliases) -> tuple[str, ...]:
    """Return other names of a column: the id of its run, or the names of its metric."""
    entry = table.of_columns[lead.column] if table.of_columns else ""
    if lead.prints in ROWS and entry in aliases and column not in aliases[entry] and table.of_columns.count(entry) == 1:
        return aliases[entry]
    if not lead.of or lead.prints in ROW_PRINTS or (entry and lead.prints in ROWS):
        return ()
    if lead.prints == COLUMN and lead.of[0].where:
        return ()
    run = " ".join(filter(None, (lead.of[-1].run, lead.of[-1].statistic)))
    if lead.prints in DELTAS:
        return (f"{run} {column.rpartition(' ')[2]}",)
    return (run,)


def _list_quoted_cells(part: Part, preceding: int = 0) -> Iterator[Cell]:
    """Yield the values that paragraphs quote: a row per paragraph, a column per value as printed.

    `preceding` is the number of paragraphs of the part before.
    """
    for index in sorted({item.paragraph for item in part.quoted}):
        quoted = [item for item in part.quoted if item.paragraph == index]
        texts = [part.text[index][item.begin : item.end] for item in quoted]
        for item, text, column in zip(quoted, texts, number_duplicates(texts), strict=True):
            source = CellSource(item.entry, item.run, item.where, item.since, item.until, item.statistic)
            prints = item.prints or (STATISTIC if item.statistic else ROW)
            row = f"paragraph {preceding + index + 1}"
            yield Cell(
                part.title, row, column, text, prints, item.sources or (source,), value=item.number, unit=item.symbol
            )


def number_duplicates(names: Sequence[str]) -> list[str]:
    """Append a number to each name that occurs more than once."""
    times, seen = Counter(names), Counter[str]()
    numbered = []
    for name in names:
        seen[name] += 1
        numbered.append(name if times[name] == 1 else f"{name} ({seen[name]})")
    return numbered


def find_cell(cells: Sequence[Cell], name: str) -> Cell:
    """Return the cell with a name.

    Raises AssayError (usage) if the name is ambiguous, or a part of it unknown.
    """
    exact = [item for item in cells if name == item.name]  # a printed name wins over aliases
    named = exact or [item for item in cells if name in item.names]
    matches = list({(item.section, item.row, item.column): item for item in named}.values())
    if not matches:
        matches = _match_short_column(cells, name)
    if len(matches) == 1:
        return matches[0]
    if matches:
        listed = ", ".join(f"`{item.name}`" for item in matches[:4])
        raise fail("ambiguous-cell", f"`{name}` names several cells", found=listed, status=USAGE)
    raise _report_unknown(cells, name)


def _match_short_column(cells: Sequence[Cell], name: str) -> list[Cell]:
    """Return the cells whose difference is named without its run: `Δ` for `10.6 Δ`."""
    return [
        item for item in cells for text in item.names if item.prints in DELTAS and _shorten_name(item, text) == name
    ]


def _shorten_name(item: Cell, name: str) -> str:
    return name.removesuffix(item.column) + item.column.rpartition(" ")[2]


def _report_unknown(cells: Sequence[Cell], name: str) -> AssayError:
    """Return the error for a name without a cell: its section, row or column is unknown."""
    sections = list(dict.fromkeys(item.section for item in cells))
    section = max(
        (candidate for candidate in sections if name == candidate or name.startswith(f"{candidate}/")),
        key=len,
        default=None,
    )
    if section is None:
        head, _, rest = name.partition("/")
        if tables := [candidate for candidate in sections if candidate.startswith(f"{head}/")]:
            table = rest.partition("/")[0]
            message = f"`{head}` has no table `{table}` whose cells can be traced"
            return _build_error(message, f"{head}/{table}", tables)
        return _build_error(f"the report has no section `{head}`", head, sections)
    cells_of_section = [item for item in cells if item.section == section]
    rest = name[len(section) + 1 :]
    rows = list(dict.fromkeys(row for item in cells_of_section for row in (item.row, *item.row_aliases)))
    row = max(
        (candidate for candidate in rows if rest == candidate or rest.startswith(f"{candidate}/")),
        key=len,
        default=None,
    )
    if row is None:
        head = rest.rpartition("/")[0] or rest
        message = f"`{section}` has no row `{head}`" if head else f"`{name}` is a table, not a cell"
        return _build_error(message, head, dict.fromkeys(item.row for item in cells_of_section))
    column = rest[len(row) + 1 :]
    columns = dict.fromkeys(item.column for item in cells_of_section if row in (item.row, *item.row_aliases))
    return _build_error(f"`{section}/{row}` has no column `{column}`", column, columns)


def _build_error(message: str, word: str, candidates: Iterable[str]) -> AssayError:
    return fail(
        "unknown-cell",
        message,
        expected="SECTION/ROW/COLUMN, as printed",
        hint=suggest_names(word, candidates),
        status=USAGE,
    )
