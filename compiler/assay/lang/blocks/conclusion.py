"""Conclusions: tables of rules about metrics, and whether they hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assay.lang.check.checker import Checker
from assay.lang.check.reports import check_compared_metrics
from assay.lang.model.parts import Block, Part
from assay.lang.model.report import Report
from assay.util.diagnostics import suggest_names

FALLS, RISES, STAYS, NOT_WORSE = "falls", "rises", "stays", "not worse"
RULES = (FALLS, RISES, STAYS, NOT_WORSE)


@dataclass(frozen=True, slots=True)
class Rule:
    """An expected change of a metric's average from the first run or phase to another.

    `kind`: it `falls` or `rises` by at least `percent`, `stays` within that, or is `not worse` by more.
    """

    metric: str
    kind: str
    percent: int


@dataclass(frozen=True, slots=True)
class Conclusion(Block):
    """A table of rules, and whether they hold."""

    compares_averages = True
    appears_as = "verdict"

    title: str
    rules: tuple[Rule, ...]

    def check(self, checker: Checker, owner: str, report: Report, part: Part) -> None:
        check_compared_metrics(checker, owner, self.read_metrics(), (report.name, part.title))
        for kind in dict.fromkeys(rule.kind for rule in self.rules if rule.kind not in RULES):
            checker.report("rule", f"unknown kind `{kind}` of a rule in {owner}", kind,
                           hint=suggest_names(kind, RULES))  # fmt: skip

    def read_metrics(self) -> Iterator[str]:
        return (rule.metric for rule in self.rules)

    def has_verdict_on(self, metric: str) -> bool:
        """Return whether a rule requires that a metric is not worse; other kinds do not depend on the direction."""
        return any(rule.metric == metric and rule.kind == NOT_WORSE for rule in self.rules)

    def find_metric(self, path: Sequence[str]) -> str:
        """Return the metric of the rule that a place is in, by its name or its number."""
        if len(path) < 2 or path[0] != "rules":
            return ""
        return self.rules[int(path[1][1:]) - 1].metric if path[1].startswith("#") else path[1]
