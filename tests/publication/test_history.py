"""Test the history of publications: plotted values are printed ones, and breaks are where definitions change."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pypdf
import pytest

from tests.compare_reference import load_json
from tests.support.commands import CommandResult, run_assay
from tests.support.documentation import list_members, parse_page
from tests.support.laboratory import ROOT

PUBLISHED = ROOT / "golden" / "published"
FILES = sorted(path for path in PUBLISHED.glob("*.json") if not path.name.endswith(".cdf.json"))
WORKLOADS = ["Plutus countdown loop", "value-only"]


def build(out: Path, cache: Path, *options: str | Path, root: Path = ROOT) -> CommandResult:
    return run_assay("build", "cardano/history", "-o", out, "--cache", cache, *options, cwd=root)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """Build the history of all publications."""
    out = tmp_path_factory.mktemp("history") / "out"
    result = build(out, cache, "--publication", PUBLISHED)
    assert (result.status, result.out, result.err) == (0, f"{out}/report.pdf\n", "")
    return out


@pytest.fixture(scope="module")
def document(built: Path) -> Any:
    return load_json(built / "document.json")


@pytest.fixture(scope="module")
def results(built: Path) -> Any:
    return load_json(built / "results.json")


# Publications, read without the compiler


def read_publications() -> list[tuple[Path, Any]]:
    """Return every publication with its file, oldest first."""
    return sorted(
        ((path, load_json(path)) for path in FILES), key=lambda item: (item[1]["date"][:10], item[1]["workload"])
    )


def iter_rows_by_metric(publication: Any) -> Iterator[tuple[str, Any]]:
    """Return the rows of a publication by metric, using its own dictionary of labels."""
    for section in publication["sections"]:
        machine = section["title"] == "Resource Usage"
        group = "Cluster performance metrics" if machine else "Block propagation metrics"
        ids = {entry["name"]: entry["id"] for entry in publication["dictionary"][group]}
        for row in section["rows"]:
            yield ids[row["label"]], row


#: runs of other conditions than those of releases
EXPERIMENTS = {"memory budget": ("loop-memx1.5", "loop-memx2"), "voting": ("value+voting",)}


def name_series(publication: Any) -> str:
    """Return the panel of a publication: its workload, and its experiment if its further runs are of one."""
    series = [name for name, runs in EXPERIMENTS.items() if set(publication["runs"][1:]) <= set(runs)]
    return ": ".join([publication["workload"], *series])


def compute_series() -> dict[str, dict[str, list[dict[str, str]]]]:
    expected: dict[str, dict[str, list[dict[str, str]]]] = {}
    for path, publication in read_publications():
        base, *other_runs = publication["runs"]
        for metric, row in iter_rows_by_metric(publication):
            places = expected.setdefault(metric, {}).setdefault(name_series(publication), [])
            for run, value in zip(other_runs, row["values"][1:], strict=True):
                places.append(
                    {"publication": path.name, "day": publication["date"][:10], "unit": row["unit"], "base": base,
                     "base_value": row["values"][0], "run": run, "value": value}
                )  # fmt: skip
    return expected


EXPECTED = compute_series()


def list_plots(document: Any) -> list[Any]:
    return [plot for gallery in document["parts"] for plot in gallery["plots"]]


def find_gallery(document: Any, name: str) -> Any:
    return next(item for item in document["parts"] if item["id"] == name)


def select_marks(plot: Any, *kinds: str) -> list[dict[str, Any]]:
    """Return the rows of a plot with some kinds of marks."""
    rows_as_records = [dict(zip(plot["columns"], row, strict=True)) for row in plot["rows"]]
    return [row for row in rows_as_records if row["mark"] in kinds]


# Values


def test_every_publication_is_read() -> None:
    assert len(FILES) == 31
    assert len(EXPECTED) == 45


def test_series_are_the_printed_ones(results: Any) -> None:
    actual = {
        metric: {
            workload: [{key: item[key] for key in item if key != "edition"} for item in series]
            for workload, series in saved_series.items()
        }
        for metric, saved_series in results["series"].items()
    }
    assert actual == EXPECTED


def test_plotted_values_are_the_printed_values(document: Any) -> None:
    assert {plot["id"] for plot in list_plots(document)} == set(EXPECTED)
    for plot in list_plots(document):
        expected_points: Counter[tuple[str, ...]] = Counter()
        for _, publication in read_publications():
            day, labels = publication["date"][:10], publication["runs"]
            for metric, row in iter_rows_by_metric(publication):
                if metric == plot["id"]:
                    kinds = ["base", *["run"] * (len(labels) - 1)]
                    cells = zip(kinds, labels, row["values"], strict=True)
                    expected_points.update((name_series(publication), day, *cell) for cell in cells)
        actual = select_marks(plot, "base", "run")
        assert expected_points == Counter(
            (row["panel"], row["publication"], row["mark"], row["run"], row["value"]) for row in actual
        )
        assert all(row["y"] == float(row["value"]) for row in actual)


@pytest.mark.parametrize(
    ("metric", "counts"),
    [("CentiCpu", [16, 17]), ("cdfForgerBlkCtx", [16, 17]), ("FsRd", [14, 15]), ("cdf1.00", [16, 17])],
)
def test_every_further_run_has_a_dot(metric: str, counts: list[int], document: Any) -> None:
    plot = next(item for item in list_plots(document) if item["id"] == metric)
    dots = Counter(row["panel"] for row in select_marks(plot, "run"))
    assert [dots[workload] for workload in WORKLOADS] == counts


def test_line_connects_each_run_to_its_base(document: Any) -> None:
    for plot in list_plots(document):
        bases = {(row["panel"], row["publication"]): row for row in select_marks(plot, "base")}
        runs = {(row["panel"], row["publication"], row["run"]): row for row in select_marks(plot, "run")}
        move_marks = select_marks(plot, "move")
        assert len(move_marks) == len(runs)
        for row in move_marks:
            run, base = (
                runs[row["panel"], row["publication"], row["run"]],
                bases[row["panel"], row["publication"]],
            )
            assert (row["x"], row["y"], row["x2"], row["y2"]) == (run["x"], run["y"], base["x"], base["y"])


def test_time_goes_from_left_to_right(document: Any) -> None:
    for plot in list_plots(document):
        labels = [(row["x"], row["text"]) for row in select_marks(plot, "label")]
        assert [x for x, _ in labels] == [index + 0.5 for index in range(18)]
        for panel in plot["panels"]:
            dots = sorted(
                (row["x"], row["publication"]) for row in select_marks(plot, "base", "run") if row["panel"] == panel
            )
            assert [day for _, day in dots] == sorted(day for _, day in dots)
            assert len({x for x, _ in dots}) == len(dots)
        # A column is labelled with its newest run.
        last = {int(row["x"]): row["run"] for row in sorted(select_marks(plot, "run"), key=lambda row: row["x"])}
        assert all(dict(labels)[index + 0.5] == run for index, run in last.items())


def test_drawing_equals_the_document(built: Path, document: Any) -> None:
    for plot in list_plots(document):
        drawn_rows = load_json(built / "charts" / f"{plot['id']}.vl.json")["datasets"]["rows"]
        rows = [dict(zip(plot["columns"], row, strict=True)) for row in plot["rows"]]
        assert drawn_rows == [{key: value for key, value in row.items() if value is not None} for row in rows]
        svg = (built / "charts" / f"{plot['id']}.svg").read_text(encoding="utf-8")
        assert all(f">{text}</text>" in svg for text in (*plot["panels"], "10.5.4", "10.6-pre"))


# Breaks


def test_declared_break_precedes_first_run_measured_anew(document: Any) -> None:
    plots_by_id = {plot["id"]: plot for plot in list_plots(document)}

    def find_adjacent_dots(metric: str, key: str, panel: str) -> tuple[tuple[str, str], tuple[str, str]]:
        """Return the last dot before a break and the first after it."""
        plot = plots_by_id[metric]
        (x,) = (row["x"] for row in select_marks(plot, "break") if row["panel"] == panel and key in row["text"].split())
        dots = sorted(
            (row["x"], row["run"], row["value"]) for row in select_marks(plot, "base", "run") if row["panel"] == panel
        )
        before = [dot for dot in dots if dot[0] < x]
        return before[-1][1:], dots[len(before)][1:]

    assert find_adjacent_dots("cdfForgerBlkCtx", "D", WORKLOADS[0]) == (("10.4.1", "0.02415"), ("10.5.0", "6e-05"))
    assert find_adjacent_dots("cdfForgerBlkCtx", "D", WORKLOADS[1]) == (("10.4.1", "0.02471"), ("10.5.0", "7e-05"))
    assert find_adjacent_dots("cdfSpanLensCpu", "A", WORKLOADS[0]) == (("8.7.1-pre", "9.9404"), ("8.7.2", "0.16865"))
    assert find_adjacent_dots("cdfSpanLensCpu", "B", WORKLOADS[1]) == (("9.0", "0.06845"), ("9.1.1", "4.1885"))
    assert find_adjacent_dots("cdfPeerAnnounce", "C", WORKLOADS[1]) == (("10.1.4", "-0.0"), ("10.2.0", "0.0014"))
    for metric in ("cdfForgerAnnounceCum", "cdfPeerNoticeFirst", "cdfPeerFetchFirst"):
        for panel in WORKLOADS:
            assert [run for run, _ in find_adjacent_dots(metric, "E", panel)] == ["10.4.1", "10.5.0"]


def test_metrics_without_declared_break_have_none(document: Any, results: Any) -> None:
    declared_metrics = {name for item in results["breaks"] if item["kind"] == "meaning"
                for note in item["notes"] for name in note["metrics"]}  # fmt: skip
    drawn_metrics = {
        plot["id"]
        for plot in list_plots(document)
        if any(row["kind"] == "meaning" for row in select_marks(plot, "break"))
    }
    assert drawn_metrics == declared_metrics
    assert len(declared_metrics) == 6


def test_breaks_of_form_follow_labels_units_and_generations(results: Any) -> None:
    before: dict[str, tuple[str, str, str]] = {}
    expected_breaks: dict[tuple[str, str], set[str]] = {}
    for _, publication in read_publications():
        day = publication["date"][:10]
        for metric, row in iter_rows_by_metric(publication):
            current_form = (publication["generation"], row["label"], row["unit"])
            for old, new in zip(before.get(metric, current_form), current_form, strict=True):
                if old != new:
                    expected_breaks.setdefault((day, new), set()).add(metric)
            before[metric] = current_form
    assert {day for day, _ in expected_breaks} == {"2026-02-09"}
    (form,) = (item for item in results["breaks"] if item["kind"] == "form")
    assert (form["key"], form["since"], form["run"]) == ("F", "2026-02-09", "")
    notes = {note["doc"]: set(note["metrics"]) for note in form["notes"]}
    assert notes.pop("The number style is typst-2026 instead of org-2023.") == expected_breaks.pop(
        ("2026-02-09", "typst")
    )
    words = {re.search(r"(?:The name is “|The unit is )(.+?)”? instead", text)[1]: text for text in notes}  # type: ignore[index]
    # Two units may become one: `#` became units in one row and events in others.
    assert {word: notes[text] for word, text in words.items()} == {
        word: metrics for (_, word), metrics in expected_breaks.items()
    }
    assert len(words) == 9


def test_every_break_is_explained_below_its_figures(document: Any) -> None:
    for gallery in document["parts"]:
        if not gallery["plots"]:
            continue
        keys = {key for plot in gallery["plots"] for row in select_marks(plot, "break") for key in row["text"].split()}
        (table,) = gallery["tables"]
        assert {row[0] for row in table["rows"]} == keys


# Moves


def compute_moves() -> list[tuple[str, ...]]:
    """Compute the largest moves from the published files: metric, workload, day, runs, values, percentage."""
    best_moves: dict[tuple[str, str], tuple[Fraction, tuple[str, ...]]] = {}
    for _, publication in read_publications():
        for metric, row in iter_rows_by_metric(publication):
            base, *values = row["values"]
            meaningful = len(re.sub(r"e.*|\.", "", base).lstrip("-0")) >= 2 and float(base) > 0
            for run, value in zip(publication["runs"][1:], values, strict=True):
                if not meaningful or not float(value) > 0:
                    continue
                ratio = Fraction(value) / Fraction(base)
                factor = max(ratio, 1 / ratio)
                place = (metric, name_series(publication))
                if place not in best_moves or factor > best_moves[place][0]:
                    tenths = round((ratio - 1) * 1000)
                    percent = f"{'-' if tenths < 0 else '+'}{abs(tenths) // 10}.{abs(tenths) % 10}"
                    move = (*place, publication["date"][:10], publication["runs"][0], run, base, value, percent)
                    best_moves[place] = (factor, move)
    return [move for _, move in sorted(best_moves.values(), key=lambda item: -item[0])]


def test_largest_moves_are_those_of_printed_values(results: Any, document: Any) -> None:
    keys = ("metric", "workload", "day", "base", "run", "base_value", "value", "percent")
    actual = [tuple(item[key] for key in keys) for item in results["moves"]]
    assert actual == compute_moves()[:24]
    (table,) = find_gallery(document, "largest-moves")["tables"]
    assert [tuple(row[1:8]) for row in table["rows"]] == [item[1:] for item in actual]


def test_moves_across_a_break_are_marked(results: Any) -> None:
    crossed = {(item["metric"], item["run"]): item["breaks"] for item in results["moves"]}
    assert crossed["cdfForgerBlkCtx", "10.5.0"] == "D"
    assert {place for place, keys in crossed.items() if keys} == {("cdfForgerBlkCtx", "10.5.0")}


# Level shifts

PLUTUS, VALUE = WORKLOADS
#: what the authors of the publications observe, by metric, workload and first run: change in percent
OBSERVED_SHIFTS = {
    ("CentiCpu", VALUE, "10.5.0"): -32,  # with -14 % at 10.3.0-ghc965, which has too few runs for a shift of its own
    ("CentiCpu", PLUTUS, "10.5.0"): -31,
    ("Alloc", PLUTUS, "10.5.0"): -39,
    ("cdfForgerMemSnap", PLUTUS, "10.0-pre"): -97,
    # Neighbours are alike, so that +7 % at 8.9.1-rerun is left out, and Alloc, VALUE, -33 % at 10.3.0-ghc965
    ("cdf0.80", PLUTUS, "10.0-pre"): -13,
}


def test_observed_shifts_are_found(results: Any) -> None:
    shifts = {(item["metric"], item["workload"], item["first_run"]): item for item in results["level_shifts"]}
    assert {key: round(shifts[key]["percent"]) for key in OBSERVED_SHIFTS} == OBSERVED_SHIFTS
    assert {key: shifts[key]["verdict"] for key in OBSERVED_SHIFTS} == {
        key: "worse" if percent > 0 else "better" for key, percent in OBSERVED_SHIFTS.items()
    }


def test_run_that_is_alone_at_its_level_is_a_move_only(results: Any) -> None:
    """10.6-pre allocates 59 % less than 10.5, but 10.5.4 was published after it."""
    (move,) = (item for item in results["moves"] if (item["metric"], item["workload"]) == ("Alloc", PLUTUS))
    assert (move["run"], move["percent"]) == ("10.6-pre", "-59.4")
    assert all(item["first_run"] != "10.6-pre" for item in results["level_shifts"])


def test_shifts_name_no_run_of_an_experiment(results: Any, document: Any) -> None:
    assert [shift for shift in results["level_shifts"] if ": " in shift["workload"]] == []
    rows = find_gallery(document, "level-shifts")["tables"][0]["rows"]
    assert [row for row in rows if any(part in row[3] + row[4] for part in ("memx", "voting", "utxo"))] == []
    names = "value-only: voting; Plutus countdown loop: memory budget"
    assert find_gallery(document, "level-shifts")["text"][-1].endswith(f"several conditions: {names}.")


def test_shifts_do_not_cross_breaks_in_meaning(results: Any) -> None:
    first_runs = {(item["metric"], item["first_run"]) for item in results["level_shifts"]}
    assert not {("cdfForgerBlkCtx", "10.5.0"), ("cdfPeerAnnounce", "10.2.0"), ("cdfSpanLensCpu", "9.1.1")} & first_runs


def test_table_lists_the_newest_shifts_first(results: Any, document: Any) -> None:
    (table,) = find_gallery(document, "level-shifts")["tables"]
    assert [(row[1], row[2], row[3], row[4], row[8].removesuffix(", may be chance")) for row in table["rows"]] == [
        (item["workload"], item["day"], item["last_run_before"], item["first_run"], item["verdict"])
        for item in results["level_shifts"]
    ]
    days = [row[2] for row in table["rows"]]
    assert days == sorted(days, reverse=True)
    assert all(abs(float(row[7])) >= 2 for row in table["rows"])


def test_levels_are_drawn_where_they_shift(results: Any, document: Any) -> None:
    averages = {(item["metric"], item["workload"], item["after"]) for item in results["level_shifts"]}
    drawn_levels = {
        (plot["id"], row["panel"], row["y"]) for plot in list_plots(document) for row in select_marks(plot, "level")
    }
    assert averages <= drawn_levels


# Inputs


def test_report_lists_its_inputs(document: Any) -> None:
    assert document["title"] == "Releases, 2023-12-05 to 2026-02-09"
    assert document["date"] == "2026-02-09"
    assert document["intro"][0].startswith(
        "Every metric over 31 publications from 2023-12-05 to 2026-02-09, with a panel per workload "
        "(Plutus countdown loop, value-only, value-only: voting, Plutus countdown loop: memory budget)."
    )
    assert document["manifest"]["header"] == ["", *WORKLOADS, f"{VALUE}: voting", f"{PLUTUS}: memory budget"]
    assert document["manifest"]["rows"][:4] == [
        ["Publications", "14", "14", "1", "2"],
        ["First", "2023-12-05", "2023-12-05", "2024-10-28", "2025-02-19"],
        ["Last", "2026-02-09", "2026-02-09", "2024-10-28", "2025-03-28"],
        ["Runs", "30", "31", "2", "6"],
    ]
    (appendix,) = document["appendices"]
    rows = [(row[0], row[1], row[2], row[4]) for row in appendix["rows"]]
    assert sorted(rows) == sorted(
        (item["date"][:10], item["title"], name_series(item), path.name) for path, item in read_publications()
    )
    assert [row[0] for row in appendix["rows"]] == sorted(row[0] for row in appendix["rows"])
    assert {row[3] for row in appendix["rows"]} == {"2023-12", "2024-03", "2024-09", "2025-01", "2025-02", "2026-02"}


def test_pdf_lists_the_inputs(built: Path, document: Any) -> None:
    text = "".join(page.extract_text() for page in pypdf.PdfReader(built / "report.pdf").pages)
    text = re.sub(r"\s", "", text)

    def is_printed(words: str) -> bool:
        return re.sub(r"\s", "", words) in text

    titles = [document["title"], *(item["title"] for item in document["parts"])]
    assert all(is_printed(item) for item in titles)
    assert all(is_printed(f"Figure {plot['figure']} {plot['title']}") for plot in list_plots(document))
    tables = [table for gallery in document["parts"] for table in gallery["tables"]]
    assert all(is_printed(cell) for table in tables for row in table["rows"] for cell in row)
    assert all(is_printed(path.name) for path in FILES)


def test_provenance_names_every_file(built: Path) -> None:
    content = load_json(built / "provenance.json")["content"]
    assert content["report"] == "cardano/history"
    files = {item["file"]: (item["bytes"], item["sha256"]) for item in content["publications"]}
    raw = {path.name: path.read_bytes() for path in FILES}
    assert files == {name: (len(text), hashlib.sha256(text).hexdigest()) for name, text in raw.items()}
    assert Counter(item["edition"] for item in content["publications"])["2026-02"] == 2


def test_order_of_files_does_not_matter(built: Path, tmp_path: Path, cache: Path) -> None:
    arguments = [word for path in reversed(FILES) for word in ("--publication", path)]
    result = build(tmp_path / "out", cache, *arguments)
    assert (result.status, result.err) == (0, "")
    for name in ("document.json", "results.json", "report.pdf"):
        assert (tmp_path / "out" / name).read_bytes() == (built / name).read_bytes()


def test_title_and_author_can_be_set(tmp_path: Path, cache: Path) -> None:
    result = build(
        tmp_path / "out", cache, "--publication", FILES[0], "--publication", PUBLISHED / "release-9.0.0.plutus.json",
        "--title", "Two of them", "--author", "A. Writer", "--date", "2026-03-01",
    )  # fmt: skip
    assert result.status == 0
    # The later breaks are outside of these two.
    assert all("lies outside of the publications, which are from 2023-12-05 to 2024-07-08" in line
               for line in result.err.splitlines() if "no publication tells it" not in line)  # fmt: skip
    document = load_json(tmp_path / "out" / "document.json")
    assert (document["title"], document["author"], document["date"]) == ("Two of them", "A. Writer", "2026-03-01")
    assert document["manifest"]["header"] == ["", "Plutus countdown loop"]
    assert list(load_json(tmp_path / "out" / "results.json")["series"]["CentiCpu"]) == ["Plutus countdown loop"]


def test_list_of_reports_includes_the_history(cache: Path) -> None:
    result = run_assay("list", "reports", "--system", "cardano", "--format", "json", "--cache", cache)
    reports = {item["report"]: item["metrics"] for item in result.parse_json()}
    assert list(reports) == [
        "cardano/comparison",
        "cardano/history",
        "cardano/host-activity",
        "cardano/host-timelines",
        "cardano/performance",
        "cardano/workloads",
    ]
    assert reports["cardano/history"] == "45"


def test_layout_of_results_is_the_documented_one(results: Any) -> None:
    (table,) = (item for item in parse_page("docs/results.md").tables if item.section == "results.json of a history")
    layout = {name.replace("[]", "") for row in table.rows for name in list_members(row[0])}

    def iter_paths(value: Any, trail: str = "") -> Iterator[str]:
        for item in value if isinstance(value, list) else ():
            yield from iter_paths(item, trail)
        for key, inner in value.items() if isinstance(value, dict) else ():
            depth = trail.split(".")
            # `*` matches any metric or workload.
            path = f"{trail}.*" if depth[0] == "series" and len(depth) < 3 else f"{trail}.{key}".lstrip(".")
            yield path
            yield from iter_paths(inner, path)

    assert set(iter_paths(results)) == layout
