"""The evaluator passes the official tests of the Dhall language, but for exceptions that have a name and a reason."""

from __future__ import annotations

import functools
import os
import re
from collections import Counter
from pathlib import Path

import pytest

from assay_dhall.errors import DhallError
from assay_dhall.tests.conformance import find_tests, has_prelude, imports_prelude, iter_cases, read_exceptions

TESTS = find_tests()
CASES = [] if TESTS is None else list(iter_cases(TESTS))
EXCEPTIONS = read_exceptions()
README = Path(__file__).resolve().parents[1] / "README.md"

pytestmark = pytest.mark.skipif(not CASES, reason="DHALL_LANG_TESTS names no checkout of dhall-lang")


def run_case(case) -> str:
    try:
        return case.run()
    except (DhallError, UnicodeDecodeError) as error:
        return str(error) or "refused"


@functools.cache
def run_suite(suite: str, with_prelude: bool) -> tuple[int, dict[str, str]]:
    """Return the number of tests that import the Prelude, or do not, and the messages of those that fail."""
    cases = [case for case in CASES if case.suite == suite and imports_prelude(case.path) == with_prelude]
    return len(cases), {case.name: message for case in cases if (message := run_case(case))}


@pytest.mark.parametrize("suite", sorted({case.suite for case in CASES}) or ["none"])
def test_official_suite_passes_but_for_exceptions(suite, capsys) -> None:
    count, failures = run_suite(suite, with_prelude=False)
    more, more_failures = run_suite(suite, with_prelude=True) if has_prelude(TESTS) else (0, {})
    unread_count = sum(case.suite == suite for case in CASES) - count - more
    failures = failures | more_failures
    expected = {name for name in EXCEPTIONS if name.startswith(f"{suite}/")}
    with capsys.disabled():
        print(
            f"\n{suite:32} {count + more - len(failures):5} of {count + more:5} pass"
            + (f", {unread_count} need the Prelude" if unread_count else "")
        )
    assert {name: message for name, message in failures.items() if name not in expected} == {}
    assert expected - failures.keys() == set(), "these exceptions pass: remove them"


@pytest.mark.skipif("DHALL_LANG_TESTS" in os.environ, reason="the README has the counts of one commit of dhall-lang")
def test_readme_has_counts_of_suites() -> None:
    text = README.read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([\w-]+) \| (\d+ of \d+) \| (\d+ of \d+|) ?\|$", text, re.M)
    documented_counts = {f"{name}/success": success for name, success, _ in rows}
    documented_counts |= {f"{name}/failure": failure for name, _, failure in rows if failure}
    results = {case.suite: run_suite(case.suite, with_prelude=False) for case in CASES}
    assert documented_counts == {
        suite: f"{count - len(failures)} of {count}" for suite, (count, failures) in results.items()
    }
    passed = sum(count - len(failures) for count, failures in results.values())
    total = sum(count for count, _ in results.values())
    assert f"passes {passed} of the {total} official" in " ".join(text.split())
    assert f"Another {sum(imports_prelude(case.path) for case in CASES)} tests import" in text


def test_suite_is_complete() -> None:
    counts = Counter(case.suite for case in CASES)
    assert len(counts) == 11
    assert min(counts.values()) > 8


def test_exceptions_have_reasons() -> None:
    assert all(len(reason) > 20 for reason in EXCEPTIONS.values())
