"""Write drafted statements as prose with quotes of cells."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal

from assay.lang.model.observation import ObservationRules
from assay.report.cell_links import AVERAGE, DIFFERENCE, PERCENT, ROW
from assay.report.observations.cell_quotes import QUIET, CellQuote, find_cells, format_cells
from assay.report.observations.printed_changes import BASE, FIRST, LAST, Changes, Place, PrintedChange
from assay.report.observations.statements import DraftedGroup, Silence, Statement

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_NUMBERS = {"percent": PERCENT, "amount": DIFFERENCE, "from": BASE, "to": AVERAGE}
_NUMBERS |= {"level": ROW, "first": FIRST, "last": LAST}
#: from the first number on, a sentence is repeated for each of a few places
_FIRST_NUMBER = re.compile(r"\{(?:percent|amount|from|to|level|first|last)\}")
_MOST_LISTED = 2
_MARKUP = re.compile(r"([\\`*_\[\]{}<>#])")


def choose_size_words(rules: ObservationRules, changes: Sequence[PrintedChange]) -> str:
    """Return the words for the sizes of changes: `slight`, `slight to clear`; empty if the rules have none."""
    sizes = [abs(item.percent) for item in changes]
    words = (choose_size_word(rules, size) for size in (min(sizes), max(sizes)))
    return " to ".join(dict.fromkeys(filter(None, words)))


def choose_size_word(rules: ObservationRules, percent: Decimal) -> str:
    """Return the word for a change of so many percent."""
    return next((size.word for size in rules.sizes if percent < Decimal(size.below)), rules.beyond)


def escape_markup(text: str) -> str:
    """Return a text as words of prose."""
    return _MARKUP.sub(r"\\\1", text)


class ProseWriter:
    """Writes what is said of the changes at some places, in the words of the rules of a report."""

    def __init__(self, rules: ObservationRules, changes: Changes) -> None:
        self.rules = rules
        self.changes = changes
        self.counts = Counter(place.case for place in changes)
        self.has_cases = len(self.counts) > 1

    def write_groups(self, groups: Sequence[DraftedGroup]) -> str:
        """Return the prose of groups: each a title and a list of sentences."""
        return "\n\n".join(
            f"**{escape_markup(group.title)}**\n\n"
            + "\n".join(f"* {sentence}" for sentence in self._list_sentences(group))
            for group in groups
        )

    def _list_sentences(self, group: DraftedGroup) -> Iterator[str]:
        yield from map(self.write_statement, group.statements)
        for is_rest in (True, False):
            silences = [item for item in group.silences if item.is_rest == is_rest]
            text = group.rest if is_rest else group.quiet
            # Sentences with the names of metrics differ between places.
            for items in [[item] for item in silences] if "{name}" in text else [silences]:
                if items:
                    yield self.write_silences(text, items)

    def write_statement(self, statement: Statement) -> str:
        """Return the sentence of a statement."""
        text, places = statement.observation.text, statement.places
        number = _FIRST_NUMBER.search(text)
        if number and 1 < len(places) <= _MOST_LISTED and not self._are_equal(statement):
            head, tail = text[: number.start()], text[number.start() :]
            tails = [f"{self._fill(tail, statement, [place])} in {self._name_places([place])}" for place in places]
            words = self._fill(head, statement, places) + _join(tails)
        else:
            words = self._fill(text, statement, places)
            words += f" in {self._name_places(places)}" if self._needs_places(places) else ""
        details = "".join(self._fill(self.rules.detail, item, places) for item in statement.details)
        noise = self.rules.noise if statement.is_noise else ""
        return f"{words}{details}{noise}."

    def _are_equal(self, statement: Statement) -> bool:
        """Return whether the changes of a statement are printed alike at all of its places."""
        kinds = [_NUMBERS[name] for name in _PLACEHOLDER.findall(statement.observation.text) if name in _NUMBERS]
        printed = {tuple((item.cells[kind].text, item.symbol) for kind in kinds) for item in statement.changes}
        return len(statement.metrics) == len(printed) == 1

    def write_silences(self, text: str, silences: Sequence[Silence]) -> str:
        """Return the sentence on metrics that do not change at some places, with quotes that state so."""
        silent = {place for item in silences for place in item.places}
        places = [place for place in self.changes if place in silent]
        if self._needs_places(places):
            text = f"{text.strip().removesuffix('.')} in {self._name_places(places)}."
        names = {name: self.changes[item.places[0]][name].name for item in silences for name in item.metrics}
        text = escape_markup(text.replace("{name}", _join(list(names.values()))))
        quotes = (self._create_quote(item.metrics, item.places, QUIET).source for item in silences)
        return text + "".join(quotes)

    def _fill(self, text: str, statement: Statement, places: Sequence[Place]) -> str:
        """Return a text of the rules with its placeholders filled; empty brackets are left out."""
        changes = [item for item in statement.changes if item.place in places]
        names = list(dict.fromkeys(item.name for item in changes))
        words = self.rules.up if statement.direction > 0 else self.rules.down
        values = {
            "name": statement.observation.name if statement.is_common else _join(names),
            "goes": words[0] if statement.is_common or len(names) == 1 else words[1],
            "size": choose_size_words(self.rules, changes),
            "run": places[0].run,
            "base": places[0].base,
        }

        def replace(match: re.Match[str]) -> str:
            if match[1] in _NUMBERS:
                return self._create_quote(statement.metrics, places, _NUMBERS[match[1]]).source
            return escape_markup(values[match[1]])

        return _PLACEHOLDER.sub(replace, text).replace(" ()", "")

    def _create_quote(self, metrics: Sequence[str], places: Sequence[Place], prints: str) -> CellQuote:
        """Return a quote of the cells of metrics at places; it names runs and reports where there are several."""
        cases = tuple(dict.fromkeys(place.case for place in places)) if self.has_cases else ()
        runs = tuple(dict.fromkeys(place.run for place in places))
        quote = CellQuote(tuple(metrics), runs, cases, prints)
        printed = format_cells(find_cells(quote, self.changes))
        return CellQuote(tuple(metrics), runs, cases, prints, printed)

    def _needs_places(self, places: Sequence[Place]) -> bool:
        return len(self.changes) > len(places)

    def _name_places(self, places: Sequence[Place]) -> str:
        """Return the labels of places: of runs, of reports, or of both."""
        if not self.has_cases:
            return escape_markup(_join([place.run for place in places]))
        whole = {case for case, count in Counter(place.case for place in places).items() if count == self.counts[case]}
        names = (place.case if place.case in whole else f"{place.run} of {place.case}" for place in places)
        return escape_markup(_join(list(dict.fromkeys(names))))


def _join(names: Sequence[str]) -> str:
    """Return names as a list in words: `a, b and c`."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last
