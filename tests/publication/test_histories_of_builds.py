"""Histories of builds: points, order, breaks, intervals and level shifts, beside publications and alone."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.compare_reference import load_json
from tests.publication.test_history import PLUTUS, find_gallery, list_plots, select_marks
from tests.support.commands import CommandResult, run_assay
from tests.support.laboratory import ROOT
from tests.support.workspaces import copy_workspace

RELEASE = ROOT / "golden" / "published" / "release-10.5.0.plutus.json"
RUN = ROOT / "golden" / "cardano" / "tiny" / "plain" / "run"
UNITS = {"CentiCpu": "%", "Alloc": "MiB/s"}

Values = Mapping[str, Sequence[float | None]]


def write_build(
    folder: Path,
    day: str,
    labels: Sequence[str],
    values: Values,
    judgement: Mapping[str, tuple[float | None, float | None]] | None = None,
    definition: str = "0",
    filters: Sequence[str] = (),
) -> Path:
    """Write the files of a build that a history reads; values are those of the runs, by metric."""
    runs = [f"run{index}" for index, _ in enumerate(labels)]
    changes = {
        metric: {runs[-1]: dict(zip(("difference_low", "difference_high"), interval, strict=True))}
        for metric, interval in (judgement or {}).items()
    }
    results = {
        "report": "cardano/comparison",
        "summary": "published",
        "filters": list(filters),
        "runs": [{"id": run, "label": label} for run, label in zip(runs, labels, strict=True)],
        "metrics": {
            metric: {
                "unit": UNITS[metric],
                "definition": definition,
                "runs": {
                    run: {"size": 0 if average is None else 9, "average": average or 0}
                    for run, average in zip(runs, averages, strict=True)
                },
            }
            for metric, averages in values.items()
        },
        **({"judgement": {"metrics": changes}} if changes else {}),
    }
    folder.mkdir(parents=True)
    (folder / "results.json").write_text(json.dumps(results), encoding="utf-8")
    (folder / "document.json").write_text(json.dumps({"date": day}), encoding="utf-8")
    return folder


def build_history(out: Path, cache: Path, *options: str | Path) -> CommandResult:
    result = run_assay("build", "cardano/history", "-o", out, "--cache", cache, "--to", "md", *options, cwd=ROOT)
    assert result.status == 0, result.err
    return result


def list_run_options(*builds: str | Path) -> list[str | Path]:
    return [word for build in builds for word in ("--run", build)]


def find_plot(out: Path, metric: str) -> Any:
    return next(plot for plot in list_plots(load_json(out / "document.json")) if plot["id"] == metric)


def list_dots(out: Path, metric: str = "CentiCpu") -> Iterator[tuple[str, str, str]]:
    """Yield the kind, label and text of each value in a plot, from left to right."""
    for row in sorted(select_marks(find_plot(out, metric), "base", "run"), key=lambda row: row["x"]):
        yield row["mark"], row["run"], row["value"]


@pytest.fixture(scope="module")
def nightly(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """Build the history of 24 nightly builds against one release; from the tenth on, 15 % more CPU is used."""
    folder = tmp_path_factory.mktemp("nightly")
    random = Random(3)
    builds = [
        write_build(
            folder / f"night{night}",
            f"2026-03-{night:02}",
            ["10.5", f"night {night}"],
            {
                "CentiCpu": [random.gauss(8, 0.1), random.gauss(9.2 if night >= 10 else 8, 0.1)],
                "Alloc": [random.gauss(120, 2), random.gauss(120, 2)],
            },
        )
        for night in range(1, 25)
    ]
    random.shuffle(builds)
    build_history(folder / "out", cache, *list_run_options(*builds))
    return folder / "out"


def test_level_shift_of_builds_is_found(nightly: Path) -> None:
    (shift,) = load_json(nightly / "results.json")["level_shifts"]
    assert (shift["metric"], shift["workload"], shift["day"]) == ("CentiCpu", "cardano/comparison", "2026-03-10")
    assert (shift["last_run_before"], shift["first_run"], shift["verdict"]) == ("night 9", "night 10", "worse")
    # The base is a point once only, since it is run again after newer runs.
    assert (shift["runs_before"], shift["runs_after"]) == (10, 15)
    assert shift["percent"] == pytest.approx(15, abs=2)
    (table,) = find_gallery(load_json(nightly / "document.json"), "level-shifts")["tables"]
    assert [row[:6] for row in table["rows"]] == [
        ["Process CPU usage, %", "cardano/comparison", "2026-03-10", "night 9", "night 10", f"{shift['before']:.2f}"]
    ]


def test_base_of_the_version_before_is_not_worse_than_it(tmp_path: Path, cache: Path) -> None:
    """Version 5 has 8 % CPU usage in its own build, and 9.2 % as the base of the next; the rest stays there."""
    random = Random(4)

    def draw(level: float) -> float:
        return random.gauss(level, 0.1)

    builds = [
        write_build(tmp_path / str(day), f"2026-03-{day:02}", [f"v{day - 1}", f"v{day}"],
                    {"CentiCpu": [draw(8 if day < 6 else 9.2), draw(8 if day < 6 else 9.2)]})
        for day in range(1, 12)
    ]  # fmt: skip
    build_history(tmp_path / "out", cache, *list_run_options(*builds))
    (shift,) = load_json(tmp_path / "out" / "results.json")["level_shifts"]
    assert (shift["last_run_before"], shift["first_run"], shift["verdict"]) == ("v5", "v5", "environment")


def test_few_builds_do_not_tell_of_shifts(tmp_path: Path, cache: Path) -> None:
    numbers = [(8.0, 9.2), (8.1, 9.1)]
    builds = [
        write_build(tmp_path / f"{day}", f"2026-03-0{day}", ["10.5", f"night {day}"], {"CentiCpu": list(pair)})
        for day, pair in enumerate(numbers, start=1)
    ]
    build_history(tmp_path / "out", cache, *list_run_options(*builds))
    text = find_gallery(load_json(tmp_path / "out" / "document.json"), "level-shifts")["text"]
    assert text[-1].startswith("Too few runs to tell in 1 of 1 series, each of a metric in a workload: ")


def test_builds_are_ordered_by_day(nightly: Path) -> None:
    dots = list(list_dots(nightly))
    assert [label for _, label, _ in dots] == [label for night in range(1, 25) for label in ("10.5", f"night {night}")]
    assert [kind for kind, _, _ in dots] == ["base", "run"] * 24


def test_document_describes_the_builds(nightly: Path) -> None:
    document = load_json(nightly / "document.json")
    assert document["title"] == "Releases, 2026-03-01 to 2026-03-24"
    assert document["intro"] == [
        "Every metric over 24 builds of cardano/comparison from 2026-03-01 to 2026-03-24, a panel for each workload "
        "(cardano/comparison). The values are unrounded averages, printed with three digits."
    ]
    assert document["manifest"]["rows"] == [
        ["Builds", "24"], ["First", "2026-03-01"], ["Last", "2026-03-24"], ["Runs", "48"]
    ]  # fmt: skip
    (appendix,) = document["appendices"]
    assert (appendix["title"], len(appendix["rows"])) == ("Builds", 24)
    assert appendix["rows"][0] == ["2026-03-01", "10.5, night 1", "cardano/comparison", "night1"]
    assert "ublication" not in (nightly / "report.md").read_text(encoding="utf-8")


def test_series_are_unrounded(tmp_path: Path, cache: Path) -> None:
    builds = [
        write_build(tmp_path / "a", "2026-01-01", ["1", "2"], {"CentiCpu": [1 / 3, 2 / 3]}),
        write_build(tmp_path / "b", "2026-01-02", ["3"], {"CentiCpu": [1234.5678]}),
    ]
    build_history(tmp_path / "out", cache, *list_run_options(*builds))
    series = load_json(tmp_path / "out" / "results.json")["series"]["CentiCpu"]["cardano/comparison"]
    assert [(item["publication"], item["base"], item["base_value"], item["run"], item["value"]) for item in series] == [
        ("a", "1", 1 / 3, "2", 2 / 3),
        ("b", None, None, "3", 1234.5678),
    ]
    assert list(list_dots(tmp_path / "out")) == [("base", "1", "0.333"), ("run", "2", "0.667"), ("run", "3", "1235")]


def test_builds_of_a_day_are_ordered_by_version(tmp_path: Path, cache: Path) -> None:
    """Those of one version keep the order of the command line."""
    builds = [
        write_build(tmp_path / name, "2026-01-01", [label], {"CentiCpu": [value]})
        for name, label, value in (("a", "10.10", 1), ("b", "10.9", 3), ("c", "10.9", 2), ("d", "9.1", 4))
    ]
    build_history(tmp_path / "out", cache, *list_run_options(*builds))
    assert [(label, value) for _, label, value in list_dots(tmp_path / "out")] == [
        ("9.1", "4.00"), ("10.9", "3.00"), ("10.9", "2.00"), ("10.10", "1.00")
    ]  # fmt: skip


def test_builds_stand_beside_publications(tmp_path: Path, cache: Path) -> None:
    build = write_build(tmp_path / "a", "2026-01-01", ["mine"], {"CentiCpu": [4.5]})
    result = build_history(tmp_path / "out", cache, "--publication", RELEASE, "--run", f"{PLUTUS}={build}")
    assert "breaks" not in result.err
    assert list(list_dots(tmp_path / "out")) == [
        ("base", "10.4.1", "5.6055"), ("run", "10.5.0", "3.8864"), ("run", "mine", "4.50")
    ]  # fmt: skip
    document = load_json(tmp_path / "out" / "document.json")
    assert [item["title"] for item in document["appendices"]] == ["Publications", "Builds"]
    assert document["manifest"]["title"] == "Publications and builds and workloads"


def test_run_without_samples_has_no_dot(tmp_path: Path, cache: Path) -> None:
    build = write_build(tmp_path / "a", "2026-01-01", ["1", "2"], {"CentiCpu": [None, 3]})
    build_history(tmp_path / "out", cache, "--run", build)
    assert list(list_dots(tmp_path / "out")) == [("run", "2", "3.00")]


def test_intervals_of_judgements_are_whiskers(tmp_path: Path, cache: Path) -> None:
    build = write_build(
        tmp_path / "a", "2026-01-01", ["1", "2"], {"CentiCpu": [8, 9], "Alloc": [1, 2]},
        {"CentiCpu": (0.5, 1.75), "Alloc": (None, None)},
    )  # fmt: skip
    build_history(tmp_path / "out", cache, "--run", build)
    (row,) = select_marks(find_plot(tmp_path / "out", "CentiCpu"), "interval")
    assert (row["y"], row["y2"]) == (8.5, 9.75)
    assert select_marks(find_plot(tmp_path / "out", "Alloc"), "interval") == []
    corners = select_marks(find_plot(tmp_path / "out", "CentiCpu"), "extent")
    assert [row["y"] for row in corners] == [8, 9.75]


CHANGES: dict[str, tuple[dict[str, Any], str]] = {
    "definition": ({"definition": "1"}, "The definition of the metric differs from that of the build before."),
    "filters": ({"filters": ["unitary"]}, "The filters are `unitary` instead of none."),
}


@pytest.mark.parametrize("case", CHANGES)
def test_build_that_measures_otherwise_begins_after_a_break(case: str, tmp_path: Path, cache: Path) -> None:
    """The second of two builds of one day is after the break."""
    options, text = CHANGES[case]
    builds = [
        write_build(tmp_path / "a", "2026-01-01", ["1"], {"CentiCpu": [8]}),
        write_build(tmp_path / "b", "2026-01-01", ["2"], {"CentiCpu": [9]}, **options),
        write_build(tmp_path / "c", "2026-01-01", ["3"], {"CentiCpu": [10]}, **options),
    ]
    build_history(tmp_path / "out", cache, *list_run_options(*builds))
    (change,) = load_json(tmp_path / "out" / "results.json")["breaks"]
    assert (change["kind"], change["since"], change["notes"]) == (
        "meaning",
        "2026-01-01",
        [{"metrics": ["CentiCpu"], "doc": text}],
    )
    (row,) = select_marks(find_plot(tmp_path / "out", "CentiCpu"), "break")
    assert row["x"] == 1


def test_history_of_builds_can_be_verified(tmp_path: Path, cache: Path) -> None:
    build = write_build(tmp_path / "a", "2026-01-01", ["1"], {"CentiCpu": [8]})
    out = tmp_path / "out"
    build_history(out, cache, "--publication", RELEASE, "--run", f"mine={build}")
    assert run_assay("verify", out, "--cache", cache, cwd=ROOT).status == 0
    (build / "results.json").write_text((build / "results.json").read_text().replace("8", "9"))
    result = run_assay("verify", out, "--cache", cache, cwd=ROOT)
    assert result.status == 3
    assert "input a/results.json: content changed" in result.out + result.err


def test_real_build_is_a_point(tmp_path: Path, cache: Path) -> None:
    comparison = tmp_path / "comparison"
    arguments = (
        "build",
        "cardano/comparison",
        "--run",
        f"mine={RUN}",
        "-o",
        comparison,
        "--cache",
        cache,
        "--to",
        "md",
    )
    assert run_assay(*arguments, cwd=ROOT).status == 0
    build_history(tmp_path / "out", cache, "--run", comparison)
    metrics = load_json(comparison / "results.json")["metrics"]
    series = load_json(tmp_path / "out" / "results.json")["series"]
    measured = {
        metric: [item["value"] for records in by_workload.values() for item in records]
        for metric, by_workload in series.items()
    }
    for metric, values in measured.items():
        (result,) = metrics[metric]["runs"].values()
        assert values == [result["average"] if result.get("size", 1) else None]
    assert load_json(tmp_path / "out" / "document.json")["date"] == load_json(comparison / "document.json")["date"]


def test_report_without_editions_has_a_history_of_builds(tmp_path: Path, cache: Path) -> None:
    workspace_root = copy_workspace(
        tmp_path / "workspace",
        ("specs/cardano/reports.dhall", "editions = ./editions.dhall", "editions = [] : List S.Edition.Type"),
    )
    build = write_build(tmp_path / "a", "2026-01-01", ["1"], {"CentiCpu": [8]})
    arguments = ("build", "cardano/history", "-o", tmp_path / "out", "--cache", cache, "--to", "md", "--run", build)
    assert run_assay(*arguments, cwd=workspace_root).status == 0
