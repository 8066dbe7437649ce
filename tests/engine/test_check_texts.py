"""Texts of checks: values in their places, and no way from them to anything else."""

from __future__ import annotations

import uuid

import pytest

from assay.engine.declared import fill_message, list_placeholders


def test_values_stand_in_their_places() -> None:
    text = "block {block} of {host} is {what}: {block}"
    assert list_placeholders(text) == ("block", "host", "what", "block")
    assert fill_message(text, {"block": 3, "host": "{block}"}) == "block 3 of {block} is {what}: 3"


def test_null_is_printed_as_unknown() -> None:
    row = {"block_no": None, "share": None, "at": None}
    assert fill_message("{block_no}, {share:g}, {at:t}", row) == "unknown, unknown, unknown"


@pytest.mark.parametrize(
    "text",
    ["{u.__init__.__globals__[os].environ}", "{u!r}", "{u:>3000000000}", "{u[0]}", "{", "}", "{{u}", "{}", "{0}"],
)
def test_other_places_stay_unchanged(text: str) -> None:
    value = uuid.UUID(int=0)
    assert fill_message(text, {"u": value}) == text.replace("{u}", str(value))
