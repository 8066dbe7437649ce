"""Check fields that take one of a fixed list of words, such as how an instant is picked.

A word that there is not would be taken for another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.lang.check.checker import Checker
from assay.lang.model.package import Check, Grain, Instant
from assay.lang.model.report import Chart, Report
from assay.lang.model.vocabulary import COMPUTED, LATEST_BEFORE, PICKS
from assay.util.diagnostics import did_you_mean, suggest_nearest

CENTILE = "centile"
REDUCTIONS = ("min", "max", "sum", "count", CENTILE)
SCALES = ("auto", "linear", "log")
SEVERITIES = ("error", "warning")
DEVIATIONS = ("greatest", "mean")
WHOLE = ("integer", "unsigned", "huge")
#: kind of a cell -> the types that it shows
CELLS = {
    "text": ("text", *WHOLE, "real", "boolean"),
    "unsuffixed": ("text",),
    "integer": WHOLE,
    "real": (*WHOLE, "real"),
    "spread": (*WHOLE, "duration"),
    "date": ("instant",),
    "time": ("instant",),
}
#: both are kept as nanoseconds, which no reader would know
_SHOWN = {"instant": "`R.date` and `R.time` show an instant", "duration": "`R.spread` shows a duration, in seconds"}


def check_words(checker: Checker) -> None:
    """Every word is one of those that there are."""
    for what, name, word, known in _words(checker):
        if word not in known:
            expected, found, hint = ", ".join(known), word or "nothing", suggest_nearest(word, known)
            checker.report(
                "unknown-word",
                what,
                word or name,
                expected=expected,
                found=found,
                hint=hint,
                cause=what,
                within=(name,),
            )
    for metric in checker.package.metrics:
        reduction = metric.reduction
        if reduction and reduction.kind == CENTILE and not 0 <= reduction.centile <= 1:
            checker.report(
                "centile",
                f"metric `{metric.id}` is reduced to a centile that there is not",
                metric.id,
                expected="from 0 to 1",
                found=repr(reduction.centile),
            )
    for grain in checker.package.grains:
        for instant in grain.instants:
            _bound(checker, grain, instant)


Word = tuple[str, str, str, Sequence[str]]  # what it is about, where it stands, the word, those that there are


def _words(checker: Checker) -> Iterator[Word]:
    package = checker.package
    for grain in package.grains:
        for instant in grain.instants:
            yield (
                f"instant `{instant.name}` of grain `{grain.name}` is picked in no known way",
                instant.name,
                instant.pick,
                PICKS,
            )
        yield from _severities(f"grain `{grain.name}`", grain.checks)
    for relation in package.relations:
        yield from _severities(f"relation `{relation.name}`", relation.checks)
    for metric in package.metrics:
        if metric.reduction:
            yield f"metric `{metric.id}` is reduced in no known way", metric.id, metric.reduction.kind, REDUCTIONS
    for summary in package.summaries:
        yield f"summary `{summary.name}` shows an unknown deviation", summary.name, summary.deviation, DEVIATIONS
    for report in package.reports:
        yield from _scales(f"report `{report.name}`", report.charts)
        for edition in report.editions:
            yield from _scales(f"edition `{edition.name}` of report `{report.name}`", edition.charts)
        for row in report.manifest:
            yield f"row `{row.id}` of report `{report.name}` is of an unknown kind", row.id, row.cell.kind, tuple(CELLS)


def _severities(what: str, checks: Sequence[Check]) -> Iterator[Word]:
    for item in checks:
        yield f"check `{item.code}` of {what} is of an unknown severity", item.code, item.severity, SEVERITIES


def _scales(what: str, charts: Sequence[Chart]) -> Iterator[Word]:
    for chart in charts:
        yield f"{what} has a chart of `{chart.metric}` on an unknown scale", chart.metric, chart.scale, SCALES


def _bound(checker: Checker, grain: Grain, instant: Instant) -> None:
    """An instant has what its way of picking needs."""
    what = f"instant `{instant.name}` of grain `{grain.name}`"
    if instant.pick == COMPUTED and instant.value is None:
        checker.report("instant-value", f"{what} is computed, and does not say of what", instant.name)
    if instant.pick != LATEST_BEFORE:
        return
    others = [item.name for item in grain.instants if item.name != instant.name]
    if instant.before not in others:
        checker.report(
            "instant-before",
            f"{what} is the latest before an instant that the grain has not: `{instant.before}`",
            instant.before or instant.name,
            hint=did_you_mean(instant.before, others),
            within=(instant.name,),
        )
        return
    if any(item.name == instant.before and item.pick == COMPUTED for item in grain.instants):
        checker.report(
            "instant-before",
            f"{what} is the latest before `{instant.before}`, which is computed: it stands at no place in a log",
            instant.name,
            expected="an instant that is a record's",
            found=COMPUTED,
        )
        return
    earlier = {item.name: item.before for item in grain.instants if item.pick == LATEST_BEFORE}
    trail = [instant.name]
    while (name := earlier.get(trail[-1], "")) and name not in trail:
        trail.append(name)
    if name == instant.name:  # a circle further on is told of those that are in it
        checker.report("cycle", f"{what} is picked by way of itself: {' -> '.join([*trail, name])}", instant.name)


def check_manifest(checker: Checker, report: Report) -> None:
    """Rows of a report's manifest show what there is, of a type that their cells show."""
    types = {item.name: item.type for source in checker.package.sources for item in source.constants}
    columns = {
        relation.name: {item.name: item.type for item in relation.columns} for relation in checker.package.relations
    }
    for row in report.manifest:
        what = f"row `{row.id}` of report `{report.name}`"
        if row.relation and row.relation not in columns:
            message = f"{what} shows an unknown relation `{row.relation}`"
            checker.missing("unknown-relation", message, row.relation, columns, within=(report.name, row.id))
            continue
        if row.relation and row.column not in columns[row.relation]:
            said = f"{what} shows a column that relation `{row.relation}` lacks: `{row.column}`"
            checker.report("unknown-column", said, row.id, hint=did_you_mean(row.column, columns[row.relation]))
            continue
        kind = columns[row.relation][row.column] if row.relation else types.get(row.constant, "")
        if kind and kind not in CELLS[row.cell.kind]:
            checker.report(
                "cell-type",
                f"{what} cannot show a value of type {kind} as {row.cell.kind}",
                row.id,
                expected=", ".join(CELLS[row.cell.kind]),
                found=kind,
                hint=_SHOWN.get(kind, ""),
            )
