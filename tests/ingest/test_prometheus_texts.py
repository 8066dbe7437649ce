"""Texts of samples as Prometheus's own programs write them, read back: the same samples."""

from __future__ import annotations

import subprocess
import urllib.parse
import urllib.request
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from assay.lang.model.package import Event
from assay.util.diagnostics import AssayError
from tests.ingest.test_samples import METRICS
from tests.support.ingesting import build_field, build_form, format_error, ingest_log
from tests.support.laboratory import ROOT
from tests.support.prometheus import MISSING, SKIP_REASON, Series, create_database, read_saved_series, serve_database

RUN = ROOT / "golden" / "cometbft" / "run"
NAMES = ("up", "cometbft_p2p_peers", "cometbft_consensus_height", "process_resident_memory_bytes", "odd_total")
#: a label that needs escapes, values of all kinds, and a time that is in the past on every machine
ODD: Series = {
    "metric": {"__name__": "odd_total", "job": 'a "b" \\c\nd Δ', "instance": ""},
    "values": [[f"{1_577_836_800 + n}.{n:03}", text] for n, text in enumerate(
        ["1", "0.1", "2.5e+06", "NaN", "+Inf", "-Inf", "1e-300", "9007199254740993"])],
}  # fmt: skip
Row = tuple[int, str | None, str]

needs_prometheus = pytest.mark.skipif(bool(MISSING), reason=SKIP_REASON)


@pytest.fixture(scope="module")
def series() -> list[Series]:
    result = read_saved_series(RUN / "prom" / "raw_all_5s.json.gz")
    return [item for item in result if item["metric"]["__name__"] in NAMES]


@pytest.fixture(scope="module")
def server(series: list[Series], tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """Start a server with all of them, and create its database."""
    folder = tmp_path_factory.mktemp("texts")
    base = create_database(folder, [*series, ODD])
    with serve_database(base, folder / "server", "--query.lookback-delta=876000h") as url:
        yield url, folder / "server" / "data"


def create_event() -> Event:
    names = {f"g{index}": name for index, name in enumerate(NAMES)}
    label = build_field("job", "text", "labels.job", required=False)
    return Event("all", METRICS.name, (build_form([build_field("value", "real"), label], **names),), "")


def read_back(folder: Path, text: str) -> list[Row]:
    """Return the samples of a text: instant, job, value as text."""
    result = ingest_log(folder, {"a": text.encode()}, (create_event(),), None, METRICS)
    assert result.read_rows("quarantine") == []
    rows: list[Any] = result.read_rows("all", "t_ns", "job", "value")
    return sorted((t, job, repr(value)) for t, job, value in rows)


def compute_expected_samples(series: Sequence[Series], *, is_dump: bool = True) -> list[Row]:
    """Return the expected samples; in a dump, the end of a line is a NaN."""
    return sorted(
        (int(Decimal(t) * 10**9), item["metric"]["job"], repr(None if is_dump and value == "NaN" else float(value)))
        for item in series
        for t, value in item["values"]
    )


def run_promtool(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["promtool", "tsdb", *map(str, arguments)], capture_output=True, text=True, timeout=120)


@needs_prometheus
def test_dump_of_promtool_is_read(server: tuple[str, Path], series: list[Series], tmp_path: Path) -> None:
    result = run_promtool("dump", server[1])
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith('{__name__="')
    expected = compute_expected_samples([*series, ODD])
    assert len(expected) > 1000
    assert read_back(tmp_path, result.stdout) == expected


@needs_prometheus
def test_openmetrics_dump_of_promtool_is_read(server: tuple[str, Path], series: list[Series], tmp_path: Path) -> None:
    result = run_promtool("dump-openmetrics", server[1])
    if result.returncode and "dump-openmetrics" in result.stderr:
        pytest.skip("this promtool has no `tsdb dump-openmetrics`: it came with a later version")
    assert result.returncode == 0, result.stderr
    assert result.stdout.endswith("# EOF\n")
    assert read_back(tmp_path, result.stdout) == compute_expected_samples([*series, ODD])


def test_openmetrics_in_the_form_of_promtool_is_read(series: list[Series], tmp_path: Path) -> None:
    """promtool writes a comma and a blank between labels, and seconds to the millisecond."""
    lines = []
    for item in series:
        labels = ", ".join(f'{name}="{value}"' for name, value in sorted(item["metric"].items()) if name != "__name__")
        lines += [f"{item['metric']['__name__']}{{{labels}}} {v} {Decimal(t):.3f}" for t, v in item["values"]]
    assert read_back(tmp_path, "\n".join([*lines, "# EOF", ""])) == compute_expected_samples(series)


def fetch_page(url: str, path: str) -> str:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(url + path, timeout=30) as answer:
        text: str = answer.read().decode()
    return text


@needs_prometheus
def test_exposition_of_a_server_is_read(server: tuple[str, Path], tmp_path: Path) -> None:
    """A server answers `/federate` with the last sample of each series, with its instant in milliseconds."""
    query = urllib.parse.urlencode({"match[]": '{__name__="odd_total"}'})
    text = fetch_page(server[0], f"/federate?{query}")
    assert text.startswith("# TYPE odd_total untyped\nodd_total{")
    assert read_back(tmp_path, text) == compute_expected_samples([{**ODD, "values": ODD["values"][-1:]}])


def test_nan_ends_a_series_in_dumps_only(tmp_path: Path) -> None:
    expected = [(1_577_836_800 * 10**9, "a", "None")]
    labels = '__name__="up", job="a"'
    assert read_back(tmp_path / "dump", f"{{{labels}}} NaN 1577836800000\n") == expected
    assert read_back(tmp_path / "openmetrics", 'up{job="a"} NaN 1577836800.000\n# EOF\n') == expected
    (row,) = read_back(tmp_path / "exposition", 'up{job="a"} NaN 1577836800000\n')
    assert row[2] == "nan"


def read_refusal(folder: Path, text: str) -> str:
    with pytest.raises(AssayError) as error:
        ingest_log(folder, {"a": text.encode()}, (create_event(),), None, METRICS)
    return format_error(error.value, folder)


@needs_prometheus
def test_page_of_metrics_is_an_error(server: tuple[str, Path], tmp_path: Path) -> None:
    text = fetch_page(server[0], "/metrics")
    lines = text.split("\n")
    number = next(index for index, line in enumerate(lines, start=1) if line and not line.startswith("#"))
    assert read_refusal(tmp_path, text) == (
        "error[not-samples]: the samples of the text have no instants: DIR/run/a\n"
        "  expected: OpenMetrics text, or a text whose samples end in milliseconds since 1970\n"
        f"  found:    line {number}: {lines[number - 1][:80]}\n"
        "  hint: a page `/metrics` has values of one moment, without its instant; fetch samples from the server that "
        "reads the page with `assay fetch prometheus`"
    )
