"""`assay schema`: what the documents of a run must hold, as JSON Schema."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from assay.ingest.constants import INSTANT
from assay.spec.model import Constant, Package

DRAFT = "https://json-schema.org/draft/2020-12/schema"
_TYPES: Mapping[str, Mapping[str, Any]] = {
    "integer": {"type": "integer"},
    "real": {"type": "number"},
    "text": {"type": "string"},
    "boolean": {"type": "boolean"},
    "instant": {"type": "string", "format": "date-time", "pattern": f"^{INSTANT}$"},
    "duration": {"type": "number"},
}


def run_schemas(package: Package) -> dict[str, dict[str, Any]]:
    """File of a run -> JSON Schema of it: the constants that are read from it, by their paths.

    A constant with several candidate files stands in the schema of each.
    """
    found: dict[str, list[Constant]] = {}
    for source in package.sources:
        for constant in source.constants:
            for file in constant.files:
                found.setdefault(file, []).append(constant)
    return {file: schema_of(package.system, file, constants) for file, constants in sorted(found.items())}


def schema_of(system: str, file: str, constants: Iterable[Constant]) -> dict[str, Any]:
    """The schema of a file that these constants are read from."""
    root: dict[str, Any] = {"$schema": DRAFT, "title": f"{file} of a run of {system}", "type": "object"}
    for constant in constants:
        node = root
        for key in constant.path[:-1]:
            node = _object(node, key, constant)
        _object(node, constant.path[-1], constant, **_leaf(constant))
    return root


def _object(node: dict[str, Any], key: str, constant: Constant, **leaf: Any) -> dict[str, Any]:
    """The member of an object's schema; it must be there when the constant has no default."""
    properties: dict[str, Any] = node.setdefault("properties", {})
    if constant.default is None and key not in node.setdefault("required", []):
        node["required"].append(key)
    found: dict[str, Any] = properties.setdefault(key, leaf or {"type": "object"})
    return found


def _leaf(constant: Constant) -> dict[str, Any]:
    unit = f" ({constant.unit.symbol or constant.unit.name})" if constant.unit.name != "dimensionless" else ""
    default = "" if constant.default is None else f"; {constant.default!r} where it is missing"
    above = {"exclusiveMinimum": 0} if constant.positive or constant.type == "duration" else {}
    kind = {**_TYPES[constant.type], **above}
    if constant.type == "instant" and constant.default == "":  # one that need not be told
        kind = {"anyOf": [kind, {"const": ""}]}
    return {**kind, "description": f"{constant.doc}{unit}{default}"}
