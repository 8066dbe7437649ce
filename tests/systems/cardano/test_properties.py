"""Test random runs: the SQL agrees with the oracle, and only data changes a result."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.util.diagnostics import AssayError
from tests.compare_reference import CARDANO
from tests.oracle import Analysis, Condition, RefusalError, analyse, analyse_reconstruction, reconstruct
from tests.oracle.generate import DEFECTS, draw_filters, write_random_run
from tests.oracle.simulate import Shape
from tests.support.analysis import build_analysis
from tests.support.cases import format_options
from tests.support.differences import assert_no_differences, compare_analyses
from tests.support.laboratory import ExaminedRun, Laboratory, create_laboratory
from tests.support.runs import copy_run, format_line, format_reading, read_lines, rotate_log, write_log

SEEDS = st.integers(0, 2**32)
FEW = settings(derandomize=True, deadline=None, max_examples=6, suppress_health_check=list(HealthCheck))
_FOLDERS = count()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of random runs."""
    return tmp_path_factory.mktemp("random")


def create_random_run(folder: Path, seed: int, defect: str | None = None) -> tuple[Path, Shape]:
    """Create a random run in a folder of its own."""
    directory = folder / f"{next(_FOLDERS)}"
    return directory, write_random_run(directory, seed, defect=defect)


def assert_same(examined: ExaminedRun, theirs: Analysis, conditions: Sequence[Condition]) -> None:
    """Fail unless compiler and oracle agree."""
    ours = build_analysis(examined, conditions)
    assert_no_differences(compare_analyses(ours, theirs, examined.manifest_cells))


@given(seed=SEEDS)
@FEW
def test_results_equal_those_of_the_oracle(lab: Laboratory, folder: Path, seed: int) -> None:
    run, shape = create_random_run(folder, seed)
    rebuilt = reconstruct(run)
    for conditions in ([], draw_filters(seed, shape)):
        try:
            theirs = analyse_reconstruction(rebuilt, conditions)
        except RefusalError:
            with pytest.raises(AssayError):
                lab.examine(run, format_options(conditions))
        else:
            with (examined := lab.examine(run, format_options(conditions))).connection:
                assert_same(examined, theirs, conditions)


@pytest.mark.parametrize(("defect", "seed"), [(defect, seed) for seed, defect in enumerate(DEFECTS, start=3)])
def test_compiler_and_oracle_refuse_run_with_a_defect(lab: Laboratory, folder: Path, defect: str, seed: int) -> None:
    run, _ = create_random_run(folder, seed, defect)
    with pytest.raises(RefusalError):
        analyse(run, [])
    with pytest.raises(AssayError) as refusal:
        lab.examine(run)
    assert refusal.value.status == 1


@given(seed=SEEDS)
@settings(FEW, max_examples=2)
def test_threads_and_packaging_change_no_byte(folder: Path, seed: int) -> None:
    run, _ = create_random_run(folder, seed)
    copied_run = folder / f"{next(_FOLDERS)} else where" / "deeper"
    shutil.copytree(run, copied_run)
    names = (("z.0.gz", "b", "a.zst"), ("node-9.json", "node-1.json.gz"), ("node-b.json.zst", "stdout", "node-a.json"))
    for host, copy in zip(sorted(copied_run.glob("node-*")), (*names, *names), strict=False):
        rotate_log(host, [name if name.startswith("node-") or name == "stdout" else f"stdout{name}" for name in copy])
    documents = set()
    for directory, threads in ((run, 1), (run, 8), (copied_run, 3)):
        lab = create_laboratory(folder / f"laboratory {next(_FOLDERS)}")
        with (examined := lab.examine(directory, ["unitary"], threads=threads)).connection:
            documents.add(json.dumps(examined.build_results_json()))
    assert len(documents) == 1


def test_host_without_readings_has_its_opening_slot_only(lab: Laboratory, tmp_path: Path) -> None:
    run = copy_run("tiny/plain", tmp_path / "run")
    metrics = {"slot": 5, "utxoSize": 70, "chainDensity": 0.25}
    write_log(run / "node-9", [format_line(5.0, "Mempool.RejectedTx", {}), format_line(6.5, "LedgerMetrics", metrics)])
    theirs = analyse(run, [])
    with (examined := lab.examine(run)).connection:
        assert_same(examined, theirs, [])
    (host,) = (host for host in theirs.hosts if host.host == "node-9")
    assert (host.slots, host.first_slot) == (1, 5)
    assert theirs.host_metrics["node-9"]["cdfUtxo"].max == 70


def format_leadership_check(slot: int, utxo: int, density: float, seconds: float | None = None) -> str:
    """Return a leadership check with UTxO size and density."""
    instant = slot + 0.1 if seconds is None else seconds
    data = {"slot": slot, "utxoSize": utxo, "chainDensity": density}
    return format_line(instant, "Forge.Loop.StartLeadershipCheck", data)


@pytest.mark.parametrize(
    ("lines", "utxo", "density"),
    [
        pytest.param(
            [format_line(3.1, "LedgerMetrics", {"slot": 3, "utxoSize": 9, "chainDensity": 0.5}), format_reading(4.2)],
            {3: 9, 4: 0},
            {3: 0.5, 4: 0.0},
            id="metrics before the timeline grows belong to the opening slot",
        ),
        pytest.param(
            [
                format_reading(3.0),
                format_leadership_check(4, 7, 0.5),
                format_leadership_check(4, 0, 0.25, 4.2),
                format_leadership_check(4, 8, 0.0, 4.3),
            ],
            {3: 0, 4: 8},
            {3: 0.0, 4: 0.25},
            id="a check tells each of the two only when it is above 0",
        ),
        pytest.param(
            [format_leadership_check(3, 7, 0.5), format_reading(6.0), format_leadership_check(3, 9, 0.75, 6.1)],
            {3: 9, 4: 7, 5: 7, 6: 0},
            {3: 0.75, 4: 0.5, 5: 0.5, 6: 0.0},
            id="a gap keeps what there was when it was jumped over",
        ),
        pytest.param(
            [format_leadership_check(3, 7, 0.5), format_reading(6.0), format_leadership_check(5, 9, 0.75, 6.1)],
            {3: 7, 4: 7, 5: 9, 6: 0},
            {3: 0.5, 4: 0.5, 5: 0.75, 6: 0.0},
            id="a late check belongs to the gap slot that it names",
        ),
        pytest.param(
            [
                format_reading(3.0),
                format_line(3.1, "LedgerMetrics", {"slot": 3, "utxoSize": 0, "chainDensity": 0.0}),
                format_reading(4.0),
            ],
            {3: 0, 4: 0},
            {3: 0.0, 4: 0.0},
            id="metrics of 0 count",
        ),
    ],
)
def test_density_and_utxo_size_of_slot_equal_the_oracle(
    lab: Laboratory, tmp_path: Path, lines: list[str], utxo: dict[int, int], density: dict[int, float]
) -> None:
    run = copy_run("tiny/plain", tmp_path / "run")
    write_log(run / "node-9", lines)
    with (examined := lab.examine(run)).connection:
        assert_same(examined, analyse(run, []), [])
        rows = examined.query_rows("SELECT slot, utxo, density FROM slot WHERE host = 'node-9' ORDER BY slot")
    assert {row["slot"]: row["utxo"] for row in rows} == utxo
    assert {row["slot"]: row["density"] for row in rows} == density


ENDS = {
    "all lines end in both": lambda text: text.replace("\n", "\r\n"),
    "some lines end in both": lambda text: text.replace("}\n", "}\r\n", 7).replace("\n", "\r\n", 1),
    "a line holds a return": lambda text: "starting\r 50 %\r100 %\n" + text + "done\r\n\r\n",
    "the last line has no end": lambda text: text[:-1],
}


@pytest.mark.parametrize("ends", ENDS)
def test_line_ends_change_nothing(lab: Laboratory, tmp_path: Path, ends: str) -> None:
    run = copy_run("tiny/plain", tmp_path / "run")
    for host, name in (("node-2", "stdout"), ("node-3", "stdout.gz"), ("node-10", "stdout.zst")):
        text = ENDS[ends]("".join(f"{text}\n" for text in read_lines(run / host)))
        for file in (run / host).iterdir():
            file.unlink()
        write_log(run / host, [text], name, end="")
    theirs = analyse(run, [])
    with (examined := lab.examine(run)).connection:
        assert_same(examined, theirs, [])
    assert theirs.metrics == analyse(CARDANO / "tiny" / "plain" / "run", []).metrics
