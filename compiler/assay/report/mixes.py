"""Write in which values of a dimension the samples of a metric differ between two versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assay.judgement.interval import Comparison
from assay.judgement.mix import Mix, Values
from assay.lang.segments import format_value
from assay.quality.finding import list_names
from assay.util.escape import escape_text

MOST_NAMES = 3


def build_mix_data(mix: Mix, comparison: Comparison | None) -> dict[str, object]:
    """Return how the samples of a metric differ as plain data, with its averages over the common values if known."""
    data: dict[str, object] = {
        "dimensions": list(mix.dimensions),
        "base_only": list(map(_format_values, mix.base_only)),
        "other_only": list(map(_format_values, mix.other_only)),
        "common": len(mix.counts),
        "is_outcome": mix.is_outcome,
        "base": comparison.base if comparison else None,
        "value": comparison.value if comparison else None,
    }
    if mix.shift:
        values, before, after = mix.find_greatest_shift()
        data["shift"] = [_format_values(values), before, after]
    return data


def _format_values(values: Values) -> str:
    return ", ".join(map(format_value, values))


def describe_mixes(mixes: Sequence[tuple[str, Mapping[str, Any]]], labels: tuple[str, str]) -> str:
    """Return sentences on metrics whose samples are of other things in two versions; empty without any.

    Each mix, as `results.json` has it, follows the label of its metric. Metrics with the same mix are named together.
    """
    names_by_text: dict[str, list[str]] = {}
    for label, mix in mixes:
        names_by_text.setdefault(describe_mix(mix, labels), []).append(escape_text(label))
    return " ".join(f"{list_names(names, MOST_NAMES)}: {text}." for text, names in names_by_text.items())


def name_other_values(mixes: Sequence[Mapping[str, Any]], labels: tuple[str, str]) -> str:
    """Return how a headline goes on if one version has other values: `; status 503 in 1.1 only`; empty if none has."""
    texts = dict.fromkeys(_describe_values(mix, labels) for mix in mixes)
    return "".join(f"; {text}" for text in list(texts)[:1] if text)


def _describe_values(mix: Mapping[str, Any], labels: tuple[str, str]) -> str:
    """Return the values that one version only has: `name b in 1.0 only`; empty without any."""
    dimension = escape_text(" and ".join(mix["dimensions"]))
    return ", ".join(
        f"{dimension} {escape_text(list_names(values, MOST_NAMES))} in {escape_text(label)} only"
        for label, values in zip(labels, (mix["base_only"], mix["other_only"]), strict=True)
        if values
    )


def describe_mix(mix: Mapping[str, Any], labels: tuple[str, str]) -> str:
    """Return in which values of a dimension samples differ, and what is compared instead of their average.

    `name b in 1.0 only; compared over 3 common values of name, with the shares of 1.0`
    """
    dimension = escape_text(" and ".join(mix["dimensions"]))
    parts = [text for text in (_describe_values(mix, labels),) if text]
    if "shift" in mix:
        value, before, after = mix["shift"]
        parts.append(f"share of {dimension} {escape_text(value)} {100 * before:.3g} → {100 * after:.3g} %")
    compared = "not compared"
    if mix["base"] is not None:
        count = f"{mix['common']} common values of {dimension}" if mix["common"] > 1 else f"the common {dimension}"
        compared = f"compared over {count}, with the shares of {escape_text(labels[0])}"
    return f"{', '.join(parts)}; {compared}"
