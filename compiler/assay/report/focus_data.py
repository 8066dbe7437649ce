"""Write where a change comes from as plain data, for `assay why --format json` and `results.json`."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from assay.judgement.focus import FocusTable
from assay.judgement.split_change import PartChange
from assay.judgement.verdict import Judgement


def build_focus_data(table: FocusTable) -> dict[str, Any]:
    """Return what stands out in a change, and the change by the values of each column, in the unit of the metric."""
    values = [
        {
            "column": item.column,
            "value": item.value,
            "share": float(item.share),
            **_build_change_data(item.judgement),
            "without": _build_change_data(item.rest),
        }
        for item in table.values
    ]
    mix, time = table.mix, table.time
    return {
        "base_value": float(table.averages[0]),
        "value": float(table.averages[1]),
        "values": values,
        "mix": mix
        and {
            "column": mix.column,
            "value": mix.value,
            "share": float(mix.share),
            "base_weight": float(mix.weights[0]),
            "weight": float(mix.weights[1]),
            "changed": list(mix.worse),
        },
        "time": time
        and {
            "from": time.edges[0],
            "to": time.edges[1],
            "part": [time.first / time.batches, (time.last + 1) / time.batches],
            "share": time.share,
            "averages": list(time.averages),
            "outside": list(time.outside),
        },
        "columns": [
            {
                "column": item.column,
                "within": float(item.within),
                "mix": float(item.mix),
                "values": [_build_part_data(part) for part in item.parts],
            }
            for item in table.divisions
            if item.is_divided
        ],
    }


def _build_part_data(part: PartChange) -> dict[str, Any]:
    return {
        "value": part.value,
        "base_weight": float(part.weights[0]),
        "weight": float(part.weights[1]),
        "base_value": _convert(part.averages[0]),
        "average": _convert(part.averages[1]),
        "within": float(part.within),
        "mix": float(part.mix),
    }


def _build_change_data(judgement: Judgement) -> dict[str, Any]:
    comparison = judgement.comparison
    return {
        "verdict": judgement.verdict.value,
        "base_value": comparison.base if comparison else None,
        "average": comparison.value if comparison else None,
        "percent": comparison.percent.value if comparison and comparison.percent else None,
    }


def _convert(number: Fraction | None) -> float | None:
    return None if number is None else float(number)
