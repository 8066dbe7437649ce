"""Print a lineage as a text tree from the roots down to raw records, each column once, then all fields of events."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from assay.lang.model.package import Package
from assay.lineage.column_lineage import CONSTANTS, ROWS, ColumnOrigins, Origin
from assay.lineage.constants import list_constant_facts
from assay.lineage.graph import (
    describe_column,
    format_column_name,
    get_key_place,
    get_kind,
    list_raw_places,
    list_record_places,
)
from assay.lineage.metric_lineage import ROLES, Lineage
from assay.plan.planner import EventStep, FilterStep
from assay.util.escape import escape_text, truncate

FilterRow = tuple[str, str, tuple[str, ...]]
"""Event, field, places of the field in raw records."""

ROLE_DESCRIPTIONS = {
    "value": "makes the value",
    "picks": "picks the row of a value",
    "rows": "decides which rows exist",
    "check": "decides in a check",
    "read": "only read: records without a required field are left out",
}


@dataclass(slots=True)
class _TreePrinter:
    """Print columns of a lineage, at most `width` characters wide."""

    lineage: Lineage
    package: Package
    width: int
    printed: set[Origin] = field(default_factory=set)

    def print_column(self, item: Origin, label: str, first: str, rest: str) -> Iterator[str]:
        """Yield the lines of a column and of its origins.

        `first` is the prefix of the first line, `rest` that of the others.
        """
        kind = get_kind(self.lineage.statements.get(item.table), item.table)
        description = describe_column(self.lineage.statements.get(item.table), item)
        text = label or f"{format_column_name(item)}: {description if description not in ('', 'column') else kind}"
        children = sorted(self.find_children(item))
        is_repeated = item in self.printed and bool(children)
        yield self.fit_line(first + text + (" (see above)" if is_repeated else ""))
        if is_repeated:
            return
        self.printed.add(item)
        leaves = [text.partition(" ")[2] for text in list_record_places(self.lineage, self.package, item)]
        picks = sorted(get_inputs(self.lineage, item).picks.get(item.column, ()))
        if picks:
            yield from self.wrap(f"picked by {_group_columns(picks)}", rest + ("│ " if children or leaves else "  "))
        for leaf in leaves:
            yield self.fit_line(f"{rest}└ {leaf}")
        for index, child in enumerate(children):
            last = index + 1 == len(children)
            yield from self.print_column(child, "", rest + ("└ " if last else "├ "), rest + ("  " if last else "│ "))

    def find_children(self, item: Origin) -> frozenset[Origin]:
        """Return the origins of a column's value, skipping a grain's own copy of a column."""
        children: set[Origin] = set()
        inputs = get_inputs(self.lineage, item)
        for origin in inputs.counted if item.column == ROWS else inputs.values.get(item.column, ()):
            statement = self.lineage.statements.get(origin.table)
            inner = get_inputs(self.lineage, origin).values.get(origin.column, frozenset())
            if statement and isinstance(statement.step, FilterStep) and len(inner) == 1:
                children |= inner
            else:
                children.add(origin)
        return frozenset(children)

    def wrap(self, text: str, prefix: str) -> Iterator[str]:
        """Yield a text on as many lines as it needs."""
        space = self.width - len(prefix)
        for line in textwrap.wrap(escape_text(text), max(space, 20), subsequent_indent="  "):
            yield self.fit_line(prefix + line)

    def fit_line(self, text: str) -> str:
        """Return a text as one line, cut to the width."""
        return truncate(escape_text(text), self.width)


def get_inputs(lineage: Lineage, item: Origin) -> ColumnOrigins:
    """Return the origins of all columns of a column's table; none for tables without a statement."""
    return lineage.origins_by_statement.get(item.table) or ColumnOrigins({}, {}, frozenset())


def _group_columns(origins: Sequence[Origin]) -> str:
    """Join columns table by table: `block.seq, .host`."""
    tables: dict[str, list[str]] = {}
    for item in origins:
        if item.table == CONSTANTS:
            tables.setdefault(format_column_name(item), []).append(ROWS)
        else:
            tables.setdefault(item.table, []).append(item.column)
    parts = [
        f"{table}.{', .'.join(column for column in columns if column != ROWS)}" if set(columns) != {ROWS} else table
        for table, columns in tables.items()
    ]
    return "; ".join(parts)


def render_tree(
    lineage: Lineage, package: Package, titles: Mapping[Origin, str], filter_rows: Sequence[FilterRow], width: int
) -> list[str]:
    """Return the lines of a lineage, at most `width` characters wide.

    `titles` are those of the roots, `filter_rows` the fields that filters could use which are not applied.
    """
    printer = _TreePrinter(lineage, package, width)
    lines: list[str] = []
    for root in lineage.roots:
        lines += printer.print_column(root, titles[root], "", "")
        if rows := sorted(item for item in get_inputs(lineage, root).rows if item.column != ROWS):
            lines += printer.wrap(f"rows by {_group_columns(rows)}", "  ")
    lines += ["", *_list_fields(lineage, package, width), *_list_filterable(filter_rows, width)]
    return [*lines, *_list_constants(lineage, package, width)]


def _list_fields(lineage: Lineage, package: Package, width: int) -> Iterator[str]:
    """Yield the fields of events that have a part, grouped by role."""
    rows = list(iter_field_rows(lineage, package))
    wide = max((len(f"{event}.{field_name}") for event, field_name, _, _ in rows), default=0)
    for role in ROLES:
        rows_of_role = [row for row in rows if row[2] == role]
        if rows_of_role:
            yield f"Fields of events: {ROLE_DESCRIPTIONS[role]}"
        for event, field_name, _, places in rows_of_role:
            yield truncate(escape_text(f"  {f'{event}.{field_name}':<{wide}}  {' or '.join(places)}"), width)


def _list_filterable(rows: Sequence[FilterRow], width: int) -> Iterator[str]:
    """Yield the fields of events that filters can use."""
    wide = max((len(f"{event}.{field_name}") for event, field_name, _ in rows), default=0)
    if rows:
        yield "Fields of events: used by filters that are not applied"
    for event, field_name, places in rows:
        yield truncate(escape_text(f"  {f'{event}.{field_name}':<{wide}}  {' or '.join(places)}"), width)


def _list_constants(lineage: Lineage, package: Package, width: int) -> Iterator[str]:
    """Yield the constants of the run that have a part, grouped by role, with their places in documents."""
    rows = list_constant_facts(package, lineage)
    wide = max((len(item.name) for item in rows), default=0)
    for role in ROLES:
        rows_of_role = [item for item in rows if item.role == role]
        if rows_of_role:
            yield f"Constants of the run: {ROLE_DESCRIPTIONS[role].partition(':')[0]}"
        for item in rows_of_role:
            yield truncate(escape_text(f"  {item.name:<{wide}}  {item.place}"), width)


def iter_field_rows(lineage: Lineage, package: Package) -> Iterator[tuple[str, str, str, tuple[str, ...]]]:
    """Yield event, field, role and places in raw records of every field that has a part, in order."""
    sources = {item.name: item for item in package.sources}
    for item in sorted(lineage.roles):
        statement = lineage.statements.get(item.table)
        step = statement.step if statement else None
        if not isinstance(step, EventStep) or item.column == ROWS:
            continue
        source = sources[step.event.source]
        if get_key_place(source, item.column):
            continue
        places = list_raw_places(source, step.event, item.column, lineage.field_paths.get(item, ()))
        yield item.table, item.column, lineage.roles[item], places
