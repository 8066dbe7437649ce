"""Test metrics of OpenTelemetry: numbers, and histograms with bounds, as series of Prometheus."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

from assay.ingest.readers import otlp_metrics, sample_store
from assay.ingest.readers.native_histograms import add_histograms
from assay.util.diagnostics import AssayError

RESOURCE = {"attributes": [{"key": "service.name", "value": {"stringValue": "web"}}]}
SECOND = 10**9


def load(text: str, folder: Path) -> dict[tuple[str, str], list[tuple[int, float]]]:
    """Return the samples of a file by the name and the labels of their series."""
    path = folder / "metrics.json"
    path.write_text(text, encoding="utf-8")
    with duckdb.connect(config={"threads": 1}) as connection:
        sample_store.prepare(connection)
        add_histograms(connection, otlp_metrics.load(connection, path, path, 0))
        rows = connection.execute(
            "SELECT name, key, t_ns, value FROM file_samples JOIN file_series USING (file, place) ORDER BY ALL"
        ).fetchall()
    result: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for name, key, t_ns, value in rows:
        result.setdefault((name, key), []).append((t_ns // SECOND, value))
    return result


def write(kind: str, temporality: int, *points: dict[str, Any]) -> str:
    metric = {"name": "m", kind: {"aggregationTemporality": temporality, "dataPoints": list(points)}}
    return json.dumps({"resourceMetrics": [{"resource": RESOURCE, "scopeMetrics": [{"metrics": [metric]}]}]})


def point(at: int, **members: object) -> dict[str, Any]:
    return {"timeUnixNano": str(at * SECOND), **members}


def test_numbers_are_samples_and_deltas_are_added_up(tmp_path: Path) -> None:
    key = '{"service_name":"web"}'
    lines = [write("gauge", 0, point(1, asDouble=2.5)), write("gauge", 0, point(2, asInt="4"))]
    assert load("\n".join(lines), tmp_path) == {("m", key): [(1, 2.5), (2, 4.0)]}
    text = write("sum", 1, point(1, asInt="3"), point(2, asInt="4"))
    assert load(text, tmp_path) == {("m", key): [(1, 3.0), (2, 7.0)]}


def test_histogram_with_bounds_has_the_series_of_prometheus(tmp_path: Path) -> None:
    text = write("histogram", 2, point(5, count="6", sum=9.5, explicitBounds=[0.5, 2], bucketCounts=["1", "3", "2"]))
    series = {(name, json.loads(key).get("le", "")): rows for (name, key), rows in load(text, tmp_path).items()}
    assert series == {
        ("m_bucket", "0.5"): [(5, 1.0)],
        ("m_bucket", "2"): [(5, 4.0)],
        ("m_bucket", "+Inf"): [(5, 6.0)],
        ("m_count", ""): [(5, 6.0)],
        ("m_sum", ""): [(5, 9.5)],
    }


def test_metrics_of_another_form_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(AssayError, match="another form"):
        load(write("sum", 2, {"asInt": "3"}), tmp_path)


@pytest.mark.parametrize("scale", [-10, -1, 0, 3, 12, 20])
def test_bounds_are_powers_that_scales_share(scale: int) -> None:
    """Those of plain decimals to 15 digits; the next finer scale has every other one, to the last bit."""
    for place in (-5, -1, 0, 1, 3):
        bound = otlp_metrics.compute_bound(place, scale) if place << max(0, -scale) < 1024 else math.inf
        if 0 < bound < math.inf:
            exponent = Decimal(place) / 2**scale if scale >= 0 else Decimal(place * 2**-scale)
            assert bound == pytest.approx(float(Decimal(2) ** exponent), rel=1e-15)
            assert scale == 20 or bound == otlp_metrics.compute_bound(2 * place, scale + 1)


@pytest.mark.parametrize("members", [{"scale": 10**9, "offset": 0}, {"scale": 0, "offset": 5000}])
def test_histogram_without_finite_bounds_is_an_error(tmp_path: Path, members: dict[str, int]) -> None:
    positive = {"offset": members["offset"], "bucketCounts": ["1"]}
    text = write("exponentialHistogram", 2, point(1, count="1", sum=1, scale=members["scale"], positive=positive))
    with pytest.raises(AssayError, match="another form than those of OpenTelemetry"):
        load(text, tmp_path)
