"""Compose the block of a report on the quality of runs' data, and the warnings that point to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from assay.number_styles.cell_text import print_number
from assay.quality.finding import TITLE, UNMEASURED, RunQuality, list_quality_warnings
from assay.report.tables import Appendix


def build_appendix(runs: Mapping[str, RunQuality], phases: Mapping[str, RunQuality] | None = None) -> Appendix:
    """Return the block of a report on the data of its runs and of their phases, both by label.

    The table has a column for each run; the lines below are its findings, or that there are none, and notes.
    """
    columns = list(runs.values())
    rows = (
        ("Hosts", *(print_number(str(item.hosts)) for item in columns)),
        ("Lines read", *(print_number(str(item.lines_read)) for item in columns)),
        ("Lines used", *(print_number(str(item.lines_used)) for item in columns)),
        ("Lines unknown", *(print_number(str(item.lines_unknown)) for item in columns)),
        ("Lines malformed", *(print_number(str(item.lines_malformed)) for item in columns)),
        ("Other lines", *(print_number(str(item.lines_other)) for item in columns)),
        ("Findings", *(print_number(str(len(item.findings))) for item in columns)),
    )
    notes = [line for label, item in {**runs, **(phases or {})}.items() for line in _list_findings(label, item)]
    return Appendix(TITLE, (), ("", *runs), rows, notes=tuple(notes))


@dataclass(frozen=True, slots=True)
class QualityParts:
    """The data-quality block of a report, and the warnings that point to it."""

    appendices: tuple[Appendix, ...]
    warnings: tuple[str, ...]


def build_quality_parts(
    columns_by_label: Mapping[str, RunQuality], runs_by_label: Mapping[str, RunQuality] | None = None
) -> QualityParts:
    """Return the block on the compared runs or phases, by label; `runs_by_label`: the runs of compared phases."""
    if not columns_by_label or all(item is UNMEASURED for item in columns_by_label.values()):
        return QualityParts((), ())
    block = build_appendix(runs_by_label, columns_by_label) if runs_by_label else build_appendix(columns_by_label)
    return QualityParts((block,), tuple(list_quality_warnings({**(runs_by_label or {}), **columns_by_label})))


def _list_findings(label: str, quality: RunQuality) -> Iterator[str]:
    messages = (*quality.messages, *(item.message for item in quality.unused))
    if not quality.findings:
        yield f"{label}: no findings{', but notes:' if messages else '.'}"
    yield from (f"{label}: {message}" for message in messages)
