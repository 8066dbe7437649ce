"""Test that counts of lines that do not add up end an ingest, for every kind of source."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.ingest import summary
from assay.ingest.account import AccountError, check_file_counts, check_host_logs
from assay.ingest.line_counts import FileCounts, LineCount
from assay.ingest.readers import csv, json_records, samples
from assay.ingest.summary import HostLog
from assay.ingest.unknown_records import UnknownTally
from tests.ingest.test_contract import INSTANT, READERS, format_record, ingest_records

LOG = HostLog("a", 10, 9, 4, 3, 1, None, None, None)


@pytest.mark.parametrize(
    ("changes", "unknown", "is_right"),
    [
        ({}, 2, True),
        ({}, 0, True),
        ({}, 3, False),
        ({"lines": 7}, 0, False),
        ({"recognised": 7}, 0, False),
        ({"recognised": -1}, 0, False),
        ({"quarantined": 6}, 0, False),
        ({"text_lines": 4}, 0, False),
    ],
)
def test_line_counted_twice_is_an_internal_error(changes: dict[str, int], unknown: int, *, is_right: bool) -> None:
    names = [UnknownTally("a", "x", unknown, 1), UnknownTally("a", "y", 9, 1, is_malformed=True)]
    if is_right:
        check_host_logs([replace(LOG, **changes)], [*names, UnknownTally("b", "x", 9, 1)])
    else:
        with pytest.raises(AccountError, match="the lines of a host do not add up"):
            check_host_logs([replace(LOG, **changes)], names)


def test_line_without_a_form_is_an_internal_error() -> None:
    tally = LineCount("a", 0, 3, 1, 3, None, None, None, None)
    counts = FileCounts((tally, replace(tally, form=-3)), (("a", 2, -3),), ("a",), (1,), (6,))
    check_file_counts([counts])
    with pytest.raises(AccountError, match="7 lines were read, 6 have a form"):
        check_file_counts([replace(counts, lines=(7,))])
    with pytest.raises(AccountError, match="a malformed line is listed twice"):
        check_file_counts([replace(counts, malformed=counts.malformed * 2)])


@pytest.mark.parametrize("reader", [item for item in READERS if item != "engine"])
def test_every_reader_checks_its_account(reader: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class TwiceCounted(HostLog):
        def __init__(self, host: str, lines: int, *rest: Any) -> None:
            HostLog.__init__(self, host, lines - 1, *rest)

    for module in (summary, csv, json_records, samples):
        monkeypatch.setattr(module, "HostLog", TwiceCounted)
    content = b"".join(format_record(reader, number, INSTANT, b"7", b"x") for number in (1, 2))
    with pytest.raises(AccountError, match=r"LineAccount\(host=.*, read=1, used=2,"):
        ingest_records(tmp_path, reader, content)
