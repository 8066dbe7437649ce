"""Texts of checks: values in their places, and no way from them to anything else."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest

from assay.engine.declared import filled, places_of
from tests.support.commands import assay
from tests.support.workspaces import workspace


def test_values_stand_in_their_places() -> None:
    text = "block {block} of {host} is {what}: {block}"
    assert places_of(text) == ("block", "host", "what", "block")
    assert filled(text, {"block": 3, "host": "{block}"}) == "block 3 of {block} is {what}: 3"


def test_null_is_printed_as_unknown() -> None:
    row = {"block_no": None, "share": None, "at": None}
    assert filled("{block_no}, {share:g}, {at:t}", row) == "unknown, unknown, unknown"


@pytest.mark.parametrize(
    "text",
    ["{u.__init__.__globals__[os].environ}", "{u!r}", "{u:>3000000000}", "{u[0]}", "{", "}", "{{u}", "{}", "{0}"],
)
def test_nothing_else_is_worked_out(text: str) -> None:
    value = uuid.UUID(int=0)
    assert filled(text, {"u": value}) == text.replace("{u}", str(value))


def test_a_text_that_speaks_of_no_column_is_told(tmp_path: Path, cache: Path) -> None:
    own = workspace(tmp_path / "w", ("specs/cardano/relations.dhall", "slot {slot})", "slot {slt})"))
    done = assay("check", "--system", "cardano", "--cache", cache, within=own)
    assert done.status == 1
    first, found, hint = done.err.splitlines()[:3]
    assert first.startswith("error[check-place]: check `")
    assert first.endswith("speaks of a column that it does not have: `slt`")
    assert "slot" in found
    assert hint == "  hint: did you mean `slot`?"
