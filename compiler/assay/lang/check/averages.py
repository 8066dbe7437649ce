"""The checker's part about tables of series: they are there, and in one unit."""

from __future__ import annotations

from assay.lang.check.checker import Checker
from assay.lang.check.choices import chosen
from assay.lang.model.article import Article, Averages


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
            checker.missing("unknown-series", message, name, known, within=(item.title,))
    units = {known[name].unit.name: name for name in reversed(item.series) if name in known}
    if len(units) > 1:
        checker.report(
            "averages-unit",
            f"the series of table `{item.title}` of {what} are in different units",
            item.title,
            expected="one unit",
            found=", ".join(f"`{name}` in {unit}" for unit, name in sorted(units.items(), key=lambda pair: pair[1])),
        )
