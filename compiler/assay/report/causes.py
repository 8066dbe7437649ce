"""List all sentences on what changes come from: steps, hosts, values of dimensions, mixes and times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from assay.judgement.gate import Key
from assay.judgement.record_rates import Presence
from assay.judgement.report_judgements import ReportJudgements
from assay.lang.checked_package import CheckedPackage
from assay.report.focus_sentences import list_foci
from assay.report.judged_cells import describe_change
from assay.report.step_sentences import list_causes
from assay.util.escape import escape_text, shorten_middle

_MOST_NAMES = 3  # of records in a sentence
_MOST_LETTERS = 40  # of such a name


def list_all_causes(checked: CheckedPackage, judgements: ReportJudgements, version: str) -> tuple[str, ...]:
    """Return the sentences on the changes of a version: first those on steps, last that on records."""
    causes = [text for _, text in _iter_causes(checked, judgements, version)]
    return (*causes, *_describe_records(judgements, version))


def _describe_records(judgements: ReportJudgements, version: str) -> Iterator[str]:
    """Yield which names of records only one of two versions has.

    `Records: lock.wait (221) and index.scan (40) are new; cache.miss (20) is gone.`
    """
    texts = []
    for presence in (Presence.NEW, Presence.GONE):
        changes = [item for item in judgements.records.get(version, ()) if item.presence is presence]
        names = [f"{escape_text(shorten_middle(item.name, _MOST_LETTERS))} ({max(item.counts)})" for item in changes]
        if names:
            more = f" and {len(names) - _MOST_NAMES} more names" if len(names) > _MOST_NAMES else ""
            texts.append(f"{', '.join(names[:_MOST_NAMES])}{more} {'are' if len(names) > 1 else 'is'} {presence.value}")
    if texts:
        yield f"Records: {'; '.join(texts)}."


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
