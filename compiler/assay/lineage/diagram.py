"""Lay out a lineage as a diagram of boxes and lines.

Each table is a box with a row per column, from raw records on the left to printed cells on the right. This module only
computes positions and sizes, in pixels; a template draws them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from assay.lang.model.package import Package
from assay.lineage.column_lineage import CONSTANTS, ROWS, Origin
from assay.lineage.graph import describe_column, get_kind, list_record_places
from assay.lineage.metric_lineage import ROLES, Lineage
from assay.plan.planner import FilterStep, GrainRowsStep, SeriesStep
from assay.util.escape import escape_text, measure_width, truncate

#: the roles of columns that make a value or pick its row
DIRECT = ("value", "picks")
ROW, HEAD, GAP, LAYER_GAP, LETTER = 18, 26, 22, 70, 6.2
LONGEST = 40  # characters of a label
SWEEPS = 6


@dataclass(frozen=True, slots=True)
class Row:
    """A column in its box: short and full label, its most direct role, the y of its middle."""

    label: str
    full: str
    role: str
    y: float


@dataclass(frozen=True, slots=True)
class Box:
    """A table: its kind (record, constant, event, relation, grain, series, metric, cell ...), name, place and size."""

    kind: str
    name: str
    label: str
    x: float
    y: float
    width: float
    height: float
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """The dependency of one row on another: its role, and a curve as SVG path."""

    role: str
    path: str


@dataclass(frozen=True, slots=True)
class Picture:
    """Boxes and lines, and the size of the picture."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]


Key = tuple[str, str]
"""Kind and name of a box."""
Spot = tuple[Key, str]
"""A row of a box: the box and the label of the row."""


@dataclass(slots=True)
class _Draft:
    """Boxes with their rows (label -> role), and edges between rows."""

    rows: dict[Key, dict[str, str]] = field(default_factory=dict)
    edges: set[tuple[Spot, Spot, str]] = field(default_factory=set)

    def add_row(self, box: Key, label: str, role: str) -> Spot:
        """Add a row to a box, or make the role of an existing one more direct."""
        labels = self.rows.setdefault(box, {})
        labels[label] = min(labels.get(label, role), role, key=ROLES.index)
        return box, label


def build_picture(
    lineage: Lineage, package: Package, cells: Mapping[Origin, Sequence[str]], roles: Iterable[str] = DIRECT
) -> Picture:
    """Return the picture of the columns of a lineage with one of `roles`; `cells` are printed cells of its roots."""
    return _lay_out(_build_draft(lineage, package, cells, frozenset(roles)))


def _build_draft(
    lineage: Lineage, package: Package, cells: Mapping[Origin, Sequence[str]], roles: frozenset[str]
) -> _Draft:
    draft = _Draft()
    spots = {
        item: draft.add_row(_get_box(lineage, item), _label_column(lineage, item), role)
        for item, role in sorted(lineage.roles.items())
        if role in roles
    }
    for item, origin, role in lineage.iter_edges():
        if item in spots and origin in spots and role in roles:
            draft.edges.add((spots[origin], spots[item], role))
    for item, spot in spots.items():
        for text in list_record_places(lineage, package, item):
            source, _, place = text.partition(" ")
            raw = draft.add_row(("record", f"{source} → {spot[0][1]}"), place, lineage.roles[item])
            draft.edges.add((raw, spot, "value"))
    for root, texts in cells.items():
        for text in texts if root in spots else ():
            report, _, place = text.partition(": ")
            draft.edges.add((spots[root], draft.add_row(("cell", report), place.removeprefix("/"), "value"), "value"))
    return draft


def _get_box(lineage: Lineage, item: Origin) -> Key:
    statement = lineage.statements.get(item.table)
    kind = get_kind(statement, item.table)
    if item.table == CONSTANTS:
        return kind, "constants"
    step = statement.step if statement else None
    if isinstance(step, (GrainRowsStep, FilterStep)):
        return kind, step.grain.name
    return kind, step.series.name if isinstance(step, SeriesStep) else item.table


def _label_column(lineage: Lineage, item: Origin) -> str:
    description = describe_column(lineage.statements.get(item.table), item)
    name = "(rows)" if item.column == ROWS else item.column
    return f"{name} · {description}" if description not in ("", "column") else name


def _lay_out(draft: _Draft) -> Picture:
    if not draft.rows:
        return Picture(0, 0, (), ())
    followers = _find_followers(draft)
    layers = _assign_layers(draft.rows, followers)
    order = _order_layers(draft, layers)
    sizes = {key: (_estimate_width(key, rows), HEAD + ROW * len(rows) + 6.0) for key, rows in draft.rows.items()}
    tops = _compute_tops(draft, order, {key: height for key, (_, height) in sizes.items()})
    x, lefts = 12.0, {}
    for layer in order:
        for key in layer:
            lefts[key] = x
        x += max(sizes[key][0] for key in layer) + LAYER_GAP
    boxes = tuple(
        build_box(key, draft.rows[key], (lefts[key], tops[key]), sizes[key]) for layer in order for key in layer
    )
    height = max(box.y + box.height for box in boxes) + 12
    return Picture(round(x - LAYER_GAP + 12, 1), round(height, 1), boxes, tuple(_draw_lines(draft, boxes)))


def build_box(key: Key, rows: Mapping[str, str], corner: tuple[float, float], size: tuple[float, float]) -> Box:
    """Return a box with its rows placed; `corner` is its upper left one, `size` has width and height."""
    (x, y), (width, height) = corner, size
    placed_rows = tuple(
        Row(_shorten(label), escape_text(label), role, round(y + HEAD + ROW * (index + 0.5), 1))
        for index, (label, role) in enumerate(rows.items())
    )
    return Box(key[0], key[1], _shorten(key[1]), round(x, 1), round(y, 1), round(width, 1), height, placed_rows)


def _shorten(text: str) -> str:
    return truncate(escape_text(text), LONGEST)


def _estimate_width(key: Key, rows: Iterable[str]) -> float:
    longest = max(measure_width(_shorten(text)) for text in rows)
    return (
        max(longest * LETTER, (measure_width(_shorten(key[1])) + measure_width(key[0]) * 0.85 + 3) * (LETTER + 0.4))
        + 22
    )


def _find_followers(draft: _Draft) -> dict[Key, set[Key]]:
    """Map each box to the boxes that depend on it."""
    followers: dict[Key, set[Key]] = {key: set() for key in draft.rows}
    for (start, _), (end, _), _role in draft.edges:
        if start != end:
            followers[start].add(end)
    return followers


def _assign_layers(keys: Iterable[Key], followers: Mapping[Key, set[Key]]) -> dict[Key, int]:
    """Return the layer of each box, counted from the left: as far right as the boxes that depend on it allow.

    An edge that closes a cycle is ignored.
    """
    depth: dict[Key, int] = {}

    def measure_depth(key: Key, trail: frozenset[Key]) -> int:
        if key not in depth:
            next_boxes = (item for item in sorted(followers[key]) if item not in trail)
            depth[key] = max((measure_depth(item, trail | {item}) + 1 for item in next_boxes), default=0)
        return depth[key]

    for key in sorted(keys):
        measure_depth(key, frozenset((key,)))
    deepest = max(depth.values())
    return {key: deepest - value for key, value in depth.items()}


def _order_layers(draft: _Draft, layers: Mapping[Key, int]) -> list[list[Key]]:
    """Return the boxes of each layer from the top, each near the middle of its neighbours so that few lines cross."""
    order = [sorted(key for key in layers if layers[key] == number) for number in range(max(layers.values()) + 1)]
    links = _link_boxes(draft)
    for sweep in range(SWEEPS):
        for number in range(len(order)) if sweep % 2 else reversed(range(len(order))):
            places = {key: index / len(layer) for layer in order for index, key in enumerate(layer)}
            middles = {key: _average([places[item] for item in links[key]], places[key]) for key in order[number]}
            order[number] = [key for _, key in sorted((middles[key], key) for key in order[number])]
    return order


def _link_boxes(draft: _Draft) -> dict[Key, list[Key]]:
    links: dict[Key, list[Key]] = defaultdict(list)
    for (start, _), (end, _), _role in sorted(draft.edges):
        if start != end:
            links[start].append(end)
            links[end].append(start)
    return links


def _average(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _compute_tops(draft: _Draft, order: Sequence[Sequence[Key]], heights: Mapping[Key, float]) -> dict[Key, float]:
    """Return the top of each box: near the boxes that it is linked with, without overlap."""
    tops = {key: y for layer in order for key, y in _stack(layer, dict.fromkeys(layer, 0.0), heights)}
    links = _link_boxes(draft)
    for sweep in range(SWEEPS):
        for layer in order if sweep % 2 else reversed(order):
            middles = {key: tops[key] + heights[key] / 2 for key in tops}
            wished = {key: _average([middles[i] for i in links[key]], middles[key]) - heights[key] / 2 for key in layer}
            placed = dict(_stack(layer, wished, heights))
            shift = _average([wished[key] - placed[key] for key in layer], 0.0)
            tops.update({key: y + shift for key, y in placed.items()})
    least = min(tops.values())
    return {key: y - least + 12 for key, y in tops.items()}


def _stack(
    layer: Sequence[Key], wished: Mapping[Key, float], heights: Mapping[Key, float]
) -> Iterator[tuple[Key, float]]:
    end = float("-inf")
    for key in layer:
        top = max(wished[key], end)
        yield key, top
        end = top + heights[key] + GAP


def _draw_lines(draft: _Draft, boxes: Iterable[Box]) -> Iterator[Line]:
    """Yield curves from the right of a row to the left of another; within a box, round its left side."""
    places = {}
    for box in boxes:
        for label, row in zip(draft.rows[box.kind, box.name], box.rows, strict=True):
            places[(box.kind, box.name), label] = (box.x, box.x + box.width, row.y)
    for start, end, role in sorted(draft.edges, key=lambda edge: (-ROLES.index(edge[2]), edge)):
        (left, right, y0), (x1, _, y1) = places[start], places[end]
        if start == end:
            continue
        if start[0] == end[0]:
            bend = round(min(30.0, 8 + abs(y1 - y0) / 6), 1)
            yield Line(role, f"M{left},{y0} C{left - bend},{y0} {left - bend},{y1} {left},{y1}")
        else:
            half = round(max(abs(x1 - right) / 2, 30), 1)
            yield Line(role, f"M{right},{y0} C{round(right + half, 1)},{y0} {round(x1 - half, 1)},{y1} {x1},{y1}")
