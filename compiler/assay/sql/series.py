"""Series as SQL: samples of gauges and counters read at the steps of windows, and series computed from others.

`latest` is what a Prometheus server answers to a selector, `rate` what it answers to `rate(x[window])` (its source:
`extrapolatedRate` in promql/functions.go, and the documentation of range vectors and staleness).
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
    """The stages of a series of terms; the last has the columns `key`, labels, `t_ns` and `value`."""
    columns = (*key, *series.by, "t_ns")
    stages: list[tuple[str, exp.Query]] = [
        (f"term_{number}", _term(term, columns)) for number, term in enumerate(series.terms, start=1)
    ]
    names = [name for name, _ in stages]
    values = [exp.alias_(column(VALUE, name), term.name) for name, term in zip(names, series.terms, strict=True)]
    known = dialect.select(*(column(name, names[0]) for name in columns), *values).from_(dialect.table(names[0]))
    for name in names[1:]:
        on = exp.and_(*(exp.EQ(this=column(item, name), expression=column(item, names[0])) for item in columns))
        known = known.join(dialect.table(name), on=on)
    assert series.value is not None
    value = compile_expression(series.value, Names(constants=constants))
    result = dialect.select(*columns, exp.alias_(value, VALUE)).from_(dialect.table("terms"))
    return [*stages, ("terms", known), ("read_1", result)]


def _term(term: Term, columns: Sequence[str]) -> exp.Select:
    """A row for each line and step: the value itself, or what the lines that agree come to."""
    if not term.over:
        return dialect.select(*columns, VALUE).from_(dialect.table(term.series))
    query = dialect.select(*columns, exp.alias_(_made_one(term.over), VALUE)).from_(dialect.table(term.series))
    return query.group_by(*(column(name) for name in columns))


def _made_one(over: str) -> exp.Expr:
    """One value of several; sums are taken in ascending order, so that no order of rows or threads shows."""
    simple = {"least": exp.Min, "greatest": exp.Max}.get(over)
    if simple:
        return simple(this=column(VALUE))
    total = dialect.exact_sum(dialect.ordered_list(column(VALUE)))
    return total if over == "sum" else exp.Div(this=total, expression=exp.Count(this=exp.Star()))


Stage = tuple[str, exp.Query]

SECOND = 1_000_000_000
#: a window's end is extrapolated to when the nearest sample is less than this many mean distances of samples away
NEAR = "1.1"


def table(series: Series, key: Sequence[str], constants: Constants, cut: bool = False) -> exp.Select:
    """The rows of a series whose windows have the key `key`; with `cut`, those of a phase.

    A reading looks back over its window, also over the phase's beginning.
    """
    columns = (*key, *series.by, "t_ns")
    stages = joined(series, key, constants) if series.terms else _read(series, key, constants)
    query = dialect.select(*columns, exp.alias_(_in_unit(series), "value")).from_(dialect.table(stages[-1][0]))
    if cut:
        query = query.where(within(column("t_ns")), copy=False)
    return dialect.staged(query, stages)


def _read(series: Series, key: Sequence[str], constants: Constants) -> list[Stage]:
    """The stages of a series of samples; the last has what is read."""
    columns = (*key, *series.by, "t_ns")
    stages: list[Stage] = [("steps", _steps(series, key, constants))]
    read: list[str] = []
    for number, sampled in enumerate(series.samples, start=1):
        stages += _reading(series, key, sampled, number, constants)
        read.append(f"read_{number}")
    for number, name in enumerate(read[1:], start=1):
        stages.append((f"known_{number}", _completed(read[0], name, (*columns, "value"))))
        read[0] = f"known_{number}"
    return stages


def _window(series: Series, constants: Constants) -> exp.Expr:
    """The window of a reading, in ns: a number, or a constant of the run."""
    return literal(constants[series.window]) if series.window else dialect.integer(series.window_ns)


def _window_seconds(series: Series, constants: Constants) -> exp.Expr:
    """The same in seconds, as a double."""
    if not series.window:
        return dialect.real(f"{series.window_ns / SECOND}")
    return exp.paren(exp.Div(this=dialect.cast(_window(series, constants), "real"), expression=dialect.integer(SECOND)))


def _in_unit(series: Series) -> exp.Expr:
    """The value in the unit of the series."""
    factor = Fraction(series.factor)
    value: exp.Expr = column("value")
    if factor.numerator != 1:
        value = exp.Mul(this=value, expression=dialect.integer(factor.numerator))
    return value if factor.denominator == 1 else exp.Div(this=value, expression=dialect.integer(factor.denominator))


def sparse(series: Series, constants: Constants) -> exp.Select:
    """Lines of a rate whose samples are further apart than the window (their middle distance): they have no values.

    Columns: `line` (the labels), `interval` and `window` in seconds.
    """
    stages: list[Stage] = []
    found: exp.Query | None = None
    for number, sampled in enumerate(series.samples, start=1):
        stages.append((f"samples_{number}", _samples(series, sampled, constants)))
        lag = exp.Window(this=_call("lag", column("t_ns")), partition_by=_columns(series.by), order=_by_time())
        gap = exp.alias_(exp.Sub(this=column("t_ns"), expression=lag), "gap")
        gaps = dialect.select(*series.by, gap).from_(dialect.table(f"samples_{number}"))
        found = gaps if found is None else exp.Union(this=found, expression=gaps, distinct=False)
    assert found is not None
    stages.append(("gaps", found))
    middle = _call("median", column("gap"))
    seconds = exp.Div(this=middle, expression=dialect.integer(SECOND))
    query = dialect.select(
        exp.alias_(_line(series), "line"),
        exp.alias_(seconds, "interval"),
        exp.alias_(_window_seconds(series, constants), "window"),
    ).from_(dialect.table("gaps"))
    query = query.group_by(*_columns(series.by))
    query = query.having(exp.GT(this=middle.copy(), expression=_window(series, constants)))
    return dialect.staged(query.order_by(*_columns(series.by)), stages)


def negative(series: Series) -> exp.Select:
    """Lines of a rate that have values below 0.  Columns: `line` (the labels), `steps` (how many)."""
    line = exp.alias_(_line(series), "line")
    query = dialect.select(line, exp.alias_(exp.Count(this=exp.Star()), "steps")).from_(dialect.table(series.name))
    query = query.where(exp.LT(this=column("value"), expression=dialect.integer(0)), copy=False)
    return query.group_by(*_columns(series.by)).order_by(*_columns(series.by))


def ambiguous(series: Series, constants: Constants) -> exp.Select:
    """Lines that are several of what was sampled: they have several values at an instant, and which is read is chance.

    Columns: `line` (the labels), `values` (the most at an instant).
    """
    stages: list[Stage] = []
    found: exp.Query | None = None
    columns = (*series.by, "t_ns")
    for number, sampled in enumerate(series.samples, start=1):
        stages.append((f"samples_{number}", _samples(series, sampled, constants)))
        values = exp.Count(this=column("value"))  # without the ends of lines: another one may begin there
        query = dialect.select(*columns, exp.alias_(values, "number")).from_(dialect.table(f"samples_{number}"))
        query = query.group_by(*_columns(columns))
        query = query.having(exp.GT(this=values.copy(), expression=dialect.integer(1)))
        found = query if found is None else exp.Union(this=found, expression=query, distinct=False)
    assert found is not None
    stages.append(("crowded", found))
    most = exp.alias_(exp.Max(this=column("number")), "values")
    query = dialect.select(exp.alias_(_line(series), "line"), most).from_(dialect.table("crowded"))
    query = query.group_by(*_columns(series.by)).order_by(*_columns(series.by))
    return dialect.staged(query, stages)


def interleaved(series: Series, constants: Constants) -> exp.Select:
    """Lines that are several of what was sampled at other instants each: one has samples before another has ended.

    Column: `line` (the labels).  Events have the number of the series that a sample is of.
    """
    stages: list[Stage] = []
    found: exp.Query | None = None
    for number, sampled in enumerate(series.samples, start=1):
        samples, spans = f"samples_{number}", f"samples_{number}_spans"
        columns = (*series.by, SERIES)
        stages.append((samples, _samples(series, sampled, constants, (SERIES,))))
        edges = {"first_ns": exp.Min(this=column("t_ns")), "last_ns": exp.Max(this=column("t_ns"))}
        query = dialect.select(*columns, *(exp.alias_(value, name) for name, value in edges.items()))
        query = query.from_(dialect.table(samples)).where(is_present(column("value")), copy=False)
        stages.append((spans, query.group_by(*_columns(columns))))
        query = dialect.select(*series.by, "first_ns", exp.alias_(_reached(series), "reached"))
        query = query.from_(dialect.table(spans))
        found = query if found is None else exp.Union(this=found, expression=query, distinct=False)
    assert found is not None
    stages.append(("met", found))
    query = dialect.select(exp.alias_(_line(series), "line")).from_(dialect.table("met"))
    query = query.where(exp.GTE(this=column("reached"), expression=column("first_ns")), copy=False)
    return dialect.staged(query.group_by(*_columns(series.by)).order_by(*_columns(series.by)), stages)


def _reached(series: Series) -> exp.Expr:
    """The last instant of all series of a line that begin before this one."""
    order = exp.Order(expressions=[exp.Ordered(this=column(name)) for name in ("first_ns", SERIES)])
    before = exp.WindowSpec(
        kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", end=dialect.integer(1), end_side="PRECEDING"
    )
    last = exp.Max(this=column("last_ns"))
    return exp.Window(this=last, partition_by=_columns(series.by), order=order, spec=before)


def _line(series: Series) -> exp.Expr:
    """What tells a line, in words: its labels."""
    return _call("concat_ws", exp.Literal.string(", "), *_columns(series.by))


def _steps(series: Series, key: Sequence[str], constants: Constants) -> exp.Select:
    """The instants of each window at which the series is read."""
    end = exp.Add(this=column("to_ns"), expression=dialect.integer(1))
    every = literal(constants[series.every]) if series.every else dialect.integer(series.every_ns)
    steps = _call("unnest", _call("range", column("from_ns"), end, every))
    return dialect.select(*key, exp.alias_(steps, "t_ns")).from_(dialect.table(series.windows))


def _reading(
    series: Series, key: Sequence[str], sampled: Sampled, number: int, constants: Constants
) -> Iterable[Stage]:
    samples, read = f"samples_{number}", f"read_{number}"
    yield samples, _samples(series, sampled, constants)
    if series.reading == "rate":
        yield from _rate(series, key, samples, read, constants)
    else:
        yield from _latest(series, key, samples, read, constants)


def _samples(series: Series, sampled: Sampled, constants: Constants, more: Sequence[str] = ()) -> exp.Select:
    query = dialect.select(*series.by, *more, "t_ns", "value").from_(dialect.table(sampled.event))
    # What has no value ends a line (a server marks it so); a counter goes on from its last one.
    if series.reading == "rate":
        query = query.where(is_present(column("value")), copy=False)
    return series_ends.narrowed(query, sampled.where, constants)


def _latest(series: Series, key: Sequence[str], samples: str, read: str, constants: Constants) -> Iterable[Stage]:
    """The last sample at or before each step, not older than the window, unless it, or what is told since, ends it."""
    lines, grid, told = f"{samples}_lines", f"{samples}_grid", f"{samples}_told"
    yield lines, dialect.select(*series.by).from_(dialect.table(samples)).distinct()
    cross = dialect.select(*select_columns("steps", (*key, "t_ns")), *select_columns(lines, series.by)).from_(
        dialect.table("steps")
    )
    yield grid, cross.join(dialect.table(lines), join_type="cross")
    on = exp.and_(*_equal(samples, grid, series.by), _at_most(samples, grid))
    found = dialect.select(
        *select_columns(grid, (*key, *series.by, "t_ns")),
        exp.alias_(column("t_ns", samples), "told"),
        column("value", samples),
    ).from_(dialect.table(grid))
    found.append("joins", exp.Join(this=dialect.table(samples), method="ASOF", on=on))
    yield told, found
    from_ns = exp.Sub(this=column("t_ns"), expression=_window(series, constants))
    recent = exp.GTE(this=column("told"), expression=from_ns)
    source = told
    conditions: list[exp.Expr] = [recent, is_present(column("value"))]
    if series.gone:
        yield from series_ends.ended(series, key, series.gone, told, constants)
        source = f"{told}_ended"
        ended = column("ended")
        conditions.append(exp.paren(exp.or_(_missing(ended), exp.LTE(this=ended.copy(), expression=column("told")))))
    columns = (*key, *series.by, "t_ns", "value")
    yield read, dialect.select(*columns).from_(dialect.table(source)).where(*conditions, copy=False)


def _rate(series: Series, key: Sequence[str], samples: str, read: str, constants: Constants) -> Iterable[Stage]:
    """The increase a second over the window before each step, resets undone, extrapolated to the window's ends."""
    before, inside, sums, spans, ends = (f"{samples}_{part}" for part in ("before", "inside", "sums", "spans", "ends"))
    lag = exp.Window(this=_call("lag", column("value")), partition_by=_columns(series.by), order=_by_time())
    yield before, dialect.select(*series.by, "t_ns", "value", exp.alias_(lag, "before")).from_(dialect.table(samples))
    yield inside, _inside(series, key, before, constants)
    yield sums, _sums(series, key, inside)
    yield spans, _spans(series, key, sums, constants)
    yield ends, _ends(series, key, spans)
    extended = _sum(column("span"), column("head"), column("tail"))
    seconds = _window_seconds(series, constants)
    growth = exp.Mul(
        this=column("increase"), expression=exp.paren(exp.Div(this=exp.paren(extended), expression=column("span")))
    )
    value = exp.Div(this=exp.paren(growth), expression=seconds)
    columns = (*key, *series.by, "t_ns")
    yield read, dialect.select(*columns, exp.alias_(value, "value")).from_(dialect.table(ends))


def _inside(series: Series, key: Sequence[str], before: str, constants: Constants) -> exp.Select:
    """The samples of each step's window, both ends included; `reset`: the value before a drop, not for the first.

    What is no number is not above any: the engine has it above all.
    """
    from_ns = exp.Sub(this=column("t_ns", "steps"), expression=_window(series, constants))
    within = exp.Between(this=column("t_ns", before), low=from_ns, high=column("t_ns", "steps"))
    dropped = exp.LT(this=column("value", before), expression=column("before", before))
    fell = exp.and_(dropped, exp.Not(this=_call("isnan", column("before", before))))
    earlier = exp.GTE(this=_previous(series, key, before), expression=from_ns.copy())
    reset = exp.Case(ifs=[exp.If(this=exp.and_(fell, earlier), true=column("before", before))])
    found = dialect.select(
        *select_columns("steps", key),
        *select_columns(before, series.by),
        exp.alias_(column("t_ns", "steps"), "step"),
        exp.alias_(column("t_ns", before), "t_ns"),
        column("value", before),
        exp.alias_(reset, "reset"),
    ).from_(dialect.table(before))
    return found.join(dialect.table("steps"), on=within)


def _previous(series: Series, key: Sequence[str], before: str) -> exp.Expr:
    """The instant of the sample before, in the window of a step."""
    partition = [*select_columns("steps", (*key, "t_ns")), *select_columns(before, series.by)]
    order = exp.Order(expressions=[exp.Ordered(this=column("t_ns", before))])
    return exp.Window(this=_call("lag", column("t_ns", before)), partition_by=partition, order=order)


def _sums(series: Series, key: Sequence[str], inside: str) -> exp.Select:
    columns = (*key, *series.by)
    # A sum with compensation would make of infinity what is no number.
    endless = exp.Case(ifs=[exp.If(this=_call("isinf", column("reset")), true=column("reset"))])
    in_order = exp.Order(this=column("reset"), expressions=[exp.Ordered(this=column("t_ns"))])
    fallen = exp.Filter(this=_call("fsum", in_order), expression=exp.Where(this=is_present(column("reset"))))
    summed = [fallen, dialect.real("0")]
    resets = exp.Coalesce(this=exp.Max(this=endless), expressions=summed)
    values = {
        "samples": exp.Count(this=exp.Star()),
        "first_ns": exp.Min(this=column("t_ns")),
        "last_ns": exp.Max(this=column("t_ns")),
        "first_value": _call("arg_min", column("value"), column("t_ns")),
        "last_value": _call("arg_max", column("value"), column("t_ns")),
        "resets": resets,
    }
    named = [exp.alias_(value, name) for name, value in values.items()]
    query = dialect.select(*columns, exp.alias_(column("step"), "t_ns"), *named).from_(dialect.table(inside))
    return query.group_by(*_columns((*columns, "step")))


def _spans(series: Series, key: Sequence[str], sums: str, constants: Constants) -> exp.Select:
    """Of windows with two samples at least: increase, ns from first to last, mean distance, ns to the window's ends."""
    span = dialect.cast(exp.paren(exp.Sub(this=column("last_ns"), expression=column("first_ns"))), "real")
    start = exp.Sub(this=column("t_ns"), expression=_window(series, constants))
    gaps = exp.paren(exp.Sub(this=column("samples"), expression=dialect.integer(1)))
    values = {
        "increase": _sum(exp.Sub(this=column("last_value"), expression=column("first_value")), column("resets")),
        "span": span,
        "gap": exp.Div(this=span.copy(), expression=gaps),
        "lead": dialect.cast(exp.paren(exp.Sub(this=column("first_ns"), expression=exp.paren(start))), "real"),
        "trail": dialect.cast(exp.paren(exp.Sub(this=column("t_ns"), expression=column("last_ns"))), "real"),
    }
    named = [exp.alias_(value, name) for name, value in values.items()]
    enough = exp.GTE(this=column("samples"), expression=dialect.integer(2))
    columns = (*key, *series.by, "t_ns", "first_value")
    return dialect.select(*columns, *named).from_(dialect.table(sums)).where(enough, copy=False)


def _ends(series: Series, key: Sequence[str], spans: str) -> exp.Select:
    """How far the increase is extrapolated at both ends; at the start not beyond where the counter was zero.

    A window that begins before the samples do, or ends after them, is not covered: what is extrapolated then leaves out
    the rest of it, so that the rate is too low.
    """
    grows = exp.and_(
        exp.GT(this=column("increase"), expression=dialect.integer(0)),
        exp.GTE(this=column("first_value"), expression=dialect.integer(0)),
    )
    share = exp.paren(exp.Div(this=column("first_value"), expression=column("increase")))
    to_zero = exp.Mul(this=column("span"), expression=share)
    least = exp.Case(ifs=[exp.If(this=grows, true=_call("least", column("lead"), to_zero))], default=column("lead"))
    head, tail = (exp.alias_(_extended(value), name) for value, name in ((least, "head"), (column("trail"), "tail")))
    query = dialect.select(*key, *series.by, "t_ns", "increase", "span", head, tail).from_(dialect.table(spans))
    return query.where(_near(column("lead")), _near(column("trail")), copy=False) if series.covered else query


def _extended(distance: exp.Expr) -> exp.Expr:
    """The distance to the window's end when a sample is near it, else half the mean distance of samples."""
    half = exp.Div(this=column("gap"), expression=dialect.integer(2))
    return exp.Case(ifs=[exp.If(this=_near(distance), true=distance.copy())], default=half)


def _near(distance: exp.Expr) -> exp.Expr:
    """Whether a sample is near the window's end."""
    return exp.LT(this=distance, expression=exp.Mul(this=column("gap"), expression=dialect.real(NEAR)))


def _completed(known: str, name: str, columns: Sequence[str]) -> exp.Select:
    """What is known, and what another reading has where nothing is known."""
    labels = columns[:-1]
    query = dialect.select(*select_columns(name, columns)).from_(dialect.table(name))
    on = exp.and_(*_equal(known, name, labels))
    query.append("joins", exp.Join(this=dialect.table(known), kind="ANTI", on=on))
    both = exp.Union(this=dialect.select(*columns).from_(dialect.table(known)), expression=query, distinct=False)
    return dialect.select(*columns).from_(exp.Subquery(this=both, alias=exp.TableAlias(this=exp.to_identifier("both"))))


def _call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=list(arguments))


def _columns(names: Iterable[str]) -> list[exp.Expr]:
    return [column(name) for name in names]


def select_columns(source: str, names: Iterable[str]) -> list[exp.Expr]:
    return [column(name, source) for name in names]


def _equal(one: str, other: str, names: Iterable[str]) -> list[exp.Expr]:
    return [exp.EQ(this=column(name, one), expression=column(name, other)) for name in names]


def _at_most(one: str, other: str) -> exp.Expr:
    return exp.LTE(this=column("t_ns", one), expression=column("t_ns", other))


def _sum(first: exp.Expr, *more: exp.Expr) -> exp.Expr:
    for item in more:
        first = exp.Add(this=first, expression=item)
    return first


def _by_time() -> exp.Order:
    return exp.Order(expressions=[exp.Ordered(this=column("t_ns"))])


def is_present(value: exp.Expr) -> exp.Expr:
    return exp.Not(this=_missing(value))


def _missing(value: exp.Expr) -> exp.Expr:
    return exp.Is(this=value, expression=exp.Null())
