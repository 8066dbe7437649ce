"""Test the files of golden SQL: their names, and the list of each report."""

from __future__ import annotations

import pytest

from assay.app.author.golden_sql import lay_out_sql

NAME = "tables/block.sql"


def list_block_files(**texts: str) -> dict[str, str]:
    """Return the golden files of reports that have one table each: file name -> text, without the lists."""
    files = lay_out_sql({report: {NAME: text} for report, text in texts.items()})
    return {name: text for name, text in files.items() if name.endswith(".sql")}


def test_equal_texts_are_one_file_and_lists_have_the_order() -> None:
    reports = {
        "a": {"tables/z.sql": "z", "checks/z-key.sql": "key", "tables/y.sql": "y"},
        "b": {"tables/y.sql": "y", "tables/z.sql": "z"},
        "empty": {},
    }
    assert lay_out_sql(reports) == {
        "tables/z.sql": "z",
        "checks/z-key.sql": "key",
        "tables/y.sql": "y",
        "a.txt": "tables/z.sql\nchecks/z-key.sql\ntables/y.sql\n",
        "b.txt": "tables/y.sql\ntables/z.sql\n",
        "empty.txt": "",
    }


def test_lists_name_the_text_of_their_report() -> None:
    files = lay_out_sql({"a": {NAME: "1"}, "b": {NAME: "2"}, "c": {NAME: "1"}})
    lists = {name: text for name, text in files.items() if name.endswith(".txt")}
    assert lists == {"a.txt": f"{NAME}\n", "b.txt": "tables/block@b.sql\n", "c.txt": f"{NAME}\n"}


@pytest.mark.parametrize(
    ("texts", "marks"),
    [
        ({"a": "1"}, {"": "1"}),
        ({"a": "1", "b": "2"}, {"@a": "1", "@b": "2"}),
        ({"a": "1", "b": "2", "c": "2"}, {"@a": "1", "": "2"}),
        ({"a": "1", "b": "2", "c": "2", "d": "1"}, {"@a": "1", "@b": "2"}),
        ({"a": "1", "b": "2", "c": "3", "d": "3"}, {"@a": "1", "@b": "2", "@c": "3"}),
        ({"a": "1", "b": "1", "c": "2", "d": "3", "e": "1"}, {"": "1", "@c": "2", "@d": "3"}),
    ],
)
def test_text_of_most_reports_has_the_plain_name(texts: dict[str, str], marks: dict[str, str]) -> None:
    expected_files = {f"tables/block{mark}.sql": text for mark, text in marks.items()}
    assert list_block_files(**texts) == expected_files
    assert list_block_files(**dict(reversed(texts.items()))) == expected_files


@pytest.mark.parametrize("report", ["a", "z"])
def test_report_with_another_text_renames_no_file(report: str) -> None:
    before = list_block_files(m="1", n="1")
    assert list_block_files(m="1", n="1", **{report: "2"}) == {**before, f"tables/block@{report}.sql": "2"}
