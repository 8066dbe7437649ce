"""The cells of a built report by their printed names: section, row and column, and where each leads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.lang.model.package import Package
from assay.report.cell_links import (
    CHANGE,
    COLUMN,
    DIFFERENCE,
    JUDGED,
    LINES,
    MEAN,
    PERCENT,
    ROW,
    SHARE,
    SHORT,
    SIZE,
    CellLink,
    CellSource,
)
from assay.report.document import Appendix, Document, Gallery, Section, Table
from assay.util.diagnostics import USAGE, AssayError, did_you_mean, fail

FALLS_SHORT = " *"
DELTAS = (DIFFERENCE, PERCENT, CHANGE)
OF_ROW = (JUDGED, SHARE, SHORT, LINES, MEAN)  # what tells of a row, in columns that are no run's


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: the names of its section, row and column, its text, what it prints of which values.

    `also` are other names of its row, `called` of its column; `decided_by` are tables whose cells decide on it, `entry`
    is what the document explains its column by.
    """

    section: str
    row: str
    column: str
    text: str
    prints: str
    of: tuple[CellSource, ...]
    also: tuple[str, ...] = ()
    called: tuple[str, ...] = ()
    decided_by: tuple[str, ...] = ()
    entry: str = ""

    @property
    def name(self) -> str:
        """The cell as it is named."""
        return f"{self.section}/{self.row}/{self.column}"

    @property
    def names(self) -> tuple[str, ...]:
        """All names of it."""
        rows, columns = (self.row, *self.also), (self.column, *self.called)
        return tuple(f"{self.section}/{row}/{column}" for row in rows for column in columns)


def of_document(document: Document, package: Package) -> Iterator[Cell]:
    """The cells of a document that lead anywhere; `package` tells other names of metrics."""
    known: dict[str, tuple[str, ...]] = {metric.id: (metric.name, metric.id) for metric in package.metrics}
    known |= {series.name: (series.name,) for series in package.series}
    yield from _of_table(document.manifest.title, document.manifest, known)
    for section in document.sections:
        yield from _of_section(section, known)
    for gallery in document.galleries:
        yield from _of_prose(gallery)
        for table in gallery.tables:
            yield from _of_table(f"{gallery.title}/{table.title}", table, known)
    for claim in document.claims:
        yield from _of_table(claim.title, claim, known)
    yield from _of_table(document.filters.title, document.filters, known)


Known = Mapping[str, tuple[str, ...]]
"""Id of a metric or series -> its other names."""


def _of_section(section: Section, known: Known) -> Iterator[Cell]:
    """The cells of a table of metrics; a sample count is one of the metric that was counted."""
    labels = Counter(row[0] for row in section.rows)
    for row, metric in zip(section.rows, section.metrics, strict=True):
        also = known.get(metric, (metric,)) if metric else ()
        label = row[0] if labels[row[0]] == 1 or not metric else f"{row[0]} ({metric})"
        before = ""
        for name, text, item in zip(section.header[1:], row[1:], section.printed, strict=False):
            before = before if item.prints in DELTAS else name
            column = f"{before} {name}" if item.prints in DELTAS else name
            called = (f"{item.runs[-1]} {name}" if item.prints in DELTAS else item.runs[-1],)
            if text:
                prints = item.prints if metric else SIZE
                of = tuple(CellSource(metric or section.counted, run) for run in item.runs)
                yield Cell(section.title, label, column, text, prints, of, also, called)


def _of_table(section: str, table: Table | Appendix, known: Known) -> Iterator[Cell]:
    """The cells of a table; what stands before the first that leads anywhere names the row."""
    wide = max(1, min((lead.column for lead in table.leads if lead.prints != COLUMN), default=1))
    entries = table.of_rows if isinstance(table, Table) and wide == 1 else ()
    labels = number_duplicates([", ".join(row[:wide]) for row in table.rows])
    columns = _columns(table)
    for lead in table.leads:
        text = table.rows[lead.row][lead.column].removesuffix(FALLS_SHORT)
        also = known.get(entries[lead.row], ()) if entries else ()
        called = _called(table, lead, columns[lead.column], known)
        yield Cell(
            section, labels[lead.row], columns[lead.column], text, lead.prints, lead.of, also, called, lead.decided_by,
            table.of_columns[lead.column] if table.of_columns else "",
        )  # fmt: skip


def _columns(table: Table | Appendix) -> list[str]:
    """The names of columns: of differences, which share theirs, with that of their run."""
    shared = {name for name, times in Counter(table.header).items() if times > 1}
    deltas = {lead.column for lead in table.leads if lead.prints in DELTAS}
    found, before = [], ""
    for place, name in enumerate(table.header):
        is_delta = place in deltas and (name in shared or table.header.count("Δ") > 0)
        before = before if is_delta else name
        found.append(f"{before} {name}" if is_delta else name)
    return number_duplicates(found)


def _called(table: Table | Appendix, lead: CellLink, column: str, known: Known) -> tuple[str, ...]:
    """Other names of a column: the run's id, or the names of the metric that it is about."""
    entry = table.of_columns[lead.column] if table.of_columns else ""
    if lead.prints == ROW and entry in known and column not in known[entry] and table.of_columns.count(entry) == 1:
        return known[entry]
    if not lead.of or lead.prints in OF_ROW or (entry and lead.prints == ROW):
        return ()
    if lead.prints == COLUMN and lead.of[0].where:
        return ()
    run = lead.of[-1].run
    if lead.prints in DELTAS:
        return (f"{run} {column.rpartition(' ')[2]}",)
    return (run,)


def _of_prose(gallery: Gallery) -> Iterator[Cell]:
    """The values that paragraphs quote: a row a paragraph, a column a value as it is printed."""
    for place in sorted({item.paragraph for item in gallery.quoted}):
        own = [item for item in gallery.quoted if item.paragraph == place]
        texts = [gallery.text[place][item.begin : item.end] for item in own]
        for item, text, column in zip(own, texts, number_duplicates(texts), strict=True):
            of = (CellSource(item.entry, item.run, item.where),)
            yield Cell(gallery.title, f"paragraph {place + 1}", column, text, ROW, of)


def number_duplicates(names: Sequence[str]) -> list[str]:
    """Names, each that stands there more than once with its number behind it."""
    times, done = Counter(names), Counter[str]()
    found = []
    for name in names:
        done[name] += 1
        found.append(name if times[name] == 1 else f"{name} ({done[name]})")
    return found


def find(cells: Sequence[Cell], name: str) -> Cell:
    """The cell of a name.  AssayError (usage) that says which part of it is of no cell."""
    printed = [item for item in cells if name == item.name]  # as the list of cells has it, whatever else is so called
    named = printed or [item for item in cells if name in item.names]
    found = list({(item.section, item.row, item.column): item for item in named}.values())
    if not found:
        found = _of_short_column(cells, name)
    if len(found) == 1:
        return found[0]
    if found:
        listed = ", ".join(f"`{item.name}`" for item in found[:4])
        raise fail("ambiguous-cell", f"`{name}` names several cells", found=listed, status=USAGE)
    raise _unknown(cells, name)


def _of_short_column(cells: Sequence[Cell], name: str) -> list[Cell]:
    """The cells that a name without the run of its difference is of: `Δ` for `10.6 Δ`."""
    return [item for item in cells for text in item.names if item.prints in DELTAS and _shortened(item, text) == name]


def _shortened(item: Cell, name: str) -> str:
    return name.removesuffix(item.column) + item.column.rpartition(" ")[2]


def _unknown(cells: Sequence[Cell], name: str) -> AssayError:
    """Which part of a name is of no cell: the section, the row of it, or the column of that."""
    sections = list(dict.fromkeys(item.section for item in cells))
    section = max((one for one in sections if name == one or name.startswith(f"{one}/")), key=len, default=None)
    if section is None:
        head, _, rest = name.partition("/")
        if tables := [one for one in sections if one.startswith(f"{head}/")]:
            table = rest.partition("/")[0]
            message = f"`{head}` has no table `{table}` whose cells can be traced"
            return _missing(message, f"{head}/{table}", tables)
        return _missing(f"the report has no section `{head}`", head, sections)
    own = [item for item in cells if item.section == section]
    rest = name[len(section) + 1 :]
    rows = list(dict.fromkeys(row for item in own for row in (item.row, *item.also)))
    row = max((one for one in rows if rest == one or rest.startswith(f"{one}/")), key=len, default=None)
    if row is None:
        head = rest.rpartition("/")[0] or rest
        return _missing(f"`{section}` has no row `{head}`", head, dict.fromkeys(item.row for item in own))
    column = rest[len(row) + 1 :]
    columns = dict.fromkeys(item.column for item in own if row in (item.row, *item.also))
    return _missing(f"`{section}/{row}` has no column `{column}`", column, columns)


def _missing(message: str, word: str, known: Iterable[str]) -> AssayError:
    return fail("unknown-cell", message, expected="SECTION/ROW/COLUMN, as printed", hint=did_you_mean(word, known),
                status=USAGE)  # fmt: skip
