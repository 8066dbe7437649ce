"""Check whether edited sentences still agree with the cells that they quote, in direction and size."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from assay.judgement.verdict import Verdict
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.observation import ObservationRules
from assay.number_styles.unit_prefix import SHORT_SYMBOLS, list_prefixed_units
from assay.report.cell_links import AVERAGE, DIFFERENCE, PERCENT, VERDICT
from assay.report.formatted_text import list_leaves
from assay.report.observations.cell_quotes import (
    RANGE,
    CellQuote,
    EditedProse,
    QuotedCell,
    find_cells,
    find_ends,
    format_cells,
    parse_number,
    render_cells,
)
from assay.report.observations.printed_changes import Changes, Place, PrintedCell, is_on_most_rows, select_rows
from assay.report.observations.sentences import choose_size_word
from assay.report.observations.statements import draft_groups
from assay.report.prose import BASE, LAST, NOT_WORSE, QUIET, UNDECIDED, mark_quotes
from assay.report.unquoted import compile_words, list_sentences
from assay.util.diagnostics import Diagnostic

_NUMBER = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)\s?(%|[^\W\d_]+(?:/[^\W\d_]+)?)")
_WRITTEN = re.compile(r"(-?\d+(?:\.\d+)?)\s*(\S*)")
_NEAR = 1  # authors use the word of a neighbouring size for one change of three
_MOST_CELLS = 3  # of a message
DIRECTION_CODE, SIZE_CODE, QUIET_CODE, UNQUOTED_CODE = "prose-direction", "prose-size", "prose-quiet", "prose-number"


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence as it is shown, and the quotes in it, each with its position."""

    text: str
    quotes: tuple[tuple[int, int, CellQuote], ...]


def check_sentences(
    checked: CheckedPackage, rules: ObservationRules, prose: EditedProse, changes: Changes
) -> tuple[Diagnostic, ...]:
    """Return where sentences disagree with their cells: each names the sentence, the cell, and what both say."""
    checker = _SentenceChecker(rules, changes)
    problems = [problem for sentence in _list_sentences(prose, changes) for problem in checker.check_sentence(sentence)]
    problems += _check_quiet_quotes(checked, rules, prose, changes)
    return tuple(sorted(problems, key=lambda item: (item.span.line, item.span.column) if item.span else (0, 0)))


def _list_sentences(prose: EditedProse, changes: Changes) -> Iterator[_Sentence]:
    rendered = render_cells(prose, changes)
    for leaf, spans in zip(list_leaves(rendered.blocks), rendered.quote_spans, strict=True):
        for begin, end in list_sentences(leaf.text):
            quotes = tuple((a - begin, b - begin, quote) for a, b, quote in spans if begin <= a < end)
            if quotes:
                yield _Sentence(leaf.text[begin:end], quotes)


class _SentenceChecker:
    """The words of the rules, and the changes that sentences are compared with."""

    def __init__(self, rules: ObservationRules, changes: Changes) -> None:
        self.changes = changes
        self.rules = rules
        self.directions = {**dict.fromkeys(rules.up, 1), **dict.fromkeys(rules.down, -1)}
        self.sizes = [*(size.word for size in rules.sizes), *([rules.beyond] if rules.beyond else [])]

    def check_sentence(self, sentence: _Sentence) -> Iterator[Diagnostic]:
        """Yield the problems of a sentence."""
        for _, _, quote in sentence.quotes:
            yield from self._check_text(sentence, quote)
        has_base = any(quote.prints == BASE for _, _, quote in sentence.quotes)
        for begin, end, quote in sentence.quotes:
            yield from self._check_bound(sentence, quote)
            if quote.prints in (PERCENT, DIFFERENCE, LAST) or (quote.prints == AVERAGE and has_base):
                yield from self._check_direction(sentence, begin, end, quote)
        yield from self._check_size_words(sentence)
        yield from self._check_numbers(sentence)

    def _check_text(self, sentence: _Sentence, quote: CellQuote) -> Iterator[Diagnostic]:
        """Yield the cells that print something else than the quote says."""
        cells = find_cells(quote, self.changes)
        ends, texts = find_ends(cells), quote.text.split(RANGE)
        if not quote.text or _print_texts(ends, texts):
            return
        outside = [item for item in cells if not _is_within(item, texts)]
        message = f"the sentence says {quote.text}, but its cells print {format_cells(cells)}"
        yield _create_problem(SIZE_CODE, message, sentence, quote, outside or cells)

    def _check_bound(self, sentence: _Sentence, quote: CellQuote) -> Iterator[Diagnostic]:
        """Yield a problem if values are not beyond the bound of a quote on most rows, or on all if the text says so."""
        bounds = quote.below, quote.above
        changes = [item.change for item in find_cells(quote, self.changes)] if any(bounds) else []
        is_about_all = bool(compile_words([self.rules.every]).search(sentence.text))
        for change in changes[:1]:
            within, rows = select_rows(change, *bounds), change.rows
            if len(within) < len(rows) if is_about_all else not is_on_most_rows(change, *bounds):
                cells = [QuotedCell(change, cell, cell.text) for cell in rows if cell not in within]
                side = f"below {quote.below}" if quote.below else f"above {quote.above}"
                share = self.rules.every if is_about_all else self.rules.most
                message = f"the sentence says that {share} values are {side}, but {len(within)} of {len(rows)} are"
                yield _create_problem(SIZE_CODE, message, sentence, quote, cells)

    def _check_direction(self, sentence: _Sentence, begin: int, end: int, quote: CellQuote) -> Iterator[Diagnostic]:
        word = _find_word(sentence.text, begin, end, self.directions)
        direction = self.directions.get(word, 0)
        wrong = [item for item in find_cells(quote, self.changes) if _get_direction(item, quote) != direction]
        if direction and wrong:
            goes = {1: self.rules.up[0], -1: self.rules.down[0], 0: "no change"}[_get_direction(wrong[0], quote)]
            message = f"the sentence says `{word}`, but its cells print {goes}"
            yield _create_problem(DIRECTION_CODE, message, sentence, quote, wrong)

    def _check_size_words(self, sentence: _Sentence) -> Iterator[Diagnostic]:
        """Yield words for sizes that are far from those of the changes in percent before them."""
        for match in compile_words(self.sizes).finditer(sentence.text) if self.sizes else ():
            percents = [(begin, quote) for begin, _, quote in sentence.quotes if quote.prints == PERCENT]
            before = [quote for begin, quote in percents if begin < match.start()]
            quotes = before[-1:] or [quote for _, quote in percents[:1]]
            cells = [item for quote in quotes for item in find_cells(quote, self.changes)]
            wrong = [item for item in cells if self._is_far(match[0], abs(item.change.percent))]
            for quote in quotes if cells and len(wrong) == len(cells) else ():
                words = choose_size_word(self.rules, abs(wrong[0].change.percent))
                message = f"the sentence says `{match[0]}`, but the change of its cell is {words}"
                yield _create_problem(SIZE_CODE, message, sentence, quote, wrong)

    def _is_far(self, word: str, percent: Decimal) -> bool:
        places = [self.sizes.index(item) for item in (word, choose_size_word(self.rules, percent))]
        return abs(places[0] - places[1]) > _NEAR

    def _check_numbers(self, sentence: _Sentence) -> Iterator[Diagnostic]:
        """Yield written numbers, with the unit of a quoted metric, that no cell of these metrics prints."""
        metrics = {metric for _, _, quote in sentence.quotes for metric in quote.metrics}
        items = [self.changes[place][name] for place in self.changes for name in metrics if name in self.changes[place]]
        units = {"%", *(symbol for item in items for _, symbol in list_prefixed_units(item.symbol))}
        printed = {
            _scale(cell.number, "%" if kind == PERCENT else item.symbol)
            for item in items
            for kind, cell in item.cells.items()
            if cell.number is not None
        }
        bounds = {bound for _, _, quote in sentence.quotes for bound in (quote.below, quote.above) if bound}
        printed |= {_scale(Decimal(bound), item.symbol) for bound in bounds for item in items}
        names = compile_words([item.name for item in items]).finditer(sentence.text)
        covered = [*(match.span() for match in names), *((begin, end) for begin, end, _ in sentence.quotes)]
        for match in _NUMBER.finditer(sentence.text):
            is_covered = any(begin <= match.start() < end for begin, end in covered)
            if is_covered or match[2] not in units or _parse_size(match[0]) in printed:
                continue
            quote = sentence.quotes[0][2]
            message = f"the sentence says {match[0]}, which no cell of the metrics that it quotes prints"
            yield _create_problem(UNQUOTED_CODE, message, sentence, quote, find_cells(quote, self.changes))


def _check_quiet_quotes(
    checked: CheckedPackage, rules: ObservationRules, prose: EditedProse, changes: Changes
) -> Iterator[Diagnostic]:
    """Yield statements of the rules, and verdicts, on metrics of which a sentence says that they do not change."""
    stated: dict[tuple[Place, str], PrintedCell] = {}
    for group in draft_groups(checked, rules, changes):
        for statement in group.statements:
            stated |= {
                (item.place, item.metric): item.cells[PERCENT] for item in statement.changes if PERCENT in item.cells
            }
    verdicts = {
        (place, item.metric): item.cells[VERDICT]
        for place, items in changes.items()
        for item in items.values()
        if VERDICT in item.cells
    }
    words = {key: changes[key[0]][key[1]].verdict for key in verdicts}
    worse = {key: cell for key, cell in verdicts.items() if words[key] == Verdict.WORSE}
    decided = {key: cell for key, cell in verdicts.items() if words[key] != Verdict.CANNOT_TELL}
    unlike = {key: cell for key, cell in verdicts.items() if words[key] != Verdict.SAME}
    lines = prose.text.splitlines()
    for quote in prose.cell_quotes:
        wrong, message = {
            QUIET: ({**unlike, **stated}, "the sentence says that metrics do not change, but the tables print changes"),
            UNDECIDED: (decided, "the sentence says that these runs cannot tell, but the tables print others"),
            NOT_WORSE: (worse, "the sentence says that metrics are not worse, but the tables print verdicts"),
        }.get(quote.prints, ({}, ""))
        pairs = [(place, metric) for place in changes if quote.covers(place) for metric in quote.metrics]
        cells = [(pair[0], wrong[pair]) for pair in pairs if pair in wrong]
        if cells:
            line = lines[quote.span.line - 1] if quote.span else ""
            printed = "; ".join(_describe_cell(place, cell) for place, cell in cells[:_MOST_CELLS])
            sentence = mark_quotes(line).replace("{{ … }}", "").strip(" *-")
            yield Diagnostic(QUIET_CODE, message, quote.span, quote.excerpt, printed, sentence)


def _get_direction(item: QuotedCell, quote: CellQuote) -> int:
    return item.change.row_direction if quote.prints == LAST else item.change.direction


def _describe_cell(place: Place, cell: PrintedCell) -> str:
    return f"{place.case}: {cell.name} prints {cell.text}".removeprefix(": ")


def _create_problem(
    code: str, message: str, sentence: _Sentence, quote: CellQuote, cells: Sequence[QuotedCell]
) -> Diagnostic:
    printed = "; ".join(_describe_cell(item.change.place, item.cell) for item in cells[:_MOST_CELLS])
    return Diagnostic(code, message, quote.span, quote.excerpt, printed, sentence.text.strip())


def _find_word(text: str, begin: int, end: int, words: Sequence[str] | dict[str, int]) -> str:
    """Return the word closest before a place, or else the first after it; empty if there is none."""
    matches = list(compile_words(list(words)).finditer(text))
    before = [match[0] for match in matches if match.end() <= begin]
    after = [match[0] for match in matches if match.start() >= end]
    return (before[-1:] or after[:1] or [""])[0]


def _print_texts(cells: Sequence[QuotedCell], texts: Sequence[str]) -> bool:
    """Return whether cells print the numbers of texts, in whatever unit: `0.002 s` and `2 ms` are equal."""
    return len(cells) == len(texts) and all(
        item.text == text or _scale(item.size, item.unit) == _parse_size(text)
        for item, text in zip(cells, texts, strict=True)
    )


def _is_within(item: QuotedCell, texts: Sequence[str]) -> bool:
    """Return whether the number of a cell is between the ends of a range that a quote says."""
    size, unit = _scale(item.size, item.unit)
    ends = [end for end in map(_parse_size, texts) if end]
    sizes = [end[0] for end in ends if end[1] == unit]
    return bool(sizes) and min(sizes) <= size <= max(sizes)


def _parse_size(text: str) -> tuple[Decimal, str] | None:
    """Return the amount of a number that an author wrote, as `_scale` does; None for a text without one."""
    match = _WRITTEN.fullmatch(text.strip())
    number = parse_number(match[1]) if match else None
    return None if not match or number is None else _scale(number, match[2])


def _scale(number: Decimal, symbol: str) -> tuple[Decimal, str]:
    """Return the amount of a number in the least unit of its kind."""
    factor, unit = list_prefixed_units(SHORT_SYMBOLS.get(symbol, symbol))[0]
    return abs(number) * factor.numerator / factor.denominator, unit
