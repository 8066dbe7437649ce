"""Check fields that take one of a fixed list of words, such as how an instant is picked.

Later stages treat an unknown word as one of the others, so a typo would silently change results.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.lang.check.checker import Checker
from assay.lang.model.package import CENTILE, HISTOGRAMS, Check, Grain, Instant, Metric
from assay.lang.model.report import Chart, Report
from assay.lang.model.vocabulary import COMPUTED, LATEST_BEFORE, PICKS
from assay.lang.quantities import QUANTITIES
from assay.util.diagnostics import suggest_names, suggest_nearest

REDUCTIONS = ("min", "max", "sum", "count", CENTILE, *HISTOGRAMS)
SCALES = ("auto", "linear", "log")
SEVERITIES = ("error", "warning")
DIRECTIONS = ("lower", "higher", "neither")
DEVIATIONS = ("greatest", "mean")
WHOLE = ("integer", "unsigned", "huge")
#: kind of a cell -> the types of values that it can show
CELLS = {
    "text": ("text", *WHOLE, "real", "boolean"),
    "unsuffixed": ("text",),
    "integer": WHOLE,
    "real": (*WHOLE, "real"),
    "spread": (*WHOLE, "duration"),
    "date": ("instant",),
    "time": ("instant",),
}
#: type -> hint; both types are stored as nanoseconds, which a cell must not print
_CELL_HINTS = {
    "instant": "`R.date` and `R.time` show an instant",
    "duration": "`R.spread` shows a duration, in seconds",
}


def check_words(checker: Checker) -> None:
    """Check every field that takes a word of a list, and the fields that the words require."""
    for message, name, word, allowed in _list_words(checker):
        if word not in allowed:
            checker.report(
                "unknown-word",
                message,
                word or name,
                expected=", ".join(allowed),
                found=word or "nothing",
                hint=suggest_nearest(word, allowed),
                cause=f"{word} {allowed}" if word else message,
                within=(name,),
            )
    for metric in checker.package.metrics:
        _check_centile(checker, metric)
    for grain in checker.package.grains:
        for instant in grain.instants:
            _check_pick(checker, grain, instant)


def _check_centile(checker: Checker, metric: Metric) -> None:
    """Check that the centile of a reduction is a share; of a histogram, above 0, as its least value is not known."""
    reduction = metric.reduction
    if not reduction or reduction.kind not in (CENTILE, *HISTOGRAMS):
        return
    has_least, is_percentage = reduction.kind == CENTILE, 2 <= reduction.centile <= 100
    if not (0 <= reduction.centile <= 1) or (not has_least and not reduction.centile):
        checker.report(
            "centile",
            f"centile of metric `{metric.id}` is out of range",
            metric.id,
            expected="a number from 0 to 1" if has_least else "a number above 0, up to 1",
            found=repr(reduction.centile),
            hint=f"write `{reduction.centile / 100:g}` for {reduction.centile:g} %" if is_percentage else "",
        )


Word = tuple[str, str, str, Sequence[str]]  # message, name of the declaration, the word, the allowed words


def _list_words(checker: Checker) -> Iterator[Word]:
    package = checker.package
    for grain in package.grains:
        for instant in grain.instants:
            yield (
                f"unknown `pick` of instant `{instant.name}` (grain `{grain.name}`)",
                instant.name,
                instant.pick,
                PICKS,
            )
        yield from _list_severities(f"grain `{grain.name}`", grain.checks)
    for relation in package.relations:
        yield from _list_severities(f"relation `{relation.name}`", relation.checks)
    for metric in package.metrics:
        yield f"unknown `better` of metric `{metric.id}`", metric.id, metric.better, DIRECTIONS
        if metric.quantity:
            yield f"unknown `quantity` of metric `{metric.id}`", metric.id, metric.quantity, QUANTITIES
        if metric.reduction:
            yield f"unknown reduction of metric `{metric.id}`", metric.id, metric.reduction.kind, REDUCTIONS
    for summary in package.summaries:
        yield f"unknown deviation of summary `{summary.name}`", summary.name, summary.deviation, DEVIATIONS
    for report in package.reports:
        yield from _list_scales(f"report `{report.name}`", [chart for _, chart in report.metric_charts])
        for edition in report.editions:
            yield from _list_scales(f"edition `{edition.name}` of report `{report.name}`", edition.charts)
        for row in report.manifest:
            yield f"unknown kind of row `{row.id}` of report `{report.name}`", row.id, row.cell.kind, tuple(CELLS)


def _list_severities(owner: str, checks: Sequence[Check]) -> Iterator[Word]:
    for item in checks:
        yield f"unknown severity of check `{item.code}` of {owner}", item.code, item.severity, SEVERITIES


def _list_scales(owner: str, charts: Sequence[Chart]) -> Iterator[Word]:
    for chart in charts:
        yield f"unknown scale of the chart of `{chart.metric}` in {owner}", chart.metric, chart.scale, SCALES


def _check_pick(checker: Checker, grain: Grain, instant: Instant) -> None:
    """Check that an instant has the fields that its way of picking needs."""
    owner = f"instant `{instant.name}` of grain `{grain.name}`"
    if instant.pick == COMPUTED and instant.value is None:
        checker.report("instant-value", f"computed {owner} has no `value`", instant.name)
    if instant.pick != LATEST_BEFORE:
        return
    other_names = [item.name for item in grain.instants if item.name != instant.name]
    if instant.before not in other_names:
        checker.report(
            "instant-before",
            f"`{instant.before}` in `before` of {owner} is not another instant of the grain",
            instant.before or instant.name,
            hint=suggest_names(instant.before, other_names),
            within=(instant.name,),
        )
        return
    if any(item.name == instant.before and item.pick == COMPUTED for item in grain.instants):
        checker.report(
            "instant-before",
            f"{owner} is the latest before `{instant.before}`, which is computed and so has no position in a log",
            instant.name,
            expected="an instant of a record",
            found=COMPUTED,
        )
        return
    anchors = {item.name: item.before for item in grain.instants if item.pick == LATEST_BEFORE}
    trail = [instant.name]
    while (name := anchors.get(trail[-1], "")) and name not in trail:
        trail.append(name)
    if name == instant.name:  # a cycle that does not contain this instant is reported for its members
        checker.report("cycle", f"{owner} depends on itself: {' -> '.join([*trail, name])}", instant.name)


def check_manifest(checker: Checker, report: Report) -> None:
    """Check that the manifest of a report shows existing values, of types that their cells can show."""
    types = {item.name: item.type for source in checker.package.sources for item in source.constants}
    columns = {
        relation.name: {item.name: item.type for item in relation.columns} for relation in checker.package.relations
    }
    for row in report.manifest:
        owner = f"row `{row.id}` of report `{report.name}`"
        if row.relation and row.relation not in columns:
            checker.report_unlisted("relation", row.relation, f"in {owner}", columns, within=(report.name, row.id))
            continue
        if row.relation and row.column not in columns[row.relation]:
            checker.report_unknown(
                "column", row.column, f"of relation `{row.relation}` in {owner}", columns[row.relation], word=row.id
            )
            continue
        kind = columns[row.relation][row.column] if row.relation else types.get(row.constant, "")
        if kind and kind not in CELLS[row.cell.kind]:
            checker.report(
                "cell-type",
                f"{owner} cannot show a value of type {kind} as {row.cell.kind}",
                row.id,
                expected=", ".join(CELLS[row.cell.kind]),
                found=kind,
                hint=_CELL_HINTS.get(kind, ""),
            )
