"""Test `assay fetch` with a real Prometheus server and with failing servers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import duckdb
import pytest

from assay.remote import prometheus, prometheus_times
from assay.remote.http import RetryPolicy, Server
from assay.remote.prometheus import build_request, fetch
from assay.util.diagnostics import AssayError
from assay.util.progress import ignore
from tests.support.prometheus import MISSING, SKIP_REASON, Series, create_database, read_saved_series, serve_database

RUN = Path(__file__).resolve().parents[2] / "golden" / "cometbft" / "run"
START, END = "1795231150", "2026-11-21T03:28:00Z"
ONE_PAGE_END = "1795231205"  # the range of one page
ALL = '{__name__!=""}'

needs_prometheus = pytest.mark.skipif(bool(MISSING), reason=SKIP_REASON)


def read_rows(place: Path) -> list[tuple[str, tuple[tuple[str, str], ...], int, str]]:
    """Return the rows of a file of samples; values are texts, so that NaN equals NaN."""
    with duckdb.connect() as connection:
        cursor = connection.execute(f"SELECT name, labels, t_ns, value FROM read_parquet('{place}')").fetchall()
    return [(name, tuple(labels.items()), t_ns, repr(value)) for name, labels, t_ns, value in cursor]


def compute_expected_rows(series: Sequence[Series]) -> list[tuple[str, tuple[tuple[str, str], ...], int, str]]:
    """Return the expected rows of some series: name, labels as JSON, time."""
    ordered_series = []
    for item in series:
        labels = {name: value for name, value in sorted(item["metric"].items()) if name != "__name__"}
        key = json.dumps(labels, separators=(",", ":"), ensure_ascii=False).encode()
        ordered_series.append((item["metric"]["__name__"], key, tuple(labels.items()), item["values"]))
    return [
        (name, labels, int(Decimal(t) * 10**9), repr(float(v)))
        for name, _, labels, values in sorted(ordered_series, key=lambda item: item[:2])
        for t, v in values
    ]


# A real server


@pytest.fixture(scope="module")
def series() -> list[Series]:
    return read_saved_series(RUN / "prom" / "raw_all_5s.json.gz")


@pytest.fixture(scope="module")
def base(series: list[Series], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Store the samples of the real run as a Prometheus database."""
    return create_database(tmp_path_factory.mktemp("base"), series)


@pytest.fixture(scope="module")
def server(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serve_database(base, tmp_path_factory.mktemp("server") / "all") as url:
        yield Server(url)


@needs_prometheus
@pytest.mark.parametrize("step", ["1h", "37s"])
def test_fetched_samples_equal_the_saved_answer(
    step: str, server: Server, series: list[Series], tmp_path: Path
) -> None:
    expected: list[tuple[str, int, int]] = []
    place = fetch(server, build_request([ALL], START, END, step), tmp_path / "out", lambda *item: expected.append(item))
    assert place == tmp_path / "out" / "samples.parquet"
    assert [path.name for path in place.parent.iterdir()] == ["samples.parquet"]
    actual = read_rows(place)
    assert len(actual) == 152_063
    assert actual == compute_expected_rows(series)
    expected_amounts = {"1h": [0, 60, 180, 420, 530, 530], "37s": [*range(0, 530, 37), 530, 530]}[step]
    assert expected == [("fetching", seconds, 530) for seconds in expected_amounts]


@needs_prometheus
def test_time_range_includes_both_ends(server: Server, series: list[Series], tmp_path: Path) -> None:
    (one,) = [item for item in series if item["metric"]["__name__"] == "up" and item["metric"]["job"] == "validator0"]
    first, last = one["values"][3][0], one["values"][9][0]
    place = fetch(server, build_request(['up{job="validator0"}'], first, last, "7s"), tmp_path, ignore)
    assert read_rows(place) == compute_expected_rows([{**one, "values": one["values"][3:10]}])


@needs_prometheus
def test_overlapping_selectors_are_merged(server: Server, series: list[Series], tmp_path: Path) -> None:
    selectors = ["up", 'up{job="validator0"}', '{__name__="node_load1"}']
    place = fetch(server, build_request(selectors, START, END, "1h"), tmp_path, ignore)
    assert read_rows(place) == compute_expected_rows(
        [item for item in series if item["metric"]["__name__"] in ("up", "node_load1")]
    )


@needs_prometheus
@pytest.mark.parametrize(
    ("limit", "selector", "end"), [(40_000, ALL, END), (7, "up", "1795231240"), (3, "up", "1795231220")]
)
def test_too_large_a_request_is_split(
    limit: int, selector: str, end: str, base: Path, series: list[Series], tmp_path: Path
) -> None:
    with serve_database(base, tmp_path / "server", f"--query.max-samples={limit}") as url:
        place = fetch(Server(url), build_request([selector], START, end, "1h"), tmp_path / "out", ignore)
    last = prometheus_times.parse_instant(end, "") * 10**6
    wanted = [item for item in series if selector in (ALL, item["metric"]["__name__"])]
    expected = [row for row in compute_expected_rows(wanted) if row[2] <= last]
    assert read_rows(place) == expected
    assert len(expected) > limit


@needs_prometheus
def test_server_that_refuses_one_sample_is_reported(base: Path, tmp_path: Path) -> None:
    with serve_database(base, tmp_path / "server", "--query.max-samples=0") as url:
        message = read_refusal(Server(url), tmp_path / "out", selector="up")
    assert message == (
        "error[too-many-samples]: the server refuses a query of one series over a second: URL\n"
        "  found:    query processing would load too many samples into memory in query execution\n"
        "  hint: raise the limit of the server (--query.max-samples)"
    )


def read_refusal(server: Server, out: Path, selector: str = "up", start: str = START, end: str = END) -> str:
    """Return the error of a failing fetch, and check that it leaves no file."""
    with pytest.raises(AssayError) as error:
        fetch(server, build_request([selector], start, end, "1h"), out, ignore)
    assert not out.exists()
    return str(error.value).replace(server.public_address, "URL")


@needs_prometheus
def test_missing_series_is_reported_with_a_hint(server: Server, tmp_path: Path) -> None:
    assert read_refusal(server, tmp_path / "out", "node_lod1") == (
        "error[no-series]: the server has no series of node_lod1: URL\n"
        "  expected: series from 2026-11-21T03:19:10.000Z to 2026-11-21T03:28:00.000Z\n"
        "  found:    none\n"
        "  hint: did you mean `node_load1` or `node_load15` or `node_load5`?"
    )


@needs_prometheus
def test_time_range_without_samples_is_reported(server: Server, tmp_path: Path) -> None:
    message = read_refusal(server, tmp_path / "out", start="1795230000", end="1795230001")
    assert message.startswith(("error[no-series]: the server has no series of up: URL", "error[no-samples]: "))


@needs_prometheus
def test_invalid_selector_is_reported(server: Server, tmp_path: Path) -> None:
    message = read_refusal(server, tmp_path / "out", 'up{job="')
    assert message.startswith("error[server-error]: the server returns an error: URL\n  found:    HTTP 400: bad_data: ")


def run_assay(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command line."""
    command = [sys.executable, "-m", "assay", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=dict(os.environ))


@needs_prometheus
def test_command_prints_the_path_of_the_file(server: Server, series: list[Series], tmp_path: Path) -> None:
    arguments = ["--match", "up", "--start", START, "--end", END, "-o", str(tmp_path / "out"), "--step-size", "5m"]
    result = run_assay("fetch", "prometheus", server.url, *arguments)
    assert (result.stdout, result.stderr, result.returncode) == (f"{tmp_path / 'out' / 'samples.parquet'}\n", "", 0)
    assert read_rows(tmp_path / "out" / "samples.parquet") == compute_expected_rows(
        [item for item in series if item["metric"]["__name__"] == "up"]
    )


# Servers that fail


@dataclass
class Scripted:
    """A server whose answers are a function of path and query; it records its requests."""

    answer: Callable[[str, dict[str, list[str]], int], tuple[int, str]]
    requests: list[tuple[str, dict[str, list[str]], str | None]] = field(default_factory=list)
    url: str = ""


@contextmanager
def serve_script(answer: Callable[[str, dict[str, list[str]], int], tuple[int, str]]) -> Iterator[Scripted]:
    script = Scripted(answer)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            script.requests.append((parts.path, parse_qs(parts.query), self.headers.get("Authorization")))
            status, text = script.answer(parts.path, parse_qs(parts.query), len(script.requests))
            self.send_response(status)
            if status in (429, 503):
                self.send_header("Retry-After", "7")
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        script.url = f"http://127.0.0.1:{server.server_port}"
        try:
            yield script
        finally:
            server.shutdown()
            thread.join()


LABELS = {"__name__": "up", "job": "a"}


def answer_success(data: Any) -> tuple[int, str]:
    return 200, json.dumps({"status": "success", "data": data})


def answer_well(path: str, _query: dict[str, list[str]], _number: int) -> tuple[int, str]:
    """Return an answer of one sample."""
    if path.endswith("/api/v1/series"):
        return answer_success([LABELS])
    values = [[1795231200.5, "1"]]
    return answer_success({"resultType": "matrix", "result": [{"metric": LABELS, "values": values}]})


SAMPLE = [("up", (("job", "a"),), 1795231200500000000, "1.0")]


def make_patient(url: str, attempts: int = 4) -> tuple[Server, list[float]]:
    """Return a server client that retries without waiting, and the list of its waiting times (s)."""
    waits: list[float] = []
    return Server(url, RetryPolicy(attempts=attempts, first_wait=0.5, timeout=30, sleep=waits.append)), waits


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_request_to_a_busy_server_is_repeated(status: int, tmp_path: Path) -> None:
    def answer_busy(path: str, query: dict[str, list[str]], number: int) -> tuple[int, str]:
        return answer_well(path, query, number) if number in (3, 5) else (status, "busy")

    with serve_script(answer_busy) as script:
        server, waits = make_patient(script.url)
        place = fetch(server, build_request(["up"], START, ONE_PAGE_END, "1h"), tmp_path, ignore)
    assert read_rows(place) == SAMPLE
    assert waits == ([7.0, 7.0, 7.0] if status in (429, 503) else [0.5, 1.0, 0.5])
    assert [path for path, _, _ in script.requests] == ["/api/v1/series"] * 3 + ["/api/v1/query"] * 2


def test_server_that_stays_busy_is_reported(tmp_path: Path) -> None:
    text = json.dumps({"status": "error", "errorType": "timeout", "error": "query timed out"})
    with serve_script(lambda *_: (503, text)) as script:
        server, waits = make_patient(script.url)
        message = read_refusal(server, tmp_path / "out")
    assert message == (
        "error[server-error]: the server returns an error: URL\n  found:    HTTP 503: timeout: query timed out"
    )
    assert (len(script.requests), len(waits)) == (4, 3)


def test_error_of_the_request_is_reported_at_once(tmp_path: Path) -> None:
    text = json.dumps({"status": "error", "errorType": "bad_data", "error": "parse error"})
    with serve_script(lambda *_: (400, text)) as script:
        server, waits = make_patient(script.url)
        assert "HTTP 400: bad_data: parse error" in read_refusal(server, tmp_path / "out")
    assert (len(script.requests), waits) == (1, [])


@pytest.mark.parametrize(
    ("status", "text", "expected"),
    [
        (200, "<html>Welcome</html>", "'<html>Welcome</html>'"),
        (200, "", "an empty response"),
        (200, "{}", "'{}'"),
        (200, "[1]", "'[1]'"),
        (200, '{"status":"success"}', '\'{"status":"success"}\''),
        (404, "404 page not found", "HTTP 404 Not Found, '404 page not found'"),
    ],
)
def test_other_server_than_prometheus_is_reported(status: int, text: str, expected: str, tmp_path: Path) -> None:
    with serve_script(lambda *_: (status, text)) as script:
        server, _ = make_patient(script.url)
        assert read_refusal(server, tmp_path / "out") == (
            "error[no-prometheus]: the server is not a Prometheus server: URL\n"
            "  expected: a JSON document with a status\n"
            f"  found:    {expected}\n"
            "  hint: pass the address of the server itself, such as http://localhost:9090"
        )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"status":"success","data":{"resultType":"matrix","result":[', "the response is not JSON (Expecting value)"),
        (
            '{"status":"success","data":{"resultType":"vector","result":[]}}',
            "the response has no series of samples (a result of type vector)",
        ),
    ],
)
def test_unreadable_answer_is_reported(text: str, expected: str, tmp_path: Path) -> None:
    with serve_script(lambda path, query, n: answer_well(path, query, n) if n == 1 else (200, text)) as script:
        server, _ = make_patient(script.url)
        message = read_refusal(server, tmp_path / "out")
    assert message == f"error[bad-answer]: a response of the server cannot be read: URL\n  found:    {expected}"


def test_answer_without_samples_is_refused(tmp_path: Path) -> None:
    def answer_partially(path: str, query: dict[str, list[str]], number: int) -> tuple[int, str]:
        status, text = answer_well(path, query, number)
        return status, text if path.endswith("series") else text[:-1] + ', "warnings": ["s-2 timed out", "late"]}'

    with serve_script(answer_partially) as script:
        message = read_refusal(make_patient(script.url)[0], tmp_path / "out")
    assert message == (
        "error[partial-answer]: the server warns that samples may be missing: URL\n"
        "  found:    s-2 timed out; late\n"
        "  hint: check the stores of the server; no file was written"
    )
    assert not (tmp_path / "out").exists()


def test_pages_shrink_when_answers_are_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prometheus, "LARGE", 100)
    with serve_script(answer_well) as script:
        fetch(
            make_patient(script.url)[0],
            build_request(["up"], "1795231200", "1795231320", "40s"),
            tmp_path,
            ignore,
        )
    queries = [query["query"][0] for path, query, _ in script.requests if path.endswith("query")]
    lengths = [40, 20, 10, 5, 2.5, 1.25, *[1] * 41]
    assert queries[:-1] == [f"up[{int(seconds * 1000) + 1}ms]" for seconds in lengths]
    assert queries[-1] == "up[251ms]"


def test_samples_outside_the_time_range_are_dropped(tmp_path: Path) -> None:
    with serve_script(answer_well) as script:
        server, _ = make_patient(script.url)
        message = read_refusal(server, tmp_path / "out", start="1795231200.501")
        place = fetch(server, build_request(["up"], "1795231200.5", "1795231200.5", "1h"), tmp_path / "out", ignore)
        assert read_rows(place) == SAMPLE
    assert message == (
        "error[no-samples]: the server has no samples of this period: URL\n"
        "  found:    none from 2026-11-21T03:20:00.501Z to 2026-11-21T03:28:00.000Z"
    )


def test_credentials_are_sent_and_not_printed(tmp_path: Path) -> None:
    with serve_script(lambda *_: (401, "who?")) as script:
        server, _ = make_patient(script.url.replace("//", "//me:se%40cret@"))
        message = read_refusal(server, tmp_path / "out")
    assert script.requests[0][2] == "Basic bWU6c2VAY3JldA=="
    assert ("HTTP 401: who?" in message, "cret" in message) == (True, False)


def test_address_may_have_a_path(tmp_path: Path) -> None:
    with serve_script(answer_well) as script:
        fetch(
            make_patient(script.url + "/metrics/")[0],
            build_request(["up"], START, ONE_PAGE_END, "1h"),
            tmp_path,
            ignore,
        )
    assert [path for path, _, _ in script.requests] == ["/metrics/api/v1/series", "/metrics/api/v1/query"]


def test_unreachable_server_is_reported(tmp_path: Path) -> None:
    with serve_script(answer_well) as script:
        pass
    server, waits = make_patient(script.url)
    message = read_refusal(server, tmp_path / "out")
    assert message.startswith("error[no-server]: the server cannot be reached: URL\n  found:    ")
    assert message.endswith("(tried 4 times)\n  hint: check that it runs, and that this is its address")
    assert waits == [0.5, 1.0, 2.0]


@pytest.mark.parametrize("url", ["localhost:9090", "ftp://x", "http://", "x", "", "http://[::1", "http://x:port"])
def test_invalid_address_is_reported(url: str) -> None:
    with pytest.raises(AssayError, match="bad-address"):
        Server(url)


@pytest.mark.parametrize("url", ["http://localhost", "https://metrics.example/prometheus", "http://[::1]:9090"])
def test_valid_address_is_accepted(url: str) -> None:
    assert Server(url).public_address == url


def test_failed_fetch_replaces_nothing(tmp_path: Path) -> None:
    with serve_script(answer_well) as script:
        server, _ = make_patient(script.url)
        place = fetch(server, build_request(["up"], START, ONE_PAGE_END, "1h"), tmp_path, ignore)
        script.answer = lambda path, query, n: answer_well(path, query, n) if path.endswith("series") else (400, "no")
        before = place.read_bytes()
        with pytest.raises(AssayError):
            fetch(server, build_request(["up"], START, ONE_PAGE_END, "1h"), tmp_path, ignore)
    assert place.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["samples.parquet"]


def test_files_of_killed_fetch_are_removed_by_the_next(tmp_path: Path) -> None:
    def kill_and_answer(path: str, query: dict[str, list[str]], number: int) -> tuple[int, str]:
        if path.endswith("query"):
            process.kill()
            process.wait()
        return answer_well(path, query, number)

    with serve_script(kill_and_answer) as script:
        arguments = ["--match", "up", "--start", START, "--end", ONE_PAGE_END, "-o", str(tmp_path)]
        process = subprocess.Popen([sys.executable, "-m", "assay", "fetch", "prometheus", script.url, *arguments])
        assert process.wait() == -signal.SIGKILL
        assert [path.name.startswith(".assay-") for path in tmp_path.iterdir()] == [True]
        script.answer = answer_well
        fetch(make_patient(script.url)[0], build_request(["up"], START, ONE_PAGE_END, "1h"), tmp_path, ignore)
    assert [path.name for path in tmp_path.iterdir()] == ["samples.parquet"]


# Addresses and options of the user


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("0", 0),
        ("1770317536", 1770317536000),
        ("1770317536.1239", 1770317536123),
        ("2026-02-05T18:52:16Z", 1770317536000),
        ("2026-02-05t18:52:16.5z", 1770317536500),
        ("2026-02-05 20:52:16.001+02:00", 1770317536001),
    ],
)
def test_times_are_rfc_3339_or_seconds(text: str, ms: int) -> None:
    assert prometheus_times.parse_instant(text, "--start") == ms


@pytest.mark.parametrize(("text", "ms"), [("30s", 30_000), ("1h30m", 5_400_000), ("250ms", 250), ("2d", 172_800_000)])
def test_durations_are_those_of_prometheus(text: str, ms: int) -> None:
    assert prometheus_times.parse_duration(text, "--step-size") == ms


def test_all_invalid_options_are_reported_at_once() -> None:
    with pytest.raises(AssayError) as error:
        build_request(["up"], "yesterday", "2026-02-30T00:00:00Z", "0s")
    assert [item.message for item in error.value.diagnostics] == [
        "--start is not a time: yesterday",
        "--end is not a time: 2026-02-30T00:00:00Z",
        "--step-size is not a duration: 0s",
    ]


def test_end_before_start_is_reported(tmp_path: Path) -> None:
    message = read_refusal(Server("http://127.0.0.1:9"), tmp_path / "out", start=END, end=START)
    assert message.startswith("error[bad-time]: --end is before --start\n")


def test_command_reports_errors_without_traceback(tmp_path: Path) -> None:
    result = run_assay(
        "fetch", "prometheus", "nowhere", "--match", "up", "--start", "0", "--end", "1", "-o", str(tmp_path)
    )
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("error[bad-address]: invalid address of a server: nowhere\n")
