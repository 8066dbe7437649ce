"""Say in sentences which scenarios of an article pass, and which of its rules hold, as its tables print them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.lang.blocks.conclusion import FALLS, RISES
from assay.report.blocks.conclusion import CHANGES
from assay.report.blocks.verdict import NOT_JUDGED
from assay.report.cell_links import JUDGED, OUTCOME, WORDS
from assay.report.document import Document, Table
from assay.report.observations.sentences import escape_markup, join_names

_VERBS = {"pass": ("passes", "pass"), "fail": ("fails", "fail"), "open": ("is open", "are open")}
_UNDECIDED = ("is not decided", "are not decided")
_HOLDS = {"yes": "These expectations hold", "no": "These expectations do not hold"}


def describe_outcomes(document: Document) -> Iterator[str]:
    """Yield sentences on the results of scenarios, and on rules that hold or do not hold, in markup."""
    for table in (table for gallery in document.galleries for table in gallery.tables):
        kinds = {link.prints for link in table.leads}
        if OUTCOME in kinds:
            yield from _describe_scenarios(table)
        elif JUDGED in kinds and WORDS in kinds:
            yield from _describe_rules(table)


def _describe_scenarios(table: Table) -> Iterator[str]:
    """Yield a sentence on each result, with the scenarios and versions that have it."""
    scenarios: dict[tuple[str, str, str], list[str]] = {}
    for scenario, _, version, result, reason in table.rows:
        key = (result, version, "") if result in _VERBS else ("", "", reason)
        scenarios.setdefault(key, []).append(scenario)
    for (result, version, reason), names in scenarios.items():
        verb = _VERBS.get(result, _UNDECIDED)[len(set(names)) > 1]
        tail = f" in {version}" if version else f": {reason}"
        if reason != NOT_JUDGED:
            yield escape_markup(f"{_quote_names(names)} {verb}{tail}.")


def _describe_rules(table: Table) -> Iterator[str]:
    """Yield a sentence on the rules that hold, and one on those that do not."""
    first = len(table.header) - 6  # of several runs, the label of a row's run comes first
    for result, words in _HOLDS.items():
        rules = [_describe_rule(row, first) for row in table.rows if row[-1] == result]
        if rules:
            yield escape_markup(f"{words}: {'; '.join(rules)}.")


def _describe_rule(row: Sequence[str], first: int) -> str:
    run = f" in {row[0]}" if first else ""
    name, rule = row[first].rpartition(", ")[0] or row[first], row[-2]
    return f"{name} {'' if rule.split()[0] in (FALLS, RISES, CHANGES) else 'is '}{rule}{run}"


def _quote_names(names: Sequence[str]) -> str:
    return join_names([f"“{name}”" for name in dict.fromkeys(names)])
