"""Prove a proposed workspace before it is written: check its specs, read its logs, compute its metrics."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from assay.app.author.check import check_system
from assay.app.compute.computation import Computation
from assay.app.compute.compute import compute
from assay.app.session.runs import parse_runs
from assay.app.session.session import open_session
from assay.plan.request import Request
from assay.util.diagnostics import AssayError, Diagnostic, fail
from assay.util.numbers import format_count
from assay_propose.model import Proposal, SourceProposal

_MAX_REPAIRS = 20
_BROKEN = "too-many-broken-lines"
_MOST_BROKEN = Fraction(1, 5)  # of the records of a source: with more, the specs do not fit the log
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Proof:
    """A proposal whose specs are valid and measure its logs, and sentences that say what was repaired or differs."""

    proposal: Proposal
    notes: tuple[str, ...]


def prove(proposal: Proposal, folder: Path, write: Callable[[Proposal], None]) -> Proof:
    """Return the proposal without what fails; `write` writes the specs of a proposal into the workspace `folder`.

    Raises AssayError `unknown-format` if the specs fail even so.
    """
    notes: list[str] = []
    for _ in range(_MAX_REPAIRS):
        write(proposal)
        try:
            with tempfile.TemporaryDirectory(prefix="assay-init-") as cache:
                computation = _compute(proposal, folder, Path(cache))
        except AssayError as error:
            proposal, note = _repair(proposal, folder, error)
            notes.append(note)
            continue
        without = _list_without_samples(proposal, computation)
        if not without:
            return Proof(proposal, (*notes, *_compare_counts(proposal, computation)))
        proposal = _drop_metrics(proposal, without)
        if not proposal.grains:
            break
        notes.append(f"no metrics of {', '.join(without)}: no record has a value")
    raise _build_error(proposal, [Diagnostic("no-samples", "no metric has a sample")])


def _compute(proposal: Proposal, folder: Path, cache: Path) -> Computation:
    """Check the specs, read the logs and compute all metrics. Raises AssayError."""
    session = open_session(folder, cache)
    try:
        check_system(session, proposal.system, accept=False)
        runs = parse_runs([str(folder / "runs" / run.name) for run in proposal.runs])
        checked = session.load_package(proposal.system)
        return compute(session, checked, runs, Request(checked.package.metrics), ())
    finally:
        session.close()


def _list_without_samples(proposal: Proposal, computation: Computation) -> list[str]:
    """Return the metrics that no run has a sample of."""
    measured = {name for run in computation.runs for name, item in run.results.metrics.items() if item.size}
    return [metric.id for metric in proposal.metrics if metric.id not in measured]


def _compare_counts(proposal: Proposal, computation: Computation) -> Iterator[str]:
    """Yield what a build reads in another number than the proposal counted in the text."""
    counts: Counter[str] = Counter()
    for run in computation.runs:
        counts.update(run.ingested_run.counts)
    for source in proposal.sources:
        for event in source.events:
            if not source.is_cut and event.name in counts and counts[event.name] != event.count:
                yield f"{source.name}: a build reads {counts[event.name]} of {event.count} records of {event.name}"


def _repair(proposal: Proposal, folder: Path, error: AssayError) -> tuple[Proposal, str]:
    """Return the proposal without what an error is about, and a sentence about that. Raises AssayError without any."""
    problem = error.diagnostics[0]
    if problem.code == _BROKEN:
        return _tolerate(proposal, error)
    names = _list_names(folder, problem)
    metrics = [metric.id for metric in proposal.metrics if metric.id in names]
    events = [event.name for source in proposal.sources for event in source.events if event.name in names]
    dropped = metrics or [
        metric.id for metric in proposal.metrics if {metric.start, metric.end, metric.event} & {*events[-1:]}
    ]
    rest = _drop_metrics(proposal, dropped)
    if not dropped or not rest.grains:
        raise _build_error(proposal, error.diagnostics)
    return rest, f"no metrics of {', '.join(dropped)}: {problem.message}"


def _list_names(folder: Path, problem: Diagnostic) -> set[str]:
    """Return the names in a message, and in the line of the specs that it is about."""
    texts = re.findall(r"`([^`]*)`", problem.message)
    if problem.span:
        file = folder / problem.span.file
        lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
        texts += lines[problem.span.line - 1 : problem.span.line]
    return {name for text in texts for name in _WORD.findall(text)}


def _drop_metrics(proposal: Proposal, names: Collection[str]) -> Proposal:
    """Return the proposal without some metrics, and without grains that have no others."""
    grains = (
        replace(grain, metrics=tuple(item for item in grain.metrics if item.id not in names))
        for grain in proposal.grains
    )
    return replace(proposal, grains=tuple(grain for grain in grains if grain.metrics))


def _tolerate(proposal: Proposal, error: AssayError) -> tuple[Proposal, str]:
    """Return the proposal with a source that tolerates the malformed records of its logs."""
    numbers = [(item, re.search(r"(\d+) of the (\d+)", item.message)) for item in error.diagnostics]
    shares = [Fraction(int(match[1]), int(match[2])) for _, match in numbers if match]
    share = max(shares, default=Fraction(1))
    sources = [replace(source, broken=share) for source in proposal.sources if source.broken < share]
    if share > _MOST_BROKEN or len(sources) < len(proposal.sources):
        raise _build_error(proposal, error.diagnostics)
    first = error.diagnostics[0]
    example = f", such as {first.notes[0]}" if first.notes else ""
    return replace(proposal, sources=tuple(sources)), f"malformed: {first.message}{example}"


def _build_error(proposal: Proposal, problems: Sequence[Diagnostic]) -> AssayError:
    return fail(
        "unknown-format",
        f"no specs were written, as those proposed for {_list_files(proposal.sources)} do not read the logs",
        notes=[text for item in problems[:1] for text in (f"{item.code}: {item.message}", *item.notes[:2])],
        hint="write the source by hand: docs/sources.md describes patterns of lines and forms of instants",
    )


def _list_files(sources: Sequence[SourceProposal]) -> str:
    files = [file for source in sources for file in source.files]
    return files[0] if len(files) == 1 else format_count(len(files), "log")
