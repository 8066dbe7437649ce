"""`provenance.json`: all that a build was made of, so that it can be made again and compared.

`content` names no place of this machine, and `hash` is of it alone; `places` tells where the runs were.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata

from assay.report.figures import Choices, RunFigures
from assay.spec.normal_form import Checked

TOOLS = ("duckdb", "sqlglot", "typst", "vl-convert-python")


@dataclass(frozen=True, slots=True)
class Inputs:
    """The raw files of a run: where it is, and name, bytes and sha256 of each file, and what was quarantined."""

    run: str
    place: str
    files: tuple[tuple[str, int, str], ...]
    quarantined: tuple[tuple[str, int], ...]


def versions() -> dict[str, str]:
    """Versions of Assay and of the tools that shape its output."""
    return {name: metadata.version(name) for name in ("assay", *TOOLS)}


def provenance(
    checked: Checked,
    report: str,
    metrics: Sequence[str],
    choices: Choices,
    runs: Sequence[RunFigures],
    inputs: Sequence[Inputs],
) -> dict[str, object]:
    """The provenance of a build as plain data."""
    content: dict[str, object] = {
        "report": report,
        "options": {
            "style": choices.style,
            "summary": choices.summary,
            "filters": list(choices.filters),
            "date": choices.date,
            "title": choices.title,
            "author": choices.author,
        },
        "versions": versions(),
        "specs": checked.sources,
        "definitions": {name: checked.definitions[name] for name in sorted(metrics)},
        "runs": [_run(run, item) for run, item in zip(runs, inputs, strict=True)],
    }
    return {
        "hash": content_hash(content),
        "content": content,
        "places": {item.run: item.place for item in inputs},
    }


def content_hash(content: Mapping[str, object]) -> str:
    """sha256 of the content, written in one way only."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _run(run: RunFigures, inputs: Inputs) -> dict[str, object]:
    return {
        "id": run.id,
        "files": [{"file": name, "bytes": size, "sha256": digest} for name, size, digest in inputs.files],
        "quarantined": [{"host": host, "lines": lines} for host, lines in inputs.quarantined],
        "filters": [
            {"filter": item.filter, "argument": item.argument, "grain": item.grain, "rejected": item.rejected,
             "rows": item.rows}
            for item in run.results.filters
        ],
    }  # fmt: skip


def printed(found: Mapping[str, object], checked: Checked) -> dict[str, str]:
    """What the report prints of its provenance: label -> text."""
    tools = versions()
    return {
        "Provenance": str(found["hash"]),
        "Specs": checked.sources,
        "Assay": tools.pop("assay"),
        **tools,
    }
