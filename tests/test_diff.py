"""`assay diff`: what differs between two states of the specs, and which printed numbers that touches."""

from __future__ import annotations

import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import assay
from tests.support.repositories import committed, git
from tests.support.workspaces import Edit, edited, workspace

FORGING = "specs/cardano/metrics/forging.dhall"
PACKAGE = "specs/cardano/package.dhall"
#: an edit, what it is in the eyes of a reader
MEANING: tuple[Edit, ...] = (
    (FORGING, ", measure = elapsed at.leading at.ticked", ", measure = elapsed at.started at.ticked"),  # other anchor
    (FORGING, '"cdfForgerStart"', '"cdfForgerStarted"'),  # renamed
    (FORGING, '"Acquired block context"', '"Block context"'),  # wording
    ("specs/cardano/metrics/anomaly.dhall", ", unit = U.byte", ", unit = U.kibibyte"),  # unit
)


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A git repository with the shipped specs as its only commit."""
    place = workspace(tmp_path_factory.mktemp("diff") / "repository")
    committed(place, "first")
    return place


def changed(before: Path, target: Path, *edits: Edit) -> Path:
    """A copy of the repository with edits that are not committed."""
    shutil.copytree(before, target)
    for file, text, replacement in edits:
        edited(target / file, text, replacement)
    return target


def compared(cache: Path, *arguments: str | Path, within: Path) -> list[dict[str, Any]]:
    """The difference as data, and the exit status that belongs to it."""
    done = assay("--cache", cache, "diff", *arguments, "--format", "json", within=within)
    found: list[dict[str, Any]] = done.json()
    assert (done.status, done.err) == (3 if found else 0, "")
    return found


def by_metric(found: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    (system,) = found
    return {item["metric"]: item for item in system["metrics"]}


@pytest.fixture(scope="module")
def edits(before: Path) -> tuple[Edit, ...]:
    """The edits, the last one written as the specs are."""
    text = (before / "specs/cardano/grains/block.dhall").read_text(encoding="utf-8")
    assert 'latest "leading" events.leadershipDecided "The host found itself leader"' in text
    where = (
        "specs/cardano/grains/block.dhall",
        'latest "leading" events.leadershipDecided "The host found itself leader"',
        'latest "leading" events.leadershipDecided "The host knew that it is leader"',
    )
    return (*MEANING, where)


@pytest.fixture(scope="module")
def told(before: Path, edits: tuple[Edit, ...], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository, changed in ways that differ."""
    return changed(before, tmp_path_factory.mktemp("changed") / "repository", *edits)


def test_each_change_is_what_a_reader_would_call_it(told: Path, cache: Path) -> None:
    """An anchor, a unit, a new name, other words: each metric in its kind, with what stood there and what stands."""
    found = compared(cache, "HEAD", ".", within=told)
    metrics = by_metric(found)
    assert {name: item["kind"] for name, item in metrics.items()} == {
        "cdfForgerStarted": "renamed",
        "cdfForgerTicked": "changed in meaning",
        "cdfForgerBlkCtx": "changed in wording",
        "cdfBlockSize": "changed in meaning",
    }
    assert metrics["cdfForgerStarted"]["was"] == "cdfForgerStart"
    measures = [item for item in metrics["cdfForgerTicked"]["told"] if item["aspect"] == "measure"]
    assert [(item["before"], item["after"]) for item in measures] == [
        ("minus(instant ticked, instant leading)", "minus(instant ticked, instant started)")
    ]
    assert {item["aspect"] for item in metrics["cdfBlockSize"]["told"]} == {"unit"}
    (words,) = metrics["cdfForgerBlkCtx"]["told"]
    assert (words["place"], words["before"], words["after"]) == ("name", "Acquired block context", "Block context")


def test_a_change_names_the_printed_numbers_that_it_touches(told: Path, cache: Path) -> None:
    """Report, table, label of every place that prints the metric."""
    metrics = by_metric(compared(cache, "HEAD", ".", within=told))
    places = [(item["report"], item["section"], item["label"]) for item in metrics["cdfForgerTicked"]["touches"]]
    assert ("cardano/comparison", "Forging", "Ledger ticking, s") in places
    assert ("cardano/history", "Forging", "Ledger ticking, s") in places


def test_words_of_what_metrics_read_are_told_elsewhere(told: Path, cache: Path) -> None:
    """The documentation of an instant is no change of a metric."""
    (system,) = compared(cache, "HEAD", ".", within=told)
    said = [
        (item["aspect"], item["place"], item["after"]) for item in system["elsewhere"] if item["aspect"] != "example"
    ]
    assert said == [
        ("wording", "grains / block / instants / leading / doc", "The host knew that it is leader"),
    ]


def test_the_text_is_for_people(told: Path, cache: Path) -> None:
    """Kinds as headings, a line a change, and the counts at the end."""
    done = assay("--cache", cache, "diff", "HEAD", ".", within=told)
    assert done.status == 3
    lines = done.out.splitlines()
    assert lines[0] == "cardano"
    assert "    cdfForgerStarted (was cdfForgerStart): Started forge loop iteration" in lines
    was, now = (f"minus(instant ticked, instant {name})" for name in ("leading", "started"))
    assert f"      measure: {was} -> {now}" in lines
    assert "      touches cardano/comparison / Forging / Ledger ticking, s" in lines
    assert lines[-1] == "metrics: 1 renamed, 2 changed in meaning, 1 changed in wording"


def test_a_refactoring_shows_nothing(before: Path, cache: Path, tmp_path: Path) -> None:
    """Dhall moved into a function of its own, and lists in another order, mean what they meant."""
    place = changed(
        before,
        tmp_path / "repository",
        (FORGING, "let elapsed = \\(from", "let between = \\(from"),
        (FORGING, "\nlet elapsedOrAssumed =", "\nlet elapsed = between\n\nlet elapsedOrAssumed ="),
        (FORGING, "{ start =\n        forging", "{ start =\n        (\\(make : Bool) -> forging) True"),
    )
    done = assay("--cache", cache, "diff", "HEAD", ".", within=place)
    assert (done.status, done.out) == (0, "nothing differs\n")


def test_comments_of_sql_are_wording(before: Path, cache: Path, tmp_path: Path) -> None:
    """A comment changes the definition hash, but no number."""
    sql = next(path for path in sorted((before / "queries/cardano").glob("slots.sql")))
    name = sql.relative_to(before).as_posix()
    first = sql.read_text(encoding="utf-8").splitlines()[0]
    place = changed(before, tmp_path / "repository", (name, first, f"{first} Or so."))
    metrics = by_metric(compared(cache, "HEAD", ".", within=place))
    assert metrics
    assert {item["kind"] for item in metrics.values()} == {"changed in wording"}


def test_whose_records_count_is_meaning(before: Path, cache: Path, tmp_path: Path) -> None:
    edit = ("specs/cardano/source.dhall", 'hosts = "node-*"', 'hosts = "node-1*"')
    place = changed(before, tmp_path / "changed", edit)
    (system,) = compared(cache, "HEAD", ".", within=place)
    assert {item["kind"] for item in system["metrics"]} == {"changed in meaning"}
    assert {what["aspect"] for item in system["metrics"] for what in item["told"]} == {"source"}
    assert len(system["metrics"]) == 61


def test_a_summary_is_told_as_what_averages_are_by(before: Path, cache: Path, tmp_path: Path) -> None:
    edit = ("specs/cardano/summaries.dhall", "lowest = 29", "lowest = 28")
    place = changed(before, tmp_path / "changed", edit)
    (system,) = compared(cache, "HEAD", ".", within=place)
    assert [(item["aspect"], item["place"]) for item in system["elsewhere"]] == [
        ("averages by summary `published`", "summaries / published / lowest")
    ]


def test_digits_of_a_metric_are_told(before: Path, cache: Path, tmp_path: Path) -> None:
    """They change what is printed of the same number."""
    edit = ("specs/cardano/metrics/anomaly.dhall", ", width = 9", ", width = 7")
    found = by_metric(compared(cache, "HEAD", ".", within=changed(before, tmp_path / "changed", edit)))
    assert {name: item["kind"] for name, item in found.items()} == {"cdfBlockSize": "changed in wording"}
    (told,) = found["cdfBlockSize"]["told"]
    assert [told[name] for name in ("aspect", "place", "before", "after")] == ["digits", "width", "9", "7"]
    assert "Anomaly control" in {place["section"] for place in found["cdfBlockSize"]["touches"]}


def test_what_is_better_decides_verdicts(before: Path, cache: Path, tmp_path: Path) -> None:
    """No number is another, and what a report says of it is: the verdicts that judge by it are named, and no table."""
    edit = (
        "specs/cometbft/metrics.dhall",
        'X.column c.validTxs, better = "higher"',
        'X.column c.validTxs, better = "lower"',
    )
    found = by_metric(compared(cache, "HEAD", ".", within=changed(before, tmp_path / "changed", edit)))
    assert {name: item["kind"] for name, item in found.items()} == {"valid_txs": "changed in verdict"}
    (told,) = found["valid_txs"]["told"]
    assert [told[name] for name in ("aspect", "place", "before", "after")] == ["verdict", "better", "higher", "lower"]
    places = [(place["report"], place["kind"], place["section"]) for place in found["valid_txs"]["touches"]]
    judged = (
        "Experiments beside those of the baseline",
        "The chosen experiment beside the baseline's",
        "The overloaded experiment beside the baseline's",
        "The experiment with a fault beside the baseline's",
    )
    assert places == [("cometbft/qa", "verdict", f"Results/{title}") for title in judged]
    done = assay("--cache", cache, "diff", "HEAD", ".", within=tmp_path / "changed")
    assert "      verdict: better: higher -> lower" in done.out.split("\n")


def test_what_falls_does_so_in_either_direction(before: Path, cache: Path, tmp_path: Path) -> None:
    """A conclusion that something stays, falls or rises does not ask what is better."""
    edit = ("specs/antelope/upgrade.dhall", ', better = "lower"', ', better = "higher"')
    found = by_metric(compared(cache, "HEAD", ".", within=changed(before, tmp_path / "changed", edit)))
    touched = {name: [place["report"] for place in item["touches"]] for name, item in found.items()}
    assert {item["kind"] for item in found.values()} == {"changed in verdict"}
    assert {name for name, reports in touched.items() if reports} == {"cpu_usage", "memory_used"}
    assert touched["disk_write_rate"] == []


def test_examples_of_a_formula_are_told(before: Path, cache: Path, tmp_path: Path) -> None:
    """The dictionary shows them."""
    words = '"prefixes of 1000 throughout"', '"prefixes of 1000 everywhere"'
    place = changed(before, tmp_path / "changed", ("specs/antelope/formulas.dhall", *words))
    found = by_metric(compared(cache, "HEAD", ".", within=place))
    assert {(item["kind"], *(told["aspect"] for told in item["told"])) for item in found.values()} == {
        ("changed in wording", "example")
    }


@pytest.mark.parametrize(
    ("edit", "aspect"),
    [
        (("specs/cometbft/series.dhall", "windowNs = 300000000000", "windowNs = 60000000000"),
         "read by series of cometbft/qa"),
        (("specs/cometbft/events.dhall", 'plain "node_load1"', 'plain "node_load5"'), "read by series of cometbft/qa"),
        (("specs/cardano/source.dhall", '[ "era" ]', '[ "epoch" ]'),
         "read by run parameters of cardano/comparison"),
    ],
)  # fmt: skip
def test_what_reports_print_of_no_metric_names_them(
    before: Path, cache: Path, tmp_path: Path, edit: Edit, aspect: str
) -> None:
    """Series that are drawn, and facts of runs."""
    (system,) = compared(cache, "HEAD", ".", within=changed(before, tmp_path / "changed", edit))
    assert system["metrics"] == []
    assert {item["aspect"] for item in system["elsewhere"]} == {aspect}


def test_sql_that_changes_is_shown_line_by_line(before: Path, cache: Path, tmp_path: Path) -> None:
    """A relation's SQL: every metric over it is changed in meaning, and the text tells the lines once."""
    name = "queries/cardano/slots.sql"
    text = (before / name).read_text(encoding="utf-8")
    line = next(line for line in text.splitlines() if "max(seq) AS seq" in line)
    place = changed(before, tmp_path / "repository", (name, "max(seq) AS seq", "min(seq) AS seq"))
    metrics = by_metric(compared(cache, "HEAD", ".", within=place))
    assert all(item["kind"] == "changed in meaning" for item in metrics.values())
    said = {told["aspect"]: told["lines"] for item in metrics.values() for told in item["told"]}
    assert f"-{line}" in said["SQL"]
    assert f"+{line.replace('max(seq)', 'min(seq)')}" in said["SQL"]
    out = assay("--cache", cache, "diff", "HEAD", ".", within=place).out
    assert out.count(f"-{line}") == 1
    assert out.count("SQL: slots / sql: as above") == len(metrics) - 1


def test_builds_keep_the_specs_that_they_were_made_of(two: Path, told: Path, cache: Path) -> None:
    """A build against a workspace, by its folder and by its provenance."""
    own = compared(cache, two, ".", within=told)
    assert {item["metric"] for item in own[0]["metrics"]} >= {"cdfForgerTicked", "cdfForgerStarted"}
    assert compared(cache, two / "provenance.json", two, within=told) == []


def test_a_system_that_is_new(before: Path, cache: Path, tmp_path: Path) -> None:
    """A whole system more is one line."""
    place = changed(before, tmp_path / "repository")
    shutil.rmtree(place / "specs" / "cometbft")
    found = compared(cache, ".", "HEAD", within=place)
    assert [(item["system"], item["state"]) for item in found] == [("cometbft", "new")]


def test_what_is_no_state(before: Path, cache: Path, tmp_path: Path) -> None:
    """A name that is nothing, a folder of something else: one message each, with what is expected."""
    done = assay("--cache", cache, "diff", "nothing", ".", within=before)
    assert (done.status, done.out) == (2, "")
    assert done.err == (
        "error[unknown-state]: `nothing` is no workspace, no build and no git revision\n"
        "  expected: a folder with specs/, a folder that a report was built into, its provenance.json, or a revision\n"
        "  found:    nothing\n"
    )
    done = assay("--cache", cache, "diff", str(tmp_path), ".", within=before)
    assert (done.status, "found:    a folder with none of these" in done.err) == (2, True)


@pytest.mark.parametrize("filters", [True, False])
def test_revisions_are_read_by_every_python(
    before: Path, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, filters: bool
) -> None:
    """Those before 3.11.4 have no filters of archives."""
    if not filters:
        monkeypatch.delattr(tarfile, "data_filter", raising=False)
    place = changed(before, tmp_path / "repository", MEANING[1])
    found = compared(cache, "HEAD", ".", within=place)
    assert {item["metric"] for item in found[0]["metrics"]}


def test_specs_of_a_revision_that_are_wrong(before: Path, cache: Path, tmp_path: Path) -> None:
    """Their own message, and which revision it is of; the other systems are compared."""
    place = changed(before, tmp_path / "repository", (FORGING, "unit = U.second", "unit = U.secnd"))
    git(place, "commit", "-q", "-a", "-m", "second")
    done = assay("--cache", cache, "diff", "HEAD~1", "HEAD", within=place)
    assert done.status == 1
    assert done.out == (
        "cardano: not compared, for it could not be read: unknown field `secnd` in `U`\n"
        "nothing differs of what could be read\n"
    )
    assert "note: in revision " in done.err
    assert "secnd" in done.err
