"""Check the claims of documents: which cells agree with a run of the report, and which other runs have the numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

from assay.lang.blocks.pivot import Pivot
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Metric
from assay.lang.model.parts import Cell, Claim
from assay.lang.model.report import Report
from assay.number_styles.cell_text import print_number
from assay.number_styles.registry import get_style
from assay.number_styles.row import NO_VALUE
from assay.report.blocks import rows as block_rows
from assay.report.blocks.pivot import group_pivot_rows
from assay.report.blocks.repeats import add_count_of_repeats, average_rows, get_printed_kind, link_repeats
from assay.report.blocks.rows import Row
from assay.report.cell_links import JUDGED, WORDS, CellLink
from assay.report.glossary import get_column_id
from assay.report.run_results import RunFigures, list_own_names
from assay.report.tables import Appendix

File = tuple[str, int, str]
"""Name of an input file from its run's directory, bytes, sha256."""


@dataclass(frozen=True, slots=True)
class Source:
    """A run that claims are checked against: its id, its label in the report, the files of its table.

    `own_name` is its label constant.
    """

    id: str
    label: str
    own_name: str
    files: tuple[File, ...]
    #: row and column -> the cell as tables print it, and its exact value (None: no value)
    cells: Mapping[tuple[str, str], tuple[str, Fraction | None]]
    #: row and column -> the rows behind the cell
    rows: Mapping[tuple[str, str], Sequence[Row]] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, str, str]:
        """The names of the run that claims may have; the first that fits decides.

        What the run calls itself comes first: a user may call any run by the name of a release.
        """
        return self.own_name, self.label, self.id


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """A claim, its run (None if the report has no run of that name), and whether each cell agrees with the run.

    Unless all agree, `agreeing_runs` are the other runs with which all cells agree.
    """

    claim: Claim
    pivot: Pivot
    run: Source | None
    cell_agreements: tuple[bool, ...]
    agreeing_runs: tuple[Source, ...]

    @property
    def differing_count(self) -> int:
        """How many cells differ from those of the run."""
        return self.cell_agreements.count(False)

    @property
    def holds(self) -> bool:
        """Whether all cells agree with the run."""
        return self.run is not None and not self.differing_count


def find_pivots(report: Report) -> dict[str, Pivot]:
    """Return the pivots that claims may be about, by their titles."""
    return {pivot.title: pivot for part in report.parts for pivot in part.select(Pivot)}


def check_claims(
    checked: CheckedPackage,
    report: Report,
    runs: Sequence[RunFigures],
    run_labels: Sequence[str],
    files: Mapping[tuple[str, str], tuple[File, ...]],
) -> tuple[CheckedClaim, ...]:
    """Check each claim; `files` are the input files by run id and title of the pivot."""
    pivots = find_pivots(report)
    checked_claims = []
    for claim in report.claims:
        pivot = pivots[claim.pivot]
        sources = [
            _create_source(checked, report, pivot, (label, run), files.get((run.id, pivot.title), ()))
            for run, label in zip(runs, run_labels, strict=True)
        ]
        checked_claims.append(_check_claim(claim, pivot, sources))
    return tuple(checked_claims)


def _check_claim(claim: Claim, pivot: Pivot, sources: Sequence[Source]) -> CheckedClaim:
    kinds = range(len(sources[0].names)) if sources else ()
    run = next((item for kind in kinds for item in sources if item.names[kind] == claim.run), None)
    cell_agreements = tuple(_has_value(cell, run) for cell in claim.cells) if run else ()
    if run and all(cell_agreements):
        return CheckedClaim(claim, pivot, run, cell_agreements, ())
    agreeing_sources = [
        item for item in sources if item is not run and all(_has_value(cell, item) for cell in claim.cells)
    ]
    return CheckedClaim(claim, pivot, run, cell_agreements, tuple(agreeing_sources))


def _has_value(cell: Cell, run: Source) -> bool:
    """Check that a run's value, rounded to the decimals of the cell, equals the cell."""
    _, value = run.cells.get((cell.down, cell.across), ("", None))
    claimed_value = Decimal(cell.value)
    decimals = -int(claimed_value.as_tuple().exponent)
    return value is not None and abs(value - Fraction(claimed_value)) <= Fraction(1, 2 * 10**decimals)


def _create_source(
    checked: CheckedPackage,
    report: Report,
    pivot: Pivot,
    labelled_run: tuple[str, RunFigures],
    files: tuple[File, ...],
) -> Source:
    """Create the cells of a run's pivot: no cells if the run lacks the source of its rows."""
    label, run = labelled_run
    number_style = get_style(report.style)
    metric = checked.get_metric(pivot.metric)
    rows_by_cell = {
        (str(down), str(across)): rows for (down, across), rows in group_pivot_rows(checked, report, pivot, run).items()
    }
    cells = {}
    for place, rows in rows_by_cell.items():
        value = average_rows(rows, [metric.id])[metric.id]
        text = block_rows.format_metric_value(checked, number_style, metric, value)
        cells[place] = add_count_of_repeats(text, rows, metric.id), _compute_exact_value(checked, metric, value)
    (own_name,) = list_own_names(report.label, [run])
    return Source(run.id, label, own_name, files, cells, rows_by_cell)


def _compute_exact_value(checked: CheckedPackage, metric: Metric, value: object) -> Fraction | None:
    return Fraction(value) * checked.measured[metric.id].factor if isinstance(value, (int, float, Fraction)) else None


# Descriptions of checked claims


def list_claim_warnings(checked_claims: Sequence[CheckedClaim]) -> tuple[str, ...]:
    """Return a sentence for each claim that does not hold."""
    return tuple(
        f"{item.claim.document}, {item.claim.statement}: {describe_claim_result(item)}"
        for item in checked_claims
        if not item.holds
    )


def describe_claim_result(checked_claim: CheckedClaim) -> str:
    """Return the result of a claim in a sentence or two."""
    cell_count = len(checked_claim.claim.cells)
    if checked_claim.run is None:
        sentence = f"No run of this report is called {checked_claim.claim.run}."
    elif checked_claim.differing_count:
        verb = "differs" if checked_claim.differing_count == 1 else "differ"
        sentence = (
            f"{checked_claim.differing_count} of {cell_count} {_pluralize_cell(cell_count)} {verb} "
            f"from those of {checked_claim.run.label}."
        )
    else:
        return f"All {cell_count} {_pluralize_cell(cell_count)} agree with those of {checked_claim.run.label}."
    if not checked_claim.agreeing_runs:
        return f"{sentence} No other run of this report has all of them."
    names = " and of ".join(source.label for source in checked_claim.agreeing_runs)
    return f"{sentence} All of them agree with those of {names}."


def _pluralize_cell(count: int) -> str:
    return "cell" if count == 1 else "cells"


def link_cells(checked_claim: CheckedClaim) -> Iterator[CellLink]:
    """Yield the links of a claim's table: cells of the document link to its words, those of runs to their rows."""
    for y, cell in enumerate(checked_claim.claim.cells):
        yield CellLink(y, 2, WORDS, ())
        runs = (*((checked_claim.run,) if checked_claim.run else ()), *checked_claim.agreeing_runs)
        for source in runs:
            rows, pivot = source.rows.get((cell.down, cell.across), ()), checked_claim.pivot
            sources = link_repeats(pivot.metric, source.id, rows, pivot.columns)
            prints = get_printed_kind(rows)
            if source is checked_claim.run:
                yield CellLink(y, 3, prints, sources)
                yield CellLink(y, 4, JUDGED, sources)
            else:
                yield CellLink(
                    y, (5 if checked_claim.run else 3) + checked_claim.agreeing_runs.index(source), prints, sources
                )


def describe_claims(checked_claims: Sequence[CheckedClaim]) -> tuple[Appendix, ...]:
    """Return a part of the provenance for each claim: its result, the files of the runs, and a table of its cells."""
    return tuple(
        Appendix(
            f"{item.claim.document}: {item.claim.statement}",
            (f"{item.pivot.title}. {describe_claim_result(item)}", *_describe_files(item)),
            _build_header(item),
            tuple(_list_rows(item)),
            _list_column_entries(item),
            tuple(link_cells(item)),
        )
        for item in checked_claims
    )


def _describe_files(checked_claim: CheckedClaim) -> Iterator[str]:
    for source in (*((checked_claim.run,) if checked_claim.run else ()), *checked_claim.agreeing_runs):
        listed_files = "; ".join(f"{name}, sha256 {digest}" for name, _, digest in source.files)
        all_agree = ", whose cells all agree" if source in checked_claim.agreeing_runs else ""
        yield f"Files of {source.label}{all_agree}: {listed_files}."


def _build_header(checked_claim: CheckedClaim) -> tuple[str, ...]:
    down, across = (
        name.replace("_", " ").capitalize() for name in (checked_claim.pivot.down, checked_claim.pivot.across)
    )
    run = (f"Found in {checked_claim.run.label}", "Agrees") if checked_claim.run else ()
    return (down, across, "Document", *run, *(f"Found in {source.label}" for source in checked_claim.agreeing_runs))


def _list_column_entries(checked_claim: CheckedClaim) -> tuple[str, ...]:
    """Return the entry of each column."""
    key_entries = (
        get_column_id(checked_claim.pivot.grain, name)
        for name in (checked_claim.pivot.down, checked_claim.pivot.across)
    )
    run = (checked_claim.pivot.metric, "") if checked_claim.run else ()
    return (
        *key_entries,
        checked_claim.pivot.metric,
        *run,
        *(checked_claim.pivot.metric for _ in checked_claim.agreeing_runs),
    )


def _list_rows(checked_claim: CheckedClaim) -> Iterator[tuple[str, ...]]:
    for index, cell in enumerate(checked_claim.claim.cells):
        run = (
            (format_value(cell, checked_claim.run), "yes" if checked_claim.cell_agreements[index] else "no")
            if checked_claim.run
            else ()
        )
        yield (
            *map(print_number, (cell.down, cell.across, cell.value)),
            *run,
            *(format_value(cell, source) for source in checked_claim.agreeing_runs),
        )


def format_value(cell: Cell, run: Source) -> str:
    """Return the text of a cell in a run; a dash if the run has no such cell."""
    return run.cells.get((cell.down, cell.across), (NO_VALUE, None))[0]


def build_claims_data(checked_claims: Sequence[CheckedClaim]) -> list[dict[str, object]]:
    """Return the results of claims as plain data."""
    return [
        {
            "document": item.claim.document,
            "statement": item.claim.statement,
            "table": item.claim.pivot,
            "metric": item.pivot.metric,
            "claimed_of": item.claim.run,
            "run": _build_source_data(item.run) if item.run else None,
            "cells": [
                {
                    item.pivot.down: cell.down,
                    item.pivot.across: cell.across,
                    "claimed": cell.value,
                    "found": format_value(cell, item.run) if item.run else None,
                    "agrees": item.cell_agreements[index] if item.run else None,
                }
                for index, cell in enumerate(item.claim.cells)
            ],
            "differing": item.differing_count,
            "holds": item.holds,
            "equal": [_build_source_data(source) for source in item.agreeing_runs],
        }
        for item in checked_claims
    ]


def _build_source_data(source: Source) -> dict[str, object]:
    files = [{"file": name, "bytes": size, "sha256": digest} for name, size, digest in source.files]
    return {"id": source.id, "label": source.label, "files": files}
