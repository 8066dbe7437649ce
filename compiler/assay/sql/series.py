"""Compile series to SQL: samples of gauges and counters read at the steps of windows, and series of other series.

`latest` agrees with what a Prometheus server answers to a selector, `rate` with its `rate(x[window])`. See
`extrapolatedRate` in promql/functions.go of its source, and its documentation of range vectors and staleness.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction

from sqlglot import exp

from assay.lang.model.series import INCREASE, ZERO_READINGS, Sampled, Series, Term
from assay.lang.reserved_names import SERIES
from assay.lang.scopes import HOST
from assay.lang.units import VALUE
from assay.sql import dialect, series_ends
from assay.sql.dialect import build_column
from assay.sql.expressions import Names, build_literal, compile_expression
from assay.sql.grains import build_phase_condition
from assay.sql.increases import select_increases
from assay.sql.template import Slot, fill_expression, fill_query
from assay.util.time_units import SECOND

Constants = Mapping[str, object]


def join_terms(series: Series, key: Sequence[str], constants: Constants) -> list[Stage]:
    """Return the stages of a series of terms; the last has the key, the labels, `t_ns` and `value`."""
    columns = (*key, *series.by, "t_ns")
    names = [f"term_{number}" for number, _ in enumerate(series.terms, start=1)]
    stages: list[Stage] = [(name, _compile_term(term, columns)) for name, term in zip(names, series.terms, strict=True)]
    values = [exp.alias_(build_column(VALUE, name), term.name) for name, term in zip(names, series.terms, strict=True)]
    combined = fill_query("SELECT $first.$columns, $values FROM $first", first=names[0], columns=columns, values=values)
    for name in names[1:]:
        combined = combined.join(dialect.build_table(name), on=exp.and_(*_list_equalities(name, names[0], columns)))
    assert series.value is not None
    value = compile_expression(series.value, Names(constants=constants))
    result = fill_query("SELECT $columns, $value AS value FROM terms", columns=columns, value=value)
    return [*stages, ("terms", combined), ("read_1", result)]


def _compile_term(term: Term, columns: Sequence[str]) -> exp.Select:
    """Return one row for each line and step: the value of the term, or the reduction of the lines that agree."""
    if not term.over:
        return fill_query("SELECT $columns, value FROM $series", columns=columns, series=term.series)
    query = "SELECT $columns, $value AS value FROM $series GROUP BY $columns"
    return fill_query(query, columns=columns, value=_reduce_lines(term.over), series=term.series)


def _reduce_lines(reduction: str) -> exp.Expr:
    """Return one value for several lines.

    Sums add the values in ascending order, so that they do not depend on the order of rows or threads.
    """
    if reduction in ("least", "greatest"):
        return fill_expression("min(value)" if reduction == "least" else "max(value)")
    total = dialect.build_exact_sum(dialect.build_ordered_list(build_column(VALUE)))
    return total if reduction == "sum" else fill_expression("$total / count(*)", total=total)


Stage = tuple[str, exp.Query]

#: a sample is near an end of the window when it is closer than this many mean gaps
NEAR = "1.1"


def compile_series(
    series: Series, key: Sequence[str], constants: Constants, cut: bool = False, logged: Collection[str] = ()
) -> exp.Select:
    """Return the rows of a series; `key` is the key of its windows.  With `cut`, only those of a phase.

    A reading uses its whole window, even where the window begins before the phase.  The events `logged` have an order
    of records at the same instant: the last one counts.
    """
    if series.terms:
        stages = join_terms(series, key, constants)
    elif series.has_intervals:
        stages = _combine_records(series, key, constants, logged)
    else:
        stages = _read_samples(series, key, constants, logged)
    query = fill_query(
        "SELECT $columns, $value AS value FROM $readings",
        columns=(*key, *series.by, "t_ns"),
        value=_convert_to_unit(series, constants),
        readings=stages[-1][0],
    )
    if cut:
        query = query.where(build_phase_condition(build_column("t_ns")), copy=False)
    return dialect.add_stages(query, stages)


def _combine_records(series: Series, key: Sequence[str], constants: Constants, logged: Collection[str]) -> list[Stage]:
    """Return the stages of a series of intervals; the last has the values.

    An interval begins at its step and ends before the next one, or with the window; that of an increase excludes its
    begin and includes its end.  Without records, a count or sum is 0, and other readings have no value.
    """
    columns = (*key, *series.by, "t_ns")
    is_increase = series.reading == INCREASE
    records = [
        select_increases(series, sampled, _build_value(series, constants), constants, sampled.event in logged)
        if is_increase
        else _select_records(series, sampled, constants)
        for sampled in series.samples
    ]
    placed = fill_query(
        _PLACED, key=key, labels=series.by, step=_build_step(series, constants), windows=series.windows,
        since=fill_expression("($windows.from_ns + 1)" if is_increase else "$windows.from_ns", windows=series.windows),
    )  # fmt: skip
    sums = "SELECT $columns, $value AS value FROM samples_1_placed GROUP BY $columns"
    stages: list[Stage] = [
        ("samples_1", _unite(records)),
        ("samples_1_placed", placed),
        ("samples_1_sums", fill_query(sums, columns=columns, value=_combine_values(series))),
    ]
    if series.reading not in ZERO_READINGS:
        return [*stages, ("read_1", _select_intervals(series, "samples_1_sums", key, constants))]
    stages.append(("steps", _select_steps(series, key, constants)))
    if series.by:
        stages.append(("samples_1_lines", fill_query("SELECT DISTINCT $labels FROM samples_1", labels=series.by)))
        grid = fill_query(
            "SELECT steps.$key, samples_1_lines.$labels, steps.t_ns FROM steps CROSS JOIN samples_1_lines",
            key=key, labels=series.by,
        )  # fmt: skip
    else:
        grid = fill_query("SELECT $columns FROM steps", columns=columns)
    filled = """
        SELECT samples_1_grid.$columns, coalesce(samples_1_sums.value, 0::DOUBLE) AS value
        FROM samples_1_grid LEFT JOIN samples_1_sums ON $same
    """
    same = _list_equalities("samples_1_sums", "samples_1_grid", columns)
    return [
        *stages,
        ("samples_1_grid", grid),
        ("samples_1_filled", fill_query(filled, columns=columns, same=same)),
        ("read_1", _select_intervals(series, "samples_1_filled", key, constants)),
    ]


#: the records of each window, with the step at which their interval begins
_PLACED = """
    SELECT $windows.$key, samples_1.$labels,
      $windows.from_ns + ((samples_1.t_ns - $since) // $step) * $step AS t_ns, samples_1.value
    FROM samples_1 JOIN $windows ON samples_1.t_ns BETWEEN $since AND $windows.to_ns
"""


def _select_records(series: Series, sampled: Sampled, constants: Constants) -> exp.Select:
    """Select the labels, instants and values of records; the value of a record that is only counted is 1."""
    value = exp.Literal.number(1) if series.reading == "count" else _build_value(series, constants)
    query = fill_query(
        "SELECT $labels, t_ns, $value::DOUBLE AS value FROM $event",
        labels=series.by, value=value, event=sampled.event,
    )  # fmt: skip
    return series_ends.filter_rows(query, sampled.where, constants)


def _combine_values(series: Series) -> exp.Expr:
    """Return the value of several records.  The order of records does not affect it."""
    if series.reading == "count":
        return fill_expression("count(*)::DOUBLE")
    if series.reading == "mean":  # not of records without a value
        return fill_expression("$total / count(value)", total=_reduce_lines("sum"))
    return _reduce_lines("sum" if series.reading == INCREASE else series.reading)


def _select_intervals(series: Series, source: str, key: Sequence[str], constants: Constants) -> exp.Select:
    """Select the values that are not null; rates and with `covered`, only of intervals that the window does not cut."""
    columns = (*key, *series.by, "t_ns")
    query = fill_query("SELECT $columns, value FROM $source WHERE NOT value IS NULL", columns=columns, source=source)
    if series.covered or series.per_second:
        name = series.windows
        end = fill_query(
            "SELECT 1 FROM $windows WHERE $same AND $source.t_ns + $step - 1 <= $windows.to_ns",
            windows=name, source=source, same=_list_equalities(name, source, key), step=_build_step(series, constants),
        )  # fmt: skip
        query = query.where(exp.Exists(this=end), copy=False)
    return query


def _build_value(series: Series, constants: Constants) -> exp.Expr:
    """Return what a record contributes."""
    if series.value is None:
        return build_column(VALUE)
    return exp.Paren(this=compile_expression(series.value, Names(constants=constants)))


def _build_step(series: Series, constants: Constants) -> exp.Expr:
    """Return the distance between steps in ns: a number, or a constant of the run."""
    return build_literal(constants[series.every]) if series.every else dialect.build_integer(series.every_ns)


def _read_samples(
    series: Series, key: Sequence[str], constants: Constants, logged: Collection[str] = ()
) -> list[Stage]:
    """Return the stages of a series of samples; the last has the values."""
    columns = (*key, *series.by, "t_ns")
    stages: list[Stage] = [("steps", _select_steps(series, key, constants))]
    for number, sampled in enumerate(series.samples, start=1):
        samples, read = f"samples_{number}", f"read_{number}"
        order = () if sampled.event in logged else None
        stages.append((samples, _select_samples(series, sampled, constants, order=order)))
        compile_reading = _compile_rate if series.reading == "rate" else _compile_latest
        stages += compile_reading(series, key, samples, read, constants)
    preferred = "read_1"
    for number in range(1, len(series.samples)):
        stages.append((f"known_{number}", _fill_gaps(preferred, f"read_{number + 1}", columns)))
        preferred = f"known_{number}"
    return stages


def _build_window(series: Series, constants: Constants) -> exp.Expr:
    """Return the window of a reading in ns: a number, or a constant of the run."""
    return build_literal(constants[series.window]) if series.window else dialect.build_integer(series.window_ns)


def _build_window_seconds(series: Series, constants: Constants) -> exp.Expr:
    """Return the window of a reading in seconds, as a double."""
    if not series.window:
        return dialect.build_real(f"{series.window_ns / SECOND}")
    return fill_expression("($window::DOUBLE / 1000000000)", window=_build_window(series, constants))


def _convert_to_unit(series: Series, constants: Constants) -> exp.Expr:
    """Return the value in the unit of the series."""
    factor = Fraction(series.factor)
    value: exp.Expr = build_column("value")
    if series.per_second:
        value = fill_expression("value / ($step::DOUBLE / 1000000000)", step=_build_step(series, constants))
    if factor.numerator != 1:
        value = exp.Mul(this=value, expression=dialect.build_integer(factor.numerator))
    return (
        value if factor.denominator == 1 else exp.Div(this=value, expression=dialect.build_integer(factor.denominator))
    )


def select_sparse_lines(series: Series, constants: Constants) -> exp.Select:
    """Select the lines of a rate whose samples have a median gap longer than the window: they have no values.

    Columns: `line` (the labels), `interval` and `window` in seconds.
    """
    stages = _unite_samples(
        "SELECT $labels, t_ns - lag(t_ns) OVER (PARTITION BY $labels ORDER BY t_ns) AS gap FROM $samples",
        ("gaps", series, constants),
    )
    query = fill_query(
        """
        SELECT concat_ws(', ', $labels) AS line, median(gap) / 1000000000 AS interval, $seconds AS "window"
        FROM gaps GROUP BY $labels HAVING median(gap) > $window ORDER BY $labels
        """,
        labels=series.by,
        seconds=_build_window_seconds(series, constants),
        window=_build_window(series, constants),
    )
    return dialect.add_stages(query, stages)


def select_negative_lines(series: Series) -> exp.Select:
    """Select the lines of a rate that have values below 0.  Columns: `line` (the labels), `steps` (a count)."""
    return fill_query(
        """
        SELECT concat_ws(', ', $labels) AS line, count(*) AS steps
        FROM $series WHERE value < 0 GROUP BY $labels ORDER BY $labels
        """,
        labels=series.by,
        series=series.name,
    )


def select_ambiguous_lines(series: Series, constants: Constants, logged: Collection[str] = ()) -> exp.Select:
    """Select the lines that combine several series with samples at the same instant: the choice would be arbitrary.

    Columns: `line` (the labels), `values` (the most at one instant).  Of the events `logged`, records of one host have
    an order.
    """
    # `count(value)` skips null, which ends a line: another series may begin at that instant.
    stages = _unite_samples(
        """
        SELECT $labels, t_ns, count(value) AS number
        FROM $samples GROUP BY $labels, t_ns HAVING count(value) > 1
        """,
        ("crowded", series, constants),
        logged,
    )
    query = """
        SELECT concat_ws(', ', $labels) AS line, max(number) AS values
        FROM crowded GROUP BY $labels ORDER BY $labels
    """
    return dialect.add_stages(fill_query(query, labels=series.by), stages)


def _unite_samples(template: str, stage: tuple[str, Series, Constants], logged: Collection[str] = ()) -> list[Stage]:
    """Return a stage for the samples of each event, and a last stage: the union of the template over each of them.

    Of several records of a host at one instant, only the last is a sample of an event in `logged`.
    """
    name, series, constants = stage
    stages: list[Stage] = []
    queries: list[exp.Query] = []
    for number, sampled in enumerate(series.samples, start=1):
        order = (HOST,) if sampled.event in logged else None
        stages.append((f"samples_{number}", _select_samples(series, sampled, constants, order=order)))
        queries.append(fill_query(template, labels=series.by, samples=f"samples_{number}"))
    return [*stages, (name, _unite(queries))]


def _unite(queries: Sequence[exp.Query]) -> exp.Query:
    return functools.reduce(lambda left, right: exp.Union(this=left, expression=right, distinct=False), queries)


def select_interleaved_lines(series: Series, constants: Constants) -> exp.Select:
    """Select the lines that combine several series at different instants: one begins before another has ended.

    Column: `line` (the labels).  Event tables number the series of each sample.
    """
    stages: list[Stage] = []
    overlaps: list[exp.Query] = []
    labels = {"labels": series.by, "number": SERIES}
    for number, sampled in enumerate(series.samples, start=1):
        samples, spans = f"samples_{number}", f"samples_{number}_spans"
        edges = """
            SELECT $labels, $number, min(t_ns) AS first_ns, max(t_ns) AS last_ns
            FROM $samples WHERE NOT value IS NULL GROUP BY $labels, $number
        """
        reached = """
            SELECT $labels, first_ns, max(last_ns) OVER (
              PARTITION BY $labels ORDER BY first_ns, $number ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) AS reached
            FROM $spans
        """
        stages.append((samples, _select_samples(series, sampled, constants, (SERIES,))))
        stages.append((spans, fill_query(edges, samples=samples, **labels)))
        overlaps.append(fill_query(reached, spans=spans, **labels))
    stages.append(("met", _unite(overlaps)))
    query = """
        SELECT concat_ws(', ', $labels) AS line
        FROM met WHERE reached >= first_ns GROUP BY $labels ORDER BY $labels
    """
    return dialect.add_stages(fill_query(query, labels=series.by), stages)


def _select_steps(series: Series, key: Sequence[str], constants: Constants) -> exp.Select:
    """Return the instants of each window at which the series is read."""
    query = "SELECT $key, unnest(range(from_ns, to_ns + 1, $step)) AS t_ns FROM $windows"
    return fill_query(query, key=key, step=_build_step(series, constants), windows=series.windows)


def _select_samples(
    series: Series,
    sampled: Sampled,
    constants: Constants,
    further_columns: Sequence[str] = (),
    order: Sequence[str] | None = None,
) -> exp.Select:
    """Select samples.  With `order`, only the last record at an instant, for each value of these columns."""
    columns = (*series.by, *further_columns, "t_ns")
    value = _build_value(series, constants)
    selected = value if series.value is None else exp.alias_(value, VALUE)
    query = fill_query("SELECT $columns, $value FROM $event", columns=columns, value=selected, event=sampled.event)
    # A sample without a value marks the end of a line; a counter continues from its last value.
    if series.reading == "rate":
        query = query.where(fill_expression("NOT $value IS NULL", value=value.copy()), copy=False)
    if order is not None:
        last = "row_number() OVER (PARTITION BY $columns, t_ns ORDER BY seq DESC) = 1"
        columns = tuple(dict.fromkeys((*series.by, *order)))
        query.set("qualify", exp.Qualify(this=fill_expression(last, columns=columns)))
    return series_ends.filter_rows(query, sampled.where, constants)


def _compile_latest(
    series: Series, key: Sequence[str], samples: str, read: str, constants: Constants
) -> Iterable[Stage]:
    """Select the last sample at or before each step, if it is inside the window.

    A line has no value after a sample that marks its end, or after the event that ends it (`gone`).
    """
    lines, grid, newest = f"{samples}_lines", f"{samples}_grid", f"{samples}_latest"
    slots: Mapping[str, Slot] = {"key": key, "labels": series.by}
    yield lines, fill_query("SELECT DISTINCT $labels FROM $samples", labels=series.by, samples=samples)
    combinations = "SELECT steps.$key, steps.t_ns, $lines.$labels FROM steps CROSS JOIN $lines"
    yield grid, fill_query(combinations, lines=lines, **slots)
    latest = """
        SELECT $grid.$key, $grid.$labels, $grid.t_ns, $samples.t_ns AS sampled_ns, $samples.value
        FROM $grid ASOF JOIN $samples ON $same AND $samples.t_ns <= $grid.t_ns
    """
    same = _list_equalities(samples, grid, series.by)
    yield newest, fill_query(latest, grid=grid, samples=samples, same=same, **slots)
    query = """
        SELECT $key, $labels, t_ns, value
        FROM $newest WHERE sampled_ns >= t_ns - $window AND NOT value IS NULL
    """
    source = newest
    if series.gone:
        yield from series_ends.compile_ends(series, key, series.gone, newest, constants)
        source = f"{newest}_ended"
        query += " AND (ended IS NULL OR ended <= sampled_ns)"
    yield read, fill_query(query, newest=source, window=_build_window(series, constants), **slots)


def _compile_rate(series: Series, key: Sequence[str], samples: str, read: str, constants: Constants) -> Iterable[Stage]:
    """Return the increase per second over the window before each step: resets undone, ends extrapolated."""
    before, inside, sums, spans, ends = (f"{samples}_{part}" for part in ("before", "inside", "sums", "spans", "ends"))
    slots: dict[str, Slot] = {"key": key, "labels": series.by}
    window = _build_window(series, constants)
    previous = """
        SELECT $labels, t_ns, value, lag(value) OVER (PARTITION BY $labels ORDER BY t_ns) AS before FROM $samples
    """
    yield before, fill_query(previous, labels=series.by, samples=samples)
    yield inside, fill_query(_WINDOW_SAMPLES, before=before, window=window, **slots)
    yield sums, fill_query(_WINDOW_SUMS, inside=inside, **slots)
    yield spans, fill_query(_SPANS, sums=sums, window=window, **slots)
    extrapolated = _EXTRAPOLATED + _COVERED if series.covered else _EXTRAPOLATED
    yield ends, fill_query(extrapolated, spans=spans, near=dialect.build_real(NEAR), **slots)
    rate = """
        SELECT $key, $labels, t_ns, (increase * ((span + head + tail) / span)) / $seconds AS value FROM $ends
    """
    yield read, fill_query(rate, ends=ends, seconds=_build_window_seconds(series, constants), **slots)


#: The samples of each step's window, both ends included.  `reset` is the value before a drop, if that sample is in the
#: window, too.  NaN is no drop: the engine sorts it above all numbers.
_WINDOW_SAMPLES = """
    SELECT steps.$key, $before.$labels, steps.t_ns AS step, $before.t_ns AS t_ns, $before.value,
      CASE WHEN ($before.value < $before.before AND NOT isnan($before.before))
        AND lag($before.t_ns) OVER (PARTITION BY steps.$key, steps.t_ns, $before.$labels ORDER BY $before.t_ns)
          >= steps.t_ns - $window
        THEN $before.before END AS reset
    FROM $before JOIN steps ON $before.t_ns BETWEEN steps.t_ns - $window AND steps.t_ns
"""

#: `fsum` is a compensated sum, which would turn infinity into NaN: an infinite reset is selected by itself.
_WINDOW_SUMS = """
    SELECT $key, $labels, step AS t_ns, count(*) AS samples, min(t_ns) AS first_ns, max(t_ns) AS last_ns,
      arg_min(value, t_ns) AS first_value, arg_max(value, t_ns) AS last_value,
      coalesce(
        max(CASE WHEN isinf(reset) THEN reset END),
        fsum(reset ORDER BY t_ns) FILTER (WHERE NOT reset IS NULL),
        0::DOUBLE
      ) AS resets
    FROM $inside GROUP BY $key, $labels, step
"""

#: The windows with at least two samples: the increase, the ns from first to last sample, the mean gap, and the ns to
#: both ends of the window.
_SPANS = """
    SELECT $key, $labels, t_ns, first_value, last_value - first_value + resets AS increase,
      (last_ns - first_ns)::DOUBLE AS span, (last_ns - first_ns)::DOUBLE / (samples - 1) AS gap,
      (first_ns - (t_ns - $window))::DOUBLE AS lead, (t_ns - last_ns)::DOUBLE AS trail
    FROM $sums WHERE samples >= 2
"""

#: How far the increase is extrapolated at both ends: to the window's end when a sample is near it, else by half the
#: mean gap; at the start, at most to where the counter was 0.
_EXTRAPOLATED = """
    SELECT $key, $labels, t_ns, increase, span,
      CASE WHEN CASE WHEN increase > 0 AND first_value >= 0
          THEN least(lead, span * (first_value / increase)) ELSE lead END < gap * $near
        THEN CASE WHEN increase > 0 AND first_value >= 0
          THEN least(lead, span * (first_value / increase)) ELSE lead END
        ELSE gap / 2 END AS head,
      CASE WHEN trail < gap * $near THEN trail ELSE gap / 2 END AS tail
    FROM $spans
"""

#: A series may require `covered` windows, whose samples reach both ends.  In other windows the extrapolation leaves
#: out the rest of the window, so that the rate is too low.
_COVERED = " WHERE lead < gap * $near AND trail < gap * $near"


def _fill_gaps(preferred: str, name: str, columns: Sequence[str]) -> exp.Select:
    """Return the rows of `preferred`, and those of another reading for keys that it lacks."""
    query = """
        SELECT $columns, value FROM (
          SELECT $columns, value FROM $preferred
          UNION ALL
          SELECT $other.$columns, $other.value FROM $other ANTI JOIN $preferred ON $same
        ) AS both
    """
    same = _list_equalities(preferred, name, columns)
    return fill_query(query, columns=columns, preferred=preferred, other=name, same=same)


def _list_equalities(left: str, right: str, names: Iterable[str]) -> list[exp.Expr]:
    return [exp.EQ(this=build_column(name, left), expression=build_column(name, right)) for name in names]
