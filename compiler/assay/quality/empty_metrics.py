"""Explain metrics without samples: the step that leaves none of their rows, or an event that a run lacks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from assay.lang.dependencies import find_events
from assay.lang.model.package import Grain, Instant, Metric, Package
from assay.lang.model.vocabulary import LATEST_BEFORE
from assay.quality.assess import Assessment, Counts
from assay.quality.finding import MISSING_EVENT, NO_SAMPLES, Finding, RunQuality, list_names
from assay.sql.codegen import Statement
from assay.sql.completeness import HAS, RECORDS, ROWS, VALUES, Constants
from assay.sql.sample_steps import (
    IN_PART,
    KNOWN,
    MEETING,
    WITH_ALL,
    ReadColumns,
    count_matches,
    count_steps,
    list_read_columns,
)
from assay.util.numbers import format_count


@dataclass(frozen=True, slots=True)
class EmptyReasons:
    """Why metrics have no samples: `findings` where records are missing, `notes` where none need be.

    Notes on metrics whose events the run lacks entirely have the code `MISSING_EVENT`.
    """

    findings: tuple[Finding, ...]
    notes: tuple[Finding, ...]


@dataclass(frozen=True)
class EmptyMetrics:
    """The metrics without samples of a run or phase.

    `rejections`: grain -> sentences on the rows that filters rejected, of this grain or of its subject.
    """

    assessment: Assessment
    rejections: Mapping[str, Sequence[str]]

    @property
    def package(self) -> Package:
        """The package of the metrics."""
        return self.assessment.package

    def list_metrics(self) -> tuple[Metric, ...]:
        """List the metrics without samples."""
        return tuple(item for item in self.assessment.metrics if not self.assessment.compute_total(item, VALUES))

    def build_counts(self, constants: Constants) -> Iterator[Statement]:
        """Yield the statements that count the steps of these metrics, and the records that instants are bound to."""
        instants: dict[tuple[str, str], Instant] = {}
        for metric in self.list_metrics():
            if self._is_known_empty(metric):
                continue
            grain = self.assessment.grains[metric.grain]
            yield Statement("count", _name_steps(metric), count_steps(metric, grain, constants))
            columns = list_read_columns(metric, grain)
            instants |= {
                (grain.name, item.name): item
                for item in grain.instants
                if item.name in (*columns.measure, *columns.where)
                and not self.assessment.compute_total(metric, f"{HAS}{item.name}")
            }
        for instant in instants.values():
            yield Statement("count", _name_matches(instant), count_matches(instant, constants))

    def _is_known_empty(self, metric: Metric) -> bool:
        """Return whether the counts of the assessment prove that the grain has no rows at all."""
        grain = self.assessment.grains[metric.grain]
        has_all_rows = not self.assessment.is_phase and not grain.subject and not self._list_rejections(metric)
        return has_all_rows and not self.assessment.compute_total(metric, ROWS)

    def _list_rejections(self, metric: Metric) -> Sequence[str]:
        return self.rejections.get(metric.grain, ()) if metric.accepted else ()

    def find_reasons(self, counts: Counts) -> EmptyReasons:
        """Find why metrics have no samples, in one finding for metrics with the same counts."""
        groups: dict[tuple[str, int, bool, bool], list[str]] = defaultdict(list)
        for metric in self.list_metrics():
            columns = list_read_columns(metric, self.assessment.grains[metric.grain])
            rows = counts.get(_name_steps(metric)) or ({ROWS: 0},)
            numbers = {name: int(str(value or 0)) for name, value in rows[0].items()}
            chain = _Chain(self, metric, columns, numbers, counts)
            key = (", ".join(chain.iter_steps()), numbers[ROWS], chain.is_data_missing, chain.lacks_events)
            groups[key].append(metric.id)
        findings: dict[bool, list[Finding]] = {True: [], False: []}
        for (steps, total, is_data_missing, lacks_events), ids in groups.items():
            message = f"no sample of {list_names(ids)}: {steps}."
            code = MISSING_EVENT if lacks_events else NO_SAMPLES
            findings[is_data_missing].append(Finding(code, message, tuple(ids), affected=total, total=total))
        return EmptyReasons(tuple(findings[True]), tuple(findings[False]))

    def list_absent_events(self, grain: Grain) -> list[str]:
        """List the events without records that the rows of a grain are made from, or split into runs by."""
        value_events = self.assessment.value_events
        events = value_events.list_deciding_events(grain) or find_events(self.package, [grain.relation])
        return [event for event in sorted(events) if not self.assessment.count_records(event, None)]

    def describe_empty_grain(self, grain: Grain) -> str:
        """Return, in brackets, what the rows of a grain without rows are made from; empty if that is unknown."""
        absent_events = self.list_absent_events(grain)
        reasons = [f"the run has no {list_names([f'`{event}`' for event in absent_events])} record"]
        if grain.runs:
            source, rejections = grain.runs.of, self.rejections.get(grain.runs.of, ())
            metrics = [item for item in self.assessment.metrics if item.grain == source]
            rows = [self.assessment.compute_total(item, ROWS) for item in metrics if item.accepted or not rejections]
            counts = [f"runs of {format_count(number, 'row')} of `{source}`" for number in rows[:1]]
            reasons = [*counts, *rejections, *(reasons if absent_events else ())]
        elif not absent_events:
            events = sorted(find_events(self.package, [grain.relation]))
            records = [f"{self.assessment.count_records(event, None)} `{event}`" for event in events]
            reasons = [f"from {list_names(records)} records"] if records else []
        return f" ({'; '.join(reasons)})" if reasons else ""

    def describe_unbound(self, instant: Instant, counts: Counts) -> str:
        """Return, in brackets, why an instant is bound to no record."""
        is_event = any(item.name == instant.of for item in self.package.events)
        instant_of = f"`{instant.of}` {'records' if is_event else 'rows'}"
        if is_event and not self.assessment.count_records(instant.of, None):
            return f" (the run has no `{instant.of}` record)"
        (numbers,) = counts.get(_name_matches(instant)) or ({},)
        if not numbers:
            return ""
        if not numbers[RECORDS]:
            return f" (0 {instant_of})"
        if not numbers[MEETING]:
            return f" (0 of {numbers[RECORDS]} {instant_of} meet its condition)"
        part = f"{numbers[MEETING]} {instant_of}"
        columns = " and ".join(f"`{pair.column}`" for pair in instant.on)
        if not numbers[KNOWN]:
            return f" (0 of {part} have a known {columns}{' in the phase' if self.assessment.is_phase else ''})"
        lack = f"none before `{instant.before}`" if instant.pick == LATEST_BEFORE else "none with a time"
        return f" ({numbers[KNOWN]} of {part} have a known {columns}, {lack})"


@dataclass(frozen=True)
class _Chain:
    """The steps of one metric from the rows of its grain to its samples: their `numbers` of rows."""

    empty_metrics: EmptyMetrics
    metric: Metric
    columns: ReadColumns
    numbers: Mapping[str, int]
    counts: Counts

    @property
    def is_data_missing(self) -> bool:
        """Whether records are missing for which there are rows: rows lack an instant that a value or `where` needs."""
        if self.numbers.get(MEETING) or not self.numbers.get(IN_PART):
            return False
        columns = self.columns.where if self.numbers[VALUES] else self.columns.measure
        return any(name in self.instants and self._is_partial(name) and not self._is_exempt(name) for name in columns)

    @property
    def lacks_events(self) -> bool:
        """Whether there are no rows, and an event that they are made from has no record."""
        return not self.numbers[ROWS] and bool(self.empty_metrics.list_absent_events(self.grain))

    def _is_exempt(self, name: str) -> bool:
        """Return whether an instant that some rows have is not expected of all."""
        return bool(self._count(name)) and f"{self.grain.name}.{name}" in self.empty_metrics.assessment.exempt_names

    @property
    def grain(self) -> Grain:
        """The grain of the metric."""
        return self.empty_metrics.assessment.grains[self.metric.grain]

    @property
    def instants(self) -> Mapping[str, Instant]:
        """The instants of the grain by name."""
        return {item.name: item for item in self.grain.instants}

    def iter_steps(self) -> Iterator[str]:
        """Yield the steps in words, up to the first that leaves no rows."""
        rows, in_part = self.numbers[ROWS], self.numbers.get(IN_PART, 0)
        source = "" if rows else self.empty_metrics.describe_empty_grain(self.grain)
        yield f"{format_count(rows, 'row')} of `{self.grain.name}`{source}"
        if in_part < rows:
            subject = self.grain.subject
            is_phase = self.empty_metrics.assessment.is_phase
            yield f"{in_part} in the phase" if is_phase or not subject else f"{in_part} of a row of `{subject.grain}`"
        if in_part:
            yield from self._iter_measure_steps()
            if self.numbers[VALUES]:
                yield from self._iter_condition_steps()

    def _iter_measure_steps(self) -> Iterator[str]:
        has_values = bool(self.numbers[VALUES])
        listed_columns = [name for name in self.columns.measure if name in self.instants or self._is_partial(name)]
        for name in listed_columns:
            reason = "" if has_values else self._describe_unbound(name)
            yield f"{self._count(name)} with `{name}`{reason}"
        if has_values or all(self._count(name) for name in listed_columns):
            is_disjoint = len(listed_columns) > 1 and not self.numbers[WITH_ALL] and not has_values
            yield "0 with all of them" if is_disjoint else f"{self.numbers[VALUES]} with a value"

    def _is_partial(self, name: str) -> bool:
        """Return whether a column is null in some rows, other than those without the instant that takes it along."""
        takers = (item.name for item in self.grain.instants if name in [f"{item.name}_{part}" for part in item.fields])
        taken_by = next((taker for taker in takers if f"{HAS}{taker}" in self.numbers), None)
        return self._count(name) < (self._count(taken_by) if taken_by else self.numbers[IN_PART])

    def _count(self, name: str) -> int:
        """Return the number of rows with a column."""
        return self.numbers[f"{HAS}{name}"]

    def _describe_unbound(self, name: str) -> str:
        instant = self.instants.get(name) if not self._count(name) else None
        return self.empty_metrics.describe_unbound(instant, self.counts) if instant else ""

    def _iter_condition_steps(self) -> Iterator[str]:
        number = self.numbers[MEETING]
        if self.metric.where:
            columns = [name for name in self.columns.where if not number and self._is_partial(name)]
            reasons = [f", {self._count(name)} with `{name}`{self._describe_unbound(name)}" for name in columns]
            yield f"{number} accepted by `where`{''.join(reasons)}"
        if number:
            rejections = ", ".join(self.empty_metrics.rejections.get(self.grain.name, ()))
            yield f"0 left by the filters{f' ({rejections})' if rejections else ''}"


def _name_steps(metric: Metric) -> str:
    return f"steps {metric.id}"


def _name_matches(instant: Instant) -> str:
    return f"matches {instant.grain} {instant.name}"


def find_missing_events(
    qualities: Sequence[RunQuality], measured_metrics: Sequence[Collection[str]]
) -> tuple[RunQuality, ...]:
    """Return the qualities of runs, with findings on events that a run lacks and another has.

    `measured_metrics` are the ids of the metrics with samples in each run. One run alone may be without an event
    because nothing happened. If another run has samples, records may be missing: the note becomes a finding.
    """
    return tuple(
        _promote_notes(quality, [ids for other, ids in enumerate(measured_metrics) if other != number])
        for number, quality in enumerate(qualities)
    )


def _promote_notes(quality: RunQuality, others: Sequence[Collection[str]]) -> RunQuality:
    """Return a quality whose notes on missing events are findings if other runs have samples."""
    counts = [_count_measured(note, others) for note in quality.notes]
    if not any(counts):
        return quality
    findings = [
        replace(note, message=f"{note.message.removesuffix('.')}, unlike {_describe_others(count, len(others))}.")
        for note, count in zip(quality.notes, counts, strict=True)
        if count
    ]
    notes = tuple(note for note, count in zip(quality.notes, counts, strict=True) if not count)
    return replace(quality, findings=(*findings, *quality.findings), notes=notes)


def _count_measured(note: Finding, others: Sequence[Collection[str]]) -> int:
    """Return how many other runs have samples of a metric whose event is missing."""
    return sum(bool(set(note.metrics) & set(ids)) for ids in others) if note.code == MISSING_EVENT else 0


def _describe_others(count: int, total: int) -> str:
    if total == 1:
        return "the other run"
    return f"the other {total} runs" if count == total else f"{count} of the other {total} runs"
