"""The cells of a built report by their printed names: section, row and column, and what each stands for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.report.assemble import DELTA
from assay.spec.article_model import Article, Listing, Part, Pivot, Verdict
from assay.spec.diagnostics import USAGE, AssayError, did_you_mean, fail
from assay.spec.model import Package

#: what a cell prints of a metric: its average, a difference of two averages, the number of samples, or one row's value
AVERAGE, DELTAS, SIZE, ROW = "average", "difference", "size", "row"
SHORT = " *"


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: the names of its section, row and column, its text; the metric (none: a fact of the run), what it prints
    of it, and of which runs by their places.

    `where` are the columns (as texts) of the row of the metric's grain that it prints; `first` is the column that tells
    which of several such rows, in a table of a `verdict` this does.  `also` are other names of its row, `by_id` is its
    column by the run's id.
    """

    section: str
    row: str
    column: str
    text: str
    metric: str
    prints: str
    runs: tuple[int, ...]
    where: Mapping[str, str] = field(default_factory=dict)
    first: str = ""
    also: tuple[str, ...] = ()
    by_id: str = ""
    verdict: Verdict | None = None

    @property
    def name(self) -> str:
        """The cell as it is named."""
        return f"{self.section}/{self.row}/{self.column}"

    @property
    def names(self) -> tuple[str, ...]:
        """All names of it."""
        columns = (self.column, *([self.by_id] if self.by_id else []))
        return tuple(f"{self.section}/{row}/{column}" for row in (self.row, *self.also) for column in columns)


def of_report(document: Mapping[str, Any], package: Package, ids: Sequence[str]) -> Iterator[Cell]:
    """The cells of the document of a comparison of runs with these ids."""
    known = {metric.id: metric.name for metric in package.metrics}
    yield from _manifest(document, ids)
    for section in document["sections"]:
        labels = Counter(row[0] for row in section["rows"])
        for row, metric in zip(section["rows"], section["metrics"], strict=True):
            asked = metric or next((item for item in section["metrics"] if item), "")
            also = tuple(dict.fromkeys((known.get(metric, metric), metric))) if metric else ()
            label = row[0] if labels[row[0]] == 1 or not metric else f"{row[0]} ({metric})"
            for column, runs, text, prints in _columns(section["header"], row):
                how = prints if metric else SIZE
                if text:
                    by_id = ids[runs[-1]] + (f" {column.rpartition(' ')[2]}" if prints == DELTAS else "")
                    yield Cell(section["title"], label, column, text, asked, how, runs, also=also, by_id=by_id)


def _manifest(document: Mapping[str, Any], ids: Sequence[str]) -> Iterator[Cell]:
    table = document["manifest"]
    for label, *texts in table["rows"]:
        for place, (column, text) in enumerate(zip(table["header"][1:], texts, strict=True)):
            yield Cell(table["title"], label, column, text, "", "", (place,), by_id=ids[place])


def _columns(header: Sequence[str], row: Sequence[str]) -> Iterator[tuple[str, tuple[int, ...], str, str]]:
    """The cells of a row: the column's name (differences with that of their run), places of runs, text, what it is."""
    run = -1
    for name, text in zip(header[1:], row[1:], strict=True):
        if name in DELTA and run > 0:
            yield f"{header[3 * run - 1]} {name}", (0, run), text, DELTAS
        else:
            run += 1
            yield name, (run,), text, AVERAGE


def of_article(
    document: Mapping[str, Any], article: Article, ids: Sequence[str], labels: Mapping[int, str]
) -> Iterator[Cell]:
    """The cells of the document of an article over runs of these ids; `labels` are those of the runs that its tables
    are about, by their places, the baseline first."""
    yield from _manifest(document, ids)
    parts = {part.title: part for part in article.parts}
    for gallery in document["galleries"]:
        part = parts.get(gallery["title"])
        for table in gallery["tables"] if part else ():
            assert part is not None
            found = _table_of(part, table["title"], labels)
            if found:
                yield from _cells_of(gallery["title"], table, *found, min(labels))


def _table_of(part: Part, title: str, labels: Mapping[int, str]) -> tuple[Listing | Pivot | Verdict, int] | None:
    """What a table of a part was made from, and the place of its run."""
    items: tuple[Pivot | Listing | Verdict, ...] = (*part.pivots, *part.listings, *part.verdicts)
    for item in items:
        for place, label in labels.items():
            if title == (f"{item.title}: {label}" if len(labels) > 1 else item.title):
                return item, place
    return None


def _cells_of(
    part: str, table: Mapping[str, Any], item: Listing | Pivot | Verdict, run: int, base: int
) -> Iterator[Cell]:
    section = f"{part}/{table['title']}"
    if isinstance(item, Listing):
        yield from _listing(section, table, item, run)
    elif isinstance(item, Pivot):
        for label, *texts in table["rows"]:
            for column, text in zip(table["header"][1:], texts, strict=True):
                where = {item.down: label, item.across: column}
                shown = text.removesuffix(SHORT)
                yield Cell(section, label, column, shown, item.metric, ROW, (run,), where, item.first)
    else:
        yield from _verdict(section, table, item, run, base)


def _listing(section: str, table: Mapping[str, Any], item: Listing, run: int) -> Iterator[Cell]:
    wide = len(item.keys)
    for row in table["rows"]:
        keys = dict(zip(item.keys, row[:wide], strict=True))
        for metric, column, text in zip(item.metrics, table["header"][wide:], row[wide:], strict=True):
            yield Cell(section, ", ".join(row[:wide]), column, text, metric, ROW, (run,), keys)


def _verdict(section: str, table: Mapping[str, Any], item: Verdict, run: int, base: int) -> Iterator[Cell]:
    wide = len(item.keys)
    for place, row in enumerate(table["rows"]):
        keys = dict(zip(item.keys, row[:wide], strict=True))
        metric = item.metrics[place % len(item.metrics)]
        label = ", ".join(row[: wide + 1])
        of = (base,), (run,), (base, run), (base, run)
        columns = zip(table["header"][wide + 1 :], row[wide + 1 :], of, strict=True)
        for column, text, runs in columns:
            yield Cell(section, label, column, text, metric, ROW, runs, keys, verdict=item)


def find(cells: Sequence[Cell], name: str) -> Cell:
    """The cell of a name.  AssayError (usage) that says which part of it is of no cell."""
    named = [item for item in cells if name in item.names]
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
    return [item for item in cells for text in item.names if item.prints == DELTAS and _shortened(item, text) == name]


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
