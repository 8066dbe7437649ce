"""Test a metric added in Dhall alone, over events that no shipped spec reads, and the installed wheel."""

from __future__ import annotations

import gzip
import json
import math
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import pytest

from assay.util.program import PACKAGES
from tests.compare_reference import CARDANO
from tests.oracle.instants import SECOND, format_instant, parse_instant
from tests.support.commands import MODEL, SUMMARY, build, run_assay
from tests.support.documents import list_charts, list_sections
from tests.support.laboratory import DATE, ROOT
from tests.support.modules import COMPILER, list_all_modules
from tests.support.outcomes import read_contents
from tests.support.runs import change_log, copy_run, read_lines
from tests.support.workspaces import copy_workspace

ADDED = "ChainDB.AddBlockEvent.AddedBlockToQueue"
POPPED = "ChainDB.AddBlockEvent.PoppedBlockFromQueue"

#: file of the specs, a text in it, and the text to insert before it
PUT_IN = (
    (
        "events.dhall",
        "    , blockSent =\n",
        f"""\
    , blockQueued =
        event "block_queued" "A block joins the queue of blocks to add"
          [ form [ "{ADDED}" ] ([] : List Text) ([] : List Text) [ E.at [ "block", "hash" ] block ] ]
    , blockUnqueued =
        event "block_unqueued" "A block leaves the queue of blocks to add"
          [ form [ "{POPPED}" ] ([] : List Text) ([] : List Text) [ E.at [ "block", "hash" ] block ] ]
""",
    ),
    ("package.dhall", "      , e.headerAnnounced\n", "      , e.blockQueued\n      , e.blockUnqueued\n"),
    (
        "grains/observation.dhall",
        '      , announced = first "announced"',
        """\
      , queued = first "queued" events.blockQueued "The block joined the queue"
      , unqueued = first "unqueued" events.blockUnqueued "The block left the queue"
""",
    ),
    ("grains/observation.dhall", "at.announced, at.sending,", "at.queued, at.unqueued, "),
    (
        "metrics/peers.dhall",
        "    , announce =\n",
        """\
    , queue =
        peer
          { id = "cdfPeerQueue"
          , name = "Time in queue"
          , measure = elapsed at.queued at.unqueued
          , doc = "Time that the block waited in the queue of blocks to add"
          }
""",
    ),
    ("contents.dhall", "p.noticeFirst, p.adoption, e.half", "p.queue, "),
)


@pytest.fixture(scope="module")
def own_workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the workspace and add the metric."""
    target = tmp_path_factory.mktemp("second") / "workspace"
    copy_workspace(target)
    for name, place, text in PUT_IN:
        file = target / "specs" / "cardano" / name
        before = file.read_text(encoding="utf-8")
        assert place in before, f"{name} has no {place!r}"
        file.write_text(before.replace(place, text + place, 1), encoding="utf-8")
    return target


def add_queue_lines(host: Path, waits: Mapping[str, int]) -> list[str]:
    """Return the log lines of a host; a block in `waits` is queued 0.5 ms after its arrival, for so many ns."""
    lines: list[tuple[int, str]] = []
    time = 0
    for text in read_lines(host):
        body = json.loads(text) if text.startswith("{") else {}
        time = parse_instant(body["at"]) if body else time
        lines.append((time, text))
        if body.get("ns") == "BlockFetch.Client.CompletedBlockFetch":
            block = body["data"]["block"]
            start = time + SECOND // 2000
            lines.append((start, format_queue_line(start, ADDED, block, host.name)))
            # only the first of two records counts
            for extra in (0, 1_000_000):
                end = start + waits[block] + extra
                lines.append((end, format_queue_line(end, POPPED, block, host.name)))
    return [text for _, text in sorted(lines, key=lambda item: item[0])]


def format_queue_line(time: int, ns: str, block: str, host: str) -> str:
    """Return a log object in the form of real nodes."""
    instant = f"{format_instant(time, '%Y-%m-%dT%H:%M:%S')}.{time % SECOND:09d}Z"
    data = {"block": {"hash": block, "kind": "Point", "slot": 1}, "kind": ns.rpartition(".")[2], "queueSize": 1}
    return json.dumps({"at": instant, "ns": ns, "data": data, "sev": "Debug", "thread": "104", "host": host})


@dataclass(frozen=True, slots=True)
class QueuedRun:
    """A run with queued blocks, and the waits (ns, ascending) of all accepted observations."""

    run: Path
    waits: tuple[int, ...]


@pytest.fixture(scope="module")
def queued_run(tmp_path_factory: pytest.TempPathFactory) -> QueuedRun:
    """Add queue lines to every host's log of the baseline."""
    run = copy_run("baseline", tmp_path_factory.mktemp("queued") / "run")
    counted_blocks = load_valid_observations()
    counting: list[int] = []
    for number, host in enumerate(sorted(run.glob("node-*"))):
        fetched_blocks = (
            json.loads(text) for text in read_lines(host) if "BlockFetch.Client.CompletedBlockFetch" in text
        )
        blocks = dict.fromkeys(body["data"]["block"] for body in fetched_blocks)
        waits = {block: 10_000_019 * (number + 1) + 20_011 * place for place, block in enumerate(blocks)}
        counting += [wait for block, wait in waits.items() if (block, host.name) in counted_blocks]
        with_queue = add_queue_lines(host, waits)
        change_log(host, lambda _, lines=with_queue: lines)  # type: ignore[misc]
    return QueuedRun(run, tuple(sorted(counting)))


def load_valid_observations() -> set[tuple[str, str]]:
    """Return block and host of every accepted observation, from the incumbent's results."""
    with gzip.open(CARDANO / "baseline" / "expected" / "chain.json.gz") as file:
        chain = json.load(file)
    return {
        (block["beBlock"], observation["boObserver"])
        for block in chain
        if all(verdict for _, verdict in block["beAcceptance"])
        for observation in block["beObservations"]
        if not observation["boErrorsCrit"] and observation["boChainDelta"] == 1
    }


@pytest.fixture(scope="module")
def report_folder(
    tmp_path_factory: pytest.TempPathFactory, own_workspace: Path, queued_run: QueuedRun, cache: Path
) -> Path:
    """Build the report with the metric."""
    out = tmp_path_factory.mktemp("added") / "report"
    result = build([f"queued={queued_run.run}"], out, cache, *MODEL, cwd=own_workspace)
    assert (result.status, result.out) == (0, f"{out / 'report.pdf'}\n"), result.err
    return out


def test_workspace_adds_only_dhall(own_workspace: Path) -> None:
    workspace_files, shipped_folders = (
        read_contents(own_workspace),
        {name: read_contents(ROOT / name) for name in ("specs", "queries")},
    )
    shipped_files = {
        f"{folder}/{name}": text for folder, files in shipped_folders.items() for name, text in files.items()
    }
    assert set(workspace_files) == set(shipped_files)
    assert {name for name in workspace_files if workspace_files[name] != shipped_files[name]} == {
        f"specs/cardano/{name}" for name, _, _ in PUT_IN
    }


def test_no_shipped_spec_reads_the_events() -> None:
    specs = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "specs").rglob("*.dhall"))
    assert ADDED not in specs
    assert POPPED not in specs
    assert ADDED in (CARDANO / "real" / "node-0.log").read_text(encoding="utf-8")


def test_results_have_the_new_metric_exactly(report_folder: Path, queued_run: QueuedRun) -> None:
    metrics = json.loads((report_folder / "results.json").read_text(encoding="utf-8"))["metrics"]
    figures = metrics["cdfPeerQueue"]["runs"]["queued"]
    waits = queued_run.waits
    mean = Fraction(sum(waits), len(waits))
    spread = math.sqrt(sum((wait - mean) ** 2 for wait in waits) / (len(waits) - 1))
    assert figures["size"] == len(waits) == metrics["cdfPeerFetch"]["runs"]["queued"]["size"]
    assert figures["average"] == pytest.approx(float(mean) / SECOND, rel=1e-14)
    assert figures["stddev"] == pytest.approx(spread / SECOND, rel=1e-12)
    assert (figures["min"], figures["max"]) == (waits[0] / SECOND, waits[-1] / SECOND)
    assert len(figures["centiles"]) == 29
    for centile, value in figures["centiles"]:
        rank = min(math.floor(len(waits) * centile), len(waits) - 1)
        assert value == waits[rank] / SECOND


def test_report_shows_the_new_metric(report_folder: Path, queued_run: QueuedRun) -> None:
    document = json.loads((report_folder / "document.json").read_text(encoding="utf-8"))
    (section,) = [item for item in list_sections(document) if item["title"] == "Individual peer propagation"]
    labels = [row[0] for row in section["rows"]]
    place = labels.index("Time in queue, ms")
    assert labels[place + 1] == "Sample count"
    mean = sum(queued_run.waits) / len(queued_run.waits) / SECOND
    assert section["rows"][place][1:] == [f"{1000 * mean:.3g}"]
    assert "cdfPeerQueue" in [chart["id"] for chart in list_charts(document)]
    assert (report_folder / "charts" / "cdfPeerQueue.svg").is_file()
    assert list((report_folder / "sql" / "tables").glob("*-block_queued.sql"))


def test_all_other_metrics_are_unchanged(report_folder: Path, two: Path) -> None:
    workspace_metrics, shipped_metrics = (
        json.loads((out / "results.json").read_text(encoding="utf-8"))["metrics"] for out in (report_folder, two)
    )
    assert set(workspace_metrics) - set(shipped_metrics) == {"cdfPeerQueue"}
    different = [
        name
        for name in shipped_metrics
        if workspace_metrics[name]["runs"]["queued"] != shipped_metrics[name]["runs"]["baseline"]
    ]
    assert different == []


def test_definitions_of_other_metrics_are_unchanged(report_folder: Path, two: Path) -> None:
    workspace_definitions, shipped_definitions = (
        json.loads((out / "provenance.json").read_text(encoding="utf-8"))["content"]["definitions"]
        for out in (report_folder, two)
    )
    del workspace_definitions["cdfPeerQueue"]
    assert [name for name in shipped_definitions if workspace_definitions[name] != shipped_definitions[name]] == []


def test_check_of_workspace_counts_the_metric(own_workspace: Path, cache: Path) -> None:
    shipped_check = run_assay("check", "--system", "cardano", "--cache", cache)
    workspace_check = run_assay("check", "--system", "cardano", "--cache", cache, cwd=own_workspace)
    assert workspace_check.status == 0, workspace_check.err
    assert parse_counts(workspace_check.out) == {
        **parse_counts(shipped_check.out),
        "events": parse_counts(shipped_check.out)["events"] + 2,
        "metrics": parse_counts(shipped_check.out)["metrics"] + 1,
    }


def parse_counts(text: str) -> dict[str, int]:
    """Return the counts that `assay check` prints."""
    words = text.split(": ")[1].split(", ")
    return {name: int(number) for number, name in (word.split() for word in words)}


# The wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel of this repository."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if "No module named hatchling" in result.stderr:
        pytest.skip("hatchling, which builds the wheel, is not installed")
    assert result.returncode == 0, result.stderr
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Path:
    """Install the wheel into a folder, without dependencies."""
    target = tmp_path_factory.mktemp("installed") / "packages"
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    if not uv:
        pytest.skip("uv, which installs the wheel, is not installed")
    command = [uv, "pip", "install", "--offline", "--no-deps", "--python", sys.executable, "--target", str(target)]
    result = subprocess.run([*command, str(wheel)], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return target


def test_wheel_has_all_inputs_of_reports(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    for folder in ("specs", "queries", "templates", "golden/specs"):
        repository_files = read_contents(ROOT / folder)
        prefix = f"assay/_workspace/{folder}/"
        assert {
            name.removeprefix(prefix): text for name, text in files.items() if name.startswith(prefix)
        } == repository_files
    assert any(name.startswith("assay/_workspace/templates/fonts/") for name in files)
    assert "assay/_workspace/golden/specs/cardano.yaml" in files


def test_wheel_has_code_and_no_tests(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    code = {path.relative_to(COMPILER).as_posix() for path in list_all_modules()}
    assert code <= names
    assert {name.split("/")[0] for name in names} == {*PACKAGES, "assay-0.3.0.dist-info"}
    assert [name for name in names if "/tests/" in name or "/golden/cardano/" in name] == []


def test_installed_wheel_builds_same_report_elsewhere(tmp_path: Path, installed: Path, two: Path) -> None:
    env = {**os.environ, "PYTHONPATH": str(installed), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    print_location = [sys.executable, "-c", "import assay; print(assay.__file__)"]
    place = subprocess.run(
        print_location, cwd=tmp_path, env=env, capture_output=True, text=True, check=True
    ).stdout.strip()
    assert Path(place) == installed / "assay" / "__init__.py"
    runs = [f"--run={case}={CARDANO / case / 'run'}" for case in ("baseline", "candidate")]
    command = [sys.executable, "-m", "assay", "build", "cardano/comparison", *runs, "-o", "out"]
    result = subprocess.run(
        [*command, "--date", DATE, *MODEL], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stdout) == (0, "out/report.pdf\n")
    assert SUMMARY.fullmatch(result.stderr)
    wheel_report, repository_report = read_contents(tmp_path / "out"), read_contents(two)
    assert set(wheel_report) == set(repository_report)
    assert [name for name in sorted(wheel_report) if wheel_report[name] != repository_report[name]] == []
