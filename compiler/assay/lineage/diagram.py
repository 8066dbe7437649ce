"""Lineage as a picture: a box for each table, a row for each of its columns, from raw records on the left to printed
cells on the right.  Only places and sizes are worked out here, in pixels; a template draws them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from assay.lang.model.package import Package
from assay.lineage.column_lineage import CONSTANTS, ROWS, Origin
from assay.lineage.graph import describe_column, kind_of, records
from assay.lineage.metric_lineage import ROLES, Lineage
from assay.plan.planner import FilterStep, GrainRowsStep, SeriesStep
from assay.util.escape import escape_text, measure_width, truncate

#: roles of the columns that a value is made of, and that say which row it is taken from
DIRECT = ("value", "picks")
ROW, HEAD, GAP, APART, LETTER = 18, 26, 22, 70, 6.2
LONGEST = 40  # characters of a label
SWEEPS = 6


@dataclass(frozen=True, slots=True)
class Row:
    """A column in its box: as it is shown and in full, the most direct role that it has, its middle."""

    label: str
    full: str
    role: str
    y: float


@dataclass(frozen=True, slots=True)
class Box:
    """A table: its kind (record, constant, event, relation, grain, series, metric, cell ...), its name, place and
    size."""

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
    """What one row gives another, as the path of a curve, and as what."""

    role: str
    path: str


@dataclass(frozen=True, slots=True)
class Picture:
    """Boxes and lines, and the size of all."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]


Key = tuple[str, str]
"""A box: its kind and name."""
Spot = tuple[Key, str]
"""A row of a box."""


@dataclass(slots=True)
class _Draft:
    """Boxes with their rows (label -> role), and edges between rows."""

    rows: dict[Key, dict[str, str]] = field(default_factory=dict)
    edges: set[tuple[Spot, Spot, str]] = field(default_factory=set)

    def row(self, box: Key, label: str, role: str) -> Spot:
        held = self.rows.setdefault(box, {})
        held[label] = min(held.get(label, role), role, key=ROLES.index)
        return box, label


def picture(
    found: Lineage, package: Package, cells: Mapping[Origin, Sequence[str]], roles: Iterable[str] = DIRECT
) -> Picture:
    """The picture of the columns of a lineage that have one of some roles; `cells` are printed cells of its roots."""
    return _placed(_drafted(found, package, cells, frozenset(roles)))


def _drafted(found: Lineage, package: Package, cells: Mapping[Origin, Sequence[str]], wanted: frozenset[str]) -> _Draft:
    draft = _Draft()
    spots = {
        item: draft.row(_box(found, item), _label(found, item), role)
        for item, role in sorted(found.roles.items())
        if role in wanted
    }
    for item, origin, role in found.edges():
        if item in spots and origin in spots and role in wanted:
            draft.edges.add((spots[origin], spots[item], role))
    for item, spot in spots.items():
        for text in records(found, package, item):
            source, _, place = text.partition(" ")
            raw = draft.row(("record", f"{source} → {spot[0][1]}"), place, found.roles[item])
            draft.edges.add((raw, spot, "value"))
    for root, texts in cells.items():
        for text in texts if root in spots else ():
            report, _, place = text.partition(": ")
            draft.edges.add((spots[root], draft.row(("cell", report), place.removeprefix("/"), "value"), "value"))
    return draft


def _box(found: Lineage, item: Origin) -> Key:
    statement = found.statements.get(item.table)
    kind = kind_of(statement, item.table)
    if item.table == CONSTANTS:
        return kind, "constants"
    step = statement.step if statement else None
    if isinstance(step, (GrainRowsStep, FilterStep)):
        return kind, step.grain.name
    return kind, step.series.name if isinstance(step, SeriesStep) else item.table


def _label(found: Lineage, item: Origin) -> str:
    about = describe_column(found.statements.get(item.table), item)
    name = "(rows)" if item.column == ROWS else item.column
    return f"{name} · {about}" if about not in ("", "column") else name


def _placed(draft: _Draft) -> Picture:
    if not draft.rows:
        return Picture(0, 0, (), ())
    below = _neighbours(draft)
    layers = _layers(draft.rows, below)
    order = _ordered(draft, layers)
    sizes = {key: (_width(key, rows), HEAD + ROW * len(rows) + 6.0) for key, rows in draft.rows.items()}
    tops = _tops(draft, order, {key: height for key, (_, height) in sizes.items()})
    x, lefts = 12.0, {}
    for layer in order:
        for key in layer:
            lefts[key] = x
        x += max(sizes[key][0] for key in layer) + APART
    boxes = tuple(
        make_box(key, draft.rows[key], lefts[key], tops[key], *sizes[key]) for layer in order for key in layer
    )
    height = max(box.y + box.height for box in boxes) + 12
    return Picture(round(x - APART + 12, 1), round(height, 1), boxes, tuple(_lines(draft, boxes)))


def make_box(key: Key, rows: Mapping[str, str], x: float, y: float, width: float, height: float) -> Box:
    made = tuple(
        Row(_short(label), escape_text(label), role, round(y + HEAD + ROW * (index + 0.5), 1))
        for index, (label, role) in enumerate(rows.items())
    )
    return Box(key[0], key[1], _short(key[1]), round(x, 1), round(y, 1), round(width, 1), height, made)


def _short(text: str) -> str:
    return truncate(escape_text(text), LONGEST)


def _width(key: Key, rows: Iterable[str]) -> float:
    longest = max(measure_width(_short(text)) for text in rows)
    return (
        max(longest * LETTER, (measure_width(_short(key[1])) + measure_width(key[0]) * 0.85 + 3) * (LETTER + 0.4)) + 22
    )


def _neighbours(draft: _Draft) -> dict[Key, set[Key]]:
    """Box -> the boxes that it gives something."""
    found: dict[Key, set[Key]] = {key: set() for key in draft.rows}
    for (start, _), (end, _), _role in draft.edges:
        if start != end:
            found[start].add(end)
    return found


def _layers(keys: Iterable[Key], below: Mapping[Key, set[Key]]) -> dict[Key, int]:
    """Layer of each box, from the left: each stands as far to the right as what it gives something allows.

    An edge that closes a circle is passed over."""
    depth: dict[Key, int] = {}

    def to_the_end(key: Key, trail: frozenset[Key]) -> int:
        if key not in depth:
            following = (item for item in sorted(below[key]) if item not in trail)
            depth[key] = max((to_the_end(item, trail | {item}) + 1 for item in following), default=0)
        return depth[key]

    for key in sorted(keys):
        to_the_end(key, frozenset((key,)))
    most = max(depth.values())
    return {key: most - value for key, value in depth.items()}


def _ordered(draft: _Draft, layers: Mapping[Key, int]) -> list[list[Key]]:
    """The boxes of each layer from the top, so that few lines cross: each near the middle of its neighbours."""
    order = [sorted(key for key in layers if layers[key] == number) for number in range(max(layers.values()) + 1)]
    near = _links(draft)
    for sweep in range(SWEEPS):
        for number in range(len(order)) if sweep % 2 else reversed(range(len(order))):
            places = {key: index / len(layer) for layer in order for index, key in enumerate(layer)}
            middles = {key: _mean([places[item] for item in near[key]], places[key]) for key in order[number]}
            order[number] = [key for _, key in sorted((middles[key], key) for key in order[number])]
    return order


def _links(draft: _Draft) -> dict[Key, list[Key]]:
    near: dict[Key, list[Key]] = defaultdict(list)
    for (start, _), (end, _), _role in sorted(draft.edges):
        if start != end:
            near[start].append(end)
            near[end].append(start)
    return near


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _tops(draft: _Draft, order: Sequence[Sequence[Key]], heights: Mapping[Key, float]) -> dict[Key, float]:
    """The top of each box: near those that it is linked with, none over another."""
    tops = {key: y for layer in order for key, y in _stacked(layer, dict.fromkeys(layer, 0.0), heights)}
    near = _links(draft)
    for sweep in range(SWEEPS):
        for layer in order if sweep % 2 else reversed(order):
            middles = {key: tops[key] + heights[key] / 2 for key in tops}
            wished = {key: _mean([middles[i] for i in near[key]], middles[key]) - heights[key] / 2 for key in layer}
            placed = dict(_stacked(layer, wished, heights))
            shift = _mean([wished[key] - placed[key] for key in layer], 0.0)
            tops.update({key: y + shift for key, y in placed.items()})
    least = min(tops.values())
    return {key: y - least + 12 for key, y in tops.items()}


def _stacked(
    layer: Sequence[Key], wished: Mapping[Key, float], heights: Mapping[Key, float]
) -> Iterator[tuple[Key, float]]:
    end = float("-inf")
    for key in layer:
        top = max(wished[key], end)
        yield key, top
        end = top + heights[key] + GAP


def _lines(draft: _Draft, boxes: Iterable[Box]) -> Iterator[Line]:
    """Curves from the right of a row to the left of another; within a box, round its left side."""
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
