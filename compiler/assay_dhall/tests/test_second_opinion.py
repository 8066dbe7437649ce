"""The evaluator agrees with another implementation, the PyPI package `dhall`, where that is installed.

It wraps Naturals at 64 bits, so the terms keep to small numbers.
"""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings

from assay_dhall import evaluate_text, to_data
from assay_dhall.tests.typed_terms import generate_typed_terms

binding = pytest.importorskip("dhall")


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(generate_typed_terms())
def test_random_term_equals_other_evaluator(term) -> None:
    text, type_text = term
    evaluated = evaluate_text(f"{text} : {type_text}")
    assert json.dumps(to_data(evaluated.value), sort_keys=True) == json.dumps(binding.loads(text), sort_keys=True)
