"""Test earlier findings of fuzzing, and fuzz briefly: no traceback, hang or undocumented status."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzz.guided import TARGETS as GUIDED
from fuzz.run import fuzz, generate_case
from fuzz.targets import TARGETS, run_target
from tests.support.deep import is_deep

#: seconds of fuzzing; `just fuzz` takes minutes
SECONDS = float(os.environ.get("ASSAY_FUZZ_SECONDS", "60" if is_deep() else "20"))
SEED = int(os.environ.get("ASSAY_FUZZ_SEED", "2026"))


def test_short_fuzzing_finds_no_failure() -> None:
    """`python -m fuzz.run --case` repeats a failing case by the seed and number in the message."""
    messages: list[str] = []
    failed_targets = fuzz(SEED, SECONDS, list(TARGETS), messages.append)
    print(messages[-1])
    assert failed_targets == 0, "\n".join(messages)


def test_a_case_is_the_same_each_time() -> None:
    assert generate_case("logs", 5, 17) == generate_case("logs", 5, 17)
    assert len({generate_case("logs", seed, number) for seed in range(5) for number in range(5)}) > 20


FORMER_FAILURES: dict[str, tuple[str, bytes]] = {
    "facts nested too deep": ("facts", b"[" * 100_000),
    "facts with too many digits": ("facts", b'{"epochLength":' + b"9" * 5000 + b"}"),
    "facts with a number that takes all memory to write": (
        "facts", b'{"epochLength":1E999999999,"slotLength":1E999999999,"systemStart":"2026-02-05T18:52:16Z"}'),
    "a publication nested too deep": ("publication", b'{"meta":' + b"[" * 100_000),
    "a publication with too many digits": ("publication", b'{"meta":' + b"9" * 5000 + b"}"),
    "half of a surrogate pair in a list of records": ("records", b'[{"time":1,"n":1,"m":2},{"time":"\\ud800"}]'),
    "facts with a number beyond all numbers": ("facts", b'{"epochLength":1E99999999999999999999}'),
    "half of a surrogate pair in facts": ("facts", b'{"activeSlotsCoeff":"\\ud800","slotLength":1}'),
    "half of a surrogate pair in a publication": ("publication", b'{"meta":{"title":"\\udc00x"}}'),
    "a record that nests": ("records", b'[{"time":1,"n":1,"m":' + b"[" * 600 + b"]" * 600 + b"}]"),
    "an answer with too many digits": ("samples", b'{"status":"success","data":' + b"9" * 5000 + b",,}"),
    "a line that only the engine takes for JSON": (
        "logs", b'{"ts":"2026-02-05T18:52:16Z","what":"Tick","body":{"n":1,"t":"x"}}\n'
        b'{"ts":"2026-02-05T18:52:16Z","what":"Tick","body":{"n":"x",}}\n'),
    "an order mark before a line that lacks a field": (
        "logs", b'\xef\xbb\xbf{"ts":"2026-02-05T18:52:16Z","what":"Tick","body":{}}\n'
        b'{"ts":"2026-02-05T18:52:16Z","what":"Tick","body":{"n":1,"t":"x"}}\n'),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMER_FAILURES)
def test_earlier_findings_are_fixed(tmp_path: Path, name: str) -> None:
    target, data = FORMER_FAILURES[name]
    run_target(target, tmp_path, data)


@pytest.mark.parametrize("name", GUIDED)
@given(data=st.data())
def test_pure_python_readers_accept_any_input(name: str, data: st.DataObject) -> None:
    run, seed = GUIDED[name]
    run(seed)
    run(data.draw(st.binary(max_size=80) | st.permutations(list(seed)).map(bytes)))
