"""Read the logs of examples/ in plain Python, as an independent computation of all samples of their metrics.

Each function takes the folder of a run and returns the samples of each metric, in the unit of the metric.
"""

from __future__ import annotations

import csv
import itertools
import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

Samples = dict[str, list[float]]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MEBIBYTE = 1024 * 1024
SECOND, MILLISECOND = 1e6, 1e3  # microseconds
DURATION_UNITS = {"s": 1e3, "ms": 1.0, "µs": 1e-3}  # milliseconds


def read_lines(run: Path, glob: str) -> Iterator[str]:
    for path in sorted(run.glob(glob)):
        yield from path.read_text(encoding="utf-8").splitlines()


def read_objects(run: Path, glob: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in read_lines(run, glob)]


def find_groups(run: Path, glob: str, expression: str) -> list[tuple[str, ...]]:
    """Return the groups of the lines that match an expression as a whole."""
    matches = (re.fullmatch(expression, line) for line in read_lines(run, glob))
    return [match.groups() for match in matches if match]


def parse_time(text: str, form: str = "") -> int:
    """Return the microseconds since 1970 of a time in UTC, in ISO 8601 or in a form of `strptime`."""
    time = datetime.strptime(text, form) if form else datetime.fromisoformat(text.rstrip("Z").replace(",", "."))
    return (time.replace(tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)


def parse_duration(text: str) -> float:
    """Return the milliseconds of a duration of one part, as Go writes it."""
    match = re.fullmatch(r"([\d.]+)(s|ms|µs)", text)
    assert match
    return float(match[1]) * DURATION_UNITS[match[2]]


def measure_postgres(run: Path) -> Samples:
    log = "postgresql.log"
    statements = find_groups(run, log, r".* LOG:  duration: ([\d.]+) ms  statement: (\w+) .*")
    checkpoints = find_groups(run, log, r".* checkpoint complete: wrote (\d+) buffers .* total=([\d.]+) s; .*")
    sizes = find_groups(run, log, r".* temporary file: path .*, size (\d+)")
    by_command = {
        f"time_{command}": [float(duration) for duration, other in statements if other == command]
        for command in ("SELECT", "INSERT", "UPDATE")
    }
    return {
        "statement_time": [float(duration) for duration, _ in statements],
        **by_command,
        "checkpoint_time": [float(total) for _, total in checkpoints],
        "checkpoint_buffers": [float(buffers) for buffers, _ in checkpoints],
        "temporary_size": [int(size) / MEBIBYTE for (size,) in sizes],
    }


def measure_nginx(run: Path) -> Samples:
    expression = r'.*\] "\w+ (\S+) [^"]*" (\d+) (\d+) .* ([\d.]+) ([\d.]+|-)'
    requests = find_groups(run, "access.log", expression)
    upstream = [(float(total), float(text)) for _, _, _, total, text in requests if text != "-"]
    return {
        "request_time": [float(total) for _, _, _, total, _ in requests],
        "api_time": [float(total) for path, _, _, total, _ in requests if path.startswith("/api/")],
        "upstream_time": [value for _, value in upstream],
        "own_time": [total - value for total, value in upstream],
        "failed": [1.0 for _, status, *_ in requests if int(status) >= 500],
        "sent": [int(sent) / 1024 for _, status, sent, *_ in requests if status == "200"],
    }


def measure_jvm_gc(run: Path) -> Samples:
    expression = r"\[([^]]*)\+0000\].*GC\(\d+\) Pause (.*) (\d+)M->(\d+)M\(\d+M\) ([\d.]+)ms"
    pauses = find_groups(run, "gc.log", expression)
    ends = [parse_time(at) for at, *_ in pauses]
    durations = [(kind.split(" ")[0], float(duration)) for _, kind, _, _, duration in pauses]
    return {
        "pause": [duration for _, duration in durations],
        "pause_young": [duration for kind, duration in durations if kind == "Young"],
        "pause_full": [duration for kind, duration in durations if kind == "Full"],
        "freed": [float(int(a) - int(b)) for _, kind, a, b, _ in pauses if not kind.startswith("Remark")],
        "heap_after": [float(after) for _, _, _, after, _ in pauses],
        "interval": [(end - start) / SECOND for start, end in itertools.pairwise(ends)],
    }


def measure_spark(run: Path) -> Samples:
    records = read_objects(run, "app-*")
    tasks = [item for item in records if item["Event"] == "SparkListenerTaskEnd"]
    done = [item for item in tasks if not item["Task Info"]["Failed"]]
    metrics = [item["Task Metrics"] for item in done]
    stages = [item["Stage Info"] for item in records if item["Event"] == "SparkListenerStageCompleted"]
    starts = {item["Job ID"]: item["Submission Time"] for item in records if item["Event"].endswith("JobStart")}
    return {
        "task_time": [float(t["Task Info"]["Finish Time"] - t["Task Info"]["Launch Time"]) for t in done],
        "run_time": [float(item["Executor Run Time"]) for item in metrics],
        "gc_share": [100 * item["JVM GC Time"] / item["Executor Run Time"] for item in metrics],
        "failed_tasks": [1.0] * (len(tasks) - len(done)),
        "stage_time": [(item["Completion Time"] - item["Submission Time"]) / 1000 for item in stages],
        "job_time": [
            (item["Completion Time"] - starts[item["Job ID"]]) / 1000
            for item in records
            if item["Event"] == "SparkListenerJobEnd"
        ],
        "read": [item["Input Metrics"]["Bytes Read"] / MEBIBYTE for item in metrics],
        "shuffled": [item["Shuffle Write Metrics"]["Shuffle Bytes Written"] / 1024 for item in metrics],
    }


def measure_k6(run: Path) -> Samples:
    points = [item for item in read_objects(run, "results.json") if item["type"] == "Point"]
    durations = [item["data"] for item in points if item["metric"] == "http_req_duration"]
    answered = [item for item in durations if int(item["tags"]["status"]) < 500]
    pages = {page: [i["value"] for i in answered if i["tags"]["name"].endswith(page)] for page in ("/login", "/cart")}
    return {
        "duration_login": pages["/login"],
        "duration_cart": pages["/cart"],
        "failed_share": [100.0 * i["data"]["value"] for i in points if i["metric"] == "http_req_failed"],
    }


def measure_etcd(run: Path) -> Samples:
    records = read_objects(run, "etcd-*/etcd.log")
    applies = [item for item in records if item["msg"] == "apply request took too long"]
    compactions = [item for item in records if item["msg"] == "finished scheduled compaction"]
    return {
        "slow_write": [parse_duration(item["took"]) for item in applies if not item["prefix"]],
        "slow_read": [parse_duration(item["took"]) for item in applies if item["prefix"]],
        "excess": [parse_duration(item["took"]) - 100 for item in applies],
        "slow_sync_time": [parse_duration(item["took"]) / 1000 for item in records if item["msg"] == "slow fdatasync"],
        "compaction_time": [parse_duration(item["took"]) for item in compactions],
        "database_size": [item["current-db-size-bytes"] / MEBIBYTE for item in compactions],
    }


def measure_kafka(run: Path) -> Samples:
    log, time = "broker-*/server.log", r"\[([\d: ,-]+)\] INFO "
    prepared = find_groups(run, log, time + r".*to rebalance group (\w+) .* old generation (\d+) .*")
    stabilized = find_groups(run, log, time + r".*Stabilized group (\w+) generation (\d+) .* with (\d+) members.*")
    assigned = find_groups(run, log, time + r".*Assignment received .* group (\w+) for generation (\d+)\..*")
    starts = {(group, int(generation) + 1): parse_time(at) for at, group, generation in prepared}
    joins = {(group, int(generation)): parse_time(at) for at, group, generation, _ in stabilized}
    ends = {(group, int(generation)): parse_time(at) for at, group, generation in assigned}
    assert starts.keys() == joins.keys() == ends.keys()
    return {
        "join_time": [(joins[key] - starts[key]) / MILLISECOND for key in starts],
        "assignment_time": [(ends[key] - joins[key]) / MILLISECOND for key in starts],
        "rebalance_time": [(ends[key] - starts[key]) / MILLISECOND for key in starts],
        "members": [float(members) for *_, members in stabilized],
        "roll_time": [float(took) for (took,) in find_groups(run, log, r".*Rolled new log segment .* in (\d+) ms.*")],
        "snapshot_time": [float(took) for (took,) in find_groups(run, log, r".*Wrote producer .* in (\d+) ms.*")],
    }


def measure_redis(run: Path) -> Samples:
    records = find_groups(run, "redis.log", r"(\d+):\w (\d+ \w+ \d+ [\d:.]+) \* (.*)")
    saves, rewrites, copied, loading = {}, [], [], []
    started: dict[str, int] = {}
    rewrite_start = 0
    for process, at, text in records:
        time = parse_time(at, "%d %b %Y %H:%M:%S.%f")
        if text.startswith("Background saving started"):
            started[text.split(" ")[-1]] = time
        elif text == "DB saved on disk":
            saves[process] = (time - started[process]) / MILLISECOND
        elif match := re.match(r"Fork CoW for RDB: .* peak (\d+) MB", text):
            copied.append(float(match[1]))
        elif text.startswith("Background append only file rewriting started"):
            rewrite_start = time
        elif text == "Background AOF rewrite terminated with success":
            rewrites.append((time - rewrite_start) / MILLISECOND)
        elif match := re.match(r"DB loaded from disk: ([\d.]+) seconds", text):
            loading.append(1000 * float(match[1]))
    return {
        "save_time": list(saves.values()),
        "copied_memory": copied,
        "rewrite_time": rewrites,
        "loading_time": loading,
    }


def measure_go_bench(run: Path) -> Samples:
    results = find_groups(run, "bench.txt", r"Benchmark(\w+)-8\s+\d+\s+([\d.]+) ns/op\s+(\d+) B/op\s+\d+ allocs/op")
    names = ("Encode", "EncodeLarge", "Decode")
    return {
        **{f"time_{name}": [float(time) for other, time, _ in results if other == name] for name in names},
        **{f"memory_{name}": [float(memory) for other, _, memory in results if other == name] for name in names},
    }


def measure_kubernetes_audit(run: Path) -> Samples:
    records = read_objects(run, "audit.log")

    def measure(stage: str, *verbs: str) -> list[float]:
        return [
            (parse_time(item["stageTimestamp"]) - parse_time(item["requestReceivedTimestamp"])) / MILLISECOND
            for item in records
            if item["stage"] == stage and (not verbs or item["verb"] in verbs)
        ]

    complete = [item for item in records if item["stage"] == "ResponseComplete"]
    return {
        "latency": measure("ResponseComplete"),
        "latency_get": measure("ResponseComplete", "get"),
        "latency_list": measure("ResponseComplete", "list"),
        "latency_write": measure("ResponseComplete", "create", "update", "patch", "delete"),
        "watch_start": measure("ResponseStarted"),
        "refused": [1.0 for item in complete if item["responseStatus"]["code"] >= 400],
    }


def measure_github_actions(run: Path) -> Samples:
    jobs = json.loads((run / "jobs.json").read_text(encoding="utf-8"))["jobs"]
    done = [job for job in jobs if job["conclusion"] == "success"]

    def measure(start: str) -> list[float]:
        selected = [job for job in done if job["name"].startswith(start)]
        return [(parse_time(job["completed_at"]) - parse_time(job["started_at"])) / SECOND for job in selected]

    return {
        "queue_time": [(parse_time(job["started_at"]) - parse_time(job["created_at"])) / SECOND for job in jobs],
        "duration": measure(""),
        "duration_lint": measure("lint"),
        "duration_test": measure("test"),
        "duration_package": measure("package"),
        "failed_jobs": [1.0] * (len(jobs) - len(done)),
    }


def measure_csv(run: Path) -> Samples:
    rows = list(csv.DictReader((run / "jobs.csv").read_text(encoding="utf-8").splitlines()))
    done = [row for row in rows if row["ok"] == "true"]
    names = ("import", "merge", "export")
    return {
        **{f"time_{name}": [float(row["seconds"]) for row in done if row["job"] == name] for name in names},
        "throughput": [int(row["rows"]) / float(row["seconds"]) for row in done],
        "memory": [float(row["memory_mib"]) for row in done],
        "failed": [1.0] * (len(rows) - len(done)),
    }


#: name of a folder of examples/ -> the computation of its samples
MEASURES: dict[str, Callable[[Path], Samples]] = {
    "csv": measure_csv,
    "etcd": measure_etcd,
    "github-actions": measure_github_actions,
    "go-bench": measure_go_bench,
    "jvm-gc": measure_jvm_gc,
    "k6": measure_k6,
    "kafka": measure_kafka,
    "kubernetes-audit": measure_kubernetes_audit,
    "nginx": measure_nginx,
    "postgres": measure_postgres,
    "redis": measure_redis,
    "spark": measure_spark,
}
