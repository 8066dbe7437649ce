"""Build the graph of a lineage, from raw records to printed cells, as data and as Graphviz text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.lang.model.package import Event, Package, Source
from assay.lang.model.source_kinds import SOURCE_KINDS
from assay.lang.reserved_names import SERIES, get_key_columns
from assay.lang.scopes import LOGS
from assay.lineage import constants
from assay.lineage.column_lineage import CONSTANTS, ROWS, Origin
from assay.lineage.metric_lineage import ROLES, FieldPaths, Lineage, group_forms_by_path
from assay.plan.planner import EventStep, FilterStep, GrainRowsStep, RelationStep, SeriesStep
from assay.sql.codegen import Statement
from assay.util.escape import escape_text

#: key column -> the part of a record that it comes from
_PLACES = {"host": "the host's directory", "seq": "place in the host's files", SERIES: "name and labels of its series"}


def get_key_place(source: Source, column: str) -> str:
    """Return the part of a record that a key column comes from; empty for fields and the instant."""
    return _PLACES.get(column, "") if column in get_key_columns(source.kind) else ""


@dataclass(frozen=True, slots=True, order=True)
class Node:
    """A node: its kind, a description, and its most direct role.

    Kinds: record, constant, event, relation, grain, series, logs, metric, rows, check, cell.
    """

    id: str
    kind: str
    description: str
    role: str


@dataclass(frozen=True, slots=True, order=True)
class Edge:
    """An edge from a node (`source`) to one that depends on it, with its role."""

    source: str
    target: str
    role: str


@dataclass(frozen=True, slots=True)
class Graph:
    """Sorted nodes and edges."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


def build_graph(lineage: Lineage, package: Package, cells: Mapping[Origin, Sequence[str]]) -> Graph:
    """Return the graph of a lineage; `cells` are the printed cells that show the roots."""
    nodes = {format_column_name(item): _build_node(lineage, item, role) for item, role in lineage.roles.items()}
    edges = {
        Edge(format_column_name(origin), format_column_name(item), role) for item, origin, role in lineage.iter_edges()
    }
    for item, role in lineage.roles.items():
        for record in list_record_places(lineage, package, item):
            nodes.setdefault(record, Node(record, "record", "", role))
            edges.add(Edge(record, format_column_name(item), "value"))
    for root, texts in cells.items():
        for text in texts:
            nodes[f"cell {text}"] = Node(f"cell {text}", "cell", "", "value")
            edges.add(Edge(format_column_name(root), f"cell {text}", "value"))
    return Graph(tuple(sorted(nodes.values())), tuple(sorted(edges)))


def format_column_name(item: Origin) -> str:
    """Return the name of a column for people; rows are named by their table, constants as in SQL."""
    if item.table == CONSTANTS:
        return f"{CONSTANTS}{item.column}"
    return f"rows of {item.table}" if item.column == ROWS else f"{item.table}.{item.column}"


def _build_node(lineage: Lineage, item: Origin, role: str) -> Node:
    statement = lineage.statements.get(item.table)
    return Node(format_column_name(item), get_kind(statement, item.table), describe_column(statement, item), role)


def get_kind(statement: Statement | None, table: str) -> str:
    """Return the kind of a table."""
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
    """Describe a column: a constant; in a grain an instant, a tally, a derived column or a verdict."""
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
        **{f"{instant.name}_{field}": "field of an instant" for instant in grain.instants for field in instant.fields},
        **dict.fromkeys((instant.name for instant in grain.instants), "instant"),
        **dict.fromkeys((tally.column.name for tally in grain.tallies), "tally"),
        **dict.fromkeys((derived.column.name for derived in grain.derived), "derived"),
    }
    return kinds.get(item.column, "column")


def list_record_places(lineage: Lineage, package: Package, item: Origin) -> tuple[str, ...]:
    """Return the places in raw records that a column of an event (or of the logs) is read from.

    Of a constant: the place in the files of the run.
    """
    if item.table == CONSTANTS:
        return tuple(
            f"{source.name} {constants.format_place(constant)}"
            for source in package.sources
            for constant in source.constants
            if constant.name == item.column
        )[:1]
    statement = lineage.statements.get(item.table)
    step = statement.step if statement else None
    if not isinstance(step, EventStep) or item.column == ROWS:
        return ()
    source = next(candidate for candidate in package.sources if candidate.name == step.event.source)
    return tuple(
        f"{source.name} {text}"
        for text in list_raw_places(source, step.event, item.column, lineage.field_paths.get(item, ()))
    )


def list_raw_places(source: Source, event: Event, field: str, field_paths: Sequence[FieldPaths]) -> tuple[str, ...]:
    """Return the places at which raw records of a source hold a field of an event, as texts."""
    if place := get_key_place(source, field):
        return (place,)
    if field == "t_ns":
        if not source.time:
            return ("the sample's instant",)
        if SOURCE_KINDS[source.kind].has_columns:
            return source.time
        time_paths = dict.fromkeys(path for form in event.forms for path in form.time or source.time_paths)
        return tuple(format_path(source, path, body=False) for path in time_paths)
    return tuple(format_path(source, path, body=True) for path in group_forms_by_path(field_paths)) or (
        "by the record's name",
    )


def format_path(source: Source, path: Sequence[str], body: bool) -> str:
    """Return a path for people: `.data.slot`, or for tables the name of the column."""
    if SOURCE_KINDS[source.kind].has_columns:
        return ".".join(path)
    return "".join(f".{key}" for key in (*(source.body if body else ()), *path))


def to_data(graph: Graph) -> dict[str, object]:
    """Return a graph as plain data; edges lead from an origin to a column that depends on it."""
    return {
        "nodes": [
            {"id": item.id, "kind": item.kind, "what": item.description, "role": item.role} for item in graph.nodes
        ],
        "edges": [{"from": item.source, "to": item.target, "role": item.role} for item in graph.edges],
    }


_SHAPES = {"record": "note", "event": "box", "relation": "box3d", "grain": "component", "series": "component",
           "metric": "ellipse", "rows": "ellipse", "cell": "tab", "check": "octagon", "logs": "note",
           "constant": "note"}  # fmt: skip
_STYLES = {"value": "solid", "picks": "dashed", "rows": "dotted", "check": "dotted", "read": "dotted"}


def to_dot(graph: Graph, title: str) -> str:
    """Return a graph as Graphviz text.

    Solid lines carry values, dashed lines pick rows, dotted lines decide which rows exist.
    """
    return "\n".join(_format_dot(graph, title)) + "\n"


def _format_dot(graph: Graph, title: str) -> Iterator[str]:
    yield f"digraph {_quote_dot(title)} {{"
    yield '  rankdir="LR";'
    yield f"  label={_quote_dot(title)};"
    yield '  node [fontname="Helvetica", fontsize="10"];'
    for node in graph.nodes:
        text = f"{node.id}\n{node.description}" if node.description not in ("", "column") else node.id
        colour = "black" if ROLES.index(node.role) < ROLES.index("check") else "gray50"
        shape = _SHAPES.get(node.kind, "box")
        yield f'  {_quote_dot(node.id)} [label={_quote_dot(text)}, shape="{shape}", color="{colour}"];'
    for edge in graph.edges:
        yield f'  {_quote_dot(edge.source)} -> {_quote_dot(edge.target)} [style="{_STYLES[edge.role]}"];'
    yield "}"


def _quote_dot(text: str) -> str:
    """Quote a text for Graphviz."""
    lines = [escape_text(line).replace("\\", "\\\\").replace('"', '\\"') for line in text.split("\n")]
    return '"' + "\\n".join(lines) + '"'
