"""The SQL of a build as files: what was created, checked and asked, in order, with places for a run's constants."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path

from assay.app.compute import Computation
from assay.engine.graph import Node
from assay.sql import dialect
from assay.util.diagnostics import fail
from assay.util.escape import visible_json, visible_lines
from assay.util.os_errors import is_below

HEAD = "-- `$name` stands for a constant of the run; constants.json has the values.\n"
PHASES = "phases"


def write_sql(folder: Path, found: Computation) -> None:
    """`tables/NN-name.sql` in order of creation, `checks/`, `metrics/`, and the constants of each run.

    What ran for phases is in a folder of its own, and their bounds are among the constants.
    """
    write_texts(folder, sql_texts(found.graph))
    write_texts(folder / PHASES, sql_texts(found.cut))
    constants = {run.prepared.run.id: dict(sorted(run.prepared.constants.items())) for run in found.runs}
    for view in found.views:
        bounds = view.phase.parameters if view.phase else {}
        constants[view.id] = dict(sorted({**view.prepared.constants, **bounds}.items()))
    text = visible_json(constants)
    folder.mkdir(parents=True, exist_ok=True)  # a report may ask for nothing
    (folder / "constants.json").write_text(text + "\n", encoding="utf-8")


def write_texts(folder: Path, texts: Mapping[str, str]) -> None:
    """Files of a folder by their names; AssayError for one that would stand elsewhere."""
    made: set[Path] = set()
    for name, text in texts.items():
        if not is_below(name):
            raise fail("sql-file", f"a file of SQL cannot be called `{name}`", expected="a path below its folder")
        place = folder / name
        if place.parent not in made:
            place.parent.mkdir(parents=True, exist_ok=True)
            made.add(place.parent)
        place.write_text(escape_comment(text), encoding="utf-8")


@functools.lru_cache(maxsize=4096)  # those who watch files write the same again
def escape_comment(text: str) -> str:
    return visible_lines(dialect.printable(text))


def sql_texts(graph: tuple[Node, ...]) -> Mapping[str, str]:
    """File name -> text of every statement."""
    texts: dict[str, str] = {}
    made = 0
    for node in graph:
        head = HEAD if node.places else ""
        if node.statement.kind in ("table", "view"):
            made += 1
            texts[f"tables/{made:02}-{node.name}.sql"] = f"{head}{node.text};\n"
        else:
            texts[file_of(node)] = f"{head}{node.text};\n"
    return texts


def file_of(node: Node) -> str:
    """The file of a check, of rows, of counts or of a metric."""
    kind = node.statement.kind
    if folder := {"check": "checks", "rows": "rows", "count": "completeness"}.get(kind):
        return f"{folder}/{node.name.removeprefix(f'{kind} ').replace(' ', '-')}.sql"
    return f"metrics/{node.name}.sql"
