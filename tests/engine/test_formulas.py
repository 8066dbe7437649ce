"""Test formulas over metrics: exact values in tables, articles, queries and SQL, and their explanations."""

from __future__ import annotations

import gzip
import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

from assay.app.session.session import Session
from assay.engine.result_cache import Store
from assay.lang import normal_form
from assay.lang.resolve import resolve_package
from assay.lang.workspace import Workspace
from tests.compare_reference import load_json
from tests.support.commands import run_assay
from tests.support.documents import list_sections
from tests.support.drives import create_drives_run, create_drives_workspace
from tests.support.laboratory import ROOT
from tests.support.result_rows import read_result_rows

YEAR = 365 * 24 * 3600
RATES = {"decimal": 4_000_000, "binary": 4 * 1024**2, "trickle": 12_000, "drip": 12 * 1024, "still": 0}
CLASSES = (150, 300, 600, 1200, 2000)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a workspace with the system `drives` and a run per drive, each with one rate."""
    folder = tmp_path_factory.mktemp("formulas")
    create_drives_workspace(folder / "workspace")
    for name, rate in RATES.items():
        create_drives_run(folder / name, sda=rate)
    create_drives_run(folder / "many", sda=(1, 2, 6), sdb=(10**15 + 1, 7), sdc=(3, 3, 3, 4))
    return folder


def list_run_options(place: Path, *names: str) -> list[str]:
    return [item for name in names for item in ("--run", str(place / name))]


@pytest.fixture(scope="module")
def report(place: Path, cache: Path) -> Path:
    out = place / "report"
    result = run_assay(
        "build", "drives/writes", *list_run_options(place, *RATES), "-o", out, "--cache", cache, cwd=place / "workspace"
    )
    assert (result.status, result.err) == (
        0,
        "warning: still: paid_lasts has no value: division by zero: disk_write_rate is 0.\n",
    )
    return out


@pytest.fixture(scope="module")
def article(place: Path, cache: Path) -> Path:
    out = place / "article"
    names = ("decimal", "binary", "trickle", "still")
    result = run_assay(
        "build",
        "drives/endurance",
        *list_run_options(place, *names),
        "-o",
        out,
        "--cache",
        cache,
        cwd=place / "workspace",
    )
    assert (result.status, result.err) == (0, "")
    return out


def query_formulas(place: Path, cache: Path, names: list[str], run_name: str, *options: str) -> list[dict[str, Any]]:
    result = run_assay(
        "query",
        *names,
        "--run",
        place / run_name,
        "--cache",
        cache,
        "--format",
        "json",
        *options,
        cwd=place / "workspace",
    )
    assert result.status == 0, result.err
    rows: list[dict[str, Any]] = result.parse_json()
    return rows


# Reports


def test_report_shows_both_published_conventions(report: Path) -> None:
    (section,) = list_sections(load_json(report / "document.json"))
    first, *others = RATES
    changes = ("Δ", "Δ%", "95 %", "Verdict")
    assert section["header"] == ["", first, *(cell for name in others for cell in (name, *changes))]
    cells = {row[0]: [row[1], *row[2::5]] for row in section["rows"]}
    assert cells["Disk writes per year, TB"] == ["126.1", "132.3", "0.378", "0.388", "0.0"]
    assert cells["Disk writes per year, TiB"] == ["114.7", "120.3", "0.344", "0.352", "0.0"]
    assert cells["Paid terabytes last, years"][-1] == "—"


def test_results_are_exact_numbers_rounded_once(report: Path) -> None:
    metrics = load_json(report / "results.json")["metrics"]
    for name, rate in RATES.items():
        decimal, binary = Fraction(rate * YEAR, 10**12), Fraction(rate * YEAR, 2**40)
        average = float(decimal)
        assert metrics["disk_writes_per_year"]["runs"][name] == {
            "average": average,
            "averages": {"all": average, "lowest": average},
        }
        assert metrics["disk_writes_per_year_binary"]["runs"][name]["average"] == float(binary)
        lasts = float(Fraction("600.5") * 10**12 / rate / YEAR) if rate else None
        assert metrics["paid_lasts"]["runs"][name]["average"] == lasts
    assert metrics["disk_writes_per_year"]["formula"] == "disk_write_rate × 365 day"


def test_dictionary_has_formula_unit_and_examples(report: Path) -> None:
    (group,) = load_json(report / "document.json")["dictionary"]
    entries = {entry["id"]: entry for entry in group["entries"]}
    assert entries["disk_write_rate"]["description"] == "Rate at which a drive is written to"
    assert (entries["disk_writes_per_year"]["unit"], entries["disk_writes_per_year_binary"]["unit"]) == ("TB", "TiB")
    assert entries["disk_writes_per_year"]["description"].split("\n") == [
        "Bytes written in 365 days at the mean rate, in units of TBW (1 TB = 10^12 bytes)",
        "Formula: disk_write_rate × 365 day, in terabyte.",
        "Conversions, exact: 1 megabyte / second = 1000000 byte / second; 1 day = 86400 second; "
        "1 terabyte = 1000000000000 byte.",
        "Example: disk_write_rate = 4 MB/s gives 126.1 TB (decimal prefixes (1000)).",
        "Example: disk_write_rate = 12 kB/s gives 0.378 TB (decimal prefixes (1000)).",
    ]
    assert entries["disk_writes_per_year_binary"]["description"].split("\n")[2:] == [
        "Conversions, exact: 1 megabyte / second = 1000000 byte / second; 1 day = 86400 second; "
        "1 tebibyte = 1099511627776 byte.",
        "Example: disk_write_rate = 4 MiB/s gives 120.3 TiB (binary prefixes (1024)).",
        "Example: disk_write_rate = 12 KiB/s gives 0.352 TiB (binary prefixes (1024)).",
    ]


@pytest.mark.parametrize("name", ["report", "article"])
def test_build_with_formulas_verifies(request: pytest.FixtureRequest, place: Path, cache: Path, name: str) -> None:
    result = run_assay("verify", request.getfixturevalue(name), "--cache", cache, cwd=place / "workspace")
    assert (result.status, result.err) == (0, ""), result.out


# Queries and SQL


def compute_mixed(rates: dict[str, tuple[int, ...]], lowest: int) -> Fraction:
    """Compute the formula `mixed` in GiB with plain fractions."""
    all_rates = [rate for drive_rates in rates.values() for rate in drive_rates]
    mean = Fraction(sum(all_rates), len(all_rates))
    means = sorted(Fraction(sum(drive_rates), len(drive_rates)) for drive_rates in rates.values())
    lowest_means = means[:lowest] if lowest else means
    written_bytes = mean * YEAR + mean * 7200 - sum(lowest_means) / len(lowest_means) / 8 * 3 * 86400
    return max(written_bytes, Fraction(1024)) / 2**30


@pytest.mark.parametrize(("summary", "lowest"), [("all", 0), ("lowest", 2)])
def test_nested_formula_equals_plain_fractions(place: Path, cache: Path, summary: str, lowest: int) -> None:
    rates = {"sda": (1, 2, 6), "sdb": (10**15 + 1, 7), "sdc": (3, 3, 3, 4)}
    (row,) = query_formulas(place, cache, ["mixed"], "many", "--summary", summary)
    assert row["average"] == pytest.approx(float(compute_mixed(rates, lowest)), rel=1e-12)
    assert "median" not in row


@pytest.mark.parametrize("name", ["disk_writes_per_year", "disk_writes_per_year_binary", "paid_lasts", "mixed"])
@pytest.mark.parametrize("run_name", ["many", "decimal", "still"])
def test_sql_of_formula_runs_alone_and_equals_query(place: Path, cache: Path, name: str, run_name: str) -> None:
    result = run_assay("sql", name, "--run", place / run_name, "--cache", cache, cwd=place / "workspace")
    assert result.status == 0, result.err
    assert result.out.startswith(f"-- value is the average of {name} in ")
    cursor = duckdb.connect().execute(result.out)
    columns = [item[0] for item in cursor.description]
    (row,) = cursor.fetchall()
    (actual_row,) = query_formulas(place, cache, [name], run_name)
    assert columns[0] == "value"
    assert "disk_write_rate" in columns
    expected_average = actual_row["average"]
    assert row[0] == (None if expected_average is None else pytest.approx(expected_average, rel=1e-12))


def test_query_shows_average_or_reason(place: Path, cache: Path) -> None:
    result = run_assay(
        "query", "disk_writes_per_year", "paid_lasts", *list_run_options(place, "decimal", "still"), "--cache", cache,
        "--format", "csv", cwd=place / "workspace",
    )  # fmt: skip
    assert result.out.splitlines() == [
        "metric,run,unit,size,average,median,stddev,min,max",
        "disk_writes_per_year,decimal,TB,,126.144,,,,",
        "disk_writes_per_year,still,TB,,0.0,,,,",
        f"paid_lasts,decimal,years,,{float(Fraction('600.5') * 10**6 / 4 / YEAR)!r},,,,",
        "paid_lasts,still,years,,,,,,",
    ]
    assert result.err == "warning: still: paid_lasts has no value: division by zero: disk_write_rate is 0.\n"


def test_formula_over_empty_metric_has_no_value(tmp_path: Path, place: Path, cache: Path) -> None:
    condition_text = "where = X.above (X.column c.rate) (X.quantity 1.0 U.bytePerSecond)"
    workspace_root = create_drives_workspace(
        tmp_path, {"measure = X.column c.rate": f"measure = X.column c.rate\n      , {condition_text}"}
    )
    result = run_assay(
        "query",
        "disk_writes_per_year",
        "--run",
        place / "still",
        "--cache",
        cache,
        "--format",
        "csv",
        cwd=workspace_root,
    )
    assert (result.status, result.out.splitlines()[1]) == (0, "disk_writes_per_year,still,TB,,,,,,")
    assert "warning: still: disk_writes_per_year has no value: disk_write_rate has no samples.\n" in result.err


# Articles


def read_tables(article: Path) -> dict[str, Any]:
    (gallery,) = load_json(article / "document.json")["parts"]
    return {table["title"]: table for table in gallery["tables"]}


def test_endurance_is_in_years_of_365_days(article: Path) -> None:
    actual = read_tables(article)
    run_names = ("decimal", "binary", "trickle")
    for title, heading in (("Drive lifetime in years", "Rated endurance"), ("By the year", "Bears")):
        assert actual[title]["header"] == [heading, *(f"{name}, years" for name in (*run_names, "still"))]
        rows = [[row[0], *map(float, row[1:-1]), row[-1]] for row in actual[title]["rows"]]
        assert rows == [
            [
                f"{amount} TBW",
                *(pytest.approx(amount * 10**12 / RATES[name] / YEAR, abs=0.06, rel=0.005) for name in run_names),
                "—",
            ]
            for amount in CLASSES
        ]
    assert actual["By the year"]["rows"][0] == ["150 TBW", "1.19", "1.13", "396.4", "—"]


def test_endurance_works_across_rows_of_a_grain(article: Path) -> None:
    actual = read_tables(article)["Drive lifetime in years: trickle"]
    assert actual["header"] == ["Rated endurance", "sda, years"]
    assert actual["rows"][-1] == ["2000 TBW", "5285.0"]


def test_listing_and_prose_show_formulas_and_reasons(article: Path) -> None:
    (gallery,) = load_json(article / "document.json")["parts"]
    assert read_tables(article)["Rows: binary"]["rows"] == [["sda", "4.19", "132.3"]]
    assert gallery["text"] == [
        "The first drive is written to at 0.0 MB/s: 0.0 TB a year.",
        "Drive lifetime in years, still has no value: division by zero: disk_write_rate is 0.",
        "By the year, still has no value: division by zero: disk_writes_per_year is 0.",
        "Drive lifetime in years: still, sda has no value: division by zero: disk_write_rate is 0.",
    ]


def test_results_of_parts_have_formulas_and_averages(article: Path) -> None:
    results = load_json(article / "results.json")
    averages = {name: metric["runs"]["decimal"]["average"] for name, metric in results["metrics"].items()}
    assert averages == {"disk_write_rate": 4.0, "disk_writes_per_year": 126.144}
    (row,) = results["rows"]["decimal"]["rows row drive disk_write_rate disk_writes_per_year"]
    assert row == {"drive": "sda", "disk_write_rate": 4_000_000, "disk_writes_per_year": 126.144}


def test_article_dictionary_explains_formula_operands(article: Path) -> None:
    group = load_json(article / "document.json")["dictionary"][0]
    assert [entry["id"] for entry in group["entries"]] == ["disk_write_rate", "disk_writes_per_year"]


# Definitions


def load_definitions(folder: Path, *edits: dict[str, str]) -> dict[str, str]:
    checked = Session(Workspace(create_drives_workspace(folder, *edits)), Store(folder / "cache")).load_package(
        "drives"
    )
    return dict(checked.definitions)


def test_definition_hash_covers_all_operands(tmp_path: Path) -> None:
    plain_definitions = load_definitions(tmp_path / "plain")
    measure_definitions = load_definitions(
        tmp_path / "measured", {"measure = X.column c.rate": "measure = X.times (X.natural 1) (X.column c.rate)"}
    )
    assert {name for name in plain_definitions if plain_definitions[name] != measure_definitions[name]} == set(
        plain_definitions
    )
    year = load_definitions(
        tmp_path / "year",
        {},
        {
            "X.quantity 365.0 U.day": "X.quantity 366.0 U.day",
            '"126.1"': '"126.5"',
            '"0.378"': '"0.379"',
            '"120.3"': '"120.6"',
            '"0.352"': '"0.353"',
        },
    )
    assert {name for name in plain_definitions if plain_definitions[name] != year[name]} == {
        "disk_writes_per_year", "disk_writes_per_year_binary", "mixed",
    }  # fmt: skip
    changed_definitions = load_definitions(
        tmp_path / "told", {}, {"at the mean rate": "at that rate", '4.0 U.megabyte "126.1"': '8.0 U.megabyte "252.3"'}
    )
    assert changed_definitions == plain_definitions


def test_normal_form_round_trips(place: Path, cache: Path) -> None:
    checked = Session(Workspace(place / "workspace"), Store(cache)).load_package("drives")
    text = normal_form.format_normal_form(checked)
    assert normal_form.parse_normal_form(text, "here") == checked
    assert (
        "measure: converted[terabyte = 1/1000000000000 byte](times(metric disk_write_rate[megabyte / second = "
        "1000000 byte / second], 365.0 [day = 86400 second]))"
    ) in " ".join(text.split())


def test_formulas_of_normal_form_equal_those_of_source(place: Path, cache: Path) -> None:
    checked = Session(Workspace(place / "workspace"), Store(cache)).load_package("drives")
    assert (
        resolve_package(
            normal_form.parse_normal_form(normal_form.format_normal_form(checked), "here").package, checked.sources
        )
        == checked
    )


def test_committed_formula_equals_dhall_with_any_cache(tmp_path: Path, cache: Path) -> None:
    create_drives_workspace(tmp_path / "workspace")
    create_drives_run(tmp_path / "decimal", sda=RATES["decimal"])
    names = ["disk_writes_per_year", "mixed"]  # examples of the first metric would fail; the second has no examples
    before = query_formulas(tmp_path, cache, names, "decimal")
    assert run_assay("check", "--accept", "--cache", cache, cwd=tmp_path / "workspace").status == 0
    assert query_formulas(tmp_path, tmp_path / "fresh", names, "decimal") == before
    out = tmp_path / "report"
    command = ("build", "drives/writes", *list_run_options(tmp_path, "decimal"), "-o", out, "--cache", cache)
    assert run_assay(*command, cwd=tmp_path / "workspace").status == 0
    result = run_assay("spec-diff", out, ".", cwd=tmp_path / "workspace")
    assert (result.status, result.out, result.err) == (0, "nothing differs\n", "")


# The drives of a real host

RUN = ROOT / "golden" / "cometbft" / "run"


@pytest.fixture(scope="module")
def endurance(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    out = tmp_path_factory.mktemp("endurance") / "out"
    result = run_assay("build", "antelope/endurance", "--run", RUN, "-o", out, "--cache", cache)
    assert (result.status, result.err) == (0, "")
    return out


def test_write_rates_equal_the_servers_answer(endurance: Path) -> None:
    answer = json.loads(gzip.decompress((RUN / "prom" / "qr_5s_eos_disk_write_Bps.json.gz").read_bytes()))
    expected = {
        (item["metric"]["instance"], item["metric"]["device"], t): float(value)
        for item in answer["data"]["result"]
        for t, value in item["values"]
    }
    rows = read_result_rows(endurance)["rows disk_write_rates"]
    actual = {(row["instance"], row["device"], row["t_ns"] // 10**9): row["value"] for row in rows}
    assert {device for _, device, _ in expected} == {"vda"}
    common_keys = sorted(actual.keys() & expected.keys())
    assert len(common_keys) > 365
    assert [actual[key] for key in common_keys] == pytest.approx([expected[key] for key in common_keys], rel=1e-9)


def test_yearly_writes_of_real_drive_equal_plain_python(endurance: Path) -> None:
    rows = read_result_rows(endurance)
    points = [row["value"] for row in rows["rows disk_write_rates"] if row["device"] == "vda"]
    mean = math.fsum(points) / len(points)
    name = "rows drive instance device drive_write_rate drive_writes_per_year drive_writes_per_year_binary"
    drive, unused = rows[name]
    assert (drive["device"], unused["device"], unused["drive_writes_per_year"]) == ("vda", "zram0", 0.0)
    assert drive["drive_write_rate"] == pytest.approx(mean, rel=1e-12)
    assert drive["drive_writes_per_year"] == pytest.approx(mean * YEAR / 1e12, rel=1e-12)
    assert drive["drive_writes_per_year_binary"] == pytest.approx(mean * YEAR / 2**40, rel=1e-12)
    cells = read_tables(endurance)["Drive lifetime in years"]
    assert cells["header"] == ["Rated endurance", "vda, years", "zram0, years"]
    assert [float(row[1]) for row in cells["rows"]] == [
        pytest.approx(amount * 1e12 / mean / YEAR, rel=0.005) for amount in CLASSES
    ]
    assert {row[2] for row in cells["rows"]} == {"—"}


def test_run_of_several_systems_needs_a_choice(cache: Path) -> None:
    run = ROOT / "golden" / "antelope" / "upgrade" / "run"
    result = run_assay("ingest", run, "--cache", cache)
    assert (result.status, result.out, result.err.replace(str(run), "RUN")) == (
        1,
        "",
        "error[unknown-system]: the run matches several systems, `antelope`, `cometbft`: RUN\n"
        "  hint: pass --system NAME\n",
    )
