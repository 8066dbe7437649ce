"""One slip is one message: of a small package, spoilt in one place each."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.engine.test_unsampled import PACKAGE, SPECS
from tests.support.commands import assay
from tests.support.small import small

CLAIM = "one of the two units is not the right one; `asUnit` would claim the other, and convert nothing"
#: what is changed -> the messages, each with its hint
SLIPS: dict[tuple[str, str], list[str]] = {
    ('name = "rows"\n', 'name = "beginnings"\n'): [
        "duplicate-table: 2 tables are called `beginnings`; events, relations and grains share one set of names"
    ],
    ("a AS n FROM", "a AS m FROM"): [
        "relation-columns: relation `beginnings` does not yield the columns that it declares; None"
    ],
    ('[ host, place, n ] [ "host", "seq" ]', '[ host, place, n ] [ "host", "sequel" ]'): [
        "unknown-key: relation `beginnings` has a key column `sequel` that it lacks; did you mean `seq`?"
    ],
    ('key = [ "host", "seq" ]', 'key = [ "host", "sequel" ]'): [
        "unknown-key: grain `rows` has a key column `sequel` that it lacks; did you mean `seq`?"
    ],
    ('key = [ "host", "seq" ]', 'key = [ "host" ]'): [
        "grain-key: grain `rows` has a key that does not tell the rows of relation `beginnings` apart; None"
    ],
    ("(X.column n) U.count // ofHosts", "(X.asUnit U.byte (X.column n)) U.second // ofHosts"): [
        f"unit: metric `left_out` is measured in a unit that does not convert to its own; {CLAIM}"
    ],
    ("(X.column n) U.count // ofHosts", "(X.column n) U.second // ofHosts"): [
        "unit: metric `left_out` is measured in a unit that does not convert to its own; "
        "`asUnit` declares a number to be in a unit, for every reader to see"
    ],
    (
        "(X.column n) U.count // ofHosts",
        "(X.plus (X.quantity 1.0 U.second) (X.quantity 1.0 U.byte)) U.second // ofHosts",
    ): [f"unit: metric `left_out` mixes units that do not convert; {CLAIM}"],
}


@pytest.mark.parametrize(("slip", "said"), SLIPS.items(), ids=[" ".join(after.split()) for _, after in SLIPS])
def test_one_slip_is_one_message(tmp_path: Path, cache: Path, slip: tuple[str, str], said: list[str]) -> None:
    assert SPECS.count(slip[0]) == 1
    small(tmp_path, SPECS.replace(*slip), PACKAGE.replace(", twice leftOut, twice counted", ""))
    done = assay("--errors", "json", "check", "--system", "small", "--cache", cache, within=tmp_path)
    told = [f"{item['code']}: {item['message']}; {item.get('hint') or None}" for item in json.loads(done.err)]
    assert (done.status, told) == (1, said)


def test_a_package_without_a_summary_is_refused(tmp_path: Path, cache: Path) -> None:
    """Each average is by one: whatever were asked of such a package ended in a bug, or in a sentence of its own."""
    place = small(tmp_path, SPECS, PACKAGE) / "specs" / "small" / "package.dhall"
    text = place.read_text(encoding="utf-8")
    first = text.index(", summaries = [")
    place.write_text(text[:first] + text[text.index("],", first) + 1 :], encoding="utf-8")
    done = assay("--errors", "json", "check", "--system", "small", "--cache", cache, within=tmp_path)
    told = [(item["code"], item["message"]) for item in json.loads(done.err)]
    assert told == [("no-summary", "package `small` has no summary, which says how averages are taken")]
