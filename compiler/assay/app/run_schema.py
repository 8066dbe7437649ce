"""`assay schema`: what the documents of a run must hold, as JSON Schema."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from assay.ingest.run_metadata import INSTANT
from assay.lang.model.package import Constant, Package

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
    constants = tuple(constants)
    for constant in constants:
        _add(root, constant.path, constant, required=constant.default is None and not constant.or_at)
        if constant.or_at and constant.default is None:
            alternatives = [_required(path) for path in (constant.path, *constant.or_at)]
            root.setdefault("allOf", []).append({"anyOf": alternatives})
    for constant in constants:
        for path in constant.or_at:
            _add(root, path, constant, required=False)
    return root


def _add(root: dict[str, Any], path: tuple[str, ...], constant: Constant, required: bool) -> None:
    """Add the value of a constant at a path to the schema of its document."""
    node = root
    for place, key in enumerate(path, start=1):
        if required and key not in node.setdefault("required", []):
            node["required"].append(key)
        members: dict[str, Any] = node.setdefault("properties", {})
        leaf = _leaf(constant) if place == len(path) else {"type": "object"}
        node = members.setdefault(key, leaf)
        # an older form of a document may have a text where a newer one has an object
        types = sorted({*_types(node), *_types(leaf)})
        if len(types) > 1:
            node["type"] = types


def _types(schema: Mapping[str, Any]) -> list[str]:
    types = schema.get("type", [])
    return [types] if isinstance(types, str) else types


def _required(path: tuple[str, ...]) -> dict[str, Any]:
    """A schema of documents that have something at a path."""
    inner = {"properties": {path[0]: _required(path[1:])}} if path[1:] else {}
    return {"required": [path[0]], **inner}


def _leaf(constant: Constant) -> dict[str, Any]:
    unit = f" ({constant.unit.symbol or constant.unit.name})" if constant.unit.name != "dimensionless" else ""
    default = "" if constant.default is None else f"; {constant.default!r} where it is missing"
    above = {"exclusiveMinimum": 0} if constant.positive or constant.type == "duration" else {}
    kind = {**_TYPES[constant.type], **above}
    if constant.type == "instant" and constant.default == "":  # one that need not be told
        kind = {"anyOf": [kind, {"const": ""}]}
    return {**kind, "description": f"{constant.doc}{unit}{default}"}
