"""Look up number styles by name: how values, deltas and percents of a comparison are written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from assay.number_styles.org_2023 import Org2023
from assay.number_styles.prefixed import Prefixed
from assay.number_styles.row import Row
from assay.number_styles.three_digits import ThreeDigits
from assay.number_styles.typst_2026 import Typst2026
from assay.util.diagnostics import fail, suggest_names


class Style(Protocol):
    """A number style.  `width` is the field width of a metric; None is an absent value."""

    @property
    def name(self) -> str:
        """Return the name of the style in report specs."""
        ...

    @property
    def has_sample_counts(self) -> bool:
        """Return whether each section of a table ends with a row of sample counts."""
        ...

    @property
    def has_unit_prefixes(self) -> bool:
        """Return whether the unit of a row has a prefix that suits its values: µs, ms."""
        ...

    @property
    def follows_from_print(self) -> bool:
        """Return whether deltas are functions of printed values; else they depend on digits that are not printed."""
        ...

    def format_table_row(self, values: Sequence[float | None], width: int) -> Row:
        """Return the texts of unrounded values, of which the first is the base."""
        ...

    def format_printed_row(self, printed_cells: Sequence[str]) -> Row:
        """Return the row of printed cells.  Raises AssayError if deltas depend on digits that are not printed."""
        ...

    def can_print(self, base: str, value: str, delta: str, percent: str, width: int) -> bool:
        """Return whether the printed delta and percent are possible for the two printed cells."""
        ...

    def format_sample_count(self, count: int) -> str:
        """Return the cell of a sample count.  Raises AssayError if the style has none."""
        ...


_STYLES: dict[str, Style] = {item.name: item for item in (Org2023(), Prefixed(), ThreeDigits(), Typst2026())}


def get_style(name: str) -> Style:
    """Return the number style of a name.  Raises AssayError, with a hint, for an unknown name."""
    if name not in _STYLES:
        raise fail("unknown-number-style", f"no number style is called `{name}`", hint=suggest_names(name, _STYLES))
    return _STYLES[name]


def list_style_names() -> tuple[str, ...]:
    """Return the names of all number styles, sorted."""
    return tuple(sorted(_STYLES))
