"""Write the lines behind a sample of a run as an example that `assay test` runs (`assay slice`).

The records behind the value come first. They may not be enough: filters, joins and anchors read others. So each
selection of records is computed as a run of its own, and more are added until the sample has the value that it has in
the whole run; those that turn out not to be needed are dropped.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from assay.app.audit.trace_runs import ROW_ID, RunSamples
from assay.app.author.examples import format_decimal
from assay.app.author.slice_files import FILE, FOLDER, RUN, RowExpectation, describe_row, format_example, list_keys
from assay.app.author.slice_search import (
    MOST_RECORDS,
    SampleColumns,
    Target,
    find_least_selection,
    identify_row,
    open_samples,
)
from assay.app.author.sliced_runs import RunSlicer, SlicedFile
from assay.app.compute.subject import FormulaSubject, MetricSubject, find_metric
from assay.app.session.outputs import is_unused, refuse_sources, replace_folder
from assay.app.session.prepare import prepare
from assay.app.session.selection import Selection
from assay.app.session.session import Session
from assay.lang.model.package import Grain
from assay.lang.time_format import format_instant
from assay.lineage.sample_query import VALUE
from assay.plan.planner import AppliedFilter
from assay.runs.model import NamedRun
from assay.util.diagnostics import USAGE, fail, suggest_names
from assay.util.escape import normalize_text
from assay.util.paths import resolve_path

SHOWN = 3  # samples that a message lists


@dataclass(frozen=True, slots=True)
class SliceResult:
    """A written slice: its folder, the sample in words, its files, and locations in the run.

    `added` are the locations of records that the sample needs besides those behind its value.
    """

    folder: Path
    label: str
    row: str
    value: str
    files: tuple[SlicedFile, ...]
    added: tuple[str, ...]
    is_tested: bool


@dataclass(frozen=True, slots=True)
class SampleChoice:
    """The sample to slice: its metric, its run, and texts of columns that identify it, `NAME=VALUE`."""

    metric: str
    run: NamedRun
    around: Sequence[str]


def slice_run(session: Session, sample: SampleChoice, selection: Selection, out: Path | None = None) -> SliceResult:
    """Write the records behind one sample of a metric into a new or empty folder; by default, below `examples/`.

    Raises AssayError: usage for an unknown metric or column, for no and for several samples; the errors of a build;
    `slice` if no selection of records gives the value of the whole run.
    """
    subject = find_metric(session, sample.metric, selection.system)
    if isinstance(subject, FormulaSubject):
        inputs = ", ".join(f"`{item.id}`" for item in subject.inputs)
        raise fail("no-samples", f"`{subject.id}` is a formula, which has no samples",
                   hint=f"slice a metric that it is computed from: {inputs}", status=USAGE)  # fmt: skip
    texts, run = _parse_around(sample.around), sample.run
    applied_filters = subject.select_filters(selection.filters, selection.no_filters)
    target = _find_target(session, subject, applied_filters, run, texts)
    folder = out or _shorten_path(session.workspace.root / FOLDER / _name_folder(subject, target.expectation.row))
    _check_folder(session, folder, target)
    slicer = RunSlicer(subject.checked, target.ingested_run)
    least = find_least_selection(session, target, slicer)
    added = slicer.locate(least.records - set(target.records))
    with replace_folder(folder) as new_folder:
        files = slicer.write(least.records, new_folder / RUN)
        origin = {"run": run.id, "lines": {item.path: list(item.lines) for item in files}}
        labels = [item.label for item in target.applied_filters]
        text = format_example(subject.checked.package.system, labels, least.expectation, origin)
        (new_folder / FILE).write_text(text, encoding="utf-8")
    (value,) = least.expectation.samples
    is_tested = resolve_path(folder).parent == resolve_path(session.workspace.root / FOLDER)
    row = describe_row(least.expectation.row)
    value_text = f"{value} {subject.unit.symbol}".rstrip()
    return SliceResult(folder, subject.id, row, value_text, files, tuple(added), is_tested)


def _shorten_path(path: Path) -> Path:
    """Return a path relative to the current folder if it is below it."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def _parse_around(around: Sequence[str]) -> dict[str, str]:
    texts = {}
    for text in around:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise fail("around", f"`{text}` names no column and value", expected="COLUMN=VALUE", found=text,
                       status=USAGE)  # fmt: skip
        texts[name] = value
    return texts


def _name_folder(subject: MetricSubject, row: Sequence[tuple[str, str]]) -> str:
    """Return the name of a slice: the metric and the values that identify the row."""
    parts = [subject.id, *(text[:20] for _, text in row)]
    return "-".join(re.sub(r"[^\w.+-]+", "-", part).strip("-.") for part in parts)


def _check_folder(session: Session, folder: Path, target: Target) -> None:
    """Raise AssayError (usage) unless a folder is new or empty and in no folder of inputs."""
    if session.list_workspace_notes():
        raise fail("no-workspace", "neither this folder nor its parents have specs/, which examples belong to",
                   hint="run it in a workspace, or create one with `assay init`", status=USAGE)  # fmt: skip
    if folder.is_dir() and not is_unused(folder):
        raise fail("not-empty", f"the folder is not empty: {folder}", expected="a new or empty folder",
                   hint="choose another folder with -o", status=USAGE)  # fmt: skip
    if folder.suffix in (".dhall", Path(FILE).suffix) and not folder.is_dir():
        raise fail("not-a-folder", f"-o names a file, but a slice is a folder: {folder}",
                   expected="the name of a folder", hint=f"pass -o {folder.with_suffix('')}",
                   status=USAGE)  # fmt: skip
    refuse_sources(session, folder, [target.ingested_run.run])


def _find_target(
    session: Session,
    subject: MetricSubject,
    applied_filters: tuple[AppliedFilter, ...],
    run: NamedRun,
    texts: Mapping[str, str],
) -> Target:
    """Return the only sample of a run whose columns have these texts. Raises AssayError."""
    compiled_plan = subject.compile(applied_filters)
    columns = _list_columns(subject)
    unknown_names = [name for name in texts if name not in columns]
    if unknown_names:
        raise fail("unknown-column", f"a sample of `{subject.id}` has no column `{unknown_names[0]}`",
                   hint=suggest_names(unknown_names[0], columns), status=USAGE)  # fmt: skip
    keys = list_keys(subject.checked, subject.metric)
    sample_columns = SampleColumns((VALUE, *keys), tuple(name for name in texts if name not in keys))
    (ingested_run,) = prepare(session, subject.checked, [run], compiled_plan.plan.required_fields, [subject.metric])
    with open_samples(session, subject, compiled_plan, ingested_run, sample_columns) as run_samples:
        row = _choose_row(subject, run_samples, texts, applied_filters, run)
        records = run_samples.list_records(row[ROW_ID])
    if len(records) > MOST_RECORDS:
        raise fail("slice", f"the sample is computed from {len(records)} records, too many to read",
                   expected=f"at most {MOST_RECORDS}", status=USAGE,
                   hint="slice a metric of a finer grain")  # fmt: skip
    value = format_decimal(Fraction(row[VALUE]) * subject.factor)
    expectation = RowExpectation(subject.id, (value,), identify_row(row, keys), subject.unit.symbol)
    return Target(subject, applied_filters, compiled_plan, ingested_run, expectation, records)


def _list_columns(subject: MetricSubject) -> tuple[str, ...]:
    """Return the columns by which a sample of a metric can be chosen: those of its row, or of its group."""
    columns = () if subject.metric.reduction else tuple(item.name for item in _get_grain(subject).all_columns)
    return tuple(dict.fromkeys((*list_keys(subject.checked, subject.metric), *columns)))


def _get_grain(subject: MetricSubject) -> Grain:
    return next(item for item in subject.checked.package.grains if item.name == subject.metric.grain)


def _choose_row(
    subject: MetricSubject,
    run_samples: RunSamples,
    texts: Mapping[str, str],
    applied_filters: Sequence[AppliedFilter],
    run: NamedRun,
) -> dict[str, Any]:
    """Return the only sample whose columns have these texts. Raises AssayError (usage) for none and for several."""
    rows = run_samples.list_matching_keys({})
    instants = run_samples.query.instants

    def list_texts(row: Mapping[str, Any], name: str) -> list[str]:
        """Return the texts by which a user may name a value; instants as dates too."""
        value = row[name]
        dates = [format_instant(value)] if name in instants and isinstance(value, int) else []
        return [normalize_text(str(value)), *dates]

    matches = [row for row in rows if all(text in list_texts(row, name) for name, text in texts.items())]
    if len(matches) == 1:
        return matches[0]
    chosen = describe_row([*texts.items()])
    if matches:
        keys = list_keys(subject.checked, subject.metric)
        notes = [describe_row(identify_row(row, keys)) for row in matches[:SHOWN]]
        notes += [f"and {len(matches) - SHOWN} more"] if len(matches) > SHOWN else []
        missing = " ".join(f"--around {shlex.quote(f'{name}={list_texts(matches[0], name)[-1]}')}"
                           for name in keys if name not in texts)  # fmt: skip
        message = f"{len(matches)} samples of `{subject.id}` in run {run.id}" + (f" have {chosen}" if chosen else "")
        raise fail("several-samples", message, notes=notes, status=USAGE,
                   hint=f"also pass the columns of one, such as {missing}")  # fmt: skip
    for name, text in texts.items():
        values = {list_texts(row, name)[-1] for row in rows}
        if text not in {item for row in rows for item in list_texts(row, name)}:
            chosen, hint = f"{name} {text}", suggest_names(text, values) if rows else ""
            break
    else:
        hint = "each of these values occurs, but not in one sample"
    labels = ", ".join(item.label for item in applied_filters)
    notes = [f"filters apply: {labels}; --no-filters applies none"] if labels and subject.metric.accepted else []
    message = f"no sample of `{subject.id}` in run {run.id}" + (f" has {chosen}" if chosen and rows else "")
    raise fail("no-sample", message, notes=notes, hint=hint, status=USAGE)
