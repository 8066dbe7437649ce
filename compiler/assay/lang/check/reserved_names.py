"""The checker's part about columns that stand beside those of the compiler, or metrics beside columns, in one row.

SQL would take one for the other, and numbers would be wrong without a word.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from assay.lang import formula, reserved_names
from assay.lang.check.checker import Checker
from assay.lang.model.article import Article, Choice, ClassTable, Listing, Part, Pivot, Scatter, Verdict
from assay.lang.model.package import Event, Metric, Series

HINT = "rename the column"


def check_reserved_names(checker: Checker) -> None:
    """Check fields of events, what tells samples and lines of series apart, and the rows that articles ask for."""
    for event in checker.package.events:
        _fields(checker, event)
    for grain in checker.package.grains:
        _samples(checker, f"the key of grain `{grain.name}`", grain.key, (grain.name,))
    for metric in checker.package.metrics:
        by = metric.reduction.by if metric.reduction else ()
        names = dict.fromkeys((*by, *([metric.per] if metric.per else [])))
        _samples(checker, f"metric `{metric.id}`", names, (metric.id,))
    _series(checker)
    for article in checker.package.articles:
        for what, columns, metrics, within in _rows(checker, article):
            _listed(checker, what, columns, metrics, within)


def _fields(checker: Checker, event: Event) -> None:
    names = dict.fromkeys(field.name for form in event.forms for field in form.fields)
    kind = next((source.kind for source in checker.package.sources if source.name == event.source), "")
    for name in (name for name in names if reserved_names.is_of_events(name, kind)):
        said = f"event `{event.name}` has a field called `{name}`, which is what the compiler calls a column of its own"
        hint = f'rename the field: it may have another name than the key that it is read from, `E.at [ "{name}" ]`'
        checker.report("reserved-name", said, name, hint=hint, within=(event.doc, event.name))


def _samples(checker: Checker, what: str, names: Iterable[str], within: Sequence[str]) -> None:
    for name in (name for name in names if reserved_names.is_of_samples(name)):
        said = f"{what} tells samples apart by `{name}`, which is what the compiler calls one of their own columns"
        checker.report("reserved-name", said, name, hint=HINT, within=within)


def _series(checker: Checker) -> None:
    keys = {relation.name: relation.key for relation in checker.package.relations}
    for item in checker.package.series:
        key = keys.get(item.windows, ())
        _labels(checker, item, key)
        for term in item.terms:
            if term.name.lower() in (*(name.lower() for name in (*key, *item.by)), "t_ns"):
                said = f"a term of series `{item.name}` is called as a column of it: `{term.name}`"
                checker.report("reserved-name", said, term.name, hint=HINT, within=(item.name,))


def _labels(checker: Checker, item: Series, key: Sequence[str]) -> None:
    """What tells lines apart stands beside the key of the windows, and beside what is worked out of samples."""
    of_windows = {name.lower() for name in key}
    for name in dict.fromkeys((*key, *item.by)):
        said = f"series `{item.name}` tells lines apart by `{name}`, which "
        hint = f'{HINT}: a field may have another name than the label that it is read from, `["labels", "{name}"]`'
        if reserved_names.is_of_readings(name):
            said += "the compiler calls a column of its own"
            checker.report("reserved-name", said, name, hint=hint if name in item.by else HINT, within=(item.name,))
        elif name in item.by and name.lower() in of_windows:
            said += f"is in the key of its windows `{item.windows}`, too"
            checker.report("series-label", said, item.name, hint=hint, cause=f"{item.windows} {name}")


Asked = tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...]]


def _rows(checker: Checker, article: Article) -> Iterator[Asked]:
    """What asks for rows, the columns and the metrics that it asks for, and the names of what it stands in."""
    keys = {grain.name: grain.key for grain in checker.package.grains}
    for choice in article.choices:
        yield f"choice `{choice.name}`", *_of_choice(choice, keys.get(choice.grain, ())), (article.name, choice.name)
    for part in article.parts:
        for title, columns, metrics in _of_part(checker, part, keys):
            yield f"`{title}` of article `{article.name}`", columns, metrics, (article.name, part.title, title)


def _of_choice(choice: Choice, key: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    pins = (pin.column for pin in choice.pins)
    columns = (*key, *choice.label, *choice.keys, *pins, choice.first, choice.begin, choice.end)
    return columns, (choice.most, choice.done, choice.due)


def _of_part(
    checker: Checker, part: Part, keys: dict[str, tuple[str, ...]]
) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    scatters = (*part.scatters, *(item for grid in part.grids for item in grid.scatters))
    for item in (*part.listings, *part.pivots, *part.verdicts, *scatters, *part.class_tables):
        if isinstance(item, Listing):
            yield item.title, item.keys, item.metrics
        elif isinstance(item, Pivot):
            yield item.title, (item.down, item.across, item.first), (item.metric, item.due)
        elif isinstance(item, Verdict):
            yield item.title, (*item.keys, item.first, *keys.get(item.grain, ())), item.metrics
        elif isinstance(item, Scatter):
            yield item.title, (item.per,), (item.x, item.y)
        elif isinstance(item, ClassTable) and item.across:
            metrics = formula.over(item.value)
            grains = {metric.grain for metric in _measured(checker, metrics)}
            yield item.title, (item.across, *(name for grain in grains for name in keys.get(grain, ()))), tuple(metrics)


def _measured(checker: Checker, names: Iterable[str]) -> Sequence[Metric]:
    known = formula.by_id(checker.package)
    return formula.measured(known, [known[name] for name in names if name in known])


def _listed(
    checker: Checker, what: str, columns: tuple[str, ...], metrics: tuple[str, ...], within: tuple[str, ...]
) -> None:
    named = {name.lower() for name in columns}
    ids = dict.fromkeys((*metrics, *(metric.id for metric in _measured(checker, metrics))))
    for name in (name for name in ids if name and name.lower() in named):
        said = f"{what} shows metric `{name}` beside a column of that name: rows hold what they have by name"
        checker.report("metric-name", said, name, hint="rename one of them", within=within)
