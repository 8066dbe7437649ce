"""Claims of documents beside the runs of a report: which cells agree, and whose numbers the others are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

from assay.lang.blocks.pivot import Pivot
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.article import Article, Cell, Claim
from assay.lang.model.package import Metric
from assay.report.blocks import rows as asked
from assay.report.blocks.rows import Row
from assay.report.cell_links import JUDGED, ROW, WORDS, CellLink, CellSource
from assay.report.document import Appendix
from assay.report.glossary import of_column
from assay.report.run_results import RunFigures
from assay.styles.registry import Style, style
from assay.styles.row import NO_VALUE

File = tuple[str, int, str]
"""Name of an input file from its run's directory, bytes, sha256."""


@dataclass(frozen=True, slots=True)
class Source:
    """A run as claims are judged by it: its id, what the report calls it, the files that its table is made of."""

    id: str
    label: str
    files: tuple[File, ...]
    #: row and column -> the cell as tables print it, and its exact value (none: it has no value)
    cells: Mapping[tuple[str, str], tuple[str, Fraction | None]]
    #: the same -> what tells its row from others that meet there
    first: Mapping[tuple[str, str], str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim, the run that it is about (none when the report has none of that name), whether each cell agrees with it,
    and, unless all do, the other runs with which all cells agree."""

    claim: Claim
    pivot: Pivot
    run: Source | None
    agrees: tuple[bool, ...]
    equal: tuple[Source, ...]

    @property
    def differing(self) -> int:
        """How many cells differ from the run's."""
        return self.agrees.count(False)

    @property
    def holds(self) -> bool:
        """Whether the run has all that is claimed of it."""
        return self.run is not None and not self.differing


def find_pivots(article: Article) -> dict[str, Pivot]:
    """Return the pivots that claims may be about, by their titles."""
    return {pivot.title: pivot for part in article.parts for pivot in part.select(Pivot)}


def check_claims(
    checked: CheckedPackage,
    article: Article,
    runs: Sequence[RunFigures],
    named: Sequence[str],
    files: Mapping[tuple[str, str], tuple[File, ...]],
) -> tuple[Judged, ...]:
    """What comes of each claim; `files` are those that a run's (by id) pivot (by title) is made of."""
    pivots = find_pivots(article)
    look = style(article.style)
    found = []
    for claim in article.claims:
        pivot = pivots[claim.pivot]
        sources = [
            Source(
                run.id,
                label,
                files.get((run.id, pivot.title), ()),
                _cells(checked, pivot, run, look),
                {place: str(row[pivot.first]) for place, row in _rows_of(checked, pivot, run).items()},
            )
            for run, label in zip(runs, named, strict=True)
        ]
        found.append(_judged(claim, pivot, sources))
    return tuple(found)


def _judged(claim: Claim, pivot: Pivot, sources: Sequence[Source]) -> Judged:
    called = [item for item in sources if item.label == claim.run] or [item for item in sources if item.id == claim.run]
    run = called[0] if called else None
    agrees = tuple(_agrees(cell, run) for cell in claim.cells) if run else ()
    if run and all(agrees):
        return Judged(claim, pivot, run, agrees, ())
    others = [item for item in sources if item is not run and all(_agrees(cell, item) for cell in claim.cells)]
    return Judged(claim, pivot, run, agrees, tuple(others))


def _agrees(cell: Cell, run: Source) -> bool:
    """Whether a run's value, rounded to as many decimals as are printed, is that of the cell."""
    _, value = run.cells.get((cell.down, cell.across), ("", None))
    printed = Decimal(cell.value)
    decimals = -int(printed.as_tuple().exponent)
    return value is not None and abs(value - Fraction(printed)) <= Fraction(1, 2 * 10**decimals)


def _cells(
    checked: CheckedPackage, pivot: Pivot, run: RunFigures, look: Style
) -> dict[tuple[str, str], tuple[str, Fraction | None]]:
    """The cells of a run's pivot; none when its rows were not asked for, since a run lacks their source."""
    metric = checked.metric(pivot.metric)
    return {
        place: (asked.text(checked, look, metric, row[metric.id]), _exact(checked, metric, row[metric.id]))
        for place, row in _rows_of(checked, pivot, run).items()
    }


def _rows_of(checked: CheckedPackage, pivot: Pivot, run: RunFigures) -> dict[tuple[str, str], Row]:
    """The row of each cell: the first, where several meet in it."""
    (item,) = asked.listed_of(checked, pivot)
    rows = asked.rows(run, item) if item.name in run.results.rows else ()
    found: dict[tuple[str, str], Row] = {}
    for row in sorted(rows, key=lambda row: asked.ordered(row[pivot.first])):
        found.setdefault((str(row[pivot.down]), str(row[pivot.across])), row)
    return found


def _exact(checked: CheckedPackage, metric: Metric, value: object) -> Fraction | None:
    return Fraction(value) * checked.measured[metric.id].factor if isinstance(value, (int, float)) else None


# What is said of them


def warnings(found: Sequence[Judged]) -> tuple[str, ...]:
    """A sentence for each claim that does not hold."""
    return tuple(f"{item.claim.document}, {item.claim.statement}: {verdict(item)}" for item in found if not item.holds)


def verdict(item: Judged) -> str:
    """What comes of a claim, in a sentence or two."""
    number = len(item.claim.cells)
    if item.run is None:
        said = f"No run of this report is called {item.claim.run}."
    elif item.differing:
        verb = "differs" if item.differing == 1 else "differ"
        said = f"{item.differing} of {number} {_counted(number)} {verb} from those of {item.run.label}."
    else:
        return f"All {number} {_counted(number)} agree with those of {item.run.label}."
    if not item.equal:
        return f"{said} No other run of this report has all of them."
    names = " and of ".join(source.label for source in item.equal)
    return f"{said} All of them are those of {names}."


def _counted(number: int) -> str:
    return "cell" if number == 1 else "cells"


def link_cells(item: Judged) -> Iterator[CellLink]:
    """Where the cells of a claim's table lead: those of the document to its words, those of runs to their rows."""
    for y, cell in enumerate(item.claim.cells):
        yield CellLink(y, 2, WORDS, ())
        runs = (*((item.run,) if item.run else ()), *item.equal)
        for source in runs:
            first = source.first.get((cell.down, cell.across))
            keys = (item.pivot.down, cell.down), (item.pivot.across, cell.across), (item.pivot.first, first or "")
            of = (CellSource(item.pivot.metric, source.id, tuple(dict(keys).items())),) if first is not None else ()
            if source is item.run:
                yield CellLink(y, 3, ROW, of)
                yield CellLink(y, 4, JUDGED, of)
            else:
                yield CellLink(y, (5 if item.run else 3) + item.equal.index(source), ROW, of)


def describe_claims(found: Sequence[Judged]) -> tuple[Appendix, ...]:
    """A part of the provenance for each claim: what comes of it, the files that tell, and a table of its cells."""
    return tuple(
        Appendix(
            f"{item.claim.document}: {item.claim.statement}",
            (f"{item.pivot.title}. {verdict(item)}", *_files(item)),
            _header(item),
            tuple(_rows(item)),
            _means(item),
            tuple(link_cells(item)),
        )
        for item in found
    )


def _files(item: Judged) -> Iterator[str]:
    for source in (*((item.run,) if item.run else ()), *item.equal):
        listed = "; ".join(f"{name}, sha256 {digest}" for name, _, digest in source.files)
        whose = "These are the numbers of" if source in item.equal else "Found in"
        yield f"{whose} {source.label}: {listed}."


def _header(item: Judged) -> tuple[str, ...]:
    down, across = (name.replace("_", " ").capitalize() for name in (item.pivot.down, item.pivot.across))
    run = (f"Found in {item.run.label}", "Agrees") if item.run else ()
    return (down, across, "Document", *run, *(f"Found in {source.label}" for source in item.equal))


def _means(item: Judged) -> tuple[str, ...]:
    """The entry of each column; the cells of the document are as it says, and lead to what it says them of."""
    places = (of_column(item.pivot.grain, name) for name in (item.pivot.down, item.pivot.across))
    run = (item.pivot.metric, "") if item.run else ()
    return (*places, item.pivot.metric, *run, *(item.pivot.metric for _ in item.equal))


def _rows(item: Judged) -> Iterator[tuple[str, ...]]:
    for index, cell in enumerate(item.claim.cells):
        run = (format_value(cell, item.run), "yes" if item.agrees[index] else "no") if item.run else ()
        yield (cell.down, cell.across, cell.value, *run, *(format_value(cell, source) for source in item.equal))


def format_value(cell: Cell, run: Source) -> str:
    return run.cells.get((cell.down, cell.across), (NO_VALUE, None))[0]


def as_data(found: Sequence[Judged]) -> list[dict[str, object]]:
    """The same as plain data."""
    return [
        {
            "document": item.claim.document,
            "statement": item.claim.statement,
            "table": item.claim.pivot,
            "metric": item.pivot.metric,
            "claimed_of": item.claim.run,
            "run": _source(item.run) if item.run else None,
            "cells": [
                {
                    item.pivot.down: cell.down,
                    item.pivot.across: cell.across,
                    "claimed": cell.value,
                    "found": format_value(cell, item.run) if item.run else None,
                    "agrees": item.agrees[index] if item.run else None,
                }
                for index, cell in enumerate(item.claim.cells)
            ],
            "differing": item.differing,
            "holds": item.holds,
            "equal": [_source(source) for source in item.equal],
        }
        for item in found
    ]


def _source(source: Source) -> dict[str, object]:
    files = [{"file": name, "bytes": size, "sha256": digest} for name, size, digest in source.files]
    return {"id": source.id, "label": source.label, "files": files}
