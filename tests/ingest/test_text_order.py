"""Lines that several patterns match are of the first in the package's order, whatever is asked for and cached."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from assay.lang.checked_package import CheckedPackage
from assay.lang.normal_form import format_normal_form, parse_normal_form
from assay.lang.workspace import Workspace, evaluate_package, scan_sources
from tests.support.commands import run_assay
from tests.support.deep import scale_examples

#: names in an order that is neither alphabetical nor its reverse, with a pattern each
EVENTS = {
    "middle": "took {v} ms for {...} here",
    "special": "took {v} ms {...} special {...}",
    "general": "took {v} {} for special {...}",
    "broad": "took {v} ms for {} {...} now",
}
BODIES = [
    "took 1 ms for a special one here",
    "took 2 ms for a special one now",
    "took 3 s for special ones now",
    "took 4 ms for it was now",
    "took 5 ms by special ones",
]
COUNTS = {"middle": 1, "special": 2, "general": 1, "broad": 1}
PACKAGE = """
let S = ../schema/package.dhall

let E = S.event

let G = S.grain

let X = S.x

let seq = G.column "integer" "seq" S.unit.none "Place in the log"

let host = G.column "text" "host" S.unit.none "Host"

let of =
      \\(name : Text) -> \\(pattern : Text) ->
        let event =
                { name
                , source = "log"
                , forms =
                  [ { names = [ { generation = "v1", name = pattern } ]
                    , unless = [] : List E.Unless
                    , fields = [ E.text "v" ]
                    }
                  ]
                , doc = "Lines"
                }
              : S.Event

        let relation =
              S.Relation::{
              , name = "rows_${name}"
              , sql = "SELECT host, seq FROM ${name}"
              , uses = [ name ]
              , columns = [ host, seq ]
              , key = [ "host", "seq" ]
              , doc = "Lines"
              }

        let grain =
              S.Grain::{
              , name = "line_${name}"
              , relation = relation.name
              , key = relation.key
              , columns = relation.columns
              , doc = "Lines"
              }

        let metric =
              S.Metric::{
              , id = "n_${name}"
              , name
              , grain = grain.name
              , measure = X.column seq
              , unit = S.unit.none
              , doc = "How many"
              }

        in  { event, relation, grain, metric }

EVENTS

in  S.Package::{
    , system = "texts"
    , sources =
      [ S.Source::{
        , name = "log"
        , kind = "text-lines"
        , hosts = "m-*"
        , logs = [ "out" ]
        , line = "{at} {message...}"
        , time = [ "at" ]
        , body = [ "message" ]
        , zone = "UTC"
        , lookups = [] : List S.source.Lookup
        , doc = "A log"
        }
      ]
    , events = [ ORDER ]
    , relations = [ RELATIONS ]
    , grains = [ GRAINS ]
    , metrics = [ METRICS ]
    , summaries = [ S.Summary::{ name = "pooled", doc = "First" }, S.Summary::{ name = "among", doc = "Second" } ]
    }
"""


def format_package(order: Sequence[str]) -> str:
    """Format the package with its events in an order."""
    event_definitions = "\n\n".join(f'let e_{name} = of "{name}" "{pattern}"' for name, pattern in EVENTS.items())
    text = PACKAGE.replace("EVENTS", event_definitions).replace("ORDER", ", ".join(f"e_{name}.event" for name in order))
    for part in ("relation", "grain", "metric"):
        text = text.replace(f"{part.upper()}S", ", ".join(f"e_{name}.{part}" for name in EVENTS))
    return text


def write_workspace(folder: Path, order: Sequence[str] = tuple(EVENTS)) -> Path:
    """Write a workspace with the package, and a run of it."""
    (folder / "specs/texts").mkdir(parents=True)
    (folder / "specs/texts/package.dhall").write_text(format_package(order), encoding="utf-8")
    (folder / "run/m-1").mkdir(parents=True)
    lines = (f"2026-01-01T00:00:0{place} {body}\n" for place, body in enumerate(BODIES))
    (folder / "run/m-1/out").write_text("".join(lines), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a workspace whose specs are in a cache, so that they are evaluated once."""
    return write_workspace(tmp_path_factory.mktemp("order"))


def check_package(order: Sequence[str], folder: Path) -> CheckedPackage:
    """Check the package with its events in an order."""
    workspace = Workspace(write_workspace(folder, order))
    return evaluate_package(workspace, "texts", scan_sources(workspace, "texts"))


def count_samples(folder: Path, cache: Path, events: Sequence[str]) -> dict[str, int]:
    """Count the samples of the metrics of events."""
    metrics = [f"n_{event}" for event in events]
    result = run_assay("query", *metrics, "--run", "run", "--format", "json", "--cache", cache, cwd=folder)
    assert (result.status, result.err) == (0, ""), result.err
    return {item["name"]: item["size"] for item in result.parse_json()}


EVENT_LISTS = st.lists(st.lists(st.sampled_from(list(EVENTS)), min_size=1, unique=True), min_size=2, max_size=5)


@given(requested_events=EVENT_LISTS)
@example([["special"], ["special", "general"], ["special"], list(EVENTS), ["broad"]])
@settings(derandomize=True, deadline=None, max_examples=scale_examples(9), suppress_health_check=list(HealthCheck))
def test_counts_do_not_depend_on_other_queries(
    place: Path, tmp_path_factory: pytest.TempPathFactory, requested_events: list[list[str]]
) -> None:
    cache = tmp_path_factory.mktemp("cache")
    for events in requested_events:
        assert count_samples(place, cache, events) == {event: COUNTS[event] for event in events}, requested_events


def test_another_order_of_events_is_read_again(tmp_path: Path) -> None:
    place, cache = write_workspace(tmp_path / "w"), tmp_path / "cache"
    assert count_samples(place, cache, list(EVENTS)) == COUNTS
    order = ("broad", "special", "middle", "general")
    (place / "specs/texts/package.dhall").write_text(format_package(order), encoding="utf-8")
    assert count_samples(place, cache, ["broad"]) == {"broad": 2}
    assert count_samples(place, cache, ["special", "broad"]) == {"special": 2, "broad": 2}


def test_definition_covers_patterns_tried_before_its_own(tmp_path: Path) -> None:
    orders = {
        "given": tuple(EVENTS),
        "swapped before": ("special", "middle", "general", "broad"),
        "swapped behind": ("middle", "special", "broad", "general"),
    }
    definitions_by_order = {name: check_package(order, tmp_path / name).definitions for name, order in orders.items()}
    changed_metrics = {
        name: {metric for metric, definition in hashes.items() if definition != definitions_by_order["given"][metric]}
        for name, hashes in definitions_by_order.items()
    }
    assert changed_metrics == {
        "given": set(),
        "swapped before": {"n_middle", "n_special"},
        "swapped behind": {"n_general", "n_broad"},
    }


def test_normal_form_keeps_order_of_events_and_summaries(tmp_path: Path) -> None:
    checked_package = check_package(tuple(EVENTS), tmp_path)
    for form in (checked_package, parse_normal_form(format_normal_form(checked_package), "form.yaml")):
        assert [event.name for event in form.package.events] == list(EVENTS)
        assert [summary.name for summary in form.package.summaries] == ["pooled", "among"]


def test_first_summary_is_the_default(place: Path, tmp_path: Path) -> None:
    result = run_assay("query", "n_broad", "--run", "run", "--format", "json", "--cache", tmp_path, cwd=place)
    assert [item["summary"] for item in result.parse_json()] == ["pooled"]


def test_diff_lists_metrics_that_a_new_order_may_change(tmp_path: Path, cache: Path) -> None:
    write_workspace(tmp_path / "old")
    write_workspace(tmp_path / "new", ("special", "middle", "general", "broad"))
    result = run_assay("--cache", cache, "spec-diff", "old", "new", cwd=tmp_path)
    assert (result.status, result.err) == (3, "")
    assert (
        result.out
        == """\
texts
  changed in meaning
    n_middle: middle
      patterns tried before: middle: nothing -> {"name": "middle", "patterns": ["took {v} ms {...} special {...}"]}
    n_special: special
      patterns tried before: special: {"name": "special", "patterns": ["took {v} ms for {...} here"]} -> nothing
metrics: 2 changed in meaning
"""
    )
