"""Propose what to measure: times between events that share a key, and numbers of records."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence, Set
from dataclasses import replace
from operator import itemgetter

from assay.ingest.readers.json_record_positions import MEMBERS
from assay.util.numbers import format_count
from assay_propose.benchmark_lines import EVENT as EVENT_OF_RESULTS
from assay_propose.benchmark_texts import GO_BENCHMARKS, find_output, write_results_query
from assay_propose.chains import Chain, find_chains
from assay_propose.choices import find_setting, is_member
from assay_propose.counters import propose_counter_rates
from assay_propose.crowded_out import MAX_GRAINS, MAX_METRICS, list_measured_texts
from assay_propose.elements import ELEMENT, FAILED, list_elements, write_elements_query
from assay_propose.histograms import propose_histograms
from assay_propose.instant_order import order_records
from assay_propose.known_formats import CHOSEN, MAX_BENCHMARKS, is_of_benchmarks
from assay_propose.model import (
    HOST,
    DimensionProposal,
    EventProposal,
    FieldProposal,
    GrainProposal,
    MetricProposal,
    Record,
    SourceProposal,
)
from assay_propose.names import NameSpace, drop_common_words, is_actor, join_names, make_identifier, split_words
from assay_propose.outcomes import find_outcome, is_error, list_outcome_metrics
from assay_propose.parameters import (
    MAX_VALUES_OF_PARAMETER,
    is_choice,
    is_parameter,
    is_repetition_number,
    numbers_same_work,
)
from assay_propose.propagation import propose_propagation
from assay_propose.quantities import choose_unit, describe_quantity, is_time_without_unit, list_quantities
from assay_propose.repeats import drop_results, find_repeated, list_by_key
from assay_propose.sources import Group
from assay_propose.spans import list_span_metrics
from assay_propose.spread import propose_spread
from assay_propose.table_rows import EVENT
from assay_propose.throughput import propose_rate
from assay_propose.timed_steps import (
    TimedSteps,
    build_step_grain,
    find_timed_ends,
    find_timed_steps,
    measure_zeros,
)
from assay_propose.titles import (
    lower_title,
    make_event_title,
    make_field_title,
    make_time_title,
    make_title,
    make_value_title,
)
from assay_propose.units import LEVELS, TIMES
from assay_propose.varying import FEW_RECORDS, counts_up, find_run_constant

MAX_COUNTS = 6
MAX_VALUES = 12  # of a dimension
_LIMIT_OF_SECTION = 10  # values that a section shows unless it has a limit
_PAIR = 2  # dimensions that a section may be split by
_DOMINANT = 0.95  # share of records with one value, above which a dimension says little
_MANY_ZEROS = 0.5  # share of times of 0 with which a time comes last
MAX_SECTIONS = 6  # of records, per source; the rest share one
_NO_KEY = "no nearly unique field that other events have, too"
_GRAIN_WORDS = {"csv": "row", "json-records": "record", "samples": "sample"}


def propose_grains(group: Group, names: NameSpace) -> tuple[GrainProposal, ...]:
    """Return the grains of a source: chains of events first, then those of records with numbers."""
    source = group.source
    if group.results:
        return (_build_result_grain(group, names),)
    all_chains = find_chains(order_records(group), source.fields) if source.time else ()
    chains = [drop_results(group, chain) for chain in all_chains]
    all_steps = [find_timed_steps(group, chain) for chain in chains]
    grains = [_build_chain_grain(group, chain, steps, names) for chain, steps in zip(chains, all_steps, strict=True)]
    grains = [grain for grain in grains if grain.metrics]  # all times of a chain may be 0
    keys = {event: chain.field for chain in all_chains for event in chain.events}
    used = set(keys.items())
    used |= {(event, steps.field.name) for steps in all_steps if steps for event in steps.events}
    of_keys = {event for grain in grains for event in grain.events if event not in grain.find_attempts()}
    numeric = [
        event
        for event in source.events
        if event.name not in of_keys
        and (
            list_quantities(group, event, _list_used(used, event))
            or find_outcome(group, event)
            or event.name in group.spans
        )
    ]
    grains += [build_step_grain(group, chain, steps, names)
               for chain, steps in zip(chains, all_steps, strict=True) if steps]  # fmt: skip
    propagation = propose_propagation(group, names)
    spread = {event: grain.key for grain in propagation for event in grain.events}
    for event in sorted(numeric, key=lambda item: (_rank_result(group, item.names), -item.count))[:MAX_GRAINS]:
        key = keys.get(event.name, "")
        grain = _build_record_grain(group, event, key, _list_used(used, event), names)
        if event.name in spread and not key:
            reason = f"have the `{spread[event.name]}` of records of other hosts: each record counts"
            grain = replace(grain, reason=grain.reason.replace(_NO_KEY, reason))
        grains += [*_build_total_grain(group, grain, names), grain]
    grains = [*_build_element_grain(group, names), *grains]
    grains += propose_rate(group, names)
    grains += propose_histograms(group, names)
    grains += propose_counter_rates(group, names)
    grains += propagation
    grains += propose_spread(group, names, {grain.key for grain in propagation})
    return _rank_grains(group, grains)


def _list_used(used: Set[tuple[str, str]], event: EventProposal) -> frozenset[str]:
    """Return the fields of an event that are keys, or durations of steps."""
    return frozenset(field for name, field in used if name == event.name)


def _build_record_grain(
    group: Group, event: EventProposal, key: str, used: Collection[str], names: NameSpace
) -> GrainProposal:
    """Return the grain of the records of an event. Those with a `key` of a chain have several of them for one."""
    source = group.source
    grain = names.add(_name_record_grain(source, event))
    split = _list_split_metrics(group, event, names)
    metrics = split or (*list_span_metrics(group, event, names), *_list_field_metrics(group, (event,), names, used),
                        *list_outcome_metrics(group, event, names))  # fmt: skip
    word = "numbers" if list_quantities(group, event, used) else "an outcome"
    word = "instants of a beginning and an end" if event.name in group.spans else word
    reason = f"{event.count} records have {word}, and " + (
        f"some have the same `{key}`: each record counts"
        if key else _NO_KEY
    )  # fmt: skip
    where = {metric.where[0] for metric in split}  # a metric has rows with one value of it
    dimensions = [item for item in _list_dimensions(group, event) if item.field not in where]
    if not dimensions and is_of_benchmarks(source.format) and _is_timeless(source):
        dimensions = _list_hosts(group, event)
    first = group.known_format.dimensions if group.known_format else ()
    ranks = {field.name: first.index(field.path[-1]) for field in source.fields if field.path[-1] in first}
    if _rank_result(group, event.names) < 0:  # tags of its own first
        ranks = {field.name: sum(field.name in item.fields for item in source.events) for field in source.fields}
    dimensions.sort(key=lambda item: (item.field != key, ranks.get(item.field, len(first))))
    return GrainProposal(grain, source.name, "", (event.name,), metrics, reason, _is_timeless(source),
                         make_event_title(source, event), dimensions=tuple(dimensions),
                         is_split_by_two=_is_split_by_two(group, event, dimensions),
                         excluded=event.excluded)  # fmt: skip


def _build_total_grain(group: Group, grain: GrainProposal, names: NameSpace) -> tuple[GrainProposal, ...]:
    """Return the grain of the totals that the metrics of a grain leave out, with the same metrics of these."""
    totals = [item for item in grain.excluded if len(item.texts) == 1 and item.texts[0] != "true"]
    if not totals or is_of_benchmarks(group.source.format) or any(metric.where[0] for metric in grain.metrics):
        return ()
    (text,) = totals[0].texts
    metrics = tuple(
        replace(metric, id=names.add(join_names(metric.id, make_identifier(text, "total"))),
                name=f"{metric.name} ({text})", doc=f"{metric.doc}: of records with `{text}` in `{totals[0].field}`",
                where=(totals[0].field, text))
        for metric in grain.metrics if metric.field and not metric.is_failure
    )  # fmt: skip
    name = names.add(join_names(grain.name, make_identifier(text, "total")))
    reason = f"{format_count(totals[0].count, 'record')} with `{text}`: totals of the others"
    return (replace(grain, name=name, metrics=metrics, reason=reason, title=f"{grain.title}: {text}", dimensions=(),
                    excluded=(), is_split_by_two=False),)  # fmt: skip


def _is_split_by_two(group: Group, event: EventProposal, dimensions: Sequence[DimensionProposal]) -> bool:
    """Return whether benchmarks have several results in a run, and few pairs of values of the first two dimensions.

    Several benchmarks have values of the second in common, such as sizes.
    """
    if not is_of_benchmarks(group.source.format) or len(dimensions) < _PAIR or HOST in {d.field for d in dimensions}:
        return False
    if any(item.is_same_work for item in dimensions[:_PAIR]):
        return False
    paths = [group.source.find_field(item.field).path for item in dimensions[:_PAIR]]
    records = group.records[event.name]
    most = max(Counter((record.run, record.values.get(paths[0])) for record in records).values())
    pairs = {tuple(map(record.values.get, paths)) for record in records}
    return most > 1 and len({second for _, second in pairs}) < len(pairs) <= MAX_BENCHMARKS


def _build_result_grain(group: Group, names: NameSpace) -> GrainProposal:
    """Return the grain of the results of benchmarks in the texts of records, each with a name and numbers."""
    texts = find_output(group)
    assert texts
    fields = tuple(field.name for field in group.result_fields)
    event = EventProposal(EVENT_OF_RESULTS, (), len(group.results), fields, ())
    source = replace(group.source, fields=group.result_fields, events=(event,))
    results = Group(source, {event.name: group.results}, GO_BENCHMARKS, {})
    grain = _build_record_grain(results, event, "", (), names)
    reason = f"{len(group.results)} results of benchmarks are in the texts of `{texts.name}`"
    columns = [metric.field for metric in grain.metrics] + [item.field for item in grain.dimensions]
    return replace(grain, events=(texts.name,), reason=reason, is_timeless=True, title=make_title(event.name),
                   query=write_results_query(group, texts, columns))  # fmt: skip


def _build_element_grain(group: Group, names: NameSpace) -> tuple[GrainProposal, ...]:
    """Return the grain of the elements of lists, without those that failed but for their share; none without lists."""
    elements = list_elements(group)
    if elements is None:
        return ()
    (event,) = elements.source.events
    grain = _build_record_grain(elements, event, "", (), names)
    has_failed = FAILED in event.fields
    metrics = tuple(
        replace(metric, where=(FAILED, "false"), doc=f"{metric.doc} that did not fail")
        if has_failed and metric.field and not metric.is_failure else metric
        for metric in grain.metrics
    )  # fmt: skip
    dimensions = tuple(item for item in grain.dimensions if item.field != FAILED)
    columns = dict.fromkeys([*(name for metric in metrics for name in (metric.field, metric.where[0]) if name),
                             *(item.field for item in dimensions)])  # fmt: skip
    reason = f"{event.count} elements are in the lists of {group.source.records} records"
    return (replace(grain, name=names.add("measurement"), metrics=metrics, reason=reason, is_timeless=True,
                    title=f"{grain.title}: measurements", dimensions=dimensions,
                    numbered_by=ELEMENT, query=write_elements_query(group, event.name, [*columns])),)  # fmt: skip


def _rank_grains(group: Group, grains: Sequence[GrainProposal]) -> tuple[GrainProposal, ...]:
    """Return grains with the main results of a format first, then those that measure times.

    The last of many share a section.
    """

    def rank(grain: GrainProposal) -> tuple[int, bool]:
        names = (name for event in grain.events for name in group.source.find_event(event).names)
        return _rank_result(group, names), not any(
            metric.unit in TIMES or _is_time(group, metric) for metric in grain.metrics
        )

    ordered = sorted(grains, key=rank)
    if len(ordered) <= MAX_SECTIONS + 1:
        return tuple(ordered)
    return tuple(replace(grain, is_main=index < MAX_SECTIONS) for index, grain in enumerate(ordered))


def _is_time(group: Group, metric: MetricProposal) -> bool:
    """Return whether a metric is a time by the name of its field, without a unit."""
    if not metric.event or not metric.field or group.results:
        return False
    event, field = group.source.find_event(metric.event), group.source.find_field(metric.field)
    return is_time_without_unit(event, field, metric.unit)


def _rank_result(group: Group, names: Iterable[str]) -> int:
    """Return the place of metrics with these names in a known format."""
    return group.known_format.rank(tuple(names), group.facts) if group.known_format else 0


def _list_dimensions(group: Group, event: EventProposal) -> tuple[DimensionProposal, ...]:
    """Return the fields of an event with few texts or codes, each of which several records have on average.

    Parameters come first. Those that say little come last: levels of logs, and fields of which nearly all records have
    one value. A field that names the host of each record is none.
    """
    ranked: list[tuple[bool, bool, DimensionProposal]] = []
    is_benchmark = is_of_benchmarks(group.source.format)
    units = {item.unit_of for item in group.source.fields}
    for field in map(group.source.find_field, event.fields):
        values = [value for record in group.records[event.name] if (value := record.values.get(field.path)) is not None]
        if is_error(group, event, field):  # that a record has none is a value, too
            values += [""] * (len(group.records[event.name]) - len(values))
        is_name = not field.is_quantity or is_choice(group, event, field) or is_repetition_number(group, event, field)
        is_swept = is_parameter(group, event, field)
        is_name |= is_swept or bool(find_setting(group, event, field)) or is_member(group, event, field)
        is_name = is_name or describe_quantity(group, event, field).omission == CHOSEN
        is_name &= field.type in ("text", "boolean", "integer")
        is_counter = counts_up(group.records[event.name], field) and not is_swept
        if is_counter or find_run_constant(group, event, field):
            continue
        if all(record.host.endswith(f"/{record.values.get(field.path)}") for record in group.records[event.name]):
            continue
        if is_actor(field.path) and not _has_common_actors(group.records[event.name], field):
            continue
        if field.unit_of or field.name in units or any(isinstance(value, float) for value in values):
            continue
        known_format = group.known_format
        if known_format and (field.path[-1] in known_format.units_at or field.path in known_format.list_paths):
            continue
        # The rows of a table and the results of a benchmark are alternatives, of each of which there may be one.
        is_alternative = event.name.startswith(EVENT) or is_benchmark or field.path == (MEMBERS,)
        most = len(values) if is_alternative else len(values) // 2
        counts = Counter(map(_write_value, values))
        is_number = field.type == "integer" and len(values) >= FEW_RECORDS
        if (most < len(values) or is_number) and sum(count == 1 for count in counts.values()) > len(counts) / 2:
            continue
        most_values = MAX_VALUES_OF_PARAMETER if is_swept else MAX_VALUES
        most_values = MAX_BENCHMARKS if is_benchmark or field.path == (MEMBERS,) else most_values
        if is_name and 1 < len(counts) <= min(most_values, most):
            most_frequent = min(counts, key=lambda value: (-counts[value], value))
            says_little = (
                field.path[-1].lower() in LEVELS
                or is_actor(field.path)
                or counts[most_frequent] > _DOMINANT * len(values)
            )
            limit = len(counts) if is_swept and len(counts) > _LIMIT_OF_SECTION else 0
            is_same_work = numbers_same_work(group, event, field)
            named = min(filter(None, counts), key=lambda value: (-counts[value], value))
            dimension = DimensionProposal(field.name, event.name, named, limit, is_same_work)
            ranked.append((not is_swept, says_little, dimension))
    return tuple(dimension for *_, dimension in sorted(ranked, key=itemgetter(0, 1)))


def _has_common_actors(records: Sequence[Record], field: FieldProposal) -> bool:
    """Return whether several processes or machines share a log, and all runs have the same ones."""
    by_host: dict[str, set[object]] = defaultdict(set)
    by_run: dict[str, set[object]] = defaultdict(set)
    for record in records:
        if field.path in record.values:
            by_host[record.host].add(record.values[field.path])
            by_run[record.run].add(record.values[field.path])
    return max(map(len, by_host.values()), default=0) > 1 and len({*map(frozenset, by_run.values())}) == 1


def _list_hosts(group: Group, event: EventProposal) -> list[DimensionProposal]:
    """Return the host as a dimension, if there are several: each is a benchmark whose name is that of its folder."""
    counts = Counter(record.host.partition("/")[2] for record in group.records[event.name])
    return [DimensionProposal(HOST, event.name, min(counts))] if len(counts) > 1 else []


def _write_value(value: object) -> str:
    """Return a value as ids of segments have it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _list_chain_dimensions(
    group: Group, chain: Chain, metrics: Sequence[MetricProposal]
) -> tuple[DimensionProposal, ...]:
    """Return the fields with few texts or codes that are the same in all events of a key that have them.

    Of a field whose values differ, such as a status, that of the last event with a metric of its own is taken.
    """
    source = group.source
    candidates: dict[str, list[DimensionProposal]] = defaultdict(list)
    for event in chain.events:
        for item in _list_dimensions(group, source.find_event(event)):
            if item.field not in (chain.field, "host"):  # columns of the grain
                candidates[item.field].append(item)
    measured = {metric.event for metric in metrics if metric.event}
    dimensions = []
    ranked = sorted(candidates.items(), key=lambda item: item[0].lower() in LEVELS or is_actor((item[0],)))
    for field, items in ranked:
        if _is_same_in_events(group, chain, source.find_field(field)):
            dimensions.append(max(items, key=lambda item: len(list_by_key(group, item.event, chain.field))))
        elif of_measured := [item for item in items if item.event in measured]:
            dimensions.append(of_measured[-1])
    return tuple(dimensions)


def _is_same_in_events(group: Group, chain: Chain, field: FieldProposal) -> bool:
    """Return whether all records of a key have the same value of a field, where they have one."""
    key = group.source.find_field(chain.field)
    values: dict[tuple[str, str], str] = {}
    for event in chain.events:
        for record in group.records[event]:
            value = record.values.get(field.path)
            place = record.host, str(record.values.get(key.path))
            if value is not None and values.setdefault(place, str(value)) != str(value):
                return False
    return True


def propose_counts(source: SourceProposal, names: NameSpace) -> tuple[GrainProposal, ...]:
    """Return grains that count the records of the most frequent events, of a source with nothing to measure."""
    grains = []
    for event in sorted(source.events, key=lambda item: -item.count)[:MAX_COUNTS]:
        metric = MetricProposal(names.add(join_names(event.name, "count")), f"Number of {event.name}", "count",
                                f"How many records of `{event.name}` a host has")  # fmt: skip
        grain = names.add(_name_record_grain(source, event))
        title = make_event_title(source, event)
        grains.append(GrainProposal(grain, source.name, "", (event.name,), (metric,), "its records have no numbers",
                                    _is_timeless(source), title))  # fmt: skip
    return tuple(grains)


def _is_timeless(source: SourceProposal) -> bool:
    return not source.time and source.kind != "samples"


def _name_record_grain(source: SourceProposal, event: EventProposal) -> str:
    word = _GRAIN_WORDS.get(source.kind, "line")
    return word if source.kind in ("csv", "json-records") else join_names(event.name, word)


def _build_chain_grain(group: Group, chain: Chain, steps: TimedSteps | None, names: NameSpace) -> GrainProposal:
    """Return the grain of a chain, without metrics of durations that the grain of its timed steps measures."""
    source = group.source
    words = [word for word in split_words(chain.field) if word not in ("id", "uid", "key")] or [chain.field]
    grain = names.add(make_identifier(" ".join(words), "item"))
    pairs = _list_pairs(chain, find_timed_ends(group, chain))
    zeros = {pair: measure_zeros(group, chain, *pair) for pair in pairs}
    always_0 = [pair for pair in pairs if zeros[pair] == 1]
    times = _list_times(chain, steps, names, [pair for pair in pairs if pair not in always_0])
    metrics = [metric for metric in times if zeros[metric.start, metric.end] < _MANY_ZEROS]
    repeated = find_repeated(group, chain)
    attempts = {item.event for item in repeated if not item.has_copies}
    events = [source.find_event(name) for name in chain.events if name not in attempts]
    used = (chain.field, steps.field.name) if steps else (chain.field,)
    for event in events:
        metrics += list_span_metrics(group, event, names)
    metrics += _list_field_metrics(group, events, names, used)
    metrics += [metric for metric in times if zeros[metric.start, metric.end] >= _MANY_ZEROS]
    for event in events:
        metrics += list_outcome_metrics(group, event, names, chain.field)
    values = "pairs of host and value" if chain.elsewhere else "values"
    reason = (
        f"{len(chain.steps)} events share `{chain.field}`: {chain.shared} of {chain.keys} {values} are in all of them"
    )
    if chain.alternatives:
        reason += f"; others have {', '.join(f'`{name}`' for name in chain.alternatives)} instead of `{chain.steps[0]}`"
    if always_0:
        reason += f"; times that are always 0 are left out: {', '.join(f'`{a}` to `{b}`' for a, b in always_0)}"
    dimensions = _list_chain_dimensions(group, chain, metrics)
    return GrainProposal(grain, source.name, chain.field, chain.events, tuple(metrics), reason,
                         title=make_title(" ".join(words)), dimensions=dimensions, repeated=repeated,
                         elsewhere=tuple(name for name in chain.events if name in chain.elsewhere),
                         partial=chain.partial)  # fmt: skip


def _list_pairs(chain: Chain, timed: Collection[str]) -> list[tuple[str, str]]:
    """Return the first and last event, each with the next that is not `timed` by its field, and alternative starts."""
    first, *_, last = chain.steps
    pairs = [pair for pair in itertools.pairwise(chain.steps) if pair[1] not in timed]
    return list(dict.fromkeys(((first, last), *pairs, *((name, last) for name in chain.alternatives))))


def _list_times(
    chain: Chain, steps: TimedSteps | None, names: NameSpace, pairs: Sequence[tuple[str, str]]
) -> list[MetricProposal]:
    """Return the times between two events each.

    If the first is a step with a duration, the whole time begins where the step began.
    """
    adjoining = steps.adjoining if steps else frozenset()
    whole = (chain.steps[0], chain.steps[-1])
    short = drop_common_words(chain.events)
    metrics = []
    for start, end in pairs:
        field = steps.field.name if steps and adjoining and (start, end) == whole and start in steps.events else ""
        place = " (same host)" if start in chain.rare else ""
        name = make_time_title(short[start], short[end]) + place
        begin = f"the start of `{start}`" if field else f"`{start}`"
        metrics.append(MetricProposal(names.add(join_names(short[start], "to", short[end])),
                                      f"Start of {lower_title(name)}" if field else name, "millisecond",
                                      f"From {begin} to `{end}`{', where a host has both' * bool(place)}", start, end,
                                      better="lower", from_start=field))  # fmt: skip
    return metrics


def _list_split_metrics(group: Group, event: EventProposal, names: NameSpace) -> tuple[MetricProposal, ...]:
    """Return a metric for each of the most frequent texts that say what a value is, in a table of a known format."""
    column, value = group.known_format.split if group.known_format else ("", "")
    if not column:
        return ()
    by_path = {field.path: field for field in group.source.fields}
    quantities = list_measured_texts(group, event)
    titles = {text: make_title(text) for text in quantities}
    return tuple(
        MetricProposal(names.add(make_identifier(titles[text], "value")), titles[text], quantities[text].unit,
                       f"`{value}` of rows whose `{column}` is `{text}`", event=event.name,
                       field=by_path[(value,)].name, where=(by_path[(column,)].name, text),
                       better=quantities[text].better)
        for text in [*quantities][:MAX_METRICS]
    )  # fmt: skip


def _list_field_metrics(
    group: Group, events: Sequence[EventProposal], names: NameSpace, used: Collection[str]
) -> tuple[MetricProposal, ...]:
    """Return metrics of the numbers of events, apart from fields that are used otherwise."""
    quantities = [(event, field) for event in events for field in list_quantities(group, event, used)]
    metrics = []
    for event, field in quantities[:MAX_METRICS]:
        of_events = sum(field.name in item.fields for item in group.source.events)
        # The name of the event says what a value is, else that of the object which has it.
        is_value = field.path[-1] == "value" and not field.quantity and (len(field.path) == 1 or bool(event.names))
        is_shared = of_events > 1 and not is_value
        is_repeated = field.name.startswith(f"{event.name}_")
        metric_id = join_names(event.name, field.name) if is_shared and not is_repeated else field.name
        metric_id = join_names(event.name, "value") if is_value or metric_id == event.name else metric_id
        quantity = describe_quantity(group, event, field)
        unit = choose_unit(group, event, field, quantity.unit)
        title = (make_value_title(group.source, event) if is_value
                 else make_field_title(group.source, event, replace(field, unit=unit)))  # fmt: skip
        metrics.append(MetricProposal(names.add(metric_id), title, unit,
                                      f"`{'.'.join(field.place)}` of `{event.name}`", event=event.name,
                                      field=field.name, better=quantity.better, per=quantity.per))  # fmt: skip
    return tuple(metrics)
