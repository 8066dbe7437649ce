"""Compile series to SQL: samples of gauges and counters read at the steps of windows, and series of other series.

`latest` agrees with what a Prometheus server answers to a selector, `rate` with its `rate(x[window])`. See
`extrapolatedRate` in promql/functions.go of its source, and its documentation of range vectors and staleness.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from sqlglot import exp

from assay.lang.model.package import Sampled, Series, Term
from assay.lang.reserved_names import SERIES
from assay.sql import dialect, series_ends
from assay.sql.dialect import column
from assay.sql.expressions import Names, compile_expression, literal
from assay.sql.grains import within

Constants = Mapping[str, object]
VALUE = "value"


def joined(series: Series, key: Sequence[str], constants: Constants) -> list[tuple[str, exp.Query]]:
    """Return the stages of a series of terms; the last has the key, the labels, `t_ns` and `value`."""
    columns = (*key, *series.by, "t_ns")
    stages: list[tuple[str, exp.Query]] = [
        (f"term_{number}", _compile_term(term, columns)) for number, term in enumerate(series.terms, start=1)
    ]
    names = [name for name, _ in stages]
    values = [exp.alias_(column(VALUE, name), term.name) for name, term in zip(names, series.terms, strict=True)]
    combined = dialect.select(*(column(name, names[0]) for name in columns), *values).from_(dialect.table(names[0]))
    for name in names[1:]:
        on = exp.and_(*(exp.EQ(this=column(item, name), expression=column(item, names[0])) for item in columns))
        combined = combined.join(dialect.table(name), on=on)
    assert series.value is not None
    value = compile_expression(series.value, Names(constants=constants))
    result = dialect.select(*columns, exp.alias_(value, VALUE)).from_(dialect.table("terms"))
    return [*stages, ("terms", combined), ("read_1", result)]


def _compile_term(term: Term, columns: Sequence[str]) -> exp.Select:
    """Return one row for each line and step: the value of the term, or the reduction of the lines that agree."""
    if not term.over:
        return dialect.select(*columns, VALUE).from_(dialect.table(term.series))
    query = dialect.select(*columns, exp.alias_(_reduce_lines(term.over), VALUE)).from_(dialect.table(term.series))
    return query.group_by(*(column(name) for name in columns))


def _reduce_lines(over: str) -> exp.Expr:
    """Return one value for several lines.

    Sums add the values in ascending order, so that they depend on no order of rows or threads.
    """
    aggregate = {"least": exp.Min, "greatest": exp.Max}.get(over)
    if aggregate:
        return aggregate(this=column(VALUE))
    total = dialect.exact_sum(dialect.ordered_list(column(VALUE)))
    return total if over == "sum" else exp.Div(this=total, expression=exp.Count(this=exp.Star()))


Stage = tuple[str, exp.Query]

SECOND = 1_000_000_000
#: the increase is extrapolated to an end of the window when the nearest sample is closer than this many mean gaps
NEAR = "1.1"


def table(series: Series, key: Sequence[str], constants: Constants, cut: bool = False) -> exp.Select:
    """Return the rows of a series; `key` is the key of its windows.  With `cut`, only those of a phase.

    A reading uses its whole window, even where the window begins before the phase.
    """
    columns = (*key, *series.by, "t_ns")
    stages = joined(series, key, constants) if series.terms else _read_samples(series, key, constants)
    query = dialect.select(*columns, exp.alias_(_convert_to_unit(series), "value")).from_(dialect.table(stages[-1][0]))
    if cut:
        query = query.where(within(column("t_ns")), copy=False)
    return dialect.staged(query, stages)


def _read_samples(series: Series, key: Sequence[str], constants: Constants) -> list[Stage]:
    """Return the stages of a series of samples; the last has the values."""
    columns = (*key, *series.by, "t_ns")
    stages: list[Stage] = [("steps", _select_steps(series, key, constants))]
    readings: list[str] = []
    for number, sampled in enumerate(series.samples, start=1):
        stages += _compile_reading(series, key, sampled, number, constants)
        readings.append(f"read_{number}")
    for number, name in enumerate(readings[1:], start=1):
        stages.append((f"known_{number}", _fill_gaps(readings[0], name, (*columns, "value"))))
        readings[0] = f"known_{number}"
    return stages


def _window(series: Series, constants: Constants) -> exp.Expr:
    """Return the window of a reading in ns: a number, or a constant of the run."""
    return literal(constants[series.window]) if series.window else dialect.integer(series.window_ns)


def _window_seconds(series: Series, constants: Constants) -> exp.Expr:
    """Return the window of a reading in seconds, as a double."""
    if not series.window:
        return dialect.real(f"{series.window_ns / SECOND}")
    return exp.paren(exp.Div(this=dialect.cast(_window(series, constants), "real"), expression=dialect.integer(SECOND)))


def _convert_to_unit(series: Series) -> exp.Expr:
    """Return the value in the unit of the series."""
    factor = Fraction(series.factor)
    value: exp.Expr = column("value")
    if factor.numerator != 1:
        value = exp.Mul(this=value, expression=dialect.integer(factor.numerator))
    return value if factor.denominator == 1 else exp.Div(this=value, expression=dialect.integer(factor.denominator))


def sparse(series: Series, constants: Constants) -> exp.Select:
    """Select the lines of a rate whose samples have a median gap longer than the window: they have no values.

    Columns: `line` (the labels), `interval` and `window` in seconds.
    """
    stages: list[Stage] = []
    all_gaps: exp.Query | None = None
    for number, sampled in enumerate(series.samples, start=1):
        stages.append((f"samples_{number}", _select_samples(series, sampled, constants)))
        lag = exp.Window(
            this=_call_function("lag", column("t_ns")), partition_by=_list_columns(series.by), order=_order_by_time()
        )
        gap = exp.alias_(exp.Sub(this=column("t_ns"), expression=lag), "gap")
        gaps = dialect.select(*series.by, gap).from_(dialect.table(f"samples_{number}"))
        all_gaps = gaps if all_gaps is None else exp.Union(this=all_gaps, expression=gaps, distinct=False)
    assert all_gaps is not None
    stages.append(("gaps", all_gaps))
    median = _call_function("median", column("gap"))
    seconds = exp.Div(this=median, expression=dialect.integer(SECOND))
    query = dialect.select(
        exp.alias_(_join_labels(series), "line"),
        exp.alias_(seconds, "interval"),
        exp.alias_(_window_seconds(series, constants), "window"),
    ).from_(dialect.table("gaps"))
    query = query.group_by(*_list_columns(series.by))
    query = query.having(exp.GT(this=median.copy(), expression=_window(series, constants)))
    return dialect.staged(query.order_by(*_list_columns(series.by)), stages)


def negative(series: Series) -> exp.Select:
    """Select the lines of a rate that have values below 0.  Columns: `line` (the labels), `steps` (a count)."""
    line = exp.alias_(_join_labels(series), "line")
    query = dialect.select(line, exp.alias_(exp.Count(this=exp.Star()), "steps")).from_(dialect.table(series.name))
    query = query.where(exp.LT(this=column("value"), expression=dialect.integer(0)), copy=False)
    return query.group_by(*_list_columns(series.by)).order_by(*_list_columns(series.by))


def ambiguous(series: Series, constants: Constants) -> exp.Select:
    """Select the lines that combine several series with samples at the same instant: the choice would be arbitrary.

    Columns: `line` (the labels), `values` (the most at one instant).
    """
    stages: list[Stage] = []
    crowded: exp.Query | None = None
    columns = (*series.by, "t_ns")
    for number, sampled in enumerate(series.samples, start=1):
        stages.append((f"samples_{number}", _select_samples(series, sampled, constants)))
        values = exp.Count(
            this=column("value")
        )  # not null, which ends a line: another series may begin at that instant
        query = dialect.select(*columns, exp.alias_(values, "number")).from_(dialect.table(f"samples_{number}"))
        query = query.group_by(*_list_columns(columns))
        query = query.having(exp.GT(this=values.copy(), expression=dialect.integer(1)))
        crowded = query if crowded is None else exp.Union(this=crowded, expression=query, distinct=False)
    assert crowded is not None
    stages.append(("crowded", crowded))
    most = exp.alias_(exp.Max(this=column("number")), "values")
    query = dialect.select(exp.alias_(_join_labels(series), "line"), most).from_(dialect.table("crowded"))
    query = query.group_by(*_list_columns(series.by)).order_by(*_list_columns(series.by))
    return dialect.staged(query, stages)


def interleaved(series: Series, constants: Constants) -> exp.Select:
    """Select the lines that combine several series at different instants: one begins before another has ended.

    Column: `line` (the labels).  Event tables number the series of each sample.
    """
    stages: list[Stage] = []
    overlaps: exp.Query | None = None
    for number, sampled in enumerate(series.samples, start=1):
        samples, spans = f"samples_{number}", f"samples_{number}_spans"
        columns = (*series.by, SERIES)
        stages.append((samples, _select_samples(series, sampled, constants, (SERIES,))))
        edges = {"first_ns": exp.Min(this=column("t_ns")), "last_ns": exp.Max(this=column("t_ns"))}
        query = dialect.select(*columns, *(exp.alias_(value, name) for name, value in edges.items()))
        query = query.from_(dialect.table(samples)).where(is_present(column("value")), copy=False)
        stages.append((spans, query.group_by(*_list_columns(columns))))
        query = dialect.select(*series.by, "first_ns", exp.alias_(_find_latest_end(series), "reached"))
        query = query.from_(dialect.table(spans))
        overlaps = query if overlaps is None else exp.Union(this=overlaps, expression=query, distinct=False)
    assert overlaps is not None
    stages.append(("met", overlaps))
    query = dialect.select(exp.alias_(_join_labels(series), "line")).from_(dialect.table("met"))
    query = query.where(exp.GTE(this=column("reached"), expression=column("first_ns")), copy=False)
    return dialect.staged(query.group_by(*_list_columns(series.by)).order_by(*_list_columns(series.by)), stages)


def _find_latest_end(series: Series) -> exp.Expr:
    """Return the latest end of the series of a line that begin before this one."""
    order = exp.Order(expressions=[exp.Ordered(this=column(name)) for name in ("first_ns", SERIES)])
    before = exp.WindowSpec(
        kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", end=dialect.integer(1), end_side="PRECEDING"
    )
    last = exp.Max(this=column("last_ns"))
    return exp.Window(this=last, partition_by=_list_columns(series.by), order=order, spec=before)


def _join_labels(series: Series) -> exp.Expr:
    """Return the labels of a line as one text."""
    return _call_function("concat_ws", exp.Literal.string(", "), *_list_columns(series.by))


def _select_steps(series: Series, key: Sequence[str], constants: Constants) -> exp.Select:
    """Return the instants of each window at which the series is read."""
    end = exp.Add(this=column("to_ns"), expression=dialect.integer(1))
    step_ns = literal(constants[series.every]) if series.every else dialect.integer(series.every_ns)
    steps = _call_function("unnest", _call_function("range", column("from_ns"), end, step_ns))
    return dialect.select(*key, exp.alias_(steps, "t_ns")).from_(dialect.table(series.windows))


def _compile_reading(
    series: Series, key: Sequence[str], sampled: Sampled, number: int, constants: Constants
) -> Iterable[Stage]:
    samples, read = f"samples_{number}", f"read_{number}"
    yield samples, _select_samples(series, sampled, constants)
    if series.reading == "rate":
        yield from _compile_rate(series, key, samples, read, constants)
    else:
        yield from _compile_latest(series, key, samples, read, constants)


def _select_samples(
    series: Series, sampled: Sampled, constants: Constants, further_columns: Sequence[str] = ()
) -> exp.Select:
    query = dialect.select(*series.by, *further_columns, "t_ns", "value").from_(dialect.table(sampled.event))
    # A sample without a value marks the end of a line; a counter continues from its last value.
    if series.reading == "rate":
        query = query.where(is_present(column("value")), copy=False)
    return series_ends.narrowed(query, sampled.where, constants)


def _compile_latest(
    series: Series, key: Sequence[str], samples: str, read: str, constants: Constants
) -> Iterable[Stage]:
    """Select the last sample at or before each step that is inside of the window.

    A line has no value after a sample that marks its end, or after the event that ends it (`gone`).
    """
    lines, grid, newest = f"{samples}_lines", f"{samples}_grid", f"{samples}_told"
    yield lines, dialect.select(*series.by).from_(dialect.table(samples)).distinct()
    combinations = dialect.select(*select_columns("steps", (*key, "t_ns")), *select_columns(lines, series.by)).from_(
        dialect.table("steps")
    )
    yield grid, combinations.join(dialect.table(lines), join_type="cross")
    on = exp.and_(*_list_equalities(samples, grid, series.by), _is_at_most(samples, grid))
    latest = dialect.select(
        *select_columns(grid, (*key, *series.by, "t_ns")),
        exp.alias_(column("t_ns", samples), "told"),
        column("value", samples),
    ).from_(dialect.table(grid))
    latest.append("joins", exp.Join(this=dialect.table(samples), method="ASOF", on=on))
    yield newest, latest
    from_ns = exp.Sub(this=column("t_ns"), expression=_window(series, constants))
    recent = exp.GTE(this=column("told"), expression=from_ns)
    source = newest
    conditions: list[exp.Expr] = [recent, is_present(column("value"))]
    if series.gone:
        yield from series_ends.ended(series, key, series.gone, newest, constants)
        source = f"{newest}_ended"
        ended = column("ended")
        conditions.append(exp.paren(exp.or_(_is_null(ended), exp.LTE(this=ended.copy(), expression=column("told")))))
    columns = (*key, *series.by, "t_ns", "value")
    yield read, dialect.select(*columns).from_(dialect.table(source)).where(*conditions, copy=False)


def _compile_rate(series: Series, key: Sequence[str], samples: str, read: str, constants: Constants) -> Iterable[Stage]:
    """Return the increase per second over the window before each step: resets undone, ends extrapolated."""
    before, inside, sums, spans, ends = (f"{samples}_{part}" for part in ("before", "inside", "sums", "spans", "ends"))
    lag = exp.Window(
        this=_call_function("lag", column("value")), partition_by=_list_columns(series.by), order=_order_by_time()
    )
    yield before, dialect.select(*series.by, "t_ns", "value", exp.alias_(lag, "before")).from_(dialect.table(samples))
    yield inside, _select_window_samples(series, key, before, constants)
    yield sums, _sum_window(series, key, inside)
    yield spans, _measure_spans(series, key, sums, constants)
    yield ends, _extrapolate_ends(series, key, spans)
    extended = _add(column("span"), column("head"), column("tail"))
    seconds = _window_seconds(series, constants)
    growth = exp.Mul(
        this=column("increase"), expression=exp.paren(exp.Div(this=exp.paren(extended), expression=column("span")))
    )
    value = exp.Div(this=exp.paren(growth), expression=seconds)
    columns = (*key, *series.by, "t_ns")
    yield read, dialect.select(*columns, exp.alias_(value, "value")).from_(dialect.table(ends))


def _select_window_samples(series: Series, key: Sequence[str], before: str, constants: Constants) -> exp.Select:
    """Select the samples of each step's window, both ends included.

    `reset` is the value before a drop, if that sample is in the window, too.  NaN is no drop: the engine sorts it above
    all numbers.
    """
    from_ns = exp.Sub(this=column("t_ns", "steps"), expression=_window(series, constants))
    within = exp.Between(this=column("t_ns", before), low=from_ns, high=column("t_ns", "steps"))
    is_lower = exp.LT(this=column("value", before), expression=column("before", before))
    is_reset = exp.and_(is_lower, exp.Not(this=_call_function("isnan", column("before", before))))
    is_in_window = exp.GTE(this=_find_previous_instant(series, key, before), expression=from_ns.copy())
    reset = exp.Case(ifs=[exp.If(this=exp.and_(is_reset, is_in_window), true=column("before", before))])
    query = dialect.select(
        *select_columns("steps", key),
        *select_columns(before, series.by),
        exp.alias_(column("t_ns", "steps"), "step"),
        exp.alias_(column("t_ns", before), "t_ns"),
        column("value", before),
        exp.alias_(reset, "reset"),
    ).from_(dialect.table(before))
    return query.join(dialect.table("steps"), on=within)


def _find_previous_instant(series: Series, key: Sequence[str], before: str) -> exp.Expr:
    """Return the instant of the previous sample in the window of a step."""
    partition = [*select_columns("steps", (*key, "t_ns")), *select_columns(before, series.by)]
    order = exp.Order(expressions=[exp.Ordered(this=column("t_ns", before))])
    return exp.Window(this=_call_function("lag", column("t_ns", before)), partition_by=partition, order=order)


def _sum_window(series: Series, key: Sequence[str], inside: str) -> exp.Select:
    columns = (*key, *series.by)
    # A compensated sum would turn infinity into NaN.
    infinite = exp.Case(ifs=[exp.If(this=_call_function("isinf", column("reset")), true=column("reset"))])
    by_time = exp.Order(this=column("reset"), expressions=[exp.Ordered(this=column("t_ns"))])
    finite_sum = exp.Filter(
        this=_call_function("fsum", by_time), expression=exp.Where(this=is_present(column("reset")))
    )
    summed = [finite_sum, dialect.real("0")]
    resets = exp.Coalesce(this=exp.Max(this=infinite), expressions=summed)
    values = {
        "samples": exp.Count(this=exp.Star()),
        "first_ns": exp.Min(this=column("t_ns")),
        "last_ns": exp.Max(this=column("t_ns")),
        "first_value": _call_function("arg_min", column("value"), column("t_ns")),
        "last_value": _call_function("arg_max", column("value"), column("t_ns")),
        "resets": resets,
    }
    outputs = [exp.alias_(value, name) for name, value in values.items()]
    query = dialect.select(*columns, exp.alias_(column("step"), "t_ns"), *outputs).from_(dialect.table(inside))
    return query.group_by(*_list_columns((*columns, "step")))


def _measure_spans(series: Series, key: Sequence[str], sums: str, constants: Constants) -> exp.Select:
    """Measure the windows that have two samples at least.

    Columns: the increase, the ns from first to last sample, the mean gap, the ns to both ends of the window.
    """
    span = dialect.cast(exp.paren(exp.Sub(this=column("last_ns"), expression=column("first_ns"))), "real")
    start = exp.Sub(this=column("t_ns"), expression=_window(series, constants))
    gaps = exp.paren(exp.Sub(this=column("samples"), expression=dialect.integer(1)))
    values = {
        "increase": _add(exp.Sub(this=column("last_value"), expression=column("first_value")), column("resets")),
        "span": span,
        "gap": exp.Div(this=span.copy(), expression=gaps),
        "lead": dialect.cast(exp.paren(exp.Sub(this=column("first_ns"), expression=exp.paren(start))), "real"),
        "trail": dialect.cast(exp.paren(exp.Sub(this=column("t_ns"), expression=column("last_ns"))), "real"),
    }
    outputs = [exp.alias_(value, name) for name, value in values.items()]
    has_two_samples = exp.GTE(this=column("samples"), expression=dialect.integer(2))
    columns = (*key, *series.by, "t_ns", "first_value")
    return dialect.select(*columns, *outputs).from_(dialect.table(sums)).where(has_two_samples, copy=False)


def _extrapolate_ends(series: Series, key: Sequence[str], spans: str) -> exp.Select:
    """Return how far the increase is extrapolated at both ends; at the start, at most to where the counter was 0.

    A series may require `covered` windows: samples that reach both ends.  In other windows the extrapolation leaves out
    the rest of the window, so that the rate is too low.
    """
    grows = exp.and_(
        exp.GT(this=column("increase"), expression=dialect.integer(0)),
        exp.GTE(this=column("first_value"), expression=dialect.integer(0)),
    )
    share = exp.paren(exp.Div(this=column("first_value"), expression=column("increase")))
    to_zero = exp.Mul(this=column("span"), expression=share)
    least = exp.Case(
        ifs=[exp.If(this=grows, true=_call_function("least", column("lead"), to_zero))], default=column("lead")
    )
    head, tail = (exp.alias_(_extend(value), name) for value, name in ((least, "head"), (column("trail"), "tail")))
    query = dialect.select(*key, *series.by, "t_ns", "increase", "span", head, tail).from_(dialect.table(spans))
    return query.where(_is_near(column("lead")), _is_near(column("trail")), copy=False) if series.covered else query


def _extend(distance: exp.Expr) -> exp.Expr:
    """Return the distance to the window's end when a sample is near it, else half the mean gap of samples."""
    half = exp.Div(this=column("gap"), expression=dialect.integer(2))
    return exp.Case(ifs=[exp.If(this=_is_near(distance), true=distance.copy())], default=half)


def _is_near(distance: exp.Expr) -> exp.Expr:
    """Return the condition that a sample is near the window's end."""
    return exp.LT(this=distance, expression=exp.Mul(this=column("gap"), expression=dialect.real(NEAR)))


def _fill_gaps(preferred: str, name: str, columns: Sequence[str]) -> exp.Select:
    """Return the rows of `preferred`, and those of another reading for keys that it lacks."""
    labels = columns[:-1]
    query = dialect.select(*select_columns(name, columns)).from_(dialect.table(name))
    on = exp.and_(*_list_equalities(preferred, name, labels))
    query.append("joins", exp.Join(this=dialect.table(preferred), kind="ANTI", on=on))
    both = exp.Union(this=dialect.select(*columns).from_(dialect.table(preferred)), expression=query, distinct=False)
    return dialect.select(*columns).from_(exp.Subquery(this=both, alias=exp.TableAlias(this=exp.to_identifier("both"))))


def _call_function(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=list(arguments))


def _list_columns(names: Iterable[str]) -> list[exp.Expr]:
    return [column(name) for name in names]


def select_columns(source: str, names: Iterable[str]) -> list[exp.Expr]:
    """Return columns of a table or stage."""
    return [column(name, source) for name in names]


def _list_equalities(left: str, right: str, names: Iterable[str]) -> list[exp.Expr]:
    return [exp.EQ(this=column(name, left), expression=column(name, right)) for name in names]


def _is_at_most(left: str, right: str) -> exp.Expr:
    return exp.LTE(this=column("t_ns", left), expression=column("t_ns", right))


def _add(first: exp.Expr, *further: exp.Expr) -> exp.Expr:
    for item in further:
        first = exp.Add(this=first, expression=item)
    return first


def _order_by_time() -> exp.Order:
    return exp.Order(expressions=[exp.Ordered(this=column("t_ns"))])


def is_present(value: exp.Expr) -> exp.Expr:
    """Return the condition that a value is not null."""
    return exp.Not(this=_is_null(value))


def _is_null(value: exp.Expr) -> exp.Expr:
    return exp.Is(this=value, expression=exp.Null())
