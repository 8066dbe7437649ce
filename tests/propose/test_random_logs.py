"""Test that what is proposed for random logs works, and that a log compared with itself has no verdict."""

from __future__ import annotations

import csv
import io
import json
import random
import shlex
import tempfile
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.commands import run_assay
from tests.support.deep import is_deep

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
DEEP, FEW = 300, 2  # examples, each of which costs seconds
MOST_FIELDS, SIZES = (6, (2, 12, 60, 130)) if is_deep() else (3, (12,))
#: reasons for which a gate decides nothing: no metric has a direction, too few samples, an event of the other log only
UNDECIDED = ("error[nothing-gated]", "error[nothing-judged]", "found:    no samples to compare b with a: ")

Value = str | int | float | bool
#: what the field of a record may have: by the number of the record, and the record before it
FIELDS: Mapping[str, Callable[[random.Random, int], Value]] = {
    "took_ms": lambda rng, _: round(rng.lognormvariate(3, 0.5), 3),
    "latency": lambda rng, _: f"{rng.uniform(1, 900):.2f}ms",
    "elapsed": lambda rng, _: rng.choice([f"{rng.randrange(1, 900)}ms", f"{rng.uniform(1, 9):.3f}s"]),
    "speed": lambda rng, _: rng.choice([f"{rng.uniform(1, 9):.1f}MB/s", f"{rng.randrange(100, 999)}kB/s"]),
    "cpu": lambda rng, _: f"{rng.uniform(1, 99):.1f}%",
    "rate": lambda rng, _: f"{rng.randrange(10, 99)} req/s",
    "size": lambda rng, _: f"{rng.randrange(1, 999)}kB",
    "rows": lambda rng, _: rng.randrange(10_000),
    "total": lambda _, number: 17 * number + 5,
    "offset": lambda rng, number: 1000 * number + rng.randrange(1000),
    "height": lambda _, number: 840_000 + number,
    "free": lambda rng, _: "-" if rng.random() < 0.3 else rng.randrange(100),
    "ratio": lambda rng, _: "N/A" if rng.random() < 0.3 else round(rng.random(), 4),
    "grouped": lambda rng, _: f"{rng.randrange(10**7):,}",
    "id": lambda rng, _: f"{rng.getrandbits(64):016x}",
    "code": lambda rng, _: rng.choice([200, 200, 200, 404, 500]),
    "ok": lambda rng, _: rng.random() < 0.9,
    "kind": lambda rng, _: rng.choice(["read", "write", "scan"]),
    "level": lambda rng, _: rng.choice(["info", "info", "warn"]),
    "threads": lambda *_: 8,
    "shard": lambda rng, _: rng.randrange(4),
    "note": lambda rng, _: rng.choice(["all good", "retry (2)", "a \"quoted\" text", "x=1, y=2", ""]),
    "when": lambda _, number: (START + timedelta(seconds=number)).isoformat(),
    "hex": lambda rng, _: f"0x{rng.getrandbits(32):08x}",
    "end": lambda rng, _: rng.uniform(-5, 5),
}  # fmt: skip


def _write_json(rows: Sequence[Mapping[str, Value]]) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def _write_logfmt(rows: Sequence[Mapping[str, Value]]) -> str:
    lines = (" ".join(f"{key}={_quote(value)}" for key, value in row.items()) for row in rows)
    return "".join(f"{line}\n" for line in lines)


def _quote(value: Value) -> str:
    text = json.dumps(value) if isinstance(value, bool) else str(value)
    return json.dumps(text) if not text or set(text) & set(' ="') else text


def _write_csv(rows: Sequence[Mapping[str, Value]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _write_text(rows: Sequence[Mapping[str, Value]]) -> str:
    lines = list[str]()
    for row in rows:
        time, *members = row.items()
        level = "WARN" if len(lines) % 9 == 0 else "INFO"
        lines.append(
            f"{time[1]} {level} worker finished: " + " ".join(f"{key}={_quote(value)}" for key, value in members)
        )
    return "".join(f"{line}\n" for line in lines)


def _write_words(rows: Sequence[Mapping[str, Value]]) -> str:
    lines = []
    for row in rows:
        time, *members = row.items()
        lines.append(f"{time[1]} task done, " + ", ".join(f"{key} {value}" for key, value in members))
    return "".join(f"{line}\n" for line in lines)


WRITERS = {
    "log.jsonl": _write_json,
    "log.logfmt": _write_logfmt,
    "log.csv": _write_csv,
    "pairs.log": _write_text,
    "words.log": _write_words,
}


def _write_instant(number: int, rng: random.Random) -> str:
    return (START + timedelta(seconds=number, milliseconds=rng.randrange(900))).isoformat(timespec="milliseconds")


def _write_log(name: str, fields: Sequence[str], size: int, seed: int) -> str:
    rng = random.Random(seed)
    rows = [
        {"time": _write_instant(number, rng), **{field: FIELDS[field](rng, number) for field in fields}}
        for number in range(size)
    ]
    return WRITERS[name](rows)


@given(
    name=st.sampled_from(sorted(WRITERS)),
    fields=st.lists(st.sampled_from(sorted(FIELDS)), min_size=1, max_size=MOST_FIELDS, unique=True),
    size=st.sampled_from(SIZES),
    seed=st.integers(0, 2**16),
)
@settings(deadline=None, max_examples=DEEP if is_deep() else FEW, derandomize=not is_deep(),
          suppress_health_check=list(HealthCheck))  # fmt: skip
def test_what_is_proposed_for_random_logs_works(name: str, fields: list[str], size: int, seed: int) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for version, number in (("base", seed), ("new", seed + 1)):
            log = folder / "logs" / version / name
            log.parent.mkdir(parents=True)
            log.write_text(_write_log(name, fields, size, number), encoding="utf-8")
        place = folder / "service"
        created = run_assay("init", place, "--from", folder / "logs/base", folder / "logs/new")
        if created.status and "error[unknown-format]" in created.err:
            assert not place.exists()  # an error has the reason
            return
        assert (created.status, created.err) == (0, "")
        query = next(line for line in created.out.splitlines() if line.startswith("  assay query"))
        itself = ("--run=a=runs/base", "--run=b=runs/base")
        commands = [
            ("check",),
            shlex.split(query)[1:],
            ("build", *itself, "--to=md", "-o", "self", "--date=2026-03-02"),
            ("gate", "self", "--once"),
            ("compare", "a=runs/base", "b=runs/base", "--format", "json"),
        ]
        for command in commands:
            result = run_assay("--cache", folder / "cache", *command, cwd=place)
            is_undecided = command[0] == "gate" and any(text in result.err for text in UNDECIDED)
            assert result.status == 0 or is_undecided, (command[0], result.err)
        verdicts = {item["metric"]: item["verdict"] for item in json.loads(result.out)["changes"]}
        assert not {"worse", "better", "changed"} & {*verdicts.values()}, verdicts
