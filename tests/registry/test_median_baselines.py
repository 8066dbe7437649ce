"""Compare recorded runs with the median of earlier ones: which runs these are, verdicts, gate."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path
from statistics import median, stdev
from xml.etree import ElementTree

import pytest
from scipy import stats

from assay.registry.baseline import MedianBaseline, parse_median, select_median_runs
from assay.registry.model import RecordedResults, RegisteredRun
from assay.util.diagnostics import AssayError
from tests.support.commands import CommandResult, run_assay
from tests.support.nights import write_night
from tests.support.recorded import create_results

NIGHTS = 6


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a workspace with builds of six nights, of which the last has longer times; its logs are removed."""
    folder = tmp_path_factory.mktemp("medians") / "shop"
    assert run_assay("init", folder).status == 0
    with (folder / "assay.toml").open("a", encoding="utf-8") as file:
        file.write('results = "results"\ncache = "cache"\nto = ["md"]\n')
    for night in range(NIGHTS):
        write_night(folder / "runs" / "1.0", folder / f"night-{night}", night, 1.2 if night == NIGHTS - 1 else 1.0)
        words = ("build", "--run", f"night-{night}", "-o", f"build/{night}")
        assert run_assay(*words, cwd=folder).status == 0
        shutil.rmtree(folder / f"night-{night}")
    return folder


def run(shop: Path, *words: str) -> CommandResult:
    return run_assay(*words, cwd=shop)


def read_values(shop: Path, metric: str) -> list[float]:
    (history,) = run(shop, "history", metric, "--format", "json").parse_json()
    return [point["value"] for point in history["runs"]]


def test_interval_is_that_of_student_with_an_equivalent_mean(shop: Path) -> None:
    """The expected interval comes from scipy."""
    *earlier, value = read_values(shop, "work")
    answer = run(shop, "compare", "median:5", f"night-{NIGHTS - 1}", "--format", "json")
    change = next(item for item in answer.parse_json()["changes"] if item["metric"] == "work")
    base = median(earlier)
    mean = (value - base) / math.log(value / base)
    reach = stats.t.ppf(0.975, 4) * stdev(earlier) * (1 / 3 + 1) ** 0.5 / mean
    low, high = (100 * (value / base * math.exp(end) - 1) for end in (-reach, reach))
    assert (change["base_value"], change["value"], change["verdict"]) == (pytest.approx(base), value, "worse")
    assert (change["low"], change["high"]) == (pytest.approx(low), pytest.approx(high))


def test_gate_closes_for_a_slow_night_only(shop: Path) -> None:
    slow, usual = (run(shop, "gate", f"build/{night}", "--baseline", "median:3") for night in (NIGHTS - 1, NIGHTS - 2))
    assert (slow.status, usual.status) == (4, 0)
    assert slow.out.startswith("night-5 against median:3: 2 of 2 gated metrics are worse by more than their margin\n")
    assert "The base of night-4 is the median of 3 runs: night-1, night-2, night-3." in usual.out


def test_gate_has_all_forms(shop: Path, tmp_path: Path) -> None:
    words = ("gate", "build/5", "--baseline", "median:5")
    answer = run(shop, *words, "--format", "json", "--junit", str(tmp_path / "x.xml"))
    data = answer.parse_json()
    assert (data["is_open"], data["base"], [item["id"] for item in data["runs"]]) == (False, "median:5", ["night-5"])
    assert 'failures="2"' in (tmp_path / "x.xml").read_text(encoding="utf-8")
    assert run(shop, *words, "--format", "markdown").out.startswith("**Gate fails")


def test_filters_cannot_be_chosen(shop: Path) -> None:
    answer = run(shop, "compare", "median:5", "night-5", "--no-filters")
    assert (answer.status, "which reads recorded results" in answer.err) == (2, True)


def test_unknown_run_is_refused_with_a_hint(shop: Path) -> None:
    answer = run(shop, "compare", "median:5", "night-50")
    assert (answer.status, "hint: did you mean" in answer.err) == (2, True)


def test_other_definition_is_not_compared(shop: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(shop, tmp_path / "shop"))
    build = folder / "build" / "5" / "results.json"
    results = json.loads(build.read_text(encoding="utf-8"))
    results["metrics"]["work"]["definition"] = "0" * 64
    build.write_text(json.dumps(results), encoding="utf-8")
    answer = run(folder, "gate", "build/5", "--baseline", "median:5")
    assert answer.status == 4
    assert "Working time: no interval: fewer than 3 earlier runs have a value of the same definition" in answer.out


@pytest.mark.parametrize(
    ("text", "expected"), [("median:5", MedianBaseline(5)), ("median:12:a:b", MedianBaseline(12, "a:b"))]
)
def test_baseline_is_parsed(text: str, expected: MedianBaseline) -> None:
    assert parse_median(text) == expected
    assert str(expected) == text


@pytest.mark.parametrize("text", ["median:", "median:2", "median:x", "median:5:", "mean:5"])
def test_invalid_baseline_is_refused(text: str) -> None:
    with pytest.raises(AssayError, match="invalid baseline"):
        parse_median(text)


def select(recorded: list[RecordedResults], compared: RecordedResults, *, tag: str = "", runs: int = 3) -> list[str]:
    registered = [RegisteredRun(Path(f"{item}.json"), item, (item,), ("release",)) for item in ("a", "c", "d")]
    chosen = select_median_runs(MedianBaseline(runs, tag), recorded, registered, compared)
    return [item.content.run for item in chosen]


def test_experiments_are_in_no_baseline() -> None:
    recorded = [create_results(name, 1.0, f"2026-01-0{day}") for day, name in enumerate("abcdefg", start=1)]
    registered = [RegisteredRun(Path(f"{item}.json"), item, (item,), ("experiment",)) for item in ("c", "e")]
    chosen = select_median_runs(MedianBaseline(3), recorded, registered, recorded[6])
    assert [item.content.run for item in chosen] == ["b", "d", "f"]


def test_last_runs_before_the_compared_one_are_chosen() -> None:
    recorded = [create_results(name, 1.0, f"2026-01-0{day}") for day, name in enumerate("abcdefg", start=1)]
    assert select(recorded, recorded[4]) == ["b", "c", "d"]
    assert select(recorded, recorded[4], tag="release") == ["a", "c", "d"]
    assert select(recorded, recorded[4], runs=9) == ["a", "b", "c", "d"]
    assert select(recorded, create_results("new", 1.0)) == ["e", "f", "g"]


def create_same_day(names: str) -> list[RecordedResults]:
    """Return results of runs of one day, each of which begins before the next one."""
    starts = [f"2026-01-05T09:00:{number // 2:02}{'.5' * (number % 2)}Z" for number in range(len(names))]
    return [create_results(name, 1.0, "2026-01-05", start=start) for name, start in zip(names, starts, strict=True)]


def test_runs_of_one_day_are_in_the_order_of_their_starts() -> None:
    """Names, such as the hashes of commits, order only runs that begin at the same instant."""
    recorded = create_same_day("dacfeb")
    assert select(recorded, recorded[4]) == ["a", "c", "f"]
    assert select(recorded, recorded[5], runs=9) == ["d", "a", "c", "f", "e"]
    together = [create_results(name, 1.0, "2026-01-05") for name in "bdac"]
    assert select(together, together[1]) == ["a", "b", "c"]


def test_an_unrecorded_run_comes_after_all_that_are_recorded() -> None:
    recorded = create_same_day("mno")
    assert select(recorded, create_results("candidate", 1.0, "2026-01-05", start="2026-01-05T09:00:00Z")) == [*"mno"]


def test_an_older_record_of_a_run_is_the_same_run() -> None:
    """It has no instant: an older version of Assay recorded it."""
    recorded = create_same_day("dacb")
    older = create_results("c", 1.0, "2026-01-05", assay="0.1.0")
    assert select([older, *recorded], recorded[3], runs=9) == ["d", "a", "c"]


def test_too_few_runs_have_a_reason() -> None:
    recorded = [*create_same_day("cda"), create_results("x", 1.0, "2026-01-04", filters=("slow",))]
    with pytest.raises(AssayError) as raised:
        select(recorded, recorded[1], tag="release")
    assert raised.value.diagnostics[0].found == "c of 2 recorded runs with this tag: 1 not before it"
    with pytest.raises(AssayError) as raised:
        select(recorded, recorded[0])
    assert raised.value.diagnostics[0].found == (
        "none of 3 recorded runs: 2 not before it, 1 without such results, or with the same logs"
    )


def test_runs_of_other_filters_reports_or_the_same_logs_are_left_out() -> None:
    recorded = [create_results(name, 1.0, f"2026-01-0{day}") for day, name in enumerate("abc", start=1)]
    compared = create_results("e", 1.0, "2026-02-01")
    others = [
        create_results("d", 1.0, "2026-01-09", filters=("slow",)),
        create_results("d", 1.0, "2026-01-09", report="service/other"),
        create_results("d", 1.0, "2026-01-09", summary="hosts"),
        create_results("f", 1.0, "2026-01-09", data=compared.content.data),
    ]
    assert select([*recorded, *others], compared) == ["a", "b", "c"]
    with pytest.raises(AssayError, match="too few runs before `e`"):
        select(recorded[1:], compared)


def write_requests(log: Path, night: int, factor: float) -> None:
    """Write requests from two regions, of which those of the first are longer by a factor."""
    lines = []
    for number in range(240):
        region = "eu" if number % 4 == 0 else "us"
        took = (40 + (number * 7 + night * 3) % 11) * (factor if region == "eu" else 1)
        instant = f"2026-03-{night + 1:02}T09:{number // 60:02}:{number % 60:02}Z"
        lines.append(json.dumps({"time": instant, "region": region, "latency_ms": took}))
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_gate_has_the_segments_of_the_build(tmp_path: Path) -> None:
    """Counts and sections are those of a gate between two runs."""
    write_requests(tmp_path / "log.jsonl", 0, 1)
    assert run_assay("init", "place", "--from", "log.jsonl", cwd=tmp_path).status == 0
    place = tmp_path / "place"
    reports = place / "specs/place/reports.dhall"
    reports.write_text(reports.read_text(encoding="utf-8").replace("-- , judgement", ", judgement"), encoding="utf-8")
    for night in range(5):
        write_requests(place / f"night-{night}" / "log.jsonl", night, 3 if night == 4 else 1)
        (place / f"night-{night}" / "meta.json").write_text(json.dumps({"version": f"n{night}"}), encoding="utf-8")
        words = ("build", "place/comparison", "--run", f"night-{night}", "-o", f"{night}", "--results", "results")
        assert run_assay(*words, "--to", "md", cwd=place).status == 0
    runs = ("--run", "night-3", "--run", "night-4")
    assert run_assay("build", "place/comparison", *runs, "-o", "two", "--to", "md", cwd=place).status == 0
    gate = ("--once", "--format", "markdown", "--junit")
    pair = run_assay("gate", "two", *gate, "pair.xml", cwd=place)
    of_median = run_assay("gate", "4", "--baseline", "median:4", "--results", "results", *gate, "x.xml", cwd=place)
    assert (pair.status, of_median.status) == (4, 4), of_median.err
    assert "; 1 worse, 0 better of " in of_median.out.splitlines()[0]
    cases = [
        {(case.attrib["classname"], case.attrib["name"]) for case in ElementTree.parse(place / name).iter("testcase")}
        for name in ("pair.xml", "x.xml")
    ]
    assert cases[0] == cases[1]
