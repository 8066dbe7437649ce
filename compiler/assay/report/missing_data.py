"""What of series cannot be drawn: values that are no number or infinite, and series without any value."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from assay.lang.model.article import Article
from assay.lang.model.package import Series
from assay.lang.normal_form import CheckedPackage
from assay.report.blocks import rows as asked
from assay.report.run_results import RunFigures
from assay.styles.exact_decimal import exact_text


def undrawn(
    checked: CheckedPackage,
    article: Article,
    runs: Sequence[RunFigures],
    named: Sequence[str],
    counts: Sequence[Mapping[str, int]],
) -> tuple[str, ...]:
    """A sentence for each series of a run that is not drawn as a whole; `counts` are the samples of each run by event.

    Of a series without any samples, the parts that show it say so.
    """
    shown = asked.series_of(article)
    found = [item for item in checked.package.series if item.name in shown]
    return tuple(
        f"{label}: {item.name}{said}"
        for label, run, samples in zip(named, runs, counts, strict=True)
        for item in found
        for said in describe_missing(item, run, samples)
    )


def describe_missing(item: Series, run: RunFigures, samples: Mapping[str, int]) -> Iterator[str]:
    rows = asked.rows(run, item)
    odd = [row for row in rows if not is_drawn(row)]
    if odd:
        lines = ", ".join(dict.fromkeys(" ".join(str(row[name]) for name in item.by) for row in odd))
        what = "is no number, or infinite" if len(odd) == 1 else "are no numbers, or infinite"
        yield f": {len(odd)} of {len(rows)} values {what}, and not drawn ({lines})."
    # That samples are too far apart is a warning already.
    elif (
        not rows
        and any(samples.get(sampled.event) for sampled in item.samples)
        and not any(said.startswith(f"{item.name}: ") for said in run.results.warnings)
    ):
        width = run.constants[item.window] if item.window else item.window_ns
        window = f"two samples within {exact_text(int(str(width)), 9)} s" if item.reading == "rate" else "a sample"
        yield f" has no value: no line has {window} of any step."


def is_drawn(row: asked.Row) -> bool:
    """Whether a row of a series has a value that can be drawn."""
    return math.isfinite(float(str(row["value"])))


def said_value(value: object) -> object:
    """A value as JSON has it: what is no number, or infinite, as the text by which Prometheus calls it."""
    if not isinstance(value, float) or math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
