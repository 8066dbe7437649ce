"""Describe the documents of a run as JSON Schema (`assay schema`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from assay.ingest.run_constants import INSTANT
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


def create_run_schemas(package: Package) -> dict[str, dict[str, Any]]:
    """Return the JSON Schema of each document of a run by file name: the constants read from it, by path.

    Constants of lines have no schema. A constant with several candidate files is in the schema of each.
    """
    constants_by_file: dict[str, list[Constant]] = {}
    for source in package.sources:
        for constant in (item for item in source.constants if not item.line):
            for file in constant.files:
                constants_by_file.setdefault(file, []).append(constant)
    return {
        file: create_schema(package.system, file, constants) for file, constants in sorted(constants_by_file.items())
    }


def create_schema(system: str, file: str, constants: Iterable[Constant]) -> dict[str, Any]:
    """Return the JSON Schema of a file from which these constants are read."""
    root: dict[str, Any] = {"$schema": DRAFT, "title": f"{file} of a run of {system}", "type": "object"}
    constants = tuple(constants)
    for constant in constants:
        _add_constant(root, constant.path, constant, is_required=constant.default is None and not constant.or_at)
        if constant.or_at and constant.default is None:
            alternatives = [_require_path(path) for path in (constant.path, *constant.or_at)]
            root.setdefault("allOf", []).append({"anyOf": alternatives})
    for constant in constants:
        for path in constant.or_at:
            _add_constant(root, path, constant, is_required=False)
    return root


def _add_constant(root: dict[str, Any], path: tuple[str, ...], constant: Constant, is_required: bool) -> None:
    """Add the value of a constant at a path to the schema of its document."""
    node = root
    for place, key in enumerate(path, start=1):
        if is_required and key not in node.setdefault("required", []):
            node["required"].append(key)
        members: dict[str, Any] = node.setdefault("properties", {})
        leaf = _create_leaf(constant) if place == len(path) else {"type": "object"}
        node = members.setdefault(key, leaf)
        # Older forms of a document may have a text instead of an object.
        types = sorted({*_list_types(node), *_list_types(leaf)})
        if len(types) > 1:
            node["type"] = types


def _list_types(schema: Mapping[str, Any]) -> list[str]:
    types = schema.get("type", [])
    return [types] if isinstance(types, str) else types


def _require_path(path: tuple[str, ...]) -> dict[str, Any]:
    """Return a schema of documents that have a value at a path."""
    inner = {"properties": {path[0]: _require_path(path[1:])}} if path[1:] else {}
    return {"required": [path[0]], **inner}


def _create_leaf(constant: Constant) -> dict[str, Any]:
    unit = f" ({constant.unit.symbol or constant.unit.name})" if constant.unit.name != "dimensionless" else ""
    default = "" if constant.default is None else f"; {constant.default!r} where it is missing"
    minimum = {"exclusiveMinimum": 0} if constant.positive or constant.type == "duration" else {}
    type_schema = {**_TYPES[constant.type], **minimum}
    if constant.type == "instant" and constant.default == "":  # an optional instant
        type_schema = {"anyOf": [type_schema, {"const": ""}]}
    return {**type_schema, "description": f"{constant.doc}{unit}{default}"}
