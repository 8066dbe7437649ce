"""What Assay itself reads of a chart template; all else in it is Vega-Lite, which the converter judges."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from assay.util.diagnostics import Span, fail

Json = Any
#: places (members from the outermost inwards) and what stands there
Needs = Mapping[str, str]

MARGINS = {f"usermeta.assay.margins.{side}": "a number" for side in ("left", "right", "top", "bottom")}
CHART: Needs = {
    "width": "a number",
    "usermeta.assay.scale": "a text",
    **MARGINS,
    **{f"usermeta.assay.legend.{name}": "a number above 0" for name in ("row", "gap", "stroke", "character")},
}
PANELS: Needs = {"spec.width": "a number", "spec.height": "a number"}
ROWS: Needs = {"spacing": "a number"}
GRID: Needs = {"spacing.row": "a number", "spacing.column": "a number"}
#: what may be left out
OPTIONAL: Needs = {"datasets": "a record", "layer": "a list of records", "facet": "a record", "encoding": "a record"}
TOGGLES: Needs = {"usermeta.assay.toggles.field": "a text", "usermeta.assay.toggles.names": "a list"}


def check_template(template: Mapping[str, Json], place: Path, plot: bool) -> None:
    """Raise `template`, which names the file, where what is read of a template for charts, or plots, is not there."""
    for name, kind in _needs(template, plot):
        found = _at(template, name)
        if not _is(found, kind):
            raise fail(
                "template",
                f"the chart template has no `{name}` that can be used",
                span=Span(str(place)),
                expected=kind,
                found="nothing" if found is None else repr(found)[:60],
            )


def _needs(template: Mapping[str, Json], plot: bool) -> Iterator[tuple[str, str]]:
    yield from ((name, kind) for name, kind in OPTIONAL.items() if name in template)
    yield from (MARGINS if plot else CHART).items()
    if plot and "facet" in template:
        yield from PANELS.items()
        yield from (GRID if "column" in template["facet"] else ROWS).items()
    if _at(template, "usermeta.assay.toggles"):
        yield from TOGGLES.items()


def _at(template: Mapping[str, Json], name: str) -> Json:
    """What stands at a place; None where there is none."""
    found: Json = template
    for member in name.split("."):
        found = found.get(member) if isinstance(found, Mapping) else None
    return found


def _is(found: Json, kind: str) -> bool:
    if kind.startswith("a number"):
        is_number = isinstance(found, (int, float)) and not isinstance(found, bool) and math.isfinite(found)
        return is_number and (found > 0 or not kind.endswith("above 0"))
    if kind == "a text":
        return isinstance(found, str)
    if kind == "a record":
        return isinstance(found, Mapping)
    if isinstance(found, str):  # a placeholder stands for a list
        return kind == "a list"
    return isinstance(found, list) and (kind == "a list" or all(isinstance(item, Mapping) for item in found))
