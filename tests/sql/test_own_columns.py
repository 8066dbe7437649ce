"""Test columns of specs with the names of the compiler's own columns: they are counted right."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from itertools import groupby
from pathlib import Path

import pytest

from tests.support.commands import run_assay
from tests.support.workspaces import edit_file

PACKAGE = Path(__file__).parent.parent / "own_columns/package.dhall"
TRIES = [(host, number, (number // 3 + len(host)) % 3) for host in ("h1", "h2") for number in range(20)]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Create a workspace and a run of it."""
    (tmp_path / "specs/tries").mkdir(parents=True)
    shutil.copy(PACKAGE, tmp_path / "specs/tries/package.dhall")
    run = tmp_path / "run"
    for host in ("h1", "h2"):
        (run / host).mkdir(parents=True)
        lines = []
        for _, number, n in (item for item in TRIES if item[0] == host):
            body = {
                "n": n,
                "place": 7 * number,
                "island": number % 2,
                "holds": 1000 + number,
                "value": n,
                "took": number + 0.5,
            }
            lines.append(json.dumps({"t": f"2026-01-01T00:00:{number:02d}Z", "k": "try", "d": body}) + "\n")
        (run / host / "log.jsonl").write_text("".join(lines), encoding="utf-8")
    (run / "meta.json").write_text('{"version": "1", "wait": 40}', encoding="utf-8")
    return tmp_path


def _query_metric(place: Path, cache: Path, metric: str) -> tuple[int, float, float]:
    """Return the size, average and maximum of a metric of the run."""
    completed = run_assay("query", metric, "--run", "run", "--format", "json", "--cache", cache, cwd=place)
    assert completed.status == 0, completed.err
    (result,) = completed.parse_json()
    return result["size"], result["average"], result["max"]


def test_tallies_count_by_columns_of_any_name(place: Path, cache: Path) -> None:
    times = Counter(n for _, _, n in TRIES)
    expected = [times[n] for _, _, n in TRIES]
    assert _query_metric(place, cache, "same") == (len(TRIES), sum(expected) / len(TRIES), max(expected))


def test_runs_of_rows_have_columns_of_any_name(place: Path, cache: Path) -> None:
    """The rows have the values 0, 7, 14, ...: they are adjacent, as there are no others between."""
    expected = [
        list(rows)
        for host in ("h1", "h2")
        for is_positive, rows in groupby((item for item in TRIES if item[0] == host), lambda item: item[2] > 0)
        if is_positive
    ]
    lengths = [len(rows) for rows in expected]
    assert max(lengths) > 1
    assert _query_metric(place, cache, "length") == (len(lengths), sum(lengths) / len(lengths), max(lengths))
    lasts = [1000 + rows[-1][1] for rows in expected]
    assert _query_metric(place, cache, "middle") == (len(lasts), pytest.approx(sum(lasts) / len(lasts)), max(lasts))


def test_durations_are_read_in_their_unit_shown_in_seconds(place: Path, cache: Path) -> None:
    assert _query_metric(place, cache, "late") == (len(TRIES), pytest.approx(0.04), 0.04)
    result = run_assay("build", "tries/all", "--run", "run", "--to", "md", "-o", "out", "--cache", cache, cwd=place)
    assert result.status == 0, result.err
    assert json.loads((place / "out/document.json").read_text(encoding="utf-8"))["title"] == "1: waits 0.04 s"


def test_quantities_convert_to_the_unit_beside_them(place: Path, cache: Path) -> None:
    """A column in milliseconds, beside seconds and minutes."""
    took = [number + 0.5 for _, number, _ in TRIES]
    slow = [value for value in took if value > 10.5]
    assert _query_metric(place, cache, "slow") == (len(slow), sum(slow) / len(slow), max(slow))
    assert _query_metric(place, cache, "sum") == (
        len(took),
        pytest.approx(sum(took) / len(took) + 60000),
        max(took) + 60000,
    )


FACTS = """\
reports =
      [ S.Report::{
        , name = "facts", title = "From {constant.begin}", intro = "", style = "three-digits", label = version.name
        , parts = [ B.Part::{ title = "P", blocks = B.facts [ wait, begin ] } ]
        }
      ] # """


def test_facts_are_shown_in_the_unit_beside_them(place: Path, cache: Path) -> None:
    """Durations in seconds, instants as such, in whatever unit they are declared."""
    package = place / "specs/tries/package.dhall"
    begin = 'S.Constant::{ name = "begin", files = [ "meta.json" ], path = [ "begin" ], type = "instant", doc = "Begin"'
    edit_file(package, "let source =", f"let begin = {begin}, unit = U.nanosecond }}\nlet source =")
    edit_file(package, "constants = [ version,", "constants = [ begin, version,")
    edit_file(package, "reports = ", FACTS)
    instant = "2026-01-01T00:00:30Z"
    (place / "run/meta.json").write_text(json.dumps({"version": "1", "wait": 40, "begin": instant}), encoding="utf-8")
    result = run_assay("build", "tries/facts", "--run", "run", "--to", "md", "-o", "out", "--cache", cache, cwd=place)
    assert result.status == 0, result.err
    text = (place / "out/report.md").read_text(encoding="utf-8")
    assert text.startswith(f"# From {instant}\n")
    assert f"| Longest wait, s | 0.04 |\n| Begin | {instant} |\n" in text


ARTICLE = """\
reports =
      [ S.Report::{
        , name = "rows", title = "Rows", intro = "", style = "three-digits", label = version.name
        , parts = [ B.Part::{
          , title = "P"
          , blocks = B.listings [ B.listing "Tries" tries [ host, n ] [ metric "n" name n ] ]
          } ]
        }
      ] # """


def test_listing_shows_instants_as_times_and_null_as_a_dash(place: Path, cache: Path) -> None:
    package = place / "specs/tries/package.dhall"
    listing_columns = '[ G.column "instant" "at" U.nanosecond "Time of the record", place, took ] [ same ]'
    edit_file(package, "reports = ", ARTICLE.replace('[ host, n ] [ metric "n" name n ]', listing_columns))
    edit_file(package, '(E.real "took")', '(E.optional (E.real "took"))')
    log = place / "run/h1/log.jsonl"
    text = log.read_text(encoding="utf-8").replace("00:00:00Z", "00:00:00.000000001Z").replace(', "took": 1.5', "")
    log.write_text(text, encoding="utf-8")
    result = run_assay("build", "tries/rows", "--run", "run", "-o", "out", "--cache", cache, cwd=place)
    assert result.status == 0, result.err
    (gallery,) = json.loads((place / "out/document.json").read_text(encoding="utf-8"))["parts"]
    (table,) = gallery["tables"]
    assert table["header"] == ["At", "Place", "Took, ms", "same, events"]
    times = Counter(n for _, _, n in TRIES)
    first, second = (str(times[n]) for _, _, n in TRIES[:2])  # of both hosts, whose names have the same length
    instant = "2026-01-01T00:00:00"
    assert [row for row in table["rows"] if row[0] != f"{instant}Z"][:3] == [
        [f"{instant}.000000001Z", "0", "0.5", first],
        ["2026-01-01T00:00:01Z", "7", "1.5", second],
        ["2026-01-01T00:00:01Z", "7", "—", second],
    ]
