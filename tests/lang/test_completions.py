"""The records of the schema that specs complete with `S.NAME::{ … }`: their defaults have the types of their fields."""

from __future__ import annotations

import pytest

from assay_dhall import Evaluator, FolderPolicy, Node, normalize, print_node
from assay_dhall.syntax import RecordType
from tests.support.words import SCHEMA

PACKAGE = SCHEMA / "package.dhall"


def _read_completions() -> dict[str, tuple[dict[str, Node], set[str]]]:
    """Return the fields of each type that the schema completes, and those with a default, by its name in `S`."""
    package = Evaluator(FolderPolicy([SCHEMA.parent])).evaluate_file(PACKAGE)
    values, types = normalize(package.value), normalize(package.type)
    return {
        name: (values.fields[name].fields["Type"].fields, set(item.fields["default"].fields))
        for name, item in types.fields.items()
        if isinstance(item, RecordType) and item.fields.keys() == {"Type", "default"}
    }


COMPLETIONS = _read_completions()


@pytest.mark.parametrize("name", COMPLETIONS)
def test_defaults_fit_the_type(name: str) -> None:
    fields, defaults = COMPLETIONS[name]
    required = ", ".join(f"{field} : {print_node(node)}" for field, node in fields.items() if field not in defaults)
    source = f"let S = ./package.dhall in \\(given : {{ {required} }}) -> S.{name}::given : S.{name}.Type"
    assert Evaluator(FolderPolicy([SCHEMA.parent])).evaluate_text(source, str(SCHEMA / "given.dhall"))


def test_parts_of_reports_are_completed() -> None:
    assert {"Section", "Chart", "RunTimeline", "ManifestRow", "Form", "Lookup", "Tally"} <= COMPLETIONS.keys()
