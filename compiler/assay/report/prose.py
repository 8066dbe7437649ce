"""Read prose that quotes results: text with `{{ METRIC(...) }}` in it.

A quote prints the value of a metric, with its unit, on the one row of its grain whose columns have the given values.
`decimals` is the number of decimals (rounded half to even); without it, the value is written as in tables. `run` names
the run (default: the last one), `choice` a choice of the report, whose row is used. All other text is Markdown, of
which `assay.report.prose_markup` reads a part.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from assay.lang.checked_package import CheckedPackage
from assay.lang.expression_types import UnitError
from assay.lang.model.package import Constant, Grain, Metric
from assay.lang.model.parts import Choice
from assay.lang.model.series import Series
from assay.lang.units import UnknownUnitError
from assay.report.cell_links import AVERAGE, CHANGE, DIFFERENCE, PERCENT, ROW, VERDICT
from assay.report.formatted_text import get_anchor
from assay.report.prose_markup import (
    QUOTE_PATTERN,
    MarkupProblem,
    SourcePhrase,
    parse_markup,
)
from assay.report.rendered_prose import RenderedProse, join_words, render_prose_text
from assay.report.series_statistic import EXPECTED, MAX, MEAN, MIN, compute_unit_factor, parse_statistic
from assay.util.diagnostics import Diagnostic, Span, read_excerpt, suggest_names

_TEXT = r'"(?:[^"\\]|\\.)*"'
CALL = re.compile(rf'\s*([\w.-]+)\s*\(((?:[^()"]|{_TEXT})*)\)\s*', re.S)
_ARGUMENT = re.compile(rf"\s*(\w+)\s*=\s*(?:({_TEXT})|(-?[0-9]{{1,18}}))\s*(?:,(?=.)|$)", re.S)
DECIMALS, RUN, CHOICE = "decimals", "run", "choice"
GROUP = "group"  # of quotes in reports with groups: columns may have this name in others
PRINTS = "prints"  # of quotes of the row of a metric in a table
BASE = "base"
STATISTICS = (MAX, MIN, MEAN)
PRINTED = (AVERAGE, BASE, DIFFERENCE, PERCENT, VERDICT)
#: what quotes print of several cells, or state of verdicts on them; observations have such quotes, too
LEAST, GREATEST, GREATEST_CHANGE = "least", "greatest", "greatest change"
FIRST, LAST = "first", "last"
QUIET, UNDECIDED, NOT_WORSE = "quiet", "cannot tell", "not worse"
OF_SEVERAL = (ROW, LEAST, GREATEST, FIRST, LAST, CHANGE, GREATEST_CHANGE, QUIET, UNDECIDED, NOT_WORSE)
#: arguments of such quotes, and of others of cells: which cells, and what they printed
OF_CELLS = ("also", "case", "below", "above", "text")
STATISTIC, UNIT = "statistic", "unit"  # of quotes of series only: columns of metrics may have these names
MOST_DECIMALS = 15  # a double has no more significant digits
TEXT = "text"

Value = str | int


@dataclass(frozen=True, slots=True)
class Quote:
    """A result that a text quotes: the metric, the column values of its row, decimals (None: as in tables).

    `run` and `choice` are names; empty: the last run, no choice. `group` is the group of runs that the quote names, if
    any. A quote of a series has its name as `metric`, labels of its lines as column values, and a `statistic`; `unit`
    is the unit that it prints (empty: that of the series). A quote that `prints` something is of the metric's row in a
    table, such as the average in a run. With `of_cells` it is one as observations have, with these arguments. A quote
    of a constant has its name as `metric`.
    """

    metric: str
    where: tuple[tuple[str, Value], ...]
    decimals: int | None
    span: Span
    excerpt: str = ""
    run: str = ""
    choice: str = ""
    statistic: str = ""
    unit: str = ""
    group: str = ""
    prints: str = ""
    of_cells: tuple[tuple[str, Value], ...] = ()
    is_constant: bool = False

    @property
    def reads_row(self) -> bool:
        """Whether it is the value of a metric on a row of its grain."""
        return not self.statistic and not self.prints and not self.is_constant

    @property
    def bounds(self) -> tuple[str, ...]:
        """The bounds of values that a sentence may say: a check compares them with the rows."""
        return tuple(str(value) for name, value in self.of_cells if name in ("below", "above"))

    @property
    def is_of_metric(self) -> bool:
        """Whether it is a value of a metric."""
        return not self.statistic and not self.is_constant


@dataclass(frozen=True, slots=True)
class Prose:
    """The text of a file, and the quotes in it, in order; specs have it, or the author of a report."""

    path: Path
    text: str
    quotes: tuple[Quote, ...]
    is_authors: bool = False

    def render(self, render_quote: Callable[[Quote], str | None]) -> RenderedProse[Quote]:
        """Return the text with rendered quotes, without paragraphs and items with a quote that has no text."""
        return render_prose_text(self.text, self.quotes, render_quote)


@dataclass(frozen=True, slots=True)
class ProseScope:
    """What prose may quote and link to: metrics and series, choices of a report, its parts, its groups of runs.

    `anchors` are the names of the parts that links may lead to. With `needs_group`, each quote has to name a group.
    `compared` are the metrics of which tables print averages.
    """

    checked: CheckedPackage
    choices: Sequence[Choice] = ()
    anchors: Sequence[str] = ()
    groups: Sequence[str] = ()
    needs_group: bool = False
    compared: Collection[str] = ()


def read_prose_file(path: Path, name: str, scope: ProseScope, problems: list[Diagnostic]) -> Prose:
    """Read a file of prose, called `name` in messages; add its problems to `problems`."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        problems.append(Diagnostic("prose", f"the prose cannot be read: {error}", Span(name)))
        return Prose(path, "", ())
    return parse_prose(Prose(path, text, ()), name, scope, problems)


def parse_prose(prose: Prose, name: str, scope: ProseScope, problems: list[Diagnostic]) -> Prose:
    """Return prose with the quotes in its text; add its problems to `problems`. It is called `name` in messages."""
    path, groups = prose.path, scope.groups
    markup = parse_markup(prose.text)
    quotes = []
    for phrase in markup.list_quotes():
        quote = _parse_quote(phrase, name, path, scope.checked, has_groups=bool(groups))
        quote_problems = list(_find_problems(quote, scope)) if isinstance(quote, Quote) else [quote]
        needs_group = scope.needs_group and not (isinstance(quote, Quote) and quote.of_cells)
        if isinstance(quote, Quote) and (quote.group or needs_group) and quote.group not in groups:
            quote_problems.append(_describe_group_problem(quote, groups))
        problems += quote_problems
        quotes += [quote] if isinstance(quote, Quote) and not quote_problems else []
    problems += (_describe_markup_problem(item, name, path) for item in markup.problems)
    for phrase in markup.list_links():
        anchor = get_anchor(phrase.link)
        if anchor and anchor not in scope.anchors:
            place = phrase.place
            span, excerpt = Span(name, place.line, place.column), read_excerpt(path, place.line, place.column, 1)
            message, hint = f"prose links to an unknown part `{anchor}`", suggest_names(anchor, scope.anchors)
            problems.append(Diagnostic("unknown-part", message, span, excerpt, expected="#title-of-a-part", hint=hint))
    return replace(prose, quotes=tuple(quotes))


def _describe_group_problem(quote: Quote, groups: Sequence[str]) -> Diagnostic:
    """Return the problem of a quote that names an unknown group, or none where it has to."""
    subject, expected = f"prose quotes `{quote.metric}`", f'group = "NAME", one of {", ".join(groups)}'
    if quote.group:
        message, hint = f"{subject} of an unknown group `{quote.group}`", suggest_names(quote.group, groups)
        return Diagnostic("unknown-group", message, quote.span, quote.excerpt, hint=hint)
    message = f"{subject} without a group, in a part that names none"
    return Diagnostic("no-group", message, quote.span, quote.excerpt, expected=expected)


def _describe_markup_problem(problem: MarkupProblem, name: str, path: Path) -> Diagnostic:
    place = problem.place
    return Diagnostic(
        problem.code,
        problem.message,
        Span(name, place.line, place.column, place.length),
        read_excerpt(path, place.line, place.column, place.length),
        problem.expected,
        problem.found,
        problem.hint,
    )


def list_quotes(text: str) -> tuple[tuple[str, str], ...]:
    """Return the metric and the text of each quote, in order, in one line; an empty metric if it cannot be parsed."""
    quotes = []
    for phrase in parse_markup(text).list_quotes():
        call = CALL.fullmatch(phrase.words[2:-2])
        quotes.append((call[1] if call else "", join_words(phrase.words)))
    return tuple(quotes)


def mark_quotes(text: str) -> str:
    """Return a text with a mark in place of each quote."""
    return QUOTE_PATTERN.sub("{{ … }}", text)


def split_paragraphs(text: str) -> tuple[str, ...]:
    """Return the paragraphs of a text, each in one line."""
    return tuple(join_words(part) for part in re.split(r"\n\s*\n", text) if part.strip())


def _parse_quote(
    phrase: SourcePhrase, name: str, path: Path, checked: CheckedPackage, *, has_groups: bool
) -> Quote | Diagnostic:
    span = Span(name, phrase.place.line, phrase.place.column, phrase.place.length)
    call = CALL.fullmatch(phrase.words[2:-2])
    arguments = parse_arguments(call[2]) if call else None
    values_by_name = dict(arguments or ())
    decimals = values_by_name.pop(DECIMALS, None)
    if not call or arguments is None or isinstance(decimals, str):
        return Diagnostic(
            "prose",
            "a quote of a result cannot be read",
            span,
            expected='{{ METRIC(COLUMN = "text" or number, ..., decimals = number) }}',
            found=phrase.words,
        )
    excerpt = read_excerpt(path, span.line, span.column, span.length)
    if len(arguments) > len(dict(arguments)):
        repeated_name = next(name for name, count in Counter(name for name, _ in arguments).items() if count > 1)
        return Diagnostic("prose", f"a quote of a result has `{repeated_name}` twice", span, excerpt)
    run, choice = (str(values_by_name.pop(word, "")) for word in (RUN, CHOICE))
    group = str(values_by_name.pop(GROUP, "")) if has_groups else ""
    is_of_series = any(series.name == call[1] for series in checked.package.series)
    statistic, unit = (str(values_by_name.pop(word, "")) if is_of_series else "" for word in (STATISTIC, UNIT))
    prints = "" if is_of_series else str(values_by_name.pop(PRINTS, ""))
    if prints in OF_SEVERAL or (prints and any(word in values_by_name for word in OF_CELLS)):
        return _create_quote_of_cells(call[1], dict(arguments), span, excerpt, has_groups=has_groups)
    is_constant = not is_of_series and is_constant_name(checked, call[1])
    return Quote(
        call[1], tuple(values_by_name.items()), decimals, span, excerpt, run, choice, statistic, unit, group, prints,
        is_constant=is_constant,
    )  # fmt: skip


def _create_quote_of_cells(
    metric: str, arguments: dict[str, Value], span: Span, excerpt: str, *, has_groups: bool
) -> Quote:
    """Return a quote as observations have them; its `case` is a group of runs, where there are any."""
    cases = str(arguments.get("case", ""))
    group = cases if has_groups and "," not in cases else ""
    quote = Quote(metric, (), None, span, excerpt, prints=str(arguments[PRINTS]), group=group)
    return replace(quote, of_cells=tuple(arguments.items()))


def is_constant_name(checked: CheckedPackage, name: str) -> bool:
    """Return whether a name in a quote is that of a constant of runs; a metric of this name goes first."""
    return name in list_constants(checked) and not any(item.id == name for item in checked.package.metrics)


def list_constants(checked: CheckedPackage) -> dict[str, Constant]:
    """Return the constants of runs by name."""
    return {item.name: item for source in checked.package.sources for item in source.constants}


def parse_arguments(text: str) -> list[tuple[str, Value]] | None:
    """Return the names of a quote with their values, in order; None if one cannot be parsed."""
    arguments: list[tuple[str, Value]] = []
    position = 0
    while text[position:].strip():
        match = _ARGUMENT.match(text, position)
        if not match:
            return None
        value = int(match[3]) if match[2] is None else re.sub(r'\\(["\\])', r"\1", match[2][1:-1])
        arguments.append((match[1], value))
        position = match.end()
    return arguments


def _find_problems_of_cell(quote: Quote, scope: ProseScope) -> Iterator[Diagnostic]:
    """Yield what is wrong with a quote of the row of a metric in a table."""
    span, excerpt, subject = quote.span, quote.excerpt, f"prose quotes `{quote.metric}`"
    kinds = (*PRINTED, *OF_SEVERAL)
    if quote.prints not in kinds:
        message, hint = f"{subject} with an unknown cell `{quote.prints}`", suggest_names(quote.prints, kinds)
        yield Diagnostic("prose", message, span, excerpt, expected=", ".join(kinds), hint=hint)
    elif quote.of_cells:
        return  # its tables decide
    elif quote.metric not in scope.compared:
        message, hint = f"{subject}, of which no table of the report has averages", "show it in a section of the report"
        yield Diagnostic("quote", message, span, excerpt, expected=", ".join(scope.compared) or "none", hint=hint)
    elif quote.where or quote.choice or quote.decimals is not None:
        message = f"{subject} by a cell of a table and a row of its grain"
        names = [suggest_names(name, OF_CELLS) for name, _ in quote.where]
        hint = next(filter(None, names), f"leave out `{PRINTS}`, or all else")
        yield Diagnostic("quote", message, span, excerpt, expected=f"{PRINTS} and {RUN}", hint=hint)


def _find_problems(quote: Quote, scope: ProseScope) -> Iterator[Diagnostic]:
    span, excerpt, checked, choices = quote.span, quote.excerpt, scope.checked, scope.choices
    metrics = {metric.id: metric for metric in checked.package.metrics}
    if quote.is_constant:
        if quote.where or quote.choice or quote.decimals is not None or quote.prints:
            message = f"prose quotes constant `{quote.metric}` by more than its run"
            yield Diagnostic("quote", message, span, excerpt, expected=RUN, hint="leave out all else")
        return
    series = next((series for series in checked.package.series if series.name == quote.metric), None)
    if quote.decimals is not None and quote.decimals not in range(MOST_DECIMALS + 1):
        message = f"prose quotes `{quote.metric}` with an invalid number of decimals"
        expected = f"0 to {MOST_DECIMALS}"
        yield Diagnostic("prose", message, span, excerpt, expected=expected, found=str(quote.decimals))
    if series:
        yield from _find_series_problems(quote, series, checked, choices)
        return
    if quote.metric not in metrics:
        names = (*metrics, *(item.name for item in checked.package.series), *list_constants(checked))
        hint = suggest_names(quote.metric, names)
        yield Diagnostic(
            "unknown-metric",
            f"prose quotes `{quote.metric}`, which is no metric, series or constant",
            span,
            excerpt,
            hint=hint,
        )
        return
    if quote.prints:
        yield from _find_problems_of_cell(quote, scope)
        return
    if not metrics[quote.metric].grain:
        message = f"prose quotes `{quote.metric}`, a formula over metrics of several grains, which has no rows"
        yield Diagnostic("quote", message, span, excerpt, hint="show it in a section of a report")
        return
    yield from _find_row_problems(quote, metrics[quote.metric], checked, choices)


def _find_row_problems(
    quote: Quote, metric: Metric, checked: CheckedPackage, choices: Sequence[Choice]
) -> Iterator[Diagnostic]:
    """Yield what is wrong with the row of a quote."""
    span, excerpt = quote.span, quote.excerpt
    columns = {column.name: column.type for column in find_metric_grain(checked, metric).columns}
    for name, value in quote.where:
        if name not in columns:
            message = f"prose quotes `{quote.metric}` by an unknown column `{name}`"
            yield Diagnostic("unknown-column", message, span, excerpt, hint=suggest_names(name, columns))
        elif isinstance(value, str) != (columns[name] == TEXT):
            message = f"prose quotes `{quote.metric}` by a value that column `{name}` never has"
            actual = "a text" if isinstance(value, str) else "a number"
            yield Diagnostic("type", message, span, excerpt, expected=columns[name], found=actual)
    column_names = (
        *(name for name, _ in quote.where),
        *(find_metric_grain(checked, metric).key if quote.choice else ()),
    )
    if quote.metric in column_names:
        message = f"prose quotes metric `{quote.metric}` by a column of the same name: names in a row must be unique"
        yield Diagnostic("metric-name", message, span, excerpt, hint="rename one of them")
    grains_by_choice = {choice.name: choice.grain for choice in choices}
    if quote.choice and quote.choice not in grains_by_choice:
        message = f"prose quotes `{quote.metric}` of an unknown choice `{quote.choice}`"
        yield Diagnostic("unknown-choice", message, span, excerpt, hint=suggest_names(quote.choice, grains_by_choice))
    elif quote.choice and grains_by_choice[quote.choice] != metric.grain:
        message = f"prose quotes `{quote.metric}` of choice `{quote.choice}`, which chooses rows of another grain"
        yield Diagnostic(
            "other-grain",
            message,
            span,
            excerpt,
            expected=metric.grain,
            found=grains_by_choice[quote.choice],
        )


def _find_series_problems(
    quote: Quote, series: Series, checked: CheckedPackage, choices: Sequence[Choice]
) -> Iterator[Diagnostic]:
    """Yield the problems of a quote of a series."""
    span, excerpt, subject = quote.span, quote.excerpt, f"prose quotes series `{quote.metric}`"
    statistic = parse_statistic(quote.statistic)
    if statistic is None:
        message = f"{subject} {'by an unknown statistic' if quote.statistic else 'without a statistic'}"
        hint = suggest_names(quote.statistic, STATISTICS)
        yield Diagnostic("prose", message, span, excerpt, expected=EXPECTED, found=quote.statistic, hint=hint)
    for name, value in quote.where:
        if name not in series.by:
            hint = suggest_names(name, series.by)
            yield Diagnostic("unknown-column", f"{subject} by an unknown label `{name}`", span, excerpt, hint=hint)
        elif not isinstance(value, str):
            message = f"{subject} by a value that label `{name}` never has"
            yield Diagnostic("type", message, span, excerpt, expected="a text", found="a number")
    choice = next((choice for choice in choices if choice.name == quote.choice), None)
    if quote.choice and not choice:
        hint = suggest_names(quote.choice, [choice.name for choice in choices])
        message = f"{subject} of an unknown choice `{quote.choice}`"
        yield Diagnostic("unknown-choice", message, span, excerpt, hint=hint)
    elif choice and not (choice.begin and choice.end):
        message = f"{subject} of choice `{quote.choice}`, which has no `begin` and `end`"
        yield Diagnostic("prose", message, span, excerpt, hint="name the columns with its first and last instant")
    if statistic and statistic.is_share and quote.unit:
        yield Diagnostic("prose", f"{subject} by a share in another unit than percent", span, excerpt, found=quote.unit)
    elif quote.unit:
        try:
            compute_unit_factor(checked, series, quote.unit)
        except (UnitError, UnknownUnitError):
            message = f"{subject} in a unit that it does not convert to"
            yield Diagnostic("unit", message, span, excerpt, expected=series.unit.name, found=quote.unit)


def find_metric_grain(checked: CheckedPackage, metric: Metric) -> Grain:
    """Return the grain of a metric."""
    return next(grain for grain in checked.package.grains if grain.name == metric.grain)
