"""Known formats of benchmark tools: what their field names do not say."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from assay.ingest.readers.json_record_positions import MEMBERS
from assay_propose.model import KeyPath, Record

#: why a number is no metric
LOAD = "the load, no result"
ONES = "it counts records: always 0 or 1"
SAMPLES = "how often it was measured"
BOUNDS = "how certain a result is"
BEFORE = "it compares with the run before"
CHOSEN = "whoever ran it chose it"
MAX_BENCHMARKS = 100  # whose results are apart in a report


@dataclass(frozen=True, slots=True)
class MetricRule:
    """What metrics of a format measure: those whose whole names or paths match, and that are declared with these facts.

    Without a unit, it is that of the field. With `omission`, the number is no metric, for this reason; with `ONES`,
    only if all of its values are 0 or 1. `per` is the last key of how many pieces of work the number is the total of.
    """

    names: str = ".*"
    facts: Mapping[KeyPath, str] = field(default_factory=dict)
    unit: str = ""
    better: str = ""
    omission: str = ""
    per: str = ""


@dataclass(frozen=True, slots=True)
class Elements:
    """The elements of a list of a record, each of which is a sample: what they are called, and their unit."""

    name: str
    unit: str


@dataclass(frozen=True, slots=True)
class KnownFormat:
    """A format: the paths that mark a record of it, and what to take from it.

    `lookup` names events. `ruled_out` marks records that are none, but declare facts of the events of their names.
    `elements` are lists of numbers that belong together, with the list `exit_codes`, of which a number but 0 says that
    its run failed; `summaries` are names of what records have of all elements together.
    `units` are those of fields, by the last key, and `units_at` the paths of texts that name those units. Of `rules`,
    the first that fits a metric applies. Of `throughput`, counters of pieces of work, the first of a run has a rate.
    """

    name: str
    kind: str
    signature: frozenset[KeyPath] = frozenset()
    only: frozenset[str] = frozenset()  # if any, the last keys of all other paths of a record
    lookup: KeyPath = ()
    ruled_out: KeyPath = ()
    units: Mapping[str, str] = field(default_factory=dict)
    units_at: Mapping[str, KeyPath] = field(default_factory=dict)
    split: tuple[str, str] = ("", "")  # the column that says what a value is, and the column of the values
    rules: tuple[MetricRule, ...] = ()
    own_metrics: str = ""  # names of metrics that it has by itself: others are of the author of a test
    results: tuple[str, ...] = ()  # names of the main results, which come first
    details: str = ""  # names of what is part of a result, or repeats it: they come last
    throughput: tuple[str, ...] = ()
    outcome: str = ""  # the last key of the field that says whether a record failed, if no metric does
    elements: Mapping[KeyPath, Elements] = field(default_factory=dict)
    exit_codes: KeyPath = ()
    summaries: str = ""
    dimensions: tuple[str, ...] = ()  # the last keys of the dimensions that come first
    unread: frozenset[KeyPath] = frozenset()  # places that are of no interest
    is_of_benchmarks: bool = False  # whether records are results of benchmarks, each of which has a name
    is_named_by_folders: bool = False  # whether it is the folders of a file that name a benchmark

    @property
    def list_paths(self) -> tuple[KeyPath, ...]:
        """Return the places of lists that are read element by element."""
        return (*self.elements, *filter(None, [self.exit_codes]))

    def is_marked(self, paths: Set[KeyPath]) -> bool:
        """Return whether records with these paths have the marks of the format."""
        ends = {path[-1] for path in paths - self.signature}
        return self.signature <= paths and (not self.only or (bool(ends) and ends <= self.only))

    def rank(self, names: Collection[str], facts: Mapping[str, Mapping[KeyPath, object]]) -> int:
        """Return the place of metrics: trends of the author, main results in their order, others, details."""
        if self.own_metrics and any(
            facts.get(name, {}).get(_TYPE) == "trend" and not re.fullmatch(self.own_metrics, name) for name in names
        ):
            return -1
        if self.details and any(re.fullmatch(self.details, name) for name in names):
            return len(self.results) + 1
        return min((self.results.index(name) for name in names if name in self.results), default=len(self.results))

    def find_rule(self, name: str, path: KeyPath, facts: Mapping[KeyPath, object]) -> MetricRule:
        """Return the rule for a metric at a path; one that says nothing if none fits."""
        for rule in self.rules:
            is_declared = all(facts.get(path) == value for path, value in rule.facts.items())
            if is_declared and any(re.fullmatch(rule.names, text, re.IGNORECASE) for text in (name, ".".join(path))):
                return rule
        return MetricRule()


def _columns(*names: str) -> frozenset[KeyPath]:
    return frozenset((name,) for name in names)


_MS, _S, _BYTE = "millisecond", "second", "byte"
_TYPE, _CONTENT = ("data", "type"), ("data", "contains")
_FAILURES, _SUCCESSES = ".*(fail|error|drop|timeout|reject).*", ".*(check|success|pass|ok).*"
_K6_TIMES = (
    "(http|grpc|ws|browser)_(http_)?(req_)?(duration|blocked|connecting|tls_handshaking|sending|waiting|receiving|ping)"
    "|(iteration|group|ws_session|browser_http_req)_duration|browser_web_vital_(fcp|fid|inp|lcp|ttfb)"
)
#: of k6, by what a metric is declared to be (JSON), and by the names of the metrics that k6 itself has (CSV)
_K6_RULES = (
    MetricRule("vus|vus_max", omission=LOAD),
    MetricRule(facts={_CONTENT: "time"}, unit=_MS, better="lower"),
    MetricRule(facts={_CONTENT: "data"}, unit=_BYTE),
    MetricRule(_FAILURES, {_TYPE: "rate"}, "percent", "lower"),
    MetricRule(_SUCCESSES, {_TYPE: "rate"}, "percent", "higher"),
    MetricRule(facts={_TYPE: "rate"}, unit="percent"),
    MetricRule(facts={_TYPE: "counter"}, omission=ONES),
    MetricRule(_K6_TIMES, unit=_MS, better="lower"),
    MetricRule("data_(sent|received)", unit=_BYTE),
    MetricRule("http_req_failed|browser_http_req_failed", unit="percent", better="lower"),
    MetricRule("checks", unit="percent", better="higher"),
    MetricRule("http_reqs|iterations|dropped_iterations|ws_sessions|ws_msgs_(sent|received)", omission=ONES),
)
_K6_OWN = f"{_K6_TIMES}|(http|data|vus|ws|grpc|browser|iteration|dropped_iteration)s?(_.*)?|checks"
_K6_RESULTS = ("http_req_duration", "http_req_failed", "http_reqs", "iterations", "checks")
_K6_DETAILS = "(http|browser_http)_req_(blocked|connecting|tls_handshaking|sending|waiting|receiving)"
_K6_WORK = ("http_reqs", "iterations")
_K6_DIMENSIONS = ("name", "scenario", "url")
_LOCUST_RULES = (
    MetricRule(r"\d[\d.]*%|.*response time", unit=_MS, better="lower"),
    MetricRule("requests/s", unit="perSecond", better="higher"),
    MetricRule("failures/s", unit="perSecond", better="lower"),
    MetricRule("(total )?failure count", better="lower"),
    MetricRule("user count", omission=LOAD),
)
_HYPERFINE = dict.fromkeys(("mean", "stddev", "median", "user", "system", "min", "max"), _S)

_PYTEST = dict.fromkeys(
    ("min", "max", "mean", "stddev", "median", "iqr", "q1", "q3", "ld15iqr", "hd15iqr", "total"), _S
)
_BENCHER_BOUNDS = ("lower_value", "upper_value")

KNOWN_FORMATS = (
    KnownFormat("JMeter JTL", "csv", _columns("timeStamp", "elapsed", "label"),
                units={"elapsed": _MS, "Latency": _MS, "Connect": _MS, "IdleTime": _MS}, outcome="success",
                rules=(MetricRule("(grp|all)Threads", omission=LOAD),)),
    KnownFormat("ab -g", "csv", _columns("starttime", "seconds", "ctime", "dtime", "ttime", "wait"),
                units=dict.fromkeys(("ctime", "dtime", "ttime", "wait"), _MS) | {"seconds": "none"},
                results=("ttime",), rules=(MetricRule("ctime|dtime|ttime|wait", better="lower"),)),
    KnownFormat("k6 JSON", "json-lines", frozenset({("metric",), ("type",), ("data", "time"), ("data", "value")}),
                lookup=("metric",), ruled_out=_CONTENT, rules=_K6_RULES, own_metrics=_K6_OWN, results=_K6_RESULTS,
                details=_K6_DETAILS, throughput=_K6_WORK, dimensions=_K6_DIMENSIONS),
    KnownFormat("k6 CSV", "csv", _columns("metric_name", "timestamp", "metric_value"),
                split=("metric_name", "metric_value"), rules=_K6_RULES, own_metrics=_K6_OWN, results=_K6_RESULTS,
                details=_K6_DETAILS, throughput=_K6_WORK, dimensions=_K6_DIMENSIONS),
    KnownFormat("Locust statistics", "csv", _columns("Type", "Name", "Request Count", "Average Response Time"),
                units={"Median Response Time": _MS, "Average Response Time": _MS, "Min Response Time": _MS,
                       "Max Response Time": _MS, "Average Content Size": _BYTE}, rules=_LOCUST_RULES),
    KnownFormat("Locust history", "csv", _columns("Timestamp", "User Count", "Total Average Response Time"),
                units={"Total Median Response Time": _MS, "Total Average Response Time": _MS,
                       "Total Average Content Size": _BYTE}, rules=_LOCUST_RULES),
    KnownFormat("hyperfine", "json-records", _columns("command", "mean", "median", "min", "max"), units=_HYPERFINE,
                is_of_benchmarks=True, dimensions=("command",), exit_codes=("exit_codes",),
                elements={("times",): Elements("run_time", _S), ("memory_usage_byte",): Elements("run_memory", _BYTE)},
                summaries="mean|stddev|median|min|max"),
    KnownFormat("Google Benchmark", "json-records", _columns("name", "real_time", "cpu_time", "time_unit"),
                is_of_benchmarks=True,
                units_at=dict.fromkeys(("real_time", "cpu_time"), ("time_unit",)),
                rules=(MetricRule("(items|bytes)_per_second", better="higher"),
                       MetricRule("iterations|repetitions|repetition_index|threads", omission=SAMPLES))),
    KnownFormat("JMH", "json-records", frozenset({("benchmark",), ("primaryMetric", "score")}), is_of_benchmarks=True,
                units_at=dict.fromkeys(("score", "scoreError"), ("primaryMetric", "scoreUnit")),
                rules=(MetricRule("scoreError", better="lower"),
                       MetricRule("threads|forks|.*(iterations|batchsize)", omission=SAMPLES))),
    KnownFormat("cargo criterion", "json-records", frozenset({("id",), ("unit",), ("mean", "estimate")}),
                is_of_benchmarks=True, ruled_out=("group_name",), dimensions=("id",),
                unread=_columns("report_directory"),
                rules=(MetricRule(r"change\..*", omission=BEFORE), MetricRule("(lower|upper)_bound", omission=BOUNDS))),
    KnownFormat("samples of criterion", "csv",
                _columns("group", "function", "sample_measured_value", "iteration_count"),
                is_of_benchmarks=True, dimensions=("function", "value", "group"),
                units_at={"sample_measured_value": ("unit",)},
                rules=(MetricRule("sample_measured_value", better="lower", per="iteration_count"),
                       MetricRule("iteration_count", omission=SAMPLES),
                       MetricRule("value|throughput_num", omission=CHOSEN))),
    KnownFormat("estimates of criterion", "json-records",
                frozenset({("mean", "point_estimate"), ("std_dev", "point_estimate")}), is_of_benchmarks=True,
                is_named_by_folders=True,
                units={"point_estimate": "nanosecond"},
                rules=(MetricRule("standard_error|confidence_level|(lower|upper)_bound", omission=BOUNDS),)),
    KnownFormat("pytest-benchmark", "json-records",
                frozenset({("name",), ("fullname",), ("stats", "mean"), ("stats", "rounds")}), is_of_benchmarks=True,
                units=_PYTEST | {"ops": "perSecond"}, dimensions=("fullname", "name"),
                elements={("stats", "data"): Elements("round_time", _S)}, summaries=f"{'|'.join(_PYTEST)}|ops",
                rules=(MetricRule(r"options\..*", omission=CHOSEN), MetricRule(".*outliers", omission=BOUNDS),
                       MetricRule("rounds|iterations", omission=SAMPLES))),
    KnownFormat("Bencher", "json-records", frozenset({(MEMBERS,)}), only=frozenset({"value", *_BENCHER_BOUNDS}),
                is_of_benchmarks=True, dimensions=(MEMBERS,),
                rules=(MetricRule(r"(.*\.)?(lower|upper)_value", omission=BOUNDS),
                       MetricRule(r"latency\.value", unit="nanosecond", better="lower"),
                       MetricRule(r"throughput\.value", unit="perSecond", better="higher"),
                       MetricRule(r"build-time\.value", unit=_S, better="lower"),
                       MetricRule(r"file-size\.value", unit=_BYTE, better="lower"))),
    KnownFormat("Chrome trace", "json-records", _columns("name", "ph", "ts", "dur"), units={"dur": "microsecond"},
                dimensions=("name",), rules=(MetricRule("dur", better="lower"),)),
    KnownFormat("Zipkin", "json-records", _columns("traceId", "id", "timestamp", "duration"),
                units={"duration": "microsecond"}, dimensions=("name",)),
    KnownFormat("OTLP", "json-records", _columns("traceId", "spanId", "startTimeUnixNano", "endTimeUnixNano"),
                dimensions=("name",)),
    KnownFormat("Jaeger", "json-records", _columns("traceID", "spanID", "startTime", "duration"),
                units={"duration": "microsecond"}, dimensions=("operationName",)),
    KnownFormat("Go benchmarks", "text-lines", _columns("benchmark", "iterations"), is_of_benchmarks=True,
                units={"iterations": "none", "allocs_per_op": "count", "bytes_per_op": _BYTE,
                       "throughput": "perSecond megabyte"},
                rules=(MetricRule("time_per_op", unit="nanosecond"), MetricRule(".*_per_op", better="lower"))),
)  # fmt: skip


LISTS = frozenset(path for item in KNOWN_FORMATS for path in item.list_paths)

#: a table with a row per benchmark, as JMH writes it: names of its columns in lower case
BENCHMARK_TABLE = KnownFormat(
    "table of benchmarks", "csv", is_of_benchmarks=True,
    rules=(MetricRule("samples|forks|iterations|repetitions|runs|count", omission=SAMPLES),
           MetricRule(r"param\b.*|threads|size|.*[ _]size|length|concurrency|clients|workers", omission=CHOSEN),
           MetricRule(".*(error|deviation|std).*", better="lower")),
)  # fmt: skip
_TABLES = ("csv", "json-records")
_NAME_COLUMNS = ("benchmark", "bench", "benchmark name", "benchmark_name", "name", "test", "case")
_UNIT_COLUMNS = ("unit", "units", "score unit", "score_unit", "time_unit")
_TIME_COLUMNS = frozenset(("timestamp", "ts", "date", "datetime"))  # of tables that are no results
_METRIC_COLUMNS = ("counter", "counter name", "counter_name", "metric", "metric name", "metric_name")
_VALUES_OF_METRICS = ("metric value", "metric_value", "value", "mean/increment")  # the last as `dotnet-counters` has it
_VALUE_COLUMN = re.compile(
    r"(?:.*[ _])?(?:score|value|result|mean|avg|average|median|min|max|time|error|deviation|std\w*)"
    r"(?: ?\([\d.]+ ?%\))?",
    re.IGNORECASE,
)


def find_known_format(kind: str, paths: Collection[KeyPath]) -> KnownFormat | None:
    """Return the format whose marks are all among the paths of records; of several, the first."""
    every = set(paths)
    marked = next((item for item in KNOWN_FORMATS if item.kind == kind and item.is_marked(every)), None)
    of_benchmarks = _match_benchmark_table(kind, every) if kind in _TABLES else None
    return marked or of_benchmarks or _match_long_table(kind, every)


def _match_benchmark_table(kind: str, paths: Collection[KeyPath]) -> KnownFormat | None:
    """Return the format of a table with columns of names, of numbers, and of the units of these; None for others.

    A list of records is such a table, too.
    """
    columns = sorted(path[0] for path in paths if len(path) == 1)
    names, units = ([column for word in words for column in columns if column.lower() == word]
                    for words in (_NAME_COLUMNS, _UNIT_COLUMNS))  # fmt: skip
    values = [column for column in columns if column not in units and _VALUE_COLUMN.fullmatch(column)]
    if not (names and units and values) or _TIME_COLUMNS & {column.lower() for column in columns}:
        return None
    return replace(BENCHMARK_TABLE, kind=kind, dimensions=(names[0],), units_at=dict.fromkeys(values, (units[0],)))


def _match_long_table(kind: str, paths: Collection[KeyPath]) -> KnownFormat | None:
    """Return the format of a table with a row for each value of several metrics over time; None for others."""
    columns = {path[0]: path[0].lower() for path in paths if len(path) == 1}
    names, values, times = (
        [column for column, text in columns.items() if text in words]
        for words in (_METRIC_COLUMNS, _VALUES_OF_METRICS, _TIME_COLUMNS)
    )
    is_long = kind == "csv" and times and len(names) == len(values) == 1
    return KnownFormat("table of metrics", kind, split=(names[0], values[0])) if is_long else None


def is_of_benchmarks(name: str) -> bool:
    """Return whether the records of a format are results of benchmarks."""
    return any(item.name == name and item.is_of_benchmarks for item in (*KNOWN_FORMATS, BENCHMARK_TABLE))


def drop_other_lists(records: Sequence[Record], known_format: KnownFormat | None) -> list[Record]:
    """Return records without the lists that their format does not read."""
    unread = LISTS - {*known_format.list_paths} if known_format else LISTS
    return [
        replace(record, values={path: value for path, value in record.values.items() if path not in unread})
        if unread & record.values.keys() else record
        for record in records
    ]  # fmt: skip
