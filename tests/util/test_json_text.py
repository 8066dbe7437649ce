"""Test that JSON text equals that of the standard library."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assay.util.json_text import dump_indented

leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.decimals()
data = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text() | st.integers() | st.booleans() | st.none() | st.floats(), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(data)
@example({"a": {}, "b": [], "c": [[], {}, ()], "d": {"e": [{"f": '\x7f\x00\ud800 é\n"'}]}})
@example({1: 0, False: 1, None: 2, 1.5: 3, float("nan"): 4})
def test_text_equals_the_standard_library(value: Any) -> None:
    assert dump_indented(value, default=str) == json.dumps(value, ensure_ascii=False, indent=1, default=str)


@pytest.mark.parametrize("value", [float("nan"), {"a": [float("-inf")]}])
def test_non_finite_number_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        dump_indented(value, allow_nan=False)
    with pytest.raises(ValueError, match="not JSON compliant"):
        json.dumps(value, indent=1, allow_nan=False)


def test_value_without_json_form_is_refused() -> None:
    with pytest.raises(TypeError, match="Decimal is not JSON serializable"):
        dump_indented([Decimal(1)])
    with pytest.raises(TypeError, match="keys must be"):
        dump_indented({(1, 2): 0})
