"""Test that `assay test` lists alternative event names and field paths without an example."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.support.commands import run_assay
from tests.support.workspaces import Edit, copy_workspace, edit_file

SOURCE, EVENTS, EXAMPLES = (f"specs/service/{name}.dhall" for name in ("source", "events", "examples"))
SEVERAL: tuple[Edit, ...] = (
    (SOURCE, 'S.source.nameAt [ "event" ]', 'S.Lookup::{ path = [ "event" ], generation = "v1" }'),
    (EVENTS, "let event = E.eventOf (./source.dhall).logs", """
let event =
      \\(name : Text) -> \\(mark : Text) -> \\(fields : List S.Field) -> \\(doc : Text) ->
        let names = [ { generation = "v1", name = mark }, { generation = "v1", name = "old.${mark}" } ]
        in  { name, source = (./source.dhall).logs.name, forms = [ S.Form::{ names, fields } ], doc } : S.Event"""),
    (EVENTS, 'E.text "request"', 'E.atAny [ [ "request" ], [ "req", "id" ] ] (E.text "request")'),
)  # fmt: skip


@pytest.fixture
def shop(tmp_path: Path, cache: Path) -> Path:
    """Create a workspace whose events have two names and whose requests have two paths."""
    place = tmp_path / "shop"
    assert run_assay("--cache", cache, "init", place).status == 0
    for file, text, replacement in SEVERAL:
        edit_file(place / file, text, replacement)
    return place


def list_fallbacks(place: Path, cache: Path, *system: str) -> list[dict[str, Any]]:
    result = run_assay("--cache", cache, "test", *system, "--format", "json", cwd=place)
    assert (result.status, result.err) == (0, "")
    (suite,) = result.parse_json()
    fallbacks: list[dict[str, Any]] = suite["coverage"]["fallbacks"]
    return fallbacks


def test_unused_fallbacks_are_listed_without_failure(shop: Path, cache: Path, tmp_path: Path) -> None:
    junit = tmp_path / "examples.xml"
    result = run_assay("--cache", cache, "test", "--junit", junit, cwd=shop)
    assert (result.status, result.err) == (0, "")
    assert result.out.split("\n")[1:] == [
        "  names of events and places of fields that no example has:",
        "    request_received: 2 of 4: v1: old.request.received, request at req.id",
        "    work_started: 2 of 4: v1: old.work.started, request at req.id",
        "    response_sent: 2 of 4: v1: old.response.sent, request at req.id",
        "  all examples pass",
        "",
    ]
    suite = ElementTree.parse(junit).getroot()[0]
    assert suite[0].tag == "properties"
    properties = [(item.get("name"), item.get("value")) for item in suite[0]]
    assert properties[:2] == [
        ("no example: request_received", "v1: old.request.received"),
        ("no example: request_received", "request at req.id"),
    ]
    assert (len(properties), suite.get("failures")) == (6, "0")


def test_used_fallback_is_not_listed(shop: Path, cache: Path) -> None:
    """A name is used if a record has it, a path if it is the first with a value."""
    edit_file(shop / EXAMPLES, '{"request":"r1"${data}}', '{"req":{"id":"r1"}${data}}')
    edit_file(shop / EXAMPLES, '"response.sent"', '"old.response.sent"')
    assert [(item["event"], item["field"], item["form"], item["text"]) for item in list_fallbacks(shop, cache)] == [
        ("request_received", "", 1, "v1: old.request.received"),
        ("request_received", "request", 1, "request"),
        ("work_started", "", 1, "v1: old.work.started"),
        ("work_started", "request", 1, "request"),
        ("response_sent", "", 1, "v1: response.sent"),
        ("response_sent", "request", 1, "request"),
    ]


def test_single_name_and_place_are_no_fallbacks(tmp_path: Path, cache: Path) -> None:
    assert run_assay("--cache", cache, "init", tmp_path / "shop").status == 0
    assert list_fallbacks(tmp_path / "shop", cache) == []


@pytest.mark.parametrize(
    ("system", "edit", "expected"),
    [
        ("cometbft",
         ("specs/cometbft/events.dhall", 'E.integer "rate"', 'E.atAny [ [ "speed" ], [ "rate" ] ] (E.integer "rate")'),
         {("rate", "speed")}),
        ("cometbft", ("specs/cometbft/events.dhall", 'E.at [ "num_txs_res" ] (E.integer "transactions")',
                      'E.atAny [ [ "num_txs_res" ], [ "num_txs" ] ] (E.integer "transactions")'),
         {("transactions", "num_txs")}),
        ("antelope", ("specs/antelope/harness/events.dhall", '{ generation = "nodeos", name }) patterns',
                      '{ generation = "nodeos", name }) patterns # map Text E.Name '
                      '(\\(name : Text) -> { generation = "nodeos", name = "Old ${name}" }) patterns'),
         # No example has the second names of these two either.
         {("", "nodeos: Old "), ("", "nodeos: drop"), ("", "nodeos: swit")}),
        ("antelope", ("specs/antelope/samples.dhall", 'E.at [ "value" ] (E.real "value")',
                      'E.atAny [ [ "value" ], [ "labels", "worth" ] ] (E.real "value")'),
         {("value", "labels.worth")}),
    ],
)  # fmt: skip
def test_records_of_every_kind_count_as_use(
    tmp_path: Path, cache: Path, system: str, edit: Edit, expected: set[tuple[str, str]]
) -> None:
    """Covers tables, JSON, text lines and samples."""
    fallbacks = list_fallbacks(copy_workspace(tmp_path / "specs", edit), cache, "--system", system)
    assert {
        (item["field"], item["text"][: len(text)])
        for item in fallbacks
        for field, text in expected
        if item["field"] == field
    } == expected
