"""Lineage as a tree in text: from what is asked down to raw records, each column once; then all fields of events."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from assay.lang.model.package import Package
from assay.lineage.column_lineage import CONSTANTS, ROWS, ColumnOrigins, Origin
from assay.lineage.constants import constants
from assay.lineage.graph import describe_column, kind_of, name, place_of, raw_places, records
from assay.lineage.metric_lineage import ROLES, Lineage
from assay.plan.planner import EventStep, FilterStep
from assay.util.escape import escape_text, truncate

FilterRow = tuple[str, str, tuple[str, ...]]
"""Event, field, and its places in raw records."""

SAYS = {
    "value": "makes the value",
    "picks": "picks the row of a value",
    "rows": "decides which rows there are",
    "check": "decides in a check",
    "read": "read beside the others: a record that must have it and lacks it is left out",
}


@dataclass(slots=True)
class _Tree:
    found: Lineage
    package: Package
    width: int
    done: set[Origin] = field(default_factory=set)

    def lines(self, item: Origin, label: str, first: str, rest: str) -> Iterator[str]:
        """A column and what its value is made of; `first` and `rest` stand before the first line and the others."""
        kind = kind_of(self.found.statements.get(item.table), item.table)
        about = describe_column(self.found.statements.get(item.table), item)
        text = label or f"{name(item)}: {about if about not in ('', 'column') else kind}"
        children = sorted(self.below(item))
        again = item in self.done and bool(children)
        yield self.fit(first + text + (" (see above)" if again else ""))
        if again:
            return
        self.done.add(item)
        leaves = [text.partition(" ")[2] for text in records(self.found, self.package, item)]
        picks = sorted(describe_inputs(self.found, item).picks.get(item.column, ()))
        if picks:
            yield from self.wrapped(f"picked by {_grouped(picks)}", rest + ("│ " if children or leaves else "  "))
        for leaf in leaves:
            yield self.fit(f"{rest}└ {leaf}")
        for index, child in enumerate(children):
            last = index + 1 == len(children)
            yield from self.lines(child, "", rest + ("└ " if last else "├ "), rest + ("  " if last else "│ "))

    def below(self, item: Origin) -> frozenset[Origin]:
        """What a column's value is made of; a grain's own copy of a column is passed over."""
        found: set[Origin] = set()
        made = describe_inputs(self.found, item)
        for origin in made.counted if item.column == ROWS else made.values.get(item.column, ()):
            statement = self.found.statements.get(origin.table)
            inner = describe_inputs(self.found, origin).values.get(origin.column, frozenset())
            if statement and isinstance(statement.step, FilterStep) and len(inner) == 1:
                found |= inner
            else:
                found.add(origin)
        return frozenset(found)

    def wrapped(self, text: str, before: str) -> Iterator[str]:
        """A text on as many lines as it needs."""
        room = self.width - len(before)
        for line in textwrap.wrap(escape_text(text), max(room, 20), subsequent_indent="  "):
            yield self.fit(before + line)

    def fit(self, text: str) -> str:
        return truncate(escape_text(text), self.width)


def describe_inputs(found: Lineage, item: Origin) -> ColumnOrigins:
    return found.made.get(item.table) or ColumnOrigins({}, {}, frozenset())


def _grouped(origins: Sequence[Origin]) -> str:
    """Columns, table by table: `block.seq, .host`."""
    tables: dict[str, list[str]] = {}
    for item in origins:
        if item.table == CONSTANTS:
            tables.setdefault(name(item), []).append(ROWS)
        else:
            tables.setdefault(item.table, []).append(item.column)
    parts = [
        f"{table}.{', .'.join(column for column in columns if column != ROWS)}" if set(columns) != {ROWS} else table
        for table, columns in tables.items()
    ]
    return "; ".join(parts)


def tree(
    found: Lineage, package: Package, titles: Mapping[Origin, str], more: Sequence[FilterRow], width: int
) -> list[str]:
    """The lines of a lineage, at most so wide; `titles` are those of the roots, `more` the fields that filters
    which are not applied can decide by."""
    made = _Tree(found, package, width)
    lines: list[str] = []
    for root in found.roots:
        lines += made.lines(root, titles[root], "", "")
        if rows := sorted(item for item in describe_inputs(found, root).rows if item.column != ROWS):
            lines += made.wrapped(f"rows by {_grouped(rows)}", "  ")
    lines += ["", *_fields(found, package, width), *_filterable(more, width)]
    return [*lines, *_constants(found, package, width)]


def _fields(found: Lineage, package: Package, width: int) -> Iterator[str]:
    """The fields of events that have a part, by what they do."""
    rows = list(field_rows(found, package))
    wide = max((len(f"{event}.{name_}") for event, name_, _, _ in rows), default=0)
    for role in ROLES:
        own = [row for row in rows if row[2] == role]
        if own:
            yield f"Fields of events: {SAYS[role]}"
        for event, name_, _, places in own:
            yield truncate(escape_text(f"  {f'{event}.{name_}':<{wide}}  {' or '.join(places)}"), width)


def _filterable(rows: Sequence[FilterRow], width: int) -> Iterator[str]:
    """The fields of events that filters can decide by."""
    wide = max((len(f"{event}.{field_}") for event, field_, _ in rows), default=0)
    if rows:
        yield "Fields of events: filters that are not applied can decide by them"
    for event, field_, places in rows:
        yield truncate(escape_text(f"  {f'{event}.{field_}':<{wide}}  {' or '.join(places)}"), width)


def _constants(found: Lineage, package: Package, width: int) -> Iterator[str]:
    """The constants of the run that have a part, by what they do, and where it tells them."""
    rows = constants(package, found)
    wide = max((len(item.name) for item in rows), default=0)
    for role in ROLES:
        own = [item for item in rows if item.role == role]
        if own:
            yield f"Constants of the run: {SAYS[role].partition(':')[0]}"
        for item in own:
            yield truncate(escape_text(f"  {item.name:<{wide}}  {item.place}"), width)


def field_rows(found: Lineage, package: Package) -> Iterator[tuple[str, str, str, tuple[str, ...]]]:
    """Event, field, role, and the places in raw records, of every field of an event that has a part, in order."""
    sources = {item.name: item for item in package.sources}
    for item in sorted(found.roles):
        statement = found.statements.get(item.table)
        step = statement.step if statement else None
        if not isinstance(step, EventStep) or item.column == ROWS:
            continue
        source = sources[step.event.source]
        if place_of(source, item.column):
            continue
        places = raw_places(source, item.column, found.found.get(item, ()))
        yield item.table, item.column, found.roles[item], places
