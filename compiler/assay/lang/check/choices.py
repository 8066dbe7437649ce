"""Check choices of reports: their rows, columns, metrics and constants."""

from __future__ import annotations

from assay.lang import formula, scopes
from assay.lang.check.checker import Checker
from assay.lang.model.parts import Choice
from assay.lang.model.report import Report

INSTANT = "instant"


def check_choices(checker: Checker, owner: str, report: Report) -> None:
    """Check the choices of a report, which messages call `owner`."""
    names = [choice.name for choice in report.choices]
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            checker.report("duplicate-choice", f"{owner} has several choices `{name}`", name, hint="rename all but one")
    for choice in report.choices:
        choice_owner = f"choice `{choice.name}` of {owner}"
        pinned = tuple(pin.column for pin in choice.pins)
        columns = (*choice.keys, *pinned, *choice.least, choice.first, *choice.label, *choice.repeats)
        times = tuple(name for name in (choice.begin, choice.end) if name)
        metrics = tuple(name for name in (choice.most, choice.done, choice.due) if name)
        if check_row_columns(
            checker, choice_owner, choice.grain, (*columns, *times), metrics, (report.name, choice.name)
        ):
            _check_times(checker, choice_owner, choice)
        _check_pins(checker, choice_owner, choice)
        _check_rule(checker, choice_owner, choice)
        check_excluded_choices(checker, choice_owner, report, choice.without, choice.grain)


def _check_times(checker: Checker, owner: str, choice: Choice) -> None:
    grain = next(item for item in checker.package.grains if item.name == choice.grain)
    types = {column.name: column.type for column in grain.columns}
    for name in (choice.begin, choice.end):
        if name and types[name] != INSTANT:
            checker.report(
                "choice-time", f"the time column `{name}` of {owner} is not an instant", name,
                expected=INSTANT, found=types[name],
            )  # fmt: skip


def _check_pins(checker: Checker, owner: str, choice: Choice) -> None:
    constants = scopes.collect_constants(checker.package)
    for pin in choice.pins:
        if pin.constant not in constants:
            checker.report_unknown("constant", pin.constant, f"in {owner}", constants)


def _check_rule(checker: Checker, owner: str, choice: Choice) -> None:
    if bool(choice.done) != bool(choice.due) or (choice.short and not choice.due):
        checker.report(
            "choice-rule",
            f"{owner} needs both `done` and `due` to select rows that fall short",
            choice.name,
            hint="set `done` and `due` to metrics",
        )


def check_excluded_choices(checker: Checker, owner: str, report: Report, names: tuple[str, ...], grain: str) -> None:
    """Check the choices whose rows `owner` leaves out: they must not depend on other choices or runs."""
    for name in names:
        choice = find_choice(checker, owner, report, name, grain)
        if choice and (choice.keys or choice.without):
            checker.report(
                "choice-without",
                f"{owner} leaves out the row of choice `{name}`, which itself depends on other choices",
                name,
                expected="a choice without `keys` and `without`",
                found="`keys` " + ", ".join(choice.keys) if choice.keys else "`without` " + ", ".join(choice.without),
            )


def find_choice(checker: Checker, owner: str, report: Report, name: str, grain: str = "") -> Choice | None:
    """Return the choice that `owner` refers to; report an unknown choice, and one of another grain."""
    selected = next((choice for choice in report.choices if choice.name == name), None)
    if name and selected is None:
        choice_names = [choice.name for choice in report.choices]
        checker.report_unknown("choice", name, f"in {owner}", choice_names)
    if selected and grain and selected.grain != grain:
        checker.report(
            "other-grain", f"choice `{name}` in {owner} selects rows of another grain", name,
            expected=grain, found=selected.grain,
        )  # fmt: skip
    return selected


def check_has_time(checker: Checker, owner: str, choice: Choice | None) -> None:
    """Report a choice without a time, where its time is shown."""
    if choice and not choice.begin:
        checker.report(
            "choice-time",
            f"{owner} shows the time of choice `{choice.name}`, which has no time",
            choice.name,
            hint="give the choice a `time`",
        )


def check_row_columns(
    checker: Checker,
    owner: str,
    grain: str,
    columns: tuple[str, ...],
    metrics: tuple[str, ...],
    within: tuple[str, ...] = (),
) -> bool:
    """Return whether a grain exists, has the columns, and is the grain of the metrics; report what is wrong.

    `within` names the declarations around the problems.
    """
    is_valid = True
    definition = next((item for item in checker.package.grains if item.name == grain), None)
    if definition is None:
        grain_names = [item.name for item in checker.package.grains]
        checker.report_unlisted("grain", grain, f"in {owner}", grain_names, within=within)
        return False
    column_names = [column.name for column in definition.columns]
    for name in dict.fromkeys(columns):
        if name not in column_names:
            is_valid = False
            checker.report_unknown("column", name, f"of grain `{grain}` in {owner}", column_names, within=within)
    metrics_by_id = formula.index_metrics(checker.package)
    grain_by_metric = {name: formula.find_grain(metrics_by_id, metric) for name, metric in metrics_by_id.items()}
    for name in metrics:
        is_valid = is_valid and grain_by_metric.get(name) == grain
        if name not in grain_by_metric:
            checker.report_unlisted("metric", name, f"in {owner}", grain_by_metric, within=within)
        elif grain_by_metric[name] != grain and formula.list_measured(
            metrics_by_id, [metrics_by_id[name]]
        ):  # errors in the formula are reported elsewhere
            checker.report(
                "other-grain",
                f"metric `{name}` in {owner} is of a different grain than the rows",
                name,
                expected=grain,
                found=grain_by_metric[name] or "a formula over metrics of several grains",
                within=within,
            )
    return is_valid
