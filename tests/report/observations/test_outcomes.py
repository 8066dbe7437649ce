"""Test what is said of the results of scenarios and expectations of articles."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assay.report.blocks.verdict import NOT_JUDGED
from assay.report.cell_links import JUDGED, OUTCOME, WORDS, CellLink, CellVerdict
from assay.report.document import Document, Part
from assay.report.document_json import parse_document
from assay.report.observations.sentences import describe_outcomes
from assay.report.tables import Table
from tests.support.documentation import ROOT

SCENARIOS = ("Scenario", "Date", "Version", "Result", "Why")
RULES = ("Metric", "before", "after", "Δ%", "Rule", "Holds")
NO_BASELINE = "there is no other run to compare with"
#: header, kinds of cells, rows, and what is said of them
CASES = {
    "scenarios-that-pass": (
        SCENARIOS, [OUTCOME],
        [("Load", "2026-01-01", "1.1", "pass", ""), ("Fault", "2026-01-01", "1.1", "pass", "")],
        ["“Load” and “Fault” pass in 1.1."],
    ),
    "scenarios-of-two-versions": (
        SCENARIOS, [OUTCOME],
        [("Load", "2026-01-01", "1.1", "fail", "1 of 4"), ("Load", "2026-01-02", "1.2", "cannot tell", "1 of 4")],
        ["“Load” fails in 1.1.", "“Load” cannot tell in 1.2."],
    ),
    "scenarios-that-are-not-decided": (
        SCENARIOS, [OUTCOME],
        [("Load", "—", "1.1", "no baseline", NO_BASELINE), ("Fault", "—", "1.1", "no baseline", NO_BASELINE),
         ("Sizes", "—", "1.1", "N/A", NOT_JUDGED)],
        [f"“Load” and “Fault” are not decided: {NO_BASELINE}."],
    ),
    "expectations": (
        RULES, [WORDS, JUDGED],
        [("CPU, %", "1", "2", "+100", "at most 10 % higher", "no"),
         ("Writes, kB/s", "2", "1", "-50", "falls by at least 50 %", "yes"),
         ("Peers", "2", "2", "0", "changes by at most 5 %", "yes"),
         ("Swap, B", "—", "—", "—", "at most 10 % higher", "no value")],
        ["These expectations hold: Writes falls by at least 50 %; Peers changes by at most 5 %.",
         "These expectations do not hold: CPU is at most 10 % higher."],
    ),
    "expectations-of-several-runs": (
        ("", *RULES), [WORDS, JUDGED],
        [("1.1", "CPU, %", "1", "2", "+100", "at most 10 % higher", "no")],
        ["These expectations do not hold: CPU is at most 10 % higher in 1.1."],
    ),
}  # fmt: skip


def create_document(header: tuple[str, ...], kinds: list[str], rows: list[tuple[str, ...]]) -> Document:
    """Return a document with one table, whose last cells are of some kinds."""
    first = len(header) - len(kinds)
    links = tuple(CellLink(y, first + x, kind, ()) for y in range(len(rows)) for x, kind in enumerate(kinds))
    result, label = (header.index("Result"), 0) if "Result" in header else (len(header) - 1, header.index("Metric"))
    verdicts = tuple(CellVerdict(y, result, row[result]) for y, row in enumerate(rows) if row[-1] != NOT_JUDGED)
    units = tuple(row[label].partition(", ")[2] for row in rows)
    table = Table("Results", header, tuple(rows), leads=links, row_units=units, verdicts=verdicts)
    document = parse_document((ROOT / "golden" / "reports" / "two.document.json").read_text(encoding="utf-8"))
    return replace(document, parts=(Part("part-1", "Results", (), (), (table,)),))


@pytest.mark.parametrize("name", CASES)
def test_outcomes_are_said_of_tables(name: str) -> None:
    header, kinds, rows, sentences = CASES[name]
    assert list(describe_outcomes(create_document(header, kinds, rows))) == sentences
