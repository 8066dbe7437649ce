"""What golden reports of a workspace print of its metrics."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.lang.normal_form import CheckedPackage
from assay.report.run_results import row_label
from assay.util.diagnostics import Span, fail

ENDING = ".document.json"


@dataclass(frozen=True, slots=True)
class Printed:
    """What a golden report prints of a metric: name of the report's file, its title, the part, the label; the printed
    values, each with the heading of its column (or row); whether it was of the definition that holds now."""

    file: str
    title: str
    section: str
    label: str
    values: tuple[tuple[str, str], ...]
    current: bool


def golden_documents(root: Path) -> dict[str, dict[str, Any]]:
    """File name -> content of the golden reports of a workspace.  AssayError `golden-report` for one that is none."""
    found = {}
    for place in sorted((root / "golden" / "reports").glob(f"*{ENDING}")):
        try:
            content = json.loads(place.read_text(encoding="utf-8"))
            _ = [entry["id"] for group in content["dictionary"] for entry in group["entries"]]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise fail("golden-report", f"the golden report cannot be read: {error}", span=Span(str(place))) from None
        found[place.name.removesuffix(ENDING)] = content
    return found


def printed(
    documents: Mapping[str, Mapping[str, Any]], systems: Sequence[CheckedPackage]
) -> dict[tuple[str, str], list[Printed]]:
    """(system, metric) -> what golden reports print of it.

    A report is of the system that knows the most of the metrics in its dictionary, by id and definition."""
    found: dict[tuple[str, str], list[Printed]] = {}
    for file, document in documents.items():
        entries = {entry["id"]: entry for group in document["dictionary"] for entry in group["entries"]}
        checked = max(systems, key=lambda item: count_entries(item, entries), default=None)
        if checked is None or count_entries(checked, entries) == (0, 0):
            continue
        for metric, section, label, values in _values(document, entries):
            if values:
                current = entries.get(metric, {}).get("definition") == checked.definitions.get(metric)
                row = Printed(file, str(document["title"]), section, label, values, current)
                found.setdefault((checked.package.system, metric), []).append(row)
    return found


def count_entries(checked: CheckedPackage, entries: Mapping[str, Mapping[str, str]]) -> tuple[int, int]:
    same = sum(item.get("definition") == checked.definitions.get(key, 0) for key, item in entries.items())
    return same, sum(key in checked.definitions for key in entries)


Values = tuple[tuple[str, str], ...]


def _values(document: Mapping[str, Any], entries: Mapping[str, Any]) -> Iterator[tuple[str, str, str, Values]]:
    """Metric, part, label and values, of tables of metrics and of tables whose labels are those of one metric."""
    for section in document["sections"]:
        for metric, row in zip(section["metrics"], section["rows"], strict=False):
            yield metric, section["title"], row[0], tuple(zip(section["header"][1:], row[1:], strict=True))
    labels: dict[str, list[str]] = {}
    for key, entry in entries.items():
        labels.setdefault(row_label(entry["name"], entry["unit"]), []).append(key)
    alone = {label: keys[0] for label, keys in labels.items() if len(keys) == 1}
    for gallery in document.get("galleries", ()):
        for table in gallery["tables"]:
            title = " / ".join(filter(None, (gallery.get("title", ""), table["title"])))
            for row in table["rows"]:
                if row[0] in alone:
                    yield alone[row[0]], title, row[0], tuple(zip(table["header"][1:], row[1:], strict=True))
            for column, label in enumerate(table["header"][1:], start=1):
                if label in alone:
                    yield alone[label], title, label, tuple((row[0], row[column]) for row in table["rows"])
