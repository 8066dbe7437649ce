"""Search for the fewest records of a run that give a sample the value that it has in the whole run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from operator import ne
from pathlib import Path
from typing import Any

from assay.app.audit.trace_runs import ROW_ID, RunSamples, TracedQuery, open_run_samples
from assay.app.author.examples import RUN_ID, Outcome, drop_folder, format_decimal, is_sample, run_example
from assay.app.author.slice_files import RUN, RowExpectation
from assay.app.author.slice_records import Record, RecordFinder
from assay.app.author.sliced_runs import RunSlicer
from assay.app.compute.subject import MetricSubject, SampleRequest
from assay.app.session.prepare import prepare
from assay.app.session.session import Session
from assay.engine import samples
from assay.engine.compiled_plan import CompiledPlan
from assay.engine.executor import connect
from assay.engine.mount import mount_folders
from assay.engine.result_cache import Store
from assay.lang.model.example import Example
from assay.lang.model.report import FilterUse
from assay.lang.reserved_names import ACCEPTED
from assay.lineage.sample_query import VALUE
from assay.plan.planner import AppliedFilter
from assay.runs.model import IngestedRun, NamedRun
from assay.util.diagnostics import AssayError, fail
from assay.util.escape import normalize_text
from assay.util.numbers import format_count
from assay.util.scratch import create_temporary_folder

MOST_RECORDS = 1000  # behind the value; more lines are no example that a person reads
MOST_TRIALS = 100  # computations of a selection of records
ROW_ORDER = "row-order"  # code of a problem that more records do not solve


@dataclass(frozen=True, slots=True)
class Target:
    """The sample to reproduce: its metric, filters, row and value; `records` are those behind its value."""

    subject: MetricSubject
    applied_filters: tuple[AppliedFilter, ...]
    compiled_plan: CompiledPlan
    ingested_run: IngestedRun
    expectation: RowExpectation
    records: tuple[Record, ...]


@dataclass(frozen=True, slots=True)
class Selection:
    """Records, and the sample with its row as a run of these alone has it."""

    records: frozenset[Record]
    expectation: RowExpectation


def find_least_selection(session: Session, target: Target, slicer: RunSlicer) -> Selection:
    """Return the fewest records that give the sample its value.

    Raises AssayError `slice` if there are none, `row-order` if the value depends on the undefined order of rows.
    """
    with create_temporary_folder() as folder:
        # A cache of its own, so that trials leave nothing in the cache.
        store = Store(folder / "cache")
        with closing(Session(session.workspace, store, threads=session.threads)) as trial_session:
            return _Search(session, trial_session, target, slicer, folder).find_records()


def identify_row(row: Mapping[str, object], keys: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return the columns `keys` of a row with their values as texts."""
    return tuple((name, normalize_text(str(row[name]))) for name in keys)


@dataclass(frozen=True, slots=True)
class SampleColumns:
    """The columns of samples whose records are traced, and further columns that samples have."""

    traced: Sequence[str]
    further: tuple[str, ...] = ()


@contextmanager
def open_samples(
    session: Session,
    subject: MetricSubject,
    compiled_plan: CompiledPlan,
    ingested_run: IngestedRun,
    columns: SampleColumns,
) -> Iterator[RunSamples]:
    """Yield the samples of a metric in a run, with the records behind the traced columns."""
    query = subject.build_sample_query(SampleRequest(compiled_plan, columns.further))
    with open_run_samples(
        session,
        subject.checked.package,
        ingested_run,
        TracedQuery(compiled_plan.statements, query, subject.factor, columns.traced),
    ) as run_samples:
        yield run_samples


@dataclass(slots=True)
class _Search:
    """The search: trials so far, and the `reasons` why the last one did not give the value."""

    session: Session
    trial_session: Session
    target: Target
    slicer: RunSlicer
    folder: Path
    trials: int = 0
    reasons: list[str] = field(default_factory=list)
    texts: frozenset[tuple[str, str, str]] = field(init=False)

    def __post_init__(self) -> None:
        self.texts = self.slicer.read_texts(self.target.records)

    def find_records(self) -> Selection:
        """Return ever more records until they give the value, without those that turn out not to be needed."""
        for records in self._iter_selections():
            if (expectation := self._find_row(records)) and self._is_right(Selection(records, expectation)):
                selection = Selection(records, expectation)
                least = self._drop_unneeded(selection)
                return least if least == selection or self._is_right(least) else selection
        notes = [f"with {format_count(len(records), 'record')}: {reason}" for reason in self.reasons]
        raise fail("slice", "no few lines of the run give the sample its value", notes=notes,
                   hint="the value may depend on the whole run; slice a metric that it is computed from")  # fmt: skip

    def _iter_selections(self) -> Iterator[frozenset[Record]]:
        """Yield ever larger selections of records."""
        finder = RecordFinder(
            self.target.subject.checked, self.target.ingested_run, self.target.compiled_plan.plan.required_fields
        )
        selection = frozenset(self.target.records)
        former = None
        for list_more in (tuple, self._list_deciding_records, *finder.list_growth(self.target.records)):
            selection |= frozenset(list_more())
            completed = selection | finder.find_missing_parts(selection)
            if completed != former:
                yield completed
            former = completed

    def _list_deciding_records(self) -> tuple[Record, ...]:
        """Return the records that filters decide by on the row of the sample; none if they are too many."""
        target, metric = self.target, self.target.subject.metric
        if not metric.accepted or metric.reduction or not target.applied_filters:
            return ()
        identity = target.expectation.row
        columns = (*(name for name, _ in identity), ACCEPTED)
        with open_samples(
            self.session, target.subject, target.compiled_plan, target.ingested_run, SampleColumns((ACCEPTED,), columns)
        ) as run_samples:
            (row,) = run_samples.list_matching_keys(dict(identity))
            records = run_samples.list_records(row[ROW_ID])
        return records if len(records) <= MOST_RECORDS else ()

    def _find_row(self, records: frozenset[Record]) -> RowExpectation | None:
        """Return the sample with its value among records as a run of their own; None if there is none.

        The key of a row may be the number of a line, which differs in the slice. Then it is the row with the value that
        is computed from the same records.
        """
        self.session.progress(f"slicing {self.target.subject.id}", self.trials, MOST_TRIALS)
        self.trials += 1
        with self._write(records) as directory:
            try:
                return self._choose_row(directory)
            except AssayError as error:
                self.reasons = [drop_folder(item, directory).message for item in error.diagnostics]
                return None

    @contextmanager
    def _write(self, records: frozenset[Record]) -> Iterator[Path]:
        """Yield a directory with a run of some records."""
        with create_temporary_folder(self.folder) as folder:
            directory = folder / RUN
            directory.mkdir()
            self.slicer.write(records, directory)
            yield directory

    def _choose_row(self, directory: Path) -> RowExpectation | None:
        target, expected = self.target, self.target.expectation
        keys = tuple(name for name, _ in expected.row)
        run, required_fields = NamedRun(RUN_ID, directory), target.compiled_plan.plan.required_fields
        (ingested_run,) = prepare(
            self.trial_session, target.subject.checked, [run], required_fields, [target.subject.metric]
        )
        with connect(1, self.trial_session.store.create_folder()) as connection:
            mount_folders(connection, ingested_run.folders)
            constants = ingested_run.constants
            samples.create_tables(connection, target.compiled_plan.graph, {target.subject.id}, constants)
            query = target.subject.build_sample_query(SampleRequest(target.compiled_plan)).query
            sample_rows = samples.fetch_rows(connection, query, constants)
        rows = {identify_row(row, keys): row for row in sample_rows}
        if expected.row in rows:
            actual = format_decimal(Fraction(rows[expected.row][VALUE]) * target.subject.factor)
            self.reasons = [f"{actual} instead of {expected.samples[0]}"]
            return expected if self._is_value(rows[expected.row]) else None
        self.reasons = [f"no sample instead of {expected.samples[0]}"]
        similar_rows = [
            identity
            for identity, row in rows.items()
            if sum(map(ne, identity, expected.row)) == 1 and self._is_value(row)
        ]
        matches = (identity for identity in similar_rows if self._has_same_records(ingested_run, identity))
        return next((replace(expected, row=identity) for identity in matches), None)

    def _has_same_records(self, ingested_run: IngestedRun, identity: tuple[tuple[str, str], ...]) -> bool:
        """Return whether a sample of a slice is computed from the same records as the one in the whole run."""
        target, keys = self.target, tuple(name for name, _ in identity)
        slicer = RunSlicer(target.subject.checked, ingested_run)
        with open_samples(
            self.trial_session, target.subject, target.compiled_plan, ingested_run, SampleColumns((VALUE, *keys))
        ) as run_samples:
            (row,) = run_samples.list_matching_keys(dict(identity))
            return slicer.read_texts(run_samples.list_records(row[ROW_ID])) == self.texts

    def _is_value(self, row: Mapping[str, Any]) -> bool:
        expected = Fraction(self.target.expectation.samples[0])
        return is_sample(row[VALUE], self.target.subject.factor, expected)

    def _is_right(self, selection: Selection) -> bool:
        """Return whether a selection holds as an example.

        Raises AssayError if its value depends on the undefined order of rows.
        """
        pairs = (item.label.partition("=") for item in self.target.applied_filters)
        filter_uses = tuple(FilterUse(name, argument) for name, _, argument in pairs)
        example = Example(self.target.subject.id, (), filter_uses, (selection.expectation,), "")
        with self._write(selection.records) as directory:
            try:
                outcome = run_example(self.trial_session, self.target.subject.checked, example, None, directory)
            except AssayError as error:
                outcome = Outcome(example.name, None, (), error.diagnostics)
            self.reasons = [drop_folder(item, directory).message for item in outcome.problems] or self.reasons
        if any(item.code == ROW_ORDER for item in outcome.problems):
            raise AssayError(outcome.problems)
        return outcome.holds

    def _drop_unneeded(self, selection: Selection) -> Selection:
        """Return a selection without records that the value does not need."""
        required = frozenset(self.target.records)
        needed = self._find_needed(required, sorted(selection.records - required), is_new=False)
        records = required | frozenset(needed)
        expectation = self._find_row(records)
        return Selection(records, expectation) if expectation else selection

    def _find_needed(self, required: frozenset[Record], candidates: list[Record], is_new: bool) -> list[Record]:
        """Return the candidates that are needed besides required records, by halves; of many, some that are not.

        With `is_new`, the required records alone have not been tried yet.
        """
        if self.trials >= MOST_TRIALS:
            return candidates
        if not candidates or (is_new and self._find_row(required)):
            return []
        if len(candidates) == 1:
            return candidates
        middle = len(candidates) // 2
        first_half, second_half = candidates[:middle], candidates[middle:]
        second = self._find_needed(required | frozenset(first_half), second_half, is_new=True)
        first = self._find_needed(required | frozenset(second), first_half, is_new=bool(second))
        return first + second
