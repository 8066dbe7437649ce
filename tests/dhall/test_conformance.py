"""The evaluator passes the official tests of the Dhall language, but for exceptions that have a name and a reason."""

from __future__ import annotations

from collections import Counter

import pytest

from assay.dhall.errors import DhallError
from tests.dhall.conformance import all_cases, find_tests, needs_prelude, read_exceptions

TESTS = find_tests()
CASES = [] if TESTS is None else list(all_cases(TESTS))
EXCEPTIONS = read_exceptions()

pytestmark = pytest.mark.skipif(not CASES, reason="DHALL_LANG_TESTS names no checkout of dhall-lang")


def run_case(case) -> str:
    try:
        return case.run()
    except (DhallError, UnicodeDecodeError) as error:
        return str(error) or "refused"


@pytest.mark.parametrize("suite", sorted({case.suite for case in CASES}) or ["none"])
def test_official_suite_passes_but_for_exceptions(suite, capsys) -> None:
    cases = [case for case in CASES if case.suite == suite and not needs_prelude(TESTS, case.path)]
    unread = sum(case.suite == suite for case in CASES) - len(cases)
    failures = {case.name: message for case in cases if (message := run_case(case))}
    expected = {name for name in EXCEPTIONS if name.startswith(f"{suite}/")}
    with capsys.disabled():
        print(
            f"\n{suite:32} {len(cases) - len(failures):5} of {len(cases):5} pass"
            + (f", {unread} need the Prelude" if unread else "")
        )
    assert {name: message for name, message in failures.items() if name not in expected} == {}
    assert expected - failures.keys() == set(), "these exceptions pass: remove them"


def test_suite_is_complete() -> None:
    counts = Counter(case.suite for case in CASES)
    assert len(counts) == 11
    assert min(counts.values()) > 8


def test_exceptions_have_reasons() -> None:
    assert all(len(reason) > 20 for reason in EXCEPTIONS.values())
