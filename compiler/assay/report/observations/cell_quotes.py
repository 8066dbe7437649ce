"""Quote printed changes in prose: `{{ CentiCpu(run = "10.6", prints = "percent", text = "3 %") }}`.

A quote prints the size of a change without its sign, since the words around it say the direction. Over several
metrics, runs or reports it prints a range, from the smallest to the largest. `text` is what it printed when it was
written; a check compares it with what the cells print now.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from assay.report.cell_links import AVERAGE, CHANGE, DIFFERENCE, PERCENT, ROW
from assay.report.observations.printed_changes import Changes, Place, PrintedCell, PrintedChange, select_rows
from assay.report.prose import (
    BASE,
    CALL,
    GREATEST,
    GREATEST_CHANGE,
    LEAST,
    NOT_WORSE,
    OF_SEVERAL,
    QUIET,
    UNDECIDED,
    parse_arguments,
)
from assay.report.prose_markup import SourcePhrase, parse_markup
from assay.report.rendered_prose import RenderedProse, render_prose_text
from assay.util.diagnostics import Diagnostic, Span, format_excerpt, suggest_names

#: quotes that print nothing: they state that the rules say nothing of their metrics, and that each is the same if it is
#: judged; that each cannot tell; that no verdict is worse
_UNPRINTED = (QUIET, UNDECIDED, NOT_WORSE)
PRINTS = (PERCENT, DIFFERENCE, AVERAGE, BASE, *OF_SEVERAL)
#: kinds that print a size without its sign
_UNSIGNED = (PERCENT, DIFFERENCE, CHANGE, GREATEST_CHANGE)
EXPECTED = '{{ METRIC(run = "RUN", prints = "percent", text = "3 %") }}'
_ALSO, _RUN, _CASE, _BELOW, _ABOVE = "also", "run", "case", "below", "above"
_PRINTS, _TEXT = "prints", "text"
CELL_ARGUMENTS = (_ALSO, _RUN, _CASE, _BELOW, _ABOVE, _PRINTS, _TEXT)
_SEPARATOR = ", "
RANGE = " – "
OTHER_QUOTE = "…"


@dataclass(frozen=True, slots=True)
class CellQuote:
    """Printed changes of `metrics` in `runs` of the reports `cases` (empty: all), of which a text prints the range.

    `text` is the text that was printed when the quote was written; empty: anything. With `below` or `above`, only rows
    with such values are printed.
    """

    metrics: tuple[str, ...]
    runs: tuple[str, ...]
    cases: tuple[str, ...]
    prints: str
    text: str = ""
    span: Span | None = None
    excerpt: str = ""
    below: str = ""
    above: str = ""

    @property
    def source(self) -> str:
        """The quote as it is written in prose."""
        metric, *others = self.metrics
        values = (_SEPARATOR.join(others), _SEPARATOR.join(self.runs), _SEPARATOR.join(self.cases))
        arguments = zip(CELL_ARGUMENTS, (*values, self.below, self.above, self.prints, self.text), strict=True)
        return f"{{{{ {metric}({', '.join(f'{name} = {_quote(value)}' for name, value in arguments if value)}) }}}}"

    @property
    def bounds(self) -> tuple[str, ...]:
        """The bounds of values that a sentence may say: a check compares them with the rows."""
        return tuple(filter(None, (self.below, self.above)))

    def covers(self, place: Place) -> bool:
        """Return whether the quote is about a place."""
        return (not self.runs or place.run in self.runs) and (not self.cases or place.case in self.cases)


def _quote(value: str) -> str:
    return '"' + re.sub(r'(["\\])', r"\\\1", value) + '"'


@dataclass(frozen=True, slots=True)
class QuotedCell:
    """A cell behind a quote, with its change and the text that is printed: its number without sign, with its unit."""

    change: PrintedChange
    cell: PrintedCell
    text: str
    unit: str = ""

    @property
    def size(self) -> Decimal:
        """The amount of the number; 0 without one."""
        return abs(self.cell.number or Decimal(0))


def find_cells(quote: CellQuote, changes: Changes) -> tuple[QuotedCell, ...]:
    """Return the cells that a quote is about, in the order of places; none for a quote that prints nothing."""
    quoted = []
    for place in changes if quote.prints not in _UNPRINTED else ():
        for metric in quote.metrics if quote.covers(place) else ():
            change = changes[place].get(metric)
            if change:
                cells = _select_cells(quote, change)
                quoted += [_quote_cell(change, cell, quote) for cell in cells if cell.number is not None]
    ends = sorted(quoted, key=lambda item: item.size)
    if quote.prints in (GREATEST, GREATEST_CHANGE):
        return tuple(ends[-1:])
    return tuple(ends[:1] if quote.prints == LEAST else quoted)


def _select_cells(quote: CellQuote, change: PrintedChange) -> Sequence[PrintedCell]:
    if quote.prints in (ROW, LEAST, GREATEST):
        return select_rows(change, quote.below, quote.above)
    if quote.prints in (CHANGE, GREATEST_CHANGE):
        return change.row_changes or tuple(filter(None, [change.cells.get(PERCENT)]))
    return tuple(filter(None, [change.cells.get(quote.prints)]))


def _quote_cell(change: PrintedChange, cell: PrintedCell, quote: CellQuote) -> QuotedCell:
    symbol = "%" if quote.prints in (PERCENT, CHANGE, GREATEST_CHANGE) else change.symbol
    number = cell.text.strip().lstrip("+-−" if quote.prints in _UNSIGNED else "")
    return QuotedCell(change, cell, f"{number} {symbol}".rstrip(), symbol)


def find_ends(cells: Sequence[QuotedCell]) -> tuple[QuotedCell, ...]:
    """Return the cells that a quote prints: the smallest and the largest; one if they print the same."""
    sizes = [item.size for item in cells]
    if not sizes:
        return ()
    least, greatest = cells[sizes.index(min(sizes))], cells[sizes.index(max(sizes))]
    return (least,) if least.text == greatest.text else (least, greatest)


def format_cells(cells: Sequence[QuotedCell]) -> str:
    """Return what a quote prints: `3 %`, `3 % – 5 %`; empty without cells."""
    return RANGE.join(item.text for item in find_ends(cells))


@dataclass(frozen=True, slots=True)
class EditedProse:
    """The text of a file, called `name` in messages, and its quotes of cells, in order; None for another quote."""

    name: str
    text: str
    quotes: tuple[CellQuote | None, ...]

    @property
    def cell_quotes(self) -> tuple[CellQuote, ...]:
        """The quotes of cells."""
        return tuple(filter(None, self.quotes))


def render_cells(prose: EditedProse, changes: Changes) -> RenderedProse[CellQuote]:
    """Return a text with what its quotes of cells print, and a placeholder for each other quote."""
    rendered = render_prose_text(
        prose.text, prose.quotes, lambda quote: format_cells(find_cells(quote, changes)) if quote else OTHER_QUOTE
    )
    spans = tuple(tuple((a, b, quote) for a, b, quote in leaf if quote) for leaf in rendered.quote_spans)
    return RenderedProse(rendered.blocks, spans)


def parse_prose(text: str, name: str, changes: Changes, problems: list[Diagnostic]) -> EditedProse:
    """Parse prose with quotes of cells, called `name` in messages; add its problems to `problems`."""
    markup = parse_markup(text)
    lines = text.splitlines()
    quotes = []

    def get_excerpt(line: int, column: int, length: int) -> str:
        return format_excerpt(lines, line, column, length)

    for phrase in markup.list_quotes():
        quote = _parse_quote(phrase, name, get_excerpt)
        quote_problems = [quote] if isinstance(quote, Diagnostic) else list(find_problems(quote, changes))
        problems += quote_problems
        quotes += [quote] if isinstance(quote, CellQuote) and not quote_problems else []
    for item in markup.problems:
        place = item.place
        excerpt = get_excerpt(place.line, place.column, place.length)
        span = Span(name, place.line, place.column, place.length)
        problems.append(Diagnostic(item.code, item.message, span, excerpt, item.expected, item.found, item.hint))
    return EditedProse(name, text, tuple(quotes))


def _parse_quote(
    phrase: SourcePhrase, name: str, get_excerpt: Callable[[int, int, int], str]
) -> CellQuote | Diagnostic:
    place = phrase.place
    span = Span(name, place.line, place.column, place.length)
    excerpt = get_excerpt(place.line, place.column, place.length)
    call = CALL.fullmatch(phrase.words[2:-2])
    arguments = dict(parse_arguments(call[2]) or ()) if call else {}
    if not call or not arguments:
        message = "a quote of a cell cannot be read"
        return Diagnostic("prose", message, span, excerpt, expected=EXPECTED, found=phrase.words)
    return create_cell_quote(call[1], arguments, span, excerpt)


def create_cell_quote(
    metric: str, arguments: Mapping[str, str | int], span: Span, excerpt: str
) -> CellQuote | Diagnostic:
    """Return the quote of a cell with these arguments, or what is wrong with them."""
    numbers = [name for name, value in arguments.items() if not isinstance(value, str)]
    if numbers:
        message = f"`{numbers[0]}` of a quote of a cell is no text"
        return Diagnostic("prose", message, span, excerpt, expected=EXPECTED, found=str(arguments[numbers[0]]))
    for argument in arguments:
        if argument not in CELL_ARGUMENTS:
            message, hint = f"a quote has an unknown argument `{argument}`", suggest_names(argument, CELL_ARGUMENTS)
            return Diagnostic("prose", message, span, excerpt, expected=EXPECTED, hint=hint)
    also, runs, cases = (_split(str(arguments.get(item, ""))) for item in (_ALSO, _RUN, _CASE))
    prints, text, below, above = (str(arguments.get(item, "")) for item in (_PRINTS, _TEXT, _BELOW, _ABOVE))
    for bound in filter(None, (below, above)):
        if parse_number(bound) is None:
            message = "the bound of a quote is no number"
            return Diagnostic("prose", message, span, excerpt, expected="a decimal number", found=bound)
    return CellQuote((metric, *also), runs, cases, prints, " ".join(text.split()), span, excerpt, below, above)


def parse_number(text: str) -> Decimal | None:
    """Return the number that an author wrote; None for a text that is no number."""
    try:
        number = Decimal(text.replace("−", "-").strip())
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _split(text: str) -> tuple[str, ...]:
    return tuple(filter(None, (item.strip() for item in text.split(","))))


def find_problems(quote: CellQuote, changes: Changes) -> Iterator[Diagnostic]:
    """Yield what a quote names and the tables do not have."""
    metrics = dict.fromkeys(metric for items in changes.values() for metric in items)
    for kind, names, tables in (
        ("metric", quote.metrics, metrics),
        ("run", quote.runs, dict.fromkeys(place.run for place in changes)),
        ("report", quote.cases, dict.fromkeys(place.case for place in changes)),
    ):
        for name in names:
            if name not in tables:
                message = f"prose quotes `{name}`, which is no {kind} of the tables"
                hint = suggest_names(name, tables)
                yield Diagnostic(f"unknown-{kind}", message, quote.span, quote.excerpt, hint=hint)
                return
    if quote.prints not in PRINTS:
        message, expected = f"prose quotes an unknown kind of cell `{quote.prints}`", ", ".join(PRINTS)
        hint = suggest_names(quote.prints, PRINTS)
        yield Diagnostic("prose", message, quote.span, quote.excerpt, expected=expected, hint=hint)
    elif quote.prints not in _UNPRINTED and not find_cells(quote, changes):
        message = f"prose quotes a cell of `{quote.metrics[0]}` that prints no number"
        yield Diagnostic("prose", message, quote.span, quote.excerpt)
