"""Assess how complete a run is: compare its records with the rows and values that are computed from them."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from assay.lang.model.package import Grain, Metric, Package
from assay.lang.model.vocabulary import FIRST, LAST
from assay.lang.scopes import HOST
from assay.quality.finding import (
    DEFAULTS,
    DROPPED,
    INCOMPLETE,
    ON_SOME_HOSTS,
    RARE,
    REPEATED,
    UNKNOWN_KEY,
    Finding,
    format_metric_list,
    list_hosts,
    list_names,
)
from assay.quality.value_events import ValueEvents
from assay.sql.completeness import (
    EXAMPLE,
    FIRSTS,
    FOLLOWING,
    GROUP,
    HAS,
    KEYS,
    MEASURED,
    RECORDS,
    REPLACED,
    ROWS,
    UNMATCHED,
    VALUES,
    KeyBinding,
    list_instants,
    name_count_statement,
    name_count_without_fallbacks,
    select_counts,
)
from assay.util.escape import quote_code

#: an event is rare if its records are fewer than this share of the rows that require it
RARE_SHARE = 0.5
#: a host has few records of an event below this share of the hosts' median, if the median is at least MIN_MEDIAN
RARE_ON_HOST, MIN_MEDIAN = 0.2, 10
#: unmatched keys are reported from this share of a host's records on; EDGE_KEYS or fewer may be due to the run's ends
UNMATCHED_SHARE, EDGE_KEYS = 0.5, 2

#: keys have several records of an event if at least this share, and so many, follow another; fewer may be chance
REPEATED_SHARE, LEAST_REPEATED = 0.05, 10

#: rows without an instant are reported from this share on; fewer may be due to the run's ends
INCOMPLETE_SHARE = 0.05

Row = Mapping[str, object]
Counts = Mapping[str, Sequence[Row]]  # rows by the name of a statement that counts


@dataclass(frozen=True, slots=True)
class Notice:
    """A host's log reports dropped records: the event whose records they are, the name in the log, and the number."""

    host: str
    event: str
    name: str
    number: int | None


@dataclass(frozen=True)
class Assessment:
    """The counts of a run (or of a phase of it), and the findings that follow from them.

    `by_host`: event -> host -> records; `hosts`: source -> its hosts with records; `counts`: name of a statement of
    `sql.completeness` -> its rows; `defaulted`: event and field -> the number of records in which the default replaces
    the field, and of all records; `is_phase`: rows are of a part of the run, records are of all of it.
    """

    package: Package
    metrics: tuple[Metric, ...]
    bindings: tuple[KeyBinding, ...]
    value_events: ValueEvents
    by_host: Mapping[str, Mapping[str, int]]
    hosts: Mapping[str, tuple[str, ...]]
    counts: Counts
    defaulted: Mapping[tuple[str, str], tuple[int, int]]
    is_phase: bool = False

    @cached_property
    def grains(self) -> Mapping[str, Grain]:
        """Return the grains by name."""
        return {item.name: item for item in self.package.grains}

    @cached_property
    def exempt_names(self) -> frozenset[str]:
        """Return the events that not every host, and the instants that not every row, is expected to have."""
        return frozenset(item.name for item in self.package.coverage if item.on_some_hosts)

    def get_rows(self, metric: Metric) -> Sequence[Row]:
        """Return the counts of a metric, a row for each host."""
        return self._rows_by_metric[metric.id]

    @cached_property
    def _rows_by_metric(self) -> Mapping[str, Sequence[Row]]:
        return {
            metric.id: [
                select_counts(row, metric)
                for row in self.counts[name_count_statement(metric, self.grains[metric.grain])]
            ]
            for metric in self.metrics
        }

    def compute_total(self, metric: Metric, column: str) -> int:
        """Return a count of a metric over all hosts."""
        return sum(_get_number(row, column) for row in self.get_rows(metric) if column in row)

    def count_records(self, event: str, host: object) -> int:
        """Return how many records of an event a host has; with None, those of all hosts."""
        hosts = self.by_host.get(event, {})
        return sum(hosts.values()) if host is None else hosts.get(str(host), 0)

    def list_bound_events(self, metric: Metric) -> frozenset[str]:
        """Return the events that a metric's instants are bound to: without such a record, an instant is missing."""
        grain = self.grains[metric.grain]
        instant_names = set(list_instants(metric, grain))
        return frozenset(item.of for item in grain.instants if item.name in instant_names)

    def list_metrics_with_rare_events(self) -> tuple[Metric, ...]:
        """List the metrics whose values may come from a relation's fallbacks, because one of their events is rare."""
        return tuple(
            metric
            for metric in self.metrics
            if self.value_events.has_fallbacks(metric)
            and any(self._list_rare_events(metric))
            and self.compute_total(metric, VALUES)
        )

    def _list_rare_events(self, metric: Metric) -> Iterator[tuple[str, object]]:
        """Yield the events, and hosts, with far fewer records than a metric has values."""
        if self.is_phase:
            return
        for event in sorted(self.value_events.list_events(metric) - self.list_bound_events(metric)):
            for row in self.get_rows(metric):
                if self.count_records(event, row[GROUP]) < RARE_SHARE * _get_number(row, VALUES):
                    yield event, row[GROUP]

    def find_default_samples(self, without_fallbacks: Counts) -> tuple[Finding, ...]:
        """Find the metrics whose values come from a fallback.

        `without_fallbacks` are the counts over relations whose fallbacks are removed.
        """
        groups: dict[tuple[int, int, str], list[str]] = defaultdict(list)
        for metric in self.metrics:
            values = self.compute_total(metric, VALUES)
            rows_without_records = [row for row in self.get_rows(metric) if self._is_absent(metric, row[GROUP])]
            affected = {
                self._describe_absence(metric, rows_without_records): sum(
                    _get_number(row, VALUES) for row in rows_without_records
                ),
                self._describe_rarity(metric): values - self._count_measured(metric, without_fallbacks, values),
                self._describe_missing_instants(metric): values - self.compute_total(metric, MEASURED),
            }
            reason = max(affected, key=lambda text: affected[text])
            if affected[reason] > 0:
                groups[affected[reason], values, reason].append(metric.id)
        return tuple(
            Finding(
                DEFAULTS,
                f"{affected} of {values} values come from a fallback{format_metric_list(names)}: {reason}.",
                tuple(names),
                affected=affected,
                total=values,
            )
            for (affected, values, reason), names in groups.items()
        )

    def find_defaulted_fields(self) -> Iterator[Finding]:
        """Find the metrics whose fields are all absent from some records, so that defaults replace them."""
        groups: dict[tuple[str, str], list[str]] = defaultdict(list)
        for metric in self.metrics:
            fields = self.value_events.list_fields(metric)
            if fields and all(self.defaulted.get(item, (0, 0))[0] for item in fields):
                groups[min(fields, key=lambda item: (self.defaulted[item][0], item))].append(metric.id)
        for (event, name), metrics in groups.items():
            number, total = self.defaulted[event, name]
            missing = f"{number} of {total} `{event}` records have no `{name}`"
            message = f"{missing}, so its default is used{format_metric_list(metrics)}."
            yield Finding(DEFAULTS, message, tuple(metrics), (), event, number, total)

    def find_hosts_counted_as_zero(self) -> Iterator[Finding]:
        """Find the hosts that have rows but no value, and that a metric counts as 0."""
        groups: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for metric in self.metrics:
            if metric.per == HOST and not metric.sampled_only and not self.grains[metric.grain].runs:
                hosts = [
                    str(row[GROUP])
                    for row in self.get_rows(metric)
                    if _get_number(row, ROWS) and not _get_number(row, VALUES)
                ]
                if hosts and self.compute_total(metric, VALUES):
                    groups[tuple(hosts)].append(metric.id)
        for silent_hosts, metrics in groups.items():
            message = (
                f"{_format_hosts_have(silent_hosts)} no value and count{'s' if len(silent_hosts) == 1 else ''} as 0"
            )
            yield Finding(DEFAULTS, f"{message}{format_metric_list(metrics)}.", tuple(metrics), silent_hosts)

    def _is_absent(self, metric: Metric, host: object) -> bool:
        """Return whether a host has no record of any event that a metric's values come from."""
        grain = self.grains[metric.grain]
        sources = (self.value_events.list_events(metric), self.value_events.list_deciding_events(grain))
        return any(events and not any(self.count_records(event, host) for event in events) for events in sources)

    def _describe_absence(self, metric: Metric, rows: Sequence[Row]) -> str:
        events = sorted(
            self.value_events.list_deciding_events(self.grains[metric.grain]) or self.value_events.list_events(metric)
        )
        hosts = sorted(str(row[GROUP]) for row in rows if row[GROUP] is not None)
        is_everywhere = not any(self.count_records(event, None) for event in events)
        where = "the run has" if is_everywhere or not hosts else f"{_format_hosts_have(hosts)}"
        return f"{where} no {' or '.join(f'`{event}`' for event in events)} record"

    def _describe_rarity(self, metric: Metric) -> str:
        events = sorted({event for event, _ in self._list_rare_events(metric)})
        counts = ", ".join(f"{self.count_records(event, None)} `{event}`" for event in events)
        return f"{counts} records for {self.compute_total(metric, ROWS)} rows of `{metric.grain}`"

    def _describe_missing_instants(self, metric: Metric) -> str:
        missing = [
            name
            for name in list_instants(metric, self.grains[metric.grain])
            if self.compute_total(metric, f"{HAS}{name}") < self.compute_total(metric, ROWS)
        ]
        return f"rows of `{metric.grain}` have no {' or '.join(f'`{name}`' for name in missing) or 'value'}"

    def _count_measured(self, metric: Metric, without_fallbacks: Counts, values: int) -> int:
        rows = without_fallbacks.get(name_count_without_fallbacks(metric))
        return values if rows is None else sum(_get_number(select_counts(row, metric), VALUES) for row in rows)

    def find_events_missing_on_hosts(self) -> Iterator[Finding]:
        """Find the events that only some hosts have, in one finding for events that the same hosts lack."""
        groups: dict[tuple[tuple[str, ...], int], dict[str, list[str]]] = defaultdict(dict)
        for event in self.list_measured_events():
            hosts = self.hosts.get(self._find_source(event), ())
            silent_hosts = tuple(host for host in hosts if not self.count_records(event, host))
            metrics = [
                item.id for item in self._list_metrics_of_event(event) if self._needs_event(item, event, silent_hosts)
            ]
            if silent_hosts and metrics and len(silent_hosts) < len(hosts):
                groups[silent_hosts, len(hosts)][event] = metrics
        for (silent_hosts, number), events in groups.items():
            ids = tuple(dict.fromkeys(metric for metrics in events.values() for metric in metrics))
            names = list_names([f"`{event}`" for event in events])
            others = f"unlike the other {number - len(silent_hosts)}{format_metric_list(ids)}"
            records = "record" if len(events) == 1 else "records"
            message = f"{_format_hosts_have(silent_hosts)} no {names} {records}, {others}."
            event = next(iter(events)) if len(events) == 1 else ""
            yield Finding(ON_SOME_HOSTS, message, ids, silent_hosts, event, len(silent_hosts), number, tuple(events))

    def _needs_event(self, metric: Metric, event: str, silent_hosts: Sequence[str]) -> bool:
        """Return whether a metric requires an event of hosts without it.

        An event that an instant is bound to is required only by rows about these hosts.
        """
        if event not in self.list_bound_events(metric):
            return True
        return any(row[GROUP] is None or row[GROUP] in silent_hosts for row in self.get_rows(metric))

    def find_rare_events(self, cut_hosts: Set[str] = frozenset()) -> Iterator[Finding]:
        """Find the events with far fewer records than the rows that require them, or than on other hosts.

        Hosts whose logs end early (`cut_hosts`) have fewer records of all events.
        """
        if self.is_phase:
            return
        groups: dict[tuple[str, str, int, int, tuple[str, ...]], list[str]] = defaultdict(list)
        for metric in self.metrics:
            events = self.value_events.list_events(metric) - self.list_bound_events(metric)
            rows_with_counts = [
                (row, sum(self.count_records(event, row[GROUP]) for event in events))
                for row in self.get_rows(metric)
                if events and not self.value_events.has_lists(metric)
            ]
            rare_rows = [
                (row, number) for row, number in rows_with_counts if 0 < number < RARE_SHARE * _get_number(row, VALUES)
            ]
            if rare_rows and not self.list_bound_events(metric):
                hosts = tuple(sorted(str(row[GROUP]) for row, _ in rare_rows if row[GROUP] is not None))
                values = sum(_get_number(row, VALUES) for row, _ in rare_rows)
                event_names = "` and `".join(sorted(events))
                groups[event_names, metric.grain, sum(number for _, number in rare_rows), values, hosts].append(
                    metric.id
                )
        for (event_names, grain, number, values, hosts), metrics in groups.items():
            where = f" of {list_hosts(hosts)}" if hosts else ""
            message = (
                f"{number} `{event_names}` records for {values} rows of `{grain}`{where}{format_metric_list(metrics)}."
            )
            yield Finding(RARE, message, tuple(metrics), hosts, event_names, values - number, values)
        yield from self._find_events_rare_on_hosts(cut_hosts)

    def _find_events_rare_on_hosts(self, cut_hosts: Set[str]) -> Iterator[Finding]:
        for event in self.list_measured_events():
            counts_by_host = {
                host: self.count_records(event, host) for host in self.hosts.get(self._find_source(event), ())
            }
            median = statistics.median(counts_by_host.values()) if counts_by_host else 0
            hosts_with_few = [
                host
                for host, number in counts_by_host.items()
                if 0 < number < RARE_ON_HOST * median and host not in cut_hosts
            ]
            if hosts_with_few and median >= MIN_MEDIAN:
                metrics = [item.id for item in self._list_metrics_of_event(event)]
                examples = ", ".join(f"{host}: {counts_by_host[host]}" for host in hosts_with_few[:3])
                message = (
                    f"{_format_hosts_have(hosts_with_few)} few `{event}` records ({examples}; half of the "
                    f"hosts have {median:g} or "
                    f"more){format_metric_list(metrics)}."
                )
                yield Finding(
                    RARE,
                    message,
                    tuple(metrics),
                    tuple(hosts_with_few),
                    event,
                    len(hosts_with_few),
                    len(counts_by_host),
                )

    def find_unknown_keys(self) -> Iterator[Finding]:
        """Find the events many of whose records name no row of the grain that is bound to them."""
        groups: dict[tuple[str, str, bool], list[tuple[int, int, object, list[str]]]] = defaultdict(list)
        for binding in self.bindings:
            rows = self.counts[binding.name]
            metrics = [item.id for item in self._list_metrics_of_event(binding.event)]
            mostly_unmatched = [
                row for row in rows if _get_number(row, UNMATCHED) >= UNMATCHED_SHARE * _get_number(row, RECORDS)
            ]
            if (
                metrics
                and self._has_rows(binding.grain)
                and sum(_get_number(row, KEYS) for row in mostly_unmatched) > EDGE_KEYS
            ):
                unmatched, records = (sum(_get_number(row, column) for row in rows) for column in (UNMATCHED, RECORDS))
                groups[binding.event, binding.column, bool(binding.host)].append(
                    (unmatched, records, mostly_unmatched[0][EXAMPLE], metrics)
                )
        for (event, name, has_host), counts in groups.items():
            unmatched, records, example, _ = max(counts, key=lambda item: item[0])
            ids = list(dict.fromkeys(metric for *_, metrics in counts for metric in metrics))
            example_note = f", such as {quote_code(str(example))}" if example else ""
            share = f"{unmatched} of {records} `{event}` records"
            problem = f"no row of their host has the `{name}` of {share}" if has_host else (
                f"{share} have an unknown `{name}`"
            )  # fmt: skip
            message = f"{problem}{example_note}{format_metric_list(ids)}."
            yield Finding(UNKNOWN_KEY, message, tuple(ids), (), event, unmatched, records)

    def _has_rows(self, grain: str) -> bool:
        """Return whether a grain of the metrics has any row; assume so for a grain whose rows are not counted."""
        counted_metrics = [metric for metric in self.metrics if metric.grain == grain]
        return not counted_metrics or any(self.compute_total(metric, ROWS) for metric in counted_metrics)

    def find_repeated_records(self) -> Iterator[Finding]:
        """Find the events of which keys have several records, while instants pick one: the others have no use."""
        parts: dict[str, None] = {}
        ids: list[str] = []
        events: dict[str, None] = {}
        for binding in () if self.is_phase else self.bindings:
            following, records = (
                sum(_get_number(row, column) for row in self.counts[binding.name]) for column in (FOLLOWING, RECORDS)
            )
            metrics = [item.id for item in self.metrics if following and self._picks_one(item, binding)]
            if metrics:
                parts[f"{following} of {records} `{binding.event}` by `{binding.column}`"] = None
                ids += metrics
                if any(map(_has_repetitions, self.counts[binding.name])):
                    events[binding.event] = None
        if parts:
            message = f"records without use, as one of each key counts: {', '.join(parts)}."
            yield Finding(REPEATED, message, tuple(dict.fromkeys(ids)), events=tuple(events))

    def _picks_one(self, metric: Metric, binding: KeyBinding) -> bool:
        """Return whether a metric reads one record of each host and key of a binding's event.

        With *latest before*, rows of one key that are several read a record each.
        """
        grain = self.grains[metric.grain]
        names = list_instants(metric, grain) if grain.name == binding.grain else ()
        instants = [item for item in grain.instants if item.name in names and item.of == binding.event]
        return (
            len(instants) == 1
            and instants[0].where == binding.where
            and {pair.field for pair in instants[0].on} == {HOST, binding.field}
            and (instants[0].pick in (FIRST, LAST) or {*grain.key} <= {pair.column for pair in instants[0].on})
        )

    def find_incomplete_rows(self) -> Iterator[Finding]:
        """Find the instants that rows of a grain lack, in one finding for instants that as many rows lack."""
        groups: dict[tuple[str, int, int], dict[str, list[str]]] = defaultdict(dict)
        for (grain, name), metrics in self._group_metrics_by_instant().items():
            widest_metric = max(
                metrics, key=lambda item: (self.compute_total(item, ROWS), self._count_lacking(item, name))
            )
            total = self.compute_total(widest_metric, ROWS)
            missing = self._count_lacking(widest_metric, name)
            event = next(item.of for item in self.grains[grain].instants if item.name == name)
            if missing == total and not self.count_records(event, None):
                continue  # reported for the fallback that the metrics use instead
            if missing >= max(1, INCOMPLETE_SHARE * total) and f"{grain}.{name}" not in self.exempt_names:
                groups[grain, missing, total][name] = [item.id for item in metrics]
        for (grain, missing, total), metrics_by_instant in groups.items():
            ids = list(dict.fromkeys(metric for metrics in metrics_by_instant.values() for metric in metrics))
            names = list_names([f"`{name}`" for name in metrics_by_instant])
            problem = f"have no {names}" if len(metrics_by_instant) == 1 else f"lack each of {names}"
            message = (
                f"{missing} of {total} rows of `{grain}` {problem}{format_metric_list(ids)}. "
                "If such rows are complete, declare it in `coverage` with `S.onSomeRows`."
            )
            yield Finding(INCOMPLETE, message, tuple(ids), affected=missing, total=total)

    def _group_metrics_by_instant(self) -> Mapping[tuple[str, str], list[Metric]]:
        """Return the metrics with samples that need each instant of a grain: others may replace an alternative."""
        readers: dict[tuple[str, str], list[Metric]] = defaultdict(list)
        for metric in self.metrics:
            if not self.compute_total(metric, VALUES):
                continue  # reported as a metric without samples
            for name in list_instants(metric, self.grains[metric.grain]):
                if not self._count_replaced(metric, name) or self._count_lacking(metric, name):
                    readers[metric.grain, name].append(metric)
        return readers

    def _count_lacking(self, metric: Metric, name: str) -> int:
        """Return the number of rows without an instant, and without another in its place.

        Nothing precedes the first record of a key: such rows do not lack an earlier record of the same event.
        """
        missing = self.compute_total(metric, ROWS) - self.compute_total(metric, f"{HAS}{name}")
        firsts = self._count_optionally(metric, f"{FIRSTS}{name}")
        return max(0, missing - firsts) - self._count_replaced(metric, name)

    def _count_replaced(self, metric: Metric, name: str) -> int:
        return self._count_optionally(metric, f"{REPLACED}{name}")

    def _count_optionally(self, metric: Metric, column: str) -> int:
        """Return a count of a metric over all hosts, 0 if it is not counted of it."""
        return sum(_get_number(row, column) for row in self.get_rows(metric) if column in row)

    def find_dropped_records(
        self, notices: Iterable[Notice], readers: Mapping[str, Sequence[str]]
    ) -> Iterator[Finding]:
        """Find the dropped records that logs report; `readers`: event -> ids of the metrics that read it."""
        groups: dict[tuple[str, str], list[Notice]] = defaultdict(list)
        for notice in notices:
            if notice.event in readers:
                groups[notice.event, notice.name].append(notice)
        for (event, name), reports in sorted(groups.items()):
            hosts = sorted({item.host for item in reports})
            number = sum(item.number or 0 for item in reports)
            number_text = f"{number} " if number else ""
            message = (
                f"the log of {list_hosts(hosts)} reports {number_text}dropped records of `{name}`, "
                f"which are `{event}` events{format_metric_list(readers[event])}."
            )
            yield Finding(DROPPED, message, tuple(readers[event]), tuple(hosts), event, number or None)

    def list_measured_events(self) -> tuple[str, ...]:
        """List the events that values come from, and that every host is expected to have."""
        events = {event for metric in self.metrics for event in self.value_events.list_events(metric)}
        return tuple(sorted(events - self.exempt_names))

    def _list_metrics_of_event(self, event: str) -> tuple[Metric, ...]:
        return tuple(metric for metric in self.metrics if event in self.value_events.list_events(metric))

    def _find_source(self, event: str) -> str:
        return next(item.source for item in self.package.events if item.name == event)


def _has_repetitions(row: Row) -> bool:
    """Return whether many records of a host follow another one with their key."""
    return _get_number(row, FOLLOWING) >= max(LEAST_REPEATED, REPEATED_SHARE * _get_number(row, RECORDS))


def _get_number(row: Row, column: str) -> int:
    return int(str(row[column] or 0))  # the sum of no rows is null


def _format_hosts_have(hosts: Sequence[str]) -> str:
    """Return hosts as the subject of a sentence: `host a has`, `hosts a, b have`."""
    return f"{list_hosts(hosts)} {'has' if len(hosts) == 1 else 'have'}"
