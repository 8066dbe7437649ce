"""Hold the explanation of a change: its steps, where it comes from, and what the logs say (`assay why`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from assay.app.audit.trace_runs import Sample
from assay.app.compare.record_changes import RecordDifference
from assay.judgement.focus import FocusTable
from assay.judgement.report_judgements import JudgedChange
from assay.judgement.steps import StepTable
from assay.plan.planner import AppliedFilter


@dataclass(frozen=True, slots=True)
class CauseRows:
    """The row of the median sample and the worst row of a metric in a run: what they are named, and the records."""

    run: str
    metric: str
    name: str
    unit: str
    typical: Sample
    worst: Sample

    @property
    def samples(self) -> Mapping[str, Sample]:
        """The rows by what they are."""
        return {"typical": self.typical, "worst": self.worst}


@dataclass(frozen=True, slots=True)
class Explanation:
    """The steps of a total, `metric`, in each version against the first, `base`, and where its change comes from.

    `tables` are empty for a metric without steps: `no_steps` says why. `changes`, `foci`, `mixes`, `records` and `rows`
    are by the id of the version; `mixes` are sentences on versions whose samples are of other things, `records` names
    of records that differ, and `rows` those of a cause with their log lines, in the first version and in this one.
    """

    system: str
    metric: str
    name: str
    unit: str
    report: str
    base: str
    tables: tuple[StepTable, ...]
    no_steps: str
    changes: dict[str, JudgedChange]
    foci: dict[str, FocusTable]
    sentences: dict[str, tuple[str, ...]]
    level: float
    noise: str
    applied_filters: tuple[AppliedFilter, ...]
    summary: str
    mixes: dict[str, str]
    records: dict[str, tuple[RecordDifference, ...]]
    warnings: tuple[str, ...]
    rows: dict[str, tuple[CauseRows, ...]] = field(default_factory=dict)

    @property
    def filters(self) -> tuple[str, ...]:
        """The labels of the filters."""
        return tuple(item.label for item in self.applied_filters)

    @property
    def causes(self) -> dict[str, str]:
        """The metric that a certain change comes from, by version: a step if one is named, else the metric itself."""
        steps = {table.version: table.cause.metric for table in self.tables if table.cause}
        certain = {version: self.metric for version, change in self.changes.items() if change.judgement.is_certain}
        return {version: steps.get(version) or metric for version, metric in certain.items()}
