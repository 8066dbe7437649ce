"""Test normal forms: they equal what is computed, and manual edits are ignored."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assay.lang import decode
from assay.lang.model.expression import ARITY, LEAVES, format_expression, parse_expression
from assay.lang.model.package import Quarantine
from assay.lang.plain_data import to_plain_data
from tests.support.commands import run_assay
from tests.support.ingesting import SOURCE
from tests.support.workspaces import edit_file


def test_edited_normal_form_is_reported_and_ignored(tmp_path: Path) -> None:
    assert run_assay("--cache", tmp_path / "cache", "init", "ws", cwd=tmp_path).status == 0
    place, form = tmp_path / "ws", tmp_path / "ws/golden/specs/service.yaml"
    query = ("query", "wait", "--run", "runs/1.0", "--format", "json")
    before = run_assay(*query, "--cache", tmp_path / "cache", cwd=place)
    assert before.status == 0
    edit_file(
        form,
        "minus(instant at_work_started, instant at_request_received)",
        "minus(instant at_response_sent, instant at_request_received)",
    )
    after = run_assay(*query, "--cache", tmp_path / "another", cwd=place)
    assert (after.status, after.parse_json()) == (0, before.parse_json())
    result = run_assay("check", "--cache", tmp_path / "a third", cwd=place)
    message = "the normal form in golden/specs is outdated; run `assay check --accept` to write it"
    assert result.err == f"service: {message}\n"
    form.rename(place / "golden/specs/other.yaml")
    missing = run_assay("check", "--cache", tmp_path / "a third", cwd=place)
    assert missing.err == f"service: {message.replace('is outdated', 'is missing')}\n"
    assert run_assay("check", "--accept", "--cache", tmp_path / "a third", cwd=place).err == ""


def test_accept_replaces_files_with_normal_form_last(tmp_path: Path) -> None:
    cache_options = ("--cache", tmp_path / "cache")
    assert run_assay(*cache_options, "init", "ws", cwd=tmp_path).status == 0
    golden = tmp_path / "ws" / "golden"
    form, sql = golden / "specs" / "service.yaml", golden / "sql"
    before = form.read_text(encoding="utf-8")
    edit_file(tmp_path / "ws/specs/service/metrics.dhall", "Waiting time", "Wait")
    sql.rename(golden / "aside")
    sql.write_text("no folder")
    result = run_assay(*cache_options, "check", "--accept", cwd=tmp_path / "ws")
    message = f"error[output]: the output folder cannot be written: it is a file: {sql}\n"
    assert (result.status, result.err) == (1, f"{message}  hint: check that you may write into the workspace\n")
    assert form.read_text(encoding="utf-8") == before
    sql.unlink()
    (golden / "aside").rename(sql)
    (sql / "service" / "gone").mkdir()
    assert run_assay(*cache_options, "check", "--accept", cwd=tmp_path / "ws").status == 0
    assert "name: Wait\n" in form.read_text(encoding="utf-8")
    assert {item.name for item in (sql / "service").iterdir()} == {"comparison.txt", "metrics", "rows", "tables"}
    assert [item.name for item in form.parent.iterdir()] == ["service.yaml"]


def test_package_without_metrics_is_checked_and_read(tmp_path: Path) -> None:
    cache_options = ("--cache", tmp_path / "cache")
    assert run_assay(*cache_options, "init", "ws", cwd=tmp_path).status == 0
    (tmp_path / "ws/specs/service/package.dhall").write_text(
        "let S = ../schema/package.dhall let source = ./source.dhall let events = ./events.dhall\n"
        'in S.Package::{ system = "service", sources = [ source.logs ], events = [ events.received, events.sent ] }\n'
    )
    counts = "1 source, 2 events, 0 relations, 0 grains, 0 metrics, 0 filters, 1 summary, 0 reports"
    for cache in ("cache", "fresh"):  # loaded from the Dhall sources, and from the normal form
        accept_result = run_assay("check", "--accept", "--cache", tmp_path / cache, cwd=tmp_path / "ws")
        assert (accept_result.status, accept_result.out, accept_result.err) == (
            0,
            f"service: {counts}: no problem\n",
            "",
        )
    (folder,) = run_assay(*cache_options, "ingest", "--all", "runs/1.0", cwd=tmp_path / "ws").out.split()
    assert sorted(item.name for item in Path(folder, "events").iterdir()) == ["request_received", "response_sent"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("colunm start", "unknown word colunm"),
        ("minus(instant a)", "minus takes 2 operands, found 1"),
        ("not(column a, column b)", "not takes 1 operands, found 2"),
        ("minus(instant a, instant b", "expected ), found the end"),
        ("column", "expected word, found the end"),
        ("1 2", "expected end, found 2"),
        ("1 []", "a unit without a name"),
        (f"1e{'9' * 20}", f"1e{'9' * 20} is out of range"),
        ("\u20ac", "unreadable at character 1"),
        ('"\\q"', "Invalid \\escape: line 1 column 2 (char 1)"),
    ],
)
def test_invalid_expression_text_is_an_error(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=r".") as problem:
        parse_expression(text)
    assert str(problem.value) == message


WORDS = [*ARITY, *LEAVES, "(", ")", ",", ".", " ", "1", "-2.5e3", '"a b"', "[s]", "[s = 1/2 base]", "name", "true"]


@given(st.lists(st.sampled_from(WORDS), max_size=12).map("".join) | st.text(max_size=30))
@example('p""')
@example("a" * 5 + "." * 3)
def test_any_text_is_an_expression_or_an_error(text: str) -> None:
    try:
        tree = parse_expression(text)
    except ValueError:
        return
    assert format_expression(parse_expression(format_expression(tree))) == format_expression(tree)


def test_source_that_tolerates_nothing_is_read_back() -> None:
    """Both members of its quarantine are 0, so its normal form leaves the record out."""
    source = replace(SOURCE, quarantine=Quarantine(0.0, 0))
    assert decode.decode_sources([to_plain_data(source)], "sources") == (source,)
