"""Test run directories as users bring them: facts in other places or repeated, and wrong clocks."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from assay.app.author.run_schema import create_schema
from assay.ingest.run_constants import list_duplicate_constant_warnings, locate_constant, read_constants
from assay.lang.model.package import Constant, Quarantine, Source
from assay.lang.model.vocabulary import Unit
from assay.util.diagnostics import AssayError
from tests.oracle.instants import SECOND, format_instant, parse_instant
from tests.support.commands import run_assay
from tests.support.laboratory import ROOT
from tests.support.runs import change_json, change_log, copy_run

CASES = ROOT / "golden" / "cases" / "cardano"
UNKNOWN = dict.fromkeys(
    f"{name} version"
    for name in (
        "cardano-node", "ouroboros-consensus", "ouroboros-network", "cardano-ledger-core", "plutus-core",
        "cardano-crypto", "cardano-prelude",
    )
)  # fmt: skip
COMMITS = {name.replace("version", "git"): "0123456" for name in UNKNOWN}

#: case -> rows of the manifest of its report
MANIFESTS: dict[str, dict[str, str]] = {
    "2-meta-of-the-workbench": {
        "Identifier": "1.0.0", "Era": "conway", "Plutus script": "---", **dict.fromkeys(UNKNOWN, "1.0.0"), **COMMITS,
    },
    "9-legacy-meta": {
        "Identifier": "case", "Era": "conway", "Plutus script": "Loop", **dict.fromkeys(UNKNOWN, "unknown"), **COMMITS,
    },
}  # fmt: skip
#: metric -> its average in the run that these cases copy
AVERAGES = {
    "CentiCpu": 20.666666666666668,
    "RSS": 7168.0,
    "cdfDensity": 0.05,
    "cdfUtxo": 4000.0,
    "cdf0.96": 0.165889,
    "cdfForgerAnnounce": 0.002,
}
GENESES = (
    "warning: x: `protocolParams.maxBlockBodySize` (Maximum size of a block body) is 90112 in "
    "genesis/genesis.shelley.json, but 65536 in genesis-shelley.json; genesis/genesis.shelley.json is used.\n"
)
CLOCK = (
    "error[clock-apart]: run x: the timestamps of node-1 are {} those of the other hosts\n"
    "  hint: synchronize the clocks of the hosts, and check that the log of node-1 is of this run\n"
)
MAINNET = (
    "error[slots-unfit]: run x: 300 of 300 leadership checks are outside the slot that they name, first on node-0 for "
    "slot 78831000 at 2022-12-07 07:14:51.000000000, which is in slot 164194200 by systemStart and slotLength; the "
    "timestamps of node-0 are 85363200.0 s after the slots of the genesis\n"
    "  hint: check that the genesis is that of the run. Slots of several lengths (mainnet had slots of 20 s before "
    "Shelley) are not supported\n"
)


@pytest.mark.parametrize("case", MANIFESTS)
def test_documents_of_the_workbench_fill_the_manifest(case: str, tmp_path: Path, cache: Path) -> None:
    run = f"x={CASES / case / 'run'}"
    completed = run_assay(
        "build", "cardano/comparison", "--run", run, "-o", tmp_path / "out", "--to", "md", "--cache", cache
    )
    assert completed.status == 0, completed.err
    text = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", text, re.MULTILINE))
    assert {name: rows[name] for name in MANIFESTS[case]} == MANIFESTS[case]
    result = run_assay("query", *AVERAGES, "--run", run, "--format", "json", "--cache", cache)
    averages = {item["metric"]: item["average"] for item in result.parse_json()}
    assert averages == pytest.approx(AVERAGES, rel=1e-5)


def test_first_of_two_genesis_files_counts_with_a_warning(cache: Path) -> None:
    run = f"x={CASES / '10-two-geneses' / 'run'}"
    result = run_assay("query", "cdfBlockSize", "--run", run, "--filter", "fullness-above=0.95", "--cache", cache)
    assert result.status == 1
    assert result.err.startswith("error[all-rejected]: run x: the filters reject all 5 blocks of the main chain\n")
    result = run_assay("query", "cdfBlockSize", "--run", run, "--no-filters", "--cache", cache)
    assert result.status == 0
    assert result.err.startswith(GENESES)


@pytest.mark.parametrize(
    ("case", "words", "message"),
    [
        ("11-clock-ahead", ("build", "cardano/comparison"), CLOCK.format("12.0 s ahead of")),
        ("16-mainnet-slots", ("build", "cardano/comparison", "--filter", "unitary"), MAINNET),
        ("16-mainnet-slots", ("query", "cdfLeading", "--no-filters"), MAINNET),
    ],
)
def test_instants_far_from_the_slots_are_measured(
    case: str, words: tuple[str, ...], message: str, tmp_path: Path, cache: Path
) -> None:
    options = ("-o", tmp_path / "out") if words[0] == "build" else ()
    for _ in range(2):  # the cache entries of the first attempt lead to the same error
        result = run_assay(*words, "--run", f"x={CASES / case / 'run'}", *options, "--cache", cache)
        assert (result.status, result.out, result.err) == (1, "", message)


def shift_instants(host: Path, seconds: float, is_selected: Callable[[str], bool] = lambda _: True) -> None:
    """Move the instants of selected lines of a host's log."""

    def move_instant(match: re.Match[str]) -> str:
        instant = parse_instant(match[1]) + int(seconds * SECOND)
        return f'"at":"{format_instant(instant, "%Y-%m-%dT%H:%M:%S")}.{instant % SECOND:09d}Z"'

    change_log(
        host, lambda lines: [re.sub('"at":"([^"]*)"', move_instant, x, count=1) if is_selected(x) else x for x in lines]
    )


@pytest.mark.parametrize(
    ("seconds", "status", "message"),
    [
        (0.5, 0, "warning: x: the timestamps of node-1 are 0.5 s ahead of those of the other hosts\n"),
        (-0.5, 0, "warning: x: the timestamps of node-1 are 0.5 s behind those of the other hosts\n"),
        (3, 1, CLOCK.format("3.0 s ahead of")),
        (-30, 1, CLOCK.format("30.0 s behind")),
        (60, 1, CLOCK.format("60.0 s ahead of")),
    ],
)
def test_wrong_clock_is_named_with_its_distance(
    seconds: float, status: int, message: str, tmp_path: Path, cache: Path
) -> None:
    run = copy_run("baseline", tmp_path / "run")
    shift_instants(run / "node-1", seconds)
    for metric in ("cdfForgerStart", "CentiCpu"):
        result = run_assay("query", metric, "--run", f"x={run}", "--cache", cache)
        assert result.status == status
        assert message in result.err.splitlines(keepends=True) if not status else result.err.startswith(message)


@pytest.mark.parametrize(
    ("host", "seconds", "status", "message"),
    [
        ("node-0", 0.5, 0, "warning: x: the timestamps of node-0 are 0.5 s ahead of those of the other hosts\n"),
        ("node-1", -0.5, 0, "warning: x: the timestamps of node-1 are 0.5 s behind those of the other hosts\n"),
        ("node-0", -3, 1, CLOCK.format("3.0 s behind").replace("node-1", "node-0")),
        ("node-1", 12, 1, CLOCK.format("12.0 s ahead of")),
    ],
)
def test_wrong_clock_of_two_hosts_is_named(
    host: str, seconds: float, status: int, message: str, tmp_path: Path, cache: Path
) -> None:
    run = tmp_path / "run"
    shutil.copytree(CASES / "0-control" / "run", run, ignore=shutil.ignore_patterns("node-2"))
    shift_instants(run / host, seconds)
    result = run_assay("query", "CentiCpu", "--run", f"x={run}", "--cache", cache)
    assert result.status == status
    assert result.err.startswith(message)


def test_clock_that_slots_follow_shows_in_block_records(tmp_path: Path, cache: Path) -> None:
    run = copy_run("baseline", tmp_path / "run")
    shift_instants(run / "node-1", 2, lambda text: "Forge.Loop" not in text)
    result = run_assay("query", "cdfPeerAdoption", "--run", f"x={run}", "--no-filters", "--cache", cache)
    assert result.err.startswith(
        "warning: x: the first records of blocks on node-1 are 2.0 s ahead of those of the other hosts (median of 58 "
        "blocks); check its clock\n"
    )


def test_missing_era_names_every_place(tmp_path: Path, cache: Path) -> None:
    run = copy_run("tiny/plain", tmp_path / "run")

    def drop_era(meta: Any) -> None:
        del meta["meta"]["era"]
        for part in (meta["meta"]["profile_content"], meta["meta"]["profile_content"]["generator"]):
            part.pop("era", None)

    change_json(run / "meta.json", drop_era)
    result = run_assay("query", "cdfForgerStart", "--run", f"x={run}", "--cache", cache)
    assert result.status == 1
    assert result.err.startswith(
        "error[missing-fact]: the run's meta.json lacks `meta.era` or `meta.profile_content.era` or "
        "`meta.profile_content.generator.era` (Era of the ledger)\n"
    )


#: a fact at one of three paths
FACT = Constant(
    "x", ("a.json", "b.json"), ("new", "x"), "text", Unit("dimensionless", ""), None, "A fact",
    or_at=(("new",), ("old", "x")),
)  # fmt: skip


def build_source(constant: Constant) -> Source:
    return Source("s", "json-lines", "*", ("log",), ("at",), (), (), (), Quarantine(0.0, 0), (constant,), "")


@pytest.mark.parametrize(
    ("document", "value", "path"),
    [
        ({"new": {"x": "1"}, "old": {"x": "2"}}, "1", ("new", "x")),
        ({"new": "3", "old": {"x": "2"}}, "3", ("new",)),
        ({"new": {"y": "1"}, "old": {"x": "2"}}, "2", ("old", "x")),
        ({"new": {"x": None}, "old": {"x": "2"}}, "2", ("old", "x")),
        ({"new": ["1"], "old": {}}, None, None),
        ({}, None, None),
    ],
)
def test_first_path_with_a_value_wins(
    document: object, value: str | None, path: tuple[str, ...] | None, tmp_path: Path
) -> None:
    (tmp_path / "a.json").write_text(json.dumps(document), encoding="utf-8")
    if value is None:
        with pytest.raises(AssayError, match=r"lacks `new\.x` or `new` or `old\.x`"):
            read_constants(build_source(FACT), tmp_path)
        assert read_constants(build_source(replace(FACT, default="d")), tmp_path) == {"x": "d"}
    else:
        assert read_constants(build_source(FACT), tmp_path) == {"x": value}
        located = locate_constant(FACT, tmp_path)
        assert located
        assert (located.files, located.path) == (("a.json",), path)


def test_wrong_value_names_the_path_that_has_it(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"old": {"x": 7}}', encoding="utf-8")
    with pytest.raises(AssayError, match=r"`old\.x` of the run's a\.json has a wrong value"):
        read_constants(build_source(FACT), tmp_path)


def test_schema_takes_a_value_at_any_path() -> None:
    schema = create_schema("test", "a.json", [FACT])
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    right = [{"new": {"x": "1"}}, {"new": "3"}, {"old": {"x": "2"}}, {"new": {}, "old": {"x": "2"}}]
    assert [validator.is_valid(item) for item in right] == [True] * 4
    wrong: list[object] = [{}, {"old": {}}, {"new": {"x": 1}}, {"old": {"x": 7}}]
    assert [validator.is_valid(item) for item in wrong] == [False] * 4


INSTANT = replace(FACT, type="instant", path=("x",), or_at=())


@pytest.mark.parametrize(
    ("second", "warned"),
    [
        ('{"x": "2026-01-01T00:00:01Z"}', True),
        ('{"x": "2026-01-01T00:00:00.0Z"}', False),
        ('{"x": null}', False),
        ("no JSON", False),
    ],
)
def test_documents_that_differ_in_a_value_are_named(second: str, warned: bool, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"x": "2026-01-01T00:00:00Z"}', encoding="utf-8")
    (tmp_path / "b.json").write_text(second, encoding="utf-8")
    expected = '`x` (A fact) is "2026-01-01T00:00:00Z" in a.json, but "2026-01-01T00:00:01Z" in b.json; a.json is used.'
    assert list_duplicate_constant_warnings(build_source(INSTANT), tmp_path) == ((expected,) if warned else ())
