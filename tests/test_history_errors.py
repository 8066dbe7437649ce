"""A history of the wrong things: each has its message; what is odd about breaks is a warning in the report."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.compare_reference import load
from tests.support.commands import Done, assay
from tests.support.laboratory import ROOT
from tests.support.outcomes import FORMER, contents, former_outputs, message
from tests.support.workspaces import workspace
from tests.test_regenerate_errors import NEXT

PUBLISHED = ROOT / "golden" / "published"
PLAIN = PUBLISHED / "release-10.4.1.plutus.json"
LATER = PUBLISHED / "release-10.5.0.plutus.json"
RUN = "golden/cardano/tiny/plain/run"
HISTORIES = "specs/cardano/histories.dhall"


def build(out: Path, cache: Path, *more: str | Path, report: str = "cardano/history", within: Path = ROOT) -> Done:
    return assay("build", report, "-o", out, "--cache", cache, *more, within=within)


def of(*places: Path) -> list[str | Path]:
    return [word for place in places for word in ("--publication", place)]


def changed(folder: Path, change: Callable[[Any], object], source: Path = PLAIN, name: str = "changed.json") -> Path:
    """A publication, changed."""
    data = copy.deepcopy(load(source))
    change(data)
    place = folder / name
    place.write_text(json.dumps(data, ensure_ascii=False, indent=1), encoding="utf-8")
    return place


# Wrong use


USES: dict[str, tuple[str, list[str], str]] = {
    "no publication": (
        "cardano/history",
        [],
        """\
error[no-publication]: `cardano/history` is built from publications, and none is given
  hint: --publication FILE or --publication FOLDER, as often as there are
""",
    ),
    "runs": (
        "cardano/history",
        ["--run", RUN],
        """\
error[report-inputs]: `cardano/history` is built from publications, not from runs
  hint: --publication in the place of --run
""",
    ),
    "runs and publications": (
        "cardano/history",
        ["--run", RUN, "--publication", str(PLAIN)],
        """\
error[report-inputs]: `cardano/history` is built from publications, not from runs
  hint: --publication in the place of --run
""",
    ),
    "publications for a report of runs": (
        "cardano/comparison",
        ["--run", RUN, "--publication", str(PLAIN)],
        """\
error[report-inputs]: `cardano/comparison` is built from runs, not from publications
  hint: --run in the place of --publication
""",
    ),
    "only publications for a report of runs": (
        "cardano/comparison",
        ["--publication", str(PLAIN)],
        """\
error[report-inputs]: `cardano/comparison` is built from runs, not from publications
  hint: --run in the place of --publication
""",
    ),
    "a filter and a style": (
        "cardano/history",
        ["--publication", str(PLAIN), "--filter", "unitary", "--style", "org-2023"],
        """\
error[history-option]: --filter and --style cannot be used with `cardano/history`
  hint: it shows numbers as they were published; a history takes --title, --author and --date
""",
    ),
    "a summary and no filters": (
        "cardano/history",
        ["--publication", str(PLAIN), "--no-filters", "--summary", "published"],
        """\
error[history-option]: --no-filters and --summary cannot be used with `cardano/history`
  hint: it shows numbers as they were published; a history takes --title, --author and --date
""",
    ),
    "a day that does not exist": (
        "cardano/history",
        ["--publication", str(PLAIN), "--date", "2026-02-30"],
        """\
error[date]: --date takes a day that exists
  expected: YYYY-MM-DD
  found:    2026-02-30
""",
    ),
    "a report that is none": (
        "cardano/histories",
        ["--publication", str(PLAIN)],
        """\
error[unknown-report]: there is no report `cardano/histories`
  hint: did you mean `cardano/history`?
""",
    ),
}  # fmt: skip


@pytest.mark.parametrize("use", USES)
def test_a_wrong_use_is_told(use: str, tmp_path: Path, cache: Path) -> None:
    report, options, expected = USES[use]
    out = tmp_path / "out"
    done = build(out, cache, *options, report=report)
    assert (done.status, done.out, done.err) == (2, "", expected)
    assert not out.exists()


# Wrong data


def refused(done: Done, out: Path, places: dict[str, Path]) -> str:
    """The message of a build that failed, and left what was there."""
    assert done.status == 1
    assert contents(out) == FORMER
    return message(done, places)


def test_a_folder_without_publications_is_told(tmp_path: Path, cache: Path) -> None:
    folder, out = tmp_path / "empty", tmp_path / "out"
    folder.mkdir()
    (folder / "notes.txt").write_text("nothing here")
    (folder / "points.cdf.json").write_text("{}")
    former_outputs(out)
    assert refused(build(out, cache, *of(folder)), out, {"FOLDER": folder}) == (
        "error[no-publication]: the folder holds no publication: FOLDER\n"
        "  expected: files called *.json, other than *.cdf.json\n"
    )


def test_a_file_that_is_not_there_is_told(tmp_path: Path, cache: Path) -> None:
    out = tmp_path / "out"
    former_outputs(out)
    assert refused(build(out, cache, *of(tmp_path / "none.json")), out, {"HERE": tmp_path}) == (
        "error[publication]: the publication cannot be read: No such file or directory: HERE/none.json\n"
    )


def test_a_publication_of_another_edition_is_told(tmp_path: Path, cache: Path) -> None:
    file, out = changed(tmp_path, lambda data: data.update(date="2024-10-01")), tmp_path / "out"
    former_outputs(out)
    text = refused(build(out, cache, *of(LATER, file)), out, {"FILE": file})
    assert text.startswith(
        "error[other-edition]: the publication of 2024-10-01 is not in edition `2024-09`\n  at FILE:6:2\n"
    )


def test_a_label_that_no_edition_knows_is_told(tmp_path: Path, cache: Path) -> None:
    def change(data: Any) -> None:
        data["sections"][0]["rows"][1]["label"] = "Process CPU use"

    file, out = changed(tmp_path, change), tmp_path / "out"
    former_outputs(out)
    text = refused(build(out, cache, *of(LATER, file)), out, {"FILE": file})
    assert text.startswith(
        "error[publication]: section `Resource Usage` has a row that edition `2025-02` does not know: `Process CPU use`"
        "\n  at FILE:358:15\n  hint: did you mean `Process CPU usage`?\n"
    )


def test_two_files_of_one_publication_are_told(tmp_path: Path, cache: Path) -> None:
    file, out = changed(tmp_path, dict, name="again.json"), tmp_path / "out"
    former_outputs(out)
    places = {"AGAIN": file, "PUBLISHED": PUBLISHED}
    assert refused(build(out, cache, *of(PUBLISHED, file)), out, places) == (
        "error[same-publication]: two files are the same publication: 2025-05-05, 10.4.0 against 10.3.0, "
        "Plutus countdown loop\n"
        "  note: PUBLISHED/release-10.4.1.plutus.json\n"
        "  note: AGAIN\n"
        "  hint: leave one of them out\n"
    )


# Breaks


def test_breaks_that_no_publication_has_are_warnings_in_the_report(tmp_path: Path, cache: Path) -> None:
    within = workspace(
        tmp_path / "workspace",
        (HISTORIES, 'run = "10.2.0"', 'run = "10.2.9"'),
        (HISTORIES, 'since = "2024-03-10"', 'since = "2026-03-10"'),
        (HISTORIES, "contents.sections2024", "contents.sections"),
    )
    done = build(tmp_path / "out", cache, *of(PUBLISHED), within=within)
    warnings = [
        "The break of cdfSpanLensCpu since 2026-03-10 lies outside of the publications, which are from 2023-12-05 to "
        "2026-02-09.",
        "The break of cdfPeerAnnounce since 2025-01-30 names the run 10.2.9, which no publication of then has.",
        "NetRd: no publication tells it.",
        "NetWr: no publication tells it.",
    ]
    assert (done.status, done.err) == (0, "".join(f"warning: {text}\n" for text in warnings))
    document = load(tmp_path / "out" / "document.json")
    assert document["warnings"] == warnings
    plots = {plot["id"]: plot for gallery in document["galleries"] for plot in gallery["plots"]}
    assert "NetRd" not in plots
    # A break without its run stands before the whole publication, one of the future nowhere.
    assert {row[7] for row in plots["cdfPeerAnnounce"]["rows"] if row[1] == "break"} == {"B", "E"}
    places = [row[2] for row in plots["cdfPeerAnnounce"]["rows"] if row[7] == "B"]
    assert places == [float(int(places[0]))] * 2
    assert {row[7] for row in plots["cdfSpanLensCpu"]["rows"] if row[1] == "break"} == {"A", "E"}


def test_a_new_edition_makes_a_break_by_itself(tmp_path: Path, cache: Path) -> None:
    last = "in  [ first, filesystem, dreps, shorter, stuffed, typst ]\n"
    within = workspace(tmp_path / "workspace", ("specs/cardano/editions.dhall", last, NEXT))

    def renamed(data: Any) -> None:
        data["date"] = "2026-11-02"
        data["title"] = "10.7 against 10.6"
        rows = {row["label"]: row for section in data["sections"] for row in section["rows"]}
        rows["Process CPU usage"].update(label="CPU of the process", unit="percent")
        rows["Block size"]["unit"] = "bytes"

    def renamed_later(data: Any) -> None:
        renamed(data)
        data.update(date="2026-12-24", title="10.8 against 10.7")

    newest = PUBLISHED / "release-10.5.4.plutus.json"
    files = [changed(tmp_path, renamed, newest), changed(tmp_path, renamed_later, newest, "later.json")]
    done = build(tmp_path / "out", cache, *of(PUBLISHED, *files), within=within)
    assert (done.status, done.err) == (0, "")
    (_, form) = (item for item in load(tmp_path / "out" / "results.json")["breaks"] if item["kind"] == "form")
    assert form == {
        "key": "G",
        "kind": "form",
        "since": "2026-11-02",
        "run": "",
        "notes": [
            {"metrics": ["CentiCpu"], "doc": "Called “CPU of the process”, before “Process CPU usage”."},
            {"metrics": ["CentiCpu"], "doc": "The unit is called percent, before %."},
            {"metrics": ["cdfBlockSize"], "doc": "The unit is called bytes, before Bytes."},
        ],
    }
    document = load(tmp_path / "out" / "document.json")
    assert document["date"] == "2026-12-24"
    plots = {plot["id"]: plot for gallery in document["galleries"] for plot in gallery["plots"]}
    assert plots["CentiCpu"]["title"] == "CPU of the process, percent"
    found = [(row[0], row[7]) for row in plots["CentiCpu"]["rows"] if row[1] == "break"]
    assert found == [("Plutus countdown loop", "F"), ("Plutus countdown loop", "G"), ("value-only", "F")]


def test_a_break_within_the_first_publication_is_no_warning(tmp_path: Path, cache: Path) -> None:
    done = build(tmp_path / "out", cache, *of(LATER))
    assert done.status == 0
    assert "cdfForgerBlkCtx" not in done.err
    assert done.err.count("lies outside of the publications, which are from 2025-07-01 to 2025-07-01.\n") == 3
    document = load(tmp_path / "out" / "document.json")
    assert "D" in [row[7] for row in next(
        plot for gallery in document["galleries"] for plot in gallery["plots"] if plot["id"] == "cdfForgerBlkCtx"
    )["rows"]]  # fmt: skip


SLIPS = {
    "a metric that is not listed": (
        "R.metricIds [ machine.spanCpu ]",
        '[ "cdfSpanLensCpus" ]',
        "history `history` has a break of a metric that it does not show: `cdfSpanLensCpus`",
    ),
    "a metric that it does not show": (
        "R.metricIds [ machine.spanCpu ]",
        "R.metricIds [ machine.netRd ]",
        "history `history` has a break of a metric that it does not show: `NetRd`",
    ),
    "a break of nothing": (
        "R.metricIds [ machine.spanCpu ]",
        "[] : List Text",
        "history `history` has a break without metrics",
    ),
    "a report that is none": (
        "of = reports.comparison.name",
        'of = "comparisons"',
        "history `history` is of a report that its package does not list: `comparisons`",
    ),
    "a day that does not exist": (
        'since = "2024-03-10"',
        'since = "2024-03-32"',
        "history `history` has a break on a day that does not exist",
    ),
    "the name of a report": (
        'name = "history"',
        'name = "comparison"',
        "history `comparison` is called as another report of its package",
    ),
    "a template that is none": (
        'name = "history"',
        'name = "history", template = "historia"',
        "history `history` has charts of a template that does not exist: `historia`",
    ),
    "a metric twice": (
        "contents.sections2024",
        "contents.sections2024 # contents.sections2024",
        "history `history` shows the metric `Alloc` 2 times",
    ),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_check_finds_a_history_with(slip: str, tmp_path: Path, cache: Path) -> None:
    text, replacement, said = SLIPS[slip]
    within = workspace(tmp_path / "workspace", (HISTORIES, text, replacement))
    done = assay("check", "--system", "cardano", "--cache", cache, within=within)
    assert done.status == 1
    assert f"]: {said}\n" in done.err


def test_a_history_of_a_report_without_editions_is_found(tmp_path: Path, cache: Path) -> None:
    within = workspace(
        tmp_path / "workspace",
        ("specs/cardano/reports.dhall", "editions = ./editions.dhall", "editions = [] : List S.Edition.Type"),
    )
    done = assay("check", "--system", "cardano", "--cache", cache, within=within)
    assert done.status == 1
    assert "]: history `history` is of the report `comparison`, which has no editions\n" in done.err
