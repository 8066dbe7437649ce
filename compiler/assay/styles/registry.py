"""Number styles: how values, deltas and percents of a comparison are written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from assay.styles.org_2023 import Org2023
from assay.styles.row import Row
from assay.styles.three_digits import ThreeDigits
from assay.styles.typst_2026 import Typst2026
from assay.util.diagnostics import did_you_mean, fail


class Style(Protocol):
    """What a number style decides. `width` is the metric's field width; a value of None is an absent one."""

    @property
    def name(self) -> str:
        """The name by which a report spec asks for the style."""
        ...

    @property
    def has_sample_counts(self) -> bool:
        """Whether a section of the table ends with a row of sample counts."""
        ...

    @property
    def follows_from_print(self) -> bool:
        """Whether deltas follow from printed values; else they come from digits that are not printed."""
        ...

    def table_row(self, values: Sequence[float | None], width: int) -> Row:
        """The texts of unrounded values, the base first."""
        ...

    def printed_row(self, printed: Sequence[str]) -> Row:
        """The same from printed cells; raises AssayError when the style's deltas need hidden digits."""
        ...

    def allows(self, base: str, value: str, delta: str, percent: str, width: int) -> bool:
        """Whether the printed delta and percent can belong to the two printed cells."""
        ...

    def sample_count(self, count: int) -> str:
        """The cell of a sample count; raises AssayError when the style has none."""
        ...


_STYLES: dict[str, Style] = {item.name: item for item in (Org2023(), ThreeDigits(), Typst2026())}


def style(name: str) -> Style:
    """The number style of that name; raises AssayError, with a hint, when there is none."""
    if name not in _STYLES:
        raise fail("unknown-number-style", f"no number style is called `{name}`", hint=did_you_mean(name, _STYLES))
    return _STYLES[name]


def style_names() -> tuple[str, ...]:
    """The names of all number styles, sorted."""
    return tuple(sorted(_STYLES))
