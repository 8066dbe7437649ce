"""Check printed names: of metrics, sections, columns, rows and figures. Readers must be able to tell them apart.

Names are equal if they look the same (`assay.util.escape.reduce_name`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from assay.lang.check.checker import Checker
from assay.lang.model.headings import Heading
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
    for report in package.reports:
        for part in report.parts:
            for block in part.blocks:
                if headings := tuple(block.list_headings(package)):
                    owner = f"{block.appears_as} `{block.title}` in part `{part.title}` of report `{report.name}`"
                    _check_headings(checker, owner, headings, (report.name, part.title, block.title))


def _check_headings(checker: Checker, owner: str, headings: Iterable[Heading], within: Sequence[str]) -> None:
    """Check the headings of one table or grid: those of a kind must differ."""
    names: dict[str, list[Printed]] = {}
    for item in headings:
        names.setdefault(item.kind, []).append((item.text, item.word, within if item.is_local else ()))
    for kind, printed in names.items():
        _check_names(checker, kind, owner, printed)


def _check_report(checker: Checker, report: Report) -> None:
    metrics = {metric.id: metric for metric in checker.package.metrics}
    owner, within = f"report `{report.name}`", (report.name,)
    rows = [(row.label, row.label, within) for row in report.manifest]
    _check_names(checker, "row", f"the manifest of {owner}", rows)
    for kind, titles in (
        ("section", [name for name, _ in report.metric_sections]),
        ("dictionary group", [item.title for item in report.dictionary]),
    ):
        _check_names(checker, kind, owner, [(title, title, within) for title in titles])
    for name, section in report.metric_sections:
        printed = [metrics[name] for name in dict.fromkeys(section.metrics) if name in metrics]
        labels = [(_get_label(item), item.id, ()) for item in printed if reduce_name(item.name)]
        _check_names(checker, "metric", f"section `{name}` of {owner}", labels)


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
            place = (*within, word) if word else within
            checker.report("empty-name", f"{subject} has an empty name", place[-1] if place else "",
                           hint="give it a name that can be printed", within=place[:-1])  # fmt: skip
            continue
        first = seen.setdefault(looks, printed)
        is_known = kind in ("section", "class") and first[0] == name  # reported as `duplicate-part` and `class`
        if is_distinct and first is not printed and not is_known:
            where = f" ({first[1]} and {word})" if first[1] != word and kind == "metric" else ""
            message = f"two {_get_plural(kind)}{clause} are both printed as `{looks}`{where}"
            hint = "rename one of them, or leave one out"
            checker.report("duplicate-name", message, word, hint=hint, within=within)


def _get_plural(kind: str) -> str:
    return f"{kind}es" if kind.endswith("s") else f"{kind}s"
