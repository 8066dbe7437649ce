"""Check whether edited observations agree with the cells that they quote (`assay check-prose`)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay.app.draft import read_observed_reports
from assay.app.observations import parse_observations, read_text
from assay.app.session import Session
from assay.report.observations.check_prose import check_sentences
from assay.util.diagnostics import DIFFERENCE, raise_all


def check_observations(session: Session, file: Path, places: Sequence[str]) -> int:
    """Check edited observations on reports; return the number of quotes in them.

    Raises AssayError with every sentence that disagrees with its cells, and with wrong quotes.
    """
    reports = read_observed_reports(session, places)
    prose = parse_observations(str(file), read_text(file), reports.changes)
    raise_all(check_sentences(reports.checked, reports.rules, prose, reports.changes), DIFFERENCE)
    return len(prose.quotes)
