"""Write drafted statements as prose with quotes of cells, and the outcomes of scenarios and rules in sentences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

from assay.lang.blocks.conclusion import FALLS, RISES
from assay.lang.model.observation import ABOVE, ALIKE, BELOW, RUNS, ObservationRules
from assay.report.blocks.conclusion import CHANGES
from assay.report.cell_links import AVERAGE, CHANGE, DIFFERENCE, JUDGED, OUTCOME, PERCENT, ROW, WORDS
from assay.report.document import Document
from assay.report.glossary import iter_tables
from assay.report.judged_cells import BY_ITSELF
from assay.report.observations.cell_quotes import CellQuote, find_cells, format_cells
from assay.report.observations.printed_changes import Changes, Place, PrintedChange, select_rows
from assay.report.observations.statements import (
    CANNOT_TELL,
    MOST_LISTED,
    SAME,
    UNJUDGED,
    DraftedGroup,
    Silence,
    Statement,
)
from assay.report.prose import BASE, FIRST, GREATEST, GREATEST_CHANGE, LAST, LEAST, QUIET, UNDECIDED
from assay.report.tables import Table

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_NUMBERS = {"percent": PERCENT, "amount": DIFFERENCE, "from": BASE, "to": AVERAGE}
_NUMBERS |= {"level": ROW, "least": LEAST, "greatest": GREATEST, "first": FIRST, "last": LAST}
#: from the first number on, a sentence is repeated for each of a few places
_FIRST_NUMBER = re.compile(r"\{(?:percent|amount|from|to|level|least|greatest|first|last)\}")
_MARKUP = re.compile(r"([\\`*_\[\]{}<>#])")
_VERBS = {"pass": ("passes", "pass"), "fail": ("fails", "fail"), "cannot tell": ("cannot tell", "cannot tell")}
_UNDECIDED = ("is not decided", "are not decided")
_HOLDS = {
    "yes": "These expectations hold",
    "no": "These expectations do not hold",
    "cannot tell": "Whether these expectations hold, these runs cannot tell",
    "no interval": "Without an interval, these expectations are not decided",
    "data lost": "These expectations are not decided, because data are lost",
}


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

    def write_groups(self, groups: Sequence[DraftedGroup], *, has_titles: bool = True) -> str:
        """Return the prose of groups: each a title, if they have titles, and a list of sentences."""
        return "\n\n".join(
            (f"**{escape_markup(group.title)}**\n\n" if has_titles else "")
            + "\n".join(f"* {sentence}" for sentence in self._list_sentences(group))
            for group in groups
        )

    def _list_sentences(self, group: DraftedGroup) -> Iterator[str]:
        yield from map(self.write_statement, group.statements)
        for is_rest in (True, False):
            texts = {
                SAME: group.rest if is_rest else group.quiet,
                CANNOT_TELL: self.rules.undecided,
                UNJUDGED: self.rules.unjudged,
            }
            for item in group.silences:
                if item.is_rest == is_rest:
                    yield self.write_silence(texts[item.state], item)

    def write_statement(self, statement: Statement) -> str:
        """Return the sentence of a statement."""
        text, places = statement.observation.text, statement.places
        number = _FIRST_NUMBER.search(text)
        if number and 1 < len(places) <= MOST_LISTED and not self._are_equal(statement):
            head, tail = text[: number.start()], text[number.start() :]
            tails = [f"{self._fill(tail, statement, [place])}{self._name_places([place])}" for place in places]
            words = self._fill(head, statement, places) + join_names(tails)
        else:
            words = self._fill(text, statement, places) + self._name_needed_places(statement)
        details = "".join(self._fill(self.rules.detail, item, places) for item in statement.details)
        return f"{words}{details}{BY_ITSELF if statement.is_by_itself else ''}."

    def _are_equal(self, statement: Statement) -> bool:
        """Return whether the changes of a statement are printed alike at all of its places."""
        kinds = [_NUMBERS[name] for name in _PLACEHOLDER.findall(statement.observation.text) if name in _NUMBERS]
        printed = {
            tuple(self._create_quote(statement, [place], kind).text for kind in kinds) for place in statement.places
        }
        return len(statement.metrics) == len(printed) == 1

    def write_silence(self, text: str, silence: Silence) -> str:
        """Return the sentence on metrics without a statement at some places, with a quote of what it states."""
        places = silence.places
        if self._needs_places(places):
            text = f"{text.strip().removesuffix('.')}{self._name_places(places)}."
        names = [self.changes[places[0]][name].name for name in silence.metrics]
        prints = UNDECIDED if silence.state == CANNOT_TELL else QUIET
        quote = self._locate_quote(silence.metrics, places, prints)
        return escape_markup(text.replace("{name}", join_names(names))) + quote.source

    def _fill(self, text: str, statement: Statement, places: Sequence[Place]) -> str:
        """Return a text of the rules with its placeholders filled; empty brackets are left out."""
        changes = [item for item in statement.changes if item.place in places]
        names = list(dict.fromkeys(item.name for item in changes))
        words = self.rules.up if statement.direction > 0 else self.rules.down
        is_singular = statement.is_common or (len(names) == 1 and changes[0].metric not in self.rules.plurals)
        observation = statement.observation
        values = {
            "name": observation.name if statement.is_common else join_names(names),
            "goes": words[0] if is_singular else words[1],
            "speed": f"{'gets' if is_singular else 'get'} {'slower' if statement.direction > 0 else 'faster'}",
            "size": choose_size_words(self.rules, changes),
            "run": places[0].run,
            "base": places[0].base,
            "bound": f"{observation.bound} {'%' if observation.whole == ALIKE else changes[0].symbol}".rstrip(),
            "share": self._describe_share(statement, changes),
        }

        def fill(match: re.Match[str]) -> str:
            if match[1] in _NUMBERS:
                return self._create_quote(statement, places, _NUMBERS[match[1]]).source
            return escape_markup(values[match[1]])

        return _PLACEHOLDER.sub(fill, text).replace(" ()", "")

    def _describe_share(self, statement: Statement, changes: Sequence[PrintedChange]) -> str:
        """Return on which rows the values lie beyond a bound."""
        bounds = _get_bounds(statement)
        return (
            self.rules.every if all(len(select_rows(x, *bounds)) == len(x.rows) for x in changes) else self.rules.most
        )

    def _create_quote(self, statement: Statement, places: Sequence[Place], prints: str) -> CellQuote:
        """Return a quote of the cells of a statement at some of its places."""
        if statement.observation.whole == ALIKE:
            prints = {GREATEST: GREATEST_CHANGE, PERCENT: CHANGE}.get(prints, prints)
        below, above = _get_bounds(statement)
        quote = self._locate_quote(statement.metrics, places, prints)
        quote = replace(quote, below=below, above=above)
        return replace(quote, text=format_cells(find_cells(quote, self.changes)))

    def _locate_quote(self, metrics: Sequence[str], places: Sequence[Place], prints: str) -> CellQuote:
        """Return a quote of metrics at places; it names runs and reports where there are several."""
        cases = tuple(dict.fromkeys(place.case for place in places)) if self.has_cases else ()
        runs = tuple(dict.fromkeys(place.run for place in places))
        return CellQuote(tuple(metrics), runs, cases, prints)

    def _needs_places(self, places: Sequence[Place]) -> bool:
        return len(self.changes) > len(places)

    def _name_needed_places(self, statement: Statement) -> str:
        """Return where a statement holds, as far as its sentence does not say so; empty if it holds everywhere."""
        places, observation = statement.places, statement.observation
        if observation.whole == RUNS or "{run}" in observation.text:  # is about all runs, or names its run
            cases = {place.case for place in self.changes if self._is_compared(statement.metrics, place)}
            return self._name_cases(places) if len(cases) > 1 else ""
        return self._name_places(places) if self._needs_places(places) else ""

    def _is_compared(self, metrics: Sequence[str], place: Place) -> bool:
        changes = self.changes[place]
        return any(name in changes and (BASE in changes[name].cells or changes[name].row_changes) for name in metrics)

    def _name_places(self, places: Sequence[Place]) -> str:
        """Return where a statement holds: in which runs, in which reports, or in which runs of reports."""
        if not self.has_cases:
            return f" in {escape_markup(join_names([place.run for place in places]))}"
        whole = {case for case, count in Counter(place.case for place in places).items() if count == self.counts[case]}
        if all(place.case in whole for place in places):
            return self._name_cases(places)
        names = []
        for case in dict.fromkeys(place.case for place in places):
            runs = join_names([place.run for place in places if place.case == case])
            names.append(case if case in whole else f"{runs} of {case}")
        return f" in {escape_markup(join_names(names))}"

    def _name_cases(self, places: Sequence[Place]) -> str:
        names = join_names(list(dict.fromkeys(place.case for place in places)))
        return escape_markup(self.rules.in_case.replace("{case}", names))


def _get_bounds(statement: Statement) -> tuple[str, str]:
    """Return below and above which values the quotes of a statement print; empty: no bound."""
    observation = statement.observation
    below, above = (observation.bound if observation.whole == whole else "" for whole in (BELOW, ABOVE))
    return below, above


def join_names(names: Sequence[str]) -> str:
    """Return names as a list in words: `a, b and c`."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def describe_outcomes(document: Document) -> Iterator[str]:
    """Yield sentences on the results of scenarios, and on rules that hold or do not hold, in markup."""
    for table in iter_tables(document.parts):
        kinds = {link.prints for link in table.leads}
        if OUTCOME in kinds:
            yield from _describe_scenarios(table)
        elif JUDGED in kinds and WORDS in kinds:
            yield from _describe_rules(table)


def _describe_scenarios(table: Table) -> Iterator[str]:
    """Yield a sentence on each result, with the scenarios and versions that have it."""
    scenarios: dict[tuple[str, str, str], list[str]] = {}
    results = {item.row: item.word for item in table.verdicts}
    for number, (scenario, _, version, _, reason) in enumerate(table.rows):
        result = results.get(number)
        if result is None:
            continue  # the scenario is not judged
        key = (result, version, "") if result in _VERBS else ("", "", reason)
        scenarios.setdefault(key, []).append(scenario)
    for (result, version, reason), names in scenarios.items():
        verb = _VERBS.get(result, _UNDECIDED)[len(set(names)) > 1]
        tail = f" in {version}" if version else f": {reason}"
        yield escape_markup(f"{_quote_names(names)} {verb}{tail}.")


def _describe_rules(table: Table) -> Iterator[str]:
    """Yield a sentence on the rules that hold, and one on those that do not."""
    first = table.header.index("Metric")  # of several runs, the label of a row's run comes first
    for result, words in _HOLDS.items():
        rows = [item.row for item in table.verdicts if item.word == result]
        rules = [_describe_rule(table, row, first) for row in rows]
        if rules:
            yield escape_markup(f"{words}: {'; '.join(rules)}.")


def _describe_rule(table: Table, number: int, first: int) -> str:
    row, unit = table.rows[number], table.row_units[number]
    run = f" in {row[0]}" if first else ""
    name, rule = row[first].removesuffix(f", {unit}") if unit else row[first], row[-2]
    return f"{name} {'' if rule.split()[0] in (FALLS, RISES, CHANGES) else 'is '}{rule}{run}"


def _quote_names(names: Sequence[str]) -> str:
    return join_names([f"“{name}”" for name in dict.fromkeys(names)])
