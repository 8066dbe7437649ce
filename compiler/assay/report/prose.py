"""Read prose that quotes results: paragraphs with `{{ METRIC(...) }}` placeholders.

Prose consists of paragraphs. A heading, a list item or a table row would be joined with the lines around it and printed
as plain text, so they are rejected.

A quote prints the value of a metric, with its unit, on the one row of its grain whose columns have the given values.
`decimals` is the number of decimals (rounded half to even); without it, the value is written as in tables. `run` names
the run (default: the last one), `choice` a choice of the article, whose row is used. All other text is plain;
`check_markup` rejects text that looks like Markdown.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.lang.checked_package import CheckedPackage
from assay.lang.model.article import Choice
from assay.lang.model.package import Grain, Metric
from assay.util.diagnostics import Diagnostic, Span, read_excerpt, suggest_names

_ITEM = "a list", "write a sentence, or a paragraph for each item"
_HEADING = "a heading", "use the `title` of the part as heading, or add a part"
_TABLE = "a table", "add `listings`, `pivots` or `facts` to the part"
_CODE = "code", "write plain text: prose has no code"
_RULE = "a rule", "separate paragraphs by an empty line"
_ANYWHERE = (
    (re.compile(r" {0,3}#{1,6}[ \t]+\S"), _HEADING),
    (re.compile(r" {0,3}(?:={3,}|-{3,}|\*{3,}|_{3,})[ \t]*$"), _RULE),
    (re.compile(r"[ \t]*(?:[-*+]|1[.)])[ \t]+\S"), _ITEM),
    (re.compile(r"[ \t]*\|.*\||[ \t]*:?-{3,}:?[ \t]*\|"), _TABLE),
    (re.compile(r" {0,3}(?:```|~~~)"), _CODE),
)
#: checked in the first line of a paragraph only: line breaks may move any number to the start of other lines
_AT_FIRST = (re.compile(r"[ \t]*\d{1,9}[.)][ \t]+\S"), _ITEM)


def check_markup(text: str, path: Path, name: str) -> Iterator[Diagnostic]:
    """Yield the problems of a text whose complete quotes are masked: for each kind, the first place.

    `name` is the name of the file in messages.
    """
    reported_kinds: set[str] = set()
    previous_line = ""
    for number, line in enumerate(text.split("\n"), start=1):
        for pattern, (kind, hint) in (*_ANYWHERE, *(() if previous_line.strip() else (_AT_FIRST,))):
            if pattern.match(line) and kind not in reported_kinds:
                reported_kinds.add(kind)
                column = len(line) - len(line.lstrip()) + 1
                yield Diagnostic(
                    "prose-markdown",
                    f"prose is plain text, but this line begins {kind} in Markdown",
                    Span(name, number, column, 1),
                    read_excerpt(path, number, column),
                    hint=hint,
                )
                break
        if "{{" in line and "{{" not in reported_kinds:
            reported_kinds.add("{{")
            column = line.index("{{") + 1
            yield Diagnostic(
                "prose",
                "a quote of a result has no end",
                Span(name, number, column, 2),
                read_excerpt(path, number, column, 2),
                expected="}} behind it",
            )
        previous_line = line


_QUOTE = re.compile(r"\{\{((?:(?!\{\{|\}\}).)*)\}\}", re.S)
_TEXT = r'"(?:[^"\\]|\\.)*"'
_CALL = re.compile(rf'\s*([\w.-]+)\s*\(((?:[^()"]|{_TEXT})*)\)\s*', re.S)
_ARGUMENT = re.compile(rf"\s*(\w+)\s*=\s*(?:({_TEXT})|(-?[0-9]{{1,18}}))\s*(?:,(?=.)|$)", re.S)
DECIMALS, RUN, CHOICE = "decimals", "run", "choice"
MOST_DECIMALS = 15  # a double has no more significant digits
TEXT = "text"

Value = str | int


@dataclass(frozen=True, slots=True)
class Quote:
    """A result that a text quotes: the metric, the column values of its row, decimals (None: as in tables).

    `run` and `choice` are names; empty: the last run, no choice.
    """

    metric: str
    where: tuple[tuple[str, Value], ...]
    decimals: int | None
    span: Span
    excerpt: str = ""
    run: str = ""
    choice: str = ""


@dataclass(frozen=True, slots=True)
class Prose:
    """The text of a file, and the quotes in it, in order."""

    path: Path
    text: str
    quotes: tuple[Quote, ...]

    def render_paragraphs(self, render_quote: Callable[[Quote], str | None]) -> tuple[Paragraph, ...]:
        """Return the paragraphs with joined lines and rendered quotes, without those with a quote that has no text."""
        quotes = iter(self.quotes)
        paragraphs = []
        for part in re.split(r"\n\s*\n", self.text):
            quotes_and_texts = [
                (quote, render_quote(quote)) for _, quote in zip(_QUOTE.finditer(part), quotes, strict=False)
            ]
            answers = [(quote, text) for quote, text in quotes_and_texts if text is not None]
            if part.strip() and len(answers) == len(quotes_and_texts):
                paragraphs.append(_build_paragraph(part, answers))
        return tuple(paragraphs)


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph as it is shown: its text, and the range of characters of each quote in it."""

    text: str
    quote_spans: tuple[tuple[int, int, Quote], ...]


def _build_paragraph(text: str, answers: Sequence[tuple[Quote, str]]) -> Paragraph:
    """Return a paragraph in one line, with each quote replaced by its answer."""
    rendered_text, copied_length, quote_spans = "", 0, []
    for match, (quote, answer) in zip(_QUOTE.finditer(text), answers, strict=True):
        rendered_text += text[copied_length : match.start()]
        begin = len(_join_words(f"{rendered_text}.")) - 1
        quote_spans.append((begin, begin + len(_join_words(answer)), quote))
        rendered_text += _join_words(answer)
        copied_length = match.end()
    return Paragraph(_join_words(rendered_text + text[copied_length:]), tuple(quote_spans))


def _join_words(text: str) -> str:
    return " ".join(text.split())


def read_prose_file(
    path: Path, name: str, checked: CheckedPackage, choices: Sequence[Choice], problems: list[Diagnostic]
) -> Prose:
    """Read a file of prose, called `name` in messages; add its problems to `problems`."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        problems.append(Diagnostic("prose", f"the prose cannot be read: {error}", Span(name)))
        return Prose(path, "", ())
    quotes = []
    for match in _QUOTE.finditer(text):
        quote = _parse_quote(match, text, name, path)
        quote_problems = list(_find_problems(quote, checked, choices)) if isinstance(quote, Quote) else [quote]
        problems += quote_problems
        if isinstance(quote, Quote) and not quote_problems:
            quotes.append(quote)
    problems += check_markup(_QUOTE.sub(_mask_quote, text), path, name)
    return Prose(path, text, tuple(quotes))


def list_quotes(text: str) -> tuple[tuple[str, str], ...]:
    """Return the metric and the text of each quote, in order, in one line; an empty metric if it cannot be parsed."""
    quotes = []
    for quote in _QUOTE.finditer(text):
        call = _CALL.fullmatch(quote[1])
        quotes.append((call[1] if call else "", _join_words(quote.group())))
    return tuple(quotes)


def mark_quotes(text: str) -> str:
    """Return a text with a mark in place of each quote."""
    return _QUOTE.sub("{{ … }}", text)


def split_paragraphs(text: str) -> tuple[str, ...]:
    """Return the paragraphs of a text, each in one line."""
    return tuple(_join_words(part) for part in re.split(r"\n\s*\n", text) if part.strip())


def _mask_quote(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", "_", match[0])


def _parse_quote(match: re.Match[str], text: str, name: str, path: Path) -> Quote | Diagnostic:
    line = text.count("\n", 0, match.start()) + 1
    span = Span(name, line, match.start() - text.rfind("\n", 0, match.start()), len(match.group()))
    call = _CALL.fullmatch(match[1])
    arguments = _parse_arguments(call[2]) if call else None
    values_by_name = dict(arguments or ())
    decimals = values_by_name.pop(DECIMALS, None)
    if not call or arguments is None or isinstance(decimals, str):
        return Diagnostic(
            "prose",
            "a quote of a result cannot be read",
            span,
            expected='{{ METRIC(COLUMN = "text" or number, ..., decimals = number) }}',
            found=match.group(),
        )
    excerpt = read_excerpt(path, span.line, span.column, span.length)
    if len(arguments) > len(dict(arguments)):
        repeated_name = next(name for name, count in Counter(name for name, _ in arguments).items() if count > 1)
        return Diagnostic("prose", f"a quote of a result has `{repeated_name}` twice", span, excerpt)
    run, choice = (str(values_by_name.pop(word, "")) for word in (RUN, CHOICE))
    return Quote(call[1], tuple(values_by_name.items()), decimals, span, excerpt, run, choice)


def _parse_arguments(text: str) -> list[tuple[str, Value]] | None:
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


def _find_problems(quote: Quote, checked: CheckedPackage, choices: Sequence[Choice]) -> Iterator[Diagnostic]:
    span, excerpt = quote.span, quote.excerpt
    metrics = {metric.id: metric for metric in checked.package.metrics}
    if quote.metric not in metrics:
        hint = suggest_names(quote.metric, metrics)
        yield Diagnostic("unknown-metric", f"prose quotes an unknown metric `{quote.metric}`", span, excerpt, hint=hint)
        return
    if not metrics[quote.metric].grain:
        message = f"prose quotes `{quote.metric}`, a formula over metrics of several grains, which has no rows"
        yield Diagnostic("quote", message, span, excerpt, hint="show it in a section of a report")
        return
    columns = {column.name: column.type for column in find_metric_grain(checked, metrics[quote.metric]).columns}
    for name, value in quote.where:
        if name not in columns:
            message = f"prose quotes `{quote.metric}` by an unknown column `{name}`"
            yield Diagnostic("unknown-column", message, span, excerpt, hint=suggest_names(name, columns))
        elif isinstance(value, str) != (columns[name] == TEXT):
            message = f"prose quotes `{quote.metric}` by a value that column `{name}` never has"
            actual = "a text" if isinstance(value, str) else "a number"
            yield Diagnostic("type", message, span, excerpt, expected=columns[name], found=actual)
    if quote.decimals is not None and quote.decimals not in range(MOST_DECIMALS + 1):
        message = f"prose quotes `{quote.metric}` with an invalid number of decimals"
        expected = f"0 to {MOST_DECIMALS}"
        yield Diagnostic("prose", message, span, excerpt, expected=expected, found=str(quote.decimals))
    column_names = (
        *(name for name, _ in quote.where),
        *(find_metric_grain(checked, metrics[quote.metric]).key if quote.choice else ()),
    )
    if quote.metric in column_names:
        message = f"prose quotes metric `{quote.metric}` by a column of the same name: names in a row must be unique"
        yield Diagnostic("metric-name", message, span, excerpt, hint="rename one of them")
    grains_by_choice = {choice.name: choice.grain for choice in choices}
    if quote.choice and quote.choice not in grains_by_choice:
        message = f"prose quotes `{quote.metric}` of an unknown choice `{quote.choice}`"
        yield Diagnostic("unknown-choice", message, span, excerpt, hint=suggest_names(quote.choice, grains_by_choice))
    elif quote.choice and grains_by_choice[quote.choice] != metrics[quote.metric].grain:
        message = f"prose quotes `{quote.metric}` of choice `{quote.choice}`, which chooses rows of another grain"
        yield Diagnostic(
            "other-grain",
            message,
            span,
            excerpt,
            expected=metrics[quote.metric].grain,
            found=grains_by_choice[quote.choice],
        )


def find_metric_grain(checked: CheckedPackage, metric: Metric) -> Grain:
    """Return the grain of a metric."""
    return next(grain for grain in checked.package.grains if grain.name == metric.grain)
