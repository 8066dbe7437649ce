"""Prose that quotes results: paragraphs with `{{ METRIC(...) }}` placeholders, and their markup.

Prose is paragraphs.  A heading, an item, a row of a table would be printed as it stands, run together with the lines
around it, so they are refused.

A quote is the metric's value on the one row of its grain whose columns have these values, with its unit; `decimals`
says how it is rounded (half to even), without it the value is written as tables write it.  `run` names the run (else it
is the last one), `choice` a choice of the article, whose row is meant.  All else is plain text: `prose_marks` refuses
what looks like more.
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
from assay.util.diagnostics import Diagnostic, Span, did_you_mean, excerpt_at

_ITEM = "a list", "write a sentence, or a paragraph for each item"
_HEADING = "a heading", "the `title` of the part is its heading; another part has another"
_TABLE = "a table", "`listings`, `pivots` and `facts` of the part are its tables"
_CODE = "code", "nothing is printed as code"
_RULE = "a rule", "an empty line is enough between paragraphs"
_ANYWHERE = (
    (re.compile(r" {0,3}#{1,6}[ \t]+\S"), _HEADING),
    (re.compile(r" {0,3}(?:={3,}|-{3,}|\*{3,}|_{3,})[ \t]*$"), _RULE),
    (re.compile(r"[ \t]*(?:[-*+]|1[.)])[ \t]+\S"), _ITEM),
    (re.compile(r"[ \t]*\|.*\||[ \t]*:?-{3,}:?[ \t]*\|"), _TABLE),
    (re.compile(r" {0,3}(?:```|~~~)"), _CODE),
)
#: a number may come to stand at the beginning of any line but the first of a paragraph
_AT_FIRST = (re.compile(r"[ \t]*\d{1,9}[.)][ \t]+\S"), _ITEM)


def check_markup(text: str, path: Path, name: str) -> Iterator[Diagnostic]:
    """What is wrong with a text in which quotes that have an end are blotted out; of each kind the first place.

    `name` is what messages call the file.
    """
    told: set[str] = set()
    before = ""
    for number, line in enumerate(text.split("\n"), start=1):
        for pattern, (what, hint) in (*_ANYWHERE, *(() if before.strip() else (_AT_FIRST,))):
            if pattern.match(line) and what not in told:
                told.add(what)
                column = len(line) - len(line.lstrip()) + 1
                yield Diagnostic(
                    "prose-markdown",
                    f"prose is plain text, and this line begins {what}, as Markdown has it",
                    Span(name, number, column, 1),
                    excerpt_at(path, number, column),
                    hint=hint,
                )
                break
        if "{{" in line and "{{" not in told:
            told.add("{{")
            column = line.index("{{") + 1
            yield Diagnostic(
                "prose",
                "a quote of a result has no end",
                Span(name, number, column, 2),
                excerpt_at(path, number, column, 2),
                expected="}} behind it",
            )
        before = line


_QUOTE = re.compile(r"\{\{((?:(?!\{\{|\}\}).)*)\}\}", re.S)
_TEXT = r'"(?:[^"\\]|\\.)*"'
_CALL = re.compile(rf'\s*([\w.-]+)\s*\(((?:[^()"]|{_TEXT})*)\)\s*', re.S)
_ARGUMENT = re.compile(rf"\s*(\w+)\s*=\s*(?:({_TEXT})|(-?[0-9]{{1,18}}))\s*(?:,(?=.)|$)", re.S)
DECIMALS, RUN, CHOICE = "decimals", "run", "choice"
MOST_DECIMALS = 15  # a double has no more digits that mean something
TEXT = "text"

Value = str | int


@dataclass(frozen=True, slots=True)
class Quote:
    """A result that a text asks for: the metric, values of columns of its grain, decimals (None: as in tables), the
    name of a run and of a choice (empty: the last run, none)."""

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

    def paragraphs(self, said: Callable[[Quote], str | None]) -> tuple[Paragraph, ...]:
        """The paragraphs, lines joined, every quote replaced by what is said for it; without those of which a quote
        says nothing."""
        quotes = iter(self.quotes)
        found = []
        for part in re.split(r"\n\s*\n", self.text):
            given = [(quote, said(quote)) for _, quote in zip(_QUOTE.finditer(part), quotes, strict=False)]
            answers = [(quote, text) for quote, text in given if text is not None]
            if part.strip() and len(answers) == len(given):
                found.append(_paragraph(part, answers))
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph as it is shown: its text, and the places in it where each quote begins and ends."""

    text: str
    quoted: tuple[tuple[int, int, Quote], ...]


def _paragraph(text: str, answers: Sequence[tuple[Quote, str]]) -> Paragraph:
    """A paragraph in one line, with the answers in the places of its quotes."""
    made, done, quoted = "", 0, []
    for found, (quote, answer) in zip(_QUOTE.finditer(text), answers, strict=True):
        made += text[done : found.start()]
        begin = len(_joined(f"{made}.")) - 1
        quoted.append((begin, begin + len(_joined(answer)), quote))
        made += _joined(answer)
        done = found.end()
    return Paragraph(_joined(made + text[done:]), tuple(quoted))


def _joined(text: str) -> str:
    return " ".join(text.split())


def read(
    path: Path, name: str, checked: CheckedPackage, choices: Sequence[Choice], problems: list[Diagnostic]
) -> Prose:
    """The prose of a file, which messages call `name`, and which may refer to choices; what is wrong with it is added
    to the problems."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        problems.append(Diagnostic("prose", f"the prose cannot be read: {error}", Span(name)))
        return Prose(path, "", ())
    quotes = []
    for found in _QUOTE.finditer(text):
        quote = _quote(found, text, name, path)
        wrong = list(_problems(quote, checked, choices)) if isinstance(quote, Quote) else [quote]
        problems += wrong
        if isinstance(quote, Quote) and not wrong:
            quotes.append(quote)
    problems += check_markup(_QUOTE.sub(_blotted, text), path, name)
    return Prose(path, text, tuple(quotes))


def quotes_in(text: str) -> tuple[tuple[str, str], ...]:
    """The metric and the words of each quote in a text, in order, in one line; no metric where it cannot be read."""
    found = []
    for quote in _QUOTE.finditer(text):
        call = _CALL.fullmatch(quote[1])
        found.append((call[1] if call else "", _joined(quote.group())))
    return tuple(found)


def without_quotes(text: str) -> str:
    """A text with a mark in the place of each quote."""
    return _QUOTE.sub("{{ … }}", text)


def paragraphs_of(text: str) -> tuple[str, ...]:
    """The paragraphs of a text, each in one line."""
    return tuple(_joined(part) for part in re.split(r"\n\s*\n", text) if part.strip())


def _blotted(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", "_", found[0])


def _quote(found: re.Match[str], text: str, name: str, path: Path) -> Quote | Diagnostic:
    line = text.count("\n", 0, found.start()) + 1
    span = Span(name, line, found.start() - text.rfind("\n", 0, found.start()), len(found.group()))
    call = _CALL.fullmatch(found[1])
    arguments = _arguments(call[2]) if call else None
    given = dict(arguments or ())
    decimals = given.pop(DECIMALS, None)
    if not call or arguments is None or isinstance(decimals, str):
        return Diagnostic(
            "prose",
            "a quote of a result cannot be read",
            span,
            expected='{{ METRIC(COLUMN = "text" or number, ..., decimals = number) }}',
            found=found.group(),
        )
    excerpt = excerpt_at(path, span.line, span.column, span.length)
    if len(arguments) > len(dict(arguments)):
        twice = next(name for name, count in Counter(name for name, _ in arguments).items() if count > 1)
        return Diagnostic("prose", f"a quote of a result says `{twice}` twice", span, excerpt)
    run, choice = (str(given.pop(word, "")) for word in (RUN, CHOICE))
    return Quote(call[1], tuple(given.items()), decimals, span, excerpt, run, choice)


def _arguments(text: str) -> list[tuple[str, Value]] | None:
    """The names of a quote with their values, in order; None where one cannot be read."""
    found: list[tuple[str, Value]] = []
    at = 0
    while text[at:].strip():
        part = _ARGUMENT.match(text, at)
        if not part:
            return None
        value = int(part[3]) if part[2] is None else re.sub(r'\\(["\\])', r"\1", part[2][1:-1])
        found.append((part[1], value))
        at = part.end()
    return found


def _problems(quote: Quote, checked: CheckedPackage, choices: Sequence[Choice]) -> Iterator[Diagnostic]:
    span, excerpt = quote.span, quote.excerpt
    metrics = {metric.id: metric for metric in checked.package.metrics}
    if quote.metric not in metrics:
        hint = did_you_mean(quote.metric, metrics)
        yield Diagnostic("unknown-metric", f"prose quotes an unknown metric `{quote.metric}`", span, excerpt, hint=hint)
        return
    if not metrics[quote.metric].grain:
        message = f"prose quotes `{quote.metric}`, a formula over metrics of several grains, which has no rows"
        yield Diagnostic("quote", message, span, excerpt, hint="a report's section can show it")
        return
    columns = {column.name: column.type for column in grain_of(checked, metrics[quote.metric]).columns}
    for name, value in quote.where:
        if name not in columns:
            message = f"prose quotes `{quote.metric}` by an unknown column `{name}`"
            yield Diagnostic("unknown-column", message, span, excerpt, hint=did_you_mean(name, columns))
        elif isinstance(value, str) != (columns[name] == TEXT):
            message = f"prose quotes `{quote.metric}` by a value that column `{name}` never has"
            found = "a text" if isinstance(value, str) else "a number"
            yield Diagnostic("type", message, span, excerpt, expected=columns[name], found=found)
    if quote.decimals is not None and quote.decimals not in range(MOST_DECIMALS + 1):
        message = f"prose quotes `{quote.metric}` with a number of decimals that it cannot be printed with"
        expected = f"0 to {MOST_DECIMALS}"
        yield Diagnostic("prose", message, span, excerpt, expected=expected, found=str(quote.decimals))
    told = (*(name for name, _ in quote.where), *(grain_of(checked, metrics[quote.metric]).key if quote.choice else ()))
    if quote.metric in told:
        message = f"prose quotes metric `{quote.metric}` by a column of that name: rows hold what they have by name"
        yield Diagnostic("metric-name", message, span, excerpt, hint="rename one of them")
    known = {choice.name: choice.grain for choice in choices}
    if quote.choice and quote.choice not in known:
        message = f"prose quotes `{quote.metric}` of an unknown choice `{quote.choice}`"
        yield Diagnostic("unknown-choice", message, span, excerpt, hint=did_you_mean(quote.choice, known))
    elif quote.choice and known[quote.choice] != metrics[quote.metric].grain:
        message = f"prose quotes `{quote.metric}` of choice `{quote.choice}`, which is of rows of another grain"
        yield Diagnostic(
            "other-grain", message, span, excerpt, expected=metrics[quote.metric].grain, found=known[quote.choice]
        )


def grain_of(checked: CheckedPackage, metric: Metric) -> Grain:
    """The grain of a metric."""
    return next(grain for grain in checked.package.grains if grain.name == metric.grain)
