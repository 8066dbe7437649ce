"""Lineage as a graph of named nodes, from raw records to printed cells; as data, and as Graphviz text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.lang.model.package import Package, Source
from assay.lang.model.source_kinds import SOURCE_KINDS
from assay.lang.reserved_names import SERIES, keys_of
from assay.lang.scopes import LOGS
from assay.lineage import constants
from assay.lineage.column_lineage import CONSTANTS, ROWS, Origin
from assay.lineage.metric_lineage import ROLES, FieldPaths, Lineage, places
from assay.plan.planner import EventStep, FilterStep, GrainRowsStep, RelationStep, SeriesStep
from assay.sql.codegen import Statement
from assay.util.escape import escape_text

#: the part of a record that each column has which no field is: where it stands, when it was
_PLACES = {"host": "the host's directory", "seq": "place in the host's files", SERIES: "name and labels of its series"}


def place_of(source: Source, column: str) -> str:
    """The part of a record that a column has which no field is, nor the instant; empty for those."""
    return _PLACES.get(column, "") if column in keys_of(source.kind) else ""


@dataclass(frozen=True, slots=True, order=True)
class Node:
    """A node: `kind` is record, constant, event, relation, grain, series, logs, metric, rows, check or cell; what it
    is, and its most direct role."""

    id: str
    kind: str
    what: str
    role: str


@dataclass(frozen=True, slots=True, order=True)
class Edge:
    """What one node (`source`) gives another, and as what."""

    source: str
    target: str
    role: str


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes and edges, sorted."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


def graph(found: Lineage, package: Package, cells: Mapping[Origin, Sequence[str]]) -> Graph:
    """The graph of a lineage; `cells` are the printed cells that show the roots."""
    nodes = {name(item): _node(found, item, role) for item, role in found.roles.items()}
    edges = {Edge(name(origin), name(item), role) for item, origin, role in found.edges()}
    for item, role in found.roles.items():
        for record in records(found, package, item):
            nodes.setdefault(record, Node(record, "record", "", role))
            edges.add(Edge(record, name(item), "value"))
    for root, texts in cells.items():
        for text in texts:
            nodes[f"cell {text}"] = Node(f"cell {text}", "cell", "", "value")
            edges.add(Edge(name(root), f"cell {text}", "value"))
    return Graph(tuple(sorted(nodes.values())), tuple(sorted(edges)))


def name(item: Origin) -> str:
    """A column as people name it; the rows of a table; a constant as SQL names it."""
    if item.table == CONSTANTS:
        return f"{CONSTANTS}{item.column}"
    return f"rows of {item.table}" if item.column == ROWS else f"{item.table}.{item.column}"


def _node(found: Lineage, item: Origin, role: str) -> Node:
    statement = found.statements.get(item.table)
    return Node(name(item), kind_of(statement, item.table), describe_column(statement, item), role)


def kind_of(statement: Statement | None, table: str) -> str:
    """What kind of thing a table is."""
    if statement is None:
        return {LOGS: "logs", CONSTANTS: "constant"}.get(table, "record")
    steps = {
        EventStep: "event",
        RelationStep: "relation",
        GrainRowsStep: "grain",
        FilterStep: "grain",
        SeriesStep: "series",
    }
    return steps.get(type(statement.step), statement.kind)


def describe_column(statement: Statement | None, item: Origin) -> str:
    """What a column is: a constant; in a grain an instant, a tally, a derived column, the filters' verdict."""
    if item.table == CONSTANTS:
        return "constant of the run"
    step = statement.step if statement else None
    if not isinstance(step, (GrainRowsStep, FilterStep)) or item.column == ROWS:
        return ""
    grain = step.grain
    if item.column == "accepted" or item.column.startswith("passes_"):
        return "verdict of filters"
    kinds = {
        **dict.fromkeys((column.name for column in grain.columns), "column"),
        **{f"{instant.name}_{taken}": "field of an instant" for instant in grain.instants for taken in instant.fields},
        **dict.fromkeys((instant.name for instant in grain.instants), "instant"),
        **dict.fromkeys((tally.column.name for tally in grain.tallies), "tally"),
        **dict.fromkeys((derived.column.name for derived in grain.derived), "derived"),
    }
    return kinds.get(item.column, "column")


def records(found: Lineage, package: Package, item: Origin) -> tuple[str, ...]:
    """The places of raw records that a column of an event (or of the logs) is read from; of a constant the places of
    documents of the run."""
    if item.table == CONSTANTS:
        return tuple(
            f"{source.name} {constants.place(one.files, one.path, *one.or_at)}"
            for source in package.sources
            for one in source.constants
            if one.name == item.column
        )[:1]
    statement = found.statements.get(item.table)
    step = statement.step if statement else None
    if not isinstance(step, EventStep) or item.column == ROWS:
        return ()
    source = next(one for one in package.sources if one.name == step.event.source)
    return tuple(f"{source.name} {text}" for text in raw_places(source, item.column, found.found.get(item, ())))


def raw_places(source: Source, field: str, found: Sequence[FieldPaths]) -> tuple[str, ...]:
    """Where raw records of a source hold a field of an event, as texts."""
    if place := place_of(source, field):
        return (place,)
    if field == "t_ns":
        if not source.time:
            return ("the sample's instant",)
        return tuple(path_text(source, path, body=False) for path in source.times)
    return tuple(path_text(source, path, body=True) for path in places(found)) or ("by the record's name",)


def path_text(source: Source, path: Sequence[str], body: bool) -> str:
    """A path as people write it: `.data.slot`; of tables the name of a column."""
    if SOURCE_KINDS[source.kind].has_columns:
        return ".".join(path)
    return "".join(f".{key}" for key in (*(source.body if body else ()), *path))


def as_data(graph: Graph) -> dict[str, object]:
    """A graph as plain data; edges go from what gives to what is made."""
    return {
        "nodes": [{"id": item.id, "kind": item.kind, "what": item.what, "role": item.role} for item in graph.nodes],
        "edges": [{"from": item.source, "to": item.target, "role": item.role} for item in graph.edges],
    }


_SHAPES = {"record": "note", "event": "box", "relation": "box3d", "grain": "component", "series": "component",
           "metric": "ellipse", "rows": "ellipse", "cell": "tab", "check": "octagon", "logs": "note",
           "constant": "note"}  # fmt: skip
_STYLES = {"value": "solid", "picks": "dashed", "rows": "dotted", "check": "dotted", "read": "dotted"}


def as_dot(graph: Graph, title: str) -> str:
    """A graph as Graphviz text: whole lines carry values, broken ones pick rows, dotted ones decide on rows."""
    return "\n".join(_dot_lines(graph, title)) + "\n"


def _dot_lines(graph: Graph, title: str) -> Iterator[str]:
    yield f"digraph {_dot(title)} {{"
    yield '  rankdir="LR";'
    yield f"  label={_dot(title)};"
    yield '  node [fontname="Helvetica", fontsize="10"];'
    for node in graph.nodes:
        text = f"{node.id}\n{node.what}" if node.what not in ("", "column") else node.id
        colour = "black" if ROLES.index(node.role) < ROLES.index("check") else "gray50"
        yield f'  {_dot(node.id)} [label={_dot(text)}, shape="{_SHAPES.get(node.kind, "box")}", color="{colour}"];'
    for edge in graph.edges:
        yield f'  {_dot(edge.source)} -> {_dot(edge.target)} [style="{_STYLES[edge.role]}"];'
    yield "}"


def _dot(text: str) -> str:
    """A text in quotes, as Graphviz reads it back."""
    lines = [escape_text(line).replace("\\", "\\\\").replace('"', '\\"') for line in text.split("\n")]
    return '"' + "\\n".join(lines) + '"'
