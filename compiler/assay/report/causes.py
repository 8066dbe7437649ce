"""List all sentences on what changes come from: steps, hosts, values of dimensions, mixes and times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from assay.judgement.gate import Key
from assay.judgement.report_judgements import ReportJudgements
from assay.lang.checked_package import CheckedPackage
from assay.report.focus_sentences import list_foci
from assay.report.judged_cells import describe_change
from assay.report.step_sentences import list_causes


def list_all_causes(checked: CheckedPackage, judgements: ReportJudgements, version: str) -> tuple[str, ...]:
    """Return the sentences on the changes of a version: first those on steps."""
    return tuple(text for _, text in _iter_causes(checked, judgements, version))


def describe_change_with_causes(
    checked: CheckedPackage, judgements: ReportJudgements, key: Key, data: Mapping[str, Any]
) -> Iterator[str]:
    """Yield the sentences on a change, as `results.json` has it (`data`), and on what it comes from."""
    name, version = key
    yield from describe_change(data, judgements.level, checked.get_metric(name).unit.symbol)
    yield from (text for metric, text in _iter_causes(checked, judgements, version) if metric == name)


def _iter_causes(checked: CheckedPackage, judgements: ReportJudgements, version: str) -> Iterator[tuple[str, str]]:
    """Yield metrics with a sentence each."""
    for sentences in (list_causes, list_foci):
        yield from sentences(checked, judgements, version).items()
