"""Test `assay inspect`, which counts the records of a run by name."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.app.author.inspect import inspect_run
from assay.app.session.runs import create_named_run
from assay.app.session.session import Session, open_session
from tests.support.commands import run_assay
from tests.support.workspaces import edit_file

ROOT = Path(__file__).parents[2]
RUNS = {
    "antelope": "golden/antelope/harness",
    "cardano": "golden/cardano/baseline/run",
    "cometbft": "golden/cometbft/run",
}


@pytest.fixture
def shop(tmp_path: Path, cache: Path) -> Path:
    """Create a workspace with `assay init`."""
    place = tmp_path / "shop"
    assert run_assay("--cache", cache, "init", place).status == 0
    return place


def write_events(place: Path, form: str) -> None:
    """Give the events of the starter another form, in which `mark` is the name of a record."""
    event = f"""
let event =
      \\(name : Text) -> \\(mark : Text) -> \\(fields : List S.Field) -> \\(doc : Text) ->
        {{ name, source = (./source.dhall).logs.name, forms = [ S.Form::{{ {form} }} ], doc }} : S.Event"""
    edit_file(place / "specs/service/events.dhall", "let event = E.eventOf (./source.dhall).logs", event)


def rewrite(place: Path, change: Callable[[str], str], host: str = "*") -> None:
    """Change every log line of some hosts of a run."""
    for log in (place / "runs/1.0").glob(f"{host}/log.jsonl"):
        lines = log.read_text(encoding="utf-8").splitlines()
        log.write_text("".join(f"{change(line)}\n" for line in lines), encoding="utf-8")


def read_inspection(place: Path, cache: Path) -> tuple[dict[str, Any], str]:
    """Return the printed rows of a run by name, and the warnings."""
    result = run_assay("--cache", cache, "inspect", "runs/1.0", "--format", "json", cwd=place)
    assert result.status == 0, result.err
    return {item["name"]: item for item in result.parse_json()}, result.err


def test_event_names_have_counts_and_metrics(shop: Path, cache: Path) -> None:
    names, warnings = read_inspection(shop, cache)
    assert {name: (item["records"], item["event"], item["metrics"]) for name, item in names.items()} == {
        "request.received": (120, "request_received", ["response_size", "wait", "work"]),
        "response.sent": (120, "response_sent", ["response_size", "wait", "work"]),
        "work.started": (120, "work_started", ["response_size", "wait", "work"]),
    }
    assert (names["work.started"]["hosts"], warnings) == (["web-1", "web-2"], "")


def test_each_name_of_an_event_has_its_own_count(shop: Path, cache: Path) -> None:
    names = '{ generation = "", name = mark }, { generation = "", name = "old.${mark}" }'
    write_events(shop, f"names = [ {names} ], fields")
    rewrite(shop, lambda line: line.replace("work.started", "old.work.started"), "web-2")
    names, _ = read_inspection(shop, cache)
    matches_by_name = {name: (item["event"], item["hosts"]) for name, item in names.items() if "work" in name}
    assert matches_by_name == {
        "work.started": ("work_started", ["web-1"]),
        "old.work.started": ("work_started", ["web-2"]),
    }


def test_renamed_event_is_suggested(shop: Path, cache: Path) -> None:
    rewrite(shop, lambda line: line.replace("work.started", "pool.work.Started"))
    names, _ = read_inspection(shop, cache)
    renamed = names["pool.work.Started"]
    assert (renamed["records"], renamed["event"]) == (120, "")
    assert [item["event"] for item in renamed["may_be"]] == ["work_started"]
    assert (renamed["where"], '"pool.work.Started"' in renamed["text"]) == ("web-1/log.jsonl:2", True)
    assert (names["work.started"]["records"], names["work.started"]["metrics"]) == (
        0,
        ["response_size", "wait", "work"],
    )


def test_ignored_name_is_not_suggested(shop: Path, cache: Path) -> None:
    edit_file(shop / "specs/service/source.dhall", ", constants =", ', ignored = [ "pool.*" ], constants =')
    rewrite(shop, lambda line: line.replace("work.started", "pool.work.Started"))
    names, _ = read_inspection(shop, cache)
    ignored_name = names["pool.work.Started"]
    assert (ignored_name["ignored"], ignored_name["may_be"], ignored_name["where"]) == (True, [], "")


def test_records_excluded_by_an_event_are_listed(shop: Path, cache: Path) -> None:
    excluded = 'unless = [ { path = [ "request" ], present = False, equals = "1-000" } ]'
    write_events(shop, f'names = [ {{ generation = "", name = mark }} ], fields, {excluded}')
    result = run_assay("--cache", cache, "inspect", "runs/1.0", "--format", "json", cwd=shop)
    assert result.status == 0, result.err
    rows = [(item["name"], item["records"], item["ruled_out"]) for item in result.parse_json()]
    assert rows == [
        ("request.received", 119, False),
        ("response.sent", 119, False),
        ("work.started", 119, False),
        ("request.received", 1, True),
        ("response.sent", 1, True),
        ("work.started", 1, True),
    ]


def test_run_without_events_is_inspected(shop: Path, cache: Path) -> None:
    rewrite(shop, lambda line: re.sub(r'"event":"(\w+)\.(\w+)"', r'"event":"v2.\1.\2"', line))
    assert run_assay("--cache", cache, "query", "wait", "--run", "runs/1.0", cwd=shop).status == 1
    names, warnings = read_inspection(shop, cache)
    likely_events = {
        name: [rename["event"] for rename in item["may_be"]] for name, item in names.items() if item["may_be"]
    }
    assert likely_events == {
        "v2.request.received": ["request_received"],
        "v2.response.sent": ["response_sent"],
        "v2.work.started": ["work_started"],
    }
    assert "is an event that the specs know" in warnings


def test_run_with_many_broken_lines_is_inspected(shop: Path, cache: Path) -> None:
    rewrite(shop, lambda line: line[:-3] if "work.started" in line else line)
    assert run_assay("--cache", cache, "query", "wait", "--run", "runs/1.0", cwd=shop).status == 1
    names, warnings = read_inspection(shop, cache)
    assert names["request.received"]["records"] == 120
    assert "120 records of source `logs` are malformed, the first at web-1/log.jsonl:2: not JSON" in warnings


def test_run_of_several_systems_needs_a_name(shop: Path, cache: Path) -> None:
    shutil.copytree(shop / "specs/service", shop / "specs/other")
    edit_file(shop / "specs/other/package.dhall", '"service"', '"other"')
    for queries in (shop / "queries").glob("service"):
        shutil.copytree(queries, shop / "queries/other")
    result = run_assay("--cache", cache, "inspect", "runs/1.0", cwd=shop)
    assert (result.status, "matches several systems, other, service" in result.err) == (2, True)
    assert run_assay("--cache", cache, "inspect", "runs/1.0", "--system", "service", cwd=shop).status == 0


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    return open_session(ROOT, tmp_path_factory.mktemp("cache"), print)


@pytest.mark.parametrize("system", RUNS)
def test_shipped_runs_have_no_unknown_name(system: str, session: Session) -> None:
    inspection = inspect_run(session, create_named_run("run", str(ROOT / RUNS[system])), None)
    assert inspection.system == system
    assert [item.name for item in inspection.names if not item.event and not item.is_ignored] == []
    assert any(item.is_ignored for item in inspection.names)
    assert sum(item.records for item in inspection.names if item.event and not item.is_ruled_out) > 0


def test_renamed_text_pattern_is_suggested(tmp_path: Path, session: Session) -> None:
    log = tmp_path / "run/node_01/stderr.txt"
    log.parent.mkdir(parents=True)
    message = (
        "Received block 00{0}... #{0} @ 2024-10-01T19:07:10.000 signed by prod [trxs: 0, lib: 9, net: 1 us, x: 3 us]"
    )
    time_format = "2024-10-01T19:07:1{0}.000"
    lines = [f"info  {time_format} nodeos controller.cpp:3627 log_applied ] {message}" for _ in "12"]
    log.write_text("".join(f"{line.format(number)}\n" for number, line in enumerate(lines)), encoding="utf-8")
    inspection = inspect_run(session, create_named_run("run", str(tmp_path / "run")), "antelope")
    (unknown,) = [item for item in inspection.names if not item.event]
    assert (unknown.records, unknown.location, [item.event for item in unknown.likely_renames]) == (
        2, "node_01/stderr.txt:1", ["block"],
    )  # fmt: skip
    assert unknown.name.startswith("Received block #... ## @ #-#-#T#:#:#.# signed by")


def test_series_under_unknown_names_leave_events_empty(tmp_path: Path, session: Session) -> None:
    samples = tmp_path / "run/samples.om"
    samples.parent.mkdir()
    text = "# TYPE up gauge\nup 1 1767225600\n# TYPE new_p2p_peers gauge\nnew_p2p_peers 3 1767225600\n# EOF\n"
    samples.write_text(text, encoding="utf-8")
    inspection = inspect_run(session, create_named_run("run", str(tmp_path / "run")), "cometbft")
    records = {item.event: (item.name, item.records) for item in inspection.names}
    assert records["up"] == ("up", 1)
    assert records["peers"] == ("cometbft_p2p_peers or tendermint_p2p_peers", 0)
