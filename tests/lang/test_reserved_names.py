"""The documented reserved names are those that the compiler refuses."""

from __future__ import annotations

from assay.lang import reserved_names
from tests.support.documentation import find_code_spans, parse_page


def _read_table() -> list[set[str]]:
    """Return the names of each row of the documented table, without what they depend on."""
    page = parse_page("docs/spec-language/package.md")
    (table,) = (item for item in page.tables if item.section == "Reserved names")
    return [{name for name in find_code_spans(row[1]) if name != "GRAIN_rows"} for row in table.rows]


def test_documented_names_are_reserved() -> None:
    tables, series, fields, members, samples, labels = _read_table()
    assert all(reserved_names.is_reserved_table(name, is_grain=True) for name in tables)
    assert all(reserved_names.is_reserved_table(name) for name in series)
    assert not any(reserved_names.is_reserved_table(name, is_grain=True) for name in series)
    assert fields == {*reserved_names.EVENTS, reserved_names.SERIES}
    assert all(reserved_names.is_grain_column(name) for name in members - {reserved_names.BASE})
    assert {reserved_names.BASE, reserved_names.ACCEPTED} <= members
    assert all(reserved_names.is_sample_column(name) for name in samples)
    assert labels == reserved_names.READINGS
