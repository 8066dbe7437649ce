"""The official acceptance tests of dhall-lang hold, but for the exceptions that are named with their reason."""

from __future__ import annotations

import pytest

from tests.dhall.conformance import Suite, find_suite, read_exceptions

SUITE = find_suite()
FAMILIES = {
    "parser, accepted": 300,
    "parser, refused": 94,
    "binary, decoded": 82,
    "binary, refused": 9,
    "normal forms": 285,
    "alpha normal forms": 10,
    "semantic hashes": 151,
    "types, inferred": 364,
    "types, refused": 121,
    "imports, resolved": 72,
    "imports, refused": 24,
}


@pytest.mark.skipif(SUITE is None, reason="DHALL_LANG_TESTS does not name the official tests")
@pytest.mark.parametrize("family", FAMILIES)
def test_family_holds_but_for_exceptions(family: str) -> None:
    assert SUITE is not None
    suite, exceptions = Suite(SUITE), read_exceptions()
    count, problems = suite.run(family)
    assert count >= FAMILIES[family]
    names = {path.relative_to(SUITE).as_posix() for path in suite.families()[family][0]}
    excepted = names & exceptions.keys()
    assert {name: problem for name, problem in problems.items() if name not in excepted} == {}
    assert excepted - set(problems) == set(), "these exceptions hold by now"


def test_exceptions_have_reasons() -> None:
    assert [name for name, reason in read_exceptions().items() if len(reason) < 20] == []
