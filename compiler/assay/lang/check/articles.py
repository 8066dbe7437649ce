"""Check articles: their tables, figures and claims refer to metrics, columns and series that exist."""

from __future__ import annotations

import re
from collections import Counter

from assay.lang import formula, scopes
from assay.lang.check.checker import Checker
from assay.lang.check.choices import choices, chosen, rows, without
from assay.lang.check.formulas import check_formula_unit
from assay.lang.model.article import (
    Article,
    Averages,
    Claim,
    Class,
    ClassTable,
    Grid,
    Part,
    Pivot,
    Scatter,
    Timeline,
    Verdict,
)
from assay.lang.typing_rules import UnitError
from assay.lang.units import UnknownUnitError
from assay.util.diagnostics import did_you_mean
from assay.util.numbers import parse_decimal


def averages(checker: Checker, what: str, article: Article, item: Averages) -> None:
    """Check a table of series of a part."""
    choice = chosen(checker, f"table `{item.title}` of {what}", article, item.choice)
    if choice and not choice.begin:
        checker.report(
            "choice-time",
            f"table `{item.title}` of {what} is over the time of choice `{choice.name}`, which has none",
            choice.name,
            hint="give the choice `begin` and `end`",
        )
    known = {series.name: series for series in checker.package.series}
    if not item.series:
        checker.report("averages-series", f"table `{item.title}` of {what} has no series", item.title)
    for name in item.series:
        if name not in known:
            message = f"table `{item.title}` of {what} shows an unknown series `{name}`"
            checker.report_missing("unknown-series", message, name, known, within=(item.title,))
    units = {known[name].unit.name: name for name in reversed(item.series) if name in known}
    if len(units) > 1:
        checker.report(
            "averages-unit",
            f"the series of table `{item.title}` of {what} are in different units",
            item.title,
            expected="one unit",
            found=", ".join(f"`{name}` in {unit}" for unit, name in sorted(units.items(), key=lambda pair: pair[1])),
        )


NUMBER = r"-?[0-9]+(\.[0-9]+)?"


def claims(checker: Checker, article: Article) -> None:
    """Check what an article says that documents claim."""
    titles = [pivot.title for part in article.parts for pivot in part.pivots]
    for claim in article.claims:
        what = f"the claim of `{claim.document}` ({claim.statement}) in article `{article.name}`"
        if titles.count(claim.pivot) != 1:
            several = claim.pivot in titles
            checker.report(
                "claim-pivot",
                f"{what} is about {'several pivots' if several else 'a pivot that the article does not have'}: "
                f"`{claim.pivot}`",
                claim.pivot,
                hint="give them different titles" if several else did_you_mean(claim.pivot, titles),
            )
        _cells(checker, what, claim)


def _cells(checker: Checker, what: str, claim: Claim) -> None:
    if not claim.cells:
        checker.report("claim-cells", f"{what} has no cell", claim.document)
    places = [(cell.down, cell.across) for cell in claim.cells]
    for cell in claim.cells:
        place = f"row {cell.down}, column {cell.across}"
        if not re.fullmatch(NUMBER, cell.value) or parse_decimal(cell.value) is None:
            message = f"a cell of {what} is no number ({place})"
            checker.report("claim-value", message, cell.value, expected="digits, as in 35600 or 1.5", found=cell.value)
        if places.count((cell.down, cell.across)) > 1:
            places.remove((cell.down, cell.across))
            checker.report("claim-cells", f"a cell of {what} stands twice ({place})", claim.document)


def check_class_table(checker: Checker, where: str, table: ClassTable) -> None:
    """Classes that have names and amounts of one kind, a formula whose unit comes out, columns that there are."""
    what = f"table `{table.title}` in {where}"
    if not table.classes:
        checker.report("class", f"{what} is against no classes", table.title, hint="name some in `classes`")
        return
    for name, times in Counter(item.name for item in table.classes).items():
        if times > 1:
            checker.report("class", f"{what} has {times} classes called `{name}`", name, hint="rename all but one")
    amount = table.classes[0].unit.name
    for item in table.classes:
        _class(checker, what, item, amount)
    if check_formula_unit(checker, f"the formula of {what}", table.value, table.unit, table.title, amount):
        _columns(checker, what, table)


def _class(checker: Checker, what: str, item: Class, unit: str) -> None:
    if not _positive(item.amount):
        checker.report(
            "class",
            f"class `{item.name}` of {what} has no amount",
            item.name,
            expected=f"a number above 0, in {item.unit.name}",
            found=item.amount,
        )
    try:
        checker.library.factor(item.unit.name, unit)
    except UnknownUnitError as error:
        checker.report_unknown_unit(error, f"class `{item.name}` of {what}", item.name)
    except UnitError:
        message = f"class `{item.name}` of {what} has an amount of another kind than the first one"
        checker.report("unit", message, item.name, expected=unit, found=item.unit.name)


def _positive(text: str) -> bool:
    number = parse_decimal(text)
    return number is not None and number > 0


def _columns(checker: Checker, what: str, table: ClassTable) -> None:
    """What the columns of figures are: the rows of the grain of all its metrics, or the runs."""
    known = formula.index_metrics(checker.package)
    metrics = [known[name] for name in formula.list_inputs(table.value)]
    if not table.across:
        return
    if not formula.list_measured(known, metrics):
        return  # its formulas are wrong themselves
    grains = {formula.find_grain(known, metric) for metric in metrics}
    found = [item for item in checker.package.grains if grains == {item.name}]
    if not found:
        checker.report(
            "other-grain",
            f"{what} has a column for each row of a grain, and its metrics are not all of one",
            table.title,
            found=", ".join(sorted(grains - {""})) or "none",
        )
        return
    columns = [column.name for column in found[0].columns]
    if table.across not in columns:
        checker.report(
            "unknown-column",
            f"{what} calls rows by an unknown column `{table.across}` of grain `{found[0].name}`",
            table.across,
            hint=did_you_mean(table.across, columns),
        )


NUMBERS = ("integer", "unsigned", "huge", "real")


def articles(checker: Checker) -> None:
    """Check every article of the package."""
    names = [item.name for item in checker.package.reports] + [item.name for item in checker.package.histories]
    for article in checker.package.articles:
        what = f"article `{article.name}`"
        if names.count(article.name) or [item.name for item in checker.package.articles].count(article.name) > 1:
            checker.report(
                "duplicate-report",
                f"{what} has the name of another report, history or article",
                article.name,
                hint="rename all but one",
            )
        _constants(checker, what, article)
        choices(checker, what, article)
        for part in article.parts:
            _part(checker, f"part `{part.title}` of {what}", article, part)
        claims(checker, article)


def _constants(checker: Checker, what: str, article: Article) -> None:
    known = set(scopes.collect_constants(checker.package))
    for name in (article.label, *([article.cases] if article.cases else [])):
        if name not in known:
            checker.report(
                "unknown-constant",
                f"{what} uses an unknown constant `{name}`",
                name or article.name,
                hint=did_you_mean(name, known),
            )


def _part(checker: Checker, what: str, article: Article, part: Part) -> None:
    _compared(checker, what, part, (article.name, part.title))
    for listing in part.listings:
        rows(checker, what, listing.grain, listing.keys, listing.metrics, (article.name, part.title, listing.title))
    for pivot in part.pivots:
        _pivot(checker, what, article, part, pivot)
    for verdict in part.verdicts:
        _verdict(checker, what, article, part, verdict)
    for scatter in part.scatters:
        _scatter(checker, what, scatter, (article.name, part.title))
    for timeline in part.timelines:
        _timeline(checker, what, article, timeline)
    for table in part.class_tables:
        check_class_table(checker, what, table)
    for item in part.averages:
        averages(checker, what, article, item)
    for grid in part.grids:
        _grid(checker, f"grid `{grid.title}` in {what}", article, grid)


def _pivot(checker: Checker, what: str, article: Article, part: Part, pivot: Pivot) -> None:
    metrics = (pivot.metric, *([pivot.due] if pivot.due else ()))
    within = (article.name, part.title, pivot.title)
    known = rows(checker, what, pivot.grain, (pivot.down, pivot.across, pivot.first), metrics, within)
    choice = chosen(checker, what, article, pivot.choice, pivot.grain)
    if choice and not {pivot.down, pivot.across} <= set(choice.keys):
        checker.report(
            "choice-keys",
            f"{what} shows a chosen cell, but its row and column are no keys of choice `{choice.name}`",
            choice.name,
            expected=f"{pivot.down}, {pivot.across}",
            found=", ".join(choice.keys) or "no key",
        )
    if known and pivot.diagonals:
        grain = next(item for item in checker.package.grains if item.name == pivot.grain)
        types = {column.name: column.type for column in grain.columns}
        for name in (pivot.down, pivot.across):
            if types[name] not in NUMBERS:
                checker.report(
                    "diagonals", f"{what} has diagonals, which multiply a column that is no number: `{name}`", name,
                    found=types[name],
                )  # fmt: skip


def _verdict(checker: Checker, what: str, article: Article, part: Part, verdict: Verdict) -> None:
    within = (article.name, part.title, verdict.title)
    rows(checker, what, verdict.grain, (*verdict.keys, verdict.first), verdict.metrics, within)
    chosen(checker, what, article, verdict.choice, verdict.grain)
    without(checker, what, article, verdict.without, verdict.grain)


def _scatter(checker: Checker, what: str, scatter: Scatter, around: tuple[str, ...]) -> None:
    within = (*around, scatter.title)
    rows(checker, what, scatter.grain, (scatter.per,), (scatter.x, scatter.y), within)
    rows(checker, what, scatter.of, (scatter.per, *scatter.label, *scatter.keys), (), within)


def _timeline(checker: Checker, what: str, article: Article, timeline: Timeline) -> None:
    _series(checker, what, timeline)
    choice = chosen(checker, what, article, timeline.choice)
    if choice and not choice.begin:
        checker.report(
            "choice-time",
            f"{what} shows the time of choice `{choice.name}`, which has none",
            choice.name,
            hint="give the choice `begin` and `end`",
        )
    if timeline.stacked and timeline.mean:
        checker.report(
            "stacked-mean",
            f"{what} stacks the lines of series `{timeline.series}`, in which a mean has no place",
            timeline.series,
            hint="leave out `mean` or `stacked`",
        )


RULES = ("falls", "rises", "stays", "not worse")


def _compared(checker: Checker, what: str, part: Part, within: tuple[str, ...]) -> None:
    """Comparisons, conclusions and facts: of metrics and constants that there are."""
    rules = [rule for item in part.conclusions for rule in item.rules]
    metrics = [name for item in part.comparisons for name in item.metrics] + [rule.metric for rule in rules]
    listed = [metric.id for metric in checker.package.metrics]
    for name in dict.fromkeys(metrics):
        if name not in listed:
            message = f"{what} compares a metric that its package does not list: `{name}`"
            checker.report_missing("unknown-metric", message, name, listed, within=within)
    for kind in dict.fromkeys(rule.kind for rule in rules if rule.kind not in RULES):
        checker.report("rule", f"{what} has a rule of a kind that there is not: `{kind}`", kind,
                       hint=did_you_mean(kind, RULES))  # fmt: skip
    known = scopes.collect_constants(checker.package)
    for name in part.facts:
        if name not in known:
            checker.report("unknown-constant", f"{what} tells an unknown constant `{name}`", name,
                           hint=did_you_mean(name, known), within=within)  # fmt: skip


def _series(checker: Checker, what: str, timeline: Timeline) -> None:
    found = next((item for item in checker.package.series if item.name == timeline.series), None)
    if found is None:
        known = [item.name for item in checker.package.series]
        message = f"{what} shows an unknown series `{timeline.series}`"
        checker.report_missing("unknown-series", message, timeline.series, known, within=(timeline.title,))
    elif not timeline.alone and timeline.line not in found.by:
        checker.report(
            "unknown-label",
            f"{what} has lines by a label that series `{found.name}` does not have: `{timeline.line}`",
            timeline.line or found.name,
            hint=did_you_mean(timeline.line, found.by),
        )


def _grid(checker: Checker, what: str, article: Article, grid: Grid) -> None:
    choice = chosen(checker, what, article, grid.choice)
    if not article.cases:
        checker.report(
            "grid-without-cases",
            f"{what} has a row for each case, but the article does not say which constant tells the case of a run",
            grid.title,
            hint="name the constant in the article's `cases`",
        )
    for timeline in grid.timelines:
        _series(checker, what, timeline)
    if choice and grid.timelines and not choice.begin:
        checker.report(
            "choice-time",
            f"{what} shows the time of choice `{choice.name}`, which has none",
            choice.name,
            hint="give the choice `begin` and `end`",
        )
    for scatter in grid.scatters:
        _scatter(checker, what, scatter, (article.name, grid.title))
        if choice and choice.grain != scatter.of:
            checker.report(
                "other-grain",
                f"{what} has a scatter of rows that choice `{choice.name}` does not choose",
                choice.name,
                expected=scatter.of,
                found=choice.grain,
            )
