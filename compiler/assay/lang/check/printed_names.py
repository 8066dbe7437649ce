"""Check printed names: of metrics, sections, columns, rows and figures. Readers must be able to tell them apart.

Names are equal if they look the same (`assay.util.escape.reduce_name`).
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.lang.check.checker import Checker
from assay.lang.model.package import Metric
from assay.lang.model.report import Report
from assay.util.escape import reduce_name

#: kinds of parts of a report
PARTS = ("section", "dictionary group", "listing", "timeline")
#: what has the name, as it is printed, the word where its declaration is, and the names of the enclosing declarations
Printed = tuple[str, str, Sequence[str]]


def check_printed_names(checker: Checker) -> None:
    """Check the printed names of a package."""
    package = checker.package
    _check_names(checker, "metric", "", [(metric.name, metric.id, ()) for metric in package.metrics], is_distinct=False)
    for report in package.reports:
        _check_report(checker, report)


def _check_report(checker: Checker, report: Report) -> None:
    metrics = {metric.id: metric for metric in checker.package.metrics}
    owner, within = f"report `{report.name}`", (report.name,)
    rows = [(row.label, row.label, within) for row in report.manifest]
    _check_names(checker, "row", f"the manifest of {owner}", rows)
    groups = (("section", report.sections), ("dictionary group", report.dictionary),
              ("listing", report.listings), ("timeline", report.timelines))  # fmt: skip
    for kind, items in groups:
        _check_names(checker, kind, owner, [(item.title, item.title, within) for item in items])
    for label, names in (*((f"section `{item.title}`", item.metrics) for item in report.sections),
                         *((f"listing `{item.title}`", item.metrics) for item in report.listings)):  # fmt: skip
        printed = [
            metrics[name] for name in dict.fromkeys(names) if name in metrics and reduce_name(metrics[name].name)
        ]
        _check_names(checker, "metric", f"{label} of {owner}", [(_get_label(item), item.id, ()) for item in printed])


def _get_label(metric: Metric) -> str:
    """Return the label of a row of a metric: its name, with its unit."""
    return ", ".join(filter(None, (metric.name, metric.unit.symbol)))


def _check_names(
    checker: Checker, kind: str, owner: str, names: Sequence[Printed], *, is_distinct: bool = True
) -> None:
    """Report names that are empty, and those that look like an earlier one of their owner."""
    clause = f" of {owner}" if owner else ""
    seen: dict[str, Printed] = {}
    for printed in names:
        name, word, within = printed
        looks = reduce_name(name)
        if not looks and kind in PARTS:
            continue  # reported with the titles of parts
        if not looks:
            subject = f"the {kind} `{word}`{clause}" if reduce_name(word) else f"a {kind}{clause}"
            checker.report("empty-name", f"{subject} has an empty name", word or (within[0] if within else ""),
                           hint="give it a name that can be printed", within=within if word else ())  # fmt: skip
            continue
        first = seen.setdefault(looks, printed)
        is_known = kind == "section" and first[0] == name  # reported as `duplicate-part`
        if is_distinct and first is not printed and not is_known:
            where = f" ({first[1]} and {word})" if first[1] != word and kind == "metric" else ""
            checker.report("duplicate-name", f"two {kind}s{clause} are both printed as `{looks}`{where}", word,
                           hint="rename one of them, or leave one out", within=within)  # fmt: skip
