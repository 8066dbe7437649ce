"""Examples that cannot be worked out: which line is broken and why, and no folder of ours."""

from __future__ import annotations

from pathlib import Path

from tests.support.commands import assay
from tests.support.mixed import mixed

FILES = """, examples = [ S.Example::{ name = "e", files = [ S.example.file "facts.json"\
 "{\\"release\\": \\"x\\", \\"cores\\": 2}", S.example.file "app-1/LOG" \
(S.example.lines [ "{\\"ts\\": \\"2026-01-01T00:00:01Z\\", \\"kind\\": \\"enqueue\\", \
\\"job\\": \\"a\\", \\"prio\\": \\"lo\\"}", "{\\"kind\\" \\"start\\"}" ]) ], \
expect = [ S.example.samples m.wait ([] : List Text) ] } ]
    , cuts ="""


def said_of(tmp_path: Path, cache: Path, log: str) -> str:
    """What is said of an example with a log of a name."""
    here = mixed(tmp_path / "here", ("package.dhall", ", cuts =", FILES.replace("LOG", log)))
    done = assay("--cache", cache, "test", within=here)
    assert done.status == 3, done.err
    return done.out


def test_a_broken_line_of_an_example_is_told_with_its_reason(tmp_path: Path, cache: Path) -> None:
    said = said_of(tmp_path, cache, "app.log")
    assert "    error[example]: example `e` has broken records: 1\n" in said
    assert "      note: the first: app-1/app.log:2: not JSON\n" in said


def test_a_wrong_file_of_an_example_leads_to_no_folder_of_ours(tmp_path: Path, cache: Path) -> None:
    said = said_of(tmp_path, cache, "ap.log")
    assert "    error[no-logs]: host app-1 has no log file: app-1\n" in said
    assert "/tmp" not in said
