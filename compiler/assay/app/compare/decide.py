"""Decide on a metric by runs of two commands in alternation, and stop when the answer is known (`assay decide`)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from assay.app.compare.command_runs import BASE, CANDIDATE, CommandRuns
from assay.app.compare.compared_metrics import DEFAULT_RULES
from assay.app.compute.query_memory import answer_query
from assay.app.compute.subject import MetricSubject, find_metric
from assay.app.session.runs import parse_runs
from assay.app.session.selection import Selection
from assay.app.session.session import Session
from assay.judgement.change import Interval
from assay.judgement.sequential import Pair, PairedChange, compare_pairs
from assay.judgement.verdict import Direction, Verdict
from assay.report.declared_margin import choose_margin
from assay.util.diagnostics import Span, fail


@dataclass(frozen=True, slots=True)
class Budget:
    """How many pairs of runs, and how many seconds, may be spent; no run begins after the time."""

    pairs: int
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """What the pairs of runs so far say of a metric.

    `averages` are those of base and candidate in the last pair, `margin` is in percent of the base.
    """

    metric: str
    unit: str
    averages: tuple[float, float]
    change: PairedChange
    interval: Interval | None
    margin: float
    level: float
    verdict: Verdict

    @property
    def is_decided(self) -> bool:
        """Whether no further runs are needed."""
        return self.verdict is not Verdict.CANNOT_TELL


def iter_decisions(
    session: Session,
    runs: CommandRuns,
    selection: Selection,
    budget: Budget,
    is_enough: Callable[[Decision], bool] = lambda decision: decision.is_decided,
) -> Iterator[Decision]:
    """Yield a decision on the selected metric after each pair of runs, until one is enough or the budget is spent.

    Runs that are there already count. Raises AssayError if a command fails, and for an average that is not above 0,
    which has no change in percent.
    """
    (name,) = selection.metrics
    subject = find_metric(session, name, selection.system)
    runs.open_folder()
    end = time.monotonic() + budget.seconds if budget.seconds is not None else None
    pairs: list[Pair] = []
    for number in range(1, budget.pairs + 1):
        for role, command in runs.list_missing(number):
            if end is not None and time.monotonic() >= end:
                return
            session.notice(f"{role}-{number} is running")
            runs.measure(role, number, command)
        base, candidate = (
            _compute_average(session, runs.get_run(role, number), selection) for role in (BASE, CANDIDATE)
        )
        pairs.append((base, candidate))
        decision = _decide(subject, pairs)
        yield decision
        if is_enough(decision):
            return


def _compute_average(session: Session, run: Path, selection: Selection) -> Fraction:
    """Return the average of the metric in a run."""
    answer = answer_query(session, parse_runs([str(run)]), selection)
    average = answer.rows[0].get("average")
    if not isinstance(average, (int, float)) or not average > 0:
        raise fail(
            "no-ratio",
            f"the average of `{selection.metrics[0]}` is not above 0",
            span=Span(str(run)),
            expected="a number above 0, of which a change in percent is known",
            found="no samples" if average is None else f"{average:g}",
        )
    return Fraction(average)


def _decide(subject: MetricSubject, pairs: list[Pair]) -> Decision:
    rules = (subject.report and subject.report.judgement) or DEFAULT_RULES
    level = float(rules.level)
    base = sum((base for base, _ in pairs), Fraction(0)) / len(pairs)
    margin = choose_margin(subject.checked, subject.metric, rules).convert_to_percent(float(base))
    change = compare_pairs(pairs)
    last_base, last_value = pairs[-1]
    return Decision(
        subject.id,
        subject.unit.symbol,
        (float(last_base), float(last_value)),
        change,
        change.compute_interval(level),
        margin,
        level,
        change.decide(margin, Direction(subject.metric.better), level),
    )
