"""The checker's part about choices of articles: their rows, columns, metrics and constants are there and fit."""

from __future__ import annotations

from assay.lang import formula, scopes
from assay.lang.check.checker import Checker
from assay.lang.model.article import Article, Choice
from assay.util.diagnostics import did_you_mean

INSTANT = "instant"


def choices(checker: Checker, what: str, article: Article) -> None:
    """Check the choices of an article, which messages call `what`."""
    names = [choice.name for choice in article.choices]
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            checker.report("duplicate-choice", f"{what} has several choices `{name}`", name, hint="rename all but one")
    for choice in article.choices:
        called = f"choice `{choice.name}` of {what}"
        columns = (*choice.keys, *(pin.column for pin in choice.pins), choice.first, *choice.label)
        times = tuple(name for name in (choice.begin, choice.end) if name)
        metrics = tuple(name for name in (choice.most, choice.done, choice.due) if name)
        if rows(checker, called, choice.grain, (*columns, *times), metrics, (article.name, choice.name)):
            _times(checker, called, choice)
        _pins(checker, called, choice)
        _rule(checker, called, choice)
        without(checker, called, article, choice.without, choice.grain)


def _times(checker: Checker, what: str, choice: Choice) -> None:
    grain = next(item for item in checker.package.grains if item.name == choice.grain)
    types = {column.name: column.type for column in grain.columns}
    for name in (choice.begin, choice.end):
        if name and types[name] != INSTANT:
            checker.report(
                "choice-time", f"the time column `{name}` of {what} is not an instant", name,
                expected=INSTANT, found=types[name],
            )  # fmt: skip
    if bool(choice.begin) != bool(choice.end):
        checker.report(
            "choice-time", f"{what} has only one of `begin` and `end`", choice.name, hint="give both `begin` and `end`"
        )


def _pins(checker: Checker, what: str, choice: Choice) -> None:
    known = scopes.collect_constants(checker.package)
    for pin in choice.pins:
        if pin.constant not in known:
            checker.report(
                "unknown-constant",
                f"unknown constant `{pin.constant}` in {what}",
                pin.constant,
                hint=did_you_mean(pin.constant, known),
            )


def _rule(checker: Checker, what: str, choice: Choice) -> None:
    if bool(choice.done) != bool(choice.due) or (choice.short and not choice.due):
        checker.report(
            "choice-rule",
            f"{what} needs both `done` and `due` to select rows that fall short",
            choice.name,
            hint="set `done` and `due` to metrics",
        )


def without(checker: Checker, what: str, article: Article, names: tuple[str, ...], grain: str) -> None:
    """Choices whose rows something leaves out: each run chooses them for itself, whatever others choose."""
    for name in names:
        found = chosen(checker, what, article, name, grain)
        if found and (found.keys or found.without):
            checker.report(
                "choice-without",
                f"{what} leaves out the row of choice `{name}`, which itself depends on other choices",
                name,
                expected="a choice without `keys` and `without`",
                found="`keys` " + ", ".join(found.keys) if found.keys else "`without` " + ", ".join(found.without),
            )


def chosen(checker: Checker, what: str, article: Article, name: str, grain: str = "") -> Choice | None:
    """The choice that something refers to, if any; it is a problem when there is none, or when it is of other rows."""
    found = next((choice for choice in article.choices if choice.name == name), None)
    if name and found is None:
        known = [choice.name for choice in article.choices]
        checker.report("unknown-choice", f"unknown choice `{name}` in {what}", name, hint=did_you_mean(name, known))
    if found and grain and found.grain != grain:
        checker.report(
            "other-grain", f"choice `{name}` in {what} selects rows of another grain", name,
            expected=grain, found=found.grain,
        )  # fmt: skip
    return found


def check_has_time(checker: Checker, what: str, choice: Choice | None) -> None:
    """Report a choice without a time, where its time is shown."""
    if choice and not choice.begin:
        checker.report(
            "choice-time",
            f"{what} shows the time of choice `{choice.name}`, which has no time",
            choice.name,
            hint="give the choice `begin` and `end`",
        )


def rows(
    checker: Checker,
    what: str,
    grain: str,
    columns: tuple[str, ...],
    metrics: tuple[str, ...],
    within: tuple[str, ...] = (),
) -> bool:
    """Whether a grain is there, has the columns, and is that of the metrics; what is not so is reported, in the
    declaration that `within` names."""
    right = True
    found = next((item for item in checker.package.grains if item.name == grain), None)
    if found is None:
        known = [item.name for item in checker.package.grains]
        message = f"unknown grain `{grain}` in {what}"
        checker.report_missing("unknown-grain", message, grain, known, within=within)
        return False
    names = [column.name for column in found.columns]
    for name in dict.fromkeys(columns):
        if name not in names:
            right = False
            checker.report(
                "unknown-column",
                f"unknown column `{name}` of grain `{grain}` in {what}",
                name,
                hint=did_you_mean(name, names),
                within=within,
            )
    by_id = formula.index_metrics(checker.package)
    of_metric = {name: formula.find_grain(by_id, metric) for name, metric in by_id.items()}
    for name in metrics:
        right = right and of_metric.get(name) == grain
        if name not in of_metric:
            checker.report_missing(
                "unknown-metric", f"unknown metric `{name}` in {what}", name, of_metric,
                within=within,
            )  # fmt: skip
        elif of_metric[name] != grain and formula.list_measured(
            by_id, [by_id[name]]
        ):  # else the formula is wrong itself
            checker.report(
                "other-grain",
                f"metric `{name}` in {what} is of a different grain than the rows",
                name,
                expected=grain,
                found=of_metric[name] or "a formula over metrics of several grains",
                within=within,
            )
    return right
