"""The numbers that the docs print as examples of rounding."""

from __future__ import annotations

import re

from assay.number_styles import prefixed, three_digits
from tests.support.documentation import ROOT


def test_documented_numbers_are_rounded_so() -> None:
    page = (ROOT / "docs" / "spec-language" / "reports.md").read_text(encoding="utf-8")
    text = page.partition("### Rounding\n")[2].partition("\n## ")[0]
    examples = re.findall(r"(\d\.\d+) (?:is printed )?as `(\d\.\d+)`", text)
    assert len(examples) == 2
    for number, printed in examples:
        assert (prefixed.format_value(float(number)), three_digits.format_value(float(number))) == (printed, printed)
