"""Evaluation: what Dhall values become, and what cannot take the command down."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from assay.spec import dhall_run
from assay.spec.dhall_adapter import available, evaluate, evaluate_sources, sources
from assay.spec.dhall_errors import failure
from assay.spec.dhall_run import copied, get_ready
from assay.spec.diagnostics import AssayError

COMPILER = Path(__file__).parent.parent / "compiler"

VALUES: dict[str, object] = {
    '"a\\n\\u{1F600}${"b"}"': "a\n😀b",
    "''\n  a ''${b}\n    c\n  ''": "a ${b}\n  c\n",
    "18446744073709551615": 18446744073709551615,
    "0x1F": 31,
    "+9223372036854775807": 9223372036854775807,
    "-9223372036854775808": -9223372036854775808,
    "1.0": 1.0,
    "-2.5e-3": -0.0025,
    "True": True,
    "{=}": {},
    "{ b = 1, a.c = 2 }": {"a": {"c": 2}, "b": 1},
    "[] : List Text": [],
    "[ 3, 1, 2 ]": [3, 1, 2],
    "[ Some 1, None Natural ]": [1, None],
    "Some (None Text)": None,
    "toMap { b = 1, a = 2 }": {"a": 2, "b": 1},
    '[ { mapKey = "a", mapValue = 1 }, { mapKey = "a", mapValue = 2 } ]': {"a": 2},
    "[] : List { mapKey : Text, mapValue : Text }": {},
    '[ { mapKey = "a", other = 1 } ]': [{"mapKey": "a", "other": 1}],
    '[ < A | B : Text >.A, < A | B : Text >.B "t" ]': ["A", "t"],
}


@pytest.mark.parametrize("text", VALUES)
def test_a_value_becomes_plain_data(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.dhall").write_text(text, encoding="utf-8")
    value = evaluate(tmp_path / "a.dhall", tmp_path)
    assert value == VALUES[text]
    assert type(value) is type(VALUES[text])


def test_doubles_that_are_no_numbers_pass(tmp_path: Path) -> None:
    (tmp_path / "a.dhall").write_text("{ a = [ Infinity, -Infinity, NaN, -0.0 ] }")
    value = evaluate(tmp_path / "a.dhall", tmp_path)
    assert isinstance(value, dict)
    high, low, none, zero = value["a"]
    assert (high, low, math.isnan(none), math.copysign(1, zero)) == (math.inf, -math.inf, True, -1)


def test_the_keys_come_sorted_in_every_process(tmp_path: Path) -> None:
    fields = ", ".join(f"f{number} = {number}" for number in range(40))
    (tmp_path / "a.dhall").write_text(f"{{ r = {{ {fields} }}, m = toMap {{ {fields} }} }}")
    program = (
        "import json, sys; from pathlib import Path; from assay.spec.dhall_adapter import evaluate;"
        "print(json.dumps(evaluate(Path('a.dhall'), Path(sys.argv[1]))))"
    )
    texts = set()
    for seed in "01234":
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(COMPILER)}
        command = [sys.executable, "-c", program, str(tmp_path)]
        texts.add(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
    (text,) = texts
    assert list(json.loads(text)["m"]) == sorted(f"f{number}" for number in range(40))


def test_what_was_scanned_is_evaluated_whatever_the_file_says_now(tmp_path: Path) -> None:
    (tmp_path / "a.dhall").write_text("./b.dhall")
    (tmp_path / "b.dhall").write_text("1")
    files = sources(tmp_path / "a.dhall", tmp_path)
    (tmp_path / "b.dhall").write_text("env:HOME as Text")
    assert evaluate_sources("a.dhall", files) == 1


def test_a_folder_and_a_file_with_spaces_work(tmp_path: Path) -> None:
    (tmp_path / "a b").mkdir()
    (tmp_path / "a b" / "c d.dhall").write_text('./"g h.dhall"')
    (tmp_path / "a b" / "g h.dhall").write_text("1")
    assert evaluate(tmp_path / "a b" / "c d.dhall", tmp_path) == 1


def test_an_import_with_the_right_hash_needs_no_cache(tmp_path: Path) -> None:
    (tmp_path / "a.dhall").write_text("./b.dhall sha256:" + "0" * 64)
    (tmp_path / "b.dhall").write_text("{ a = 1 }")
    with pytest.raises(AssayError) as problem:
        evaluate(tmp_path / "a.dhall", tmp_path)
    right = problem.value.diagnostics[0].found
    (tmp_path / "a.dhall").write_text(f"./b.dhall {right}")
    assert evaluate(tmp_path / "a.dhall", tmp_path) == {"a": 1}


def test_a_literal_that_makes_parsing_explode_ends_at_the_time_limit(tmp_path: Path) -> None:
    (tmp_path / "a.dhall").write_text("let b = ./b.dhall\n\nin  b\n")
    (tmp_path / "b.dhall").write_text("{ a =\n" + "[ " * 14 + "1" + " ]" * 14 + " }")
    with pytest.raises(AssayError) as problem:
        evaluate(tmp_path / "a.dhall", tmp_path, seconds=0.5)
    assert str(problem.value) == (
        "error[dhall-time]: the evaluation of `a.dhall` needs more than 0.5 s\n"
        "  at b.dhall:2:27\n"
        "  found:    literals nested 15 deep here\n"
        "  hint: every level of nested brackets triples the time of parsing: bind inner parts with `let`"
    )


def test_a_computation_without_end_ends_at_the_time_limit(tmp_path: Path) -> None:
    times = "Natural/fold 1000 Natural"  # three of them within each other: many steps, and few at a time on the stack
    step = f"\\(n : Natural) -> {times} (\\(m : Natural) -> {times} (\\(k : Natural) -> k + n) m) n"
    (tmp_path / "a.dhall").write_text(f"{times} ({step}) 1")
    with pytest.raises(AssayError) as problem:
        evaluate(tmp_path / "a.dhall", tmp_path, seconds=0.5)
    text = str(problem.value)
    assert text.startswith("error[dhall-time]: the evaluation of `a.dhall` needs more than 0.5 s\n  at a.dhall:1:1\n")
    assert text.endswith(f"\n  hint: {OFTEN}")


def test_what_needs_much_memory_is_told_with_the_place_where_it_is_repeated(tmp_path: Path) -> None:
    (tmp_path / "b.dhall").write_text('-- doubled\nlet t = Natural/fold 40 Text (\\(t : Text) -> t ++ t) "x"\nin  t')
    (tmp_path / "a.dhall").write_text("./b.dhall")
    files = sources(tmp_path / "a.dhall", tmp_path)
    with copied(files) as copy:
        outcome = copy.evaluate("a.dhall", 20, memory=700 << 20)
        (told,) = failure(outcome, "a.dhall", files, copy, 20).diagnostics
    assert (told.code, str(told.span), told.hint) == ("dhall-memory", "b.dhall:2:9", OFTEN)
    assert told.excerpt.startswith("2 | let t = Natural/fold 40")


OFTEN = "does something in it grow each time it is repeated, or is it repeated very often?"
CRASHED = (
    "where it runs out of stack, or of its 2 GB of memory, it cannot say so: import long texts with `as Text`, and let "
    "no fold make a value that large"
)


def test_memory_is_bounded(tmp_path: Path) -> None:
    (tmp_path / "a.dhall").write_text('Natural/fold 40 Text (\\(t : Text) -> t ++ t) "x"')
    with copied(sources(tmp_path / "a.dhall", tmp_path)) as copy:
        assert copy.evaluate("a.dhall", 20, memory=700 << 20).kind == "memory"


def test_a_text_that_exhausts_the_stack_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.dhall").write_text("''\n" + ("x" * 79 + "\n") * 30_000 + "''")
    with pytest.raises(AssayError) as problem:
        evaluate(tmp_path / "a.dhall", tmp_path)
    assert str(problem.value) == (
        "error[dhall-crash]: the evaluator ended abnormally while evaluating `a.dhall`\n"
        "  at a.dhall\n"
        f"  hint: {CRASHED}"
    )


def test_a_fold_that_ends_the_evaluator_is_told_with_what_it_may_lack(tmp_path: Path) -> None:
    """So many steps that it dies before it is refused memory: nothing tells stack from memory then."""
    (tmp_path / "a.dhall").write_text('Natural/fold 100000000000 Text (\\(t : Text) -> t ++ t) "x"')
    with pytest.raises(AssayError) as problem:
        evaluate(tmp_path / "a.dhall", tmp_path)
    (told,) = problem.value.diagnostics
    assert (told.code, told.hint) in [("dhall-crash", CRASHED), ("dhall-memory", OFTEN)]


def test_an_interrupt_of_the_evaluator_alone_is_one_of_the_command(tmp_path: Path) -> None:
    (tmp_path / "a.dhall").write_text("1")
    found = sources(tmp_path / "a.dhall", tmp_path)
    get_ready()
    waiting = dhall_run._ready._process
    assert waiting
    waiting.send_signal(signal.SIGINT)
    with copied(found) as copy, pytest.raises(KeyboardInterrupt):
        copy.evaluate("a.dhall", 20)


def test_a_long_text_is_no_problem(tmp_path: Path) -> None:
    lines = ("x" * 79 + "\n") * 1000
    (tmp_path / "a.dhall").write_text(f"''\n{lines}''")
    assert evaluate(tmp_path / "a.dhall", tmp_path) == lines


def test_no_trace_of_an_evaluation_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    (tmp_path / "a.dhall").write_text("{ a = 1 }.b")
    with pytest.raises(AssayError):
        evaluate(tmp_path / "a.dhall", tmp_path)
    (room,) = scratch.glob("*/scratch/*")  # of this process, while it lives
    assert list(room.iterdir()) == []
    assert {path for path in scratch.rglob("*") if path.is_file()} == set()


def test_without_the_package_the_own_evaluator_is_used(tmp_path: Path) -> None:
    (tmp_path / "a.dhall").write_text("[ { a = 2 + 3 } ]")
    program = (
        "import sys; from pathlib import Path; from assay.spec.dhall_adapter import available, evaluate\n"
        "print(available(), evaluate(Path('a.dhall'), Path(sys.argv[1])))"
    )
    command = [sys.executable, "-S", "-c", program, str(tmp_path)]  # without the installed packages
    done = subprocess.run(command, env={"PYTHONPATH": str(COMPILER)}, capture_output=True, text=True, check=True)
    assert done.stdout == "False [{'a': 5}]\n"
    assert available()


def test_a_number_of_very_many_digits_is_cut_where_it_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.dhall").write_text("9" * 100_000)
    with pytest.raises(AssayError) as problem:
        evaluate(tmp_path / "a.dhall", tmp_path)
    text = str(problem.value)
    assert text.startswith(
        f"error[dhall-parse]: the number `{'9' * 60}...` (100000 digits) is out of range\n  at a.dhall:1:1\n"
    )
    assert len(text) < 1000
